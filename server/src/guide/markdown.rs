//! A Markdown file of the guide as HTML: headings with anchors, links that fit the site.

use std::collections::BTreeMap;

use app::present::html::escaped;
use app::site;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::chapters::{CHAPTERS, Chapter};

/// Addresses that become a link in `code`, beside those of the site's pages.
const ADDRESSES: [&str; 3] = ["/r/new", "/api/v1/validation.csv", "/api/v1/openapi.json"];

/// A heading that can be linked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 for the title.
    pub level: u8,
    /// What stands behind `#`.
    pub id: String,
    /// What it says.
    pub text: String,
}

/// A chapter as HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The first heading.
    pub title: String,
    /// The first paragraph, without markup.
    pub about: String,
    /// Every heading, in order.
    pub headings: Vec<Heading>,
    /// The text, its title included.
    pub html: String,
}

/// Renders a chapter.
pub(super) fn render(chapter: &Chapter) -> Rendered {
    let events: Vec<Event<'_>> =
        Parser::new_ext(chapter.markdown, Options::ENABLE_TABLES).collect();
    let mut page = Page { chapter, ids: Ids::default(), headings: vec![], in_link: false, open: 0 };
    let mut written = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        written.extend(page.event(event, &events[index + 1..]));
    }
    let mut html = String::with_capacity(chapter.markdown.len() * 3 / 2);
    html::push_html(&mut html, written.into_iter());
    let title = page.headings.first().map_or_else(String::new, |first| first.text.clone());
    Rendered { title, about: first_paragraph(&events), headings: page.headings, html }
}

/// What is known on the way through a file.
struct Page<'a> {
    chapter: &'a Chapter,
    ids: Ids,
    headings: Vec<Heading>,
    in_link: bool,
    /// The level of the heading that is open, or 0.
    open: u8,
}

impl<'a> Page<'a> {
    /// What is written for an event; `rest` are those behind it.
    fn event(&mut self, event: &Event<'a>, rest: &[Event<'a>]) -> Option<Event<'a>> {
        let html = |text: String| Some(Event::Html(text.into()));
        match event {
            // Comments are for those who write; there is no other HTML.
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Start(Tag::HtmlBlock)
            | Event::End(TagEnd::HtmlBlock) => None,
            Event::Start(Tag::Heading { level, .. }) => {
                let text = plain(rest, |end| matches!(end, TagEnd::Heading(_)));
                let id = self.ids.next(&text);
                let open = format!("<{level} id=\"{}\">", escaped(&id));
                self.open = number(*level);
                self.headings.push(Heading { level: self.open, id, text });
                html(open)
            }
            Event::End(TagEnd::Heading(level)) => {
                self.open = 0;
                let heading = self.headings.last()?;
                let anchor = format!(
                    " <a class=\"guide-anchor\" href=\"#{}\" aria-label=\"Link to {}\">#</a>",
                    escaped(&heading.id),
                    escaped(&heading.text)
                );
                let anchor = if heading.level == 1 { "" } else { &anchor };
                html(format!("{anchor}</{level}>\n"))
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                self.in_link = true;
                let address = self.address(dest_url);
                html(format!("<a href=\"{}\">", escaped(&address)))
            }
            Event::End(TagEnd::Link) => {
                self.in_link = false;
                Some(event.clone())
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = CowStr::from(self.address(dest_url));
                let (title, id) = (title.clone(), id.clone());
                Some(Event::Start(Tag::Image { link_type: *link_type, dest_url, title, id }))
            }
            // What may be wider than the page scrolls by itself, by keys, too.
            Event::Start(Tag::CodeBlock(_)) => html("<pre tabindex=\"0\"><code>".to_owned()),
            Event::End(TagEnd::CodeBlock) => html("</code></pre>\n".to_owned()),
            // Without its columns' alignments: they would be written as styles, which the policy
            // of the page refuses.
            Event::Start(Tag::Table(_)) => {
                html("<div class=\"guide-table\" tabindex=\"0\"><table>".to_owned())
            }
            Event::End(TagEnd::Table) => html("</tbody></table></div>\n".to_owned()),
            Event::Code(text) if !self.in_link && self.open == 0 && is_page(text) => {
                let text = escaped(text);
                html(format!("<a href=\"{text}\"><code>{text}</code></a>"))
            }
            Event::Start(_)
            | Event::End(_)
            | Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule => Some(event.clone()),
        }
    }

    /// Where a link leads on the site.
    fn address(&self, link: &str) -> String {
        if link.starts_with('#') || link.contains("://") || link.starts_with("mailto:") {
            return link.to_owned();
        }
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (link, String::new()),
        };
        let file = below(self.chapter.file, path);
        if let Some(chapter) = CHAPTERS.iter().find(|chapter| chapter.file == file) {
            return format!("{}{anchor}", chapter.address());
        }
        if let Some(image) = file.strip_prefix("docs/images/") {
            return format!("/guide/images/{image}");
        }
        format!("{}/blob/main/{file}{anchor}", env!("CARGO_PKG_REPOSITORY"))
    }
}

