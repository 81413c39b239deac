//! How the designs serve, beside each other.

use maud::{Markup, html};
use model::Answer;
use model::design::{Design, Serving};
use model::metric::{MetricId, Regime};
use model::serving::{Inference, ServingPlan, infer};

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

    /// Answer of the model.
    pub(super) const fn answer(&self) -> Answer<'_> {
        Answer::Serving { plan: &self.plan, inference: &self.inference }
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
    let shown = |id: MetricId| format::metric(id, served.answer().get(id)).to_string();
    Some(format!(
        "It serves: {} per device, TPOT {}. Its layout for training breaks rules.",
        shown(MetricId::output_tokens_per_second_per_device),
        shown(MetricId::tpot_seconds),
    ))
}

/// The rows of the table, a metric each.
pub(super) fn rows(served: &[Option<Served>], baseline: usize) -> Markup {
    let base = served.get(baseline).and_then(Option::as_ref);
    html! {
        @for id in MetricId::of(Regime::Serving) {
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

fn cell(id: MetricId, one: &Served, base: Option<&Served>) -> Markup {
    let value = |of: &Served| format::number(of.answer().get(id));
    let shown = |value: f64| format::measured(id, value).to_string();
    html! {
        span.compare-value { (shown(value(one))) }
        @if let Some(range) = one.answer().range(id) {
            @let span = format::span(range.half.map(|factor| shown(value(one) * factor)));
            span.compare-note { "half of runs " (span) }
        }
        @if let Some(base) = base {
            span.delta { (format::relative(value(one), value(base))) }
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
        let [one, many] =
            [one, many].map(|it| it.inference.metrics.output_tokens_per_second_per_device);
        let html = rows(&served, 0).into_string();
        assert!(html.contains(&format::relative(many, one)), "{html}");
        assert_eq!(html.matches(NOTHING).count(), MetricId::of(Regime::Serving).count());
    }
}
