//! The design under every schedule.

use std::fmt::Write as _;

use model::choice::Choice;
use model::estimate::Metrics;

use super::Width;
use crate::insight::memory_state;
use crate::insight::numbers::Numbers;
use crate::insight::schedules::{Comparison, Outcome, Refusal, Row, compare};
use crate::present::format::{self, short_label, spelled};
use crate::present::html::{design_link, escaped};

/// A column of numbers.
struct Column {
    title: &'static str,
    /// What a cell says.
    text: fn(&Metrics) -> String,
    /// How long its bar is, against the longest of the column or the bound.
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
pub(super) const TITLE: &str = "This design under every schedule";

/// The section: what is compared, then the table.
pub(super) fn html(numbers: &Numbers, _: Width) -> String {
    let table = table_html(&compare(&numbers.plan));
    format!(
        "<section class=\"card schedules\" aria-labelledby=\"schedules-title\">\
         <h2 id=\"schedules-title\">{TITLE}</h2>\
         <p class=\"muted\">Each with the chunks per stage that it needs; all else as it is, \
         unless the row says what had to follow.</p>\
         <div class=\"schedules-table\">{table}</div></section>"
    )
}

/// The table as HTML. The roles stay when a narrow screen lays rows out as blocks.
fn table_html(comparison: &Comparison) -> String {
    let mut html = String::from(
        "<table class=\"schedule-table\" role=\"table\">\
         <caption class=\"visually-hidden\">Schedules compared</caption>\
         <thead role=\"rowgroup\"><tr role=\"row\">",
    );
    let titles = COLUMNS.iter().map(|column| column.title);
    for title in std::iter::once("Schedule").chain(titles).chain([CHANGE]) {
        let _ = write!(html, "<th scope=\"col\" role=\"columnheader\">{title}</th>");
    }
    html.push_str("</tr></thead><tbody role=\"rowgroup\">");
    let most = longest_bars(comparison);
    for row in &comparison.rows {
        let own = if row.is_own { " class=\"own\"" } else { "" };
        let name = row.method.name();
        let _ = write!(html, "<tr role=\"row\"{own} data-schedule=\"{name}\">");
        row_head(&mut html, row);
        match &row.outcome {
            Outcome::Runs(run) => numbers(&mut html, row, &run.metrics, comparison, most),
            Outcome::Refused(refusal) => refused(&mut html, name, refusal),
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
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

/// The schedule's name, which opens the design under it, and what had to follow.
fn row_head(html: &mut String, row: &Row) {
    let name = row.method.name();
    html.push_str("<th scope=\"row\" role=\"rowheader\">");
    match row.target().filter(|_| row.metrics().is_some()) {
        Some(design) => {
            design_link(html, design, &format!("schedule {name}"));
            let current = if row.is_own { " aria-current=\"true\"" } else { "" };
            let _ = write!(html, " class=\"explain\"{current}>{name}</a>");
        }
        None => html.push_str(name),
    }
    if row.is_own {
        html.push_str(" <span class=\"own-mark\">This design</span>");
    }
    let mut beside = format::counted(row.chunks, "chunk", "chunks");
    if let Some(target) = row.target() {
        for id in &row.followed {
            let _ = write!(beside, "; {} {}", short_label(*id), spelled(&target.get(*id)));
        }
    }
    let beside = escaped(&beside);
    let _ = write!(html, " <span class=\"schedule-beside muted\">{beside}</span></th>");
}

/// The cells of a schedule that runs: numbers with their bars, and the step beside today's.
fn numbers(
    html: &mut String,
    row: &Row,
    metrics: &Metrics,
    comparison: &Comparison,
    most: [f64; COLUMNS.len()],
) {
    for (index, column) in COLUMNS.iter().enumerate() {
        let share = (column.length)(metrics) / most[index].max(f64::MIN_POSITIVE);
        let width = (share.clamp(0.0, 1.0) * 100.0).round();
        let mark = match index {
            STEP if comparison.fastest == Some(row.method) => "shortest",
            MEMORY if comparison.leanest == Some(row.method) => "least",
            _ => "",
        };
        let state = if index == MEMORY { memory_state::class(metrics.memory_state()) } else { "" };
        let _ = write!(
            html,
            "<td role=\"cell\" data-label=\"{}\" class=\"{state}\"><span>",
            column.title
        );
        if !mark.is_empty() {
            let _ = write!(html, "<span class=\"own-mark\">{mark}</span> ");
        }
        let _ = write!(
            html,
            "{}</span><svg class=\"cell-bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" \
             aria-hidden=\"true\"><rect width=\"{width}\" height=\"4\"></rect></svg></td>",
            escaped(&(column.text)(metrics)),
        );
    }
    let (class, change) = match comparison.now {
        None => ("", String::new()),
        Some(_) if row.is_own => ("", "as now".to_owned()),
        Some(now) => {
            let (step, then) = (metrics.step_time.get(), now.step_time.get());
            let class = match step.total_cmp(&then) {
                std::cmp::Ordering::Less => " better",
                std::cmp::Ordering::Greater => " worse",
                std::cmp::Ordering::Equal => "",
            };
            (class, format::relative(step, then))
        }
    };
    let _ = write!(
        html,
        "<td role=\"cell\" data-label=\"{CHANGE}\">\
         <span class=\"change{class}\">{change}</span></td>"
    );
}

/// Why it can't run, and the one change that lets it.
fn refused(html: &mut String, name: &str, refusal: &Refusal) {
    let (span, message) = (COLUMNS.len() + 1, escaped(&refusal.message));
    let _ =
        write!(html, "<td role=\"cell\" class=\"refused\" colspan=\"{span}\">Can't run: {message}");
    if refusal.more > 0 {
        let _ = write!(html, " (and {})", more_rules(refusal.more));
    }
    if let Some(fix) = &refusal.fix {
        let (design, way) = fix.as_ref();
        let change = escaped(&format!("{} {}", short_label(way.knob), spelled(&way.value)));
        html.push(' ');
        design_link(html, design, &format!("schedule {name}"));
        let _ = write!(html, " class=\"button way\">Use with {change}</a>");
    }
    html.push_str("</td>");
}

fn more_rules(count: usize) -> String {
    format::counted(count as u64, "more rule", "more rules")
}

#[cfg(test)]
mod tests {
    use model::choice::Method;

    use super::*;

    fn table_of(query: &str) -> String {
        let design = model::link::decode(query).expect("a link that decodes");
        table_html(&compare(&model::Plan::new(&design).expect("a legal design")))
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
        let html = table_of("?training.global_batch_size=1536");
        assert!(html.contains("Can't run: dualpipe needs 32 micro-batches"), "{html}");
        assert!(html.contains("Use with GBS 3072"), "{html}");
    }
}
