//! Between a knob's Rust type and its [`Value`]: reading text, checking bounds.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

use super::arguments;
use super::hybrid::HybridPattern;
use super::lengths::LengthHistogram;
use super::named::{known_name, named};
use super::overrides::LayerOverrides;
use super::python_list::read_list;
use super::ratios::CompressRatios;
use crate::ground::choice::{Choice, Set};
use crate::ground::decimal;
use crate::ground::knob::{Kind, Knob, KnobError, LayerText, Value};
use crate::ground::text::shorten;

/// A Rust type that a knob can have.
pub(super) trait Setting: Sized {
    /// As files and links spell it.
    fn value(&self) -> Value;
    /// From a value of the right kind and in bounds; `None` otherwise.
    fn from_value(value: &Value) -> Option<Self>;
}

/// A knob's place in a design, whatever its type: one table of places is smaller than a function of
/// all knobs for everything that is done with one.
pub(super) trait Field: Any {
    /// As files and links spell it.
    fn value(&self) -> Value;
    /// Takes a value of the right kind.
    fn put(&mut self, value: &Value);
    /// Whether another design has the same there; reals by their value, as nothing is computed of
    /// them.
    fn same(&self, other: &dyn Field) -> bool;
    /// Takes over what another design has there.
    fn take(&mut self, other: &dyn Field);
}

impl<T: Setting + Clone + PartialEq + 'static> Field for T {
    fn value(&self) -> Value {
        Setting::value(self)
    }

    fn put(&mut self, value: &Value) {
        if let Some(value) = Self::from_value(value) {
            *self = value;
        }
    }

    fn same(&self, other: &dyn Field) -> bool {
        (other as &dyn Any).downcast_ref::<Self>() == Some(self)
    }

    fn take(&mut self, other: &dyn Field) {
        if let Some(other) = (other as &dyn Any).downcast_ref::<Self>() {
            self.clone_from(other);
        }
    }
}

impl Setting for u64 {
    fn value(&self) -> Value {
        Value::Integer(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Integer(value) = value { Some(*value) } else { None }
    }
}

impl Setting for f64 {
    fn value(&self) -> Value {
        Value::Real(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Real(value) => Some(*value),
            // Exact: the bounds of every real knob are far below 2^53.
            Value::Integer(value) => Some(*value as Self),
            Value::None | Value::Flag(_) | Value::Text(_) | Value::List(_) => None,
        }
    }
}

impl Setting for bool {
    fn value(&self) -> Value {
        Value::Flag(*self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Flag(value) = value { Some(*value) } else { None }
    }
}

impl<T: Setting> Setting for Option<T> {
    fn value(&self) -> Value {
        self.as_ref().map_or(Value::None, Setting::value)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if *value == Value::None { Some(None) } else { T::from_value(value).map(Some) }
    }
}

impl<C: Choice> Setting for C {
    fn value(&self) -> Value {
        Value::Text(self.name().to_string())
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(name) = value { C::from_name(name) } else { None }
    }
}

impl<C: Choice> Setting for Set<C> {
    fn value(&self) -> Value {
        Value::List(self.iter().map(|choice| Value::Text(choice.name().to_string())).collect())
    }
    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(values) = value else { return None };
        values
            .iter()
            .try_fold(Self::EMPTY, |set, value| C::from_value(value).map(|choice| set.with(choice)))
    }
}

impl Setting for String {
    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text.clone()) } else { None }
    }
}

/// Layers that a pattern marks, as Megatron's `moe_layer_freq` spells it: those with experts, with
/// linear attention or with sparse attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerFreq {
    /// One in every N, starting with the first.
    Every(u64),
    /// Runs of layers, marked or not.
    Runs(Vec<(bool, u64)>),
}

impl LayerFreq {
    /// Reads `2` or a Python list expression such as `([0]*3+[1]*58)`.
    fn read(text: &str) -> Option<Self> {
        if let Ok(every) = text.trim().parse::<u64>() {
            return (1..=1_000).contains(&every).then_some(Self::Every(every));
        }
        let mut runs: Vec<(bool, u64)> = Vec::new();
        for flag in read_list(text, &["0", "1"])? {
            push_run(&mut runs, flag == 1, 1);
        }
        Some(Self::Runs(runs))
    }

