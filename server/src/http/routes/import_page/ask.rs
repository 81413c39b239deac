//! The form of `/import`, as HTML.

use axum::http::StatusCode;
use maud::{Markup, html};
use present::form::{options, select, textarea};
use present::site::Page;

use crate::http::file_form::{FileForm, presets};

/// Formats of texts, by the names that the API has.
const FORMATS: [(&str, &str); 6] = [
    ("auto", "Detect automatically"),
    ("hf", "Hugging Face's config.json"),
    ("megatron", "Megatron-LM and frameworks around it: script, YAML, TOML or JSON"),
    ("mindspeed", "MindSpeed-LLM: script or YAML"),
    ("serving", "Inference engine: launch command or JSON"),
    ("design", "Moescape's design file: JSON or TOML"),
];

/// The sent form.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// Format of the text, by name.
    pub(super) format: String,
    /// Preset for everything that the file doesn't specify, by id; may be empty.
    pub(super) preset: String,
    /// Text that was pasted.
    pub(super) text: String,
    /// Names and bytes of the files that were chosen.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// Answers by the names of their questions.
    pub(super) answers: Vec<(String, String)>,
}

/// Input of the form, to be shown in it again.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) format: String,
    pub(super) preset: String,
    pub(super) text: String,
    /// Reason why there is no answer.
    pub(super) why: Option<(StatusCode, String)>,
    /// The status of a page with an answer.
    pub(super) status: StatusCode,
}

impl Asked {
    pub(super) fn from_form(form: &Form) -> Self {
        Self {
            format: form.format.clone(),
            preset: form.preset.clone(),
            text: form.text.clone(),
            ..Self::default()
        }
    }
}

/// Content of the page.
pub(super) fn html(asked: &Asked, answer: Option<&Markup>) -> Markup {
    html! {
        @if answer.is_none() { h1 { "Import a design" } }
        @if let Some((_, why)) = &asked.why { p.share-refused role="alert" { (why) } }
        @if let Some(answer) = answer { (answer) }
        section.card.import-card {
            @if answer.is_none() {
                p {
                    "A model's " code { "config.json" } ", a launch script, recipe, YAML or TOML \
                     of \
                    Megatron-LM, MindSpeed-LLM and the frameworks around them, or a design file. \
                    The result lists which key sets which knob, what is assumed and what isn't \
                    recognised, and asks for what is missing. Nothing is stored."
                }
                p {
                    "Logs, tables and profiles of runs of yours: "
                    a href=(Page::Calibrate.path()) { "Calibrate to your own runs" }
                }
            } @else { h2 { "Import another text" } }
            (form(asked))
        }
    }
}

fn form(asked: &Asked) -> Markup {
    let text = textarea(10, &asked.text).set("maxlength", &interchange::MAX_BYTES.to_string());
    let format = select(options(FORMATS, &asked.format)).id("import-format").name("format");
    let preset = presets(&asked.preset).id("import-preset");
    let label = "For everything the file doesn't specify, use";
    let about = "For a config.json everything but the model's shape, for a script the cluster.";
    let form = FileForm {
        action: "/import",
        bytes: None,
        label: "File",
        accept: ".json,.sh,.bash,.slurm,.yaml,.yml,.toml,.py,.txt,.zip,.tar,.gz,.tgz",
        hints: [
            "Several files, or a zip or tar of them, are read together.",
            "Or drop files or a folder anywhere on this page.",
        ],
        text: (text, "Or paste its text (a file takes precedence)"),
        rest: html! {
            div.import-choices {
                (format.field("import-field", "Format", ""))
                (preset.field("import-field", label, about))
            }
        },
        button: ["Import", "Importing"],
    };
    form.html()
}
