//! Speaking to someone by `@name`: which names are offered while one writes, and which a text
//! names.

/// Names that are offered at once.
const MAX_OFFERED: usize = 6;

/// Text before a place, which is counted as browsers count: in UTF-16.
pub fn up_to(text: &str, place: Option<u32>) -> &str {
    let Some(place) = place else { return text };
    let mut left = place as usize;
    for (at, letter) in text.char_indices() {
        if left < letter.len_utf16() {
            return &text[..at];
        }
        left -= letter.len_utf16();
    }
    text
}

/// Offset of the `@` of a name that is being written at the end of a text.
pub fn begun(before: &str) -> Option<usize> {
    let at = before.rfind('@')?;
    let is_word = before[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let rest = &before[at + 1..];
    (!is_word && !rest.contains('\n') && rest.chars().count() <= 40).then_some(at)
}

/// The names that begin so, whatever the case; `lowered` gives a text in small letters, as a
/// browser has them at hand.
pub fn fitting(start: &str, names: Vec<String>, lowered: fn(&str) -> String) -> Vec<String> {
    let start = lowered(start);
    let fits = |name: &String| lowered(name).starts_with(&start) && *name != start;
    names.into_iter().filter(fits).take(MAX_OFFERED).collect()
}

/// The name that follows an `@` at the start of a text: the longest of those known.
fn named<'a>(after: &str, names: &'a [String]) -> Option<&'a String> {
    let fits = |name: &&String| {
        let rest = after.strip_prefix(name.as_str());
        !name.is_empty()
            && rest.is_some_and(|rest| !rest.chars().next().is_some_and(char::is_alphanumeric))
    };
    names.iter().filter(fits).max_by_key(|name| name.len())
}

/// Whether a text mentions that person. A longer name that begins the same is someone else.
pub fn is_named(text: &str, name: &str, names: &[String]) -> bool {
    !name.is_empty()
        && text.match_indices('@').any(|(at, _)| {
            let is_word = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            !is_word && named(&text[at + 1..], names).is_some_and(|found| found == name)
        })
}

/// HTML of a text with the names that it speaks to marked; `escaped` are the names as HTML has
/// them, and `you` is the reader's.
pub fn marked(html: &str, escaped: &[String], you: &str) -> String {
    let mut text = String::with_capacity(html.len() + 64);
    let mut rest = html;
    while let Some(at) = rest.find(['@', '<']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if from.starts_with('<') {
            // Names in a tag are an address's.
            let end = from.find('>').map_or(from.len(), |end| end + 1);
            text.push_str(&from[..end]);
            rest = &from[end..];
            continue;
        }
        let is_word = text.chars().next_back().is_some_and(char::is_alphanumeric);
        let found = if is_word { None } else { named(&from[1..], escaped) };
        let length = found.map_or(0, String::len) + 1;
        if let Some(name) = found {
            let class = if name == you { "mention you" } else { "mention" };
            text.push_str("<span class=\"");
            text.push_str(class);
            text.push_str("\">@");
            text.push_str(name);
            text.push_str("</span>");
        } else {
            text.push('@');
        }
        rest = &from[length..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["Ann", "Ann Lee", "Bo", "王"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_name_is_offered_while_it_is_written() {
        assert_eq!(begun("see @An"), Some(4));
        assert_eq!(begun("@"), Some(0));
        for not in ["ann@example", "no name", "@Ann\nnext"] {
            assert_eq!(begun(not), None, "{not}");
        }
        assert_eq!(fitting("an", names(), str::to_lowercase), ["Ann", "Ann Lee"]);
        assert_eq!(fitting("x", names(), str::to_lowercase), [""; 0]);
        assert_eq!(up_to("a王😀b", Some(4)), "a王😀");
        assert_eq!(up_to("ab", None), "ab");
    }

    #[test]
    fn the_longest_name_is_meant() {
        let says = |text, name| is_named(text, name, &names());
        assert!(says("@Ann, look", "Ann") && !says("@Ann Lee, look", "Ann"));
        assert!(says("@Ann Lee, look", "Ann Lee") && says("and @王", "王"));
        assert!(!says("@Annabel", "Ann") && !says("mail ann@Bo.example", "Bo"));
        assert!(!says("@", ""));
    }

    #[test]
    fn names_are_marked_in_text_and_not_in_tags() {
        let html = "<p><a href=\"/?x=@Bo\">@Bo</a> and a@Bo, @Ann Lee</p>";
        let expected = "<p><a href=\"/?x=@Bo\"><span class=\"mention\">@Bo</span></a> and a@Bo, \
                        <span class=\"mention you\">@Ann Lee</span></p>";
        assert_eq!(marked(html, &names(), "Ann Lee"), expected);
        assert_eq!(marked("@<b", &names(), ""), "@<b");
    }
}
