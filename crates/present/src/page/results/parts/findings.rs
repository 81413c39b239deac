//! What the whole sweep says: what ruled out the rest, which knobs matter, the best of two knobs.

use maud::{Markup, html};

use crate::format;
use crate::html::table_head;
use crate::page::results::data::{Axis, Data, Dim};
use crate::page::results::heat::Grid;
use crate::page::results::view::View;

/// Table of the reasons that ruled out the rest.
#[must_use]
pub fn reasons(data: &Data) -> String {
    let most = data.ruled_out.iter().map(|(_, designs)| *designs).max().unwrap_or(1).max(1);
    let share = |designs: u64| {
        let share = designs as f64 / data.counts.done.max(1) as f64;
        if share < 0.001 { "< 0.1 %".to_owned() } else { format::percent(share, 1).to_string() }
    };
    let markup = html! {
        @if !data.ruled_out.is_empty() {
            table {
                (table_head(&["Rule or constraint", "Designs", "Share", ""]))
                tbody {
                    @for (reason, designs) in &data.ruled_out {
                        tr {
                            th.words scope="row" { (format::reason(reason)) }
                            td { (format::whole(*designs)) }
                            td { (share(*designs)) }
                            td.bar-cell { (bar(*designs as f64 / most as f64)) }
                        }
                    }
                }
            }
        } @else if data.counts.done == 0 {
            p.muted { "Nothing is known so far." }
        } @else {
            p.muted { "Nothing: every design is feasible." }
        }
    };
    markup.into_string()
}

fn bar(share: f64) -> Markup {
    let width = format!("{:.2}", (share.clamp(0.0, 1.0) * 100.0).max(0.5));
    html! {
        svg.sweep-share viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect width=(width) height="8" {}
        }
    }
}

/// Importance of each knob for the first objective, with the marginals of its values.
#[must_use]
pub fn importance(data: &Data) -> String {
    let Some(objective) = data.first() else { return String::new() };
    let dim = Dim::Metric(objective.metric);
    let mut axes: Vec<_> = data.axes.iter().filter(|axis| axis.values.len() > 1).collect();
    axes.sort_by(|one, other| {
        other.importance.unwrap_or(-1.0).total_cmp(&one.importance.unwrap_or(-1.0))
    });
    let most = axes.first().and_then(|axis| axis.importance).filter(|most| *most > 0.0);
    let best = |axis: &Axis| {
        let values = axis.values.iter().enumerate();
        let values = values.filter_map(|(at, value)| value.best.map(|(best, _)| (at, best)));
        let best = values.reduce(|one, other| {
            let better = if objective.max { other.1 > one.1 } else { other.1 < one.1 };
            if better { other } else { one }
        });
        best.map_or("–".to_owned(), |(at, best)| {
            let value = data.spelled(Dim::Knob(axis.knob), at as f64);
            format!("{value} ({})", format::unbroken(&data.spelled(dim, best)))
        })
    };
    let moves = |by| format::percent(by, 1).to_string();
    let markup = html! {
        table {
            (table_head(&["Knob", "Moves the mean by", "", "Best value"]))
            tbody {
                @for axis in axes {
                    tr {
                        th.words scope="row" { (data.label(Dim::Knob(axis.knob))) }
                        td { (axis.importance.map_or("–".to_owned(), moves)) }
                        td.bar-cell {
                            @if let (Some(by), Some(most)) = (axis.importance, most) {
                                (bar(by / most))
                            }
                        }
                        td.words { (best(axis)) }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// The heatmap as a table: the best of each cell.
#[must_use]
pub fn heat_table(data: &Data, view: &View) -> String {
    let knobs = data.first().zip(view.heat_knobs(data));
    let Some((objective, [level, upright])) = knobs else {
        return html! { p.muted { "A heatmap takes two knobs that vary." } }.into_string();
    };
    let dim = Dim::Metric(objective.metric);
    let grid = Grid::of(data, [level, upright]);
    if !grid.is_kept {
        let text = "The space is too large to keep these two knobs.";
        return html! { p.muted { (text) } }.into_string();
    }
    let corner = format!("{} \\ {}", data.label(Dim::Knob(upright)), data.label(Dim::Knob(level)));
    let columns = (0..grid.bins[0]).map(|column| grid.label(data, 0, column));
    let titles: Vec<String> = std::iter::once(corner).chain(columns).collect();
    let markup = html! {
        table {
            (table_head(&titles))
            tbody {
                @for row in (0..grid.bins[1]).rev() {
                    tr {
                        th scope="row" { (grid.label(data, 1, row)) }
                        @for column in 0..grid.bins[0] {
                            td {
                                @if let Some(cell) = grid.at([column, row]) {
                                    a href=(data.design_address(cell.best.1)) {
                                        (data.spelled(dim, cell.best.0))
                                    }
                                    @if let Some(text) = data.simulated_text(dim, cell.best.1) {
                                        " " small.muted { (text) }
                                    }
                                } @else { "none" }
                            }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}
