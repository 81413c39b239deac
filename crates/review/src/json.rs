//! JSON as it is read: into a tree first, which types then take apart.
//!
//! The readers that serde derives are code for every field of every type, once for objects and once
//! for lists: they were a tenth of the browser's module. A type that is [`Read`] out of a tree
//! names its fields, and no more.

use std::collections::BTreeMap;

use serde_json::Value;

/// A value of JSON. On the server serde makes it, in a browser the browser's own reader.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Nothing.
    Null,
    /// A flag.
    Flag(bool),
    /// A whole number that isn't negative.
    Whole(u64),
    /// Any other number.
    Real(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// An object: its fields as they were written.
    Object(Vec<(String, Tree)>),
}

/// A type that is read out of a tree.
pub trait Read: Sized {
    /// Takes a tree apart.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    fn read(tree: Tree) -> Result<Self, String>;

    /// The value of a field that an object lacks; `None` if it is needed.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }
}

/// Fields of an object that nobody has taken yet.
#[derive(Clone, Debug)]
pub struct Fields(Vec<(String, Tree)>);

impl Fields {
    /// Takes a field.
    ///
    /// # Errors
    /// A field that is missing, or whose value is of another type.
    pub fn take<T: Read>(&mut self, name: &str) -> Result<T, String> {
        match self.tree(name) {
            Some(tree) => T::read(tree).map_err(|wrong| format!("{name}: {wrong}")),
            None => T::absent().ok_or_else(|| format!("missing field `{name}`")),
        }
    }

    /// The last one of a name counts.
    fn tree(&mut self, name: &str) -> Option<Tree> {
        let place = self.0.iter().rposition(|(known, _)| known == name)?;
        Some(self.0.swap_remove(place).1)
    }

    /// All that nobody has taken, by their names.
    pub fn rest(self) -> impl Iterator<Item = (String, Tree)> {
        self.0.into_iter()
    }

    /// Refuses what nobody took.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("unknown field `{name}`")),
        }
    }
}

pub(crate) fn unexpected(expected: &str) -> String {
    format!("{expected} is expected")
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Flag(flag),
            Value::Number(it) => {
                it.as_u64().map_or(Self::Real(it.as_f64().unwrap_or(f64::NAN)), Self::Whole)
            }
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(all) => {
                Self::Object(all.into_iter().map(|(k, v)| (k, v.into())).collect())
            }
        }
    }
}

/// Types that are one kind of value.
macro_rules! read_kind {
    ($($type:ty: $kind:ident($value:ident) => $read:expr, $expected:literal;)*) => {$(
        impl Read for $type {
            fn read(tree: Tree) -> Result<Self, String> {
                let Tree::$kind($value) = tree else { return Err(unexpected($expected)) };
                Ok($read)
            }
        }
    )*};
}

read_kind! {
    Fields: Object(fields) => Self(fields), "an object";
    String: Text(text) => text, "a text";
    bool: Flag(flag) => flag, "a flag";
    u64: Whole(number) => number, "a whole number";
}

impl Read for f64 {
    fn read(tree: Tree) -> Result<Self, String> {
        match tree {
            Tree::Whole(number) => Ok(number as f64),
            Tree::Real(number) => Ok(number),
            Tree::Null | Tree::Flag(_) | Tree::Text(_) | Tree::List(_) | Tree::Object(_) => {
                Err(unexpected("a number"))
            }
        }
    }
}

impl<T: Read> Read for Option<T> {
    fn read(tree: Tree) -> Result<Self, String> {
        if matches!(tree, Tree::Null) { Ok(None) } else { T::read(tree).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(tree: Tree) -> Result<Self, String> {
        T::read(tree).map(Self::new)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(tree: Tree) -> Result<Self, String> {
        let Tree::List(items) = tree else {
            return Err(unexpected("a list"));
        };
        items.into_iter().map(T::read).collect()
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(tree: Tree) -> Result<Self, String> {
        // Not collected, which would sort what is sorted.
        let mut read = Self::new();
        for (name, tree) in Fields::read(tree)?.rest() {
            read.insert(name, T::read(tree)?);
        }
        Ok(read)
    }
}

/// Reads structs by the names of their fields; behind a semicolon stand those that may be left out.
/// A `strict` one has no others.
macro_rules! read_fields {
    ($(
        $type:ident, strict: $strict:literal { $($field:ident),* $(; $($optional:ident),*)? }
    )*) => {$(
        impl $crate::json::Read for $type {
            fn read(tree: $crate::json::Tree) -> Result<Self, String> {
                let mut of = <$crate::json::Fields as $crate::json::Read>::read(tree)?;
                let read = Self {
                    $($field: of.take(stringify!($field))?,)*
                    $($(
                        $optional: of.take::<Option<_>>(stringify!($optional))?.unwrap_or_default(),
                    )*)?
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
            fn read(tree: $crate::json::Tree) -> Result<Self, String> {
                let mut of = <$crate::json::Fields as $crate::json::Read>::read(tree)?;
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
            fn read(tree: $crate::json::Tree) -> Result<Self, String> {
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
                let tree = serde_json::Value::deserialize(deserializer)?.into();
                $crate::json::Read::read(tree).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use deserialize_by_tree;
