//! Which layers and heads each pipeline stage holds.

pub(crate) mod solver;
pub(crate) mod text;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::design::{Design, PerStage, Positions};
use crate::ground::choice::Method;
use crate::layer::architecture::{KindId, Pattern, PerKind};
use crate::schedule::Form;

pub(crate) use solver::Ends;

/// Content of one pipeline stage, all its chunks together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stage {
    /// Transformer layers of each kind.
    pub(crate) layers: PerKind<f64>,
    /// MTP layers, without their heads.
    pub(crate) mtp: f64,
    /// Input embeddings.
    pub(crate) embedding: f64,
    /// Language-model heads with their loss.
    pub(crate) head: f64,
    /// Heads and losses of MTP layers.
    pub(crate) mtp_head: f64,
    /// Block states of attention residuals that it holds for a micro-batch: those that reach each
    /// of its chunks, and those that these make.
    pub(crate) snapshots: f64,
    /// Block states that its parts mix, each as often as it is read.
    pub(crate) sources: f64,
}

impl Stage {
    pub(crate) fn add(&mut self, other: Self, weight: f64) {
        for (own, others) in self.layers.iter_mut().zip(other.layers) {
            *own += others * weight;
        }
        self.mtp += other.mtp * weight;
        self.embedding += other.embedding * weight;
        self.head += other.head * weight;
        self.mtp_head += other.mtp_head * weight;
        self.snapshots += other.snapshots * weight;
        self.sources += other.sources * weight;
    }

    /// Layers of each kind, those of MTP among the ones of theirs.
    pub(crate) fn with_mtp(&self, mtp: KindId) -> PerKind<f64> {
        let mut layers = self.layers;
        layers[mtp.index()] += self.mtp;
        layers
    }

    /// Transformer layers, MTP not counted.
    pub(crate) fn num_layers(&self) -> f64 {
        self.layers.iter().sum()
    }

    /// Transformer layers and MTP layers.
    pub(crate) fn num_all_layers(&self) -> f64 {
        self.num_layers() + self.mtp
    }

    /// Whether it has anything but layers.
    pub(crate) fn has_ends(&self) -> bool {
        self.embedding + self.mtp + self.heads() + self.sources > 0.0
    }

    /// Heads with their losses, those of MTP among them.
    pub(crate) fn heads(&self) -> f64 {
        self.head + self.mtp_head
    }
}

/// Stages next to each other that hold and recompute the same: all that follows from that is the
/// same for each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    /// Content of each of them.
    pub(crate) content: Stage,
    /// The first of them.
    pub(crate) first: usize,
    /// Number of stages in the span.
    pub(crate) count: usize,
    /// Share of all stages that it has.
    pub(crate) share: f64,
}

impl Span {
    /// Its stages' part of a list that has an entry for each stage.
    pub(crate) fn stages_of<'a, T>(&self, each: &'a [T]) -> core::slice::Iter<'a, T> {
        each.get(self.first..self.first + self.count).unwrap_or_default().iter()
    }
}

/// Stages by what they hold and recompute.
pub(crate) fn spans(stages: &[Stage], design: &Design) -> Vec<Span> {
    let recomputes_alike = |one: usize, other: usize| match &design.memory.recompute_num_layers {
        None | Some(PerStage::Same(_)) => true,
        Some(PerStage::Each(counts)) => counts.get(one) == counts.get(other),
    };
    // The first stage, the last one, and those between.
    let mut spans: Vec<Span> = Vec::with_capacity(8);
    for (index, stage) in stages.iter().enumerate() {
        match spans.last_mut() {
            Some(last) if last.content == *stage && recomputes_alike(index - 1, index) => {
                last.count += 1;
            }
            _ => spans.push(Span { content: *stage, first: index, count: 1, share: 0.0 }),
        }
    }
    spans.iter_mut().for_each(|span| span.share = span.count as f64 / stages.len() as f64);
    spans
}

/// Layer slots that are spread over the chunks: layers, MTP layers and no-op layers.
pub(crate) fn slots(design: &Design) -> u64 {
    let transformer = &design.transformer;
    transformer.num_layers + transformer.mtp_num_layers + design.parallel.noop_layers.0.len() as u64
}

/// Chunks over all stages.
pub(crate) fn chunks(design: &Design) -> u64 {
    design.parallel.pipeline_model_parallel_size
        * design.parallel.virtual_pipeline_model_parallel_size
}