/// A path relative to a file, from the root of the repository.
fn below(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn is_page(text: &str) -> bool {
    // `/` is a key, too.
    let has_row = text != "/" && site::Page::at(text).path() == text;
    has_row || ADDRESSES.contains(&text) || text.starts_with("/?") || text.starts_with("/compare?")
}

/// The text up to an end, without markup.
fn plain(events: &[Event<'_>], is_end: impl Fn(&TagEnd) -> bool) -> String {
    let mut text = String::new();
    for event in events {
        if matches!(event, Event::End(end) if is_end(end)) {
            break;
        }
        if let Event::Text(part) | Event::Code(part) = event {
            text.push_str(part);
        } else if matches!(event, Event::SoftBreak | Event::HardBreak) {
            text.push(' ');
        }
    }
    text
}

fn first_paragraph(events: &[Event<'_>]) -> String {
    let start = events.iter().position(|event| matches!(event, Event::Start(Tag::Paragraph)));
    let behind = start.map_or(&[][..], |start| &events[start + 1..]);
    plain(behind, |end| matches!(end, TagEnd::Paragraph))
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The anchors that GitHub gives to headings, so that a link holds in both places.
#[derive(Default)]
struct Ids(BTreeMap<String, u32>);

impl Ids {
    fn next(&mut self, text: &str) -> String {
        let lower = text.to_lowercase();
        let kept = lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let id: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = self.0.entry(id.clone()).or_default();
        *count += 1;
        match *count {
            1 => id,
            again => format!("{id}-{}", again - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(markdown: &'static str) -> Rendered {
        render(&Chapter { name: "x", file: "docs/guide/x.md", markdown })
    }

    #[test]
    fn headings_have_the_anchors_that_github_gives_them() {
        let page = of("# The `x` page\n\nIt is\n*about* x.\n\n## GB, GiB & more\n\n## moe_act\n\n\
                       ## moe_act\n");
        let ids: Vec<&str> = page.headings.iter().map(|heading| heading.id.as_str()).collect();
        assert_eq!(ids, ["the-x-page", "gb-gib--more", "moe_act", "moe_act-1"]);
        assert_eq!((page.title.as_str(), page.about.as_str()), ("The x page", "It is about x."));
        let anchor = "<h2 id=\"moe_act-1\">moe_act <a class=\"guide-anchor\" href=\"#moe_act-1\" \
                      aria-label=\"Link to moe_act\">#</a></h2>";
        assert!(page.html.contains(anchor), "{}", page.html);
    }

    #[test]
    fn links_between_files_become_addresses_of_the_site() {
        let page = of("[a](metrics.md#mfu) [b](../cli.md) [c](README.md) [d](#here) \
                       [e](../../ARCHITECTURE.md#code-map) [f](https://a.example/) \
                       ![g](../images/g.png)");
        for address in [
            "href=\"/guide/metrics#mfu\"",
            "href=\"/guide/cli\"",
            "href=\"/guide\"",
            "href=\"#here\"",
            "/blob/main/ARCHITECTURE.md#code-map\"",
            "href=\"https://a.example/\"",
            "<img src=\"/guide/images/g.png\" alt=\"g\" />",
        ] {
            assert!(page.html.contains(address), "{address}: {}", page.html);
        }
    }

    #[test]
    fn pages_and_designs_in_code_are_links_and_other_code_is_not() {
        let page = of(
            "`/trust` `/` `/s/ID` `/s` `/?v=1&preset=x` `/d/ID` [`/trust`](a.md)\n\n## `/trust`\n",
        );
        assert!(page.html.contains("<a href=\"/trust\"><code>/trust</code></a>"), "{}", page.html);
        let design = "<a href=\"/?v=1&amp;preset=x\"><code>/?v=1&amp;preset=x</code></a>";
        assert!(page.html.contains(design), "{}", page.html);
        assert_eq!(page.html.matches("<a href=\"/trust\">").count(), 1, "{}", page.html);
        for code in ["/d/ID", "/s/ID", "/s", "/"] {
            let code = format!(" <code>{code}</code> ");
            assert!(page.html.contains(&code), "{code}: {}", page.html);
        }
    }

    #[test]
    fn comments_are_left_out_and_nothing_is_markup_by_accident() {
        let page =
            of("# a <b>\n\n<!-- hidden -->\n\n```text\n<script>\n```\n\n| a |\n|---|\n| b |\n");
        assert!(!page.html.contains("hidden") && !page.html.contains("<script"), "{}", page.html);
        assert!(page.html.contains("<pre tabindex=\"0\"><code>&lt;script&gt;"), "{}", page.html);
        assert!(page.html.contains("<div class=\"guide-table\" tabindex=\"0\"><table>"));
        assert!(page.html.contains("</tbody></table></div>"), "{}", page.html);
    }
}
