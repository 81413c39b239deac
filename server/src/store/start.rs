//! Checks before a server starts: a file that is damaged or another program's would give wrong
//! answers, or none, for as long as nobody reads the log.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::names::{BUSY_TIMEOUT, FILE, JOURNAL, LOG, MAKING, MEMORY};
use super::tables::{self, Tables};

/// Longest time for looking at the pages of a file, in seconds; SQLite checks some hundred MB a
/// second.
const MAX_CHECK_SECONDS: u64 = 10;

/// First bytes of every file of SQLite.
///
/// Source: sqlite.org/fileformat.html, 1.3.1.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Reason why a file can't be a store: the file, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) file: PathBuf,
    /// Goes on behind the file's name.
    pub(crate) why: String,
    kind: Kind,
}

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Damaged,
    /// Not a fault: a later program made it.
    Newer,
    /// Not readable by whoever asks.
    Closed,
}

impl Unfit {
    fn new(file: &Path, why: String) -> Self {
        Self { file: file.to_owned(), why, kind: Kind::Damaged }
    }

    /// Advice on it, for whoever runs the server.
    pub(crate) fn todo(&self, data: &Path) -> String {
        let data = data.display();
        let back = format!("`moescape restore --from COPY --data {data} --replace`");
        match self.kind {
            Kind::Newer => format!(
                "start the newer program again; to stay with this one, put the copy that was made \
                 before the upgrade back by {back}: what was kept since then isn't in it"
            ),
            Kind::Damaged => format!(
                "put a copy back by {back}; or move this file away, and those beside it that begin \
                 with its name, to begin anew"
            ),
            Kind::Closed => format!(
                "it is another user's: give it to the server's, `chown --reference {data} {}*`",
                self.file.display()
            ),
        }
    }
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.file.display(), self.why)
    }
}

/// Checks that the file in a data directory, if there is one, is whole and ours. It isn't changed,
/// but for what SQLite does after a crash. That it can't be written now is no damage: only the log
/// says so.
pub(crate) fn check(directory: &Path) -> Result<(), Unfit> {
    let file = directory.join(FILE);
    let unfit = |why: String| Unfit::new(&file, why);
    if !glance(&file)? {
        return Ok(());
    }
    match inside(&file) {
        Ok(Inside::Whole) => Ok(()),
        Ok(Inside::Unfit(why)) => Err(unfit(why)),
        Ok(Inside::Newer(why)) => Err(Unfit { kind: Kind::Newer, ..unfit(why) }),
        Ok(Inside::Unfinished) => {
            tracing::warn!(
                "{} is large: its pages were looked at for {MAX_CHECK_SECONDS} s, not to the end",
                file.display()
            );
            Ok(())
        }
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Err(unfit(format!("is damaged: {error}")))
            }
            _ => {
                tracing::error!(%error, "{} can't be used now", file.display());
                Ok(())
            }
        },
    }
}

/// Looks at a file without opening it as a database: true if there is something in it.
///
/// Never while this process has it open: closing any file takes back all locks that a process has
/// on it (POSIX), those of SQLite with them.
pub(crate) fn glance(file: &Path) -> Result<bool, Unfit> {
    let unfit = |why: String| Unfit::new(file, why);
    let unreadable = |error: io::Error| {
        let is_closed = error.kind() == io::ErrorKind::PermissionDenied;
        let kind = if is_closed { Kind::Closed } else { Kind::Damaged };
        Unfit { kind, ..unfit(format!("can't be read: {error}")) }
    };
    let length = match fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        Ok(_) => return Err(unfit("isn't a file".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(unreadable(error)),
    };
    if length == 0 {
        // SQLite would throw away what only this log still holds.
        return match beside(file, &[LOG]) {
            Some(log) => Err(unfit(format!("is empty or gone, while {log} holds changes of it"))),
            None if is_emptied(file) => Err(unfit(format!("is {EMPTIED}"))),
            None => Ok(false),
        };
    }
    let mut start = Vec::with_capacity(MAGIC.len());
    let read = File::open(file).and_then(|file| file.take(16).read_to_end(&mut start));
    read.map_err(unreadable)?;
    // What a crash left half written is put back by SQLite, from this journal.
    if start == MAGIC || beside(file, &[JOURNAL]).is_some() {
        return Ok(true);
    }
    Err(unfit("isn't a database of SQLite, or its beginning was overwritten".to_owned()))
}

/// Path of the mark beside a file while it is made: until it has tables it is empty.
pub(super) fn making(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}{MAKING}"))
}