    /// Whether the layer at this position is marked. Positions past a pattern's end are not.
    #[must_use]
    pub fn marks(&self, position: u64) -> bool {
        match self {
            Self::Every(every) => position.is_multiple_of(*every),
            Self::Runs(runs) => {
                let mut end = 0;
                runs.iter()
                    .find(|(_, count)| {
                        end += count;
                        position < end
                    })
                    .is_some_and(|(is_marked, _)| *is_marked)
            }
        }
    }

    /// Whether the layer at this position has linear attention: of every n layers all but the last,
    /// or those that a pattern marks.
    ///
    /// # Source
    /// Megatron-Core `experimental_attention_variant_module_specs.py`, `linear_attention_freq`.
    #[must_use]
    pub fn is_linear(&self, position: u64) -> bool {
        match self {
            Self::Every(every) => !(position + 1).is_multiple_of(*every),
            Self::Runs(_) => self.marks(position),
        }
    }

    /// Number of marked layers in front of this position.
    #[must_use]
    pub fn marked_before(&self, position: u64) -> u64 {
        match self {
            Self::Every(every) => position.div_ceil(*every),
            Self::Runs(runs) => {
                let mut left = position;
                let in_run = |(is_marked, count): &(bool, u64)| {
                    let passed = left.min(*count);
                    left -= passed;
                    if *is_marked { passed } else { 0 }
                };
                runs.iter().map(in_run).sum()
            }
        }
    }

    /// Number of layers that the pattern covers; `None` when it repeats for ever.
    #[must_use]
    pub fn len(&self) -> Option<u64> {
        match self {
            Self::Every(_) => None,
            Self::Runs(runs) => Some(runs.iter().map(|(_, count)| count).sum()),
        }
    }

    /// Does the pattern speak of no layer?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

fn push_run(runs: &mut Vec<(bool, u64)>, flag: bool, count: u64) {
    match runs.last_mut() {
        Some((last, length)) if *last == flag => *length += count,
        _ => runs.push((flag, count)),
    }
}

impl Setting for LayerFreq {
    fn value(&self) -> Value {
        match self {
            Self::Every(every) => Value::Integer(*every),
            Self::Runs(runs) => {
                let terms: Vec<String> = runs
                    .iter()
                    .map(|(is_marked, count)| format!("[{}]*{count}", u8::from(*is_marked)))
                    .collect();
                Value::Text(format!("({})", terms.join("+")))
            }
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(every) => Some(Self::Every(*every)),
            Value::Text(text) => Self::read(text),
            Value::None | Value::Flag(_) | Value::Real(_) | Value::List(_) => None,
        }
    }
}

/// One number for all stages, or one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerStage {
    /// One number for every stage.
    Same(u64),
    /// Stage by stage.
    Each(Vec<u64>),
}

impl Setting for PerStage {
    fn value(&self) -> Value {
        match self {
            Self::Same(value) => Value::Integer(*value),
            Self::Each(values) => Value::List(values.iter().map(Setting::value).collect()),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(value) => Some(Self::Same(*value)),
            // One number has one spelling, or a link would give back another design.
            Value::List(values) if values.len() == 1 => values.first().and_then(Self::from_value),
            Value::List(values) if !values.is_empty() => {
                values.iter().map(u64::from_value).collect::<Option<_>>().map(Self::Each)
            }
            Value::List(_) | Value::None | Value::Flag(_) | Value::Real(_) | Value::Text(_) => None,
        }
    }
}

/// Positions in the sequence of layer slots, ascending and without repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions(pub Vec<u64>);

impl Setting for Positions {
    fn value(&self) -> Value {
        Value::List(self.0.iter().map(Setting::value).collect())
    }
    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(values) = value else { return None };
        let mut positions = values.iter().map(u64::from_value).collect::<Option<Vec<_>>>()?;
        positions.sort_unstable();
        positions.dedup();
        Some(Self(positions))
    }
}

