//! The cluster, and how experts lie on it.

use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Software};

use super::parts::Parts;
use crate::Format;
use crate::card::Card;
use crate::draft::{Draft, Question};

pub(super) fn read(parts: &Parts, base: Option<&Design>, draft: &mut Draft) {
    let own = ["nproc-per-node", "local-worker-num"].iter().find_map(|name| number(parts, name));
    let world = number(parts, "world-size");
    let of_nodes = || {
        let (world, nodes) = (world?, number(parts, "nnodes")?);
        (world.is_multiple_of(nodes)).then_some(world / nodes)
    };
    let told = draft.job.per_node.clone();
    let per_node = own.or_else(of_nodes).or(told.as_ref().map(|told| told.value));
    accelerator(per_node, base, draft);
    software(draft);
    let per_node = per_node.or_else(|| whole_node(parts, draft));
    if let Some(count) = per_node.filter(|count| *count != usual_per_node(&draft.design)) {
        let name = parts.first_of(&["nproc-per-node", "local-worker-num", "world-size"]);
        match (name, told) {
            (None, Some(told)) => {
                draft.set(KnobId::devices_per_node, &count.to_string(), &told.key, told.line);
            }
            _ => {
                let name = name.unwrap_or_default();
                parts.set(KnobId::devices_per_node, &count.to_string(), name, draft);
            }
        }
    }
    devices(parts, per_node, base, draft);
}

/// Consequences of the accelerator.
const FOLLOWS: &str = "speed, memory and links of every device";

/// An accelerator that has no profile: another one is taken, which nothing suggests, and asked.
fn unknown(whose: &str, word: &str, line: u64, draft: &mut Draft) {
    let knob = KnobId::accelerator;
    let id = "h100-sxm-80gb";
    draft.default(knob, id);
    if draft.answers.knob(knob).is_some() {
        return;
    }
    let purpose = format!(
        "the text says {}, so that it runs on {whose}, of which there is no profile here",
        super::parts::cut(word)
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

/// `--nproc-per-node gpu`: a process for each device of a node.
///
/// Source: `torch/distributed/run.py:determine_local_world_size`.
fn whole_node(parts: &Parts, draft: &mut Draft) -> Option<u64> {
    let name = "nproc-per-node";
    let text = parts.text(name).filter(|text| matches!(*text, "gpu" | "auto" | "npu" | "cuda"))?;
    let count = usual_per_node(&draft.design);
    let detail = format!("--{name} {text}: all {count} devices of a usual node");
    draft.assume(Some(KnobId::num_devices), detail);
    Some(count)
}

/// A number of nodes or processes: of an elastic `2:4` the most.
///
/// Source: `torch/distributed/run.py:parse_min_max_nnodes`.
fn number(parts: &Parts, name: &str) -> Option<u64> {
    let text = parts.text(name)?;
    let most = text.split_once(':').map_or(text, |(_, most)| most);
    most.parse::<u64>().ok().filter(|count| *count > 0)
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
        Some(Card { id: Err(whose), word, line, .. }) => unknown(whose, &word, line, draft),
        Some(Card { id: Ok(id), word, line, is_asked_for: true }) => {
            draft.set(knob, id, &word, line);
        }
        Some(Card { id: Ok(id), word, line, is_asked_for: false }) => {
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
    let number = |name: &str| number(parts, name);
    if let Some(world) = number("worker-num") {
        return parts.set(knob, &world.to_string(), "worker-num", draft);
    }
    let both = ["nnodes", "nproc-per-node"].iter().all(|name| parts.has(name));
    if let Some(world) = number("world-size").filter(|_| !both) {
        return parts.set(knob, &world.to_string(), "world-size", draft);
    }
    if let (Some(per_node), Some(nodes)) = (per_node, number("nnodes")) {
        contradictions(nodes, per_node, draft);
        let world = per_node.saturating_mul(nodes).to_string();
        return draft.set(knob, &world, "--nnodes x --nproc-per-node", parts.line("nnodes"));
    }
    if told(parts, per_node, draft) {
        return;
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
    let has_node = parts.has("nproc-per-node") && per_node.is_some();
    if has_node && !parts.has("nnodes") && !draft.open.contains(&knob) && stage <= node {
        draft.default(knob, &node.to_string());
        let detail = format!("no --nnodes: one node of {node} devices, as torchrun does");
        return draft.assume(Some(knob), detail);
    }
    let world = if stage > node { common_multiple(stage, node) } else { stage };
    let told = draft.job.nodes.as_ref().map(|told| (told.value, told.line));
    if let Some((nodes, line)) = number("nnodes").map(|it| (it, parts.line("nnodes"))).or(told) {
        let world = nodes.saturating_mul(node).clamp(1, 1_048_576);
        draft.default(knob, &world.to_string());
        let detail = format!("{nodes} nodes, and the text doesn't say of how many devices: {node}");
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

/// The devices that a scheduler or MPI is told of, where the training's own launcher leaves it
/// open.
fn told(parts: &Parts, per_node: Option<u64>, draft: &mut Draft) -> bool {
    let knob = KnobId::num_devices;
    let launcher = ["nnodes", "nproc-per-node"].iter().any(|name| parts.has(name));
    if !launcher && let Some(world) = draft.job.world.clone() {
        draft.set(knob, &world.value.to_string(), &world.key, world.line);
        return true;
    }
    let nodes = if parts.has("standalone") { None } else { draft.job.nodes.clone() };
    let (Some(per_node), Some(nodes)) = (per_node, nodes) else { return false };
    let world = per_node.saturating_mul(nodes.value).to_string();
    let each = if parts.has("nproc-per-node") { "--nproc-per-node" } else { "devices of a node" };
    draft.set(knob, &world, &format!("{} x {each}", nodes.key), nodes.line);
    true
}

/// Reports that a scheduler gets another number than the launcher: the launcher starts the run.
fn contradictions(nodes: u64, per_node: u64, draft: &mut Draft) {
    let job = draft.job.clone();
    for (told, own) in [(job.nodes, nodes), (job.per_node, per_node)] {
        if let Some(told) = told.filter(|told| told.value != own) {
            let reason = format!("it says {}, and the launcher starts {own}", told.value);
            draft.ignore(&told.key, told.line, reason);
        }
    }
}

fn common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one.max(1), other.max(1));
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one.max(1) / a).saturating_mul(other.max(1))
}
