//! How the model's parts are shared out over the stages, and the layout that balances them.

use std::fmt::Write as _;

use model::{layout_loads, layout_overflow};

use super::Width;
use super::figure::Figure;
use crate::charts;
use crate::insight::balance::{Balance, Other, balance};
use crate::insight::numbers::Numbers;
use crate::present::{format, html};

/// The stages' compute, part by part, and the layout that would balance it.
pub(super) fn html(numbers: &Numbers, width: Width) -> String {
    let loads = layout_loads(&numbers.plan);
    let found = balance(&numbers.plan, &numbers.estimate);
    Figure {
        id: "balance",
        title: "Balance of the stages",
        caption: &caption(numbers),
        chart: &width.chart(|width| charts::stage_balance(&loads, width)),
        rows: &charts::stage_balance_table(&loads),
    }
    .html(&found.map_or_else(String::new, |found| proposal(&found)))
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

fn proposal(found: &Balance) -> String {
    let said = match &found.other {
        Some(other) => offer(other),
        None if found.proven => "<p>No layout balances the stages better.</p>".to_owned(),
        None => "<p>No layout was found that balances the stages better.</p>".to_owned(),
    };
    format!("<div class=\"balance-proposal\">{said}</div>")
}

/// The layout with its effect, and a link where it helps.
fn offer(other: &Other) -> String {
    let overflow = format::percent(other.proposal.overflow, 1);
    let current = format::percent(other.proposal.current, 1);
    let lead = match (other.helps(), other.balances()) {
        (true, true) => format!("A layout is {overflow} over the mean instead of {current}:"),
        (true, false) => format!("A layout that is {overflow} over the mean is faster:"),
        (false, _) => {
            format!("A layout is {overflow} over the mean instead of {current}, but not faster:")
        }
    };
    let mut text = format!("<p>{lead} ");
    html::element(&mut text, "code", "", &other.proposal.layout);
    text.push_str("</p><p class=\"ways\">");
    if other.helps() {
        html::design_link(&mut text, &other.design, "the layout");
        text.push_str(" class=\"button way\">Balance the stages</a> ");
    }
    let _ = write!(text, "<span class=\"muted\">{}</span></p>", html::escaped(&other.effect()));
    text
}
