//! The design under every schedule.

use std::fmt::Write as _;

use maud::{Markup, html};
use model::ground::choice::{Choice, Framework};
use model::rules::vocabulary::title;
use model::training::estimate::Metrics;

use crate::format::{self, short_label};
use crate::html::{cell_bar, design_address, table_of_blocks};
use crate::insight::memory_state;
use crate::insight::numbers::Numbers;
use crate::insight::schedules::{Comparison, Outcome, Refusal, Row, compare};
use crate::words::name::spelled;

/// A column of numbers.
struct Column {
    title: &'static str,
    /// Text of a cell.
    text: fn(&Metrics) -> String,
    /// Value that sets the bar's length, against the longest of the column or the bound.
    length: fn(&Metrics) -> f64,
}

static COLUMNS: [Column; 5] = [
    Column {
        title: "Bubble",
        text: |metrics| format::percent(metrics.bubble_ratio, 2).to_string(),
        length: |metrics| metrics.bubble_ratio,
    },
    Column {
        title: "Peak memory",
        text: |metrics| {
            let peak = format::memory(metrics.memory_peak);
            format!("{peak}, {}", memory_state::word(metrics.memory_state()))
        },
        length: |metrics| metrics.memory_peak.get(),
    },
    Column {
        title: "Exposed communication",
        text: |metrics| format::duration(metrics.comm_exposed).to_string(),
        length: |metrics| metrics.comm_exposed.get(),
    },
    Column {
        title: "Step time",
        text: |metrics| format::duration(metrics.step_time).to_string(),
        length: |metrics| metrics.step_time.get(),
    },
    Column {
        title: "MFU",
        text: |metrics| format::percent(metrics.mfu, 1).to_string(),
        length: |metrics| metrics.mfu,
    },
];

const MEMORY: usize = 1;
const STEP: usize = 3;
const CHANGE: &str = "Step against now";

/// The heading.
pub(super) const TITLE: &str = "Schedules compared";

/// The section: what is compared, then the table.
pub(super) fn html(numbers: &Numbers) -> Markup {
    html! {
        section.card.schedules aria-labelledby="schedules-title" {
            h2 #schedules-title { (TITLE) }
            p.muted {
                "Each with the chunks per stage it requires; everything else unchanged unless the \
                 row says so."
            }
            @let framework = numbers.plan.design().kernel.framework;
            div.schedules-table { (table_html(&compare(&numbers.plan), framework)) }
        }
    }
}

/// The table as HTML.
fn table_html(comparison: &Comparison, framework: Framework) -> Markup {
    let titles = COLUMNS.iter().map(|column| column.title);
    let titles = std::iter::once("Schedule").chain(titles).chain([CHANGE]);
    let most = longest_bars(comparison);
    let rows = html! {
        @for row in &comparison.rows {
            @let name = row.method.name();
            tr role="row" class=[row.is_own.then_some("own")] data-schedule=(name) {
                (row_head(row, framework))
                @match &row.outcome {
                    Outcome::Runs(run) => (numbers(row, &run.metrics, comparison, most)),
                    Outcome::Refused(refusal) => (refused(name, refusal)),
                }
            }
        }
    };
    table_of_blocks(("schedule-table", "Schedules compared"), titles, &rows)
}

/// The longest bar of each column; the memory's bars show how much of the limit they take.
fn longest_bars(comparison: &Comparison) -> [f64; COLUMNS.len()] {
    let mut most = [0.0_f64; COLUMNS.len()];
    for metrics in comparison.rows.iter().filter_map(Row::metrics) {
        for (most, column) in most.iter_mut().zip(&COLUMNS) {
            *most = most.max((column.length)(metrics));
        }
        most[MEMORY] = most[MEMORY].max(metrics.memory_limit.get());
    }
    most
}

