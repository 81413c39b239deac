//! The tables of the store's file, and whose tables a file has.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction};

/// Identity of the program that made a file, in its header (`PRAGMA application_id`): "Moes".
/// Earlier releases left 0 there; a file of theirs gets it when it is opened.
const APPLICATION: i32 = i32::from_be_bytes(*b"Moes");

/// Migrations of a file from each version of its tables to the next.
pub(super) const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE sweep (
        id TEXT PRIMARY KEY,
        client TEXT NOT NULL,
        created_at_secs INTEGER NOT NULL,
        spec TEXT NOT NULL,
        model_version TEXT NOT NULL,
        chunk INTEGER NOT NULL,
        state TEXT NOT NULL,
        progress TEXT,
        result TEXT
    ) STRICT;
    CREATE INDEX sweep_state ON sweep (state);
",
    "
    -- How many rows of feasible designs are kept: null for none asked for, -1 for too many.
    ALTER TABLE sweep ADD COLUMN kept_rows INTEGER;
    CREATE TABLE sweep_rows (
        sweep TEXT NOT NULL,
        start INTEGER NOT NULL,
        rows BLOB NOT NULL,
        PRIMARY KEY (sweep, start)
    ) STRICT;
    CREATE INDEX sweep_client ON sweep (client, created_at_secs);
",
    "
    CREATE TABLE design (
        id TEXT PRIMARY KEY,
        link TEXT NOT NULL,
        model_version TEXT NOT NULL,
        created_at_secs INTEGER NOT NULL,
        -- The headline metrics as JSON; null for a design that breaks rules.
        result TEXT
    ) STRICT;
    -- What each owner calls a design. One that nobody has any more is removed.
    CREATE TABLE design_entry (
        design TEXT NOT NULL REFERENCES design (id) ON DELETE CASCADE,
        owner TEXT NOT NULL,
        -- Stands in the link that shows name and note to others.
        tag TEXT NOT NULL,
        name TEXT NOT NULL,
        note TEXT NOT NULL,
        created_at_secs INTEGER NOT NULL,
        PRIMARY KEY (design, owner)
    ) STRICT;
    CREATE INDEX design_entry_owner ON design_entry (owner, created_at_secs);
",
    "
    CREATE TABLE review (
        id TEXT PRIMARY KEY,
        created_at_millis INTEGER NOT NULL
    ) STRICT;
    -- What happened in a session, never changed: in this order, and each change once.
    CREATE TABLE review_event (
        review TEXT NOT NULL REFERENCES review (id),
        seq INTEGER NOT NULL,
        -- What the client that asked for it calls it.
        op TEXT NOT NULL,
        at_millis INTEGER NOT NULL,
        json TEXT NOT NULL,
        PRIMARY KEY (review, seq),
        UNIQUE (review, op)
    ) STRICT, WITHOUT ROWID;
    -- Who has a token may open the session; the server knows only the token's hash.
    CREATE TABLE review_link (
        review TEXT NOT NULL REFERENCES review (id),
        id TEXT NOT NULL,
        hash BLOB NOT NULL UNIQUE,
        role TEXT NOT NULL,
        name TEXT NOT NULL,
        made_at_millis INTEGER NOT NULL,
        expires_at_millis INTEGER,
        withdrawn_at_millis INTEGER,
        PRIMARY KEY (review, id)
    ) STRICT;
    -- The room of a session after one of its events, so that opening it is quick.
    CREATE TABLE review_snapshot (
        review TEXT PRIMARY KEY REFERENCES review (id),
        seq INTEGER NOT NULL,
        model_version TEXT NOT NULL,
        json TEXT NOT NULL
    ) STRICT;
",
    "
    -- How often a sweep was paused or let go on: which of two states is the later one.
    ALTER TABLE sweep ADD COLUMN orders INTEGER NOT NULL DEFAULT 0;
    -- Who made what: a browser's key or a proxy's user, as a hash. The owners of designs are in
    -- design_entry. What was made before, and what has no owner any more, isn't here.
    CREATE TABLE owned (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        owner TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        created_at_secs INTEGER NOT NULL,
        PRIMARY KEY (kind, id, owner)
    ) STRICT;
    CREATE INDEX owned_owner ON owned (owner, kind);
    -- When something was opened last, to the day.
    CREATE TABLE opened (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        day INTEGER NOT NULL,
        PRIMARY KEY (kind, id)
    ) STRICT;
",
];

/// The version of the tables that this program makes.
pub(crate) const NEWEST: usize = MIGRATIONS.len();

