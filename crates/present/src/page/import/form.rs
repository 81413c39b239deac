//! The form of `/import`, as HTML.

use maud::{Markup, html};

use crate::form::files::{FileForm, presets};
use crate::form::{options, select, textarea};
use crate::site::Page;

/// Formats of texts, by the names that the API has.
const FORMATS: [(&str, &str); 6] = [
    ("auto", "Detect automatically"),
    ("hf", "Hugging Face's config.json"),
    ("megatron", "Megatron-LM and frameworks around it: script, YAML, TOML or JSON"),
    ("mindspeed", "MindSpeed-LLM: script or YAML"),
    ("serving", "Inference engine: launch command or JSON"),
    ("design", "Moescape's design file: JSON or TOML"),
];

/// Input of the form, to be shown in it again.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) format: &'a str,
    pub(super) preset: &'a str,
    pub(super) text: &'a str,
    /// Reason why there is no answer.
    pub(super) why: Option<&'a str>,
}

/// Content of the page.
pub(super) fn html(asked: &Asked<'_>, answer: Option<&Markup>) -> Markup {
    html! {
        @if answer.is_none() { h1 { "Import a design" } }
        @if let Some(why) = asked.why { p.share-refused role="alert" { (why) } }
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

fn form(asked: &Asked<'_>) -> Markup {
    let text = textarea(10, asked.text).set("maxlength", &interchange::MAX_BYTES.to_string());
    let format = select(options(FORMATS, asked.format)).id("import-format").name("format");
    let preset = presets(asked.preset).id("import-preset");
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
