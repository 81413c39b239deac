//! From the arguments of a training run to its design.
//!
//! First come the values that the software takes by default, then the arguments that set
//! a knob each, then those that only mean something together.

mod tokenizer;
mod parts;
pub(crate) mod foreign;
mod machine;
mod named;
mod open;
mod partition;
mod layers;
mod model_shape;
mod run;
mod mixer;
mod tuning;

use std::collections::BTreeMap;

use model::design::{Design, KnobId};

use crate::arguments::Argument;
use crate::carried;
use crate::draft::{DEFAULTED, Draft, MAX_KEYS};
use crate::files::is_file;
use crate::flags::{self, Arity, Effect, Flag};
use crate::{Format, dialects};

pub(crate) use machine::named as accelerator;
pub(crate) use model_shape::{pattern, rows};
pub(crate) use named::{ask_for, ask_which, known_as};
use parts::{Parts, Said, cut, dashed, is_open};

/// Reads the arguments into the draft.
pub(crate) fn read(arguments: Vec<Argument>, base: Option<&Design>, draft: &mut Draft) {
    if arguments.is_empty() {
        if !draft.has_errors() {
            draft.fault(0, "", "there are no arguments such as --num-layers 61 in the text");
        }
        return;
    }
    if let Some(argument) = arguments.get(MAX_KEYS) {
        let count = arguments.len();
        let detail = format!("the text has {count} arguments; at most {MAX_KEYS} are read");
        return draft.fault(argument.line, "", detail);
    }
    foreign::read(&arguments, draft);
    let line = named::read(&arguments, draft);
    defaults(draft);
    let knows = |argument: &Argument| {
        let flag = flags::find(&argument.name);
        flag.is_some_and(|flag| !matches!(flag.effect, Effect::Nothing(_)))
    };
    // Names of runs and files stand in any text.
    let says =
        draft.model.is_some() || arguments.iter().filter(|a| a.name != "run-name").any(knows);
    let said = Said {
        tokenizer: tokenizer::named(&arguments),
        is_deepspeed: draft.model.is_none()
            && draft.title.is_some_and(dialects::is_megatron_deepspeed),
    };
    let mut parts = Parts(BTreeMap::new(), said);
    // What stands before the program is for what starts it.
    let is_program = |it: &Argument| it.values.iter().any(|word| word.ends_with(".py"));
    let first = arguments.iter().position(is_program).map_or(0, |place| place + 1);
    for (place, argument) in arguments.into_iter().enumerate() {
        // The shape of a model that is named is known.
        if argument.line == DEFAULTED && draft.model.is_some() && SHAPE.contains(&&*argument.name) {
            continue;
        }
        match flags::find(&argument.name) {
            Some(flag) => take(flag, argument, &mut parts, draft),
            None if place < first && draft.is_command => {
                let reason = "an option of what starts the program";
                draft.ignore(&dashed(&argument.name), argument.line, reason);
            }
            None => unknown(&argument, place >= first, draft),
        }
    }
    named::ask(&parts, line, draft);
    mixer::read(&parts, draft);
    model_shape::read(&parts, draft);
    layers::read(&parts, draft);
    run::read(&parts, draft);
    tuning::read(&parts, draft);
    machine::read(&parts, base, draft);
    run::batch(&parts, draft);
    let length = KnobId::seq_length;
    let is_known = parts.has("seq-length") || draft.is_set(length) || draft.is_assumed(length);
    if !is_known && base.is_none() {
        let purpose = "the text doesn't say how long sequences are";
        draft.ask_knob(KnobId::seq_length, 0, purpose, "time, memory and what attention costs");
    }
    if draft.sets_nothing() && !says {
        draft.fault(0, "", "there are no arguments such as --num-layers 61 in the text");
    }
    for (name, (_, line)) in &parts.0 {
        let key = dashed(name);
        if !draft.mentions(&key) {
            draft.ignore(&key, *line, "read, and nothing follows from it here");
        }
    }
}

/// Arguments of the model's shape that a framework takes by default.
const SHAPE: [&str; 5] = [
    "vocab-size",
    "swiglu",
    "disable-bias-linear",
    "position-embedding-type",
    "untie-embeddings-and-output-weights",
];

