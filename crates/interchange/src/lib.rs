//! Designs from and to what others write: Hugging Face's `config.json`; launch scripts, recipes,
//! YAML, TOML and JSON of Megatron-LM, MindSpeed-LLM and the frameworks around them; launch
//! commands of inference engines; and our own files, so that all are read in one place and reported
//! in one way.
//!
//! [`import()`] makes a [`Design`] of such a text. What it set stands beside the key that it came
//! from; so do what it took for granted, what changes nothing that is modelled, and what it doesn't
//! know. Nothing is dropped in silence, and what a text leaves to whoever runs it is asked, with a
//! guess that the design has meanwhile; [`import_with()`] takes the answers, and a [`Bundle`] is
//! read as a whole. [`export()`] writes the arguments that make the same design again; what has no
//! argument stands in comments that [`import()`] reads.
//!
//! No clock, file or socket is in here, so that the browser can do the same.

mod arguments;
mod spelling;
mod card;
mod models;
mod files;
mod job;
mod draft;
mod stages;
mod tree;
mod comment;
mod flags;
mod carried;
mod dialects;
mod yaml;
mod toml_text;
mod recipe;
mod beside;
mod launch;
mod shell;
mod engine;
mod hugging_face;
mod own;
mod export;
mod bundle;
mod archive;

pub use archive::{MAX_ARCHIVE, is_archive, unpacked};
pub use bundle::{Bundle, MAX_FILES, MAX_TOTAL};
pub use draft::{Answers, Assumed, Fault, Ignored, Import, Question, Set, Unknown};
pub use engine::command;
pub use export::reading::{Figures, Reading};
pub use export::{
    Export, Launcher, Provenance, Target, UnsupportedKnob, export, export_command, export_for,
};
pub use models::names as model_names;

use model::design::Design;

use draft::Draft;

/// Bytes of a text, at most. Real ones have a few thousand.
pub const MAX_BYTES: usize = 1 << 20;

/// Bytes of a `config.json`, at most: that of a quantised model may list each of its modules.
pub const MAX_CONFIG_BYTES: usize = 16 << 20;

/// Format of a text: the program that wrote it, or is to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Hugging Face's `config.json`.
    HuggingFace,
    /// Megatron-LM: a launch script, bare arguments, or arguments as YAML.
    Megatron,
    /// MindSpeed-LLM: the same, with its own arguments.
    Mindspeed,
    /// An inference engine: a launch command of vLLM, SGLang or TensorRT-LLM, or `MindIE`'s JSON.
    Serving,
    /// Moescape's own design file, JSON or TOML.
    Design,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] =
        [Self::HuggingFace, Self::Megatron, Self::Mindspeed, Self::Serving, Self::Design];

    /// The short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HuggingFace => "hf",
            Self::Megatron => "megatron",
            Self::Mindspeed => "mindspeed",
            Self::Serving => "serving",
            Self::Design => "design",
        }
    }

    /// Name that people use for it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::HuggingFace => "Hugging Face's config.json",
            Self::Megatron => "Megatron-LM's arguments",
            Self::Mindspeed => "MindSpeed-LLM's arguments",
            Self::Serving => "an inference engine's launch command",
            Self::Design => "a design file of Moescape",
        }
    }

    /// Bytes of a text in this format, at most.
    #[must_use]
    pub const fn max_bytes(self) -> usize {
        match self {
            Self::HuggingFace => MAX_CONFIG_BYTES,
            Self::Megatron | Self::Mindspeed | Self::Serving | Self::Design => MAX_BYTES,
        }
    }

    /// The format of a text, by what stands in it.
    ///
    /// What names a schema as our files do is one of them; other JSON is Hugging Face's; any other
    /// text with an argument, variable or package of MindSpeed's is a script of MindSpeed-LLM. What
    /// was exported from here says its format itself.
    #[must_use]
    pub fn detect(text: &str) -> Self {
        const MINDSPEED: [&str; 20] = [
            "mindspeed",
            "NPUS_PER_NODE",
            "HCCL_",
            "PYTORCH_NPU_ALLOC_CONF",
            "--noop-layers",
            "--moe-tp-extend-ep",
            "--moe-alltoall-overlap-comm",
            "--moe-fb-overlap",
            "cp_algo",
            "ep_fsdp_size",
            "device_target: \"Ascend\"",
            "ASCEND_",
            "/usr/local/Ascend",
            "torch_npu",
            "--num-layer-list",
            "--use-ascend-",
            "--npu-deterministic",
            "--swap-optimizer",
            "--recompute-activation-function",
            "--moe-zero-memory",
        ];
        let text = without_mark(text);
        let is_json = text.trim_start().starts_with('{');
        if is_json && text.len() > MAX_BYTES {
            // Nothing else may be as long.
            Self::HuggingFace
        } else if let Some(format) = comment::format(text) {
            format
        } else if own::is_own(text) {
            Self::Design
        } else if engine::engine(text).is_some() {
            Self::Serving
        } else if is_json && dialects::title(text).is_none() {
            Self::HuggingFace
        } else if MINDSPEED.iter().any(|word| text.contains(word)) || dialects::is_on_ascend(text) {
            Self::Mindspeed
        } else {
            Self::Megatron
        }
    }
}

