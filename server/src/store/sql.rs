//! SQL as the ledgers write it: one text for each statement, whichever database takes it.
//!
//! Parameters are numbered, `?1`, and are whole numbers, text or bytes; rows hold the same. A
//! statement has what SQLite and PostgreSQL both know: `ON CONFLICT` in place of `OR REPLACE`,
//! `IS NOT DISTINCT FROM` in place of `IS`, and names of columns in every `INSERT`. Every table
//! that isn't `WITHOUT ROWID` has a `rowid`, which grows.

use std::error::Error as StdError;
use std::fmt;

use rusqlite::types::{ToSql, ToSqlOutput, Value as SqliteValue, ValueRef};

use super::postgres::Session;

/// What comes of a statement.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a statement gave nothing.
#[derive(Debug)]
pub(crate) enum Error {
    /// There is no such row.
    NoRow,
    /// What is stored, or is to be, can't be read as what it should be.
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
    /// None where no row was found.
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

/// A parameter of a statement: of a kind also where it is null.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Param<'a> {
    Integer(Option<i64>),
    Text(Option<&'a str>),
    Blob(Option<&'a [u8]>),
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Integer(Some(number)) => ValueRef::Integer(number),
            Self::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Self::Blob(Some(bytes)) => ValueRef::Blob(bytes),
            Self::Integer(None) | Self::Text(None) | Self::Blob(None) => ValueRef::Null,
        }))
    }
}

/// What can be a parameter.
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

impl ToParam for Param<'_> {
    fn param(&self) -> Param<'_> {
        *self
    }
}

/// Parameters of a statement.
pub(crate) type Params<'a> = &'a [&'a dyn ToParam];

/// The parameters of a statement, in order.
macro_rules! params {
    ($($param:expr),* $(,)?) => {
        &[$(&$param as &dyn $crate::store::ToParam),*] as $crate::store::Params<'_>
    };
}

pub(crate) use params;

/// What a row holds in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// What can be read from a place of a row.
pub(crate) trait FromValue: Sized {
    /// None where it is something else.
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
    /// What it holds in a place.
    pub(crate) fn get<T: FromValue>(&self, place: usize) -> Result<T> {
        let value = self.0.get(place);
        let read = value.and_then(T::from_value);
        read.ok_or_else(|| Error::value(format!("place {place} holds {value:.80?}")))
    }

    /// The text in a place, where it stands.
    pub(crate) fn text(&self, place: usize) -> Result<&str> {
        match self.0.get(place) {
            Some(Value::Text(text)) => Ok(text),
            value => Err(Error::value(format!("place {place} holds {value:.80?}, not text"))),
        }
    }
}

/// Work that is done whole or not at all. Statements in it see what was there before it, and their
/// own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transaction<'a> {
    pub(super) on: On<'a>,
}

/// The connection that a transaction is on.
#[derive(Clone, Copy, Debug)]
pub(super) enum On<'a> {
    Sqlite(&'a rusqlite::Connection),
    Postgres(&'a Session),
}

impl Transaction<'_> {
    /// Does what a statement says; returns how many rows it made, changed or removed.
    pub(crate) fn execute(&self, sql: &str, params: Params<'_>) -> Result<usize> {
        match self.on {
            On::Sqlite(connection) => {
                let params = params.iter().map(|one| one.param());
                let mut statement = connection.prepare(sql)?;
                Ok(statement.execute(rusqlite::params_from_iter(params))?)
            }
            On::Postgres(session) => session.execute(sql, &of(params)),
        }
    }

    /// The first row that a statement gives.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        read: impl FnOnce(&Row) -> Result<T>,
    ) -> Result<T> {
        read(self.rows(sql, params, 1)?.first().ok_or(Error::NoRow)?)
    }

    /// All rows that a statement gives.
    pub(crate) fn query_map<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        read: impl FnMut(&Row) -> Result<T>,
    ) -> Result<std::vec::IntoIter<Result<T>>> {
        let rows = self.rows(sql, params, usize::MAX)?;
        Ok(rows.iter().map(read).collect::<Vec<_>>().into_iter())
    }

    /// A statement to be done several times.
    pub(crate) const fn prepare<'a>(&'a self, sql: &'a str) -> Result<Statement<'a>> {
        Ok(Statement { transaction: self, sql })
    }

    fn rows(&self, sql: &str, params: Params<'_>, most: usize) -> Result<Vec<Row>> {
        match self.on {
            On::Sqlite(connection) => {
                let params = params.iter().map(|one| one.param());
                let mut statement = connection.prepare(sql)?;
                let columns = statement.column_count();
                let mut found = statement.query(rusqlite::params_from_iter(params))?;
                let mut rows = Vec::new();
                while rows.len() < most
                    && let Some(row) = found.next()?
                {
                    let values = (0..columns).map(|place| Ok(row.get::<_, SqliteValue>(place)?));
                    let values = values.map(|value| value.and_then(from_sqlite));
                    rows.push(Row(values.collect::<Result<_>>()?));
                }
                Ok(rows)
            }
            On::Postgres(session) => session.rows(sql, &of(params)),
        }
    }
}

fn of<'a>(params: Params<'a>) -> Vec<Param<'a>> {
    params.iter().map(|one| one.param()).collect()
}

fn from_sqlite(value: SqliteValue) -> Result<Value> {
    Ok(match value {
        SqliteValue::Null => Value::Null,
        SqliteValue::Integer(number) => Value::Integer(number),
        SqliteValue::Text(text) => Value::Text(text),
        SqliteValue::Blob(bytes) => Value::Blob(bytes),
        // No table has such a column.
        SqliteValue::Real(number) => return Err(Error::value(format!("{number} isn't whole"))),
    })
}

/// A statement of a transaction.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    transaction: &'a Transaction<'a>,
    sql: &'a str,
}

impl Statement<'_> {
    pub(crate) fn execute(&self, params: Params<'_>) -> Result<usize> {
        self.transaction.execute(self.sql, params)
    }

    pub(crate) fn query_row<T>(
        &self,
        params: Params<'_>,
        read: impl FnOnce(&Row) -> Result<T>,
    ) -> Result<T> {
        self.transaction.query_row(self.sql, params, read)
    }

    pub(crate) fn query_map<T>(
        &self,
        params: Params<'_>,
        read: impl FnMut(&Row) -> Result<T>,
    ) -> Result<std::vec::IntoIter<Result<T>>> {
        self.transaction.query_map(self.sql, params, read)
    }
}
