//! What the server keeps: one SQLite file in the data directory, and one thread that uses it.
//!
//! With one thread there is one order of writes and nobody waits for a lock. Every piece of work
//! is a transaction of its own, `BEGIN IMMEDIATE`: one that reads and then writes can't be
//! refused halfway.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The file in the data directory.
pub(crate) const FILE: &str = "moescape.sqlite";

/// What brings a file from each version of its tables to the next.
const MIGRATIONS: &[&str] = &[
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
];

/// The version of the tables that this program makes.
pub(crate) const NEWEST: usize = MIGRATIONS.len();

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// The server's file. It is closed when the last of its handles is gone.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    work: mpsc::Sender<Work>,
}

/// A file that is opened when it is first asked for: a server that keeps nothing has none.
#[derive(Debug)]
pub(crate) struct Lazy {
    directory: PathBuf,
    store: Mutex<Option<Store>>,
}

impl Lazy {
    /// That of a data directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), store: Mutex::new(None) }
    }

    /// Is there a file already? Whoever only reads needs to make none.
    pub(crate) fn exists(&self) -> bool {
        self.directory.join(FILE).exists()
    }

    /// The file, made where there is none. It takes a while: not for threads that answer requests.
    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = store.as_ref() {
            return Ok(store.clone());
        }
        let opened = Store::open(&self.directory)?;
        *store = Some(opened.clone());
        Ok(opened)
    }
}

/// The file couldn't be used. What it says is for the server's log, not for its users.
#[derive(Clone, Debug)]
pub(crate) struct StoreError(String);

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl StoreError {
    /// Others wrote at the same time, again and again.
    pub(crate) fn busy() -> Self {
        Self("others wrote first, too many times".to_owned())
    }

    /// A thread couldn't be started.
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
    pub(crate) fn thread(error: std::io::Error) -> Self {
        Self(format!("a thread can't be started: {error}"))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl Store {
    /// Opens the file of a data directory, and makes it where there is none.
    fn open(directory: &Path) -> Result<Self, StoreError> {
        let mut connection = Connection::open(directory.join(FILE))?;
        prepare(&mut connection)?;
        let (work, todo) = mpsc::channel::<Work>();
        let thread = std::thread::Builder::new().name("store".to_owned());
        let running = thread.spawn(move || todo.into_iter().for_each(|work| work(&mut connection)));
        running.map_err(StoreError::thread)?;
        Ok(Self { work })
    }

    /// Does work in one transaction and waits for it: not for threads that answer requests.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = mpsc::sync_channel(1);
        let work = move |connection: &mut Connection| {
            // Who asked may be gone.
            let _ = answer.send(in_transaction(connection, work));
        };
        let gone = || StoreError("the store has ended".to_owned());
        self.work.send(Box::new(work)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?.map_err(StoreError::from)
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

/// Sets the file up and brings its tables to this version.
fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let newest = NEWEST;
    in_transaction(connection, |transaction| {
        let version: usize =
            transaction.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))? as usize;
        if version > newest {
            return Ok(Err(StoreError(format!(
                "the data directory is of a newer version: its tables have version {version}, \
                 this program knows {newest}"
            ))));
        }
        for migration in &MIGRATIONS[version..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "user_version", newest as u32)?;
        Ok(Ok(()))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_again_with_what_it_holds() {
        let directory = tempfile::tempdir().unwrap();
        let count = |transaction: &Transaction<'_>| {
            transaction.query_row("SELECT count(*) FROM sweep", [], |row| row.get::<_, u32>(0))
        };
        let store = Store::open(directory.path()).unwrap();
        let added = store.call(|transaction| {
            transaction.execute(
                "INSERT INTO sweep VALUES ('a', 'b', 1, '{}', '1', 1, 'running', NULL, NULL, NULL)",
                [],
            )
        });
        assert_eq!(added.unwrap(), 1);
        assert!(store.call(|transaction| transaction.execute("nonsense", [])).is_err());
        drop(store);
        assert_eq!(Store::open(directory.path()).unwrap().call(count).unwrap(), 1);
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let connection = Connection::open(directory.path().join(FILE)).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let error = Store::open(directory.path()).unwrap_err();
        assert!(error.to_string().contains("newer"), "{error}");
    }
}
