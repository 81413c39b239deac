//! A page in another language: its texts, and the attributes that are read.

use std::cell::Cell;
use std::rc::Rc;

use html_escape::{decode_html_entities, encode_text};
use lol_html::errors::RewritingError;
use lol_html::html_content::{ContentType, Element, TextChunk};
use lol_html::{HandlerResult, RewriteStrSettings, doc_text, element, end_tag, rewrite_str};

use super::dictionary::Dictionary;

/// Attributes that people read or hear.
const READ: [&str; 7] =
    ["title", "aria-label", "aria-valuetext", "placeholder", "alt", "label", "data-label"];

/// Elements whose text is in no language. An option without a value has its text for one.
const NO_LANGUAGE: &str = "script, style, code, pre, kbd, textarea, option:not([value])";

/// Elements whose text is somebody's own, such as a name or a comment.
const OWN: &str = "[translate=no]";

/// Elements that search engines and previews show.
const ABOUT: &str =
    "meta[name=description], meta[property=\"og:title\"], meta[property=\"og:description\"]";

/// Number of open elements whose words are left.
type Open = Rc<Cell<u32>>;

/// A page with its words translated by the dictionary, for readers of that language.
pub(super) fn translated(
    html: &str,
    dictionary: &Dictionary,
    language: &str,
) -> Result<String, RewritingError> {
    let (left, own) = (Open::default(), Open::default());
    let mut words = String::new();
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("html", |html| {
            Ok(html.set_attribute("lang", language)?)
        }))
        .append_element_content_handler(element!(OWN, |element| leave(element, &own)))
        .append_element_content_handler(element!(NO_LANGUAGE, |element| leave(element, &left)))
        .append_element_content_handler(element!("*", |element| {
            let names = if own.get() == 0 { &READ[..] } else { &[] };
            names.iter().try_for_each(|name| translate_attribute(element, name, dictionary))
        }))
        .append_element_content_handler(element!(ABOUT, |meta| {
            translate_attribute(meta, "content", dictionary)
        }))
        .append_document_content_handler(doc_text!(|chunk| {
            if left.get() == 0 && own.get() == 0 {
                translate_text(chunk, &mut words, dictionary);
            }
            Ok(())
        }));
    rewrite_str(html, settings)
}

/// Counts an element as open until its end.
fn leave(element: &mut Element<'_, '_>, open: &Open) -> HandlerResult {
    if !element.can_have_content() {
        return Ok(());
    }
    open.set(open.get() + 1);
    let open = Rc::clone(open);
    element.on_end_tag(end_tag!(move |_| {
        open.set(open.get().saturating_sub(1));
        Ok(())
    }))
}

fn translate_attribute(
    element: &mut Element<'_, '_>,
    name: &str,
    dictionary: &Dictionary,
) -> HandlerResult {
    let Some(value) = element.get_attribute(name) else { return Ok(()) };
    if let Some(translated) = dictionary.translate_spaced(&decode_html_entities(&value)) {
        // Quotes are the rewriter's to escape.
        element.set_attribute(name, &encode_text(&translated))?;
    }
    Ok(())
}

/// A text may come in pieces: it is translated when its last one has come.
fn translate_text(chunk: &mut TextChunk<'_>, words: &mut String, dictionary: &Dictionary) {
    words.push_str(chunk.as_str());
    if !chunk.last_in_text_node() {
        chunk.remove();
        return;
    }
    let text = std::mem::take(words);
    match dictionary.translate_spaced(&decode_html_entities(&text)) {
        Some(translated) => chunk.replace(&translated, ContentType::Text),
        None => chunk.replace(&text, ContentType::Html),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let words = [r#"{
            "Undo": "撤销",
            "Pins & cuts": "图钉 <和> 剪切",
            "A \"big\" one": "一个“大”的 \"东西\" & 更多"
        }"#];
        let dictionary = Dictionary::new(&words, "{}");
        assert_eq!(translated(html, &dictionary, "zh-CN").expect("HTML"), expected);
    }

    #[test]
    fn texts_and_what_is_read_aloud_are_said() {
        check("<p> Undo\n</p>", "<p> 撤销\n</p>");
        check("<p>Undo<!>Undo</p>", "<p>撤销<!>撤销</p>");
        check("<title>Undo</title>", "<title>撤销</title>");
        check("<img alt=\"Undo\" data-step=\"Undo\">", "<img alt=\"撤销\" data-step=\"Undo\">");
        check("<html lang=\"en\">", "<html lang=\"zh-CN\">");
    }

    #[test]
    fn what_is_said_is_text_again() {
        check("<p>Pins &amp; cuts</p>", "<p>图钉 &lt;和&gt; 剪切</p>");
        check(
            "<p title=\"A &quot;big&quot; one\">x &lt; y</p>",
            "<p title=\"一个“大”的 &quot;东西&quot; &amp; 更多\">x &lt; y</p>",
        );
    }

    #[test]
    fn code_and_what_is_somebodys_own_stay() {
        let html = "<code>Undo</code><p translate=\"no\" title=\"Undo\"><b>Undo</b></p>\
                    <textarea placeholder=\"Undo\">Undo</textarea><select><option>Undo</option>\
                    <option value=\"u\">Undo</option></select><script>Undo</script>Undo";
        let expected = "<code>Undo</code><p translate=\"no\" title=\"Undo\"><b>Undo</b></p>\
                        <textarea placeholder=\"撤销\">Undo</textarea><select>\
                        <option>Undo</option><option value=\"u\">撤销</option></select>\
                        <script>Undo</script>撤销";
        check(html, expected);
    }

    #[test]
    fn a_page_without_known_words_stays_as_it_is() {
        let html = "<!DOCTYPE html>\n<p class='x'>1 &lt; 2 &amp;&nbsp;3<br/>é</p><svg><g/></svg>";
        check(html, html);
    }
}
