//! What a metric is: definition, formula, source, how far it may be off, and the tree of its terms.

use maud::{Markup, html};
use model::Answer;
use model::metric::{MetricId, Regime};

use super::options::Options;
use crate::html::source;
use crate::insight::numbers::Numbers;
use crate::site::Page;
use crate::words::range::{expected, of_profile};
use crate::words::terms::terms;

/// The metric that the options name; MFU where they name none.
pub(super) fn html(numbers: &Numbers, options: Options<'_>) -> Markup {
    let id = MetricId::find_of(Regime::Training, options.get("metric")).unwrap_or(MetricId::mfu);
    let metric = id.metric();
    let answer = Answer::Training { plan: &numbers.plan, estimate: &numbers.estimate };
    let error = expected(&numbers.plan, id).sentence(id, &numbers.estimate.metrics);
    html! {
        dl.explained {
            @if let Some(words) = id.words_of_training() {
                dt { "Definition" }
                dd { (words.definition) }
                dt { "Formula" }
                dd.formula { (words.formula) }
                dt { "Source" }
                dd { (source(words.source)) }
            }
            dt { "Expected error" }
            dd {
                (error) " "
                @if let Some(profile) = of_profile(numbers.plan.design()) { (profile) " " }
                a href=(Page::Trust.path()) { "How predictions compare with published runs" }
            }
            dt { "Id" }
            dd { a href={ "/guide/metrics#" (metric.name) } { code { (metric.name) } } }
        }
        h3 { "Terms" }
        @if let Some(whole) = answer.explain(id) { (terms(&whole)) }
    }
}
