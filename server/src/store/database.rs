//! The store, opened, and the thread that uses it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use std::{fs, io};

use rusqlite::{Connection, TransactionBehavior};

use super::fault::{Cause, StoreError};
use super::names::{BUSY_TIMEOUT, FILE};
use super::place::{Place, pages_bytes};
use super::postgres::{Address, Session};
use super::sql;
use super::start::{self, EMPTIED};
use super::tables;
use super::transaction::{On, Transaction};
use crate::ground::files;

type Work = Box<dyn FnOnce(&mut Database) + Send>;

/// Place where a server keeps what it keeps.
#[derive(Clone, Debug)]
pub(crate) enum Home {
    /// A file of SQLite in this directory.
    Directory(PathBuf),
    /// A database of PostgreSQL, which servers may share.
    Postgres(Address),
}

/// Database that the store's thread uses.
#[derive(Debug)]
pub(super) enum Database {
    /// The connection, and the file's place.
    Sqlite(Connection, Place),
    Postgres(Box<Session>),
}

/// The server's store. It is closed when the last of its handles is gone.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    work: mpsc::Sender<Work>,
}

/// A store that is opened when it is first asked for: a server that keeps nothing has no file.
#[derive(Debug)]
pub(crate) struct Lazy {
    home: Home,
    store: Mutex<Opened>,
}

/// The store, or why it couldn't be opened, and when: a database that is away isn't waited for by
/// each who asks.
#[derive(Debug, Default)]
struct Opened {
    store: Option<Store>,
    refused: Option<(Instant, StoreError)>,
}

/// Time for which a database that couldn't be reached isn't tried again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

impl Lazy {
    /// Store of a data directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self::at(Home::Directory(directory.to_owned()))
    }

    /// Store of a home.
    pub(crate) fn at(home: Home) -> Self {
        Self { home, store: Mutex::default() }
    }

    /// Store of a test's directory, or of the database that belongs to it: see `testing`.
    #[cfg(test)]
    pub(crate) fn of_test(directory: &Path) -> Self {
        match super::testing::of(directory) {
            Some(address) => Self::at(Home::Postgres(address.parse().unwrap())),
            None => Self::new(directory),
        }
    }

    /// Whether there is a file already. Whoever only reads needs to make none.
    pub(crate) fn exists(&self) -> bool {
        match &self.home {
            Home::Directory(directory) => directory.join(FILE).exists(),
            Home::Postgres(_) => true,
        }
    }

    /// Bytes of the store; 0 where nobody can say.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.home {
            Home::Directory(directory) => {
                let length = |file| std::fs::metadata(file).map_or(0, |found| found.len());
                super::start::parts(directory).map(length).sum()
            }
            Home::Postgres(_) => self.open().and_then(|store| store.bytes()).unwrap_or_default(),
        }
    }

    /// The store, made where there is none. It takes a while: not for threads that answer requests.
    pub(crate) fn open(&self) -> Result<Store, StoreError> {
        let mut opened = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &opened.store {
            return Ok(store.clone());
        }
        if let Some((at, error)) = &opened.refused
            && at.elapsed() < RECONNECT_DELAY
        {
            return Err(error.clone());
        }
        let store = match &self.home {
            Home::Directory(directory) => Store::open(directory),
            Home::Postgres(address) => Store::connect(address),
        };
        match store {
            Ok(store) => {
                *opened = Opened { store: Some(store.clone()), refused: None };
                Ok(store)
            }
            Err(error) => {
                if matches!(self.home, Home::Postgres(_)) {
                    opened.refused = Some((Instant::now(), error.clone()));
                }
                Err(error)
            }
        }
    }
}

impl Store {
    /// Opens the file of a data directory, and makes it where there is none.
    fn open(directory: &Path) -> Result<Self, StoreError> {
        let file = directory.join(FILE);
        // SQLite gives its other files the permissions of this one. One that is there isn't
        // opened here: see `glance`.
        let disk = |error: io::Error| StoreError::disk(&file, &error);
        let making = start::making(&file);
        if !fs::exists(&file).map_err(disk)? {
            files::private().create(true).truncate(true).write(true).open(&making).map_err(disk)?;
        }
        match files::private().create_new(true).open(&file) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if start::is_emptied(&file) {
                    return Err(StoreError::new(
                        Cause::Gone,
                        format!("{}: {EMPTIED}", file.display()),
                    ));
                }
            }
            Err(error) => return Err(disk(error)),
        }
        let mut connection = Connection::open(&file)?;
        prepare(&mut connection, &file)?;
        files::remove(&making).map_err(disk)?;
        Self::begin(move || Ok(Database::Sqlite(connection, Place::new(file))))
    }

    /// Connects to a database of PostgreSQL, and makes its tables where there are none.
    fn connect(address: &Address) -> Result<Self, StoreError> {
        let address = address.clone();
        Self::begin(move || {
            let mut session = Session::open(&address)?;
            let tables = session.in_transaction(Session::migrate)?;
            if let Some(complaint) = tables.complaint() {
                return Err(StoreError::foreign(&address, &complaint));
            }
            Ok(Database::Postgres(Box::new(session)))
        })
    }

    /// Starts the thread, on which the database is opened: a session has a runtime of its own, and
    /// whoever asks may be on a thread of another.
    fn begin(
        open: impl FnOnce() -> Result<Database, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (work, todo) = mpsc::channel::<Work>();
        let (opened, is_open) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("store".to_owned());
        let running = thread.spawn(move || match open() {
            Ok(mut database) => {
                let _ = opened.send(Ok(()));
                todo.into_iter().for_each(|work| work(&mut database));
            }
            Err(error) => drop(opened.send(Err(error))),
        });
        running.map_err(StoreError::thread)?;
        is_open.recv().map_err(|_| StoreError::ended())??;
        Ok(Self { work })
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        self.with(|database| match database {
            Database::Sqlite(..) => Ok(0),
            Database::Postgres(session) => session.in_transaction(|session| session.bytes()),
        })
    }

    /// Runs work in one transaction and waits for it: not for threads that answer requests.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with(move |database| database.in_transaction(work))
    }

    /// Runs work on the connection, on its thread, and waits for it.
    pub(super) fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = mpsc::sync_channel(1);
        let work = move |database: &mut Database| {
            // Who asked may be gone.
            let _ = answer.send(work(database));
        };
        let gone = || StoreError::ended();
        self.work.send(Box::new(work)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

impl Database {
    fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(connection, place) => {
                let behavior = TransactionBehavior::Immediate;
                let transaction = connection.transaction_with_behavior(behavior)?;
                let before = transaction.total_changes();
                let value = work(&Transaction { on: On::Sqlite(&transaction) })?;
                // What is kept in a file that is gone is gone when the server ends.
                if transaction.total_changes() != before {
                    place.check(pages_bytes(&transaction)?)?;
                }
                transaction.commit()?;
                Ok(value)
            }
            Self::Postgres(session) => {
                session.in_transaction(|session| work(&Transaction { on: On::Postgres(session) }))
            }
        }
    }
}

/// Sets the file up and brings its tables to this version.
fn prepare(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
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
                "INSERT INTO sweep VALUES ('a', 'b', 1, '{}', '1', 1, 'running', NULL, NULL, NULL, \
                 0)",
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
