//! What answers are made of: types that write themselves as data, and say of themselves which form
//! that has.
//!
//! An answer is a struct of `answers!`: its fields are the keys, in their order,
//! and their comments the descriptions. With the feature `schema` it has a JSON schema, too, so
//! that what is described and what is written are one thing.

use std::marker::PhantomData;

use model::design::file::{self, Extent, Tree};
use model::design::{Design, KnobId};

/// Value that writes itself as data.
pub trait Said {
    /// The value.
    fn said(self) -> Tree;

    /// Adds the value under a key; nothing where the key isn't there either.
    fn put(self, key: &str, entries: &mut Vec<(String, Tree)>)
    where
        Self: Sized,
    {
        entries.push((key.to_owned(), self.said()));
    }
}

impl Said for u64 {
    fn said(self) -> Tree {
        Tree::Unsigned(self)
    }
}

impl Said for u16 {
    fn said(self) -> Tree {
        Tree::Unsigned(self.into())
    }
}

impl Said for u32 {
    fn said(self) -> Tree {
        Tree::Unsigned(self.into())
    }
}

impl Said for usize {
    fn said(self) -> Tree {
        Tree::Unsigned(self as u64)
    }
}

/// Without a fraction where it has none.
impl Said for f64 {
    fn said(self) -> Tree {
        Tree::number(self)
    }
}

impl Said for bool {
    fn said(self) -> Tree {
        Tree::Flag(self)
    }
}

impl Said for &str {
    fn said(self) -> Tree {
        self.into()
    }
}

impl Said for String {
    fn said(self) -> Tree {
        self.into()
    }
}

impl<T: Said> Said for Option<T> {
    fn said(self) -> Tree {
        self.map_or(Tree::Null, Said::said)
    }
}

impl<T: Said> Said for Vec<T> {
    fn said(self) -> Tree {
        Tree::List(self.into_iter().map(Said::said).collect())
    }
}

impl<T: Said, const N: usize> Said for [T; N] {
    fn said(self) -> Tree {
        Tree::List(self.into_iter().map(Said::said).collect())
    }
}

