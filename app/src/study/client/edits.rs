//! What differs between two texts of HTML, as edits of the nodes that the first one made.
//!
//! Most marks of a chart stay as they are from one step of a knob to the next. To parse all of it
//! anew and lay it out takes longer than everything else that follows a change.

use std::ops::Range;

/// Elements that have no end.
const VOID: [&str; 6] = ["br", "col", "hr", "img", "input", "wbr"];

/// An edit of a node; its path goes from child to child, of the nodes as they are in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// A text has other words.
    Text(Vec<u32>, String),
    /// An attribute has another value, or none.
    Attribute(Vec<u32>, String, Option<String>),
    /// Some children of a node are replaced by what the HTML makes. These edits come before all of
    /// what lies further down.
    Children(Vec<u32>, Range<u32>, String),
}

/// A node of a text of HTML.
struct Node<'a> {
    /// Where it is in the text.
    at: Range<usize>,
    /// Empty for words.
    tag: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    children: Vec<Node<'a>>,
}

/// The edits that lead from one text to another; `None` where either isn't written as studies are,
/// or has controls, whose state isn't in the text.
pub(super) fn edits(before: &str, after: &str) -> Option<Vec<Edit>> {
    let [old, new] = [before, after].map(nodes);
    let mut all = Vec::new();
    compare(&mut all, &mut Vec::new(), (before, &old?), (after, &new?))?;
    Some(all)
}

fn compare(
    all: &mut Vec<Edit>,
    path: &mut Vec<u32>,
    (before, old): (&str, &[Node<'_>]),
    (after, new): (&str, &[Node<'_>]),
) -> Option<()> {
    let alike = |(one, other): &(&Node<'_>, &Node<'_>)| one.tag == other.tag;
    let first = old.iter().zip(new).take_while(alike).count();
    let most = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(most).take_while(alike).count();
    let [gone, come] = [old, new].map(|list| &list[first..list.len() - last]);
    if !(gone.is_empty() && come.is_empty()) {
        let html = match come {
            [one, .., other] => &after[one.at.start..other.at.end],
            [one] => &after[one.at.clone()],
            [] => "",
        };
        let range = first as u32..(first + gone.len()) as u32;
        all.push(Edit::Children(path.clone(), range, html.to_owned()));
    }
    let pairs = old.iter().zip(new).take(first).enumerate();
    let start = new.len() - last;
    let later = old[old.len() - last..].iter().zip(&new[start..]).enumerate();
    for (index, (one, other)) in pairs.chain(later.map(|(index, pair)| (start + index, pair))) {
        let [was, is] = [&before[one.at.clone()], &after[other.at.clone()]];
        if was == is {
            continue;
        }
        path.push(index as u32);
        if one.tag.is_empty() {
            all.push(Edit::Text(path.clone(), unescaped(is)?));
        } else {
            compare_attributes(all, path, one, other)?;
            compare(all, path, (before, &one.children), (after, &other.children))?;
        }
        path.pop();
    }
    Some(())
}

fn compare_attributes(
    all: &mut Vec<Edit>,
    path: &[u32],
    one: &Node<'_>,
    other: &Node<'_>,
) -> Option<()> {
    for (name, value) in &other.attributes {
        if !one.attributes.contains(&(name, value)) {
            all.push(Edit::Attribute(path.to_vec(), (*name).to_owned(), Some(unescaped(value)?)));
        }
    }
    for (name, _) in &one.attributes {
        if other.attributes.iter().all(|(kept, _)| kept != name) {
            all.push(Edit::Attribute(path.to_vec(), (*name).to_owned(), None));
        }
    }
    Some(())
}

/// The nodes of a text.
fn nodes(html: &str) -> Option<Vec<Node<'_>>> {
    // The open elements, around all of them one without a name.
    let root = Node { at: 0..0, tag: "", attributes: Vec::new(), children: Vec::new() };
    let mut open = vec![root];
    let mut at = 0;
    while at < html.len() {
        let rest = &html[at..];
        let length = match rest.strip_prefix('<') {
            None => rest.find('<').unwrap_or(rest.len()),
            // Attributes hold no `>` of their own: it is escaped.
            Some(_) => rest.find('>')? + 1,
        };
        let end = at + length;
        let piece = &html[at..end];
        if let Some(name) = piece.strip_prefix("</") {
            let mut node = open.pop().filter(|node| node.tag == name.trim_end_matches('>'))?;
            node.at.end = end;
            open.last_mut()?.children.push(node);
        } else if let Some(inside) = piece.strip_prefix('<') {
            let inside = inside.strip_suffix('>')?;
            let closed = inside.strip_suffix('/');
            let node = element(closed.unwrap_or(inside), at..end)?;
            // A browser puts rows into a body that the text may lack.
            let parent = open.last_mut()?;
            if node.tag == "tr" && !["", "thead", "tbody", "tfoot"].contains(&parent.tag) {
                return None;
            }
            if closed.is_some() || VOID.contains(&node.tag) {
                parent.children.push(node);
            } else {
                open.push(node);
            }
        } else {
            let text = Node { at: at..end, tag: "", attributes: Vec::new(), children: Vec::new() };
            open.last_mut()?.children.push(text);
        }
        at = end;
    }
    let root = open.pop()?;
    open.is_empty().then_some(root.children)
}

/// An element by what stands between its angle brackets.
fn element(inside: &str, at: Range<usize>) -> Option<Node<'_>> {
    let (tag, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '_');
        !name.is_empty() && name.chars().all(fits)
    };
    if !is_name(tag) || matches!(tag, "input" | "select" | "textarea" | "script" | "style") {
        return None;
    }
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Some(Node { at, tag, attributes, children: Vec::new() });
        }
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if !is_name(name) {
            return None;
        }
        let value = match after.strip_prefix("=\"") {
            Some(quoted) => {
                let (value, after) = quoted.split_once('"')?;
                rest = after;
                value
            }
            None if after.starts_with('=') => return None,
            None => {
                rest = after;
                ""
            }
        };
        attributes.push((name, value));
    }
}

