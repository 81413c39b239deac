//! Memory: per stage, what fills the fullest one, and what each module frees at which price.

use std::fmt::Write as _;

use maud::{Markup, html};
use model::design::Design;
use model::ground::choice::Timing;

use super::Width;
use super::figure::Figure;
use crate::charts::{self, Ghost};
use crate::format;
use crate::html::design_address;
use crate::insight::bottleneck::fullest_stage;
use crate::insight::memory_view::{self, Module, Price, prices, toggled};
use crate::insight::numbers::Numbers;

/// The heading of [`tradeoff`].
pub(super) const TRADEOFF: &str = "Recompute and swap: memory saved vs MFU cost";

/// Memory per device of each stage, under the limit.
pub(super) fn by_stage(numbers: &Numbers, ghost: Ghost<'_>, width: Width) -> Markup {
    let estimate = &numbers.estimate;
    Figure {
        id: "memory",
        title: "Memory per pipeline stage",
        caption: &by_stage_caption(numbers),
        chart: &width.chart(|width| charts::memory_by_stage(estimate, ghost, width)),
        rows: &charts::memory_by_stage_table(estimate),
    }
    .html(&Markup::default())
}

fn by_stage_caption(numbers: &Numbers) -> String {
    let limit = numbers.estimate.metrics.memory_limit;
    let stages = numbers.estimate.stages.iter();
    let over = stages.filter(|stage| stage.memory.peak() > limit).count();
    let fullest = fullest_stage(&numbers.estimate).map_or_else(String::new, |stage| {
        format!("Stage {} is the fullest, {}", stage.stage, format::memory(stage.memory.peak()))
    });
    let limit = format::memory(limit);
    match over {
        0 => format!("{fullest}; all are within the limit of {limit}"),
        1 => format!("{fullest}; 1 stage is over the limit of {limit}"),
        count => format!("{fullest}; {count} stages are over the limit of {limit}"),
    }
}

/// Memory contents of the fullest stage, down to tensors.
pub(super) fn composition(numbers: &Numbers, width: Width) -> Markup {
    let Some(found) = memory_view::composition(&numbers.plan, &numbers.estimate) else {
        return Markup::default();
    };
    let mut caption = format!(
        "Stage {}, {} of {}",
        found.stage.stage,
        format::memory(found.stage.memory.peak()),
        format::memory(numbers.estimate.metrics.memory_limit),
    );
    if let Some(task) = found.stage.fullest {
        let _ = write!(caption, " {}", memory_view::moment(task));
    }
    Figure {
        id: "composition",
        title: "Memory breakdown",
        caption: &caption,
        chart: &width.chart(|width| charts::memory_composition(&found, width)),
        rows: &charts::memory_composition_table(&found),
    }
    .html(&Markup::default())
}

/// Memory that each module frees against the MFU that it costs; each is a link that turns it.
pub(super) fn tradeoff(numbers: &Numbers, width: Width) -> Markup {
    let design = numbers.plan.design();
    let prices = prices(&numbers.plan);
    Figure {
        id: "tradeoff",
        title: TRADEOFF,
        caption: match (prices.is_empty(), design.schedule.timing) {
            (true, _) => "No recompute or swap module can be toggled on its own",
            (false, Timing::Simulated) => "Each module on its own, simulated. Click to toggle.",
            (false, Timing::ClosedForm) => "Each module on its own. Click to toggle.",
        },
        chart: &width.chart(|width| charts::memory_tradeoff(&prices, width)),
        rows: &charts::memory_tradeoff_table(&prices),
    }
    .html(&links(design, &prices))
}

/// The modules as links, recomputation and swapping apart.
fn links(design: &Design, prices: &[Price]) -> Markup {
    let is_recompute = |price: &&Price| matches!(price.module, Module::Recompute(_));
    let (recompute, swap): (Vec<&Price>, Vec<&Price>) = prices.iter().partition(is_recompute);
    let groups = [("Recompute", recompute), ("Swap", swap)];
    html! {
        @for (kind, prices) in groups.iter().filter(|(_, prices)| !prices.is_empty()) {
            p.turn { (kind) }
            ul.ways aria-label=(kind) {
                @for price in prices { li { (turning(design, price)) } }
            }
        }
    }
}

/// The link that turns a module, with what it frees and costs.
fn turning(design: &Design, price: &Price) -> Markup {
    let class = if price.is_on { "button way on" } else { "button way" };
    html! {
        a href=(design_address(&toggled(design, price.module))) data-step=(price.module.label())
            class=(class) {
            @if price.is_on {
                span aria-hidden="true" { "✓ " }
                span.visually-hidden { "On: " }
            }
            (price.module.name()) " "
            span.muted {
                (format::memory(price.frees)) ", " (format::signed(-price.costs * 100.0, 2)) " pt"
            }
        }
    }
}
