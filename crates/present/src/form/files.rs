//! Forms that take files or a pasted text, and the lists of what was read in them.

use maud::{Markup, PreEscaped, html};
use model::catalogue::preset::PresetKind;

use crate::format::whole;
use crate::html::table;

use super::lists::{id, preset_groups};
use super::{Control, file, option, select};

/// Presets by what they are.
const KINDS: [(PresetKind, &str); 2] = [
    (PresetKind::Recipe, "From a published run"),
    (PresetKind::Model, "From a model on our default cluster"),
];

/// A form that takes files; one on a page.
#[derive(Debug)]
pub struct FileForm<'a> {
    /// Path that it is sent to.
    pub action: &'a str,
    /// Bytes of all files, where a script sends them by the button alone.
    pub bytes: Option<usize>,
    /// Label of the files.
    pub label: &'a str,
    /// Endings of files.
    pub accept: &'a str,
    /// Hints on files: for all, and where a script runs.
    pub hints: [&'a str; 2],
    /// Box to paste a text into, and its label.
    pub text: (Control, &'a str),
    /// Its further fields.
    pub rest: Markup,
    /// Text of the button, and what goes on once it is pressed.
    pub button: [&'a str; 2],
}

impl FileForm<'_> {
    /// The form.
    #[must_use]
    pub fn html(self) -> Markup {
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
pub fn presets(chosen: &str) -> Control {
    let entries = html! {
        (option("", "Plain defaults", chosen.is_empty()))
        (preset_groups(&KINDS, id, chosen))
    };
    select(entries).name("preset")
}

/// A list of an answer as a table under its heading, which may count its rows.
#[must_use]
pub fn listed(
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