/// The key of a field, whose name may be a word of the language.
#[must_use]
pub fn key(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// A number, whole or not.
#[derive(Clone, Debug)]
pub struct Number(pub Tree);

impl Said for Number {
    fn said(self) -> Tree {
        self.0
    }
}

/// A number that has a fraction even where it is whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real(pub f64);

impl Said for Real {
    fn said(self) -> Tree {
        Tree::Real(self.0)
    }
}

/// A count that may be beyond 64 bits; then it is the nearest real number.
#[derive(Clone, Copy, Debug)]
pub struct Count(pub u128);

impl Said for Count {
    fn said(self) -> Tree {
        u64::try_from(self.0).map_or(Tree::Real(self.0 as f64), Tree::Unsigned)
    }
}

/// A value whose key isn't there where it is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct May<T>(pub Option<T>);

impl<T: Said> Said for May<T> {
    fn said(self) -> Tree {
        self.0.said()
    }

    fn put(self, key: &str, entries: &mut Vec<(String, Tree)>) {
        if let Some(value) = self.0 {
            value.put(key, entries);
        }
    }
}

/// An answer whose keys stand in another one, in place of its own.
#[derive(Clone, Debug)]
pub struct Flat<T>(pub T);

impl<T: Said> Said for Flat<T> {
    fn said(self) -> Tree {
        self.0.said()
    }

    fn put(self, _: &str, entries: &mut Vec<(String, Tree)>) {
        if let Tree::Map(inner) = self.0.said() {
            entries.extend(inner);
        }
    }
}

/// Data that a type has written, perhaps long ago.
#[derive(Clone, Debug)]
pub struct Written<T> {
    tree: Tree,
    form: PhantomData<T>,
}

impl<T> Written<T> {
    /// Data that was stored.
    #[must_use]
    pub const fn stored(tree: Tree) -> Self {
        Self { tree, form: PhantomData }
    }
}

impl<T: Said> Written<T> {
    /// Data of a value.
    pub fn of(value: T) -> Self {
        Self::stored(value.said())
    }
}

impl<T> Said for Written<T> {
    fn said(self) -> Tree {
        self.tree
    }
}

/// Values by names that no type knows, such as metrics and knobs, in their order.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Named<T> {
    /// None at all.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Entries of an iterator, in its order.
    pub fn of<K: ToString>(entries: impl IntoIterator<Item = (K, T)>) -> Self {
        Self(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    }
}

impl<T: Said> Said for Named<T> {
    fn said(self) -> Tree {
        Tree::Map(self.0.into_iter().map(|(key, value)| (key, value.said())).collect())
    }
}

/// The value of a metric: a number, a verdict, or nothing.
#[derive(Clone, Copy, Debug)]
pub enum MetricSaid {
    /// In the metric's unit.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// The design breaks rules.
    Unknown,
}

impl Said for MetricSaid {
    fn said(self) -> Tree {
        match self {
            Self::Number(value) => Tree::number(value),
            Self::Flag(flag) => Tree::Flag(flag),
            Self::Unknown => Tree::Null,
        }
    }
}

/// A value of a knob, as a design file has it.
#[derive(Clone, Debug)]
pub struct KnobValue(pub Tree);

impl KnobValue {
    /// The value that a design has of a knob.
    #[must_use]
    pub fn of(design: &Design, knob: KnobId) -> Self {
        Self(Tree::from(&design.get(knob)))
    }
}

impl Said for KnobValue {
    fn said(self) -> Tree {
        self.0
    }
}

/// A whole design as its file.
#[derive(Clone, Debug)]
pub struct DesignFile(Tree);

impl DesignFile {
    /// The file of a design, with every knob.
    #[must_use]
    pub fn of(design: &Design) -> Self {
        Self(file::write(design, Extent::Full))
    }

    /// The file of a design with those knobs alone that differ from the preset's.
    #[must_use]
    pub fn changes_of(design: &Design) -> Self {
        Self(file::write(design, Extent::Changed))
    }
}

impl Said for DesignFile {
    fn said(self) -> Tree {
        self.0
    }
}

/// Structs that are written with their fields as keys.
#[macro_export]
macro_rules! said {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$of_field:meta])* $field:ident: $type:ty,)+
    })+) => {$(
        $(#[$meta])*
        #[allow(missing_docs, reason = "keys whose names say what they hold")]
        $vis struct $name { $($(#[$of_field])* $vis $field: $type,)+ }

        impl $crate::typed::Said for $name {
            fn said(self) -> model::design::file::Tree {
                use $crate::typed::{Said, key};
                let mut entries = Vec::new();
                $(Said::put(self.$field, key(stringify!($field)), &mut entries);)+
                model::design::file::Tree::Map(entries)
            }
        }
    )+};
}

/// The structs of [`said!`](crate::said), with a schema where the crate's feature `schema` asks for
/// it.
#[macro_export]
macro_rules! answers {
    ($($(#[$meta:meta])* struct $name:ident $fields:tt)+) => {$(
        $crate::said! {
            #[derive(Clone, Debug)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            $(#[$meta])*
            pub struct $name $fields
        }
    )+};
}
pub use answers;

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{
        Count, DesignFile, Flat, KnobValue, May, MetricSaid, Named, Number, Real, Written,
    };

    /// The schema of a type, which stands where the type is used.
    macro_rules! inline {
        ($($name:ident$(<$part:ident>)?: |$generator:ident| $schema:expr;)+) => {$(
            impl$(<$part: JsonSchema>)? JsonSchema for $name$(<$part>)? {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                    $schema
                }
            }
        )+};
    }

    inline! {
        Number: |_generator| json_schema!({"type": "number"});
        Real: |_generator| json_schema!({"type": "number"});
        Count: |_generator| json_schema!({"type": "number", "minimum": 0});
        MetricSaid: |_generator| json_schema!({"type": ["number", "boolean", "null"]});
        KnobValue: |_generator| json_schema!({
            "type": ["number", "boolean", "string", "array"],
            "description": "A value of the knob; an option that is unset is \"none\".",
        });
        DesignFile: |_generator| json_schema!({"$ref": "#/components/schemas/Design"});
        May<T>: |generator| T::json_schema(generator);
        Flat<T>: |generator| T::json_schema(generator);
        Written<T>: |generator| generator.subschema_for::<T>();
        Named<T>: |generator| json_schema!({
            "type": "object",
            "additionalProperties": generator.subschema_for::<T>(),
        });
    }
}
