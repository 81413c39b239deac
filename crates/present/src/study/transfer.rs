//! The same design on other accelerators, side by side, and the ranking of strategies on each.

use std::fmt::Write as _;

use maud::{Markup, html};
use model::catalogue::accelerator::AcceleratorId;
use model::design::violation::Nearest;
use model::ground::choice::Choice;
use model::metric::MetricId;
use model::rules::vocabulary::{self, Vocabulary};
use model::training::estimate::Estimate;
use model::{MemoryState, Plan};

use super::options::{Options, select};
use crate::format::{self, short_label};
use crate::html::{cell_bar, design_address, table_of_blocks};
use crate::insight::bottleneck::largest_loss;
use crate::insight::memory_state;
use crate::insight::numbers::Numbers;
use crate::insight::transfer::{Column, Keep, Outcome, Ranking, Row, Variant, ranking, rows};
use crate::words::name::spelled;
use crate::words::range::expected;

/// The heading.
pub(super) const TITLE: &str = "Other accelerators";

/// A column of numbers: its title and what a cell says.
type Cell = (&'static str, fn(&Plan, &Estimate) -> String);

/// MFU comes first: its cells have bars.
static COLUMNS: [Cell; 8] = [
    ("MFU", |_, it| format::percent(it.metrics.mfu, 1).to_string()),
    ("MFU, range", |plan, it| expected(plan, MetricId::mfu).short(MetricId::mfu, &it.metrics)),
    ("Tokens/s per device", |_, it| {
        format::token_rate(it.metrics.tokens_per_second_per_device).to_string()
    }),
    ("Step time", |_, it| format::duration(it.metrics.step_time).to_string()),
    ("Peak memory", |_, it| {
        let peak = format::memory(it.metrics.memory_peak);
        let limit = format::memory(it.metrics.memory_limit);
        let fits = memory_state::word(it.metrics.memory_state());
        format!("{peak} of {limit}, {fits}")
    }),
    ("Bubble", |_, it| format::percent(it.metrics.bubble_ratio, 1).to_string()),
    ("Exposed communication", |_, it| {
        let share = it.metrics.comm_exposed / it.metrics.step_time;
        format!("{} of the step", format::percent(share, 1))
    }),
    ("Largest loss", |_, it| {
        let name = |(name, share)| format!("{name} ({share})");
        largest_loss(it).map_or_else(|| "none".to_owned(), name)
    }),
];

const MEMORY: usize = 4;

/// The section.
pub(super) fn html(numbers: &Numbers, options: Options<'_>) -> Markup {
    let keep = Keep::named(options.get("keep"));
    let rows = rows(&numbers.plan, keep);
    let items = Keep::ALL.map(|keep| (keep.name().to_owned(), keep.label().to_owned()));
    html! {
        section.card.schedules.transfer #transfer aria-labelledby="transfer-title" {
            h2 #transfer-title { (TITLE) }
            p.muted {
                "Same model, batch and strategy, with each accelerator's own nodes, links, memory, \
                 peak and framework. MFU is relative to its own peak at the same precision. \
                 Click a name to open the design there."
            }
            div.options { (select(("keep", "Keep constant"), keep.name(), items.into_iter())) }
            div.schedules-table { (table(&rows)) }
            (strategies(&ranking(&numbers.plan, &rows), &numbers.plan))
        }
    }
}

fn title(accelerator: AcceleratorId) -> &'static str {
    accelerator.row().title
}

fn table(rows: &[Row]) -> Markup {
    let titles = ["Accelerator", "Devices"].into_iter().chain(COLUMNS.iter().map(|it| it.0));
    let mfu = |row: &Row| match &row.outcome {
        Outcome::Runs(run) => run.1.metrics.mfu,
        Outcome::Refused(..) => 0.0,
    };
    let most = rows.iter().map(mfu).fold(f64::MIN_POSITIVE, f64::max);
    let rows = html! {
        @for row in rows {
            tr role="row" class=[row.is_own.then_some("own")] {
                (row_head(row))
                @match &row.outcome {
                    Outcome::Runs(run) => (cells(row, run, mfu(row) / most)),
                    Outcome::Refused(message, ways) => (refused(row, message, ways)),
                }
            }
        }
    };
    table_of_blocks(("schedule-table", "Accelerators compared"), titles, &rows)
}

