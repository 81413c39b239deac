//! Goodput where failures and storage vary, as HTML text.

use maud::{PreEscaped, html};
use model::design::Run;
use model::metric::published::FAILURE_INTERVALS;
use model::run::budget::Surface;

use super::{BudgetAnswer, BudgetInput};
use crate::charts::{Line, Lines, for_any_page, lines};
use crate::format;
use crate::html::table_head;

/// Chart, table, and published figures to take over.
pub fn surface(of: &BudgetAnswer) -> String {
    let surface = &of.assessment.surface;
    let run = &of.asked.design.run;
    let columns = surface.rates.len();
    let mut titles = vec!["Device-hours between failures".to_owned()];
    titles.extend(surface.rates.iter().map(|rate| format!("{rate} GB/s")));
    let markup = html! {
        p.muted { "Each at its best interval unless one is set. Published failures to take over:" }
        p.ways {
            @for known in FAILURE_INTERVALS {
                a.button #{ "failures-" (known.name) }
                    href=(taken(&of.asked, known.figure.value).address()) title=(known.title) {
                    (known.title)
                }
                " "
            }
        }
        (PreEscaped(for_any_page(|width| lines(&chart(surface, run), width))))
        table {
            caption.visually-hidden { "Goodput over failures and storage" }
            (table_head(&titles))
            tbody {
                @for (hours, row) in surface.mtbf.iter().zip(surface.cells.chunks(columns)) {
                    tr {
                        th scope="row" { (format::whole(*hours as u64)) }
                        @for cell in row { td { (format::percent(cell.goodput, 1)) } }
                    }
                }
            }
        }
    };
    markup.into_string()
}

fn taken(asked: &BudgetInput, hours: f64) -> BudgetInput {
    asked.with(|design| design.run.mtbf_device_hours = Some(hours.round()))
}

/// Goodput over device-hours between failures, a line for each of four rates.
fn chart(surface: &Surface, run: &Run) -> Lines {
    let columns = surface.rates.len();
    let line = |place: usize| Line {
        name: format!("{} GB/s", surface.rates[place]),
        points: surface
            .mtbf
            .iter()
            .zip(surface.cells.chunks(columns))
            .map(|(hours, row)| (hours.log10(), 100.0 * row[place].goodput))
            .collect(),
        is_apart: false,
    };
    let ticks = surface.mtbf.iter().map(|hours| (hours.log10(), format::whole(*hours as u64)));
    let [low, high] = [surface.mtbf[0], surface.mtbf[surface.mtbf.len() - 1]];
    let own = run.mtbf_device_hours.filter(|hours| (low..=high).contains(hours));
    Lines {
        label: "Goodput over device-hours between failures, for four rates of checkpoints."
            .to_owned(),
        x_title: "device-hours between failures".to_owned(),
        y_title: "goodput, %".to_owned(),
        lines: (0..columns).step_by(2).map(line).collect(),
        ticks: Some(ticks.collect()),
        places: own.map(|hours| (hours.log10(), "this run".to_owned())).into_iter().collect(),
        from: 100.0,
        decimals: 1,
    }
}
