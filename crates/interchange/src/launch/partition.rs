//! Layers of each stage by the rules of frameworks that weigh what stands at both ends.

use super::Parts;
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

/// Layers of each stage by Megatron-DeepSpeed's rule: the heaviest stage is as light as can be.
///
/// The model is an embedding, the layers and a head, which is an embedding again where both share
/// one matrix. `type:NAMES` counts what is called by one of the names, `uniform` everything, and
/// `parameters` weighs each.
///
/// Sources: DeepSpeed, `runtime/pipe/module.py:PipelineModule._partition_layers`;
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
            super::cut(&given)
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
    let counts = balanced(&weights, stages)?;
    // Where all stages are alike nothing has to be said.
    if counts.iter().all(|count| *count * stages == total) {
        parts.ignore(name, "every stage has as many layers", draft);
        return None;
    }
    Some(counts)
}

/// Layers of each of so many stages where the heaviest one is as light as can be; the first and the
/// last weight are of no layer.
fn balanced(weights: &[u64], stages: u64) -> Option<Vec<u64>> {
    let sum = weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight));
    let (mut low, mut high) = (weights.iter().copied().max()?.max(sum.div_ceil(stages)), sum);
    while low < high {
        let middle = low + (high - low) / 2;
        let fits = filled(weights, stages, middle).is_some();
        (low, high) = if fits { (low, middle) } else { (middle + 1, high) };
    }
    filled(weights, stages, low)
}

/// Layers of each stage where each is filled up to a weight in turn, and keeps one for each stage
/// behind it.
fn filled(weights: &[u64], stages: u64, most: u64) -> Option<Vec<u64>> {
    let last = weights.len().checked_sub(1)?;
    let mut counts: Vec<u64> = vec![];
    let (mut held, mut layers) = (0_u64, 0_u64);
    for (place, weight) in weights.iter().enumerate() {
        let is_layer = place > 0 && place < last;
        let behind = stages.saturating_sub(counts.len() as u64 + 1);
        let left = (last - place.min(last)) as u64;
        let is_full = held.saturating_add(*weight) > most || (is_layer && left <= behind);
        if is_full && layers > 0 && behind > 0 {
            counts.push(layers);
            (held, layers) = (0, 0);
        }
        held = held.saturating_add(*weight);
        if held > most {
            return None;
        }
        layers += u64::from(is_layer);
    }
    counts.push(layers);
    (counts.len() as u64 == stages).then_some(counts)
}

/// Layers of each chunk of a recipe whose own settings aren't in the text: layers that are no
/// multiple of the chunks mostly become one with the embedding and the head.
///
/// Source: NVIDIA-NeMo/Megatron-Bridge, `src/megatron/bridge/recipes/qwen/qwen3_moe.py`, which sets
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

/// How many layers less the first and the last stage of torchtitan have: one each without being
/// told.
fn ends_of_torchtitan(parts: &Parts, draft: &mut Draft) -> (u64, u64) {
    let first = parts.number("first-stage-less-layers", draft).unwrap_or(1);
    let last = parts.number("last-stage-less-layers", draft).unwrap_or(1);
    (first.min(1_000), last.min(1_000))
}

/// Chunks of each rank where torchtitan is told of how many layers each is, and the layers alone
/// are no multiple.
///
/// Source: torchtitan, `distributed/pipeline_parallel.py:pipeline_llm`.
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
/// Source: torchtitan, `distributed/pipeline_parallel.py:generate_llm_fqn_per_model_part`.
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
    fn the_heaviest_stage_is_as_light_as_can_be() {
        let weights = |ends: u64, layers: usize| {
            let mut all = vec![1_u64; layers];
            all.insert(0, ends);
            all.push(ends);
            all
        };
        let counts = balanced(&weights(1, 70), 12).unwrap();
        assert_eq!(counts, [5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5]);
        assert_eq!(balanced(&weights(0, 14), 4).unwrap(), [4, 4, 4, 2]);
        assert_eq!(balanced(&weights(3, 4), 4).unwrap().iter().sum::<u64>(), 4);
        assert_eq!(balanced(&weights(0, 5), 4).unwrap(), [2, 1, 1, 1]);
    }
}
