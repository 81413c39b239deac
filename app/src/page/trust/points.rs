//! The chart of errors, and the words on the run that a pointer or the slider is on.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use maud::html;
use present::charts::{self, Point, Scatter};
use present::format;
use present::words::family::Family;
use validation::report::Row;

use super::browser;
use super::filter::{Filter, Sort};
use super::runs::Runs;
use super::score::score;
use super::words::{self, NOTHING};
use crate::widget::figure::{Draw, Figure, figure};

/// The chart with a slider that goes through its points.
pub(super) fn points(runs: Runs) -> impl IntoView {
    let points = Memo::new(move |_| {
        runs.rows.with(|rows| match rows {
            Some(rows) => runs.filter.with(|filter| Arc::new(points_of(rows, filter))),
            None => Arc::default(),
        })
    });
    let current = RwSignal::new(None::<usize>);
    Effect::new(move || {
        points.track();
        current.set(None);
    });
    let draw: Draw = Arc::new(move |width| {
        Scatter::new(&points.get_untracked(), width).draw(current.get_untracked())
    });
    let rows = move || runs.rows.with_untracked(|rows| family_rows(rows.as_deref()));
    let seek = move |event: ev::PointerEvent| {
        let found = browser::place_in_chart(&event).and_then(|(x, y, width)| {
            let points = points.get_untracked();
            let scatter = Scatter::new(&points, width as u32);
            // Very wide charts are drawn smaller than they are shown.
            let scale = f64::from(scatter.width()) / width.max(1.0);
            scatter.nearest(x * scale, y * scale)
        });
        if found.is_some() && found != current.get_untracked() {
            current.set(found);
        }
    };
    view! {
        <div class="card errors">
            <div on:pointermove=seek on:pointerdown=seek>
                {figure(Figure {
                    id: super::BELOW,
                    title: "Error of each prediction",
                    caption: Signal::stored(String::from(
                        "One point per run in the filter below. Above the line the model is too \
                         slow, below it too fast.",
                    )),
                    first: charts::for_any_width(|width| Scatter::new(&[], width).draw(None)),
                    draw,
                    rows: Arc::new(rows),
                    changes: Signal::derive(move || {
                        points.track();
                        current.track();
                    }),
                    room: Signal::stored(()),
                })}
            </div>
            {readout(runs, points, current)}
        </div>
    }
}

/// The slider and what it stands on; hidden while there are no points to go through.
fn readout(
    runs: Runs,
    points: Memo<Arc<Vec<Point>>>,
    current: RwSignal<Option<usize>>,
) -> impl IntoView {
    let nothing = move || !runs.live.get() || points.with(|points| points.is_empty());
    let on_row = move |write: fn(&Row) -> String| {
        let place = points.with(|points| points.get(current.get()?).map(|point| point.place));
        runs.rows.with(|rows| Some(write(rows.as_ref()?.get(place?)?)))
    };
    let hint = "Hover over the chart or move the slider to identify a run.";
    let said = move || on_row(words::run).unwrap_or_else(|| "No run".to_owned());
    view! {
        <div class="readout" hidden=nothing>
            <label for="point">"Go through the points"</label>
            <input
                type="range"
                id="point"
                min="0"
                max=move || points.with(|points| points.len().saturating_sub(1))
                autocomplete="off"
                aria-valuetext=said
                prop:value=move || current.get().unwrap_or(0).to_string()
                on:input=move |event| current.set(event_target_value(&event).parse().ok())
            />
            <p inner_html=move || on_row(readout_html).unwrap_or_else(|| hint.to_owned())></p>
        </div>
    }
}

/// The points of the runs that a filter takes, by devices and then in the file's order.
fn points_of(rows: &[Row], filter: &Filter) -> Vec<Point> {
    let places = Filter { sort: Sort::File, ..filter.clone() }.select(rows);
    let mut points: Vec<Point> = Vec::with_capacity(places.len());
    for place in places {
        let row = &rows[place];
        let (Some(error), Some(num_devices)) = (row.time_error, row.num_devices) else { continue };
        let family = Family::of(row.accelerator.as_deref().unwrap_or("?"));
        points.push(Point { num_devices, ratio: 1.0 + error, family, place });
    }
    points.sort_by_key(|point| point.num_devices);
    points
}

/// A run in words, with its links.
fn readout_html(row: &Row) -> String {
    let query = row.design.as_ref().map(|design| design.strip_prefix('?').unwrap_or(design));
    let address = Filter { text: row.id.clone(), ..Filter::default() }.address();
    let markup = html! {
        strong { (words::run(row)) }
        " " (row.metric.as_deref().map_or("", words::metric_label)) ": "
        (words::value(row, row.measured)) " measured, "
        (words::value(row, row.predicted)) " predicted, "
        (row.error.map_or_else(|| NOTHING.to_owned(), words::error)) ". "
        @if let Some(query) = query {
            a href={ "/?" (query) } { "Open in the explorer" } " "
        }
        a href={ (address) "#runs" } { "Show in the table" }
    };
    markup.into_string()
}

/// The chart's numbers by family.
fn family_rows(rows: Option<&Vec<Row>>) -> Vec<Vec<String>> {
    let header = ["Accelerators", "Runs", "Median error", "90th percentile", "Bias"];
    let mut table = vec![header.map(String::from).to_vec()];
    let rows: &[Row] = rows.map_or(&[], Vec::as_slice);
    for family in Family::ALL {
        let of = |row: &&Row| Family::of(row.accelerator.as_deref().unwrap_or("?")) == family;
        let rows: Vec<&Row> = rows.iter().filter(of).collect();
        if let Some(score) = score(&rows) {
            table.push(vec![
                family.label().to_owned(),
                format::whole(score.rows as u64),
                words::share(score.median),
                words::share(score.p90),
                words::error(score.bias),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_an_error_or_a_size_have_no_point() {
        let row = |time_error, num_devices| Row { time_error, num_devices, ..Row::default() };
        let rows = [
            row(Some(0.1), Some(64)),
            row(None, Some(8)),
            row(Some(0.2), None),
            row(Some(-0.5), Some(8)),
        ];
        let points = points_of(&rows, &Filter::default());
        let seen: Vec<_> = points.iter().map(|point| (point.place, point.num_devices)).collect();
        assert_eq!(seen, [(3, 8), (0, 64)]);
    }
}
