//! The chart of errors, and the words on the run that a pointer or the slider is on.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use present::charts::{self, Point, Scatter};
use present::page::trust::points::{family_rows, points_of, readout_html};
use present::page::trust::{BELOW, words};
use validation::report::Row;

use super::browser;
use super::runs::Runs;
use crate::reaction::{effect, memo};
use crate::widget::figure::{Draw, Figure, figure};

/// The chart with a slider that goes through its points.
pub(super) fn points(runs: Runs) -> impl IntoView {
    let points = memo(move || {
        runs.rows.with(|rows| match rows {
            Some(rows) => runs.filter.with(|filter| Arc::new(points_of(rows, filter))),
            None => Arc::default(),
        })
    });
    let current = RwSignal::new(None::<usize>);
    effect(move || {
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
                    id: BELOW,
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

/// The slider and its current point; hidden while there are no points to go through.
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