/// Owner and version of the tables that a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tables {
    /// Tables of nobody: the file holds nothing.
    None,
    /// Ours, of this version, from 1 to [`NEWEST`].
    Ours(usize),
    /// Ours, of a version that a later program made.
    Newer(i32),
    /// Ours, and this one isn't there.
    Without(String),
    /// Another program's.
    Foreign,
}

impl Tables {
    /// Reason why a file with them can't be used, to go behind the file's name.
    pub(crate) fn complaint(&self) -> Option<String> {
        match self {
            Self::None | Self::Ours(_) => None,
            Self::Newer(version) => Some(format!(
                "is of a newer version: its tables have version {version}, this program knows \
                 {NEWEST}; the program that made it knows it"
            )),
            Self::Without(table) => Some(format!("is damaged: {table} isn't in it")),
            Self::Foreign => Some("isn't Moescape's: another program made it".to_owned()),
        }
    }
}

/// Looks at the tables of a file.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Tables> {
    let pragma = |name: &str| {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0))
    };
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let there = names(connection)?;
    if application == 0 && version == 0 && there.is_empty() {
        return Ok(Tables::None);
    }
    let is_of_before = application == 0 && there.contains("sweep");
    if application != APPLICATION && !is_of_before {
        return Ok(Tables::Foreign);
    }
    let Some(known) = usize::try_from(version).ok().filter(|version| *version > 0) else {
        return Ok(Tables::Foreign);
    };
    if known > NEWEST {
        return Ok(Tables::Newer(version));
    }
    let expected = Connection::open_in_memory()?;
    MIGRATIONS.iter().take(known).try_for_each(|migration| expected.execute_batch(migration))?;
    let missing = names(&expected)?.into_iter().find(|name| !there.contains(name));
    Ok(missing.map_or(Tables::Ours(known), Tables::Without))
}

/// Names of all tables and indices.
fn names(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    connection.prepare("SELECT name FROM sqlite_schema")?.query_map([], |row| row.get(0))?.collect()
}

/// Brings the tables of a file to [`NEWEST`], where they can be; returns what they were.
pub(super) fn migrate(transaction: &Transaction<'_>) -> rusqlite::Result<Tables> {
    let tables = read(transaction)?;
    let version = match tables {
        Tables::None => 0,
        Tables::Ours(version) => version,
        Tables::Newer(_) | Tables::Without(_) | Tables::Foreign => return Ok(tables),
    };
    for migration in MIGRATIONS.iter().skip(version) {
        transaction.execute_batch(migration)?;
    }
    let application: i32 = transaction.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    // What is as it should be isn't written again: a full disk still lets a server start and read.
    if application != APPLICATION {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    if version != NEWEST {
        transaction.pragma_update(None, "user_version", NEWEST as u32)?;
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(version: usize) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        MIGRATIONS[..version].iter().for_each(|made| connection.execute_batch(made).unwrap());
        connection.pragma_update(None, "user_version", version as u32).unwrap();
        connection
    }

    #[test]
    fn files_of_every_release_are_ours_and_become_todays() {
        for version in 0..=NEWEST {
            let mut connection = made(version);
            let before = if version == 0 { Tables::None } else { Tables::Ours(version) };
            let transaction = connection.transaction().unwrap();
            assert_eq!(migrate(&transaction).unwrap(), before);
            assert_eq!(read(&transaction).unwrap(), Tables::Ours(NEWEST));
            assert_eq!(names(&transaction).unwrap(), names(&made(NEWEST)).unwrap());
        }
    }

    #[test]
    fn files_of_other_programs_and_of_later_ones_are_left_as_they_are() {
        let other = Connection::open_in_memory().unwrap();
        other.execute_batch("CREATE TABLE notes (text)").unwrap();
        assert_eq!(read(&other).unwrap(), Tables::Foreign);
        let named = made(NEWEST);
        named.pragma_update(None, "application_id", 1).unwrap();
        assert_eq!(
            read(&named).unwrap(),
            Tables::Foreign,
            "another program says that it is its own"
        );
        let mut later = made(NEWEST);
        later.pragma_update(None, "application_id", APPLICATION).unwrap();
        later.pragma_update(None, "user_version", 99).unwrap();
        let transaction = later.transaction().unwrap();
        assert_eq!(migrate(&transaction).unwrap(), Tables::Newer(99));
        assert_eq!(read(&transaction).unwrap(), Tables::Newer(99));
        let robbed = made(NEWEST);
        robbed.execute_batch("DROP TABLE review_snapshot").unwrap();
        let missing = Tables::Without("review_snapshot".to_owned());
        assert_eq!(read(&robbed).unwrap(), missing);
        assert!(missing.complaint().unwrap().contains("review_snapshot"));
    }
}
