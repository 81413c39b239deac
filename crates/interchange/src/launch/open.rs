//! Values that nothing in the text sets: variables, positional arguments, commands' output.

use model::design::KnobId;

use super::{cut, named};
use crate::draft::{Draft, Question};
use crate::flags::{Effect, Flag};
use crate::tree;

/// Is a value a variable's name, or a command?
pub(super) fn is_open(value: &str) -> bool {
    value.contains("${") || value.contains("$(") || value.contains("$((")
}

/// Asks for what a value is made of.
pub(super) fn ask(flag: Flag, value: &str, key: &str, line: u64, draft: &mut Draft) {
    if named::NAMES.contains(&flag.name) && draft.model.is_some() {
        return draft.ignore(key, line, "the model's name is enough");
    }
    let knob = match flag.effect {
        Effect::Value(knob) | Effect::Name(knob, _) | Effect::Presence(knob, _) => Some(knob),
        Effect::Together => knob_of(flag.name),
        Effect::Nothing(_) => None,
    };
    if knob.is_some_and(|knob| draft.answers.knob(knob).is_some()) {
        return draft.ignore(key, line, "answered by --set");
    }
    let told = match flag.name {
        "nnodes" => draft.job.nodes.as_ref(),
        "nproc-per-node" => draft.job.per_node.as_ref(),
        _ => None,
    };
    if let Some(told) = told {
        let detail = format!(
            "{key} is `{}`, which nothing sets: {}, as {} says (line {})",
            cut(value),
            told.value,
            told.key,
            told.line
        );
        return draft.assume(Some(KnobId::num_devices), detail);
    }
    // Nodes are no devices.
    let counts = matches!(flag.name, "nnodes" | "nproc-per-node" | "worker-num");
    let guess = knob.filter(|_| !counts).map(|knob| draft.design.get(knob).to_string());
    let purpose = format!("{key} is `{}`: nothing in the text sets it", cut(value));
    let names = variables(value);
    if let ([], Some(knob)) = (names.as_slice(), knob) {
        let follows = knob.knob().label.to_owned();
        return draft.ask(Question { name: knob.id(), line, file: None, purpose, guess, follows });
    }
    draft.open.extend(knob);
    for name in &names {
        // A product of several has no single guess.
        let own = guess.clone().filter(|_| names.len() == 1 && value.starts_with("${"));
        let mut question = tree::variable(name, line, &purpose, own);
        if let Some(knob) = knob {
            question.follows = knob.knob().label.to_owned();
        }
        draft.ask(question);
    }
    if names.is_empty() {
        draft.ignore(key, line, "a command's output, which isn't known");
    }
}

/// The knob that an argument mostly sets.
pub(super) fn knob_of(name: &str) -> Option<KnobId> {
    Some(match name {
        "num-layers" | "encoder-num-layers" => KnobId::num_layers,
        "global-batch-size" => KnobId::global_batch_size,
        "ffn-hidden-size" => KnobId::ffn_hidden_size,
        "num-query-groups" => KnobId::num_query_groups,
        "vocab-size" | "padded-vocab-size" => KnobId::vocab_size,
        "expert-model-parallel-size" => KnobId::expert_model_parallel_size,
        "expert-tensor-parallel-size" => KnobId::expert_tensor_parallel_size,
        "nnodes" | "worker-num" | "world-size" => KnobId::num_devices,
        "nproc-per-node" | "local-worker-num" => KnobId::devices_per_node,
        "moe-layer-freq" => KnobId::moe_layer_freq,
        "recompute-granularity" => KnobId::recompute_granularity,
        "recompute-num-layers" => KnobId::recompute_num_layers,
        "virtual-pipeline-model-parallel-size" | "num-layers-per-virtual-pipeline-stage" => {
            KnobId::virtual_pipeline_model_parallel_size
        }
        _ => return None,
    })
}

/// The names of `${NAME}` in a text.
fn variables(text: &str) -> Vec<String> {
    let parts = text.split("${").skip(1);
    let names = parts.map(|part| {
        part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
    });
    let mut found: Vec<String> = vec![];
    for name in names.filter(|name| !name.is_empty()).take(8) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
