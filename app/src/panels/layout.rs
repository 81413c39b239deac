//! How the model's parts are shared out over the stages, and a button that balances them.

use std::sync::Arc;

use leptos::either::Either;
use leptos::prelude::*;
use model::{Plan, estimate, layout_loads, layout_overflow};

use crate::balance::{Balance, Other, balance};
use crate::charts;
use crate::explorer::{Explorer, Numbers};
use crate::format;
use crate::widgets::figure::{Draw, Figure, figure};

/// The stages' compute, part by part, and the layout that would balance it.
pub fn layout(explorer: Explorer) -> impl IntoView {
    let draw: Draw = Arc::new(move |width| {
        explorer.with_numbers_untracked(|numbers| {
            charts::stage_balance(&layout_loads(&numbers.plan), width)
        })
    });
    let chart = figure(Figure {
        id: "balance",
        title: "Balance of the stages",
        caption: Signal::derive(move || explorer.with_numbers(caption)),
        first: charts::for_any_width(|width| draw(width)),
        draw,
        rows: Arc::new(move || {
            explorer.with_numbers_untracked(|numbers| {
                charts::stage_balance_table(&layout_loads(&numbers.plan))
            })
        }),
        changes: Signal::derive(move || explorer.with_numbers(|_| ())),
        room: Signal::derive(move || explorer.explained.with(|_| ())),
    });
    view! { <div class="balance">{chart}{proposal(explorer)}</div> }
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

/// What the knobs' rest brings to light: the balance of the design as it then was.
fn proposal(explorer: Explorer) -> impl IntoView {
    let found = Memo::new(move |_| {
        explorer.with_resting(|design| {
            let plan = Plan::new(design).ok()?;
            balance(&plan, &estimate(&plan))
        })
    });
    move || found.get().map(|found| said(explorer, found))
}

fn said(explorer: Explorer, found: Balance) -> impl IntoView {
    let line = match found.other {
        Some(other) => Either::Left(offer(explorer, other)),
        None => Either::Right(if found.proven {
            "No layout balances the stages better."
        } else {
            "No layout was found that balances the stages better."
        }),
    };
    view! { <div class="card balance-proposal">{line}</div> }
}

/// The layout with its effect, and a button where it helps.
fn offer(explorer: Explorer, other: Other) -> impl IntoView {
    let (helps, effect) = (other.helps(), other.effect());
    let overflow = format::percent(other.proposal.overflow, 1);
    let current = format::percent(other.proposal.current, 1);
    let lead = match (helps, other.balances()) {
        (true, true) => format!("A layout is {overflow} over the mean instead of {current}:"),
        (true, false) => format!("A layout that is {overflow} over the mean is faster:"),
        (false, _) => {
            format!("A layout is {overflow} over the mean instead of {current}, but not faster:")
        }
    };
    let (text, design) = (other.proposal.layout, other.design);
    let button = helps.then(|| {
        view! {
            <button
                type="button"
                class="button way"
                on:click=move |_| explorer.replace("the layout".to_owned(), design.clone())
            >
                "Balance the stages"
            </button>
        }
    });
    view! {
        <p>{lead} " " <code>{text}</code></p>
        <p class="ways">{button} <span class="muted">{effect}</span></p>
    }
}
