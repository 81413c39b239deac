//! A chart with a caption sentence and its table; both are redrawn a frame after the numbers.
//!
//! Text on the page changes at once; charts follow in an animation frame, so that a drag never
//! waits for them. What the server drew suits any width; in the browser the chart is drawn for the
//! width that it really has.

use std::sync::Arc;

use crate::reaction::effect;
use leptos::html::{Details, Div};
use leptos::prelude::*;
use present::html;

/// Charts are drawn no narrower and no wider.
const BOUNDS: (u32, u32) = (280, 1_200);

/// Draws a chart of that width, as SVG text.
pub type Draw = Arc<dyn Fn(u32) -> String + Send + Sync>;
/// Gives a table: its first row is the header.
pub type Rows = Arc<dyn Fn() -> Vec<Vec<String>> + Send + Sync>;

/// Inputs of a figure. `draw` and `rows` are called untracked.
pub struct Figure {
    /// The id of its heading.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// One sentence that says what the chart shows.
    pub caption: Signal<String>,
    /// The chart before its width is known, as HTML.
    pub first: String,
    /// The chart.
    pub draw: Draw,
    /// The chart's data as a table.
    pub rows: Rows,
    /// Notifies when the numbers have changed.
    pub changes: Signal<()>,
    /// Notifies when there is more or less room for the chart.
    pub room: Signal<()>,
}

/// Draws a figure.
pub fn figure(spec: Figure) -> impl IntoView {
    let Figure { id, title, caption, first, draw, rows, changes, room } = spec;
    let (chart, table) = (NodeRef::<Div>::new(), NodeRef::<Div>::new());
    let details = NodeRef::<Details>::new();
    let first_rows = untrack(|| html::table(title, &rows()));
    let waiting = StoredValue::new(false);
    // Zero while unknown. It isn't read at each drawing, since that makes the browser lay the page
    // out once more.
    let width = StoredValue::new(0);
    let redraw = Arc::new(move || {
        if let Some(chart) = chart.get_untracked() {
            if width.get_value() == 0 {
                width.set_value(u32::try_from(chart.client_width()).unwrap_or(0));
            }
            let width = width.get_value().clamp(BOUNDS.0, BOUNDS.1);
            chart.set_inner_html(&untrack(|| draw(width)));
        }
        if details.get_untracked().is_some_and(|details| details.has_attribute("open"))
            && let Some(table) = table.get_untracked()
        {
            table.set_inner_html(&untrack(|| html::table(title, &rows())));
        }
    });
    let later = Callback::new(move |()| {
        if waiting.try_get_value() == Some(false) {
            waiting.set_value(true);
            let redraw = redraw.clone();
            request_animation_frame(move || {
                // The figure may be gone by now, and its nodes with it.
                if waiting.try_set_value(false).is_none() {
                    redraw();
                }
            });
        }
    });
    let resized = Callback::new(move |()| {
        width.set_value(0);
        later.run(());
    });
    effect(move || {
        changes.get();
        later.run(());
    });
    effect(move || {
        room.get();
        resized.run(());
    });
    effect(move || {
        let listener = window_event_listener(leptos::ev::resize, move |_| resized.run(()));
        on_cleanup(move || listener.remove());
    });
    let heading = format!("{id}-title");
    view! {
        <figure class="figure card" aria-labelledby=heading id=id>
            <figcaption>
                <h2 id=heading.clone()>{title}</h2>
                <p>{move || caption.get()}</p>
            </figcaption>
            <div class="chart" node_ref=chart inner_html=first></div>
            <p class="figure-save" inner_html=html::save_buttons(id, title).into_string()></p>
            <details class="figure-table" node_ref=details on:toggle=move |_| later.run(())>
                <summary>"Table"</summary>
                <div
                    class="scroll-x"
                    role="region"
                    tabindex="0"
                    aria-label=format!("{title}, table")
                    node_ref=table
                    inner_html=first_rows
                ></div>
            </details>
        </figure>
    }
}
