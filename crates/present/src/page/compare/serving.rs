//! How the designs serve, beside each other.

use maud::{Markup, html};
use model::design::{Design, Serving};
use model::serving::{Inference, ServingMetric, ServingPlan, infer, serving_range};

use super::numbers::Column;
use crate::format;

/// Placeholder for a missing number.
const NOTHING: &str = "—";

/// A design that serves, with what it gives.
pub(super) struct Served {
    plan: ServingPlan,
    inference: Inference,
}

impl Served {
    fn new(design: &Design) -> Option<Self> {
        let plan = ServingPlan::new(design).ok()?;
        Some(Self { inference: infer(&plan), plan })
    }

    /// The value of a metric.
    pub(super) fn get(&self, id: ServingMetric) -> f64 {
        self.inference.get(id)
    }
}

/// Serving results of each design that can serve; `None` if no design sets a serving knob.
pub(super) fn served(columns: &[Column]) -> Option<Vec<Option<Served>>> {
    let neutral = Serving::default();
    let mut designs = columns.iter().filter_map(Column::design);
    let is_asked = designs.any(|design| design.serving != neutral);
    is_asked.then(|| columns.iter().map(|column| Served::new(column.design()?)).collect())
}

/// Sentence on a design that serves; `None` if it isn't set up to serve or can't.
pub(super) fn headline(design: &Design) -> Option<String> {
    let is_asked = design.serving != Serving::default();
    let served = is_asked.then(|| Served::new(design)).flatten()?;
    let shown = |id: ServingMetric| format::served(id, served.get(id)).to_string();
    Some(format!(
        "It serves: {} per device, TPOT {}. Its layout for training breaks rules.",
        shown(ServingMetric::output_tokens_per_second_per_device),
        shown(ServingMetric::tpot_seconds),
    ))
}

/// The rows of the table, a metric each.
pub(super) fn rows(served: &[Option<Served>], baseline: usize) -> Markup {
    let base = served.get(baseline).and_then(Option::as_ref);
    html! {
        @for id in ServingMetric::ALL.iter().copied() {
            tr data-metric=(id.metric().name) {
                th scope="row" { span title=(id.words().definition) { (id.metric().label) } }
                @for (place, one) in served.iter().enumerate() {
                    td {
                        @match one {
                            Some(one) => (cell(id, one, base.filter(|_| place != baseline))),
                            None => (NOTHING),
                        }
                    }
                }
            }
        }
    }
}

fn cell(id: ServingMetric, one: &Served, base: Option<&Served>) -> Markup {
    let value = one.get(id);
    let shown = |value: f64| format::served(id, value).to_string();
    let range = serving_range(&one.plan, id);
    html! {
        span.compare-value { (shown(value)) }
        @if let Some(range) = range {
            @let span = format::span(range.half.map(|factor| shown(value * factor)));
            span.compare-note { "half of runs " (span) }
        }
        @if let Some(base) = base {
            span.delta { (format::relative(value, base.get(id))) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::columns;
    use super::*;
    use crate::site::chosen::Chosen;

    #[test]
    fn designs_that_say_nothing_of_serving_have_no_rows_of_it() {
        let columns = columns(&Chosen::of_links(["v=1", "v=1&vpp=1"]));
        assert!(served(&columns).is_none());
    }

    #[test]
    fn runs_of_serving_stand_beside_each_other_and_what_cannot_serve_has_a_dash() {
        let links = [
            "v=1&preset=pangu-pro-moe-800i-a2",
            "v=1&preset=pangu-pro-moe-800i-a2-batch-456",
            "v=1&preset=pangu-pro-moe-800i-a2&serving.tensor_parallel_size=3",
        ];
        let served = served(&columns(&Chosen::of_links(links))).expect("they serve");
        let [one, many] = [0, 1].map(|place| served[place].as_ref().expect("it is legal"));
        assert!(served[2].is_none());
        let id = ServingMetric::output_tokens_per_second_per_device;
        let html = rows(&served, 0).into_string();
        assert!(html.contains(&format::relative(many.get(id), one.get(id))), "{html}");
        assert_eq!(html.matches(NOTHING).count(), ServingMetric::ALL.len());
    }
}
