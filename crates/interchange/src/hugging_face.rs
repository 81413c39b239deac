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
mod sparse;
mod spellings;
mod style;
mod text;
mod lines;
mod window;
mod mixture;

use std::collections::HashSet;

use model::catalogue::preset::{Preset, PresetKind};
use model::design::KnobId::{q_lora_rank, qk_head_dim, v_head_dim};
use model::design::file::{Tree, json};
use model::design::{Design, KnobId};
use model::ground::knob::Section;

use crate::draft::{Draft, MAX_KEYS};
use crate::spelling::nearest;
use family::Family;
use keys::How;
use lines::Lines;
use spellings::Entries;

/// Knobs that a run needs beside the primary ones, and no configuration has.
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

/// Maps that hold the language model of one that has more.
const INNER: [&str; 7] = [
    "text_config",
    "language_config",
    "llm_config",
    "thinker_config",
    "language_model",
    "lm_config",
    "llm",
];

/// Reads the model's shape into the draft.
fn shape(text: &str, draft: &mut Draft) {
    let text = match text::json(text) {
        Ok(text) => text,
        Err(detail) => return draft.fault(0, "", detail),
    };
    let tree = match json::parse(&text) {
        Ok(tree) => tree,
        // The reader's own words name line and column.
        Err(error) => return draft.fault(0, "", error.detail),
    };
    let Tree::Map(entries) = &tree else {
        return draft.fault(0, "", "a config.json is a map of keys");
    };
    let lines = Lines::new(&text);
    if too_many(entries.len(), draft) || is_another(&tree, &lines, draft) {
        return;
    }
    let mut config = &tree;
    // Multimodal models keep their language model in a map of its own, which may stand in another.
    while let Tree::Map(outer) = config
        && !has_layers(config)
        && let Some((name, inner)) = inside(config)
    {
        for (key, _) in outer.iter().filter(|(key, _)| key != name) {
            draft.ignore(key, lines.get(key), format!("stands beside the model in {name}"));
        }
        config = inner;
    }
    let Tree::Map(entries) = config else { return };
    let mut given = Entries::of(entries);
    if too_many(entries.len().max(given.count()), draft) {
        return;
    }
    let tied = "tie_word_embeddings";
    if let (None, Some(tie)) = (config.get(tied), tree.get(tied)) {
        given.read.push((tied.to_owned(), tie.clone()));
    }
    let family = match Family::for_config(config) {
        Ok(family) => family,
        Err(reason) => {
            let key =
                if config.get("model_type").is_some() { "model_type" } else { "architectures" };
            return draft.fault(lines.get(key), key, reason);
        }
    };
    let Entries { read, written, doubled, opened } = given;
    for (key, by) in &doubled {
        draft.ignore(key, lines.of_path(key), format!("{by} says it"));
    }
    for key in opened {
        draft.ignore(key, lines.get(key), "its keys are read one by one");
    }
    let mut config = Config { lines, entries: read, written, family, has_blocks: false, draft };
    config.sort_out();
    config.shape();
    config.tell_of_the_rest();
}

/// Whether a configuration has the number of layers.
fn has_layers(config: &Tree) -> bool {
    let names = keys::spellings("num_hidden_layers");
    names.into_iter().chain(["layers_block_type"]).any(|name| config.get(name).is_some())
}

/// The map in a configuration that holds the language model.
fn inside(config: &Tree) -> Option<(&'static str, &Tree)> {
    let map = |name| config.get(name).filter(|inner| matches!(inner, Tree::Map(_)));
    INNER.into_iter().find_map(|name| Some((name, map(name)?)))
}

/// Refuses what is another file than a model's configuration, and says what it is.
fn is_another(tree: &Tree, lines: &Lines<'_>, draft: &mut Draft) -> bool {
    let is_map = |key| matches!(tree.get(key), Some(Tree::Map(_)));
    let quantised = ["quantization", "quant_method", "quant_algo"];
    let quantised = quantised.into_iter().find(|key| tree.get(key).is_some());
    if tree.get("schema").is_some() && tree.get("preset").is_some() {
        let detail = "this is a design file of Moescape, not a config.json: read it as one";
        draft.fault(0, "schema", detail);
    } else if is_map("text_decoder") {
        let place = tree.get("init_from_hf_path").and_then(Tree::as_text).unwrap_or("its weights");
        let detail = format!(
            "this is MindSpeed-MM's model.json, which leaves the language model's sizes to the \
             config.json beside {place}: read that one"
        );
        draft.fault(lines.get("text_decoder"), "text_decoder", detail);
    } else if let Some(key) = quantised
        && !has_layers(tree)
        && inside(tree).is_none()
    {
        let detail = "this says how weights are stored, as an hf_quant_config.json does: \
                      the model is in the config.json beside it";
        draft.fault(lines.get(key), key, detail);
    } else {
        return false;
    }
    true
}

