//! Definition of a tool, and its limits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use operations::{Caller, Entry, Form, Kind, Limits, Refusal};
use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::ground::calendar;

/// Bytes of a call's arguments, at most.
pub(super) const MAX_ARGUMENT_BYTES: usize = 2 << 20;

/// Seconds that a call may take, at most.
pub(super) const MAX_SECONDS: u64 = 25;

/// Estimates of one search, at most.
const MAX_ESTIMATES: u64 = 20_000_000;

/// A call under way.
pub(super) struct Call<'a> {
    /// Prefix of links.
    pub(super) base: &'a str,
    /// True once nobody waits any more.
    pub(super) stop: &'a AtomicBool,
    /// Time when it began.
    pub(super) began: Instant,
    /// Time when it has to end.
    pub(super) deadline: Instant,
    /// Hears how far it is, as a share of 1, and in words.
    pub(super) hear: &'a (dyn Fn(f64, String) + Sync),
}

impl Caller for Call<'_> {
    fn base(&self) -> &str {
        self.base
    }

    fn waits(&self) -> bool {
        !self.stop.load(Ordering::Relaxed) && Instant::now() < self.deadline
    }

    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn ended(&self, advice: &str) -> Refusal {
        let (rule, detail) = if self.is_cancelled() {
            ("cancelled", "the call was cancelled".to_owned())
        } else {
            ("time_limit", format!("not done within {MAX_SECONDS} s; {advice}"))
        };
        Refusal::new(rule, "", detail).of_kind(Kind::Ended)
    }

    fn hear(&self, share: f64, words: &dyn Fn() -> String) {
        (self.hear)(share, words());
    }

    fn limits(&self) -> Limits {
        Limits { seconds: MAX_SECONDS, estimates: MAX_ESTIMATES }
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn today(&self) -> String {
        calendar::today()
    }
}

/// An answer, and the same in words.
pub(super) type Answer<T> = Result<(T, String), Refusal>;

/// An operation as the protocol lists it.
pub(super) fn described(entry: &Entry) -> Described {
    let mut input = whole(entry.input, SchemaSettings::draft2020_12());
    input.insert("additionalProperties".to_owned(), Value::Bool(false));
    let output = whole(entry.brief_form, SchemaSettings::draft2020_12().for_serialize());
    Described::new(entry.name, entry.description, input)
        .with_title(entry.title)
        .with_raw_output_schema(output.into())
        .with_annotations(ToolAnnotations::new().read_only(true).idempotent(true).open_world(false))
}

fn whole(form: Form, settings: SchemaSettings) -> JsonObject {
    let schema = (form.whole)(settings.into_generator()).to_value();
    schema.as_object().cloned().unwrap_or_default()
}

/// The bytes of texts and keys in arguments, about.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| weight(item) + 1).sum::<usize>(),
        Value::Object(items) => {
            2 + items.iter().map(|(key, item)| key.len() + 4 + weight(item)).sum::<usize>()
        }
    }
}

/// Time when a call that begins now has to end.
pub(super) fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(MAX_SECONDS)
}
