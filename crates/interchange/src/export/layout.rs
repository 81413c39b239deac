//! Layers of a design as others count them.

use model::design::{Design, KnobId};

/// Letters of the longest layout that is written.
const MAX_LETTERS: usize = 4_000;

/// Layers as MindSpeed counts them: no-op layers are among them, MTP layers aren't.
pub(super) struct Counted {
    /// `--num-layers`.
    pub(super) total: u64,
    /// `--noop-layers`.
    pub(super) noops: Vec<u64>,
}

fn chunks(design: &Design) -> u64 {
    let parallel = &design.parallel;
    parallel.pipeline_model_parallel_size * parallel.virtual_pipeline_model_parallel_size
}

/// MTP layers' slots become no-ops, as MindSpeed puts MTP layers behind the last chunk's layers.
pub(super) fn counted(design: &Design) -> Counted {
    let transformer = &design.transformer;
    let mut noops = design.parallel.noop_layers.0.clone();
    let layers = transformer.num_layers;
    let of_layout = design.parallel.pipeline_model_parallel_layout.is_some();
    let mtp = if of_layout || chunks(design) == 1 { 0 } else { transformer.mtp_num_layers };
    let total = layers + mtp + noops.len() as u64;
    if noops.last().is_some_and(|last| *last >= total) {
        // Illegal, and no argument can say it.
        return Counted { total: layers, noops: vec![] };
    }
    let mut free = 0;
    for slot in 0..total {
        if design.parallel.noop_layers.0.binary_search(&slot).is_err() {
            free += 1;
            if free > layers {
                noops.push(slot);
            }
        }
    }
    noops.sort_unstable();
    Counted { total, noops }
}

/// Whether a layout is the design's own, and one that MindSpeed takes beside its other arguments.
pub(super) fn is_written(design: &Design) -> bool {
    design.parallel.pipeline_model_parallel_layout.is_some()
        && design.parallel.noop_layers.0.is_empty()
}

/// Megatron's layout for slots with no-op or MTP layers, which Megatron counts otherwise.
pub(super) fn letters(design: &Design) -> Option<String> {
    if let Some(layout) = &design.parallel.pipeline_model_parallel_layout {
        let is_own = !layout.chunks.iter().any(|chunk| chunk.contains(['n', 'h']));
        let text = if is_own {
            design.get(KnobId::pipeline_model_parallel_layout).to_string()
        } else {
            spelled(&of_megatron(&layout.chunks)?)
        };
        return Some(text).filter(|text| text.len() <= MAX_LETTERS);
    }
    let transformer = &design.transformer;
    let Counted { total, noops } = counted(design);
    let count = chunks(design);
    let plain = noops.is_empty() && transformer.mtp_num_layers == 0;
    if plain || count == 1 || !total.is_multiple_of(count) || total as usize > MAX_LETTERS / 2 {
        return None;
    }
    let each = total / count;
    let mut letters: Vec<String> = (0..count)
        .map(|chunk| {
            let slots = chunk * each..(chunk + 1) * each;
            slots.filter(|slot| noops.binary_search(slot).is_err()).map(|_| 't').collect()
        })
        .collect();
    letters.first_mut()?.insert(0, 'E');
    let last = letters.last_mut()?;
    (0..transformer.mtp_num_layers).for_each(|_| last.push('m'));
    last.push('L');
    Some(spelled(&letters)).filter(|text| text.len() <= MAX_LETTERS)
}

/// Chunks in Megatron's letters: it computes the heads of MTP layers beside the loss, wherever the
/// layers are, and has no letters for one without the other.
fn of_megatron(chunks: &[String]) -> Option<Vec<String>> {
    let (last, others) = chunks.split_last()?;
    let count = |letter: char| chunks.iter().map(|chunk| chunk.matches(letter).count()).sum();
    let (apart, heads): (usize, usize) = (count('n'), count('h'));
    let beside = last.matches('h').count();
    let is_whole = others.iter().any(|chunk| chunk.contains('m'));
    if apart != heads || heads != beside || is_whole || last.contains('n') {
        return None;
    }
    let letters = |chunk: &String| chunk.replace('n', "m").replace('h', "");
    Some(chunks.iter().map(letters).collect())
}

/// Chunks with repeats counted: `Ettt` is `Et*3`.
fn spelled(chunks: &[String]) -> String {
    let chunks: Vec<String> = chunks
        .iter()
        .map(|chunk| {
            let mut text = String::new();
            let mut letters = chunk.chars().peekable();
            while let Some(letter) = letters.next() {
                let mut count = 1;
                while letters.next_if_eq(&letter).is_some() {
                    count += 1;
                }
                text.push(letter);
                if count > 1 {
                    text.push_str(&format!("*{count}"));
                }
            }
            text
        })
        .collect();
    chunks.join("|")
}

/// `--first-k-dense-replace`, for patterns of dense layers first and MoE layers behind them.
pub(super) fn dense_first(design: &Design) -> Option<u64> {
    let freq = &design.transformer.moe_layer_freq;
    let layers = design.transformer.num_layers;
    if freq.len().is_none_or(|len| len != layers) {
        return None;
    }
    let dense = (0..layers).take_while(|layer| !freq.marks(*layer)).count() as u64;
    (dense..layers).all(|layer| freq.marks(layer)).then_some(dense).filter(|dense| *dense < layers)
}
