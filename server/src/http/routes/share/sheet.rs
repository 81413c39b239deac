//! The sheet itself, as HTML.

use std::fmt::Write as _;

use maud::{Markup, html};
use model::design::Design;
use model::design::file::{self, Extent, json};
use model::design::link as links;
use present::form::{self, Control, hidden, input, options, select, textarea};
use present::format;
use present::words::name;
use qrcodegen::{QrCode, QrCodeEcc};

use crate::designs::{Entry, MAX_NAME_LEN, MAX_NOTE_LEN, StoredDesign};
use crate::ground::calendar;
use crate::http::routes::embed::PANELS;

/// Characters from which on programs may cut a link.
const LONG: usize = 2_000;

/// Characters that a code may have: with more its squares are too small for a camera.
const MAX_CODE_LEN: usize = 600;

/// Empty squares around a code, as its standard asks.
const MARGIN: i32 = 4;

/// Input of a form that was refused.
pub(super) struct Typed {
    pub(super) name: String,
    pub(super) note: String,
}

/// All that the sheet is made of.
pub(super) struct Sheet<'a> {
    pub(super) design: &'a Design,
    /// The design as a query string.
    pub(super) link: &'a str,
    /// The id that it has, stored or not.
    pub(super) short: &'a str,
    /// Prefix of every address.
    pub(super) base: &'a str,
    /// Entry of the visitor for it, if they have stored it.
    pub(super) entry: Option<&'a Entry>,
    /// The visitor's short links.
    pub(super) listed: &'a [(StoredDesign, Entry)],
    /// Reason why the last request was refused.
    pub(super) why: Option<&'a str>,
    pub(super) typed: Option<&'a Typed>,
}

impl Sheet<'_> {
    /// Content of the dialog or the page.
    pub(super) fn html(&self) -> Markup {
        html! {
            h1 #sheet-title tabindex="-1" { "Share this design" }
            @if let Some(why) = self.why { p.share-refused role="alert" { (why) } }
            section { h2 { "Full link" } (self.full_link()) }
            section { h2 { "Short link" } (self.short_link()) }
            section { h2 { "QR code" } (self.code()) }
            section { h2 { "Embed" } (self.embed()) }
            section { h2 { "API" } (self.call()) }
            @if !self.listed.is_empty() {
                section { h2 { "Your short links" } ul.share-list { (self.list()) } }
            }
            p.share-back { a.button href={ "/?" (self.link) } { "Back to the design" } }
        }
    }

    /// The whole long link.
    fn long(&self) -> String {
        format!("{}/?{}", self.base, self.link)
    }

    /// The whole short link, where there is one.
    fn shortened(&self) -> Option<String> {
        self.entry.map(|entry| format!("{}{}", self.base, entry.address(self.short)))
    }

    fn full_link(&self) -> Markup {
        let long = self.long();
        let length = long.chars().count();
        html! {
            (copied("share-long", "Full link", &long))
            p.muted {
                "The whole design is in the link: nothing is stored. "
                (format::whole(length as u64)) " characters."
            }
            @if length > LONG {
                p.share-warning {
                    "Some programs cut links of more than " (format::whole(LONG as u64))
                    " characters. Make a short link."
                }
            }
        }
    }

    fn short_link(&self) -> Markup {
        let (name, note) = match (self.typed, self.entry) {
            (Some(typed), _) => (typed.name.as_str(), typed.note.as_str()),
            (None, Some(entry)) => (entry.name.as_str(), entry.note.as_str()),
            (None, None) => ("", ""),
        };
        let store = match self.entry {
            Some(_) => "Save name and note",
            None => "Store and make a short link",
        };
        html! {
            @if let Some(short) = self.shortened() { (copied("share-short", "Short link", &short)) }
            form method="post" action="/share" class="share-form" {
                (hidden("link", self.link))
                (limited(input("text").value(name), "name", MAX_NAME_LEN)
                    .labelled("Name (optional)"))
                (limited(textarea(2, note), "note", MAX_NOTE_LEN).labelled("Note (optional)"))
                button.button.primary name="action" value="store" { (store) }
            }
            p.muted {
                "The server stores the design, its headline numbers, the model version, the name \
                 and the note until you delete them here. Anyone with the link can read them. A \
                 cookie marks them as this browser's; no account and no address is stored."
            }
        }
    }

    /// The link as a code for a camera: the short one, where there is one.
    fn code(&self) -> Markup {
        let (which, link) = match self.shortened() {
            Some(short) => ("short", short),
            None => ("full", self.long()),
        };
        let code = QrCode::encode_text(&link, QrCodeEcc::Low).ok();
        html! {
            @if let Some(code) = code.filter(|_| link.len() <= MAX_CODE_LEN) {
                div.share-code { (drawn(&code, which)) }
            } @else {
                p.muted { "The full link is too long for a QR code; a short link fits." }
            }
        }
    }

    fn embed(&self) -> Markup {
        let first = PANELS[0].0;
        let panels = select(options(PANELS.map(|(name, words, _)| (name, words)), ""));
        let address = match self.entry {
            Some(_) => format!("{}/embed/d/{}?panel={first}", self.base, self.short),
            None => format!("{}/embed?panel={first}&{}", self.base, self.link),
        };
        let snippet = html! {
            iframe src=(address) title=(name::title(self.design)) width="720" height="480"
                loading="lazy" {}
        };
        html! {
            (panels.id("share-panel").set("data-panel", "share-embed").labelled("Panel"))
            (copied("share-embed", "HTML of the panel", &snippet.0))
            p.muted {
                "Add &theme=dark or &theme=light to the address to choose; otherwise it follows \
                 the reader's system."
            }
        }
    }

    fn call(&self) -> Markup {
        let design = json::print(&file::write(self.design, Extent::Changed));
        // A quote ends the shell's text, so that it is written outside of it.
        let design: String = design.lines().map(str::trim_start).collect();
        let design = design.replace('\'', "'\\''");
        let call = format!("curl -s {}/api/v1/predict -d '{design}'", self.base);
        html! {
            (copied("share-curl", "Call of the API", &call))
            p.muted {
                "Answers with every number as JSON. "
                a href="/api/v1/openapi.json" { "What else the API can do" }
            }
            p { a href={ "/export?" (self.link) } data-sheet="Export this design" {
                "Launch scripts, files and tables of this design"
            } }
        }
    }

    fn list(&self) -> Markup {
        html! {
            @for (stored, entry) in self.listed {
                @let title = links::decode(&stored.link).map(|design| name::title(&design));
                @let title = title.unwrap_or_else(|_| stored.id.clone());
                @let name = if entry.name.is_empty() { &title } else { &entry.name };
                li {
                    a href=(entry.address(&stored.id)) { (name) } " "
                    span.muted {
                        (calendar::day(entry.created_at_secs)) ", model " (stored.model_version)
                    }
                    form method="post" action="/share" {
                        (hidden("link", self.link))
                        (hidden("id", &stored.id))
                        button.button name="action" value="delete"
                            aria-label={ "Delete " (name) } { "Delete" }
                    }
                }
            }
        }
    }
}

