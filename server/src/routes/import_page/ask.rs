//! The form of `/import`, as HTML.

use std::fmt::Write as _;

use app::present::html::{element, escape_into, escaped};
use axum::http::StatusCode;
use model::preset::{Preset, PresetKind};

/// What texts there are, by the names that the API has.
const FORMATS: [(&str, &str); 5] = [
    ("auto", "By what stands in it"),
    ("hf", "Hugging Face's config.json"),
    ("megatron", "Megatron-LM: script or YAML"),
    ("mindspeed", "MindSpeed-LLM: script or YAML"),
    ("design", "Moescape's design file: JSON or TOML"),
];

/// The sent form.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// Who wrote the text, by name.
    pub(super) format: String,
    /// What the text can't speak of is this preset's; may be empty.
    pub(super) preset: String,
    /// What was pasted.
    pub(super) text: String,
    /// The file's name and bytes, where one was chosen.
    pub(super) file: Option<(String, Vec<u8>)>,
}

/// What was asked for, to be shown in the form again.
pub(super) struct Asked {
    pub(super) format: String,
    pub(super) preset: String,
    pub(super) text: String,
    /// Why there is no answer.
    pub(super) why: Option<(StatusCode, String)>,
    /// The status of a page with an answer.
    pub(super) status: StatusCode,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            format: String::new(),
            preset: String::new(),
            text: String::new(),
            why: None,
            status: StatusCode::OK,
        }
    }
}

impl Asked {
    pub(super) fn of(form: &Form) -> Self {
        Self {
            format: form.format.clone(),
            preset: form.preset.clone(),
            text: form.text.clone(),
            ..Self::default()
        }
    }
}

/// What stands on the page.
pub(super) fn html(asked: &Asked, answer: &str) -> String {
    let mut html = String::new();
    if answer.is_empty() {
        html.push_str("<h1>Import a design</h1>");
    }
    if let Some((_, why)) = &asked.why {
        element(&mut html, "p", "class=\"share-refused\" role=\"alert\"", why);
    }
    html.push_str(answer);
    html.push_str("<section class=\"card import-card\">");
    if answer.is_empty() {
        html.push_str(
            "<p>A model&#39;s <code>config.json</code>, a launch script or YAML of Megatron-LM or \
             MindSpeed-LLM, or a design file. The page says which key set which knob, what was \
             assumed, and what isn&#39;t known. Nothing is stored.</p>",
        );
    } else {
        html.push_str("<h2>Import another text</h2>");
    }
    form(&mut html, asked);
    html.push_str("</section>");
    html
}

fn form(html: &mut String, asked: &Asked) {
    let _ = writeln!(
        html,
        "<form class=\"import-form\" method=\"post\" action=\"/import\" \
         enctype=\"multipart/form-data\">\
         <div class=\"import-field\"><label for=\"import-file\">File</label>\
         <input id=\"import-file\" type=\"file\" name=\"file\" \
         accept=\".json,.sh,.bash,.yaml,.yml,.toml,.txt\">\
         <p class=\"muted\" data-scripted hidden>Or drop one anywhere on this page.</p></div>\
         <div class=\"import-field\"><label for=\"import-text\">Or its text; a file goes first\
         </label><textarea id=\"import-text\" name=\"text\" rows=\"10\" spellcheck=\"false\" \
         autocomplete=\"off\" maxlength=\"{}\">",
        interchange::MAX_BYTES
    );
    escape_into(html, &asked.text);
    html.push_str(
        "</textarea></div><div class=\"import-choices\"><div class=\"import-field\">\
         <label for=\"import-format\">Written for</label>\
         <select id=\"import-format\" name=\"format\" autocomplete=\"off\">",
    );
    for (name, words) in FORMATS {
        option(html, name, words, name == asked.format);
    }
    html.push_str(
        "</select></div><div class=\"import-field\"><label for=\"import-preset\">What the text \
         can&#39;t speak of</label><select id=\"import-preset\" name=\"preset\" \
         autocomplete=\"off\" aria-describedby=\"import-preset-about\">",
    );
    option(html, "", "Neutral values", asked.preset.is_empty());
    for (kind, label) in [
        (PresetKind::Recipe, "As in a published run"),
        (PresetKind::Model, "As in a model of ours"),
    ] {
        let _ = write!(html, "<optgroup label=\"{label}\">");
        let presets = Preset::all().filter(|it| it.kind == kind && it.refused.is_none());
        presets.for_each(|it| option(html, it.id, it.title, it.id == asked.preset));
        html.push_str("</optgroup>");
    }
    html.push_str(
        "</select><p id=\"import-preset-about\" class=\"muted\">For a config.json all but the \
         shape of the model, for a script the cluster.</p></div></div>\
         <p class=\"import-send\"><button class=\"button primary\">Import</button>\
         <progress id=\"import-progress\" aria-label=\"Importing\" hidden></progress>\
         <span id=\"import-status\" role=\"status\"></span></p></form>",
    );
}

fn option(html: &mut String, value: &str, words: &str, chosen: bool) {
    let chosen = if chosen { " selected" } else { "" };
    element(html, "option", &format!("value=\"{}\"{chosen}", escaped(value)), words);
}
