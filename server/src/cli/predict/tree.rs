//! An explanation as an indented tree.

use model::Breakdown;
use model::metric::{MetricAddress, MetricId, MetricPart, MetricValue, Words};
use model::serving::ServingMetric;
use present::format::{self, Quantity};

/// The metric with its definition, then its terms, each indented below what it is a part of.
pub(super) fn of_metric(address: MetricAddress, root: &Breakdown) -> String {
    let id = address.metric;
    let metric = id.metric();
    let value = if id == MetricId::fits {
        MetricValue::Flag(root.value != 0.0)
    } else {
        MetricValue::Number(root.value)
    };
    let part =
        if address.part == MetricPart::Whole { String::new() } else { format!(" ({address})") };
    text(&format!("{}{part}", metric.label), &format::metric(id, value), id.words(), root)
}

/// Explanation of a serving metric, in the same form.
pub(in crate::cli) fn of_serving(id: ServingMetric, root: &Breakdown) -> String {
    text(id.metric().label, &format::served(id, root.value), id.words(), root)
}

fn text(label: &str, value: &Quantity, words: &Words, root: &Breakdown) -> String {
    let mut text = format!(
        "{label} = {value}\n    {}\n    {}  [{}]\n",
        words.definition, root.formula, root.source.title,
    );
    if let Some(substituted) = format::substituted(root) {
        text.push_str(&format!("    = {substituted}\n"));
    }
    root.children.iter().for_each(|child| term(child, 1, &mut text));
    text
}

fn term(breakdown: &Breakdown, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let value = format::in_unit(breakdown.value, breakdown.unit);
    text.push_str(&format!("{indent}{} = {value}\n", breakdown.name));
    if !breakdown.formula.is_empty() {
        text.push_str(&format!(
            "{indent}    {}  [{}]\n",
            breakdown.formula, breakdown.source.title
        ));
    }
    if let Some(substituted) = format::substituted(breakdown) {
        text.push_str(&format!("{indent}    = {substituted}\n"));
    }
    breakdown.children.iter().for_each(|child| term(child, depth + 1, text));
}