/// Reads a text.
///
/// Of a `base`, everything that the text can't speak of is taken: for an architecture all but the
/// shape of the model, for a launch script the cluster. Without one these are the neutral values of
/// the registry, and the design is named after the preset that it is nearest to. A design file
/// names its own preset, and needs none.
#[must_use]
pub fn import(format: Format, text: &str, base: Option<&Design>) -> Import {
    import_with(format, text, base, &Answers::default())
}

/// Reads a text with what whoever runs it adds to it: variables, arguments, and values of knobs,
/// which win over the text.
#[must_use]
pub fn import_with(format: Format, text: &str, base: Option<&Design>, answers: &Answers) -> Import {
    let mut draft = Draft::new(format, base, answers);
    read_into(text, base, &mut draft);
    draft.finish(base)
}

/// The design of a text alone: neither rules nor presets are looked at, which take longer than to
/// read it.
///
/// # Errors
/// What keeps the text from being a design.
pub fn read_design(format: Format, text: &str) -> Result<Design, Vec<Fault>> {
    let mut draft = Draft::new(format, None, &Answers::default());
    read_into(text, None, &mut draft);
    draft.design()
}

/// A text without the mark of its byte order, which editors of Windows write.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads a text into a draft.
fn read_into(text: &str, base: Option<&Design>, draft: &mut Draft) {
    let text = without_mark(text);
    let (found, most) = (text.len(), draft.format.max_bytes());
    if found > most {
        let detail = format!("the text has {found} bytes; at most {most} are read");
        return draft.fault(0, "", detail);
    }
    match draft.format {
        Format::HuggingFace => {
            hugging_face::read(text, base, draft);
            carry(draft);
        }
        Format::Design => own::read(text, draft),
        Format::Serving => {
            draft.is_export = comment::format(text).is_some();
            engine::read(text, base, draft);
        }
        Format::Megatron | Format::Mindspeed => {
            draft.commented = comment::knobs(text);
            draft.is_export = comment::format(text).is_some();
            read_words(text, base, draft);
            comment::read(text, draft);
        }
    }
    draft.answer();
}

/// Reads what a launch script or configuration says by its own words.
fn read_words(text: &str, base: Option<&Design>, draft: &mut Draft) {
    draft.card = card::named(text);
    let arguments = argument_list(text, draft);
    let arguments = beside::with_texts(arguments, draft);
    let arguments = dialects::translate(text, arguments, draft);
    launch::read(arguments, base, draft);
    carry(draft);
}

/// Gives the design the arguments that no knob reads, but for what an export says anyway.
fn carry(draft: &mut Draft) {
    if draft.has_errors() {
        return;
    }
    let is_mindspeed = draft.format == Format::Mindspeed;
    let words = export::words(is_mindspeed, &draft.design, draft.is_export);
    carried::settle(&|argument| words.contains(argument), draft);
}

/// The arguments of a text, in whatever it is written.
fn argument_list(text: &str, draft: &mut Draft) -> Vec<arguments::Argument> {
    if toml_text::is_toml(text) {
        tree::arguments(&toml_text::read(text), draft)
    } else if recipe::is_python(text) {
        recipe::arguments(text, draft)
    } else if yaml::is_yaml(text) && !shell::is_manifest(text) {
        let own = yaml::arguments(text, draft);
        beside::with_files(own, draft)
    } else {
        draft.is_command = true;
        let before = draft.followed;
        let own = shell::arguments(text, draft);
        if draft.followed > before || draft.files.is_alone() {
            return own;
        }
        let mut arguments = beside::of_commands(text, draft);
        arguments.extend(own);
        arguments
    }
}
