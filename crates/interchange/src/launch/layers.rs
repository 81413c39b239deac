//! Layers, no-op layers, MTP layers and what each chunk of the pipeline holds.
//!
//! Megatron and MindSpeed count no-op layers among `--num-layers` and put MTP layers behind the
//! last chunk's layers; here every layer, MTP layer and no-op layer takes a slot. Where both say
//! the same of each chunk the slots are used, elsewhere a pipeline layout.

use model::design::KnobId;

use super::partition;
use super::parts::Parts;
use crate::draft::Draft;

/// Layers, at most: as many as the knob takes, and no-op layers.
const MAX_LAYERS: u64 = 6_000;

pub(crate) fn read(parts: &Parts, draft: &mut Draft) {
    let name = parts.first_of(&["num-layers", "encoder-num-layers"]);
    let given = name.and_then(|name| parts.number(name, draft));
    if name.is_some() && given.is_none() {
        return;
    }
    let total = given.unwrap_or_else(|| super::parts::layer_count(parts, draft));
    let line = name.map_or(0, |name| parts.line(name));
    if given.is_none() && draft.model.is_none() {
        ask(parts, total, draft);
    }
    if total == 0 || total > MAX_LAYERS {
        let detail = format!("takes 1 to {MAX_LAYERS}, not {total}");
        return draft.fault(line, "--num-layers", detail);
    }
    let total = if has_shortcuts(parts) { 2 * total } else { total };
    let Some(noops) = noops(parts, total, draft) else { return };
    let layers = total - noops.len() as u64;
    if given.is_some() {
        draft.set(KnobId::num_layers, &layers.to_string(), "--num-layers", line);
    } else {
        draft.default(KnobId::num_layers, &layers.to_string());
    }
    let named = if draft.model.is_some() { draft.design.transformer.mtp_num_layers } else { 0 };
    let mtp = parts.number("mtp-num-layers", draft).unwrap_or(named).min(17);
    let is_told = parts.has("mtp-num-layers");
    if is_told && (mtp > 0 || draft.design.transformer.mtp_num_layers > 0) {
        parts.set(KnobId::mtp_num_layers, &mtp.to_string(), "mtp-num-layers", draft);
    }
    if has_shortcuts(parts) {
        let width = draft.design.transformer.ffn_hidden_size.to_string();
        parts.set(KnobId::moe_layer_freq, "2", "spec", draft);
        parts.set(KnobId::moe_shared_expert_intermediate_size, &width, "spec", draft);
    }
    virtual_stages(parts, total, draft);
    put_heads_beside_the_loss(draft);
    if let Some(layout) = &draft.design.parallel.pipeline_model_parallel_layout {
        // Megatron counts the layout's chunks.
        let chunks = layout.chunks.len() as u64;
        let stages = draft.design.parallel.pipeline_model_parallel_size;
        let line = parts.line("pipeline-model-parallel-size");
        let knob = KnobId::virtual_pipeline_model_parallel_size;
        let count = (chunks / stages).max(1).to_string();
        return draft.set(knob, &count, "--pipeline-model-parallel-layout", line);
    }
    let stages = draft.design.parallel.pipeline_model_parallel_size;
    let chunks = stages * draft.design.parallel.virtual_pipeline_model_parallel_size;
    if let Some((key, counts)) = uneven(parts, total, stages, chunks, draft) {
        let first = key.split(',').next().unwrap_or(key);
        return layout(&counts, mtp, key, parts.line(first.trim_start_matches('-')), draft);
    }
    place(&Slots { total, noops, mtp, chunks }, parts, draft);
}

