//! An explanation as an indented tree.

use crate::report;
use model::Breakdown;
use model::design::file::json;
use model::metric::{MetricAddress, MetricId, MetricPart, Words};
use present::format::{self, Quantity};

/// The metric with its definition, then its terms, each indented below what it is a part of.
pub(super) fn of_metric(address: MetricAddress, root: &Breakdown) -> String {
    let id = address.metric;
    let metric = id.metric();
    let part =
        if address.part == MetricPart::Whole { String::new() } else { format!(" ({address})") };
    text(&format!("{}{part}", metric.label), &format::measured(id, root.value), id.words(), root)
}

/// A metric of another regime in the same form, or as JSON.
pub(in crate::cli) fn of_answer(id: MetricId, root: &Breakdown, as_json: bool) -> String {
    if as_json {
        return json::print(&report::breakdown(root));
    }
    text(id.metric().label, &format::measured(id, root.value), id.words(), root)
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