/// A box of the form that stores, with the characters that it takes.
fn limited(text: Control, name: &str, max_len: usize) -> Control {
    text.id(&format!("share-{name}")).name(name).set("maxlength", &max_len.to_string())
}

/// A text to be copied.
fn copied(id: &str, label: &str, text: &str) -> Markup {
    let text = input("text").id(id).flag("readonly", true).named(label).value(text);
    form::copied(&text, label)
}

/// A code as SVG, black on white in either theme: cameras read no other.
fn drawn(code: &QrCode, which: &str) -> Markup {
    let size = code.size();
    let side = size + 2 * MARGIN;
    let mut path = String::new();
    for y in 0..size {
        let mut x = 0;
        while x < size {
            let run = (x..size).take_while(|x| code.get_module(*x, y)).count();
            if run > 0 {
                let _ = write!(path, "M{} {}h{run}v1h-{run}z", x + MARGIN, y + MARGIN);
            }
            x += run as i32 + 1;
        }
    }
    html! {
        svg viewBox={ "0 0 " (side) " " (side) } role="img"
            aria-label={ "QR code of the " (which) " link" } {
            rect width=(side) height=(side) fill="#fff" {}
            path fill="#000" d=(path) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    fn sheet(query: &str, entry: Option<&Entry>) -> Html {
        let design = links::decode(query).unwrap();
        let link = links::encode(&design);
        let sheet = Sheet {
            design: &design,
            link: &link,
            short: "0123456789abcdef",
            base: "https://a.example",
            entry,
            listed: &[],
            why: Some("<why>"),
            typed: None,
        };
        Html::new(&sheet.html().into_string())
    }

    #[test]
    fn a_design_that_is_not_stored_has_its_full_link_everywhere() {
        let html = sheet("mbs=4", None);
        let query = "v=1&preset=pangu-ultra-moe-6k&training.micro_batch_size=4";
        let full = format!("https://a.example/?{query}");
        assert_eq!(html.attribute("#share-long", "value"), full);
        assert_eq!(html.text("button[value=store]"), "Store and make a short link");
        assert!(!html.markup("html").contains("/d/"), "{}", html.words());
        assert!(html.markup("html").contains("QR code of the full link"), "{}", html.words());
        assert_eq!(html.text("[role=alert]"), "<why>");
        // The snippet is HTML in an attribute.
        let panel = Html::new(&html.attribute("#share-embed", "value")).attribute("iframe", "src");
        assert!(panel.ends_with(&format!("/embed?panel=headline&{query}")), "{panel}");
    }

    #[test]
    fn a_stored_one_has_its_short_link_everywhere() {
        let entry = Entry { name: "A \"b\"".into(), tag: "0123456789".into(), ..Entry::default() };
        let html = sheet("mbs=4", Some(&entry));
        let short = "https://a.example/d/0123456789abcdef?note=0123456789";
        assert!(html.has(&format!("input[readonly][value='{short}']")), "{}", html.words());
        assert_eq!(html.attribute("#share-name", "value"), "A \"b\"");
        assert_eq!(html.text("button[value=store]"), "Save name and note");
        let panel = Html::new(&html.attribute("#share-embed", "value")).attribute("iframe", "src");
        assert!(panel.contains("/embed/d/0123456789abcdef?panel=headline"), "{panel}");
        assert!(html.markup("html").contains("QR code of the short link"), "{}", html.words());
    }

    #[test]
    fn a_long_link_is_warned_of_and_has_no_code() {
        let layers: Vec<String> = (0..400).map(|layer| layer.to_string()).collect();
        let html = sheet(&format!("noop_layers={}&pp=1", layers.join(",")), None);
        let is_long = html.says("too long for a QR code");
        assert!(is_long, "{}", html.words());
        assert!(!sheet("", None).says("more than 2,000"));
    }
}