/// The schedule's name, which opens the design under it where the framework has it, and what had to
/// follow.
fn row_head(row: &Row, framework: Framework) -> Markup {
    let name = row.method.name();
    let missing = format!("not in {}", title(framework));
    let mut beside = format::counted(row.chunks, "chunk", "chunks");
    if let Some(target) = row.target() {
        for id in &row.followed {
            let _ = write!(beside, "; {} {}", short_label(*id), spelled(&target.get(*id)));
        }
    }
    html! {
        th scope="row" role="rowheader" {
            @match row.target().filter(|_| row.is_told && row.metrics().is_some()) {
                Some(design) => a href=(design_address(design)) data-step={ "schedule " (name) }
                    class="explain" aria-current=[row.is_own.then_some("true")] { (name) },
                None => (name),
            }
            @if row.is_own { " " span.own-mark { "This design" } }
            " " span.schedule-beside.muted { (beside) }
            @if !row.is_told { " " span.schedule-beside.muted { (missing) } }
        }
    }
}

/// The cells of a schedule that runs: numbers with their bars, and the step beside today's.
fn numbers(
    row: &Row,
    metrics: &Metrics,
    comparison: &Comparison,
    most: [f64; COLUMNS.len()],
) -> Markup {
    let (class, change) = match comparison.now {
        None => ("change", String::new()),
        Some(_) if row.is_own => ("change", "as now".to_owned()),
        Some(now) => {
            let (step, then) = (metrics.step_time.get(), now.step_time.get());
            let class = match step.total_cmp(&then) {
                std::cmp::Ordering::Less => "change better",
                std::cmp::Ordering::Greater => "change worse",
                std::cmp::Ordering::Equal => "change",
            };
            (class, format::relative(step, then))
        }
    };
    let state = |index| match index {
        MEMORY => memory_state::class(metrics.memory_state()),
        _ => "",
    };
    let mark = |index| match index {
        STEP if comparison.fastest == Some(row.method) => Some("shortest"),
        MEMORY if comparison.leanest == Some(row.method) => Some("least"),
        _ => None,
    };
    html! {
        @for (index, column) in COLUMNS.iter().enumerate() {
            td role="cell" data-label=(column.title) class=(state(index)) {
                span {
                    @if let Some(mark) = mark(index) { span.own-mark { (mark) } " " }
                    ((column.text)(metrics))
                }
                (cell_bar((column.length)(metrics) / most[index].max(f64::MIN_POSITIVE)))
            }
        }
        td role="cell" data-label=(CHANGE) { span class=(class) { (change) } }
    }
}

/// Reason why it can't run, and the one change that lets it.
fn refused(name: &str, refusal: &Refusal) -> Markup {
    html! {
        td role="cell" class="refused" colspan=(COLUMNS.len() + 1) {
            "Can't run: " (refusal.message)
            @if refusal.more > 0 { " (and " (more_rules(refusal.more)) ")" }
            @if let Some((design, way)) = refusal.fix.as_deref() {
                " "
                a href=(design_address(design)) data-step={ "schedule " (name) }
                    class="button way" {
                    "Use with " (short_label(way.knob)) " " (spelled(&way.value))
                }
            }
        }
    }
}

fn more_rules(count: usize) -> String {
    format::counted(count as u64, "more rule", "more rules")
}

#[cfg(test)]
mod tests {
    use model::ground::choice::Method;

    use super::*;

    fn table_of(query: &str) -> String {
        let design = model::design::link::decode(query).expect("a link that decodes");
        let framework = design.kernel.framework;
        table_html(&compare(&model::Plan::new(&design).expect("a legal design")), framework)
            .into_string()
    }

    #[test]
    fn the_table_has_a_row_for_every_schedule_and_a_label_in_every_cell() {
        let html = table_of("");
        for method in Method::ALL {
            assert!(html.contains(&format!("data-schedule=\"{}\"", method.name())), "{html}");
        }
        let cells = html.matches("<td").count();
        assert_eq!(html.matches("data-label").count() + html.matches("colspan").count(), cells);
        assert_eq!(html.matches(">This design<").count(), 1);
        assert!(html.contains(">shortest<") && html.contains(">least<"));
        assert!(!html.contains("style="), "{html}");
    }

    #[test]
    fn a_refused_schedule_has_its_reason_and_a_button() {
        let html = table_of(
            "?training.global_batch_size=1536&schedule.method=interleaved\
             &schedule.delay_wgrad_compute=false",
        );
        assert!(html.contains("Can't run: dualpipe needs 32 micro-batches"), "{html}");
        assert!(html.contains("Use with GBS 3072"), "{html}");
    }
}