/// The accelerator, which opens the design there, and what its framework refuses and lacks.
fn row_head(row: &Row) -> Markup {
    let title = title(row.accelerator);
    let off = row.switched_off.iter().map(|id| format!("{} off", short_label(*id)));
    let off: Vec<String> = off.collect();
    let (framework, method) = (row.design.kernel.framework, row.design.schedule.method);
    let is_told = Vocabulary::of(&row.design).has_method(&row.design, method);
    let missing = format!("{} not in {}", method.name(), vocabulary::title(framework));
    html! {
        th scope="row" role="rowheader" {
            @match row.outcome {
                Outcome::Runs(_) => {
                    a href=(design_address(&row.design)) data-step=(title) class="explain"
                        aria-current=[row.is_own.then_some("true")] { (title) }
                }
                Outcome::Refused(..) => (title),
            }
            @if row.is_own { " " span.own-mark { "This design" } }
            @if !off.is_empty() { " " span.schedule-beside.muted { (off.join("; ")) } }
            @if !is_told { " " span.schedule-beside.muted { (missing) } }
        }
    }
}

fn cells(row: &Row, (plan, estimate): &(Plan, Estimate), share: f64) -> Markup {
    let state = |index| match index {
        MEMORY => memory_state::class(estimate.metrics.memory_state()),
        _ => "",
    };
    html! {
        td role="cell" data-label="Devices" {
            span { (format::whole(row.design.cluster.num_devices)) }
        }
        @for (index, (title, text)) in COLUMNS.iter().enumerate() {
            td role="cell" data-label=(title) class=(state(index)) {
                span { (text(plan, estimate)) }
                @if index == 0 { (cell_bar(share)) }
            }
        }
    }
}

/// Reason why it can't run there, and the nearest designs that can.
fn refused(row: &Row, message: &str, ways: &[Nearest]) -> Markup {
    let mended = ways.iter().filter_map(|way| {
        let mut design = row.design.clone();
        design.set(way.knob, &way.value).ok()?;
        Plan::new(&design).ok()?;
        Some((design, format!("{} {}", short_label(way.knob), spelled(&way.value))))
    });
    html! {
        td role="cell" class="refused" colspan=(COLUMNS.len() + 1) {
            "Can't run: " (message)
            @for (design, change) in mended {
                " "
                a href=(design_address(&design))
                    data-step={ (title(row.accelerator)) " with " (change) } class="button way" {
                    "Use with " (change)
                }
            }
        }
    }
}

/// Whether the best strategy transfers: the best one of each accelerator, then the places of all.
fn strategies(ranking: &Ranking, plan: &Plan) -> Markup {
    let own = plan.design().cluster.accelerator;
    let home = ranking.columns.iter().find(|column| column.accelerator == own);
    html! {
        h3 #transfer-strategies { "Does the best strategy transfer?" }
        p.muted {
            "This design and its one-knob neighbours, ranked by tokens per second per device among \
             those that fit. Click a rank to open the design there."
        }
        p { (sentence(ranking, home)) }
        div.scroll-x role="region" tabindex="0" aria-labelledby="transfer-strategies" {
            table.place-table {
                caption.visually-hidden { "Ranks of strategies" }
                thead {
                    tr {
                        th scope="col" { "Strategy" }
                        @for column in &ranking.columns {
                            th scope="col" { (short(column.accelerator)) }
                        }
                    }
                }
                tbody {
                    @for (index, variant) in ranking.variants.iter().enumerate() {
                        tr {
                            th scope="row" { (words(variant)) }
                            @for column in &ranking.columns { (place(column, index, variant)) }
                        }
                    }
                }
            }
        }
    }
}

fn words(variant: &Variant) -> String {
    variant.change.as_ref().map_or_else(
        || "As it is".to_owned(),
        |(knob, value)| format!("{} {}", short_label(*knob), spelled(value)),
    )
}

/// The name without maker and remarks.
fn short(accelerator: AcceleratorId) -> &'static str {
    let name = title(accelerator);
    let name = name.strip_prefix("NVIDIA ").or_else(|| name.strip_prefix("Ascend "));
    let name = name.unwrap_or(title(accelerator));
    name.split([' ', ',']).next().unwrap_or(name)
}