/// Sets the defaults of Megatron-LM and MindSpeed-LLM that aren't our neutral values.
///
/// Source: the defaults in their `arguments.py`.
fn defaults(draft: &mut Draft) {
    let both = [
        (KnobId::gated_linear_unit, "false"),
        (KnobId::add_bias_linear, "true"),
        (KnobId::position_embedding_type, "learned_absolute"),
        (KnobId::untie_embeddings_and_output_weights, "false"),
        (KnobId::data_parallel_sharding_strategy, "no_shard"),
        (KnobId::moe_grouped_gemm, "false"),
        (KnobId::moe_permute_fusion, "false"),
        (KnobId::moe_token_dispatcher_type, "allgather"),
    ];
    // Transformer Engine brings its own attention and norms; MindSpeed asks to be told.
    let own: &[(KnobId, &str)] = if draft.format == Format::Mindspeed {
        &[
            (KnobId::framework, "mindspeed"),
            (KnobId::flash_attention, "false"),
            (KnobId::fused_rms_norm, "false"),
            (KnobId::context_parallel_algo, "a2a"),
        ]
    } else {
        &[]
    };
    // Its host's costs and what it computes again are its own.
    if draft.format == Format::Megatron && draft.title.is_some_and(dialects::is_fsdp) {
        draft.default(KnobId::framework, "fsdp");
    }
    // The shape of a model that is named is known.
    let shape = [
        KnobId::gated_linear_unit,
        KnobId::add_bias_linear,
        KnobId::position_embedding_type,
        KnobId::untie_embeddings_and_output_weights,
    ];
    let named = draft.model.is_some();
    let taken = both.iter().chain(own).filter(|(knob, _)| !(named && shape.contains(knob)));
    taken.for_each(|(knob, value)| draft.default(*knob, value));
}

/// Applies one argument.
fn take(flag: Flag, argument: Argument, parts: &mut Parts, draft: &mut Draft) {
    let Argument { name, mut values, line } = argument;
    let key = dashed(&name);
    // Quotes within quotes are for a second shell.
    for value in &mut values {
        let end = value.trim_end_matches(['\\', ' ', '\n', '\t']);
        *value = end.trim_matches(['"', '\'']).to_owned();
    }
    if flags::is_extra(&name) && line != DEFAULTED {
        carried::keep(&name, &values, line, draft);
    }
    if let Effect::Nothing(reason) = flag.effect {
        return draft.ignore(&key, line, reason);
    }
    let first = values.first().map_or("", String::as_str);
    // In YAML a switch has a value, and what isn't used is null.
    if matches!(first, "null" | "None" | "~")
        || (flag.arity == Arity::Switch && matches!(first, "false" | "False"))
    {
        return draft.ignore(&key, line, "it is switched off");
    }
    let own = match flag.arity {
        Arity::Switch => usize::from(matches!(first, "true" | "True")),
        Arity::One => 1,
        Arity::Many => values.len(),
    };
    operands(flag, values.get(own..).unwrap_or_default(), line, draft);
    if flag.arity != Arity::Switch && values.is_empty() {
        match flag.effect {
            Effect::Value(knob) | Effect::Name(knob, _) => {
                draft.ask_knob(knob, line, &format!("{key} has no value"), knob.knob().label);
            }
            Effect::Presence(..) | Effect::Together | Effect::Nothing(_) => {
                draft.ignore(&key, line, "it has no value");
            }
        }
        return;
    }
    if flag.arity == Arity::One && is_open(first) {
        return open::ask(flag, first, &key, line, draft);
    }
    match flag.effect {
        // Some frameworks count what they don't have.
        Effect::Value(knob) if first == "0" && named::is_degree(knob) => {
            draft.ignore(&key, line, "0 is none: as 1");
        }
        Effect::Value(_) if first == "-1" => {
            draft.ignore(&key, line, "-1 leaves it to the framework");
        }
        Effect::Value(knob) => draft.set(knob, first, &key, line),
        Effect::Presence(knob, value) => draft.set(knob, value, &key, line),
        Effect::Name(knob, names) => match names.iter().find(|(theirs, _)| *theirs == first) {
            Some((_, ours)) => draft.set(knob, ours, &key, line),
            None => {
                let purpose = format!("{key} {}: nothing here is called so", cut(first));
                draft.ask_knob(knob, line, &purpose, knob.knob().label);
            }
        },
        Effect::Together => {
            let values = values.into_iter().take(own.max(usize::from(own > 0))).collect();
            parts.0.insert(flag.name, (values, line));
        }
        Effect::Nothing(_) => {}
    }
}

/// Words behind an argument that aren't its own. The program's name is one, and says nothing.
fn operands(flag: Flag, words: &[String], line: u64, draft: &mut Draft) {
    // `-m module` is the program, too.
    let is_module = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        before.is_some_and(|before| before == "-m")
    };
    for (index, word) in words.iter().enumerate() {
        // The script's reader tells of variables that nothing sets, but for those behind a switch.
        let told = word.starts_with("${") && !(flag.arity == Arity::Switch && index == 0);
        let is_program = word.ends_with(".py") || word == "-m" || is_module(index);
        // Files that a command names are read, or told of, where they are looked for.
        if !told && !is_program && !is_file(word) {
            draft.unknown(word, line, None);
        }
    }
}

/// An argument of neither. Of a command it is the program's own where it stands behind its name.
/// Names of knobs are ours alone, and mean something else in a text of others.
fn unknown(argument: &Argument, is_own: bool, draft: &mut Draft) {
    if is_own && draft.is_command && draft.title.is_none() {
        carried::keep(&argument.name, &argument.values, argument.line, draft);
    }
    let nearest = || flags::closest(&argument.name);
    draft.unknown_near(&dashed(&argument.name), argument.line, nearest);
}
