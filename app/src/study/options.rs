//! What a reader has chosen to see in a study: names and values, written like a query string.

use std::fmt::Write as _;

use crate::insight::objective::{OBJECTIVES, Objective};
use crate::present::html::escaped;

/// The choices, such as `metric=mfu&x=parallel.expert_model_parallel_size`; what isn't chosen is
/// as usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options<'a>(pub &'a str);

impl<'a> Options<'a> {
    /// What was chosen under a name; nothing as well where nothing was.
    #[must_use]
    pub fn get(self, name: &str) -> &'a str {
        let pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next().unwrap_or_default()
    }
}

/// A choice as HTML; `items` are names with their labels.
pub(super) fn select(
    html: &mut String,
    (name, label): (&str, &str),
    chosen: &str,
    items: impl Iterator<Item = (String, String)>,
) {
    let _ = write!(html, "<label class=\"option\">{label} <select data-option=\"{name}\">");
    for (value, text) in items {
        let selected = if value == chosen { " selected=\"\"" } else { "" };
        let (value, text) = (escaped(&value), escaped(&text));
        let _ = write!(html, "<option value=\"{value}\"{selected}>{text}</option>");
    }
    html.push_str("</select></label>");
}

/// The choice of the metric that designs are compared by.
pub(super) fn metric(html: &mut String, chosen: Objective) {
    let metrics = OBJECTIVES.iter().map(|it| it.metric.metric());
    let metrics = metrics.map(|metric| (metric.name.to_owned(), metric.label.to_owned()));
    select(html, ("metric", "Metric"), chosen.metric.metric().name, metrics);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_chosen_is_empty() {
        let options = Options("metric=mfu&x=a.b&junk&y=");
        assert_eq!([options.get("metric"), options.get("x")], ["mfu", "a.b"]);
        assert_eq!([options.get("y"), options.get("z"), options.get("junk")], ["", "", ""]);
    }

    #[test]
    fn a_choice_has_its_value_selected() {
        let mut html = String::new();
        let items = [("a", "A & B"), ("c", "C")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        select(&mut html, ("x", "Knob"), "c", items.into_iter());
        assert!(html.contains("<option value=\"c\" selected=\"\">C</option>"), "{html}");
        assert!(html.contains(">A &amp; B</option>"), "{html}");
    }
}
