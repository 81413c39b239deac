//! A transaction, whichever database it is on.

use rusqlite::types::Value as SqliteValue;

use super::postgres::Session;
use super::sql::{Error, Param, Params, Result, Row, Value};

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
    /// Executes a statement; returns the number of rows that it made, changed or removed.
    pub(crate) fn execute(&self, sql: &str, params: Params<'_>) -> Result<usize> {
        match self.on {
            On::Sqlite(connection) => {
                let params = params.iter().map(|one| one.param());
                let mut statement = connection.prepare(sql)?;
                Ok(statement.execute(rusqlite::params_from_iter(params))?)
            }
            On::Postgres(session) => session.execute(sql, &bindings(params)),
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
            On::Postgres(session) => session.rows(sql, &bindings(params)),
        }
    }
}

fn bindings<'a>(params: Params<'a>) -> Vec<Param<'a>> {
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
