//! JSON as it is read: into a tree first, which types then take apart.
//!
//! The readers that serde derives are code for every field of every type, once for objects and once
//! for lists: they were a tenth of the browser's module. A type that is [`Read`] out of a tree
//! names its fields, and no more.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A type that is read out of a tree.
pub trait Read: Sized {
    /// Takes a tree apart.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    fn read(tree: Value) -> Result<Self, String>;

    /// The value of a field that an object lacks; `None` if it is needed.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }
}

/// Reads a text.
///
/// # Errors
/// What is wrong with it, in words.
pub fn from_text<T: Read>(text: &str) -> Result<T, String> {
    let tree = serde_json::from_str(text).map_err(|wrong| wrong.to_string())?;
    T::read(tree)
}

/// Fields of an object that nobody has taken yet.
#[derive(Clone, Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// All fields of an object.
    ///
    /// # Errors
    /// Anything else isn't an object.
    pub fn of(tree: Value) -> Result<Self, String> {
        match tree {
            Value::Object(fields) => Ok(Self(fields)),
            other => Err(unexpected(&other, "an object")),
        }
    }

    /// Takes a field.
    ///
    /// # Errors
    /// A field that is missing, or whose value is of another type.
    pub fn take<T: Read>(&mut self, name: &str) -> Result<T, String> {
        match self.0.remove(name) {
            Some(tree) => T::read(tree).map_err(|wrong| format!("{name}: {wrong}")),
            None => T::absent().ok_or_else(|| format!("missing field `{name}`")),
        }
    }

    /// Takes a field that may be left out.
    ///
    /// # Errors
    /// A value of another type.
    pub fn take_or_default<T: Read + Default>(&mut self, name: &str) -> Result<T, String> {
        self.take::<Option<T>>(name).map(Option::unwrap_or_default)
    }

    /// Refuses what nobody took.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("unknown field `{name}`")),
        }
    }
}

/// Says what is where something else should be.
pub(crate) fn unexpected(tree: &Value, expected: &str) -> String {
    let found = match tree {
        Value::Null => "null",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("{found} where {expected} is expected")
}

impl Read for Fields {
    fn read(tree: Value) -> Result<Self, String> {
        Self::of(tree)
    }
}

impl Read for String {
    fn read(tree: Value) -> Result<Self, String> {
        match tree {
            Value::String(text) => Ok(text),
            other => Err(unexpected(&other, "a text")),
        }
    }
}

impl Read for bool {
    fn read(tree: Value) -> Result<Self, String> {
        tree.as_bool().ok_or_else(|| unexpected(&tree, "a flag"))
    }
}

impl Read for u64 {
    fn read(tree: Value) -> Result<Self, String> {
        tree.as_u64().ok_or_else(|| unexpected(&tree, "a whole number"))
    }
}

impl Read for f64 {
    fn read(tree: Value) -> Result<Self, String> {
        tree.as_f64().ok_or_else(|| unexpected(&tree, "a number"))
    }
}

impl<T: Read> Read for Option<T> {
    fn read(tree: Value) -> Result<Self, String> {
        if tree.is_null() { Ok(None) } else { T::read(tree).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(tree: Value) -> Result<Self, String> {
        T::read(tree).map(Self::new)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(tree: Value) -> Result<Self, String> {
        match tree {
            Value::Array(items) => items.into_iter().map(T::read).collect(),
            other => Err(unexpected(&other, "a list")),
        }
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(tree: Value) -> Result<Self, String> {
        let entries = Fields::of(tree)?.0.into_iter();
        entries.map(|(name, tree)| Ok((name, T::read(tree)?))).collect()
    }
}

/// Reads structs by the names of their fields; behind a semicolon stand those that may be left out.
/// A `strict` one has no others.
macro_rules! read_fields {
    ($(
        $type:ident, strict: $strict:literal { $($field:ident),* $(; $($optional:ident),*)? }
    )*) => {$(
        impl $crate::json::Read for $type {
            fn read(tree: serde_json::Value) -> Result<Self, String> {
                let mut of = $crate::json::Fields::of(tree)?;
                let read = Self {
                    $($field: of.take(stringify!($field))?,)*
                    $($($optional: of.take_or_default(stringify!($optional))?,)*)?
                };
                if $strict {
                    of.end()?;
                }
                Ok(read)
            }
        }
        $crate::json::deserialize_by_tree!($type);
    )*};
}
pub(crate) use read_fields;

/// Reads an enum by its `kind`, which says what other fields an object has. A `strict` one has no
/// field of another kind.
macro_rules! read_by_kind {
    (
        $type:ident, strict: $strict:literal
        $($kind:literal => $variant:ident { $($field:ident),* })*
    ) => {
        impl $crate::json::Read for $type {
            fn read(tree: serde_json::Value) -> Result<Self, String> {
                let mut of = $crate::json::Fields::of(tree)?;
                let kind: String = of.take("kind")?;
                let read = match kind.as_str() {
                    $($kind => Self::$variant { $($field: of.take(stringify!($field))?),* },)*
                    _ => return Err(format!("unknown kind `{kind}`")),
                };
                if $strict {
                    of.end().map_err(|wrong| format!("{wrong} of a {kind}"))?;
                }
                Ok(read)
            }
        }
        $crate::json::deserialize_by_tree!($type);
    };
}
pub(crate) use read_by_kind;

/// Reads an enum by the names of its variants.
macro_rules! read_by_name {
    ($type:ident { $($name:literal => $variant:ident),* $(,)? }) => {
        impl $crate::json::Read for $type {
            fn read(tree: serde_json::Value) -> Result<Self, String> {
                match String::read(tree)?.as_str() {
                    $($name => Ok(Self::$variant),)*
                    other => Err(format!("unknown name `{other}`")),
                }
            }
        }
        $crate::json::deserialize_by_tree!($type);
    };
}
pub(crate) use read_by_name;

/// Lets serde read a type, by its tree.
macro_rules! deserialize_by_tree {
    ($type:ident) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let tree = serde_json::Value::deserialize(deserializer)?;
                $crate::json::Read::read(tree).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use deserialize_by_tree;
