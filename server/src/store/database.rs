//! The store's file, opened, and the thread that uses it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use rusqlite::{Connection, TransactionBehavior};

use super::fault::StoreError;
use super::names::{BUSY, FILE};
use super::place::Place;
use super::sql::{self, On, Transaction};
use super::tables;
use crate::files;

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// The server's file. It is closed when the last of its handles is gone.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    work: mpsc::Sender<Work>,
    pub(super) place: Arc<Place>,
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

impl Store {
    /// Opens the file of a data directory, and makes it where there is none.
    fn open(directory: &Path) -> Result<Self, StoreError> {
        let file = directory.join(FILE);
        // SQLite gives its other files the permissions of this one. One that is there isn't
        // opened here: see `glance`.
        match files::private().create_new(true).open(&file) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::disk(&file, &error)),
        }
        let mut connection = Connection::open(&file)?;
        prepare(&mut connection, &file)?;
        let place = Arc::new(Place::new(file));
        let (work, todo) = mpsc::channel::<Work>();
        let thread = std::thread::Builder::new().name("store".to_owned());
        let running = thread.spawn(move || todo.into_iter().for_each(|work| work(&mut connection)));
        running.map_err(StoreError::thread)?;
        Ok(Self { work, place })
    }

    /// Does work in one transaction and waits for it: not for threads that answer requests.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with(move |connection| Ok(in_transaction(connection, work)?))
    }

    /// Does something with the connection, on its thread, and waits for it.
    pub(super) fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = mpsc::sync_channel(1);
        let work = move |connection: &mut Connection| {
            // Who asked may be gone.
            let _ = answer.send(work(connection));
        };
        let gone = || StoreError::ended();
        self.work.send(Box::new(work)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
) -> sql::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = work(&Transaction { on: On::Sqlite(&transaction) })?;
    transaction.commit()?;
    Ok(value)
}

/// Sets the file up and brings its tables to this version.
fn prepare(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Before there is a log: a file has its tables or is empty, whenever its making was cut off,
    // and one that has lost its log is known by having none.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let tables = tables::migrate(&transaction)?;
    transaction.commit()?;
    if let Some(complaint) = tables.complaint() {
        return Err(StoreError::unfit(file, &complaint));
    }
    connection.pragma_update(None, "journal_mode", "wal")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fault::Cause;
    use crate::store::sql::params;

    #[test]
    fn a_file_is_opened_again_with_what_it_holds() {
        let directory = tempfile::tempdir().unwrap();
        let count = |transaction: &Transaction<'_>| {
            let count = "SELECT count(*) FROM sweep";
            transaction.query_row(count, params![], |row| row.get::<u32>(0))
        };
        let store = Store::open(directory.path()).unwrap();
        let added = store.call(|transaction| {
            transaction.execute(
                "INSERT INTO sweep VALUES ('a', 'b', 1, '{}', '1', 1, 'running', NULL, NULL, NULL)",
                params![],
            )
        });
        assert_eq!(added.unwrap(), 1);
        assert!(store.call(|transaction| transaction.execute("nonsense", params![])).is_err());
        drop(store);
        assert_eq!(Store::open(directory.path()).unwrap().call(count).unwrap(), 1);
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(directory.path().join(FILE)).unwrap();
        prepare(&mut connection, Path::new("")).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let error = Store::open(directory.path()).unwrap_err();
        assert!(error.to_string().contains("newer"), "{error}");
        assert_eq!(error.cause(), Cause::Foreign);
    }
}
