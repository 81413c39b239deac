//! What only a browser does on this page: it fetches the runs, keeps the address in step with the
//! filter, and follows the page's own links without loading it again.

use std::convert::Infallible;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use present::page::trust::JSON_PATH;
use present::page::trust::filter::Filter;
use present::site::Page;
use validation::report::Row;
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::{Array, Reflect};

use super::runs::Runs;
use crate::browser::dom::{clicked_link, focus_again};
use crate::browser::download::closest;
use crate::browser::folder::at;
use crate::browser::{Later, replace_address};
use crate::panel::address::follow_address;
use crate::reaction::effect;

/// The address follows when the filter has been still for this long.
const ADDRESS_DELAY: Duration = Duration::from_millis(250);

/// Events that show that somebody is there. Until then the runs are as the server wrote them.
const SIGNS: [&str; 5] = ["scroll", "pointermove", "pointerdown", "keydown", "focusin"];

/// Fetches the runs as soon as somebody does anything, and ties the filter to the address.
pub(super) fn install(runs: Runs) {
    let asked = StoredValue::new(false);
    effect(move || {
        let listeners = SIGNS.map(|sign| {
            window_event_listener_untyped(sign, move |_| {
                if asked.try_get_value() == Some(false) {
                    asked.set_value(true);
                    get(runs);
                }
            })
        });
        on_cleanup(move || listeners.into_iter().for_each(|listener| listener.remove()));
    });
    follow_address(
        |raw| Ok::<_, Infallible>(Filter::from_query(raw)),
        move |filter| {
            asked.set_value(true);
            runs.filter.set(filter);
            get(runs);
        },
    );
    let address = Later::new(ADDRESS_DELAY);
    let mut is_first = true;
    effect(move || {
        let to = runs.filter.with(Filter::address);
        if !mem::take(&mut is_first) {
            address.run(move || replace_address(&to));
        }
    });
}

/// Gets the runs for the page.
fn get(runs: Runs) {
    leptos::task::spawn_local(async move {
        let rows = fetch().await;
        // The page may be gone by now.
        match rows {
            Ok(rows) => {
                let _ = runs.rows.try_set(Some(Arc::new(rows)));
                let _ = runs.live.try_set(true);
            }
            Err(_) => drop(runs.failed.try_set(true)),
        }
    });
}

/// Gets the runs from the server.
async fn fetch() -> Result<Vec<Row>, JsValue> {
    let response = JsFuture::from(window().fetch_with_str(&at(JSON_PATH))).await?;
    let response: web_sys::Response = response.dyn_into()?;
    if !response.ok() {
        return Err(JsValue::NULL);
    }
    let report = JsFuture::from(response.json()?).await?;
    let rows: Array = Reflect::get(&report, &"rows".into())?.dyn_into()?;
    Ok(rows.iter().map(|row| read(&row)).collect())
}

/// A row of the report. Whatever it lacks is left empty, as by a server that is older or newer.
fn read(row: &JsValue) -> Row {
    let get = |key: &str| Reflect::get(row, &key.into()).unwrap_or(JsValue::NULL);
    let optional = |key: &str| get(key).as_string();
    let text = |key: &str| optional(key).unwrap_or_default();
    let number = |key: &str| get(key).as_f64();
    let assumed = get("assumed").dyn_into::<Array>().unwrap_or_default();
    Row {
        id: text("id"),
        source_id: text("source_id"),
        tier: text("tier"),
        kind: text("kind"),
        model: text("model"),
        hardware: text("hardware"),
        accelerator: optional("accelerator"),
        framework: optional("framework"),
        num_devices: number("num_devices").map(|count| count as u64),
        precision: text("precision"),
        metric: optional("metric"),
        measured: number("measured"),
        predicted: number("predicted"),
        error: number("error"),
        time_error: number("time_error"),
        memory_measured_gib: number("memory_measured_gib"),
        memory_predicted_gib: number("memory_predicted_gib"),
        scored: get("scored").as_bool().unwrap_or(false),
        assumed: assumed.iter().filter_map(|text| text.as_string()).collect(),
        refused: optional("refused"),
        design: optional("design"),
        source: text("source"),
        locator: text("locator"),
        // Of no use to the chart and the table.
        ..Row::default()
    }
}

/// Follows a link to this page by changing the filter; all other clicks go their way.
pub(super) fn follow_link(runs: Runs, event: &ev::MouseEvent) {
    let link = clicked_link(event).filter(|_| runs.live.get_untracked());
    let Some((link, address)) = link else { return };
    let Some(rest) = address.strip_prefix(Page::Trust.path()) else { return };
    let (query, place) = rest.split_once('#').unwrap_or((rest, ""));
    event.prevent_default();
    runs.filter.set(Filter::from_query(query));
    focus_again(link.id(), place.to_owned(), true);
}

/// Place of a pointer in a chart, in pixels of the screen, and the chart's width in these.
pub(super) fn place_in_chart(event: &ev::PointerEvent) -> Option<(f64, f64, f64)> {
    let bounds = closest(event, "svg.chart")?.get_bounding_client_rect();
    let x = f64::from(event.client_x()) - bounds.left();
    let y = f64::from(event.client_y()) - bounds.top();
    Some((x, y, bounds.width()))
}
