//! A number's terms as a tree that opens, as HTML text.

use maud::{Markup, html};
use model::metric::MetricId;
use model::{Answer, Breakdown};

use super::range::likely;
use crate::format;
use crate::html::source;

/// Number of levels of the tree that are open at first.
const OPEN_LEVELS: usize = 2;

/// Explanation of a metric: its value, its definition and its terms.
#[must_use]
pub fn explained(answer: &Answer<'_>, id: MetricId) -> Markup {
    let words = id.words();
    html! {
        p { strong { (format::metric(id, answer.get(id))) } ", " (likely(answer, id)) }
        p { (words.definition) }
        p.formula { (words.formula) }
        @if let Some(whole) = answer.explain(id) { (terms(&whole)) }
        p.muted {
            (source(words.source)) ", "
            a href={ "/guide/metrics#" (id.metric().name) } { code { (id.metric().name) } }
        }
    }
}

/// A metric's name, which leads to how it comes about on the same page.
#[must_use]
pub fn explained_link(id: MetricId) -> Markup {
    let metric = id.metric();
    html! { a href="#explained" data-explain=(metric.name) { (metric.label) } }
}

/// The formula of a number with its terms below it.
#[must_use]
pub fn terms(whole: &Breakdown) -> Markup {
    html! {
        (substituted(whole))
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
