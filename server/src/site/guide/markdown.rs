//! A Markdown file of the guide as HTML: headings with anchors, links that fit the site.

use std::borrow::Cow;
use std::collections::BTreeMap;

use present::html::escaped;
use present::site;
use pulldown_cmark::{
    CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream, html,
};

use super::chapters::{Chapter, Text};
use crate::site::language::Language;
use crate::site::translation::said_in_chinese;

/// Addresses that become a link in `code`, beside those of the site's pages.
const ADDRESSES: [&str; 3] = ["/r/new", "/api/v1/validation.csv", "/api/v1/openapi.json"];

/// Marker that begins and ends a part that a test writes; the part's name and ` -->` follow.
const START: &str = "<!-- generated: ";
const END: &str = "<!-- end of ";

/// The level of the headings of knobs and metrics.
const ENTRY: HeadingLevel = HeadingLevel::H3;

/// A heading that can be linked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// 1 for the title.
    pub(crate) level: u8,
    /// Anchor, as it follows `#`: the same in every language.
    pub(crate) id: String,
    /// Text of the heading.
    pub(crate) text: String,
}

/// A chapter as HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// Language of the text.
    pub(crate) language: Language,
    /// The first heading.
    pub(crate) title: String,
    /// The first paragraph, without markup.
    pub(crate) about: String,
    /// Every heading, in order.
    pub(crate) headings: Vec<Heading>,
    /// The text, its title included.
    pub(crate) html: String,
}

/// Renders a chapter as it is written.
pub(super) fn english(text: &Text) -> Rendered {
    render(Page::new(text.file, Language::English), text.markdown)
}

/// Renders a chapter in Chinese, with the anchors that it has in English; `None` if it has no
/// Chinese text. What is generated comes from the English one.
pub(super) fn chinese(chapter: &Chapter, english: &Rendered) -> Option<Rendered> {
    let text = chapter.chinese?;
    let markdown = filled(text.markdown, chapter.english.markdown);
    let generated_file = chapter.english.file;
    let page = Page::new(text.file, Language::Chinese);
    Some(render(Page { generated_file, known: &english.headings, ..page }, &markdown))
}

fn render(mut page: Page<'_>, markdown: &str) -> Rendered {
    let events = TextMergeStream::new(Parser::new_ext(markdown, Options::ENABLE_TABLES));
    let events: Vec<Event<'_>> = events.map(|event| page.said(event)).collect();
    let mut written = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        written.extend(page.event(event, &events[index + 1..]));
    }
    let mut html = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut html, written.into_iter());
    let title = page.headings.first().map_or_else(String::new, |first| first.text.clone());
    let (language, about) = (page.language, first_paragraph(&events));
    Rendered { language, title, about, headings: page.headings, html }
}

/// A text whose generated parts are those of another one.
fn filled<'a>(markdown: &'a str, from: &str) -> Cow<'a, str> {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some(at) = rest.find(START) {
        let (before, part) = rest.split_at(at);
        let name = part[START.len()..].split(' ').next().unwrap_or_default();
        let (start, end) = (format!("{START}{name} -->"), format!("{END}{name} -->"));
        let whole = |text: &str| {
            let (_, text) = text.split_once(&start)?;
            Some(text.split_once(&end)?.0.to_owned())
        };
        let (Some(inside), Some((_, after))) = (whole(from), part.split_once(&end)) else { break };
        text.extend([before, &start, &inside, &end]);
        rest = after;
    }
    if text.is_empty() {
        return Cow::Borrowed(markdown);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Chinese for a generated part: as a whole, or by what it is made of, such as the name in front of
/// a colon and the items of a list; `None` if a part of it isn't known.
fn said(text: &str) -> Option<String> {
    let words = text.trim();
    if let Some(said) = said_in_chinese(words) {
        return Some(text.replace(words, &said));
    }
    for (end, stop) in [('.', "。"), (':', "："), (',', "、")] {
        if let Some(rest) = words.strip_suffix(end) {
            return Some(said(rest)? + stop);
        }
    }
    if is_name(words) {
        return Some(text.to_owned());
    }
    if let Some((name, rest)) = text.split_once(": ") {
        return Some(format!("{}：{}", said(name)?, said(rest)?));
    }
    for (between, joint) in [("; ", "；"), (", ", "、")] {
        if text.contains(between) {
            let parts: Option<Vec<String>> = text.split(between).map(said).collect();
            return Some(parts?.join(joint));
        }
    }
    None
}

/// Whether this is a name or an id, which is the same in every language.
fn is_name(text: &str) -> bool {
    let is_word = |word: &str| {
        let is_special = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        word.contains(|c: char| c.is_ascii_lowercase()) && !word.contains(is_special)
    };
    !text.split_whitespace().any(is_word)
}

/// State on the way through a file.
struct Page<'a> {
    language: Language,
    /// File that its links are relative to, and that of its generated parts.
    file: &'static str,
    generated_file: &'static str,
    /// The headings of the same text whose anchors it has.
    known: &'a [Heading],
    /// Whether a generated part is open.
    is_generated: bool,
    /// Whether the heading of an entry of such a part is open.
    is_entry: bool,
    ids: Ids,
    headings: Vec<Heading>,
    in_link: bool,
    /// The level of the heading that is open, or 0.
    open: u8,
}

