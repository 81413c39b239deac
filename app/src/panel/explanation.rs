//! The panel that explains a number; its content is a study.

use leptos::prelude::*;
use model::metric::MetricId;
use present::format;
use present::study::Study;

use super::{conventions, studies};
use crate::explorer::Explorer;
use crate::widget::dialog::{SidePanel, side_panel};
use crate::widget::part::{IntoPart, Part, live, text};

/// The explanation of the chosen metric.
pub fn explanation(explorer: Explorer) -> impl IntoView {
    let asked = explorer.explained;
    let title = move || asked.get().map_or("", |id| id.metric().label).to_owned();
    let panel = SidePanel {
        id: "explanation",
        open: Signal::derive(move || asked.with(Option::is_some)),
        title: Signal::derive(title),
        on_close: Callback::new(move |()| asked.set(None)),
    };
    side_panel(panel, move || live(move || asked.get().map(|id| explained(explorer, id))).part())
}

fn explained(explorer: Explorer, id: MetricId) -> Part {
    let value = text(move || {
        explorer.with_numbers(|numbers| {
            format::metric(id, numbers.estimate.metrics.get(id)).to_string()
        })
    });
    let name = id.metric().name;
    view! {
        <p class="explained-value" data-explained=name>{value}</p>
        {counts_flops(id).then(|| conventions::button(explorer.conventions_open))}
        {studies::asked(Study::Explanation, move || Some(format!("metric={name}")))}
    }
    .part()
}

/// Whether conventions differ on it.
fn counts_flops(id: MetricId) -> bool {
    matches!(
        id,
        MetricId::mfu
            | MetricId::hfu
            | MetricId::model_tflops_per_device
            | MetricId::flops_per_token
    )
}
