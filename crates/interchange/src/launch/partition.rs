//! Layers of each stage by the rules of frameworks that weigh what stands at both ends.

use super::parts::Parts;
use crate::dialects;
use crate::draft::Draft;

/// Megatron-DeepSpeed's argument that says what its stages are balanced by.
pub(super) const METHOD: &str = "--pp-partition-method";

/// Layers of each chunk of each stage, `[[3,4],[4,3]]`, in the order in which a micro-batch meets
/// them.
///
/// Source: MindSpeed, `features_manager/pipeline_parallel/unaligned_pineline_feature.py`.
pub(super) fn unaligned(text: &str, stages: u64, chunks: u64) -> Option<Vec<u64>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let lists = inner.split(']').filter(|list| list.contains('['));
    let of_stages: Option<Vec<Vec<u64>>> = lists
        .map(|list| {
            let numbers = list.split_once('[')?.1.split(',');
            numbers.map(|number| number.trim().parse().ok()).collect()
        })
        .collect();
    let of_stages = of_stages?;
    let each = usize::try_from(chunks / stages.max(1)).ok()?;
    let fits = of_stages.len() as u64 == stages && of_stages.iter().all(|it| it.len() == each);
    let chunk = |place| of_stages.iter().filter_map(move |stage| stage.get(place).copied());
    fits.then(|| (0..each).flat_map(chunk).collect())
}

/// Layers of each stage by Megatron-DeepSpeed's rule: stages weigh as much as each other.
///
/// The model is an embedding, the layers and a head, which is an embedding again where both share
/// one matrix. `type:NAMES` counts what is called by one of the names, `uniform` everything, and
/// `parameters` weighs each.
///
/// Sources: DeepSpeed, `runtime/pipe/module.py:PipelineModule._partition_layers`, of which
/// `uniform` counts the layers' neighbours that have no weights, too, which isn't done here;
/// Megatron-DeepSpeed, `megatron/model/gpt_model.py:GPTModelPipe`.
pub(super) fn by_method(
    parts: &Parts,
    total: u64,
    stages: u64,
    draft: &mut Draft,
) -> Option<Vec<u64>> {
    let name = METHOD.trim_start_matches('-');
    let given = parts.text(name)?.to_lowercase();
    let shape = &draft.design.transformer;
    let is_tied = !shape.untie_embeddings_and_output_weights;
    let (embedding, layer, head) = if let Some(kinds) = given.strip_prefix("type:") {
        let has = |kind: &str| u64::from(kinds.split('|').any(|it| kind.contains(it.trim())));
        let head = if is_tied { "embeddingpipe" } else { "lmheadpipe" };
        (has("embeddingpipe"), has("paralleltransformerlayerpipe"), has(head))
    } else if given == "uniform" {
        (1, 1, 1)
    } else if given == "parameters" {
        let matrix = shape.vocab_size.saturating_mul(shape.hidden_size);
        let heads = shape.num_query_groups.unwrap_or(shape.num_attention_heads);
        let shared = shape.hidden_size / shape.num_attention_heads.max(1) * heads;
        let gates = if shape.gated_linear_unit { 3 } else { 2 };
        let wide = shape.hidden_size.saturating_add(shared).saturating_mul(2);
        let wide = wide.saturating_add(shape.ffn_hidden_size.saturating_mul(gates));
        (matrix, shape.hidden_size.saturating_mul(wide), matrix)
    } else {
        let detail = format!(
            "takes uniform, parameters or type:NAMES such as type:transformer, not `{}`",
            super::parts::cut(&given)
        );
        draft.fault(parts.line(name), METHOD, detail);
        return None;
    };
    if layer == 0 || stages < 2 || stages > total {
        parts.ignore(name, "it counts no layers of this pipeline", draft);
        return None;
    }
    let weights: Vec<u64> = std::iter::once(embedding)
        .chain((0..total).map(|_| layer))
        .chain(std::iter::once(head))
        .collect();
    let Some(counts) = balanced(&weights, stages) else {
        let detail = "the stages can't be balanced so that each has a layer: all as many layers";
        draft.assume(None, detail);
        return None;
    };
    // Where all stages are alike nothing has to be said.
    if counts.iter().all(|count| *count * stages == total) {
        parts.ignore(name, "every stage has as many layers", draft);
        return None;
    }
    Some(counts)
}

/// Weights that are shared out, at most: more layers than any pipeline has.
const MAX_WEIGHTS: usize = 300;

/// Layers of each of `stages` stages where the heaviest one and the lightest one differ least; the
/// first and the last weight are of no layer. Of several ways the later stages have less.
///
/// Source: DeepSpeed, `runtime/utils.py:partition_balanced`.
fn balanced(weights: &[u64], stages: u64) -> Option<Vec<u64>> {
    let stages = usize::try_from(stages).ok()?;
    let all = weights.len();
    if all <= stages || all > MAX_WEIGHTS {
        return None;
    }
    let mut sums = vec![0_u64];
    for weight in weights {
        sums.push(sums.last()?.saturating_add(*weight));
    }
    // The heaviest and the lightest stage of the weights up to each place, and where the last
    // stage begins, for each number of stages.
    let mut before: Vec<Option<(u64, u64)>> = vec![None; all + 1];
    *before.first_mut()? = Some((0, u64::MAX));
    let mut begins: Vec<Vec<usize>> = vec![];
    for _ in 0..stages {
        let (mut now, mut places) = (vec![None; all + 1], vec![0; all + 1]);
        for (end, sum) in sums.iter().enumerate().skip(1) {
            let mut least = None;
            for (begin, (held, bounds)) in sums.iter().zip(&before).take(end).enumerate() {
                let Some((most, fewest)) = *bounds else { continue };
                let own = sum - held;
                let (most, fewest) = (most.max(own), fewest.min(own));
                if least.is_none_or(|cost| cost >= most - fewest) {
                    least = Some(most - fewest);
                    *now.get_mut(end)? = Some((most, fewest));
                    *places.get_mut(end)? = begin;
                }
            }
        }
        before = now;
        begins.push(places);
    }
    let mut counts = vec![];
    let mut end = all;
    for places in begins.iter().rev() {
        let begin = *places.get(end)?;
        let ends = usize::from(begin == 0) + usize::from(end == all);
        counts.push((end - begin).saturating_sub(ends) as u64);
        end = begin;
    }
    counts.reverse();
    counts.iter().all(|layers| *layers > 0).then_some(counts)
}

