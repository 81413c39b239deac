//! Numbers of an answer for agents: each with its unit, its range and what that rests on.

use std::borrow::Cow;

use model::design::file::Tree;
use model::metric::{Basis, MetricId};
use present::format;
use reports::report::BrokenRule;
use reports::typed::{KnobValue, Named, Said};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Metrics that a summary of a training step names.
pub(crate) const HEADLINE: [&str; 6] = [
    "mfu",
    "tokens_per_second_per_device",
    "step_time_seconds",
    "memory_peak_bytes",
    "fits",
    "fit_probability",
];

/// What is known of how far a number may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// A count or a formula: its definition makes it exact.
    Exact,
    /// The range is of errors on published runs of this family of accelerators, each source left
    /// out of the fit.
    PublishedRuns,
    /// The same of other families: too few sources published such runs on this one, and the range
    /// may be wider.
    BorrowedRuns,
    /// A verdict on the peak memory, whose range it follows.
    AsPeakMemory,
    /// It follows from the model's parts; too few published runs report it to compare. Say so.
    NotValidated,
    /// An input is missing, or the design breaks rules: there is no number.
    NotKnown,
}

/// A range in the number's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Span {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A number with its unit, its range, and what that rests on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Number {
    /// The metric's id; `moescape://metrics` has its definition and source.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// In `unit`; null where it isn't known, and of verdicts.
    pub value: Option<f64>,
    /// A verdict: yes or no.
    pub verdict: Option<bool>,
    /// Empty for counts and ratios: 0.3 is 30 %.
    pub unit: String,
    /// As people read it, with its unit.
    pub text: String,
    /// With 50 % the true value is in it.
    pub range_50: Option<Span>,
    /// With 90 % the true value is in it.
    pub range_90: Option<Span>,
    /// What is known of its error.
    pub evidence: Evidence,
    /// What the range covers: on how many published runs of how many sources it rests.
    pub covers: String,
}

/// A part of an answer as reports have it: their type says what is written, and describes it.
#[derive(Clone, Debug)]
pub struct Data<T>(pub T);

impl<T: Said + Clone> Serialize for Data<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.clone().said().serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Data<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A tree as JSON.
pub fn json(tree: &Tree) -> Value {
    // Only maps with keys that aren't text can fail.
    serde_json::to_value(tree).unwrap_or_default()
}

/// A value of serde's as a tree, with its keys in their order.
pub(crate) fn tree(value: &impl Serialize) -> Tree {
    // Only maps with keys that aren't text can fail.
    let text = serde_json::to_string(value).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Tree::Null)
}

/// An object whose form is elsewhere.
pub fn map(value: impl Said) -> Map<String, Value> {
    let Value::Object(entries) = json(&value.said()) else { return Map::new() };
    entries
}

/// Metrics by their ids with their ranges, in the registry's order; those of `ids` alone, where
/// some are named.
pub fn numbers(metrics: impl Said, ranges: impl Said, ids: &[&str]) -> Vec<Number> {
    let [metrics, ranges] = [metrics.said(), ranges.said()].map(|it| json(&it));
    let named = |id: &MetricId| {
        let name = id.metric().name;
        (ids.is_empty() || ids.contains(&name)) && metrics.get(name).is_some()
    };
    let all = MetricId::ALL.iter().copied().filter(named).map(|id| {
        let name = id.metric().name;
        number(id, &metrics[name], ranges.get(name).unwrap_or(&Value::Null))
    });
    all.collect()
}

