//! What a design gains and loses beside another, in headline numbers and in knobs.

use leptos::prelude::*;
use present::insight::memory_state;
use present::page::review::deltas::{figures, rows};

use crate::widget::part::{IntoPart, Part};

/// The headline numbers of a design as a small table, with how far they are from another's.
pub(super) fn table(link: &str, beside: Option<&str>) -> Part {
    let Some(rows) = rows(link, beside) else {
        return view! { <p class="muted">"This design breaks a rule; it has no numbers."</p> }
            .part();
    };
    let judged = figures(link).map(|(_, state, words)| {
        view! { <p class=memory_state::said_class(state)>{words}</p> }
    });
    let rows: Vec<_> = rows
        .into_iter()
        .map(|[name, value, change]| {
            view! { <tr><th scope="row">{name}</th><td>{value}</td><td>{change}</td></tr> }
        })
        .collect();
    view! {
        <table class="deltas">
            <thead class="visually-hidden">
                <tr>
                    <th scope="col">"Number"</th>
                    <th scope="col">"Value"</th>
                    <th scope="col">"Beside the working design"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        {judged}
    }
    .part()
}
