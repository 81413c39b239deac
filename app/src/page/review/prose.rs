//! What somebody wrote, as HTML that can do nothing.
//!
//! The server makes it: what it writes into the page is there at once, and what comes later is
//! plain text until the server has rendered it. So the module has no reader of Markdown.

use super::session::Session;
use crate::widget::part::Part;

/// The text of an event.
#[cfg(feature = "ssr")]
pub(super) fn prose(_: Session, _: u64, markdown: &str) -> Part {
    use leptos::prelude::*;

    use crate::widget::part::IntoPart;

    view! { <div class="prose" translate="no" inner_html=review::to_html(markdown)></div> }.part()
}

/// The text of an event: a form that isn't known yet is requested soon.
#[cfg(not(feature = "ssr"))]
pub(super) fn prose(session: Session, seq: u64, markdown: &str) -> Part {
    browser::prose(session, seq, plain(markdown), has_form(markdown))
}

/// Plain form of a text, which is seen at once: its lines.
#[cfg(any(test, not(feature = "ssr")))]
fn plain(markdown: &str) -> String {
    let mut html = String::from("<p class=\"plain\">");
    present::html::escape_into(&mut html, markdown);
    html.push_str("</p>");
    html
}

/// Whether a text may look otherwise than its lines do.
#[cfg(any(test, not(feature = "ssr")))]
fn has_form(markdown: &str) -> bool {
    markdown.contains(['*', '_', '`', '[', '<', '>', '#', '~', '|', '\\', '&', '!'])
        || markdown.lines().any(|line| {
            let line = line.trim_start();
            line.is_empty() || line.starts_with(['-', '+', '=', '@']) || line.contains('@') || {
                let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
                rest.len() < line.len() && rest.starts_with(['.', ')'])
            }
        })
}

#[cfg(not(feature = "ssr"))]
pub(super) use browser::mark_all;

/// Names are marked in the browser, which knows whose it is.
#[cfg(feature = "ssr")]
pub(super) const fn mark_all(_: Session) {}

#[cfg(not(feature = "ssr"))]
mod browser {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use std::time::Duration;

    use leptos::prelude::*;

    use super::super::browser::{fetch, read};
    use super::super::session::Session;
    use crate::browser::download::elements;
    use crate::widget::part::{IntoPart, Part};
    use present::html::escaped;
    use present::page::review::mentions::marked;
    use review::json::{Fields, Read};

    /// Maximum number of texts per request.
    const MAX_TEXTS: usize = 100;

    /// Texts on the page whose form isn't known.
    const UNFORMED: &str = ".prose[data-of]";

    thread_local! {
        /// Forms that the server has rendered, by the number of the event.
        static KNOWN: RefCell<BTreeMap<u64, String>> = const { RefCell::new(BTreeMap::new()) };
        static IS_DUE: Cell<bool> = const { Cell::new(false) };
    }

    /// The text, whose form is requested if it `has_form`; until it is known `plain` is shown.
    pub(super) fn prose(session: Session, seq: u64, plain: String, has_form: bool) -> Part {
        let known = KNOWN.with(|known| known.borrow().get(&seq).cloned());
        let of = (known.is_none() && has_form).then(|| seq.to_string());
        let known = known.map(|html| mark(session, &html));
        if of.is_some() && !IS_DUE.replace(true) {
            set_timeout(move || ask(session), Duration::from_millis(30));
        }
        let html = known.unwrap_or(plain);
        view! { <div class="prose" translate="no" data-of=of inner_html=html></div> }.part()
    }

    /// Requests the forms of all texts that are shown without one.
    fn ask(session: Session) {
        IS_DUE.set(false);
        let Some(body) = document().body() else { return };
        let mut of: Vec<u64> = elements(&body, UNFORMED)
            .filter_map(|element| element.get_attribute("data-of")?.parse().ok())
            .collect();
        of.sort_unstable();
        of.dedup();
        of.truncate(MAX_TEXTS);
        if of.is_empty() {
            return;
        }
        let list: Vec<String> = of.iter().map(u64::to_string).collect();
        leptos::task::spawn_local(async move {
            let address = session.address(&format!("prose?of={}", list.join(",")));
            // What doesn't come stays as its lines.
            let Some((200, text)) = fetch("GET", &address, None).await else { return };
            let Some(all) = read::<Fields>(&text) else { return };
            let all = all
                .rest()
                .filter_map(|(seq, html)| Some((seq.parse().ok()?, String::read(html).ok()?)));
            KNOWN.with(|known| known.borrow_mut().extend(all));
            let Some(body) = document().body() else { return };
            for element in elements(&body, UNFORMED) {
                let seq = element.get_attribute("data-of").and_then(|of| of.parse().ok());
                let html = seq.and_then(|seq: u64| KNOWN.with(|it| it.borrow().get(&seq).cloned()));
                if let Some(html) = html {
                    element.set_inner_html(&mark(session, &html));
                    // A fixed, valid attribute name can always be taken away.
                    let _ = element.remove_attribute("data-of");
                }
            }
        });
    }

    /// Marks names in what the server wrote into the page.
    pub(in super::super) fn mark_all(session: Session) {
        let Some(body) = document().body() else { return };
        for element in elements(&body, ".prose:not([data-of])") {
            let html = element.inner_html();
            if html.contains('@') && !html.contains("class=\"mention") {
                element.set_inner_html(&mark(session, &html));
            }
        }
    }

    fn mark(session: Session, html: &str) -> String {
        if !html.contains('@') {
            return html.to_owned();
        }
        let names = untrack(|| session.participants());
        let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
        let you = session.you.with_untracked(|you| escaped(&you.name));
        marked(html, &names, &you)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_marks_needs_no_form() {
        for text in ["Too much on stage 3, I think.", "3 of 4 are fine", "Why? 王"] {
            assert!(!has_form(text), "{text}");
        }
        for text in ["**no**", "a\n\nb", "- one", "1. one", "`x`", "[a](/b)", "@Ann look", "a_b_"] {
            assert!(has_form(text), "{text}");
        }
        assert_eq!(plain("a <b>"), "<p class=\"plain\">a &lt;b&gt;</p>");
    }
}