fn place(column: &Column, index: usize, variant: &Variant) -> Markup {
    let Some((design, metrics)) = &column.metrics[index] else {
        return html! { td title="Breaks a rule there" { span.muted { "rule" } } };
    };
    let place = column.place(index);
    let state = metrics.memory_state();
    let unplaced = match state {
        MemoryState::Tight => "tight",
        MemoryState::Unlikely => "unlikely",
        MemoryState::Fits | MemoryState::DoesNotFit => "over",
    };
    html! {
        td class=[(place == Some(1)).then_some("best")] {
            a href=(design_address(design))
                data-step={ (words(variant)) " on " (title(column.accelerator)) }
                title={ "MFU " (format::percent(metrics.mfu, 1)) (memory_state::aside(state)) } {
                @match place { Some(place) => (place), None => (unplaced) }
            }
        }
    }
}

/// Sentence on the accelerators where the best strategy of the design's own is the best, too, and
/// on the cost of keeping it elsewhere.
fn sentence(ranking: &Ranking, home: Option<&Column>) -> String {
    let best = home.and_then(Column::best);
    let (Some(home), Some(best)) = (home, best) else {
        return "Neither this design nor a neighbour fits on its own accelerator.".to_owned();
    };
    let (mut same, mut other, mut none) = (Vec::new(), Vec::new(), Vec::new());
    let others = ranking.columns.iter().filter(|it| it.accelerator != home.accelerator);
    for column in others {
        let name = short(column.accelerator);
        match column.best() {
            None => none.push(name.to_owned()),
            Some(index) if index == best => same.push(name.to_owned()),
            Some(index) => {
                let kept = column.speed(best).zip(column.speed(index));
                let loss = kept.map_or_else(
                    || "the other doesn't fit".to_owned(),
                    |(kept, best)| {
                        format!("keeping it costs {}", format::percent(1.0 - kept / best, 1))
                    },
                );
                other.push(format!("{name} ({}; {loss})", words(&ranking.variants[index])));
            }
        }
    }
    let mut text = format!(
        "On {} the best of {} is: {}.",
        title(home.accelerator),
        format::counted(ranking.variants.len() as u64, "strategy", "strategies"),
        words(&ranking.variants[best]).to_ascii_lowercase(),
    );
    for (lead, names) in
        [("It is the best on", same), ("Another one is best on", other), ("None fits on", none)]
    {
        if !names.is_empty() {
            let _ = write!(text, " {lead} {}.", format::list(&names));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn every_accelerator_has_a_row_and_every_cell_its_label() {
        let html = html(&Numbers::of_link(""), Options("keep=peak")).into_string();
        let html = Html::new(&html);
        let rows = html.texts("tbody th");
        for accelerator in crate::insight::transfer::platforms() {
            let title = title(accelerator);
            assert!(rows.iter().any(|row| row.starts_with(title)), "{title}: {rows:?}");
        }
        let first = &html.parts("table")[0];
        assert!(!first.has("td:not([data-label]):not([colspan])"));
        assert!(html.has("option[value=peak][selected]"));
        let words = html.texts("span");
        assert_eq!(words.iter().filter(|word| *word == "This design").count(), 1);
        assert!(words.iter().any(|word| word == "1f1b_overlap not in Megatron-Core"), "{words:?}");
    }

    #[test]
    fn a_switch_that_goes_off_is_said_beside_the_accelerator() {
        let numbers = Numbers::of_link(
            "?v=1&preset=deepseek-v3-512-910c&overlap_moe_expert_parallel_comm=true",
        );
        let html = html(&numbers, Options::default()).into_string();
        let words = Html::new(&html).texts("span");
        assert!(words.iter().any(|word| word == "Overlap EP off"), "{words:?}");
    }

    #[test]
    fn what_lacks_the_precision_says_so_with_a_way_out() {
        let query = "?cluster.accelerator=h800-sxm-80gb&training.precision=fp8_blockwise";
        let html = html(&Numbers::of_link(query), Options::default()).into_string();
        assert!(html.contains("Can't run: ") && html.contains("Use with "), "{html}");
    }
}