/// Layers of each chunk of a recipe whose own settings aren't in the text: layers that are no
/// multiple of the chunks mostly become one with the embedding and the head.
///
/// Source: NVIDIA-NeMo/Megatron-Bridge, `src/megatron/bridge/recipes/qwen/h100/qwen3_moe.py`, with
/// `account_for_embedding_in_pipeline_split` and `account_for_loss_in_pipeline_split`.
pub(super) fn of_recipe(total: u64, chunks: u64, draft: &mut Draft) -> Option<Vec<u64>> {
    let slots = total + 2;
    let is_own = draft.title.is_some_and(dialects::has_recipes) && draft.model.is_some();
    if !is_own || chunks < 2 || total.is_multiple_of(chunks) || !slots.is_multiple_of(chunks) {
        return None;
    }
    let each = slots / chunks;
    let detail = format!(
        "{total} layers are no multiple of {chunks} chunks, and the text doesn't say how they are \
         shared out: {each} a chunk, with the embedding and the head as a layer each"
    );
    draft.assume(None, detail);
    let ends = |chunk: u64| u64::from(chunk == 0) + u64::from(chunk + 1 == chunks);
    (0..chunks).map(|chunk| each.checked_sub(ends(chunk)).filter(|layers| *layers > 0)).collect()
}

/// Number of layers that the first and the last stage of torchtitan have less: one each by default.
fn ends_of_torchtitan(parts: &Parts, draft: &mut Draft) -> (u64, u64) {
    let first = parts.number("first-stage-less-layers", draft).unwrap_or(1);
    let last = parts.number("last-stage-less-layers", draft).unwrap_or(1);
    (first.min(1_000), last.min(1_000))
}

/// Chunks of each rank where torchtitan is told of how many layers each is, and the layers alone
/// are no multiple.
///
/// Source: torchtitan, `distributed/pipeline_parallel.py:_get_pipeline_metadata`.
pub(super) fn chunks_of_torchtitan(
    parts: &Parts,
    total: u64,
    stages: u64,
    each: u64,
    draft: &mut Draft,
) -> Option<u64> {
    let is_own = draft.title.is_some_and(dialects::is_torchtitan);
    let whole = each.saturating_mul(stages);
    if !is_own || each == 0 || stages == 0 || total.is_multiple_of(whole) {
        return None;
    }
    let (first, last) = ends_of_torchtitan(parts, draft);
    let chunks = (total + first + last).div_ceil(each);
    chunks.is_multiple_of(stages).then_some(chunks / stages)
}

/// Layers of each chunk as torchtitan cuts a model whose layers are no multiple of the chunks.
///
/// Source: torchtitan, `distributed/pipeline_parallel.py:_generate_llm_fqn_per_model_part`.
pub(super) fn of_torchtitan(
    parts: &Parts,
    total: u64,
    chunks: u64,
    draft: &mut Draft,
) -> Option<Vec<u64>> {
    let is_own = draft.title.is_some_and(dialects::is_torchtitan);
    let told = ["first-stage-less-layers", "last-stage-less-layers"];
    let is_told = parts.first_of(&told).is_some();
    if !is_own || chunks < 2 || (total.is_multiple_of(chunks) && !is_told) {
        return None;
    }
    let (first, last) = ends_of_torchtitan(parts, draft);
    let all = total + first + last;
    let (each, more) = (all / chunks, all % chunks);
    let counts = (0..chunks).map(|chunk| {
        let whole = each + u64::from(chunk < more);
        let less = if chunk == 0 { first } else { 0 };
        let less = less + if chunk + 1 == chunks { last } else { 0 };
        whole.checked_sub(less)
    });
    let counts: Vec<u64> = counts.collect::<Option<_>>()?;
    let detail = format!(
        "layers are shared out as torchtitan does: the first chunk has {first} less for the \
         embedding, the last {last} less for the head"
    );
    draft.assume(None, detail);
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_weigh_as_much_as_each_other() {
        let weights = |ends: u64, layers: usize| {
            let mut all = vec![1_u64; layers];
            all.insert(0, ends);
            all.push(ends);
            all
        };
        let counts = balanced(&weights(1, 70), 12).unwrap();
        assert_eq!(counts, [5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5]);
        assert_eq!(balanced(&weights(0, 14), 4).unwrap(), [4, 4, 3, 3]);
        assert_eq!(balanced(&weights(2, 30), 4).unwrap(), [7, 9, 8, 6]);
        // A stage of an embedding alone.
        assert_eq!(balanced(&weights(3, 4), 4), None);
        assert_eq!(balanced(&weights(1, 10_000), 100), None);
        assert_eq!(balanced(&weights(0, 5), 4).unwrap(), [2, 1, 1, 1]);
    }
}
