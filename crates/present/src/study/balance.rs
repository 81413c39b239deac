//! How the model's parts are shared out over the stages, and the layout that balances them.

use maud::{Markup, html};
use model::{layout_loads, layout_overflow};

use super::Width;
use super::figure::Figure;
use crate::charts;
use crate::format;
use crate::html::design_address;
use crate::insight::balance::{Balance, balance};
use crate::insight::numbers::Numbers;

/// The heading of the study.
pub(super) const TITLE: &str = "Balance of the stages";

/// The stages' compute, part by part, and the layout that would balance it.
pub(super) fn html(numbers: &Numbers, width: Width) -> Markup {
    let loads = layout_loads(&numbers.plan);
    let found = balance(&numbers.plan, &numbers.estimate);
    Figure {
        id: "balance",
        title: TITLE,
        caption: &caption(numbers),
        chart: &width.chart(|width| charts::stage_balance(&loads, width)),
        rows: &charts::stage_balance_table(&loads),
    }
    .html(&found.as_ref().map(proposal).unwrap_or_default())
}

fn caption(numbers: &Numbers) -> String {
    if numbers.plan.design().parallel.pipeline_model_parallel_size < 2 {
        return "One stage holds the whole model".to_owned();
    }
    format!(
        "The longest stage computes {} longer than the mean; communication isn't counted",
        format::percent(layout_overflow(&numbers.plan), 1)
    )
}

/// The layout that balances the stages, with its effect and a link where it helps.
fn proposal(found: &Balance) -> Markup {
    let Some(other) = &found.other else {
        let none = if found.proven { "No layout" } else { "No layout was found that" };
        return html! { div.balance-proposal { p { (none) " balances the stages better." } } };
    };
    let overflow = format::percent(other.proposal.overflow, 1);
    let current = format::percent(other.proposal.current, 1);
    let lead = match (other.helps(), other.balances()) {
        (true, true) => {
            format!("A better-balanced layout is {overflow} over the mean, not {current}:")
        }
        (true, false) => format!("A layout {overflow} over the mean is faster:"),
        (false, _) => format!(
            "A better-balanced layout is {overflow} over the mean, not {current}, but is slower:"
        ),
    };
    html! {
        div.balance-proposal {
            p { (lead) " " code { (other.proposal.layout) } }
            p.ways {
                @if other.helps() {
                    a href=(design_address(&other.design)) data-step="the layout"
                        class="button way" { "Balance the stages" }
                    " "
                }
                span.muted { (other.effect()) }
            }
        }
    }
}
