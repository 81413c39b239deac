//! Designs beside those of the sweep, each where it lies in the scatter: the one that the sweep
//! varies, and those that the reader has pinned. The server says their numbers, as this module
//! doesn't estimate.

use leptos::wasm_bindgen::JsValue;
use model::metric::MetricId;
use web_sys::js_sys::{JSON, Reflect};

use crate::site::chosen::{Chosen, letter};

/// What the design is called that the sweep varies.
const BASE: &str = "You are here";

/// A design beside those of the sweep.
#[derive(Debug)]
pub(super) struct Beside {
    /// What is written at it.
    pub(super) label: String,
    metrics: JsValue,
}

impl Beside {
    /// A design by its numbers as the server writes them; none where it has none.
    pub(super) fn read(label: String, text: &str) -> Option<Self> {
        let all = JSON::parse(text).ok()?;
        let metrics = Reflect::get(&all, &"metrics".into()).ok().filter(JsValue::is_object)?;
        Some(Self { label, metrics })
    }

    /// A metric of it.
    pub(super) fn metric(&self, id: MetricId) -> Option<f64> {
        let value = Reflect::get(&self.metrics, &id.metric().name.into()).ok()?;
        value.as_f64().or_else(|| value.as_bool().map(|flag| f64::from(u8::from(flag))))
    }
}

/// What is drawn beside the designs of a sweep of that base: labels and links.
pub(super) fn links(base: &str, pins: &Chosen) -> Vec<(String, String)> {
    let base = Some(base).filter(|base| !base.is_empty());
    let pinned = pins.designs.iter().enumerate();
    let pinned = pinned.filter(|(_, choice)| Some(choice.link.as_str()) != base);
    let pinned = pinned.map(|(place, choice)| (letter(place).to_string(), choice.link.clone()));
    base.map(|link| (BASE.to_owned(), link.to_owned())).into_iter().chain(pinned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_stands_once_and_pins_keep_their_letters() {
        let pins = Chosen::of_links(["v=1", "v=1&vpp=1"]);
        let all = links("v=1", &pins);
        let all: Vec<(&str, &str)> = all.iter().map(|(label, link)| (&**label, &**link)).collect();
        assert_eq!(all, [(BASE, "v=1"), ("B", "v=1&vpp=1")]);
        assert!(links("", &Chosen::default()).is_empty());
    }
}
