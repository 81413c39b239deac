//! SQL as the ledgers write it: one text for each statement, whichever database takes it.
//!
//! Parameters are numbered, `?1`, and are whole numbers, text or bytes; rows hold the same. A
//! statement has what SQLite and PostgreSQL both know: `ON CONFLICT` in place of `OR REPLACE`,
//! `IS NOT DISTINCT FROM` in place of `IS`, and names of columns in every `INSERT`. Every table
//! that isn't `WITHOUT ROWID` has a `rowid`, which grows.

use std::error::Error as StdError;
use std::fmt;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

/// Result of a statement.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Reason why a statement gave nothing.
#[derive(Debug)]
pub(crate) enum Error {
    /// No such row.
    NoRow,
    /// Value that is stored, or is to be, and can't be read as what it should be.
    Value(Box<dyn StdError + Send + Sync>),
    /// SQLite refuses.
    Sqlite(rusqlite::Error),
    /// PostgreSQL refuses, or isn't there.
    Postgres(tokio_postgres::Error),
}

impl Error {
    /// A value that isn't what it should be.
    pub(crate) fn value(why: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Value(why.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRow => f.write_str("no row was found"),
            Self::Value(why) => write!(f, "a value isn't as it should be: {why}"),
            Self::Sqlite(error) => error.fmt(f),
            Self::Postgres(error) => error.fmt(f),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

/// That there may be no row.
pub(crate) trait OptionalExtension<T> {
    /// `None` if no row was found.
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::NoRow) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A parameter of a statement: of a kind also where it is null, if that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Param<'a> {
    Integer(Option<i64>),
    Text(Option<&'a str>),
    Blob(Option<&'a [u8]>),
    /// Null, of the kind of its column.
    Any,
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Integer(Some(number)) => ValueRef::Integer(number),
            Self::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Self::Blob(Some(bytes)) => ValueRef::Blob(bytes),
            Self::Integer(None) | Self::Text(None) | Self::Blob(None) | Self::Any => ValueRef::Null,
        }))
    }
}

/// Value that can be a parameter.
pub(crate) trait ToParam {
    fn param(&self) -> Param<'_>;
}

macro_rules! to_param {
    ($($type:ty, $kind:ident, $one:ident => $value:expr;)*) => {$(
        impl ToParam for $type {
            fn param(&self) -> Param<'_> {
                let $one = self;
                Param::$kind(Some($value))
            }
        }
        impl ToParam for Option<$type> {
            fn param(&self) -> Param<'_> {
                Param::$kind(self.as_ref().map(|$one| $value))
            }
        }
    )*};
}

to_param! {
    i64, Integer, one => *one;
    u32, Integer, one => (*one).into();
    &str, Text, one => &one[..];
    String, Text, one => &one[..];
    [u8; 32], Blob, one => &one[..];
    Vec<u8>, Blob, one => &one[..];
}

impl<T: ToParam + ?Sized> ToParam for &T {
    fn param(&self) -> Param<'_> {
        (**self).param()
    }
}

impl ToParam for Value {
    fn param(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Any,
            Self::Integer(number) => Param::Integer(Some(*number)),
            Self::Text(text) => Param::Text(Some(text)),
            Self::Blob(bytes) => Param::Blob(Some(bytes)),
        }
    }
}

/// Parameters of a statement.
pub(crate) type Params<'a> = &'a [&'a dyn ToParam];

/// The parameters of a statement, in order.
macro_rules! params {
    ($($param:expr),* $(,)?) => {
        &[$(&$param as &dyn $crate::store::sql::ToParam),*] as $crate::store::sql::Params<'_>
    };
}

pub(crate) use params;

/// Value of a row in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// Value that can be read from a place of a row.
pub(crate) trait FromValue: Sized {
    /// `None` if it is something else.
    fn from_value(value: &Value) -> Option<Self>;
}

impl FromValue for i64 {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Integer(number) = value { Some(*number) } else { None }
    }
}

impl FromValue for u32 {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text.clone()) } else { None }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Blob(bytes) = value { Some(bytes.clone()) } else { None }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        if *value == Value::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

/// A row that was found.
#[derive(Clone, Debug)]
pub(crate) struct Row(pub(super) Vec<Value>);

impl Row {
    /// Value in a place.
    pub(crate) fn get<T: FromValue>(&self, place: usize) -> Result<T> {
        let value = self.0.get(place);
        let read = value.and_then(T::from_value);
        read.ok_or_else(|| Error::value(format!("place {place} holds {value:.80?}")))
    }

    /// The text in a place, borrowed.
    pub(crate) fn text(&self, place: usize) -> Result<&str> {
        match self.0.get(place) {
            Some(Value::Text(text)) => Ok(text),
            value => Err(Error::value(format!("place {place} holds {value:.80?}, not text"))),
        }
    }
}
