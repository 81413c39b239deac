//! Checks that the server can write where it is to: its data, its copies, what goes, the audit log.
//! Nothing stays but what was there: a file beside, which is removed again, says it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::Check;
use super::State::{Broken, Warning};
use crate::{ground::calendar, ground::files, store::scheduled_backup};

/// Check that the server can write its data.
pub(super) fn data(directory: &Path) -> Check {
    let name = "writable";
    match probe(directory) {
        Ok(()) => Check::fine(name, "a file was written and removed"),
        Err(error) => {
            Check::new(name, Broken, format!("{}: {error}", directory.display()), todo(&error))
        }
    }
}

/// Check that copies can be written, and that the newest is as new as it has to be.
pub(super) fn backups(to: &Path, every: Duration) -> Check {
    match made(to) {
        Ok(()) => of_copies(to, every, scheduled_backup::newest(to), calendar::now_secs()),
        Err((found, todo)) => Check::new("backups", Broken, found, todo),
    }
}

/// Check that what goes can be written before.
pub(super) fn archive(to: &Path) -> Check {
    let name = "archive";
    match made(to) {
        Ok(()) => Check::fine(name, format!("{} takes files", to.display())),
        Err((found, todo)) => Check::new(name, Broken, found, todo),
    }
}

/// Check that lines can be added to the audit log. It is opened as the server does, and nothing is
/// written.
pub(super) fn audit_log(file: &Path) -> Check {
    let (name, shown) = ("audit log", file.display());
    let broken = |error: &io::Error| {
        let todo = if error.kind() == io::ErrorKind::NotFound {
            "make its directory and give it to the server's user: the server makes the file, not \
             the directory"
        } else if error.kind() == io::ErrorKind::NotADirectory {
            "name a file in a directory by --audit-log"
        } else {
            todo(error)
        };
        Check::new(name, Broken, format!("{shown}: {error}"), todo)
    };
    match fs::metadata(file) {
        Ok(found) if found.is_file() => match File::options().append(true).open(file) {
            Ok(_) => Check::fine(name, format!("{shown} takes lines")),
            Err(error) => broken(&error),
        },
        Ok(found) => {
            let is = if found.is_dir() { "is a directory" } else { "isn't a file on a disk" };
            let todo = "name a file by --audit-log, such as audit.jsonl in a directory";
            Check::new(name, Broken, format!("{shown} {is}"), todo)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match probe(parent(file)) {
            Ok(()) => Check::fine(name, format!("{shown} isn't there yet: the server makes it")),
            Err(error) => broken(&error),
        },
        Err(error) => broken(&error),
    }
}

/// Checks that a directory can be written that the server makes if it isn't there. If not, what was
/// found, and what to do.
fn made(directory: &Path) -> Result<(), (String, String)> {
    let mut place = directory;
    while let Err(error) = fs::metadata(place) {
        if error.kind() != io::ErrorKind::NotFound || place == parent(place) {
            return Err((format!("{}: {error}", place.display()), todo(&error).to_owned()));
        }
        place = parent(place);
    }
    probe(place).map_err(|error| {
        if place == directory {
            return (format!("{}: {error}", place.display()), todo(&error).to_owned());
        }
        let (shown, above) = (directory.display(), place.display());
        let todo = format!(
            "make {shown} and give it to the server's user, or let it write in {above}; \
             ReadWritePaths of a unit must name it"
        );
        (format!("{shown} isn't there and can't be made: {above}: {error}"), todo)
    })
}

/// The directory that something is in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// Writes a file in a directory and removes it.
fn probe(directory: &Path) -> io::Result<()> {
    let file = directory.join(format!("moescape.doctor-{}", std::process::id()));
    let written = files::write(&file, b"doctor\n");
    let removed = fs::remove_file(&file);
    written.and(removed)
}

/// Advice for a place where nothing can be written.
fn todo(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::StorageFull {
        "the disk is full: make room, or take a larger disk"
    } else if error.kind() == io::ErrorKind::NotADirectory {
        "move the file away, or name a directory"
    } else {
        "let the server's user write there: see owner, mode, a mount that is read-only, and \
         ReadWritePaths of a unit"
    }
}

/// Check that the newest copy that the server made by itself is as new as it has to be.
fn of_copies(to: &Path, every: Duration, newest: Option<u64>, now_secs: u64) -> Check {
    let (name, shown) = ("backups", to.display());
    let Some(at) = newest else {
        let todo = "the server makes the first one seconds after its start: see its log if not";
        return Check::new(name, Warning, format!("{shown} has no copy yet"), todo);
    };
    let hours = now_secs.saturating_sub(at) / 3_600;
    let found = format!("the newest copy in {shown} is {hours} h old");
    // One that is missing is a fault only once its turn and another one are over.
    if now_secs.saturating_sub(at) > every.as_secs().saturating_mul(2) {
        let todo = "see the server's log for why none is made, and the room of that directory";
        return Check::new(name, Broken, found, todo);
    }
    Check::fine(name, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::State;

    #[test]
    fn a_copy_that_is_too_old_is_broken() {
        let of = |newest| of_copies(Path::new("/b"), Duration::from_hours(1), newest, 100_000);
        assert_eq!(of(None).state, State::Warning);
        assert_eq!(of(Some(100_000 - 7_200)).state, State::Fine);
        assert_eq!(of(Some(100_000 - 7_201)).state, State::Broken);
    }
}
