//! Pointers of others on a chart: in the chart's data, so that it is the same place on every
//! screen, however wide the chart is drawn.

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use present::page::review::labels;
use review::wire::Cursor;
use web_sys::{Element, HtmlElement};

use super::presence;
use super::session::Session;
use crate::browser::download::elements;
use crate::reaction::{effect, memo};
use crate::widget::part::{IntoPart, Part, live};

/// The part of a chart inside its axes, as the charts mark it.
const PLOT: &str = ".chart-plot";

/// Tells the others where the pointer is on a chart.
pub(super) fn install(session: Session) {
    effect(move || {
        let moved = window_event_listener(ev::pointermove, move |event| {
            let at = at(&event);
            if session.pointer.with_untracked(|pointer| *pointer != at) {
                session.pointer.set(at);
                presence::soon(session);
            }
        });
        let resized = window_event_listener(ev::resize, move |_| {
            session.laid_out.update(|count| *count += 1);
        });
        on_cleanup(move || {
            moved.remove();
            resized.remove();
        });
    });
}

/// Place of an event on a chart.
fn at(event: &ev::PointerEvent) -> Option<Cursor> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let study = target.closest("#results [data-study]").ok()??;
    let plot = plot(&study)?.get_bounding_client_rect();
    let share = |at: i32, from: f64, length: f64| {
        let share = (f64::from(at) - from) / length;
        // A thousandth is finer than a pixel of most charts.
        (0.0..=1.0).contains(&share).then(|| (share * 1_000.0).round() / 1_000.0)
    };
    Some(Cursor {
        chart: study.get_attribute("data-study")?,
        x: share(event.client_x(), plot.left(), plot.width())?,
        y: share(event.client_y(), plot.top(), plot.height())?,
    })
}

/// The plot that is seen of a study: it may be drawn for several widths.
fn plot(study: &Element) -> Option<Element> {
    elements(study, PLOT).find(|plot| plot.get_bounding_client_rect().width() > 0.0)
}

/// Place of a point of a chart inside the results, in pixels.
fn place(cursor: &Cursor) -> Option<(f64, f64)> {
    let results = document().get_element_by_id("results")?.dyn_into::<HtmlElement>().ok()?;
    let studies = elements(&results, "[data-study]");
    let mut of =
        studies.filter(|it| it.get_attribute("data-study").as_ref() == Some(&cursor.chart));
    let plot = plot(&of.next()?)?.get_bounding_client_rect();
    let around = results.get_bounding_client_rect();
    let x = plot.left() + cursor.x * plot.width() - around.left();
    let y = plot.top() + cursor.y * plot.height() - around.top();
    Some((x, y + f64::from(results.scroll_top())))
}

/// The others' pointers. Decoration: what they point at they also say.
pub(super) fn cursors(session: Session) -> Part {
    let shown = memo(move || {
        let own = session.connection.get();
        session.people.with(|people| {
            let others = people.iter().filter(|there| there.connection != own);
            let one = |there: &review::wire::Presence| {
                let cursor = there.at.cursor.clone()?;
                let person = &there.person;
                Some((cursor, labels::person(person), labels::colour(&person.id)))
            };
            others.filter_map(one).collect::<Vec<_>>()
        })
    });
    let all = live(move || {
        session.laid_out.track();
        let one = |(cursor, name, colour): &(Cursor, String, String)| {
            let (x, y) = place(cursor)?;
            let class = format!("chart-cursor {colour}");
            let (left, top) = (format!("{x:.0}px"), format!("{y:.0}px"));
            let name = name.clone();
            Some(view! { <span class=class style:left=left style:top=top>{name}</span> }.part())
        };
        let all = shown.with(|all| all.iter().filter_map(one).collect::<Vec<Part>>());
        let is_empty = all.is_empty();
        (!is_empty).then(|| all.part())
    });
    view! { <div class="chart-cursors" aria-hidden="true">{all}</div> }.part()
}
