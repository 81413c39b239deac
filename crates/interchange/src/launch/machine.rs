//! The cluster, and how experts lie on it.

use model::choice::{Choice, Software};
use model::design::{Design, KnobId};

use super::Parts;
use crate::Format;
use crate::card::Card;
use crate::draft::{Draft, Question};

pub(super) fn read(parts: &Parts, base: Option<&Design>, draft: &mut Draft) {
    let per_node = ["nproc-per-node", "local-worker-num"]
        .iter()
        .find_map(|name| parts.text(name)?.parse::<u64>().ok().filter(|count| *count > 0));
    accelerator(per_node, base, draft);
    software(draft);
    if let Some(count) = per_node {
        let name = parts.first_of(&["nproc-per-node", "local-worker-num"]).unwrap_or_default();
        if count != usual_per_node(&draft.design) {
            parts.set(KnobId::devices_per_node, &count.to_string(), name, draft);
        }
    }
    devices(parts, per_node, base, draft);
}

/// What the accelerator decides.
const FOLLOWS: &str = "speed, memory and links of every device";

/// An accelerator that has no profile: another one is taken, which nothing suggests, and asked.
fn unknown(whose: &str, word: &str, line: u64, draft: &mut Draft) {
    let knob = KnobId::accelerator;
    let id = "h100-sxm-80gb";
    draft.default(knob, id);
    let purpose = format!(
        "the text says {}, so that it runs on {whose}, of which there is no profile here",
        super::cut(word)
    );
    draft.assume(Some(knob), format!("{purpose}: {id} stands in for them until it is answered"));
    draft.ask(Question {
        name: knob.id(),
        line,
        file: None,
        purpose,
        guess: None,
        follows: FOLLOWS.to_owned(),
    });
}

/// The accelerator, which no argument names.
fn accelerator(per_node: Option<u64>, base: Option<&Design>, draft: &mut Draft) {
    let knob = KnobId::accelerator;
    if let Some(base) = base {
        let detail = format!("no argument names the accelerator: that of {}", base.preset.id);
        return draft.assume(Some(knob), detail);
    }
    let usual = match (draft.format, per_node) {
        (Format::Mindspeed, Some(16)) => "ascend-910c",
        (Format::Mindspeed, _) => "ascend-910b3",
        (Format::Megatron | Format::HuggingFace | Format::Serving | Format::Design, _) => {
            "h100-sxm-80gb"
        }
    };
    named(usual, draft);
}

/// The accelerator that the text names by the way, or the usual one.
pub(crate) fn named(usual: &str, draft: &mut Draft) {
    let knob = KnobId::accelerator;
    match draft.card.clone() {
        Some(Card { id: Err(whose), word, line }) => unknown(whose, &word, line, draft),
        Some(Card { id: Ok(id), word, line }) => {
            draft.default(knob, id);
            let purpose = format!("no argument names the accelerator, but the text says {word}");
            draft.ask_knob(knob, line, &purpose, FOLLOWS);
        }
        None => {
            draft.default(knob, usual);
            draft.assume(Some(knob), format!("no argument names the accelerator: {usual}"));
        }
    }
}

/// The state of the software, which no argument names.
fn software(draft: &mut Draft) {
    if draft.format != Format::Mindspeed {
        return;
    }
    // What is calibrated on Ascend is the state of 2026.
    let own = draft.design.kernel.software;
    let state = if own == Software::Calibrated { Software::Ascend2026 } else { own };
    let detail = format!("no argument names the state of the software: {}", state.name());
    draft.assume(Some(KnobId::software), detail);
}

fn usual_per_node(design: &Design) -> u64 {
    design.cluster.accelerator.row().devices_per_node
}

fn devices(parts: &Parts, per_node: Option<u64>, base: Option<&Design>, draft: &mut Draft) {
    let knob = KnobId::num_devices;
    if draft.answers.knob(knob).is_some() {
        return;
    }
    let number = |name: &str| parts.text(name)?.parse::<u64>().ok().filter(|count| *count > 0);
    if let Some(world) = number("worker-num") {
        return parts.set(knob, &world.to_string(), "worker-num", draft);
    }
    if let (Some(per_node), Some(nodes)) = (per_node, number("nnodes")) {
        let world = per_node.saturating_mul(nodes).to_string();
        return draft.set(knob, &world, "--nnodes x --nproc-per-node", parts.line("nnodes"));
    }
    if let Some(world) = number("world-size") {
        return parts.set(knob, &world.to_string(), "world-size", draft);
    }
    if let Some(replicas) = number("data-parallel-size") {
        let parallel = &draft.design.parallel;
        let ranks = parallel
            .tensor_model_parallel_size
            .saturating_mul(parallel.context_parallel_size)
            .saturating_mul(parallel.pipeline_model_parallel_size);
        let world = replicas.saturating_mul(ranks).to_string();
        return parts.set(knob, &world, "data-parallel-size", draft);
    }
    if base.is_some() {
        let detail =
            format!("the text doesn't give it: {} devices", draft.design.cluster.num_devices);
        return draft.assume(Some(knob), detail);
    }
    let parallel = &draft.design.parallel;
    let pipeline = parallel.pipeline_model_parallel_size;
    let dense = parallel.tensor_model_parallel_size.saturating_mul(parallel.context_parallel_size);
    let sparse =
        parallel.expert_model_parallel_size.saturating_mul(parallel.expert_tensor_parallel_size);
    let stage = common_multiple(dense, sparse).saturating_mul(pipeline);
    let node = per_node.unwrap_or_else(|| usual_per_node(&draft.design)).max(1);
    let world = if stage > node { common_multiple(stage, node) } else { stage };
    if let Some(nodes) = number("nnodes") {
        let world = nodes.saturating_mul(node).clamp(1, 1_048_576);
        draft.default(knob, &world.to_string());
        let detail = format!("{nodes} nodes, and the text doesn't say of how many devices: {node}");
        let line = parts.line("nnodes");
        draft.ask_knob(knob, line, &detail, "data parallelism, the batch and the step's time");
        return draft.assume(Some(knob), detail);
    }
    let world = world.clamp(1, 1_048_576);
    draft.default(knob, &world.to_string());
    let detail =
        format!("the text gives no number of nodes: {world} devices, the fewest that hold it");
    let line = parts.line("nnodes");
    draft.ask_knob(knob, line, &detail, "data parallelism, the batch and the step's time");
    draft.assume(Some(knob), detail);
}

fn common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one.max(1), other.max(1));
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one.max(1) / a).saturating_mul(other.max(1))
}
