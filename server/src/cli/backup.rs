//! `moescape backup` and `moescape restore`: a copy of what a server keeps, and the way back.

use std::path::PathBuf;

use super::{Failure, output, serve};
use crate::store::backup::{self, BackupError};
use crate::store::{Address, Filled};

/// What to copy and where to.
#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    /// Directory of the server's data [default: the XDG data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A new or empty directory for the copy
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The server's database of PostgreSQL, which `pg_dump` copies: it is refused here
    #[arg(
        long,
        env = "MOESCAPE_STORE",
        hide_env_values = true,
        value_name = "postgres://USER@HOST/DATABASE"
    )]
    store: Option<Address>,
}

/// What to put back and where to.
#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// A copy that `moescape backup` made
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Directory of the server's data, new or empty [default: the XDG data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Replace what the data directory holds; no server may run on it
    #[arg(long)]
    replace: bool,
}

/// What to bring where.
#[derive(Debug, clap::Args)]
pub(super) struct Migrate {
    /// Directory of the server's data, on which no server runs [default: the XDG data directory]
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// An empty database of PostgreSQL
    #[arg(long, value_name = "postgres://USER@HOST/DATABASE")]
    to: Address,
}

/// Brings what a file of SQLite holds into PostgreSQL.
pub(super) fn migrate(arguments: Migrate) -> Result<(), Failure> {
    let data = serve::data(arguments.from)?;
    let done = backup::migrate(&data, &arguments.to).map_err(explain)?;
    let row = |filled: &Filled| {
        vec![filled.table.clone(), filled.rows.to_string(), filled.digest[..16].to_owned()]
    };
    let rows: Vec<Vec<String>> = done.tables.iter().map(row).collect();
    let (from, to, held) = (data.display(), &arguments.to, done.counts.words());
    output::result(&format!(
        "{}\nbrought {from} to {to}: {held}; each table's rows read back the same, by count and \
         digest. Traces stay in {}\n",
        operations::table("lrl", &rows),
        data.join(crate::store::traces::DIRECTORY).display()
    ))
}

/// Makes a copy.
pub(super) fn backup(arguments: Backup) -> Result<(), Failure> {
    let data = serve::data(arguments.data)?;
    if let Some(address) = arguments.store {
        return Err(Failure::user(format!(
            "what {address} holds is copied by PostgreSQL itself: `pg_dump --format=custom \
             --file=COPY {address}`, and put back by `pg_restore`; beside it only {} is to be \
             copied, by any program",
            data.join(crate::store::traces::DIRECTORY).display()
        )));
    }
    let made = backup::backup(&data, &arguments.to).map_err(explain)?;
    let (from, to, held) = (data.display(), arguments.to.display(), made.counts.words());
    output::result(&format!("copied {from} to {to}: {held}\n"))
}

/// Puts a copy back.
pub(super) fn restore(arguments: Restore) -> Result<(), Failure> {
    let data = serve::data(arguments.data)?;
    let done = backup::restore(&arguments.from, &data, arguments.replace);
    let done = done.map_err(|error| match error {
        BackupError::Occupied(detail) => {
            Failure::user(format!("{detail}; --replace puts the copy in its place"))
        }
        error @ (BackupError::Asked(_) | BackupError::Broken(_)) => explain(error),
    })?;
    let (from, to, held) = (arguments.from.display(), data.display(), done.counts.words());
    let made = match &done.made_at {
        Some(made_at) => format!(", of {made_at}"),
        None => {
            output::message(
                "this copy has no manifest: its database is whole and Moescape's, but nothing says \
                 whether other files of it are missing",
            );
            String::new()
        }
    };
    output::result(&format!("restored {from}{made} to {to}: {held}\n"))
}

fn explain(error: BackupError) -> Failure {
    match error {
        BackupError::Asked(detail) | BackupError::Occupied(detail) => Failure::user(detail),
        BackupError::Broken(detail) => Failure::Internal(detail),
    }
}