fn number(id: MetricId, value: &Value, range: &Value) -> Number {
    let metric = id.metric();
    let (number, verdict) = (value.as_f64(), value.as_bool());
    let evidence = if value.is_null() {
        Evidence::NotKnown
    } else if range["is_borrowed"].as_bool() == Some(true) {
        Evidence::BorrowedRuns
    } else if range.is_object() {
        Evidence::PublishedRuns
    } else {
        match metric.basis {
            Basis::Exact => Evidence::Exact,
            Basis::Verdict => Evidence::AsPeakMemory,
            Basis::Time | Basis::Rate | Basis::Memory | Basis::Derived => Evidence::NotValidated,
        }
    };
    Number {
        id: metric.name.to_owned(),
        label: metric.label.to_owned(),
        value: number,
        verdict,
        unit: metric.unit.name().to_owned(),
        text: match (number, verdict) {
            (Some(number), _) => format::measured(id, number).to_string(),
            (None, Some(verdict)) => format::measured(id, f64::from(verdict)).to_string(),
            (None, None) => format::metric(id, None).to_string(),
        },
        range_50: span(&range["range_50"]),
        range_90: span(&range["range_90"]),
        covers: covers(evidence, range),
        evidence,
    }
}

fn span(ends: &Value) -> Option<Span> {
    Some(Span { low: ends[0].as_f64()?, high: ends[1].as_f64()? })
}

/// Sentence on what a range covers.
fn covers(evidence: Evidence, range: &Value) -> String {
    let count = |key: &str| range[key].as_u64().unwrap_or_default();
    let runs = || {
        let family = range["family"].as_str().unwrap_or("all");
        let on = if family == "all" { "all accelerators" } else { family };
        format!(
            "errors of {} published runs of {} sources on {on}, each source left out of the fit",
            count("rows"),
            count("sources"),
        )
    };
    match evidence {
        Evidence::PublishedRuns => runs(),
        Evidence::BorrowedRuns => {
            format!("{}; too few sources on this family, whose own range may be wider", runs())
        }
        Evidence::Exact => "an exact count by its definition".to_owned(),
        Evidence::AsPeakMemory => "follows peak memory and its range".to_owned(),
        Evidence::NotValidated => "not validated: too few published runs report it".to_owned(),
        Evidence::NotKnown => "no number".to_owned(),
    }
}

impl Number {
    /// Text in a line: `MFU 30.0 % (50 %: 28.5 to 31.5 %; 90 %: 24.0 to 33.0 %)`.
    pub fn line(&self) -> String {
        let within = match (self.range_50, self.range_90) {
            (Some(half), Some(most)) => {
                format!("50 %: {}; 90 %: {}", self.between(half), self.between(most))
            }
            _ => self.covers.clone(),
        };
        format!("{} {} ({within})", self.label, self.text)
    }

    fn between(&self, span: Span) -> String {
        let shown = |end: f64| match MetricId::find(&self.id) {
            Some(id) => format::measured(id, end).to_string(),
            None => format::significant(end, 4),
        };
        format!("{} to {}", shown(span.low), shown(span.high))
    }
}

/// Numbers in lines.
pub fn lines(numbers: &[Number]) -> String {
    numbers.iter().map(|number| format!("{}\n", number.line())).collect()
}

/// Broken rules in lines.
pub fn broken_lines(violations: &[BrokenRule]) -> String {
    let line = |it: &BrokenRule| {
        let near: Vec<String> =
            it.nearest.iter().map(|way| setting(&way.knob, &way.value)).collect();
        let near =
            if near.is_empty() { String::new() } else { format!(" Nearest: {}.", near.join(", ")) };
        format!("Breaks {}: {}{near}\n", it.rule, it.message)
    };
    violations.iter().map(line).collect()
}

/// A knob with its value as `set` takes it.
fn setting(knob: &str, value: &KnobValue) -> String {
    format!("{knob}={}", spelled(&json(&value.0)))
}

/// Knobs with their values as `set` takes them.
pub fn settings(knobs: &Named<KnobValue>) -> String {
    let each = knobs.0.iter().map(|(knob, value)| setting(knob, value));
    each.collect::<Vec<_>>().join(", ")
}

/// A knob's value as `set` takes it.
fn spelled(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(spelled).collect::<Vec<_>>().join(","),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Sentences in lines.
pub fn titled(title: &str, lines: &[String]) -> String {
    lines.iter().map(|line| format!("{title}: {line}\n")).collect()
}