/// Layers that Megatron trains where it doesn't check that they can be split evenly: those of a
/// stage and those of a chunk are rounded down each, and what is left over is nowhere.
///
/// # Source
/// NVIDIA/Megatron-LM#1304: 30 layers on 4 stages train 28; #468: 80 on 16 x 2 chunks train 64.
pub(crate) fn kept_layers(design: &Design) -> u64 {
    let parallel = &design.parallel;
    let (stages, chunks) = (
        parallel.pipeline_model_parallel_size.max(1),
        parallel.virtual_pipeline_model_parallel_size.max(1),
    );
    let layers = design.transformer.num_layers + parallel.noop_layers.0.len() as u64;
    layers / stages / chunks * chunks * stages
}

/// Whether the pattern of sub-layers says what each chunk holds.
pub(crate) fn has_bars(design: &Design) -> bool {
    let pattern = design.transformer.hybrid_layer_pattern.as_ref();
    pattern.is_some_and(|pattern| !pattern.chunks.is_empty())
}

/// Content of each chunk of the model, from the first layers to the last.
///
/// There are p v of them; under DualPipe both directions run the same p chunks.
///
/// Source: Megatron-Core `transformer_block.py:get_num_layers_to_build` and
/// `pipeline_parallel_layer_layout.py`; MindSpeed `noop-layers.md`.
pub(crate) fn chunks_of(design: &Design, pattern: &Pattern) -> Vec<Stage> {
    let mut chunks = match &design.parallel.pipeline_model_parallel_layout {
        Some(layout) => chunks_of_layout(pattern, &layout.chunks),
        None if has_bars(design) => chunks_of_bars(design, pattern),
        None => chunks_of_slots(design, pattern),
    };
    if let Some(block) = design.transformer.attention_residual_block_size {
        add_snapshots(&mut chunks, block);
    }
    chunks
}

/// Adds what attention residuals over blocks of this many layers hold and mix.
///
/// In front of layer l there are the states of ceil(l / B) blocks, the embedding's among them;
/// attention mixes these and the running sum, the MLP those and what becomes a state at the
/// layer, and the head all of them. A chunk gets the states of all layers in front.
///
/// # Source
/// Megatron-Bridge `kimi_k3_pipeline.py:bank_num_rows`, `kimi_k3_layers.py`.
pub(crate) fn add_snapshots(chunks: &mut [Stage], block: u64) {
    let mut layer = 0;
    for chunk in chunks {
        let last = layer + chunk.num_layers() as u64;
        let states = |layer: u64| layer.div_ceil(block) + layer / block + 1;
        let read: u64 = (layer..last).map(states).sum();
        let all = last.div_ceil(block) as f64;
        chunk.snapshots = all;
        chunk.sources = read as f64 + all * chunk.head;
        layer = last;
    }
}

/// Work of each stage for one micro-batch, as the content that it computes: the mean over
/// directions, of the model's chunks.
pub(crate) fn stages(design: &Design, chunks: &[Stage]) -> Vec<Stage> {
    let p = design.parallel.pipeline_model_parallel_size as usize;
    stages_of(design.schedule.method, p, chunks)
}

/// Content of each of p stages, made of these chunks.
pub(crate) fn stages_of(method: Method, p: usize, chunks: &[Stage]) -> Vec<Stage> {
    let placement = Form::of(method).placement;
    let mut stages = vec![Stage::default(); p];
    for (position, chunk) in chunks.iter().enumerate() {
        let directions = placement.directions();
        for direction in 0..directions {
            let stage = placement.stage_at(p, position, direction);
            stages[stage].add(*chunk, 1.0 / directions as f64);
        }
    }
    stages
}

/// Slots filled in order: layers, then MTP layers, skipping the no-op positions.
///
/// The embedding is on the first chunk, an MTP layer's head beside it and the language-model head
/// on the last chunk; where a no-op slot is between the last layer and an MTP layer, it leaves
/// room for the language-model head there.
fn chunks_of_slots(design: &Design, pattern: &Pattern) -> Vec<Stage> {
    let count = chunks(design);
    let per_chunk = slots(design) / count;
    let mut chunks = vec![Stage::default(); count as usize];
    let transformer = &design.transformer;
    let layers = transformer.num_layers;
    let mut noops = design.parallel.noop_layers.0.iter().copied().peekable();
    // Slots that hold layers, MTP layers among them, in front of a chunk.
    let mut filled = 0;
    let mut head_chunk = None;
    for (index, chunk) in chunks.iter_mut().enumerate() {
        let first = index as u64 * per_chunk;
        let (before, last) = (filled, first + per_chunk);
        filled += per_chunk;
        while let Some(slot) = noops.next_if(|slot| (first..last).contains(slot)) {
            let in_front = before + (slot - first) - (last - first + before - filled);
            if in_front == layers && transformer.mtp_num_layers > 0 {
                head_chunk = head_chunk.or(Some(index));
            }
            filled -= 1;
        }
        let held = before.min(layers) as usize..filled.min(layers) as usize;
        chunk.layers = Pattern::counts(&pattern.layers[held]);
        chunk.mtp = (filled.max(layers) - before.max(layers)) as f64;
        chunk.mtp_head = chunk.mtp;
    }
    let head_chunk = head_chunk.unwrap_or(chunks.len() - 1);
    chunks[0].embedding = 1.0;
    chunks[head_chunk].head = 1.0;
    chunks
}

