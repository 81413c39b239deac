//! What the page says of a budget, as HTML text.

use maud::{Markup, html};
use model::Answer;
use model::design::violation::{Nearest, Violation};
use model::ground::units::Seconds;
use model::metric::published::TRAIN_TOKENS;
use model::metric::{MetricId, Regime, Unit};

use crate::format::{self, rounded};
use crate::html::{broken, table_head};
use crate::words::terms::explained_link;
use crate::words::{range, terms};

use super::{BudgetAnswer, BudgetInput};

/// Text of a metric's value; a dash where it isn't known.
pub(super) fn value(of: &BudgetAnswer, metric: MetricId) -> String {
    format::metric(metric, of.assessment.own.answer().get(metric)).to_string()
}

/// The headline in a sentence.
pub fn headline(of: &BudgetAnswer) -> String {
    format!(
        "{}, goodput {}",
        value(of, MetricId::days_to_train),
        value(of, MetricId::goodput_ratio)
    )
}

/// Heading of the run: model, cluster and rate, with published tokens to take over and warnings.
pub fn subject(of: &BudgetAnswer) -> String {
    let (own, design) = (&of.assessment.own, &of.asked.design);
    let row = design.cluster.accelerator.row();
    let markup = html! {
        h2 {
            (design.preset.model_name()) " · " (format::whole(design.cluster.num_devices)) " x "
            (row.title)
        }
        p {
            (format::token_rate(own.metrics.tokens_per_second)) ", MFU "
            (format::percent(own.metrics.mfu, 1)) ". "
            a href=(crate::html::design_address(design)) { "Open it in the explorer" }
            " · "
            a href="#brief" { "Brief" }
        }
        @if design.run.train_tokens.is_none() {
            p { "Published tokens to take over:" }
            p.ways {
                @for known in TRAIN_TOKENS {
                    @let taken = taken(&of.asked, known.figure.value);
                    a.button #{ "tokens-" (known.name) } href=(taken) {
                        (known.title)
                    }
                    " "
                }
            }
        }
        @if !own.budget.warnings.is_empty() || !own.budget.assumed.is_empty() {
            ul.serving-warnings {
                @for line in own.budget.warnings.iter().chain(&own.budget.assumed) {
                    li { (line) }
                }
            }
        }
    };
    markup.into_string()
}

/// Address of the request with this number of tokens.
fn taken(asked: &BudgetInput, tokens: f64) -> String {
    asked.with(|design| design.run.train_tokens = Some(tokens)).address()
}

/// The numbers that matter most.
const CARDS: [MetricId; 4] =
    [MetricId::days_to_train, MetricId::cost, MetricId::energy_kwh, MetricId::goodput_ratio];

/// The cards.
pub fn cards(of: &BudgetAnswer) -> String {
    let markup = html! {
        @for metric in CARDS {
            @let id = metric.metric().name;
            article.card.metric aria-labelledby={ (id) "-title" } {
                div.card-head { h2 id={ (id) "-title" } { (explained_link(metric)) } }
                p.card-value { (value(of, metric)) }
                p.card-line { (likely(of, metric)) }
            }
        }
    };
    markup.into_string()
}

/// Where half of the runs lie, or why there is no range.
pub(super) fn likely(of: &BudgetAnswer, metric: MetricId) -> String {
    range::likely(&of.assessment.own.answer(), metric)
}

/// Spread of the outcomes of identical runs.
pub fn spread(of: &BudgetAnswer) -> String {
    let budget = &of.assessment.own.budget;
    let Some(outcomes) = budget.outcomes else {
        return html! {
            p { "Tokens, failures and the rate of checkpoints make a run that can be played." }
        }
        .into_string();
    };
    let days = |time: Seconds| format::in_unit(time.to_days(), Unit::Days).to_string();
    let deadline = of.asked.design.run.deadline_days;
    let rows = [
        ("One of ten ends within", days(outcomes.early)),
        ("Half of them", days(outcomes.median)),
        ("Nine of ten", days(outcomes.late)),
        ("Failures, the mean", rounded(outcomes.failures)),
    ];
    let markup = html! {
        p.muted { "400 equal runs, played failure by failure; the step's own error comes on top." }
        table {
            caption.visually-hidden { "How equal runs end" }
            tbody {
                @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } }
                @if deadline.is_some() {
                    tr {
                        th scope="row" { "Runs within the deadline" }
                        td { (format::percent(outcomes.in_time, 0)) }
                    }
                }
                @if let Some(spares) = budget.spares {
                    tr {
                        th scope="row" { "Spare nodes used up without repair" }
                        td { (format::in_unit(spares.days, Unit::Days)) }
                    }
                    tr {
                        th scope="row" { "Longest repair that spares cover, 99 of 100 failures" }
                        td { (format::in_unit(spares.repair_hours, Unit::Hours)) }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// Table of the gains of single changes.
pub fn gains(of: &BudgetAnswer) -> String {
    let budget = &of.assessment.own.budget;
    if budget.gains.is_empty() {
        return html! { p { "Nothing can be said without tokens." } }.into_string();
    }
    let markup = html! {
        table {
            caption.visually-hidden { "What changes are worth" }
            (table_head(&["Change", "Days less", "Device-hours less", "Cost less"]))
            tbody {
                @for gain in &budget.gains {
                    tr {
                        th scope="row" { (gain.title) }
                        td { (format::significant(gain.days, 3)) }
                        td { (rounded(gain.device_hours)) }
                        td { (gain.cost.map_or_else(|| "not known".to_owned(), rounded)) }
                    }
                }
            }
        }
        @if let Some(rate) = budget.rate_for_99 {
            p {
                "From " (format::significant(rate, 3))
                " GB/s on, checkpoints and lost work take at most 1 % of the run."
            }
        }
    };
    markup.into_string()
}

/// Every metric with its range and definition.
pub fn numbers(of: &BudgetAnswer) -> String {
    let markup = html! {
        table.serving-numbers {
            caption.visually-hidden { "All numbers" }
            (table_head(&["Metric", "Value", "Range", "Meaning"]))
            tbody { @for metric in MetricId::of(Regime::Budget) { (row(of, metric)) } }
        }
    };
    markup.into_string()
}

fn row(of: &BudgetAnswer, metric: MetricId) -> Markup {
    html! {
        tr {
            th scope="row" { (explained_link(metric)) }
            td { (value(of, metric)) }
            td { (likely(of, metric)) }
            td { (metric.words().definition) }
        }
    }
}

/// Explanation of a metric of the run, or of its model beside the baseline.
pub fn explained(of: &BudgetAnswer, metric: MetricId) -> String {
    let assessment = &of.assessment;
    let answer = match metric.regime() {
        Regime::Quality => assessment.contest().map(Answer::Quality),
        Regime::Model | Regime::Training | Regime::Serving | Regime::Budget => None,
    };
    let answer = answer.unwrap_or_else(|| assessment.own.answer());
    terms::explained(&answer, metric).into_string()
}

/// Broken rules with their ways out.
pub fn problems(violations: &[Violation], asked: &BudgetInput) -> String {
    broken::problems(violations, |nearest| mended(asked, nearest).address())
}

fn mended(asked: &BudgetInput, nearest: &Nearest) -> BudgetInput {
    // A way out is a legal value of its knob.
    asked.with(|design| {
        let _ = design.set(nearest.knob, &nearest.value);
    })
}