/// What HTML says; `None` for a name that studies don't write.
fn unescaped(html: &str) -> Option<String> {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('&') {
        let (name, after) = after.split_once(';')?;
        text.push_str(before);
        text.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            _ => return None,
        });
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use model::link;

    use super::*;
    use crate::insight::numbers::Numbers;
    use crate::study::options::Options;
    use crate::study::{Study, Width, answer};

    /// A node as a browser holds it.
    #[derive(Clone, Debug, PartialEq)]
    enum Held {
        Text(String),
        Element(String, Vec<(String, String)>, Vec<Held>),
    }

    fn held(nodes: &[Node<'_>], html: &str) -> Vec<Held> {
        let attribute = |(name, value): &(&str, &str)| {
            ((*name).to_owned(), unescaped(value).expect("known names"))
        };
        let of = |node: &Node<'_>| match node.tag {
            "" => Held::Text(unescaped(&html[node.at.clone()]).expect("known names")),
            tag => Held::Element(
                tag.to_owned(),
                node.attributes.iter().map(attribute).collect(),
                held(&node.children, html),
            ),
        };
        nodes.iter().map(of).collect()
    }

    fn read(html: &str) -> Vec<Held> {
        held(&nodes(html).expect("HTML as studies have it"), html)
    }

    fn children<'a>(list: &'a mut Vec<Held>, path: &[u32]) -> &'a mut Vec<Held> {
        path.iter().fold(list, |list, index| match &mut list[*index as usize] {
            Held::Element(_, _, children) => children,
            Held::Text(_) => panic!("a text has no children"),
        })
    }

    fn apply(list: &mut Vec<Held>, edit: &Edit) {
        match edit {
            Edit::Children(path, range, html) => {
                let range = range.start as usize..range.end as usize;
                children(list, path).splice(range, read(html));
            }
            Edit::Text(path, text) => {
                let (last, path) = path.split_last().expect("a path");
                children(list, path)[*last as usize] = Held::Text(text.clone());
            }
            Edit::Attribute(path, name, value) => {
                let (last, path) = path.split_last().expect("a path");
                let node = &mut children(list, path)[*last as usize];
                let Held::Element(_, attributes, _) = node else { panic!("no element") };
                attributes.retain(|(other, _)| other != name);
                attributes.extend(value.clone().map(|value| (name.clone(), value)));
            }
        }
    }

    /// In which order attributes stand doesn't matter.
    fn sorted(list: &mut [Held]) {
        for node in list {
            if let Held::Element(_, attributes, children) = node {
                attributes.sort();
                sorted(children);
            }
        }
    }

    /// Checks that the edits lead to the text, and gives them.
    #[track_caller]
    fn check(before: &str, after: &str) -> Vec<Edit> {
        let edits = edits(before, after).expect("HTML as studies have it");
        let [mut found, mut expected] = [read(before), read(after)];
        edits.iter().for_each(|edit| apply(&mut found, edit));
        sorted(&mut found);
        sorted(&mut expected);
        assert_eq!(found, expected);
        edits
    }

    #[test]
    fn only_what_differs_is_edited() {
        assert!(check("<p class=\"x\">1</p>", "<p class=\"x\">1</p>").is_empty());
        let text = check("<g><text x=\"1\">a</text></g>", "<g><text x=\"1\">&lt;b</text></g>");
        assert_eq!(text, [Edit::Text(vec![0, 0, 0], "<b".to_owned())]);
        let value = check("<p>x</p><rect y=\"1\" x=\"1\"/>", "<p>x</p><rect y=\"1\" x=\"2\"/>");
        let two = Some("2".to_owned());
        assert_eq!(value, [Edit::Attribute(vec![1], "x".to_owned(), two)]);
        assert_eq!(check("<a hidden>x</a>", "<a>x</a>").len(), 1);
    }

    #[test]
    fn children_come_and_go_between_those_that_stay() {
        let [long, short] = ["<g><a/><b>1</b><b>2</b><c/></g>", "<g><a/><b>2</b><c/></g>"];
        check(long, short);
        check(short, long);
        check("<g>1<a/></g>", "<g/>");
        check("", "<g/>x");
        check("<p>a</p>b", "c<p>a</p>");
    }

    #[test]
    fn what_studies_do_not_write_is_not_edited() {
        for html in ["<p", "<p>", "</p>", "<a b='c'/>", "<table><tr></tr></table>", "<input/>"] {
            assert_eq!(edits("x", html), None, "{html}");
        }
        assert_eq!(edits("a", "&nbsp;"), None);
    }

    #[test]
    fn studies_lead_from_one_design_to_another() {
        let numbers = |query: &str| {
            Numbers::of(&link::decode(query).expect("a link")).expect("a legal design")
        };
        let queries = [
            "?",
            "?training.micro_batch_size=2",
            "?parallel.tensor_model_parallel_size=4",
            "?parallel.pipeline_model_parallel_size=8",
            "?preset=deepseek-v3-2k-h800",
        ];
        let all: Vec<Numbers> = queries.into_iter().map(numbers).collect();
        for study in [
            Study::Memory,
            Study::Step,
            Study::Communication,
            Study::Bubble,
            Study::Composition,
            Study::Balance,
        ] {
            for pair in all.windows(2) {
                let [one, other] = [&pair[0], &pair[1]].map(|numbers| {
                    answer::html(study, numbers, Width::Of(520), Options::default())
                });
                check(&one, &other);
                check(&other, &one);
            }
        }
    }
}