/// Refuses a map of more keys than are read.
fn too_many(count: usize, draft: &mut Draft) -> bool {
    let too_many = count > MAX_KEYS;
    if too_many {
        let detail = format!("the configuration has {count} keys; at most {MAX_KEYS} are read");
        draft.fault(0, "", detail);
    }
    too_many
}

/// A configuration on its way into a draft.
struct Config<'a> {
    lines: Lines<'a>,
    entries: Vec<(String, Tree)>,
    /// Names by which keys are read, with those that stand in the text.
    written: Vec<(String, String)>,
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

    /// Spelling of a key in the text.
    fn written<'b>(&'b self, key: &'b str) -> &'b str {
        let found = self.written.iter().find(|(name, _)| name == key);
        found.map_or(key, |(_, written)| written)
    }

    fn line(&self, key: &str) -> u64 {
        self.lines.of_path(self.written(key))
    }

    fn fault(&mut self, key: &str, detail: impl Into<String>) {
        let (line, key) = (self.line(key), self.written(key).to_owned());
        self.draft.fault(line, &key, detail);
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
        let detail = if let Tree::List(_) = value {
            "takes a whole number: what differs by layer or by kind of token has no knob".to_owned()
        } else {
            format!("takes a whole number, not `{}`", shown(value))
        };
        self.fault(key, detail);
        None
    }

    /// Gives a knob the whole number of a key.
    fn set_number(&mut self, knob: KnobId, key: &str) {
        if let Some(number) = self.number(key) {
            self.set(knob, &number.to_string(), key);
        }
    }

    /// Gives layers sizes of their own, beside those that they have.
    fn override_layers(&mut self, clauses: &[String], key: &str) {
        let knob = KnobId::layer_overrides;
        if clauses.is_empty() {
            return;
        }
        let (mut text, mut keys) = (clauses.join(";"), key.to_owned());
        if let Some(earlier) = self.draft.setting(knob) {
            text = format!("{};{text}", earlier.value);
            keys = format!("{}, {keys}", earlier.key);
        }
        self.set(knob, &text, &keys);
    }

    fn ignore(&mut self, key: &str, reason: impl Into<String>) {
        let (line, key) = (self.line(key), self.written(key).to_owned());
        self.draft.ignore(&key, line, reason);
    }

    /// Says of a key what follows from it, where other keys set the knob.
    fn tell(&mut self, key: &str, reason: &str) {
        if !self.draft.mentions(self.written(key)) {
            self.ignore(key, reason);
        }
    }

    /// Gives a knob what several keys say, their names between commas.
    fn set(&mut self, knob: KnobId, value: &str, key: &str) {
        let line = key.split(", ").next().map_or(0, |first| self.line(first));
        let written: Vec<&str> = key.split(", ").map(|key| self.written(key)).collect();
        let written = written.join(", ");
        self.draft.set(knob, value, &written, line);
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
        for (key, value) in std::mem::take(&mut self.entries) {
            if !seen.insert(key.clone()) {
                self.fault(&key, "duplicate key");
            } else if key.starts_with('_') {
                self.ignore(&key, "a remark");
            } else {
                self.one(&key, &value);
            }
            self.entries.push((key, value));
        }
    }

    fn one(&mut self, key: &str, value: &Tree) {
        // A key of a map that is not known by its whole name.
        let own = key.rsplit('.').next().unwrap_or(key);
        let Some(how) = keys::find(key).or_else(|| keys::find(own)) else {
            let known = keys::KEYS.iter().flat_map(|(_, names)| names.split(' '));
            let line = self.line(key);
            return self.draft.unknown_near(key, line, || nearest(own, known));
        };
        match how {
            How::Ignored(reason) => self.ignore(key, reason),
            How::Refused(reason) if !is_nothing(value) => self.fault(key, reason),
            How::Knob(_) | How::Together | How::Refused(_) if *value == Tree::Null => {
                self.ignore(key, "it is null");
            }
            How::Refused(_) => self.ignore(key, format!("it is {}", shown(value))),
            // Of latent attention that isn't used.
            How::Knob(qk_head_dim | v_head_dim | q_lora_rank) if *value == Tree::Unsigned(0) => {
                self.ignore(key, "it is 0");
            }
            How::Knob(knob) if matches!(value, Tree::Unsigned(_) | Tree::Flag(_)) => {
                self.set(knob, &shown(value), key);
            }
            How::Knob(knob) => {
                let detail = format!("{} can't be `{}`", knob.id(), shown(value));
                self.fault(key, detail);
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
        style::read(self);
        mixture::read(self);
        linear::read(self);
        sparse::read(self);
        window::read(self);
        blocks::windows(self);
        carried::read(self);
        self.by_layer();
    }

    /// Refuses what isn't known here and differs by layer: a list with an entry for each.
    fn by_layer(&mut self) {
        let layers = self.draft.design.transformer.num_layers;
        let differs = |value: &Tree| {
            let Tree::List(items) = value else { return false };
            let is_one = items.len() as u64 == layers && layers > 1;
            is_one
                && !items.iter().any(|it| matches!(it, Tree::List(_)))
                && items.iter().any(|it| Some(it) != items.first())
        };
        let is_known = |key: &str| {
            let own = key.rsplit('.').next().unwrap_or(key);
            keys::find(key).or_else(|| keys::find(own)).is_some() || key.starts_with('_')
        };
        let entries = self.entries.iter().filter(|(key, value)| !is_known(key) && differs(value));
        let found: Vec<String> = entries.map(|(key, _)| key.clone()).collect();
        for key in found {
            self.fault(&key, "what differs by layer under this key isn't known here");
        }
    }

    /// Keys that were read and changed nothing.
    fn tell_of_the_rest(&mut self) {
        for (key, _) in std::mem::take(&mut self.entries) {
            if keys::find(&key) == Some(How::Together) {
                self.tell(&key, "read, and nothing follows from it here");
            }
        }
    }

    fn attention(&mut self) {
        let latent = self.draft.design.transformer.kv_lora_rank;
        if self.flag("use_mla") == Some(false) {
            self.tell("kv_lora_rank", "use_mla is false");
        } else if self.first_of(&["kv_lora_rank", "attention_kv_lora_dim"]).is_some() {
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
        let key = "num_attention_heads_per_layer";
        blocks::listed(self, key, KnobId::num_attention_heads, "num_attention_heads");
        let heads = self.draft.design.transformer.num_attention_heads;
        let groups =
            self.first_of(&["num_key_value_heads", "num_kv_heads", "multi_query_group_num"]);
        // Falcon of the first kind.
        let shares_one = self.flag("multi_query") == Some(true)
            && self.flag("new_decoder_architecture") != Some(true);
        // ChatGLM writes how many there would be.
        let groups = groups.filter(|_| self.flag("multi_query_attention") != Some(false));
        if shares_one && groups.is_none() {
            self.set(KnobId::num_query_groups, "1", "multi_query");
        }
        let none = "num_attention_heads";
        let knob = KnobId::num_query_groups;
        if let Some(key) = groups
            && !blocks::listed(self, key, knob, none)
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

    /// A flag by its key, or by the architecture, which is said where it isn't the neutral value.
    fn set_or_assume(&mut self, knob: KnobId, usual: bool, keys: &[&'static str], because: &str) {
        if let Some(key) = self.first_of(keys)
            && let Some(flag) = self.flag(key)
        {
            return self.set(knob, &flag.to_string(), key);
        }
        let neutral = model::ground::knob::Value::Flag(usual) == self.draft.design.get(knob);
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

/// Whether a value says that there is none of it.
fn is_nothing(value: &Tree) -> bool {
    match value {
        Tree::Null | Tree::Flag(false) | Tree::Unsigned(0) => true,
        Tree::List(items) => items.is_empty(),
        Tree::Map(entries) => entries.is_empty(),
        Tree::Flag(true)
        | Tree::Unsigned(_)
        | Tree::Negative(_)
        | Tree::Real(_)
        | Tree::Text(_) => false,
    }
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
