//! What the browser tells of a figure: events, and that something comes into view, changes its
//! size, or that the theme or the plan changes that it is of.
//!
//! All of it goes to one handler, which keeps the module small; it ends when the watch is dropped.

use leptos::prelude::*;
use leptos::wasm_bindgen::closure::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use web_sys::js_sys::{Array, Function};
use web_sys::{
    Element, EventTarget, IntersectionObserver, IntersectionObserverInit, MutationObserver,
    MutationObserverInit, ResizeObserver,
};

/// The attribute of a figure that names what it is to show, for the module that draws it.
pub const PLAN: &str = "data-plan";

/// Distance from the window within which a figure already counts as seen.
const MARGIN: &str = "200px";

/// Events of the figure. Those that don't bubble are caught on their way down.
const EVENTS: [&str; 9] = [
    "click",
    "keydown",
    "wheel",
    "pointerdown",
    "pointermove",
    "pointerup",
    "pointercancel",
    "pointerout",
    "toggle",
];

/// Told of changes as long as it lives.
pub(super) struct Watch {
    handler: Closure<dyn FnMut(JsValue)>,
    targets: Vec<(EventTarget, &'static str)>,
    observers: Option<(IntersectionObserver, ResizeObserver, MutationObserver)>,
}

impl Watch {
    /// Watches a figure and the size of its pictures.
    pub(super) fn new(
        figure: &Element,
        pictures: &[Element],
        told: impl Fn(&JsValue) + 'static,
    ) -> Self {
        let handler = Closure::<dyn FnMut(JsValue)>::new(move |what: JsValue| told(&what));
        let mut targets: Vec<(EventTarget, &'static str)> =
            EVENTS.iter().map(|event| (EventTarget::from(figure.clone()), *event)).collect();
        // The resolution of the screen changes with the page's zoom, or with the screen.
        targets.push((window().into(), "resize"));
        if let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") {
            targets.push((query.into(), "change"));
        }
        let mut watch = Self { observers: None, handler, targets };
        for (target, event) in &watch.targets {
            // Fails only without a callback.
            let _ = target.add_event_listener_with_callback_and_bool(event, watch.callback(), true);
        }
        watch.observers = watch.observe(figure, pictures).ok();
        watch
    }

    fn callback(&self) -> &Function {
        self.handler.as_ref().unchecked_ref()
    }

    fn observe(
        &self,
        figure: &Element,
        pictures: &[Element],
    ) -> Result<(IntersectionObserver, ResizeObserver, MutationObserver), JsValue> {
        let options = IntersectionObserverInit::new();
        options.set_root_margin(MARGIN);
        let sight = IntersectionObserver::new_with_options(self.callback(), &options)?;
        sight.observe(figure);
        let size = ResizeObserver::new(self.callback())?;
        for picture in pictures {
            size.observe(picture);
        }
        let attributes = MutationObserver::new(self.callback())?;
        let follow = |element: &Element, attribute: &str| {
            let options = MutationObserverInit::new();
            options.set_attribute_filter(&Array::of1(&JsValue::from_str(attribute)));
            attributes.observe_with_options(element, &options)
        };
        if let Some(root) = document().document_element() {
            follow(&root, "data-theme")?;
        }
        follow(figure, PLAN)?;
        Ok((sight, size, attributes))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for (target, event) in &self.targets {
            let _ =
                target.remove_event_listener_with_callback_and_bool(event, self.callback(), true);
        }
        if let Some((sight, size, attributes)) = &self.observers {
            sight.disconnect();
            size.disconnect();
            attributes.disconnect();
        }
    }
}
