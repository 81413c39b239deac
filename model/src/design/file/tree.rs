//! What JSON and TOML have in common: scalars, lists and maps.
//!
//! Unlike the trees of the format's own crates it keeps a map's order and its repeated keys, so
//! that a file is written in registry order and a repeated knob can be reported.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::ground::knob::Value;
use crate::ground::text::shorten;

/// A value of a text format.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Nothing; JSON only.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Unsigned(u64),
    /// A whole number below zero.
    Negative(i64),
    /// Any other number.
    Real(f64),
    /// A string.
    Text(String),
    /// Values in order.
    List(Vec<Self>),
    /// Keys with their values, in order.
    Map(Vec<(String, Self)>),
}

impl Tree {
    /// A map of these entries.
    pub fn map<K: ToString>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    }

    /// A list of these values.
    pub fn list<T: Into<Self>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }

    /// A number: without a fraction where it has none.
    #[must_use]
    pub fn number(value: f64) -> Self {
        /// Every whole number below it is an `f64` of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let whole = value as u64;
        let is_whole = (0.0..EXACT).contains(&value) && value - whole as f64 == 0.0;
        if is_whole { Self::Unsigned(whole) } else { Self::Real(value) }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The value of a key, if it is a map that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Kind of the value, for an error message.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "true or false",
            Self::Unsigned(_) | Self::Negative(_) | Self::Real(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// A scalar as it is written in the file, for an error or to be read as a knob's text.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Unsigned(number) => number.to_string(),
            Self::Negative(number) => number.to_string(),
            // Past this size the digits of a decimal number are noise.
            Self::Real(number) if number.abs() >= 1e21 => format!("{number:e}"),
            Self::Real(number) => number.to_string(),
            Self::Text(text) => shorten(text),
            Self::List(_) => "[…]".to_string(),
            Self::Map(_) => "{…}".to_string(),
        }
    }
}

impl From<&Value> for Tree {
    fn from(value: &Value) -> Self {
        match value {
            Value::None => Self::from("none"),
            Value::Flag(flag) => Self::Flag(*flag),
            Value::Integer(number) => Self::Unsigned(*number),
            Value::Real(number) => Self::Real(*number),
            Value::Text(text) => Self::Text(text.clone()),
            Value::List(values) => Self::List(values.iter().map(Self::from).collect()),
        }
    }
}

impl From<&str> for Tree {
    fn from(text: &str) -> Self {
        Self::Text(text.to_string())
    }
}

impl From<String> for Tree {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Tree {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Tree {
    fn from(number: u64) -> Self {
        Self::Unsigned(number)
    }
}

impl From<f64> for Tree {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Tree {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Negative(number) => serializer.serialize_i64(*number),
            Self::Real(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Map(entries) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a string, true, false, a list or a map")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(u64::try_from(number).map_or(Tree::Negative(number), Tree::Unsigned))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Real(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_string()))
    }

    fn visit_string<E>(self, text: String) -> Result<Tree, E> {
        Ok(Tree::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Tree::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Tree::Map(entries))
    }
}