/// Megatron's pipeline layout: chunks split by `|`, in the order in which a micro-batch meets them.
///
/// `E` embedding, `t` transformer layer, `m` MTP layer with its head and loss, `L` head and loss;
/// `*3` repeats what precedes it, round brackets group. Source: Megatron-Core
/// `pipeline_parallel_layer_layout.py`.
///
/// Two letters aren't Megatron's: `n` is an MTP layer without its head, `h` the head and loss of an
/// MTP layer, so that `nh` is `m`. They let two stages share what an MTP layer costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    // Shared: a search copies a design for each step that it tries.
    text: Arc<str>,
    /// The letters of each chunk.
    pub chunks: Arc<[String]>,
}

impl Layout {
    const MAX_LEN: usize = 4_096;

    fn read(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
        let letters: Vec<char> = text.chars().collect();
        let mut at = 0;
        let flat = Self::group(&letters, &mut at, 0)?;
        (at == letters.len() && !flat.is_empty()).then(|| {
            let chunks = flat.split('|').map(ToString::to_string).collect();
            Self { text: text.into(), chunks }
        })
    }

    /// Expands letters up to the closing bracket of this depth.
    fn group(letters: &[char], at: &mut usize, depth: u32) -> Option<String> {
        let mut flat = String::new();
        while let Some(letter) = letters.get(*at) {
            *at += 1;
            let item = match letter {
                'E' | 't' | 'm' | 'n' | 'h' | 'L' | '|' => letter.to_string(),
                '(' if depth < 8 => Self::group(letters, at, depth + 1)?,
                ')' if depth > 0 => return Some(flat),
                _ => return None,
            };
            let times = Self::repeat(letters, at)?;
            if item.len().checked_mul(times)?.checked_add(flat.len())? > Self::MAX_LEN {
                return None;
            }
            (0..times).for_each(|_| flat.push_str(&item));
        }
        (depth == 0).then_some(flat)
    }

    /// The number behind `*`, or one.
    fn repeat(letters: &[char], at: &mut usize) -> Option<usize> {
        if letters.get(*at) != Some(&'*') {
            return Some(1);
        }
        *at += 1;
        let mut times: Option<usize> = None;
        while let Some(digit) = letters.get(*at).and_then(|letter| letter.to_digit(10)) {
            *at += 1;
            let sum = times.unwrap_or(0).checked_mul(10)?.checked_add(digit as usize)?;
            times = Some(sum).filter(|sum| *sum <= Self::MAX_LEN);
            times?;
        }
        times.filter(|times| *times > 0)
    }
}

impl Setting for Layout {
    fn value(&self) -> Value {
        Value::Text(self.text.to_string())
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Self::read(text) } else { None }
    }
}

macro_rules! texts {
    ($($Type:ty),+) => { $(impl Setting for $Type {
        fn value(&self) -> Value {
            Value::Text(self.to_string())
        }
        fn from_value(value: &Value) -> Option<Self> {
            if let Value::Text(text) = value { Self::read(text).ok() } else { None }
        }
    })+ };
}
texts!(LayerOverrides, LengthHistogram);

