//! What the browser tells by itself: that something comes into view, changes its size, or that the
//! theme changes. Each watch ends with its owner.

use leptos::prelude::*;
use leptos::wasm_bindgen::closure::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use web_sys::js_sys::Array;
use web_sys::{
    Element, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit,
    MutationObserver, MutationObserverInit, ResizeObserver, ResizeObserverEntry,
};

/// How far from view something already counts as seen.
const MARGIN: &str = "200px";

/// Keeps a handler alive until the owner goes, then calls `end`.
fn keep<F: ?Sized + 'static>(handler: Closure<F>, end: impl FnOnce() + 'static) {
    let kept = StoredValue::new_local(Some((handler, end)));
    on_cleanup(move || {
        if let Some(Some((_handler, end))) = kept.try_update_value(Option::take) {
            end();
        }
    });
}

/// Tells when an element comes into view, or almost, and when it leaves.
pub(super) fn sight(element: &Element, seen: impl Fn(bool) + 'static) {
    let handler = Closure::<dyn Fn(Array)>::new(move |entries: Array| {
        // The last entry is how it is now.
        if let Ok(entry) = entries.pop().dyn_into::<IntersectionObserverEntry>() {
            seen(entry.is_intersecting());
        }
    });
    let options = IntersectionObserverInit::new();
    options.set_root_margin(MARGIN);
    let callback = handler.as_ref().unchecked_ref();
    if let Ok(observer) = IntersectionObserver::new_with_options(callback, &options) {
        observer.observe(element);
        keep(handler, move || observer.disconnect());
    }
}

/// Tells an element's width and height, in pixels, first and whenever they change.
pub(super) fn size(element: &Element, changed: impl Fn(f64, f64) + 'static) {
    let handler = Closure::<dyn Fn(Array)>::new(move |entries: Array| {
        if let Ok(entry) = entries.pop().dyn_into::<ResizeObserverEntry>() {
            let bounds = entry.content_rect();
            changed(bounds.width(), bounds.height());
        }
    });
    if let Ok(observer) = ResizeObserver::new(handler.as_ref().unchecked_ref()) {
        observer.observe(element);
        keep(handler, move || observer.disconnect());
    }
}

/// Tells when the page turns dark or light, by its own switch or the system's.
pub(super) fn theme(changed: impl Fn() + Clone + 'static) {
    let by_system = changed.clone();
    let handler = Closure::<dyn Fn()>::new(changed);
    let options = MutationObserverInit::new();
    options.set_attributes(true);
    options.set_attribute_filter(&Array::of1(&JsValue::from_str("data-theme")));
    if let (Some(root), Ok(observer)) =
        (document().document_element(), MutationObserver::new(handler.as_ref().unchecked_ref()))
        && observer.observe_with_options(&root, &options).is_ok()
    {
        keep(handler, move || observer.disconnect());
    }
    let query = window().match_media("(prefers-color-scheme: dark)").ok().flatten();
    if let Some(query) = query {
        let handler = Closure::<dyn Fn()>::new(by_system);
        let callback: web_sys::js_sys::Function =
            handler.as_ref().unchecked_ref::<web_sys::js_sys::Function>().clone();
        // Fails only without a callback.
        let _ = query.add_event_listener_with_callback("change", &callback);
        keep(handler, move || {
            let _ = query.remove_event_listener_with_callback("change", &callback);
        });
    }
}
