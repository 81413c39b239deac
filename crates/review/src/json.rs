//! JSON as it is read: into a tree first, which types then take apart.
//!
//! The readers that serde derives are code for every field of every type, once for objects and once
//! for lists: they were a tenth of the browser's module. A type that is [`Read`] out of a tree
//! names its fields, and no more.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

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
    /// All fields of an object.
    ///
    /// # Errors
    /// Anything else isn't an object.
    pub fn of(tree: Tree) -> Result<Self, String> {
        let Tree::Object(fields) = tree else {
            return Err(unexpected(&tree, "an object"));
        };
        Ok(Self(fields))
    }

    /// Takes a field.
    ///
    /// # Errors
    /// A field that is missing, or whose value is of another type.
    pub fn take<T: Read>(&mut self, name: &str) -> Result<T, String> {
        match self.tree(name) {
            Some(tree) => T::read(tree).map_err(|wrong| within(name, &wrong)),
            None => T::absent().ok_or_else(|| missing(name)),
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

    /// Takes a field that may be left out.
    ///
    /// # Errors
    /// A value of another type.
    pub fn take_or_default<T: Read + Default>(&mut self, name: &str) -> Result<T, String> {
        self.take::<Option<T>>(name).map(Option::unwrap_or_default)
    }

    /// Refuses what nobody took.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("unknown field `{name}`")),
        }
    }
}

fn within(name: &str, wrong: &str) -> String {
    format!("{name}: {wrong}")
}

fn missing(name: &str) -> String {
    format!("missing field `{name}`")
}

/// Says what is where something else should be.
pub(crate) fn unexpected(tree: &Tree, expected: &str) -> String {
    let found = match tree {
        Tree::Null => "null",
        Tree::Flag(_) => "a flag",
        Tree::Whole(_) | Tree::Real(_) => "a number",
        Tree::Text(_) => "a text",
        Tree::List(_) => "a list",
        Tree::Object(_) => "an object",
    };
    format!("{found} where {expected} is expected")
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
        f.write_str("any value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Flag(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Whole(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Tree, E> {
        Ok(u64::try_from(number).map_or(Tree::Real(number as f64), Tree::Whole))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Real(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Tree, E> {
        Ok(Tree::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(Tree::Object(fields))
    }
}

impl Read for Fields {
    fn read(tree: Tree) -> Result<Self, String> {
        Self::of(tree)
    }
}

impl Read for String {
    fn read(tree: Tree) -> Result<Self, String> {
        let Tree::Text(text) = tree else {
            return Err(unexpected(&tree, "a text"));
        };
        Ok(text)
    }
}

impl Read for bool {
    fn read(tree: Tree) -> Result<Self, String> {
        let Tree::Flag(flag) = tree else {
            return Err(unexpected(&tree, "a flag"));
        };
        Ok(flag)
    }
}

impl Read for u64 {
    fn read(tree: Tree) -> Result<Self, String> {
        let Tree::Whole(number) = tree else {
            return Err(unexpected(&tree, "a whole number"));
        };
        Ok(number)
    }
}

impl Read for f64 {
    fn read(tree: Tree) -> Result<Self, String> {
        match tree {
            Tree::Whole(number) => Ok(number as f64),
            Tree::Real(number) => Ok(number),
            Tree::Null | Tree::Flag(_) | Tree::Text(_) | Tree::List(_) | Tree::Object(_) => {
                Err(unexpected(&tree, "a number"))
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
            return Err(unexpected(&tree, "a list"));
        };
        items.into_iter().map(T::read).collect()
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(tree: Tree) -> Result<Self, String> {
        // Not collected, which would sort what is sorted.
        let mut read = Self::new();
        for (name, tree) in Fields::of(tree)?.rest() {
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
            fn read(tree: $crate::json::Tree) -> Result<Self, String> {
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
                let tree = $crate::json::Tree::deserialize(deserializer)?;
                $crate::json::Read::read(tree).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use deserialize_by_tree;