/// Reads a value from text, by the knob's kind. Bounds are checked by [`check`].
pub(super) fn parse(knob: &Knob, text: &str) -> Result<Value, KnobError> {
    let text = text.trim();
    let none = text == "none";
    let wrong = |wanted: &str| Err(knob.wrong_type(text, wanted));
    match knob.kind {
        Kind::OptionalInteger(..)
        | Kind::OptionalReal(..)
        | Kind::Hash
        | Kind::Name
        | Kind::Arguments
        | Kind::Layout
        | Kind::LayerPattern(_)
            if none =>
        {
            Ok(Value::None)
        }
        Kind::PerStage(_) if none => Ok(Value::None),
        Kind::Subset(_) | Kind::PositionList(_) if none || text.is_empty() => {
            Ok(Value::List(vec![]))
        }
        Kind::Integer(..) | Kind::OptionalInteger(..) => integer(knob, text),
        Kind::Real(..) | Kind::OptionalReal(..) => match decimal::parse(text) {
            Some(value) => Ok(Value::Real(value)),
            None => wrong("a number"),
        },
        Kind::Flag => match text {
            "true" => Ok(Value::Flag(true)),
            "false" => Ok(Value::Flag(false)),
            _ => wrong("true or false"),
        },
        Kind::Subset(_) => Ok(Value::List(
            text.split(',').map(|name| Value::Text(name.trim().to_string())).collect(),
        )),
        Kind::PositionList(_) => integers(knob, text),
        Kind::PerStage(_) if text.contains(',') => integers(knob, text),
        Kind::PerStage(_) => integer(knob, text),
        Kind::LayerFreq if text.chars().all(|c| c.is_ascii_digit()) => integer(knob, text),
        Kind::LayerFreq
        | Kind::Layout
        | Kind::LayerPattern(_)
        | Kind::Hash
        | Kind::Name
        | Kind::Choice(_) => Ok(Value::Text(text.to_string())),
        Kind::Arguments => Ok(Value::Text(text.strip_prefix("--").unwrap_or(text).to_string())),
    }
}

fn integers(knob: &Knob, text: &str) -> Result<Value, KnobError> {
    text.split(',')
        .map(|part| integer(knob, part.trim()))
        .collect::<Result<_, _>>()
        .map(Value::List)
}

fn integer(knob: &Knob, text: &str) -> Result<Value, KnobError> {
    if let Ok(value) = text.parse::<u64>() {
        return Ok(Value::Integer(value));
    }
    // A number, only not a countable one: tell its bounds rather than its type.
    match decimal::parse(text) {
        Some(value) if !(0.0..1e19).contains(&value) && !value.is_nan() => {
            let bounds = bounds(knob).map_or((0, 0), |(low, high)| (low as u64, high as u64));
            let nearest = if value < 0.0 { bounds.0 } else { bounds.1 };
            Err(out_of_range(knob, text, &nearest.to_string()))
        }
        _ => Err(knob.wrong_type(text, "a whole number")),
    }
}

fn bounds(knob: &Knob) -> Option<(f64, f64)> {
    match knob.kind {
        Kind::Integer(low, high) | Kind::OptionalInteger(low, high) => {
            Some((low as f64, high as f64))
        }
        Kind::Real(low, high) | Kind::OptionalReal(low, high) => Some((low, high)),
        Kind::PerStage(high) | Kind::PositionList(high) => Some((0.0, high as f64)),
        Kind::LayerFreq => Some((1.0, 1_000.0)),
        Kind::Flag
        | Kind::Choice(_)
        | Kind::Subset(_)
        | Kind::Layout
        | Kind::LayerPattern(_)
        | Kind::Hash
        | Kind::Name
        | Kind::Arguments => None,
    }
}

fn out_of_range(knob: &Knob, found: &str, nearest: &str) -> KnobError {
    let (low, high) = bounds(knob).unwrap_or_default();
    let unit = knob.unit;
    let space = if unit.is_empty() { "" } else { " " };
    let found = shorten(found);
    let detail = format!("{} takes {low} to {high}{space}{unit}, not {found}", knob.id());
    knob.error("out_of_range", detail, vec![nearest.to_string()])
}

