//! A page as a browser parses it: a test names elements by selectors and says what they show.

use scraper::node::Node;
use scraper::{ElementRef, Html, Selector};

/// Elements that stand in the run of a line: nothing separates their text from their neighbours',
/// but for links that look like buttons.
const INLINE: [&str; 17] = [
    "a", "abbr", "b", "bdi", "code", "em", "i", "mark", "q", "s", "small", "span", "strong", "sub",
    "sup", "time", "wbr",
];

/// Elements whose text nobody sees.
const UNSEEN: [&str; 4] = ["head", "script", "style", "template"];

/// A parsed page, or a piece of one.
pub struct Page(Html);

impl Page {
    /// A document, or a piece of one, which then stands in a body.
    pub fn new(html: &str) -> Self {
        Self(Html::parse_document(html))
    }

    /// Number of the elements that a selector finds.
    #[track_caller]
    pub fn count(&self, selector: &str) -> usize {
        let selector = parsed(selector);
        self.0.select(&selector).count()
    }

    /// Whether a selector finds something.
    #[track_caller]
    pub fn has(&self, selector: &str) -> bool {
        self.count(selector) > 0
    }

    /// Whether something links to this address.
    pub fn has_link(&self, address: &str) -> bool {
        self.links().iter().any(|link| link == address)
    }

    /// Addresses of all links, in their order.
    pub fn links(&self) -> Vec<String> {
        self.attributes("a[href]", "href")
    }

    /// The one element of a selector as a page of its own.
    #[track_caller]
    pub fn part(&self, selector: &str) -> Self {
        piece(self.one(selector))
    }

    /// Elements of a selector, each as a page of its own.
    #[track_caller]
    pub fn parts(&self, selector: &str) -> Vec<Self> {
        self.0.select(&parsed(selector)).map(piece).collect()
    }

    /// Text that the one element of a selector shows; white space is folded.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        shown(self.one(selector))
    }

    /// Markup inside of the one element of a selector.
    #[track_caller]
    pub fn markup(&self, selector: &str) -> String {
        self.one(selector).inner_html()
    }

    /// Texts of the elements of a selector, in their order.
    #[track_caller]
    pub fn texts(&self, selector: &str) -> Vec<String> {
        self.0.select(&parsed(selector)).map(shown).collect()
    }

    /// Text that the whole page shows.
    pub fn words(&self) -> String {
        shown(self.0.root_element())
    }

    /// Whether the page shows these words: in its text, not in markup, attributes or scripts.
    pub fn says(&self, words: &str) -> bool {
        self.words().contains(words)
    }

    /// An attribute of the one element of a selector.
    #[track_caller]
    pub fn attribute(&self, selector: &str, name: &str) -> String {
        let element = self.one(selector);
        element.attr(name).unwrap_or_else(|| panic!("no {name} in {}", element.html())).to_owned()
    }

    /// An attribute of the elements of a selector that have it, in their order.
    #[track_caller]
    pub fn attributes(&self, selector: &str, name: &str) -> Vec<String> {
        let selector = parsed(selector);
        self.0
            .select(&selector)
            .filter_map(|element| Some(element.attr(name)?.to_owned()))
            .collect()
    }

    /// Cells of the one row of a table whose first cell has this text, that cell left out.
    #[track_caller]
    pub fn row(&self, first: &str) -> Vec<String> {
        let cell = parsed("th, td");
        let rows: Vec<Vec<String>> = self
            .0
            .select(&parsed("tr"))
            .map(|row| row.select(&cell).map(shown).collect::<Vec<_>>())
            .filter(|cells| cells.first().is_some_and(|cell| cell == first))
            .collect();
        assert_eq!(rows.len(), 1, "rows of {first}: {rows:?}");
        rows[0][1..].to_vec()
    }

    /// Ids that are on the page twice, and references to ids that aren't: none on a good page.
    pub fn wrong_ids(&self) -> Vec<String> {
        let ids = self.attributes("[id]", "id");
        let twice = ids.iter().enumerate().filter(|(place, id)| ids[..*place].contains(id));
        let mut wrong: Vec<String> = twice.map(|(_, id)| id.clone()).collect();
        for name in ["for", "aria-labelledby", "aria-describedby", "aria-controls"] {
            let references = self.attributes(&format!("[{name}]"), name);
            let to = references.iter().flat_map(|ids| ids.split_whitespace());
            wrong.extend(to.filter(|id| !ids.iter().any(|known| known == id)).map(str::to_owned));
        }
        wrong
    }

    #[track_caller]
    fn one(&self, selector: &str) -> ElementRef<'_> {
        let wanted = parsed(selector);
        let found: Vec<ElementRef<'_>> = self.0.select(&wanted).collect();
        let places = || found.iter().map(|element| element.html()).collect::<Vec<_>>().join("\n");
        let shown = if found.is_empty() { self.0.html() } else { places() };
        assert_eq!(found.len(), 1, "elements of {selector} in {shown}");
        found[0]
    }
}

