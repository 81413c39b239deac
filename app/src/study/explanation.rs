//! What a metric is: definition, formula, source, how far it may be off, and the tree of its terms.

use maud::{Markup, html};
use model::explain::Breakdown;
use model::metric::MetricId;

use super::options::Options;
use crate::insight::numbers::Numbers;
use crate::present::format;
use crate::present::html::source;
use crate::present::range::expected;
use crate::site::Page;

/// So many levels of the tree stand open at first.
const OPEN_LEVELS: usize = 2;

/// The metric that the options name; MFU where they name none.
pub(super) fn html(numbers: &Numbers, options: Options<'_>) -> Markup {
    let id = MetricId::find(options.get("metric")).unwrap_or(MetricId::mfu);
    let (metric, words) = (id.metric(), id.words());
    let whole = model::explain(&numbers.plan, id);
    let error = expected(&numbers.plan, id).sentence(id, &numbers.estimate.metrics);
    html! {
        dl.explained {
            dt { "Definition" }
            dd { (words.definition) }
            dt { "Formula" }
            dd.formula { (words.formula) }
            dt { "Source" }
            dd { (source(words.source)) }
            dt { "Expected error" }
            dd {
                (error) " "
                a href=(Page::Trust.path()) { "How predictions compare with published runs" }
            }
            dt { "Id" }
            dd { a href={ "/guide/metrics#" (metric.name) } { code { (metric.name) } } }
        }
        h3 { "Terms" }
        (substituted(&whole))
        ul.terms { @for part in &whole.children { (term(part, 1, "")) } }
    }
}

/// The formula with its terms' values put in.
fn substituted(breakdown: &Breakdown) -> Markup {
    html! {
        @if let Some(text) = format::substituted(breakdown) { p.substituted { "= " (text) } }
    }
}

/// A term with its own terms below it; `above` are the names on the way to it.
fn term(breakdown: &Breakdown, level: usize, above: &str) -> Markup {
    let head = html! {
        span.term-name { (breakdown.name) }
        span.term-value { (format::in_unit(breakdown.value, breakdown.unit)) }
    };
    let formula = html! {
        @if !breakdown.formula.is_empty() { p.formula { (breakdown.formula) } }
    };
    if breakdown.children.is_empty() {
        return html! { li.term { div.term-head { (head) } (formula) } };
    }
    let path = format!("{above}/{}", breakdown.name);
    html! {
        li.term {
            details open=[(level < OPEN_LEVELS).then_some("")] {
                summary.term-head data-term=(path) { (head) }
                (formula)
                (substituted(breakdown))
                p.muted { (source(breakdown.source)) }
                ul.terms { @for child in &breakdown.children { (term(child, level + 1, &path)) } }
            }
        }
    }
}
