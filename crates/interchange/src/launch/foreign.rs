//! Words of models that are no decoder of one kind of tokens: said, or refused where what is left
//! would be another model.

use crate::arguments::Argument;
use crate::draft::Draft;

/// What a word says of its model.
enum Kind {
    /// None of it is a decoder-only language model: it is refused.
    Other(&'static str),
    /// A part beside the language model: what is read is the language model alone.
    Part(&'static str),
}

const ENCODER: Kind =
    Kind::Other("an encoder beside the decoder isn't modelled, as T5 and BERT have it");
const DIFFUSION: Kind = Kind::Other("a diffusion model isn't modelled");
const RECURRENT: Kind = Kind::Other("layers of this kind have no knob in this dialect");
const TOWER: Kind = Kind::Part("an encoder of images or sound stands before the language model");

/// Arguments by their names, with what they say.
///
/// Sources: Megatron-LM, `megatron/training/arguments.py` (T5, vision) and
/// `examples/multimodal/multimodal_args.py`; AMD-AGI/Primus, `primus/configs/models/megatron/
/// diffusion`.
const ARGUMENTS: [(&[&str], Kind); 3] = [
    (&["decoder-num-layers", "bert-load", "ict-head-size", "biencoder-projection-dim"], ENCODER),
    (&["num-joint-layers", "num-single-layers"], DIFFUSION),
    (
        &[
            "vision-model-type",
            "language-model-type",
            "freeze-vit",
            "vision-pretraining-type",
            "vision-backbone-type",
            "pixel-shuffle",
        ],
        TOWER,
    ),
];

/// Values of arguments: the argument, words inside its value, and what they say.
///
/// Sources: EleutherAI/gpt-neox, `megatron/neox_arguments/neox_args.py` (`attention_config`).
const VALUES: [(&str, &[&str], Kind); 2] = [
    ("attention-config", &["mamba", "rwkv", "gmlp"], RECURRENT),
    ("model-type", &["t5", "bert", "vit", "retro"], ENCODER),
];

/// Says what stands beside the language model, and refuses what is none. Once for each kind.
pub(super) fn read(arguments: &[Argument], draft: &mut Draft) {
    for (names, kind) in &ARGUMENTS {
        let is_one = |it: &&Argument| names.iter().any(|name| it.name.eq_ignore_ascii_case(name));
        let is_off = |it: &Argument| it.values.first().is_some_and(|word| word == "null");
        if let Some(argument) = arguments.iter().find(is_one).filter(|it| !is_off(it)) {
            say(kind, argument, draft);
        }
    }
    for (name, words, kind) in &VALUES {
        let says = |it: &&Argument| {
            let parts = |value: &String| {
                let mut parts = value.split(|c: char| !c.is_ascii_alphanumeric());
                parts.any(|part| words.iter().any(|word| part.eq_ignore_ascii_case(word)))
            };
            it.name == *name && it.values.iter().any(parts)
        };
        if let Some(argument) = arguments.iter().find(says) {
            say(kind, argument, draft);
        }
    }
}

fn say(kind: &Kind, argument: &Argument, draft: &mut Draft) {
    let key = super::dashed(&argument.name);
    match kind {
        Kind::Other(reason) => draft.fault(argument.line, &key, *reason),
        Kind::Part(what) => {
            draft.assume(None, format!("{key}: {what}; only the language model is read"));
        }
    }
}