/// An element as a page; what is a part of a table stands in one.
fn piece(element: ElementRef<'_>) -> Page {
    let html = element.html();
    Page::new(&match element.value().name() {
        "td" | "th" => format!("<table><tr>{html}</tr></table>"),
        "tr" | "tbody" | "thead" => format!("<table>{html}</table>"),
        _ => html,
    })
}

#[track_caller]
fn parsed(selector: &str) -> Selector {
    Selector::parse(selector).unwrap_or_else(|error| panic!("{selector}: {error}"))
}

/// Text of an element as it is read: words that stand in different blocks don't run together.
fn shown(element: ElementRef<'_>) -> String {
    let mut text = String::new();
    write(element, &mut text);
    // A space that doesn't break is the page's own.
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn write(element: ElementRef<'_>, text: &mut String) {
    for child in element.children() {
        if let Node::Text(words) = child.value() {
            text.push_str(words);
        }
        let Some(inner) = ElementRef::wrap(child) else { continue };
        let name = inner.value().name();
        if UNSEEN.contains(&name) {
            continue;
        }
        let is_inline = INLINE.contains(&name) && !inner.value().classes().any(|it| it == "button");
        let gap = if is_inline { "" } else { " " };
        text.push_str(gap);
        write(inner, text);
        text.push_str(gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!doctype html><html><head><title>T</title></head><body><h1>A <b>b</b>\n\
        c</h1><script>let x = 'hidden';</script><p title=\"not shown\">1 &lt; 2</p><p>next</p>\
        <a href=\"/?a=1&amp;b=2\">on</a><table><tr><th>MFU<td>30&nbsp;%<td>x</table></body></html>";

    #[test]
    fn text_is_what_a_reader_sees() {
        let page = Page::new(PAGE);
        assert_eq!(page.text("h1"), "A b c");
        assert_eq!(page.text("title"), "T");
        assert_eq!(page.words(), "A b c 1 < 2 next on MFU 30\u{a0}% x");
        assert!(page.says("2 next") && !page.says("hidden") && !page.says("not shown"));
    }

    #[test]
    fn elements_are_counted_and_read_by_selectors() {
        let page = Page::new(PAGE);
        assert_eq!((page.count("p"), page.has("p[title]"), page.has("form")), (2, true, false));
        assert_eq!(page.texts("p"), ["1 < 2", "next"]);
        assert_eq!(page.attribute("p[title]", "title"), "not shown");
        assert_eq!(page.links(), ["/?a=1&b=2"]);
        assert!(page.has_link("/?a=1&b=2") && !page.has_link("/?a=1"));
        assert_eq!(page.row("MFU"), ["30\u{a0}%", "x"]);
        assert_eq!(page.part("h1").texts("b"), ["b"]);
        assert_eq!(page.part("tr").row("MFU"), page.row("MFU"));
    }

    #[test]
    fn ids_that_are_there_twice_or_not_at_all_are_wrong() {
        let page = Page::new("<p id=a></p><p id=b></p><label for=a>A</label>");
        assert_eq!(page.wrong_ids(), [""; 0]);
        let page = Page::new("<p id=a></p><p id=a></p><p aria-labelledby='a c'>A</p>");
        assert_eq!(page.wrong_ids(), ["a", "c"]);
    }

    #[test]
    #[should_panic(expected = "elements of p in")]
    fn one_of_several_is_a_mistake_of_the_test() {
        Page::new(PAGE).text("p");
    }
}
