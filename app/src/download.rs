//! Gives texts, tables and charts of the page to the visitor as files.

use leptos::ev::Event;
use leptos::prelude::{document, window};
use leptos::wasm_bindgen::{JsCast, JsValue};
use web_sys::js_sys::Array;
use web_sys::{Blob, BlobPropertyBag, Element, HtmlAnchorElement, Url};

/// Saves a text under a name, as the browser saves what is downloaded.
pub(crate) fn download(name: &str, media_type: &str, text: &str) {
    // A browser that can't make a file of it does nothing; there is nothing to mend.
    let _ = try_download(name, media_type, text);
}

fn try_download(name: &str, media_type: &str, text: &str) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(media_type);
    let parts = Array::of1(&JsValue::from_str(text));
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document().create_element("a")?.dyn_into()?;
    link.set_href(&url);
    link.set_download(name);
    link.click();
    Url::revoke_object_url(&url)
}

/// Where an event happened, or the nearest element around it that a selector names.
pub(crate) fn closest(event: &Event, selector: &str) -> Option<Element> {
    let element = event.target()?.dyn_into::<Element>().ok()?;
    element.closest(selector).ok().flatten()
}

/// Saves the table beside a button as a file.
pub(crate) fn save_table(button: &Element) {
    let table = button.closest("details, .figure").ok().flatten();
    let table = table.and_then(|around| around.query_selector("table").ok().flatten());
    let (Some(table), Some(name)) = (table, button.get_attribute("data-save")) else { return };
    let mut csv = String::new();
    for row in elements(&table, "tr") {
        let cells: Vec<String> = elements(&row, "th, td")
            .map(|cell| quoted(&cell.text_content().unwrap_or_default()))
            .collect();
        csv.push_str(&cells.join(","));
        csv.push_str("\r\n");
    }
    download(&format!("moescape-{name}.csv"), "text/csv;charset=utf-8", &csv);
}

/// The elements inside one that a selector names.
pub(crate) fn elements(of: &Element, selector: &str) -> impl Iterator<Item = Element> + use<> {
    let found = of.query_selector_all(selector).ok();
    let count = found.as_ref().map_or(0, web_sys::NodeList::length);
    (0..count).filter_map(move |index| found.as_ref()?.get(index)?.dyn_into().ok())
}

/// A cell of a CSV file (RFC 4180).
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// What the style sheet says of a chart's marks; a file has none, so they are written into it.
const LOOKS: [&str; 6] =
    ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-weight", "font-family"];

/// The namespace of elements in a chart.
const SVG: &str = "http://www.w3.org/2000/svg";

/// Saves the chart of the figure whose id a button has, as it is in view.
pub(crate) fn save_picture(button: &Element) {
    // A browser that can't make a file of it does nothing; there is nothing to mend.
    let _ = try_save_picture(button);
}

fn try_save_picture(button: &Element) -> Option<()> {
    let name = button.get_attribute("data-save-picture")?;
    let figure = document().get_element_by_id(&name)?;
    let look = |element: &Element, property: &str| {
        let style = window().get_computed_style(element).ok().flatten()?;
        style.get_property_value(property).ok()
    };
    let in_view = |chart: &Element| look(chart, "display").is_some_and(|it| it != "none");
    let chart = elements(&figure, "svg.chart").find(in_view)?;
    let copy: Element = chart.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
    for (own, copied) in elements(&chart, "*").zip(elements(&copy, "*")) {
        for property in LOOKS {
            if let Some(value) = look(&own, property) {
                // A fixed, valid attribute name can always be set.
                let _ = copied.set_attribute(property, &value);
            }
        }
    }
    // A picture of its own has the ground on which it was looked at.
    let ground = document().body().and_then(|body| look(&body, "--surface")).unwrap_or_default();
    let rect = document().create_element_ns(Some(SVG), "rect").ok()?;
    for (name, value) in [("width", "100%"), ("height", "100%"), ("fill", ground.trim())] {
        let _ = rect.set_attribute(name, value);
    }
    copy.insert_before(&rect, copy.first_child().as_ref()).ok()?;
    download(&format!("moescape-{name}.svg"), "image/svg+xml", &copy.outer_html());
    Some(())
}
