//! Hugging Face's `config.json`: the shape of a model.
//!
//! What the configuration leaves open is what the architecture's code in `transformers` does; each
//! of these is named as an assumption. What no knob expresses is an error, never guessed.

mod blocks;
mod carried;
mod compressed;
mod family;
mod hybrid;
mod keys;
mod linear;
mod lines;
mod mixture;
mod sparse;
mod window;

use std::collections::HashSet;

use model::design::KnobId::{qk_head_dim, v_head_dim};
use model::design::{Design, KnobId};
use model::file::{Tree, json};
use model::knob::Section;
use model::preset::{Preset, PresetKind};

use crate::draft::{Draft, MAX_KEYS};
use crate::spelling::nearest;
use family::Family;
use keys::How;
use lines::Lines;

/// What a run needs beside the knobs that matter most, and no configuration speaks of.
const RUN: [KnobId; 5] = [
    KnobId::sequence_parallel,
    KnobId::data_parallel_sharding_strategy,
    KnobId::precision,
    KnobId::optimizer,
    KnobId::recompute_granularity,
];

/// The knobs of a batch: they decide what is asked as much as the model does.
const BATCH: [KnobId; 2] = [KnobId::seq_length, KnobId::global_batch_size];

/// Why a knob has a value that no key gives it.
const AS_MODELS_ARE: &str = "as this architecture's models are, no key says it";

/// Reads the configuration into the draft. What it can't speak of is that of `base`.
pub(crate) fn read(text: &str, base: Option<&Design>, draft: &mut Draft) {
    shape(text, draft);
    if draft.has_errors() {
        return;
    }
    let twin = if base.is_none() { preset_of_shape(&draft.design) } else { None };
    if let Some(twin) = &twin {
        for knob in BATCH {
            draft.default(knob, &twin.get(knob).to_string());
        }
    }
    assume_the_run(base, twin.as_ref().or(base), draft);
}

/// The preset that is the same model: who asks by a file is answered for the same batch.
fn preset_of_shape(design: &Design) -> Option<Design> {
    let models = Preset::all().filter(|it| it.refused.is_none() && it.kind == PresetKind::Model);
    models.map(Preset::design).find(|it| it.transformer == design.transformer)
}

/// Says with which cluster, batch and strategy the model is taken to be trained: a configuration
/// is a model's alone.
fn assume_the_run(base: Option<&Design>, twin: Option<&Design>, draft: &mut Draft) {
    let from = |other: Option<&Design>| match other {
        Some(other) => format!("as in {}, a config.json doesn't say", other.preset.id),
        None => "a config.json doesn't say".to_owned(),
    };
    let is_of_run = |id: &&KnobId| {
        let row = id.knob();
        (row.primary && row.section != Section::Transformer) || RUN.contains(id)
    };
    for knob in KnobId::ALL.iter().filter(is_of_run) {
        let value = draft.design.get(*knob);
        let from = from(if BATCH.contains(knob) { twin } else { base });
        draft.assume(Some(*knob), format!("{}: {value}, {from}", knob.id()));
    }
}

/// Reads the model's shape into the draft.
fn shape(text: &str, draft: &mut Draft) {
    let tree = match json::parse(text) {
        Ok(tree) => tree,
        // The reader's own words name line and column.
        Err(error) => return draft.fault(0, "", error.detail),
    };
    let Tree::Map(entries) = &tree else {
        return draft.fault(0, "", "a config.json is a map of keys");
    };
    if too_many(entries, draft) {
        return;
    }
    if entries.iter().any(|(key, _)| key == "schema") && tree.get("preset").is_some() {
        let detail = "this is a design file of Moescape, not a config.json: read it as one";
        return draft.fault(0, "schema", detail);
    }
    if let Some(Tree::Map(_)) = tree.get("text_decoder") {
        let line = Lines::new(text).get("text_decoder");
        let place = tree.get("init_from_hf_path").and_then(Tree::as_text).unwrap_or("its weights");
        let detail = format!(
            "this is MindSpeed-MM's model.json, which leaves the language model's sizes to the \
             config.json beside {place}: read that one"
        );
        return draft.fault(line, "text_decoder", detail);
    }
    // Multimodal models keep their language model in a map of its own.
    let inner = ["text_config", "language_config", "llm_config"]
        .into_iter()
        .find(|name| matches!(tree.get(name), Some(Tree::Map(_))));
    let (config, around) = match inner {
        Some(name) if tree.get("num_hidden_layers").is_none() => {
            (tree.get(name).unwrap_or(&tree), Some(name))
        }
        _ => (&tree, None),
    };
    let Tree::Map(entries) = config else { return };
    if too_many(entries, draft) {
        return;
    }
    let lines = Lines::new(text);
    if let (Some(inside), Tree::Map(outer)) = (around, &tree) {
        for (key, _) in outer.iter().filter(|(key, _)| key != inside) {
            draft.ignore(key, lines.get(key), format!("stands beside the model in {inside}"));
        }
    }
    let mut config =
        Config { lines, entries, family: Family::for_config(config), has_blocks: false, draft };
    config.sort_out();
    config.shape();
    config.tell_of_the_rest();
}

