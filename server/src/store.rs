//! Store of the server: one SQLite file in the data directory, or a database of PostgreSQL that
//! several servers share, and one thread that uses it.
//!
//! With one thread there is one order of writes and nobody waits for a lock. Every piece of work
//! is a transaction of its own, `BEGIN IMMEDIATE`: one that reads and then writes can't be
//! refused halfway.

mod names;
pub(crate) mod sql;
mod fault;
mod place;
mod tables;
mod postgres;
mod start;
mod transaction;
mod database;
mod fill;
mod ready;
#[cfg(test)]
#[path = "../tests/process/postgres.rs"]
mod testing;
pub(crate) mod dir_lock;
pub(crate) mod traces;
pub(crate) mod backup;
pub(crate) mod scheduled_backup;

pub(crate) use database::{Home, Lazy, Store};
pub(crate) use fault::{Cause, StoreError};
pub(crate) use fill::{Filled, fill};
pub(crate) use names::{FILE, JOURNAL, LOG, MEMORY};
pub(crate) use postgres::{Address, Session};
pub(crate) use ready::Readiness;
pub(crate) use start::{Unfit, beside, check, glance, one_line, parts, version};
pub(crate) use tables::{NEWEST, Tables, read as read_tables};
pub(crate) use transaction::Transaction;