/// Checks a value against the knob's kind and bounds.
pub(super) fn check(knob: &Knob, value: &Value) -> Result<(), KnobError> {
    let wrong = |wanted: &str| Err(knob.wrong_type(&value.to_string(), wanted));
    match (knob.kind, value) {
        (
            Kind::OptionalInteger(..)
            | Kind::OptionalReal(..)
            | Kind::Hash
            | Kind::Name
            | Kind::Arguments
            | Kind::Layout
            | Kind::LayerPattern(_)
            | Kind::PerStage(_),
            Value::None,
        )
        | (Kind::Flag, Value::Flag(_)) => Ok(()),
        (Kind::Integer(low, high) | Kind::OptionalInteger(low, high), Value::Integer(number)) => {
            whole_in_bounds(knob, *number, low, high)
        }
        (Kind::LayerFreq, Value::Integer(number)) => whole_in_bounds(knob, *number, 1, 1_000),
        (Kind::Integer(..) | Kind::OptionalInteger(..), _) => wrong("a whole number"),
        (Kind::Real(low, high) | Kind::OptionalReal(low, high), Value::Real(number)) => {
            real_in_bounds(knob, *number, low, high)
        }
        (Kind::Real(low, high) | Kind::OptionalReal(low, high), Value::Integer(number)) => {
            real_in_bounds(knob, *number as f64, low, high)
        }
        (Kind::Real(..) | Kind::OptionalReal(..), _) => wrong("a number"),
        (Kind::Flag, _) => wrong("true or false"),
        (Kind::Choice(names), Value::Text(name)) => known_name(knob, name, names),
        (Kind::Choice(_), _) => wrong("a name"),
        (Kind::Subset(names), Value::List(values)) => values.iter().try_for_each(|value| {
            if let Value::Text(name) = value {
                known_name(knob, name, names)
            } else {
                wrong("a list of names")
            }
        }),
        (Kind::Subset(_), _) => wrong("a list of names"),
        (Kind::PerStage(high), Value::Integer(number)) => whole_in_bounds(knob, *number, 0, high),
        (Kind::PerStage(high) | Kind::PositionList(high), Value::List(values))
            if values.len() <= 4_096 =>
        {
            values.iter().try_for_each(|value| {
                if let Value::Integer(number) = value {
                    whole_in_bounds(knob, *number, 0, high)
                } else {
                    wrong("a list of whole numbers")
                }
            })
        }
        (Kind::PerStage(_) | Kind::PositionList(_), _) => wrong("a list of whole numbers"),
        (Kind::LayerFreq, Value::Text(text)) if LayerFreq::read(text).is_some() => Ok(()),
        (Kind::LayerFreq, _) => wrong("a number or a pattern such as ([0]*3+[1]*58)"),
        (Kind::Layout, Value::Text(text)) if Layout::read(text).is_some() => Ok(()),
        (Kind::Layout, _) => wrong("a layout such as Et*3|(tt|)*29mL"),
        (Kind::LayerPattern(kind), Value::Text(text)) => match layer_text_problem(kind, text) {
            None => Ok(()),
            Some(problem) => wrong(&problem),
        },
        (Kind::LayerPattern(kind), _) => wrong(kind.example()),
        (Kind::Hash, Value::Text(text))
            if !text.is_empty()
                && text.len() <= 64
                && text.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            Ok(())
        }
        (Kind::Hash, _) => wrong("the hash of a stored trace"),
        (Kind::Name, Value::Text(text)) => named(knob, text),
        (Kind::Name, _) => wrong("a name"),
        (Kind::Arguments, Value::Text(text)) => arguments::check(knob, text),
        (Kind::Arguments, _) => wrong("arguments"),
    }
}

/// Text of what is wanted in place of a text that says nothing about layers.
fn layer_text_problem(kind: LayerText, text: &str) -> Option<String> {
    let such_as =
        |is_read: bool| (!is_read).then(|| format!("a pattern such as {}", kind.example()));
    match kind {
        LayerText::SubLayers => such_as(HybridPattern::read(text).is_some()),
        LayerText::Ratios => such_as(CompressRatios::read(text).is_some()),
        LayerText::Overrides => LayerOverrides::read(text).err(),
        LayerText::Lengths => LengthHistogram::read(text).err(),
    }
}

fn whole_in_bounds(knob: &Knob, number: u64, low: u64, high: u64) -> Result<(), KnobError> {
    if (low..=high).contains(&number) {
        return Ok(());
    }
    Err(out_of_range(knob, &number.to_string(), &number.clamp(low, high).to_string()))
}

fn real_in_bounds(knob: &Knob, number: f64, low: f64, high: f64) -> Result<(), KnobError> {
    if (low..=high).contains(&number) {
        return Ok(());
    }
    let nearest = if number > high { high } else { low };
    Err(out_of_range(knob, &number.to_string(), &nearest.to_string()))
}
