//! A design beside those of the sweep by what the server says of it, as this module doesn't
//! estimate.

use leptos::wasm_bindgen::JsValue;
use model::metric::MetricId;
use present::page::results::beside::ReferenceDesign;
use web_sys::js_sys::{JSON, Reflect};

/// A design beside those of the sweep.
#[derive(Debug)]
pub(super) struct Neighbour {
    /// Label of its mark.
    label: String,
    metrics: JsValue,
}

impl Neighbour {
    /// Reads a design's numbers as the server writes them; `None` if it has none.
    pub(super) fn read(label: String, text: &str) -> Option<Self> {
        let all = JSON::parse(text).ok()?;
        let metrics = Reflect::get(&all, &"metrics".into()).ok().filter(JsValue::is_object)?;
        Some(Self { label, metrics })
    }
}

impl ReferenceDesign for Neighbour {
    fn label(&self) -> &str {
        &self.label
    }

    fn metric(&self, id: MetricId) -> Option<f64> {
        let value = Reflect::get(&self.metrics, &id.metric().name.into()).ok()?;
        value.as_f64().or_else(|| value.as_bool().map(|flag| f64::from(u8::from(flag))))
    }
}
