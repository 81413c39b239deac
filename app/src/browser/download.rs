//! Gives texts of the page to the visitor as files. Tables and charts are saved by a script of its
//! own, `save.js`.

use leptos::ev::Event;
use leptos::prelude::{document, window};
use leptos::wasm_bindgen::{JsCast, JsValue};
use present::words::provenance::Provenance;
use web_sys::js_sys::{Array, Date};
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

/// Does something while the page is in its light colours, as files are: they go on paper. Nothing
/// is painted meanwhile.
pub(crate) fn on_paper<T>(act: impl FnOnce() -> T) -> Option<T> {
    const THEME: &str = "data-theme";
    let root = document().document_element()?;
    let theme = root.get_attribute(THEME);
    // A fixed, valid attribute name can always be set.
    let _ = root.set_attribute(THEME, "light");
    let done = act();
    let _ = match theme {
        Some(theme) => root.set_attribute(THEME, &theme),
        None => root.remove_attribute(THEME),
    };
    Some(done)
}

/// The element of an event, or the nearest one around it that a selector names.
pub(crate) fn closest(event: &Event, selector: &str) -> Option<Element> {
    let element = event.target()?.dyn_into::<Element>().ok()?;
    element.closest(selector).ok().flatten()
}

/// The elements inside one that a selector names.
pub(crate) fn elements(of: &Element, selector: &str) -> impl Iterator<Item = Element> + use<> {
    let found = of.query_selector_all(selector).ok();
    let count = found.as_ref().map_or(0, web_sys::NodeList::length);
    (0..count).filter_map(move |index| found.as_ref()?.get(index)?.dyn_into().ok())
}

/// Provenance of the page: the link of its design, or the page's address.
pub(crate) fn here() -> Provenance {
    let link = document().query_selector("a[data-design]").ok().flatten();
    let link = link.and_then(|link| link.get_attribute("href"));
    let design = match link.as_deref().and_then(|href| href.split_once('?')) {
        Some((_, link)) => format!("/?{link}"),
        None => {
            let location = window().location();
            let part = |part: Result<String, JsValue>| part.unwrap_or_default();
            part(location.pathname()) + &part(location.search())
        }
    };
    // `2026-01-31T12:00:00.000Z`, in UTC.
    let now = String::from(Date::new_0().to_iso_string());
    Provenance { design, date: now.chars().take(10).collect() }
}
