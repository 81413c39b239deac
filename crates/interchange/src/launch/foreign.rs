//! Words of models that are no decoder of one kind of tokens: said, or refused where what is left
//! would be another model.

use crate::arguments::Argument;
use crate::draft::Draft;

/// Kind of model that a word names.
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
const USE: Kind = Kind::Other("a trained model is used or converted here: no step of training");
const PARTS: Kind = Kind::Other("parts of a model with ranks of their own aren't modelled");
const TOWER: Kind = Kind::Part("an encoder of images or sound stands before the language model");

/// Arguments by their names, with what they say.
///
/// Sources: Megatron-LM, `megatron/training/arguments.py` (T5, vision) and
/// `examples/multimodal/multimodal_args.py`; NVIDIA-NeMo/Megatron-Bridge,
/// `examples/megatron_mimo`; AMD-AGI/Primus, `primus/configs/models/megatron/diffusion`.
const ARGUMENTS: [(&[&str], Kind); 4] = [
    (&["decoder-num-layers", "bert-load", "ict-head-size", "biencoder-projection-dim"], ENCODER),
    (&["num-joint-layers", "num-single-layers"], DIFFUSION),
    (&["component"], PARTS),
    (
        &[
            "vision-model-type",
            "language-model-type",
            "freeze-vit",
            "vision-pretraining-type",
            "vision-backbone-type",
            "pixel-shuffle",
            "use-multimodal",
        ],
        TOWER,
    ),
];

/// Values of arguments: the argument, words inside its value, and what they say.
///
/// Sources: EleutherAI/gpt-neox, `megatron/neox_arguments/neox_args.py` (`attention_config`);
/// mindspore-lab/mindformers, `run_mindformer.py` (`run_mode`).
const VALUES: [(&str, &[&str], Kind); 3] = [
    ("attention-config", &["mamba", "rwkv", "gmlp"], RECURRENT),
    ("run-mode", &["predict", "eval", "export"], USE),
    ("model-type", &["t5", "bert", "vit", "retro"], ENCODER),
];

/// Programs, by parts of their names.
///
/// Sources: Megatron-LM, the folder itself, `tools` and `examples`; Ascend/MindSpeed-LLM, the
/// folder itself.
const PROGRAMS: [(&[&str], Kind); 2] = [
    (
        &[
            "inference.py",
            "evaluation.py",
            "convert_ckpt",
            "convert_checkpoint",
            "generate_samples",
            "text_generation_server",
            "preprocess_data",
            "checkpoint/convert.py",
        ],
        USE,
    ),
    (
        &[
            "pretrain_t5.py",
            "pretrain_bert.py",
            "pretrain_ict.py",
            "pretrain_vision_",
            "pretrain_vit",
        ],
        ENCODER,
    ),
];

/// Commands that use or convert a model.
///
/// Sources: modelscope/ms-swift, `swift/cli/main.py` and `swift/cli/_megatron/main.py`;
/// hiyouga/LLaMA-Factory, `src/llamafactory/launcher.py`.
const COMMANDS: [&str; 9] = [
    "megatron export",
    "swift export",
    "swift infer",
    "swift eval",
    "swift merge-lora",
    "llamafactory-cli export",
    "llamafactory-cli chat",
    "llamafactory-cli eval",
    "llamafactory-cli webchat",
];

/// Refuses a command that starts no training.
pub(crate) fn command(words: &[(String, u64)], draft: &mut Draft) {
    let few: Vec<&str> = words.iter().take(3).map(|(word, _)| word.as_str()).collect();
    let begin = few.join(" ");
    let line = words.first().map_or(0, |(_, line)| *line);
    if let Some(name) = COMMANDS.iter().find(|name| begin.starts_with(**name)) {
        return refuse(&USE, name, line, draft);
    }
    for (word, line) in words.iter().take(64).filter(|(word, _)| word.ends_with(".py")) {
        for (parts, kind) in &PROGRAMS {
            if parts.iter().any(|part| word.contains(part)) {
                return refuse(kind, word, *line, draft);
            }
        }
    }
}

/// Says what stands beside the language model, and refuses what is none. Once for each kind.
pub(super) fn read(arguments: &[Argument], draft: &mut Draft) {
    for (names, kind) in &ARGUMENTS {
        let is_one = |it: &&Argument| names.iter().any(|name| it.name.eq_ignore_ascii_case(name));
        let is_off = |it: &Argument| {
            it.values.first().is_some_and(|word| {
                ["null", "false"].iter().any(|off| off.eq_ignore_ascii_case(word))
            })
        };
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
    refuse(kind, &super::parts::dashed(&argument.name), argument.line, draft);
}

fn refuse(kind: &Kind, key: &str, line: u64, draft: &mut Draft) {
    match kind {
        Kind::Other(reason) => draft.fault(line, key, *reason),
        Kind::Part(what) => {
            draft.assume(None, format!("{key}: {what}; only the language model is read"));
        }
    }
}
