//! An explanation as an indented tree.

use app::format;
use model::Breakdown;
use model::metric::{MetricId, MetricValue};

/// The metric with its definition, then its terms, each indented below what it is a part of.
pub(super) fn text(id: MetricId, root: &Breakdown) -> String {
    let metric = id.metric();
    let value = if id == MetricId::fits {
        MetricValue::Flag(root.value != 0.0)
    } else {
        MetricValue::Number(root.value)
    };
    let mut text = format!(
        "{} = {}\n    {}\n    {}  [{}]\n",
        metric.label,
        format::metric(id, value),
        metric.definition,
        root.formula,
        root.source.title,
    );
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
    breakdown.children.iter().for_each(|child| term(child, depth + 1, text));
}
