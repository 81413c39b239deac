//! Forms that take files or a pasted text: their markup, and how what a browser sends is read.

use axum::extract::multipart::{Multipart, MultipartError, MultipartRejection};
use axum::http::StatusCode;
use maud::{Markup, PreEscaped, html};
use model::catalogue::preset::PresetKind;
use present::form::lists::{id, preset_groups};
use present::form::{Control, file, option, select};
use present::format::whole;
use present::html::table;

/// Characters of a file's name that are kept.
const MAX_NAME_LEN: usize = 200;

/// Presets by what they are.
const KINDS: [(PresetKind, &str); 2] = [
    (PresetKind::Recipe, "From a published run"),
    (PresetKind::Model, "From a model on our default cluster"),
];

/// A form that takes files; one on a page.
pub(crate) struct FileForm<'a> {
    /// Path that it is sent to.
    pub(crate) action: &'a str,
    /// Bytes of all files, where a script sends them by the button alone.
    pub(crate) bytes: Option<usize>,
    /// Label of the files.
    pub(crate) label: &'a str,
    /// Endings of files.
    pub(crate) accept: &'a str,
    /// Hints on files: for all, and where a script runs.
    pub(crate) hints: [&'a str; 2],
    /// Box to paste a text into, and its label.
    pub(crate) text: (Control, &'a str),
    /// Its further fields.
    pub(crate) rest: Markup,
    /// Text of the button, and what goes on once it is pressed.
    pub(crate) button: [&'a str; 2],
}

impl FileForm<'_> {
    /// The form.
    pub(crate) fn html(self) -> Markup {
        let [hint, scripted] = self.hints;
        let files = file(self.accept).id("import-file").name("file").flag("multiple", true);
        let files = files.set("aria-describedby", "import-file-about");
        let (text, label) = self.text;
        let text = text.id("import-text").name("text").set("spellcheck", "false");
        let [button, busy] = self.button;
        html! {
            form id="import-form" class="import-form" method="post" action=(self.action)
                enctype="multipart/form-data" data-waits[self.bytes.is_some()]
                data-bytes=[self.bytes] {
                div.import-field {
                    (files.labelled(self.label))
                    p #import-file-about class="muted" { (hint) }
                    p.muted.only-scripted { (scripted) }
                }
                (text.field("import-field", label, ""))
                (self.rest)
                p.import-send {
                    button.button.primary { (button) }
                    progress id="import-progress" aria-label=(busy) hidden {}
                    span #import-status role="status" {}
                }
            }
        }
    }
}

/// A list of presets to take from what a text doesn't say, plain defaults first, of which one is
/// chosen by its id; none is an empty text.
pub(crate) fn presets(chosen: &str) -> Control {
    let entries = html! {
        (option("", "Plain defaults", chosen.is_empty()))
        (preset_groups(&KINDS, id, chosen))
    };
    select(entries).name("preset")
}

/// A list of an answer as a table under its heading, which may count its rows.
pub(crate) fn listed(
    id: &str,
    title: &str,
    counts: bool,
    about: &str,
    header: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Markup {
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    let all: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let count = (all.len() - 1) as u64;
    html! {
        @if count > 0 {
            section.card.import-card #(id) {
                h2 { (title) @if counts { " (" (whole(count)) ")" } }
                p.muted { (about) }
                div.scroll-x.import-list role="region" tabindex="0"
                    aria-label={ (title) ", table" } { (PreEscaped(table(title, &all))) }
            }
        }
    }
}

/// A form as it was sent.
#[derive(Default)]
pub(crate) struct FileFields {
    /// Names and bytes of files that aren't empty: where none is chosen, browsers send such a one.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Names and bytes of its other fields.
    pub(crate) texts: Vec<(String, Vec<u8>)>,
}

/// Reads a form to its end. The reason why that can't be done is a sentence without its dot;
/// `too_large` is the one for too many bytes.
pub(crate) async fn read(
    form: Result<Multipart, MultipartRejection>,
    too_large: fn() -> String,
) -> Result<FileFields, (StatusCode, String)> {
    let broken = |error: MultipartError| match error.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => (status, too_large()),
        status => (status, format!("the form can't be read: {}", error.body_text())),
    };
    let mut form = form.map_err(|error| (error.status(), error.body_text()))?;
    let mut sent = FileFields::default();
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default().chars().take(MAX_NAME_LEN).collect();
        let bytes = field.bytes().await.map_err(broken)?.to_vec();
        match name == "file" {
            true if bytes.is_empty() => {}
            true => sent.files.push((file, bytes)),
            false => sent.texts.push((name, bytes)),
        }
    }
    Ok(sent)
}
