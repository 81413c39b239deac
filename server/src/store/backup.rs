//! A copy of what a server keeps, made while it runs, and the way back.
//!
//! A copy is a directory as a server has it, the SQLite file and the traces, with a manifest that
//! says what belongs to it. Both ways put everything together in a directory of its own
//! ([`part::DIRECTORY`]) below the one that they fill, look at it there, and give the files their
//! names then; the database gets its own last, in one step. Wherever they are cut off, what has
//! these names is what was there before, or all of the new.

mod error;
mod manifest;
mod database;
mod migrate;
mod part;
mod copy;
mod restore;

pub(crate) use copy::backup;
pub(crate) use error::BackupError;
pub(crate) use migrate::migrate;
pub(crate) use part::clean;
pub(crate) use restore::{restore, verify};
