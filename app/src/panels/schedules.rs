//! The design under every schedule, in a table that is computed when somebody asks for it.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use model::choice::Choice;
use model::estimate::Metrics;
use model::units::Bytes;

use super::verdict::{short_label, spelled};
use crate::explorer::Explorer;
use crate::format;
use crate::schedules::{Comparison, Outcome, Refusal, Row, compare};

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
            if metrics.fits { format!("{peak}, fits") } else { format!("{peak}, does not fit") }
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

/// What the table shows besides its rows.
#[derive(Clone, Copy)]
struct Scale {
    /// The longest bar of each column.
    most: [f64; COLUMNS.len()],
    now: Option<Metrics>,
}

/// The section: a button, then the table.
pub fn schedules(explorer: Explorer) -> impl IntoView {
    let asked = RwSignal::new(false);
    let found = Memo::new(move |_| asked.get().then(|| explorer.with_resting(compare)));
    let content = move || match found.get() {
        None => Either::Left(view! {
            <button type="button" class="button" on:click=move |_| asked.set(true)>
                "Compare schedules"
            </button>
        }),
        Some(comparison) => Either::Right(table(explorer, comparison)),
    };
    view! {
        <section class="card schedules" aria-labelledby="schedules-title">
            <h2 id="schedules-title">"This design under every schedule"</h2>
            <p class="muted">
                "Each with the chunks per stage that it needs; all else as it is, unless the row \
                 says what had to follow."
            </p>
            {content}
        </section>
    }
}

fn table(explorer: Explorer, comparison: Comparison) -> impl IntoView {
    let scale = scale(&comparison);
    let marks = (comparison.fastest, comparison.leanest);
    let rows: Vec<_> = comparison
        .rows
        .into_iter()
        .map(|row| {
            let fastest = marks.0 == Some(row.method);
            let leanest = marks.1 == Some(row.method);
            table_row(explorer, row, scale, [fastest, leanest])
        })
        .collect();
    let head: Vec<_> = COLUMNS
        .iter()
        .map(|column| view! { <th scope="col" role="columnheader">{column.title}</th> })
        .collect();
    // The roles stay when a narrow screen lays rows out as blocks.
    view! {
        <table class="schedule-table" role="table">
            <caption class="visually-hidden">"Schedules compared"</caption>
            <thead role="rowgroup">
                <tr role="row">
                    <th scope="col" role="columnheader">"Schedule"</th>
                    {head}
                    <th scope="col" role="columnheader">"Step against now"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
}

fn scale(comparison: &Comparison) -> Scale {
    let mut most = [0.0_f64; COLUMNS.len()];
    for metrics in comparison.rows.iter().filter_map(Row::metrics) {
        for (most, column) in most.iter_mut().zip(&COLUMNS) {
            *most = most.max((column.length)(metrics));
        }
        // The memory's bars show how much of the limit they take.
        most[MEMORY] = most[MEMORY].max(Bytes::get(metrics.memory_limit));
    }
    Scale { most, now: comparison.now }
}

fn table_row(explorer: Explorer, row: Row, scale: Scale, marks: [bool; 2]) -> impl IntoView {
    let name = row.method.name();
    let is_own = row.is_own;
    let head = row_head(explorer, &row);
    let cells = match row.outcome {
        Outcome::Runs(run) => Either::Left(numbers(&run.metrics, scale, marks, is_own)),
        Outcome::Refused(refusal) => Either::Right(refused(explorer, name, refusal)),
    };
    view! {
        <tr role="row" class:own=is_own data-schedule=name>
            <th scope="row" role="rowheader">{head}</th>
            {cells}
        </tr>
    }
}

/// The schedule's name, which opens the design under it, and what had to follow.
fn row_head(explorer: Explorer, row: &Row) -> impl IntoView + use<> {
    let name = row.method.name();
    let runs = row.metrics().is_some();
    let title = match row.target() {
        Some(target) if runs && !row.is_own => {
            let design = target.clone();
            EitherOf3::A(view! {
                <button
                    type="button"
                    class="explain"
                    title="Use this schedule"
                    on:click=move |_| explorer.replace(format!("schedule {name}"), design.clone())
                >
                    {name}
                </button>
            })
        }
        _ if row.is_own => {
            EitherOf3::B(view! { {name} " " <span class="own-mark">"This design"</span> })
        }
        _ => EitherOf3::C(name),
    };
    let chunks = format::counted(row.chunks, "chunk", "chunks");
    let followed: Vec<String> = match row.target() {
        Some(target) => row
            .followed
            .iter()
            .map(|id| format!("{} {}", short_label(*id), spelled(&target.get(*id))))
            .collect(),
        None => Vec::new(),
    };
    let beside = std::iter::once(chunks).chain(followed).collect::<Vec<_>>().join("; ");
    view! { {title} <span class="schedule-beside muted">{beside}</span> }
}

fn numbers(
    metrics: &Metrics,
    scale: Scale,
    marks: [bool; 2],
    is_own: bool,
) -> impl IntoView + use<> {
    let cells: Vec<_> = COLUMNS
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let most = scale.most[index];
            let share = if most > 0.0 { (column.length)(metrics) / most } else { 0.0 };
            let mark = match index {
                STEP if marks[0] => Some("shortest"),
                MEMORY if marks[1] => Some("least"),
                _ => None,
            };
            let over = index == MEMORY && !metrics.fits;
            cell(column.title, (column.text)(metrics), share, mark, over)
        })
        .collect();
    let change = match scale.now {
        Some(_) if is_own => "as now".to_owned(),
        Some(now) => format::relative(metrics.step_time.get(), now.step_time.get()),
        None => String::new(),
    };
    let order = scale.now.map(|now| metrics.step_time.get().total_cmp(&now.step_time.get()));
    let better = order == Some(std::cmp::Ordering::Less);
    let worse = order == Some(std::cmp::Ordering::Greater);
    view! {
        {cells}
        <td role="cell" data-label="Step against now">
            <span class="change" class:better=better class:worse=worse>{change}</span>
        </td>
    }
}

/// A number with its bar.
fn cell(
    title: &'static str,
    text: String,
    share: f64,
    mark: Option<&'static str>,
    over: bool,
) -> impl IntoView {
    let width = (share.clamp(0.0, 1.0) * 100.0).round().to_string();
    let mark = mark.map(|mark| view! { <span class="own-mark">{mark}</span> " " });
    view! {
        <td role="cell" data-label=title class:over=over>
            <span>{mark}{text}</span>
            <svg
                class="cell-bar"
                viewBox="0 0 100 4"
                preserveAspectRatio="none"
                aria-hidden="true"
            >
                <rect width=width height="4"></rect>
            </svg>
        </td>
    }
}

/// Why it can't run, and the one change that lets it.
fn refused(explorer: Explorer, name: &'static str, refusal: Refusal) -> impl IntoView {
    let more = match refusal.more {
        0 => String::new(),
        more => format!(" (and {} more)", format::counted(more as u64, "rule", "rules")),
    };
    let fix = refusal.fix.map(|fix| {
        let (design, way) = *fix;
        let label = format!("Use with {} {}", short_label(way.knob), spelled(&way.value));
        view! {
            " "
            <button
                type="button"
                class="button way"
                on:click=move |_| explorer.replace(format!("schedule {name}"), design.clone())
            >
                {label}
            </button>
        }
    });
    let span = (COLUMNS.len() + 1).to_string();
    view! {
        <td role="cell" class="refused" colspan=span>
            "Can't run: " {refusal.message} {more} {fix}
        </td>
    }
}
