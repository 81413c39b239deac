//! Definition of a tool, and its limits.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::said::{Refusal, Wrong};

/// Bytes of a call's arguments, at most.
pub(super) const MAX_ARGUMENT_BYTES: usize = 2 << 20;

/// Seconds that a call may take, at most.
pub(super) const MAX_SECONDS: u64 = 25;

/// A call under way.
pub(super) struct Call<'a> {
    /// Prefix of links.
    pub(super) base: &'a str,
    /// True once nobody waits any more.
    pub(super) stop: &'a AtomicBool,
    /// Time when it has to end.
    pub(super) deadline: Instant,
    /// Hears how far it is, as a share of 1, and in words.
    pub(super) hear: &'a (dyn Fn(f64, String) + Sync),
}

impl Call<'_> {
    /// An address of the site as a whole link.
    pub(super) fn link(&self, address: &str) -> String {
        format!("{}{address}", self.base)
    }

    /// The explorer's link of a design's query.
    pub(super) fn design(&self, query: &str) -> String {
        let query = query.trim_start_matches('/').trim_start_matches('?');
        format!("{}/?{query}", self.base)
    }

    /// Goes on, unless nobody waits or the time is over.
    pub(super) fn beat(&self) -> ControlFlow<()> {
        let ended = self.stop.load(Ordering::Relaxed) || Instant::now() >= self.deadline;
        if ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Refusal of a call that ended before it was done.
    pub(super) fn ended(&self, advice: &str) -> Refusal {
        if self.stop.load(Ordering::Relaxed) {
            return Refusal::new("cancelled", "", "the call was cancelled");
        }
        let detail = format!("not done within {MAX_SECONDS} s; {advice}");
        Refusal::new("time_limit", "", detail)
    }
}

/// An answer, and the same in words.
pub(super) type Answer<T> = Result<(T, String), Refusal>;

/// A tool.
pub(super) trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    /// Whether a call takes all cores for seconds.
    const IS_SEARCH: bool = false;
    type Input: DeserializeOwned + JsonSchema + 'static;
    type Output: Serialize + JsonSchema + 'static;

    /// Answers a call.
    ///
    /// # Errors
    /// Everything that is wrong with the input.
    fn run(input: Self::Input, call: &Call) -> Answer<Self::Output>;
}

/// A tool in the table.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) is_search: bool,
    pub(super) describe: fn() -> Described,
    pub(super) run: fn(JsonObject, &Call) -> Answer<Value>,
}

/// The entry of a tool.
pub(super) const fn entry<T: Tool>() -> Entry {
    Entry { name: T::NAME, is_search: T::IS_SEARCH, describe: describe::<T>, run: run::<T> }
}

fn describe<T: Tool>() -> Described {
    let mut tool = Described::new(T::NAME, T::DESCRIPTION, JsonObject::new())
        .with_title(T::TITLE)
        .with_input_schema::<T::Input>()
        .with_output_schema::<T::Output>()
        .with_annotations(
            ToolAnnotations::new().read_only(true).idempotent(true).open_world(false),
        );
    let mut input = JsonObject::clone(&tool.input_schema);
    input.insert("additionalProperties".to_owned(), Value::Bool(false));
    tool.input_schema = input.into();
    tool
}

fn run<T: Tool>(arguments: JsonObject, call: &Call) -> Answer<Value> {
    let described = describe::<T>();
    let known = described.input_schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> = known.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect();
    let unknown = arguments.keys().filter(|key| !known.contains(&key.as_str()));
    let refusal = Refusal::of(unknown.map(|key| unknown_argument(key, &known)));
    if !refusal.errors.is_empty() {
        return Err(refusal);
    }
    let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let detail: String = error.to_string().chars().take(400).collect();
        Refusal::new("wrong_arguments", "", detail)
    })?;
    // Whoever left while they waited isn't worked for.
    if call.beat().is_break() {
        return Err(call.ended("call again"));
    }
    let (output, text) = T::run(input, call)?;
    let output = serde_json::to_value(output);
    let output = output.map_err(|error| Refusal::new("internal", "", error.to_string()))?;
    Ok((output, text))
}

fn unknown_argument(key: &str, known: &[&str]) -> Wrong {
    let shown: String = key.chars().take(80).collect();
    let likeness = |name: &&&str| strsim::jaro_winkler(name, &shown);
    let near = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    Wrong {
        rule: "unknown_argument".to_owned(),
        detail: format!("there is no argument `{shown}`; known are {}", known.join(", ")),
        nearest: near.map(|name| (*name).to_owned()).into_iter().collect(),
        at: shown,
    }
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
