//! An empty database of PostgreSQL is filled with what a file of SQLite holds.

use rusqlite::Connection;

use super::fault::{Cause, StoreError};
use super::postgres::{Address, Session};
use super::sql::{self, Params, Row, ToParam, Value};
use super::tables::Tables;
use super::transaction::{On, Transaction};

/// Bytes that are sent in one statement, about, and its parameters at most.
///
/// Source: the protocol's Bind message counts parameters in 16 bits.
const MAX_BYTES: usize = 4 << 20;
const MAX_PARAMS: usize = 10_000;

/// Result of filling one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) table: String,
    pub(crate) rows: u64,
    /// Digest of all rows, in whatever order; in a table that has an order, with their places.
    pub(crate) digest: String,
}

/// A table, as both databases have it.
struct Table {
    name: String,
    columns: Vec<String>,
    has_order: bool,
}

/// Brings all of a file into a database that holds nothing, and reads it back, in one transaction:
/// after an error the database is as it was.
pub(crate) fn fill(source: &Connection, to: &Address) -> Result<Vec<Filled>, StoreError> {
    let mut session = Session::open(to)?;
    let found = session.in_transaction(Session::tables)?;
    if found != Tables::None {
        let detail = format!("the database {to} isn't empty: name one that holds no tables");
        return Err(StoreError::new(Cause::Foreign, detail));
    }
    session.in_transaction(|session| {
        if session.migrate()? != Tables::None {
            return Err(sql::Error::value("another program has just filled the database"));
        }
        let from = Transaction { on: On::Sqlite(source) };
        let into = Transaction { on: On::Postgres(session) };
        tables(&from)?.iter().map(|table| bring(&from, &into, table)).collect()
    })
}

/// The tables in the order in which they were made: what is referred to comes first.
fn tables(from: &Transaction<'_>) -> sql::Result<Vec<Table>> {
    let select = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' \
                  AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
    let found = from.query_map(select, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found = found.collect::<sql::Result<Vec<(String, String)>>>()?;
    let table = |(name, made): (String, String)| {
        let columns = format!("SELECT name FROM pragma_table_info('{name}') ORDER BY cid");
        let columns = from.query_map(&columns, &[], |row| row.get(0))?.collect::<sql::Result<_>>();
        Ok(Table { columns: columns?, has_order: !made.contains("WITHOUT ROWID"), name })
    };
    found.into_iter().map(table).collect()
}

fn bring(from: &Transaction<'_>, into: &Transaction<'_>, table: &Table) -> sql::Result<Filled> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    let sent = each(from, table, |row| {
        bytes += row.0.iter().map(size).sum::<usize>();
        rows.push(row);
        if bytes >= MAX_BYTES || (rows.len() + 1) * table.columns.len() > MAX_PARAMS {
            insert(into, table, &rows)?;
            (rows, bytes) = (Vec::new(), 0);
        }
        Ok(())
    })?;
    insert(into, table, &rows)?;
    let there = each(into, table, |_| Ok(()))?;
    if there != sent {
        let why = format!("{} holds {there:?} in place of {sent:?}", table.name);
        return Err(sql::Error::value(why));
    }
    Ok(sent)
}

fn insert(into: &Transaction<'_>, table: &Table, rows: &[Row]) -> sql::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let width = table.columns.len();
    let places = (0..rows.len()).map(|row| {
        let places: Vec<String> = (1..=width).map(|at| format!("?{}", row * width + at)).collect();
        format!("({})", places.join(", "))
    });
    let places: Vec<String> = places.collect();
    let (name, columns) = (&table.name, table.columns.join(", "));
    let insert = format!("INSERT INTO {name} ({columns}) VALUES {}", places.join(", "));
    let values: Vec<&dyn ToParam> =
        rows.iter().flat_map(|row| &row.0).map(|value| value as &dyn ToParam).collect();
    let params: Params<'_> = &values;
    into.execute(&insert, params)?;
    Ok(())
}

/// Goes through the rows of a table, some at a time; returns how many there are, and their digest.
fn each(
    on: &Transaction<'_>,
    table: &Table,
    mut take: impl FnMut(Row) -> sql::Result<()>,
) -> sql::Result<Filled> {
    let (mut sum, mut rows) = ([0_u64; 4], 0_u64);
    // One row may have megabytes; those of a table with an order are read by it.
    let columns = table.columns.join(", ");
    let mut after = Vec::new();
    loop {
        let page = page(on, table, &columns, &after)?;
        let Some(last) = page.last() else { break };
        after = last.0.iter().take(key(table)).cloned().collect();
        for row in page {
            let row = Row(row.0.into_iter().skip(key(table)).collect());
            rows += 1;
            let place = if table.has_order { rows } else { 0 };
            add(&mut sum, &hash(&row, place));
            take(row)?;
        }
    }
    let digest = sum.iter().map(|part| format!("{part:016x}")).collect();
    Ok(Filled { table: table.name.clone(), rows, digest })
}

/// Columns by which the pages of a table follow each other.
const fn key(table: &Table) -> usize {
    if table.has_order { 1 } else { 2 }
}

/// Rows behind those with a key, with their keys before them.
fn page(
    on: &Transaction<'_>,
    table: &Table,
    columns: &str,
    after: &[Value],
) -> sql::Result<Vec<Row>> {
    let most = if columns.contains("rows") { 16 } else { 500 };
    let name = &table.name;
    let keys: Vec<&str> = if table.has_order {
        vec!["rowid"]
    } else {
        // A table without an order of its own begins with its key.
        table.columns.iter().take(2).map(String::as_str).collect()
    };
    let keys = keys.join(", ");
    let places = if table.has_order { "?1" } else { "?1, ?2" };
    let behind =
        if after.is_empty() { String::new() } else { format!("WHERE ({keys}) > ({places})") };
    let select =
        format!("SELECT {keys}, {columns} FROM {name} {behind} ORDER BY {keys} LIMIT {most}");
    let values: Vec<&dyn ToParam> = after.iter().map(|value| value as &dyn ToParam).collect();
    on.query_map(&select, &values, |row| Ok(row.clone()))?.collect()
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Integer(_) => 8,
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
    }
}

fn hash(row: &Row, place: u64) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&place.to_le_bytes());
    for value in &row.0 {
        let number;
        let (kind, bytes): (u8, &[u8]) = match value {
            Value::Null => (0, &[]),
            Value::Integer(value) => {
                number = value.to_le_bytes();
                (1, &number)
            }
            Value::Text(text) => (2, text.as_bytes()),
            Value::Blob(bytes) => (3, bytes),
        };
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    hasher.finalize()
}

/// Adds a hash to a sum of hashes, which doesn't depend on their order.
fn add(sum: &mut [u64; 4], hash: &blake3::Hash) {
    for (part, bytes) in sum.iter_mut().zip(hash.as_bytes().chunks_exact(8)) {
        let bytes = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        *part = part.wrapping_add(bytes);
    }
}