/// Refuses a map of more keys than are read.
fn too_many(entries: &[(String, Tree)], draft: &mut Draft) -> bool {
    let too_many = entries.len() > MAX_KEYS;
    if too_many {
        let count = entries.len();
        let detail = format!("the configuration has {count} keys; at most {MAX_KEYS} are read");
        draft.fault(0, "", detail);
    }
    too_many
}

/// A configuration on its way into a draft.
struct Config<'a> {
    lines: Lines<'a>,
    entries: &'a [(String, Tree)],
    family: &'static Family,
    /// Whether blocks say the sizes of each layer.
    has_blocks: bool,
    draft: &'a mut Draft,
}

impl Config<'_> {
    fn get(&self, key: &str) -> Option<&Tree> {
        let found = self.entries.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value).filter(|value| **value != Tree::Null)
    }

    /// The first of several spellings that is given.
    fn first_of(&self, keys: &[&'static str]) -> Option<&'static str> {
        keys.iter().copied().find(|key| self.get(key).is_some())
    }

    fn flag(&self, key: &str) -> Option<bool> {
        if let Some(Tree::Flag(flag)) = self.get(key) { Some(*flag) } else { None }
    }

    fn line(&self, key: &str) -> u64 {
        self.lines.get(key)
    }

    /// A whole number; a fault where the value is none.
    fn number(&mut self, key: &str) -> Option<u64> {
        let value = self.get(key)?;
        if let Tree::Unsigned(number) = value {
            return Some(*number);
        }
        // One for each layer, all alike.
        if let Tree::List(items) = value
            && let Some(number) = alike(items)
        {
            return Some(number);
        }
        let detail = format!("takes a whole number, not `{}`", shown(value));
        self.draft.fault(self.lines.get(key), key, detail);
        None
    }

    /// Gives a knob the whole number of a key.
    fn set_number(&mut self, knob: KnobId, key: &str) {
        if let Some(number) = self.number(key) {
            self.set(knob, &number.to_string(), key);
        }
    }

    fn ignore(&mut self, key: &str, reason: impl Into<String>) {
        self.draft.ignore(key, self.lines.get(key), reason);
    }

    fn set(&mut self, knob: KnobId, value: &str, key: &str) {
        let line = key.split(", ").next().map_or(0, |first| self.lines.get(first));
        self.draft.set(knob, value, key, line);
    }

    /// Gives a knob what the architecture's code does, and says so.
    fn assume(&mut self, knob: KnobId, value: &str, detail: &str) {
        self.draft.default(knob, value);
        self.draft.assume(Some(knob), format!("{}: {value}, {detail}", knob.id()));
    }

    /// Sets what one key sets, and tells of the keys that do nothing or aren't known.
    fn sort_out(&mut self) {
        let name = self.family.name;
        if name == family::UNKNOWN {
            let detail = "the architecture isn't known here: it is read as Llama's, with experts";
            self.draft.assume(None, detail);
        }
        let mut seen = HashSet::new();
        for (key, value) in self.entries {
            let line = self.lines.get(key);
            if !seen.insert(key) {
                self.draft.fault(line, key, "duplicate key");
            } else if key.starts_with('_') {
                self.draft.ignore(key, line, "a remark");
            } else {
                self.one(key, value, line);
            }
        }
    }

    fn one(&mut self, key: &str, value: &Tree, line: u64) {
        let Some(how) = keys::find(key) else {
            let known = keys::KEYS.iter().flat_map(|(_, names)| names.split(' '));
            return self.draft.unknown_near(key, line, || nearest(key, known));
        };
        match how {
            How::Ignored(reason) => self.draft.ignore(key, line, reason),
            How::Refused(reason) if *value != Tree::Null && *value != Tree::Unsigned(0) => {
                self.draft.fault(line, key, reason);
            }
            How::Knob(_) | How::Together | How::Refused(_) if *value == Tree::Null => {
                self.draft.ignore(key, line, "it is null");
            }
            How::Refused(_) => self.draft.ignore(key, line, "it is 0"),
            // Of latent attention that isn't used.
            How::Knob(qk_head_dim | v_head_dim) if *value == Tree::Unsigned(0) => {
                self.draft.ignore(key, line, "it is 0");
            }
            How::Knob(knob) if matches!(value, Tree::Unsigned(_) | Tree::Flag(_)) => {
                self.draft.set(knob, &shown(value), key, line);
            }
            How::Knob(knob) => {
                let detail = format!("{} can't be `{}`", knob.id(), shown(value));
                self.draft.fault(line, key, detail);
            }
            How::Together => {}
        }
    }

    fn shape(&mut self) {
        hybrid::read(self);
        for key in ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"] {
            let names = keys::spellings(key);
            let is_given = self.first_of(&names).is_some();
            let is_of_pattern =
                key == "num_hidden_layers" && self.draft.design.transformer.is_hybrid();
            if !is_given && !is_of_pattern {
                if key == "vocab_size" && self.family.vocab > 0 {
                    let detail = "as this architecture's models have, no key says it";
                    self.assume(KnobId::vocab_size, &self.family.vocab.to_string(), detail);
                    continue;
                }
                let detail = "the configuration lacks it, and nothing says what it could be";
                self.draft.fault(0, key, detail);
            }
        }
        if self.draft.has_errors() {
            return;
        }
        if !compressed::read(self) {
            self.attention();
        }
        compressed::streams(self);
        self.has_blocks = blocks::read(self);
        self.style();
        mixture::read(self);
        linear::read(self);
        sparse::read(self);
        window::read(self);
        blocks::windows(self);
        carried::read(self);
    }

    /// Keys that were read and changed nothing.
    fn tell_of_the_rest(&mut self) {
        for (key, _) in self.entries {
            if keys::find(key) == Some(How::Together) && !self.draft.mentions(key) {
                self.ignore(key, "read, and nothing follows from it here");
            }
        }
    }

    fn attention(&mut self) {
        let latent = self.draft.design.transformer.kv_lora_rank;
        if self.first_of(&["kv_lora_rank", "attention_kv_lora_dim"]).is_some() {
            self.draft.default(KnobId::multi_latent_attention, "true");
            let detail = format!("keys and values through a latent of {latent}");
            self.draft.assume(Some(KnobId::multi_latent_attention), detail);
            let knob = KnobId::qk_layernorm;
            self.assume(knob, "true", "the latents have norms, as DeepSeek-V3's");
            if self.first_of(&["v_head_dim", "attention_v_dim"]).is_none() {
                let transformer = &self.draft.design.transformer;
                let width = transformer.hidden_size / transformer.num_attention_heads.max(1);
                let detail = "hidden size / heads, no key says it";
                self.assume(KnobId::v_head_dim, &width.max(1).to_string(), detail);
            }
            self.draft.default(KnobId::num_query_groups, "none");
            for key in ["num_key_value_heads", "head_dim"] {
                if self.get(key).is_some() {
                    self.ignore(
                        key,
                        "with latent attention every head has its own keys and values",
                    );
                }
            }
            return;
        }
        let heads = self.draft.design.transformer.num_attention_heads;
        let groups =
            self.first_of(&["num_key_value_heads", "num_kv_heads", "multi_query_group_num"]);
        // Falcon of the first kind.
        let shares_one = self.flag("multi_query") == Some(true)
            && self.flag("new_decoder_architecture") != Some(true);
        if shares_one && groups.is_none() {
            self.set(KnobId::num_query_groups, "1", "multi_query");
        }
        if let Some(key) = groups
            && let Some(count) = self.number(key)
        {
            let text = if count == heads { "none".to_owned() } else { count.to_string() };
            self.set(KnobId::num_query_groups, &text, key);
        }
        if let Some(key) = self.first_of(&["head_dim", "kv_channels", "attention_head_dim"])
            && let Some(width) = self.number(key)
        {
            let knob = KnobId::kv_channels;
            // What divides evenly is said without a number.
            let plain = width.checked_mul(heads) == Some(self.draft.design.transformer.hidden_size);
            let text = width.to_string();
            self.set(knob, if plain && self.family.name == "llama" { "none" } else { &text }, key);
        }
    }

    /// Gate, biases, norms, positions and whether the embeddings are one table.
    fn style(&mut self) {
        let activation = self.get("hidden_act").or_else(|| self.get("hidden_activation"));
        let plain = activation.and_then(Tree::as_text).is_some_and(|name| {
            matches!(name, "gelu" | "gelu_new" | "gelu_fast" | "relu" | "relu2")
        });
        // GPT's own kind: no gate and no angle of a rotary embedding.
        let rotary = self.first_of(&["rope_theta", "rope_scaling", "rope_parameters"]).is_some();
        let gpt = self.family.learned_positions
            || (self.family.name == family::UNKNOWN && plain && !rotary);
        let gated = self.flag("gated").unwrap_or(self.family.gated && !gpt);
        self.set_or_assume(KnobId::gated_linear_unit, gated, &["gated"], "hidden_act");
        let tied = self.family.tied || gpt;
        let knob = KnobId::untie_embeddings_and_output_weights;
        match self.flag("tie_word_embeddings") {
            Some(tied) => self.set(knob, &(!tied).to_string(), "tie_word_embeddings"),
            None => self.assume(knob, &(!tied).to_string(), AS_MODELS_ARE),
        }
        if self.family.sinks {
            self.assume(KnobId::softmax_type, "learnable", AS_MODELS_ARE);
        }
        let names = &["attn_output_gate", "attention_output_gate", "mla_use_output_gate"];
        self.set_or_assume(KnobId::attention_output_gate, self.family.output_gate, names, "");
        if self.flag("mla_use_nope") == Some(true) {
            self.set(KnobId::position_embedding_type, "none", "mla_use_nope");
        }
        let bias = self.family.qkv_bias || gpt;
        let names = &["attention_bias", "qkv_bias", "add_qkv_bias", "use_bias", "bias"];
        self.set_or_assume(KnobId::add_qkv_bias, bias, names, "");
        self.set_or_assume(
            KnobId::add_bias_linear,
            self.family.linear_bias || gpt,
            &["mlp_bias"],
            "",
        );
        if !self.draft.design.transformer.multi_latent_attention {
            let names = &["use_qk_norm", "qk_layernorm", "qk_norm"];
            self.set_or_assume(KnobId::qk_layernorm, self.family.qk_norm, names, "");
        }
        let sandwich = self.family.sandwich_norm;
        self.set_or_assume(KnobId::sandwich_norm, sandwich, &["sandwich_norm"], "");
        if self.family.no_positions {
            self.assume(KnobId::position_embedding_type, "none", AS_MODELS_ARE);
        }
        if gpt {
            let knob = KnobId::position_embedding_type;
            self.assume(knob, "learned_absolute", "as GPT-2 marks positions");
        }
    }

    /// A flag by its key, or by the architecture, which is said where it isn't the neutral value.
    fn set_or_assume(&mut self, knob: KnobId, usual: bool, keys: &[&'static str], because: &str) {
        if let Some(key) = self.first_of(keys)
            && let Some(flag) = self.flag(key)
        {
            return self.set(knob, &flag.to_string(), key);
        }
        let neutral = model::knob::Value::Flag(usual) == self.draft.design.get(knob);
        if !neutral {
            let detail = if because.is_empty() || self.get(because).is_none() {
                AS_MODELS_ARE.to_owned()
            } else {
                format!("by {because} and the architecture")
            };
            self.assume(knob, &usual.to_string(), &detail);
        }
    }
}

/// The number that all items of a list are.
fn alike(items: &[Tree]) -> Option<u64> {
    let Some(Tree::Unsigned(first)) = items.first() else { return None };
    items.iter().all(|item| *item == Tree::Unsigned(*first)).then_some(*first)
}

/// A value in a few characters.
fn shown(value: &Tree) -> String {
    match value {
        Tree::Null => "null".to_owned(),
        Tree::Flag(flag) => flag.to_string(),
        Tree::Unsigned(number) => number.to_string(),
        Tree::Negative(number) => number.to_string(),
        Tree::Real(number) => number.to_string(),
        Tree::Text(text) => crate::draft::shortened(text),
        Tree::List(_) => "[…]".to_owned(),
        Tree::Map(_) => "{…}".to_owned(),
    }
}