impl<'a> Page<'a> {
    fn new(file: &'static str, language: Language) -> Self {
        let (generated_file, known) = (file, &[][..]);
        let (ids, headings) = (Ids::default(), vec![]);
        let (is_generated, is_entry, in_link, open) = (false, false, false, 0);
        Self {
            language,
            file,
            generated_file,
            known,
            is_generated,
            is_entry,
            ids,
            headings,
            in_link,
            open,
        }
    }

    /// The event, with what is generated said in the page's language.
    fn said<'e>(&mut self, event: Event<'e>) -> Event<'e> {
        self.follow(&event);
        if let Event::Text(text) = &event
            && self.is_translated()
            && let Some(said) = said(text)
        {
            return Event::Text(said.into());
        }
        event
    }

    /// Notes where generated parts and their entries begin and end.
    fn follow(&mut self, event: &Event<'_>) {
        if let Event::Html(comment) = event {
            self.is_generated |= comment.starts_with(START);
            self.is_generated &= !comment.starts_with(END);
        }
        self.is_entry |=
            matches!(event, Event::Start(Tag::Heading { level, .. }) if *level == ENTRY);
        self.is_entry &= !matches!(event, Event::End(TagEnd::Heading(_)));
    }

    /// Whether text at this place is to be translated: entries are named by their ids.
    fn is_translated(&self) -> bool {
        self.language == Language::Chinese && self.is_generated && !self.is_entry
    }

    /// The anchor of the next heading.
    fn id(&mut self, text: &str) -> String {
        let own = self.ids.next(text);
        self.known.get(self.headings.len()).map_or(own, |known| known.id.clone())
    }

    /// Event to write for `event`, if any; `rest` are those behind it.
    fn event<'e>(&mut self, event: &Event<'e>, rest: &[Event<'e>]) -> Option<Event<'e>> {
        self.follow(event);
        let html = |text: String| Some(Event::Html(text.into()));
        match event {
            // Comments are for those who write; there is no other HTML.
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Start(Tag::HtmlBlock)
            | Event::End(TagEnd::HtmlBlock) => None,
            Event::Start(Tag::Heading { level, .. }) => {
                let text = plain(rest, |end| matches!(end, TagEnd::Heading(_)));
                let id = self.id(&text);
                let open = format!("<{level} id=\"{}\">", escaped(&id));
                self.open = number(*level);
                self.headings.push(Heading { level: self.open, id, text });
                html(open)
            }
            Event::End(TagEnd::Heading(level)) => {
                self.open = 0;
                let heading = self.headings.last()?;
                let label = match self.language {
                    Language::English => format!("Link to {}", heading.text),
                    Language::Chinese => format!("链接到：{}", heading.text),
                };
                let anchor = format!(
                    " <a class=\"guide-anchor\" href=\"#{}\" aria-label=\"{}\">#</a>",
                    escaped(&heading.id),
                    escaped(&label)
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

    /// Address on the site that a link leads to.
    fn address(&self, link: &str) -> String {
        let is_whole = ["#", "/?", "mailto:"].iter().any(|start| link.starts_with(start));
        if is_whole || link.contains("://") {
            return link.to_owned();
        }
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (link, String::new()),
        };
        let file = below(if self.is_generated { self.generated_file } else { self.file }, path);
        if let Some(chapter) = Chapter::of_file(&file) {
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
#[expect(clippy::wildcard_enum_match_arm, reason = "few events of Markdown matter")]
mod tests {
    use std::collections::BTreeSet;

    use super::super::chapters::CHAPTERS;
    use testing::page::Page as Html;

    use super::*;

    fn of(markdown: &'static str) -> Rendered {
        english(&Text { file: "docs/guide/x.md", markdown })
    }

    #[test]
    fn headings_have_the_anchors_that_github_gives_them() {
        let page = of("# The `x` page\n\nIt is\n*about* x.\n\n## GB, GiB & more\n\n## moe_act\n\n\
                       ## moe_act\n");
        let ids: Vec<&str> = page.headings.iter().map(|heading| heading.id.as_str()).collect();
        assert_eq!(ids, ["the-x-page", "gb-gib--more", "moe_act", "moe_act-1"]);
        assert_eq!((page.title.as_str(), page.about.as_str()), ("The x page", "It is about x."));
        let anchor =
            "h2#moe_act-1 > a.guide-anchor[href='#moe_act-1'][aria-label='Link to moe_act']";
        assert_eq!(Html::new(&page.html).text(anchor), "#");
    }

    #[test]
    fn links_between_files_become_addresses_of_the_site() {
        let page = of("[a](metrics.md#mfu) [b](../cli.md) [c](README.md) [d](#here) \
                       [e](../../ARCHITECTURE.md#code-map) [f](https://a.example/) \
                       ![g](../images/g.png)");
        let html = Html::new(&page.html);
        let mut links = html.links();
        let source = links.remove(4);
        assert!(source.ends_with("/blob/main/ARCHITECTURE.md#code-map"), "{source}");
        let own = ["/guide/metrics#mfu", "/guide/cli", "/guide", "#here"];
        assert_eq!(links, [&own[..], &["https://a.example/"]].concat());
        assert_eq!(html.attribute("img[alt=g]", "src"), "/guide/images/g.png");
    }

    #[test]
    fn pages_and_designs_in_code_are_links_and_other_code_is_not() {
        let page = of(
            "`/trust` `/` `/s/ID` `/s` `/?v=1&preset=x` `/d/ID` [`/trust`](a.md)\n\n## `/trust`\n",
        );
        let html = Html::new(&page.html);
        assert_eq!(html.text("a[href='/trust'] > code"), "/trust");
        assert_eq!(html.text("a[href='/?v=1&preset=x'] > code"), "/?v=1&preset=x");
        assert_eq!(html.texts("p > code"), ["/", "/s/ID", "/s", "/d/ID"]);
    }

    /// Names of papers and programs, which link to them, stay.
    #[test]
    fn what_is_generated_is_said_in_chinese() {
        let mut missing = BTreeSet::new();
        for chapter in CHAPTERS.iter().filter(|chapter| chapter.chinese.is_some()) {
            let mut page = Page::new(chapter.english.file, Language::Chinese);
            let mut is_source = false;
            let markdown = chapter.english.markdown;
            for event in TextMergeStream::new(Parser::new_ext(markdown, Options::ENABLE_TABLES)) {
                page.follow(&event);
                match event {
                    Event::Start(Tag::Link { dest_url, .. }) => {
                        is_source = dest_url.contains("://");
                    }
                    Event::End(TagEnd::Link) => is_source = false,
                    Event::Text(text) if page.is_translated() && !is_source => {
                        missing.extend(said(&text).is_none().then(|| text.into_string()));
                    }
                    _ => {}
                }
            }
        }
        let missing: Vec<String> = missing.into_iter().collect();
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }

    #[test]
    fn comments_are_left_out_and_nothing_is_markup_by_accident() {
        let page =
            of("# a <b>\n\n<!-- hidden -->\n\n```text\n<script>\n```\n\n| a |\n|---|\n| b |\n");
        assert!(!page.html.contains("hidden"), "{}", page.html);
        let html = Html::new(&page.html);
        assert!(!html.has("script"));
        assert_eq!(html.text("pre[tabindex='0'] > code"), "<script>");
        assert_eq!(html.texts("div.guide-table[tabindex='0'] > table td"), ["b"]);
    }
}