/// Tells MTP layers from their heads where a layout has them in front of the loss: Megatron
/// computes the heads beside it (`gpt_model.py:GPTModel._postprocess`).
fn put_heads_beside_the_loss(draft: &mut Draft) {
    let layout = draft.design.parallel.pipeline_model_parallel_layout.as_ref();
    let Some((last, others)) = layout.and_then(|layout| layout.chunks.split_last()) else { return };
    let apart: usize = others.iter().map(|chunk| chunk.matches('m').count()).sum();
    let Some(before) = last.strip_suffix('L').filter(|_| apart > 0) else { return };
    let mut chunks: Vec<String> = others.iter().map(|chunk| chunk.replace('m', "n")).collect();
    chunks.push(format!("{before}{}L", "h".repeat(apart)));
    // As many letters as before.
    let _ = draft.design.set_text(KnobId::pipeline_model_parallel_layout, &chunks.join("|"));
}

/// Asks how many layers there are, with the number that what is given makes likely.
fn ask(parts: &Parts, total: u64, draft: &mut Draft) {
    if draft.answers.knob(KnobId::num_layers).is_some()
        || draft.is_set(KnobId::hybrid_layer_pattern)
        // Which model it is says how many.
        || draft.is_asked("model")
    {
        return;
    }
    draft.default(KnobId::num_layers, &total.clamp(1, MAX_LAYERS).to_string());
    let purpose = "the text doesn't say how many layers there are";
    let line = parts.line("num-layers");
    draft.ask_knob(KnobId::num_layers, line, purpose, "the model's size, and how it is cut");
}

/// Whether a layer is one of LongCat-Flash: attention and an MLP twice, and experts beside the
/// first MLP. That is two layers here, of which one has a shared expert as wide as an MLP.
///
/// Source: MindSpeed-LLM, `tasks/models/spec/longcat_spec.py`.
fn has_shortcuts(parts: &Parts) -> bool {
    parts.words("spec").iter().any(|word| word.ends_with("longcat_spec"))
}

/// The positions of no-op layers; none where they are wrong.
fn noops(parts: &Parts, total: u64, draft: &mut Draft) -> Option<Vec<u64>> {
    let Some(text) = parts.text("noop-layers") else { return Some(vec![]) };
    let positions: Option<Vec<u64>> =
        text.split(',').map(|part| part.trim().parse().ok().filter(|p| *p < total)).collect();
    let sorted = positions.map(|mut positions| {
        positions.sort_unstable();
        positions.dedup();
        positions
    });
    let Some(positions) = sorted.filter(|positions| (positions.len() as u64) < total) else {
        let detail = format!("takes positions below --num-layers {total}, comma-joined");
        draft.fault(parts.line("noop-layers"), "--noop-layers", detail);
        return None;
    };
    Some(positions)
}

fn virtual_stages(parts: &Parts, total: u64, draft: &mut Draft) {
    let knob = KnobId::virtual_pipeline_model_parallel_size;
    if let Some(name) = parts
        .first_of(&["num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size"])
    {
        if let Some(count) = parts.number(name, draft) {
            parts.set(knob, &count.to_string(), name, draft);
        }
        return;
    }
    let name = "num-layers-per-virtual-pipeline-stage";
    if let Some(each) = parts.number(name, draft) {
        let stages = draft.design.parallel.pipeline_model_parallel_size;
        let chunk = stages.saturating_mul(each);
        if let Some(count) = partition::chunks_of_torchtitan(parts, total, stages, each, draft) {
            return parts.set(knob, &count.to_string(), name, draft);
        }
        if chunk == 0 || !total.is_multiple_of(chunk) {
            let detail = uneven_chunks(total, stages, each);
            return draft.fault(parts.line(name), &super::parts::dashed(name), detail);
        }
        parts.set(knob, &(total / chunk).to_string(), name, draft);
    } else if parts.text("schedules-method") == Some("dualpipev") {
        parts.set(knob, "2", "schedules-method", draft);
    }
}