/// Whether a file is there, empty, and not just being made. It held something once: whoever takes
/// it for a new one hides that.
pub(super) fn is_emptied(file: &Path) -> bool {
    let is_empty = |found: fs::Metadata| found.is_file() && found.len() == 0;
    fs::metadata(file).is_ok_and(is_empty) && !making(file).exists()
}

/// Complaint about such a file.
pub(super) const EMPTIED: &str = "empty, as nothing of this program leaves it: it was cut off";

/// A file with one of these endings beside a database, with something in it: SQLite takes it for a
/// part of the database.
pub(crate) fn beside(file: &Path, endings: &[&str]) -> Option<String> {
    let name = file.file_name()?.to_string_lossy();
    let mut names = endings.iter().map(|ending| format!("{name}{ending}"));
    names.find(|name| fs::metadata(file.with_file_name(name)).is_ok_and(|found| found.len() > 0))
}

enum Inside {
    Whole,
    Unfinished,
    Unfit(String),
    Newer(String),
}

fn inside(file: &Path) -> rusqlite::Result<Inside> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let tables = tables::read(&connection)?;
    if let Some(complaint) = tables.complaint() {
        let is_newer = matches!(tables, Tables::Newer(_));
        return Ok(if is_newer { Inside::Newer(complaint) } else { Inside::Unfit(complaint) });
    }
    if tables == Tables::None {
        let why = "holds no tables: the log with its changes is lost, or it was never used";
        return Ok(Inside::Unfit(why.to_owned()));
    }
    let found = in_time(&connection, || {
        // The pages and how they hang together; not that each index has every row.
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    });
    match found {
        Ok(found) if found == "ok" => Ok(Inside::Whole),
        Ok(found) => Ok(Inside::Unfit(format!("is damaged: {}", one_line(&found)))),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            Ok(Inside::Unfinished)
        }
        Err(error) => Err(error),
    }
}

/// The version of a file's tables; `None` for one that isn't ours. Nothing is written.
pub(crate) fn version(file: &Path) -> rusqlite::Result<Option<usize>> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(match tables::read(&connection)? {
        Tables::Ours(version) => Some(version),
        Tables::None | Tables::Newer(_) | Tables::Without(_) | Tables::Foreign => None,
    })
}

/// Finding of SQLite, in one line.
pub(crate) fn one_line(found: &str) -> String {
    let found = found.trim_start_matches("*** in database main ***");
    found.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs work on a connection, which is interrupted after [`MAX_CHECK_SECONDS`].
fn in_time<T>(connection: &Connection, work: impl FnOnce() -> T) -> T {
    let interrupt = connection.get_interrupt_handle();
    let (done, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let most = Duration::from_secs(MAX_CHECK_SECONDS);
            if waits.recv_timeout(most) == Err(mpsc::RecvTimeoutError::Timeout) {
                interrupt.interrupt();
            }
        });
        let found = work();
        drop(done);
        found
    })
}

/// The files that belong to the store's, for whoever sees to all of them.
pub(crate) fn parts(directory: &Path) -> impl Iterator<Item = PathBuf> {
    ["", LOG, MEMORY, JOURNAL, MAKING]
        .into_iter()
        .map(move |ending| directory.join(format!("{FILE}{ending}")))
}
