//! What laws say of a design beside its baseline, as HTML text.

use maud::{Markup, html};
use model::design::link;
use model::run::budget::Judged;
use model::run::quality::{CAVEAT, Comparison, Spread};

use super::{BudgetAnswer, BudgetInput};
use crate::format;
use crate::html::table_head;
use crate::words::name;

/// The comparison, or how to begin one; the caveat is beside every value.
pub fn html(of: &BudgetAnswer) -> String {
    let (Some(judged), Some(baseline)) = (&of.assessment.judged, &of.asked.baseline) else {
        return begin(of).into_string();
    };
    let markup = html! {
        p {
            "Baseline: " strong { (name::title(baseline)) } ". "
            a.button id="unpin" href=(without(&of.asked).address()) { "Let the baseline go" }
        }
        @match &judged.comparison {
            Ok(comparison) => (compared(comparison, judged)),
            Err(refusals) => {
                p { "No law is asked:" }
                ul { @for refusal in refusals { li { (refusal.words()) } } }
            }
        }
        p.budget-caveat { (CAVEAT) }
    };
    markup.into_string()
}

fn without(asked: &BudgetInput) -> BudgetInput {
    BudgetInput { design: asked.design.clone(), baseline: None }
}

/// Pins the design, and offers other numbers of experts beside it.
fn begin(of: &BudgetAnswer) -> Markup {
    let asked = &of.asked;
    let pinned = |design| BudgetInput { design, baseline: Some(asked.design.clone()) };
    let experts = asked.design.transformer.num_moe_experts;
    let others = experts.into_iter().flat_map(|experts| [experts / 2, experts * 2]).map(|count| {
        let mut design = asked.design.clone();
        design.transformer.num_moe_experts = Some(count);
        (count, pinned(design))
    });
    html! {
        @if asked.design.run.train_tokens.is_none() { p { "Nothing can be said without tokens." } }
        p.ways {
            a.button id="pin" href=(pinned(asked.design.clone()).address()) {
                "Pin this design as baseline"
            }
            @for (count, other) in others {
                " "
                a.button #{ "experts-" (count) } href=(other.address()) {
                    (format::whole(count)) " experts beside it"
                }
            }
        }
        p.budget-caveat { (CAVEAT) }
    }
}

fn compared(comparison: &Comparison, judged: &Judged) -> Markup {
    let nats = |it: f64| format::signed(it, 4);
    let times = |it: f64| format!("{} x", format::significant(it, 3));
    let row = |title: &str, spread: &Spread, write: &dyn Fn(f64) -> String| {
        html! {
            tr {
                th scope="row" { (title) }
                td { (write(spread.median)) }
                td { (write(spread.min)) }
                td { (write(spread.max)) }
            }
        }
    };
    html! {
        p { strong { (verdict(comparison)) } }
        table {
            caption.visually-hidden { "Loss beside a baseline" }
            (table_head(&["", "Median of laws", "Least", "Most"]))
            tbody {
                (row("Loss difference, nats per token", &comparison.loss_difference, &nats))
                @if let Some(tokens) = &comparison.tokens_to_equal_loss {
                    (row("Tokens to equal loss", tokens, &times))
                }
            }
        }
        @if let Some(time) = judged.relative_time {
            p { "Time to the baseline's loss: " (times(time)) " of its own." }
        }
        @let [low, high] = judged.advice.range();
        p {
            "Batch that four fits advise: " (format::count(low)) " to " (format::count(high))
            " tokens."
        }
        @if !comparison.flags.is_empty() {
            ul.serving-warnings { @for flag in &comparison.flags { li { (flag.words()) } } }
        }
    }
}

/// Verdict on which is better, or that neither can be called so.
#[must_use]
pub fn verdict(comparison: &Comparison) -> &'static str {
    if !comparison.is_ranked() {
        "A tie: the laws tell neither to be better."
    } else if comparison.loss_difference.median < 0.0 {
        "Lower loss than the baseline."
    } else {
        "Higher loss than the baseline."
    }
}

/// The link of the baseline.
pub(super) fn baseline_link(asked: &BudgetInput) -> Option<String> {
    asked.baseline.as_ref().map(link::encode)
}