/// Why layers can't be cut into chunks of so many, what Megatron-LM makes of them, and the sizes of
/// chunks that would do.
///
/// Source: NVIDIA/Megatron-LM#468: both divisions round down, and the layers left over are nowhere.
fn uneven_chunks(total: u64, stages: u64, each: u64) -> String {
    let mut detail = format!("{total} layers aren't a multiple of PP {stages} x {each}");
    let of_stage = total / stages.max(1);
    let kept = (of_stage / each.max(1)).saturating_mul(each).saturating_mul(stages);
    if kept > 0 {
        detail.push_str(&format!(
            "; a Megatron-LM that doesn't check it trains {kept} layers and drops {}",
            total - kept
        ));
    }
    if total.is_multiple_of(stages.max(1)) {
        let sizes: Vec<String> = (1..=of_stage)
            .filter(|size| of_stage.is_multiple_of(*size))
            .map(|size| size.to_string())
            .collect();
        detail.push_str(&format!("; whole: {}", sizes.join(", ")));
    }
    detail
}

/// Layers of each chunk, in the order in which a micro-batch meets them, where they are given or
/// heads take a layer's place; with the argument that says so.
fn uneven(
    parts: &Parts,
    total: u64,
    stages: u64,
    chunks: u64,
    draft: &mut Draft,
) -> Option<(&'static str, Vec<u64>)> {
    let wrong = |key: &str, draft: &mut Draft| {
        let first = key.split(',').next().unwrap_or(key);
        let line = parts.line(first.trim_start_matches('-'));
        let detail = format!("these chunks don't hold {total} layers evenly");
        // A model that is only a guess has other layers than the text's.
        if draft.is_asked("model") {
            return draft.ignore(key, line, format!("{detail}, those of the model of the guess"));
        }
        draft.fault(line, key, detail);
    };
    if let Some((key, counts)) = listed(parts, stages, chunks) {
        let sum = |counts: &Vec<u64>| counts.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        let counts = counts.filter(|counts| sum(counts) == total);
        if counts.is_none() {
            wrong(key, draft);
        }
        return counts.map(|counts| (key, counts));
    }
    if let Some(counts) = partition::by_method(parts, total, stages, draft) {
        return Some((partition::METHOD, counts));
    }
    let per_stage = chunks / stages.max(1);
    let first = parts.number("decoder-first-pipeline-num-layers", draft);
    let last = parts.number("decoder-last-pipeline-num-layers", draft);
    if first.is_some() || last.is_some() {
        let key = match (first, last) {
            (Some(_), Some(_)) => {
                "--decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers"
            }
            (Some(_), None) => "--decoder-first-pipeline-num-layers",
            (None, _) => "--decoder-last-pipeline-num-layers",
        };
        let counts = ends(total, stages, per_stage, first, last);
        if counts.is_none() {
            wrong(key, draft);
        }
        return counts.map(|counts| (key, counts));
    }
    let embedding = parts.has("account-for-embedding-in-pipeline-split");
    let loss = parts.has("account-for-loss-in-pipeline-split");
    if !(embedding || loss) || chunks < 2 {
        if let Some(counts) = partition::of_recipe(total, chunks, draft) {
            return Some(("--recipe", counts));
        }
        let counts = partition::of_torchtitan(parts, total, chunks, draft)?;
        return Some(("--first-stage-less-layers", counts));
    }
    let key = if embedding {
        "--account-for-embedding-in-pipeline-split"
    } else {
        "--account-for-loss-in-pipeline-split"
    };
    let slots = total + u64::from(embedding) + u64::from(loss);
    let each = slots / chunks;
    if !slots.is_multiple_of(chunks) || each == 0 {
        wrong(key, draft);
        return None;
    }
    let mut counts = vec![each; chunks as usize];
    if let Some(first) = counts.first_mut().filter(|_| embedding) {
        *first -= 1;
    }
    if let Some(last) = counts.last_mut().filter(|_| loss) {
        *last -= 1;
    }
    Some((key, counts))
}

