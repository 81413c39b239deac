//! The form of `/import`, as HTML.

use axum::http::StatusCode;
use maud::{Markup, html};
use present::html::option;
use present::site::Page;

use crate::http::routes::preset_options::preset_options;

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
    html! {
        form id="import-form" class="import-form" method="post" action="/import"
            enctype="multipart/form-data" {
            div.import-field {
                label for="import-file" { "File" }
                input id="import-file" type="file" name="file" multiple
                    accept=".json,.sh,.bash,.slurm,.yaml,.yml,.toml,.py,.txt,.zip,.tar,.gz,.tgz";
                p.muted { "Several files, or a zip or tar of them, are read together." }
                p.muted.only-scripted { "Or drop files or a folder anywhere on this page." }
            }
            div.import-field {
                label for="import-text" { "Or paste its text (a file takes precedence)" }
                textarea id="import-text" name="text" rows="10" spellcheck="false"
                    autocomplete="off" maxlength=(interchange::MAX_BYTES) { "\n" (asked.text) }
            }
            div.import-choices {
                div.import-field {
                    label for="import-format" { "Format" }
                    select id="import-format" name="format" autocomplete="off" {
                        @for (name, words) in FORMATS {
                            (option(name, words, asked.format == name))
                        }
                    }
                }
                div.import-field {
                    label for="import-preset" { "For everything the file doesn't specify, use" }
                    select id="import-preset" name="preset" autocomplete="off"
                        aria-describedby="import-preset-about" {
                        (preset_options(&asked.preset))
                    }
                    p #import-preset-about class="muted" {
                        "For a config.json everything but the model's shape, for a script the \
                         cluster."
                    }
                }
            }
            p.import-send {
                button.button.primary { "Import" }
                progress id="import-progress" aria-label="Importing" hidden {}
                span #import-status role="status" {}
            }
        }
    }
}
