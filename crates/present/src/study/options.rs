//! What a reader has chosen to see in a study: names and values, written like a query string.

use maud::{Markup, html};

use crate::insight::objective::{OBJECTIVES, Objective};

/// The choices, such as `metric=mfu&x=parallel.expert_model_parallel_size`; what isn't chosen is
/// as usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options<'a>(pub &'a str);

impl<'a> Options<'a> {
    /// Value chosen under a name; empty if there is none.
    #[must_use]
    pub fn get(self, name: &str) -> &'a str {
        let pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next().unwrap_or_default()
    }
}

/// A choice as HTML; `items` are names with their labels.
pub(super) fn select(
    (name, label): (&str, &str),
    chosen: &str,
    items: impl Iterator<Item = (String, String)>,
) -> Markup {
    html! {
        label.option {
            (label) " "
            select data-option=(name) {
                @for (value, text) in items {
                    option value=(value) selected=[(value == chosen).then_some("")] { (text) }
                }
            }
        }
    }
}

/// The choice of the metric that designs are compared by.
pub(super) fn metric(chosen: Objective) -> Markup {
    let metrics = OBJECTIVES.iter().map(|it| it.metric.metric());
    let metrics = metrics.map(|metric| (metric.name.to_owned(), metric.label.to_owned()));
    select(("metric", "Metric"), chosen.metric.metric().name, metrics)
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
        let items = [("a", "A & B"), ("c", "C")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let html = select(("x", "Knob"), "c", items.into_iter()).into_string();
        assert!(html.contains("<option value=\"c\" selected=\"\">C</option>"), "{html}");
        assert!(html.contains(">A &amp; B</option>"), "{html}");
    }
}