/// Layers of each chunk where an argument lists them; none behind it where it can't be.
fn listed(parts: &Parts, stages: u64, chunks: u64) -> Option<(&'static str, Option<Vec<u64>>)> {
    if let Some(text) = parts.text("num-layer-list") {
        let counts: Option<Vec<u64>> =
            text.split(',').map(|part| part.trim().parse().ok()).collect();
        let counts = counts.filter(|counts| counts.len() as u64 == chunks);
        return Some(("--num-layer-list", counts));
    }
    let text = parts.text("pipeline-num-transformer-layers")?;
    Some(("--pipeline-num-transformer-layers", partition::unaligned(text, stages, chunks)))
}

/// Chunks whose first or last stage is given and whose other stages share the rest.
fn ends(
    total: u64,
    stages: u64,
    per_stage: u64,
    first: Option<u64>,
    last: Option<u64>,
) -> Option<Vec<u64>> {
    let given = u64::from(first.is_some()) + u64::from(last.is_some());
    let middle = stages.checked_sub(given).filter(|middle| *middle > 0)?;
    let rest = total.checked_sub(first.unwrap_or(0))?.checked_sub(last.unwrap_or(0))?;
    let each = rest.is_multiple_of(middle).then_some(rest / middle)?;
    let of_stage = |stage: u64| match (first, last) {
        (Some(first), _) if stage == 0 => first,
        (_, Some(last)) if stage + 1 == stages => last,
        _ => each,
    };
    let counts = (0..per_stage * stages).map(|chunk| {
        let layers = of_stage(chunk % stages);
        layers.is_multiple_of(per_stage).then_some(layers / per_stage)
    });
    counts.collect()
}

struct Slots {
    total: u64,
    noops: Vec<u64>,
    mtp: u64,
    chunks: u64,
}

/// Places layers by slots, or by a layout where slots can't say it.
fn place(slots: &Slots, parts: &Parts, draft: &mut Draft) {
    let Slots { total, noops, mtp, chunks } = slots;
    let each = total / chunks.max(&1);
    let even = total.is_multiple_of(*chunks);
    let mtp = *mtp;
    let line = parts.line("noop-layers");
    if mtp == 0 || *chunks == 1 || !even {
        // Slots that don't divide are a rule's matter, which names the ways out.
        return set_noops(noops, line, draft);
    }
    // Behind the last layer all are no-ops; the last of them are where MTP layers stand.
    let behind = (0..*total).rev().take_while(|slot| noops.contains(slot)).count() as u64;
    if behind >= mtp && behind <= each {
        let kept: Vec<u64> = noops.iter().copied().filter(|slot| *slot < total - mtp).collect();
        return set_noops(&kept, line, draft);
    }
    let counts: Vec<u64> = (0..*chunks)
        .map(|chunk| {
            let range = chunk * each..(chunk + 1) * each;
            each - noops.iter().filter(|slot| range.contains(slot)).count() as u64
        })
        .collect();
    layout(&counts, mtp, "--mtp-num-layers", parts.line("mtp-num-layers"), draft);
}

fn set_noops(noops: &[u64], line: u64, draft: &mut Draft) {
    if !noops.is_empty() {
        let text: Vec<String> = noops.iter().map(u64::to_string).collect();
        draft.set(KnobId::noop_layers, &text.join(","), "--noop-layers", line);
    }
}

/// Sets the layout of chunks with so many layers each, MTP layers and head behind the last.
fn layout(counts: &[u64], mtp: u64, key: &str, line: u64, draft: &mut Draft) {
    let mut chunks: Vec<String> = counts.iter().map(|count| repeated('t', *count)).collect();
    if let Some(first) = chunks.first_mut() {
        first.insert(0, 'E');
    }
    if let Some(last) = chunks.last_mut() {
        last.push_str(&repeated('m', mtp));
        last.push('L');
    }
    draft.set(KnobId::pipeline_model_parallel_layout, &chunks.join("|"), key, line);
}

fn repeated(letter: char, count: u64) -> String {
    match count {
        0 => String::new(),
        1 => letter.to_string(),
        _ => format!("{letter}*{count}"),
    }
}
