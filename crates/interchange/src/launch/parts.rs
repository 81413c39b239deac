//! Arguments that mean something together, and how they are reported.

use std::collections::BTreeMap;

use model::design::KnobId;

use super::tokenizer::Tokenizer;
use crate::draft::Draft;

/// Arguments that mean something together, by name.
pub(crate) struct Parts(pub(super) BTreeMap<&'static str, (Vec<String>, u64)>, pub(super) Said);

/// Facts from arguments that set nothing themselves.
#[derive(Clone, Copy, Default)]
pub(super) struct Said {
    /// The tokenizer that they name.
    pub(super) tokenizer: Option<Tokenizer>,
    /// Whether they are Megatron-DeepSpeed's.
    pub(super) is_deepspeed: bool,
}

impl Parts {
    /// Whether the argument is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Its line; 0 where it isn't given.
    pub(crate) fn line(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |(_, line)| *line)
    }

    /// Its first word.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.words(name).first().map(String::as_str)
    }

    /// All its words.
    pub(crate) fn words(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], |(values, _)| values.as_slice())
    }

    /// Its value as a whole number; a fault where it is none.
    pub(crate) fn number(&self, name: &str, draft: &mut Draft) -> Option<u64> {
        let text = self.text(name)?;
        if text == "-1" {
            self.ignore(name, "-1 leaves it to the framework", draft);
            return None;
        }
        let number = text.parse().ok();
        let is_word = text.chars().all(|c| c.is_alphabetic() || c == '_');
        if let Some(knob) = knob_of(name).filter(|_| number.is_none() && is_word) {
            let purpose = format!("{} is `{}`, which is no number", dashed(name), cut(text));
            draft.ask_knob(knob, self.line(name), &purpose, knob.knob().label);
            return None;
        }
        if number.is_none() {
            let detail = format!("takes a whole number, not `{}`", cut(text));
            draft.fault(self.line(name), &dashed(name), detail);
        }
        number
    }

    /// Gives a knob a value by an argument.
    pub(crate) fn set(&self, knob: KnobId, value: &str, name: &str, draft: &mut Draft) {
        draft.set(knob, value, &dashed(name), self.line(name));
    }

    /// Says that an argument changes nothing, and why.
    pub(crate) fn ignore(&self, name: &str, reason: &str, draft: &mut Draft) {
        draft.ignore(&dashed(name), self.line(name), reason);
    }

    /// The first of several names of one argument that is given.
    pub(crate) fn first_of(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }
}

/// An argument's name as it is written.
pub(crate) fn dashed(name: &str) -> String {
    format!("--{name}")
}

/// Number of layers, no-op layers included, as far as the text or its model gives it.
pub(crate) fn layer_count(parts: &Parts, draft: &Draft) -> u64 {
    let name = parts.first_of(&["num-layers", "encoder-num-layers"]);
    let given = name.and_then(|name| parts.text(name)?.parse::<u64>().ok());
    let pattern = draft.design.get(KnobId::hybrid_layer_pattern).to_string();
    let hybrid = Some(pattern).filter(|text| text != "none").map(|text| {
        let main = text.split('/').next().unwrap_or_default().to_owned();
        main.chars().filter(|letter| *letter != '|').count() as u64
    });
    let answer = draft.answers.knob(KnobId::num_layers).and_then(|text| text.parse().ok());
    answer.or(given).or(hybrid).unwrap_or(draft.design.transformer.num_layers)
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

/// Whether a value has an unset variable or a command in it.
pub(super) fn is_open(value: &str) -> bool {
    value.contains("${") || value.contains("$(") || value.contains("$((")
}

pub(super) fn cut(text: &str) -> String {
    crate::draft::shortened(text)
}
