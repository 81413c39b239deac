//! What people write, as HTML that can do nothing.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// Markdown as HTML: paragraphs, emphasis, lists, code, quotes, tables and links.
///
/// HTML in it is shown as text, pictures become links, headings become paragraphs, and only links
/// to the web, to mail and into this site are links at all.
#[must_use]
pub fn to_html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut open_links = Vec::new();
    let events = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Heading { .. }) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::Heading(_)) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            let is_link = is_harmless(&dest_url);
            open_links.push(is_link);
            is_link.then(|| Event::Start(link(dest_url)))
        }
        Event::End(TagEnd::Link | TagEnd::Image) => {
            open_links.pop().unwrap_or_default().then_some(Event::End(TagEnd::Link))
        }
        Event::FootnoteReference(_) | Event::TaskListMarker(_) => None,
        Event::Start(_)
        | Event::End(_)
        | Event::Text(_)
        | Event::Code(_)
        | Event::InlineMath(_)
        | Event::DisplayMath(_)
        | Event::SoftBreak
        | Event::HardBreak
        | Event::Rule => Some(event),
    });
    let mut written = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut written, events);
    written
}

fn link(dest_url: CowStr<'_>) -> Tag<'_> {
    Tag::Link { link_type: LinkType::Inline, dest_url, title: "".into(), id: "".into() }
}

/// Whether following an address does no more than open a page or a letter.
fn is_harmless(address: &str) -> bool {
    let is_here = address.starts_with('/') && !address.starts_with("//");
    let lower = address.to_ascii_lowercase();
    is_here || ["https://", "http://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use testing::page::Page;

    use super::*;

    #[test]
    fn markdown_becomes_html() {
        let html = to_html("Too **much** on `stage 3`, see [this](/?preset=x)\n\n- one\n- two");
        assert_eq!(
            html,
            "<p>Too <strong>much</strong> on <code>stage 3</code>, see \
             <a href=\"/?preset=x\">this</a></p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"
        );
        assert_eq!(to_html("# Big"), "<p>Big</p>\n");
    }

    #[test]
    fn nothing_written_can_act() {
        let attacks = [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "text <b onclick=alert(1)>b</b>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,<script>)",
            "[x](//evil.example)",
            "![x](javascript:alert(1))",
            "<svg><animate onbegin=alert(1)>",
            "[x]: javascript:alert(1)\n[x]",
            "<javascript:alert(1)>",
            "\"><script>",
            "`</code><script>`",
            "[a](http://x/\"onmouseover=alert(1))",
        ];
        for attack in attacks {
            let html = Page::new(&to_html(attack));
            for tag in ["script", "img", "svg", "b", "[onmouseover]", "[onerror]"] {
                assert!(!html.has(tag), "{attack}: {}", html.markup("body"));
            }
            for link in html.links() {
                assert!(is_harmless(&link), "{attack}: {link}");
            }
        }
    }
}