/// Chunks between the bars of a pattern of sub-layers: the embedding in front of the first, MTP
/// layers and the heads behind the last.
fn chunks_of_bars(design: &Design, pattern: &Pattern) -> Vec<Stage> {
    let bars = design.transformer.hybrid_layer_pattern.as_ref();
    let lengths = bars.map_or(&[][..], |pattern| &pattern.chunks);
    let mut first = 0;
    let held = |length: &u64| {
        let end = (first + *length as usize).min(pattern.layers.len());
        let layers = Pattern::counts(&pattern.layers[first.min(end)..end]);
        first = end;
        Stage { layers, ..Stage::default() }
    };
    let mut chunks: Vec<Stage> = lengths.iter().map(held).collect();
    if let Some(chunk) = chunks.first_mut() {
        chunk.embedding = 1.0;
    }
    if let Some(chunk) = chunks.last_mut() {
        let mtp = design.transformer.mtp_num_layers as f64;
        (chunk.mtp, chunk.mtp_head, chunk.head) = (mtp, mtp, 1.0);
    }
    chunks
}

fn chunks_of_layout(pattern: &Pattern, layout: &[String]) -> Vec<Stage> {
    let mut kinds = pattern.layers.iter();
    layout
        .iter()
        .map(|letters| {
            let mut chunk = Stage::default();
            for letter in letters.chars() {
                match letter {
                    'E' => chunk.embedding += 1.0,
                    'L' => chunk.head += 1.0,
                    'm' => {
                        chunk.mtp += 1.0;
                        chunk.mtp_head += 1.0;
                    }
                    'n' => chunk.mtp += 1.0,
                    'h' => chunk.mtp_head += 1.0,
                    // A rule keeps the letters as many as the layers.
                    _ => kinds.next().into_iter().for_each(|kind| {
                        chunk.layers[kind.index()] += 1.0;
                    }),
                }
            }
            chunk
        })
        .collect()
}

/// Whether the parts behind the last layer of a layout are where these may be.
pub(crate) fn keeps(chunks: &[String], stages: u64, ends: Ends) -> bool {
    let (last, others) = match chunks.split_last() {
        Some((last, others)) => (last.as_str(), others),
        None => return true,
    };
    match ends {
        Ends::Anywhere => true,
        Ends::Last => !others.iter().any(|chunk| chunk.contains(['L', 'm', 'n', 'h'])),
        Ends::HeadsLast => {
            let of_mtp = |chunk: &String| chunk.contains(['m', 'n']);
            let holders = chunks.iter().filter(|chunk| of_mtp(chunk)).count();
            let from = (others.len() as u64 + 1).saturating_sub(stages);
            let is_of_last = |at: usize| at as u64 > from;
            last.ends_with('L')
                && holders <= 1
                && others.iter().enumerate().all(|(at, chunk)| {
                    !chunk.contains(['L', 'm', 'h']) && (!of_mtp(chunk) || is_of_last(at))
                })
        }
    }
}

/// The no-op layers with which slots hold what a layout's chunks do; `None` if the parts behind
/// the last layer aren't all in the last chunk.
pub(crate) fn noops_of(chunks: &[String]) -> Option<Positions> {
    let stages = chunks.len() as u64;
    if !keeps(chunks, stages, Ends::Last) {
        return None;
    }
    let held = |chunk: &String| chunk.matches(['t', 'm']).count() as u64;
    let each = chunks.iter().map(held).max()?;
    let free = chunks
        .iter()
        .zip(0..)
        .flat_map(|(chunk, place)| place * each + held(chunk)..(place + 1) * each);
    Some(Positions(free.collect()))
}
