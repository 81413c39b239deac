//! Copies of what the server keeps, made by itself again and again: each is read to its end once it
//! is there, and of all only the newest stay.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::net::telemetry::Telemetry;
use crate::store::backup::{self, BackupError};
use crate::{ground::calendar, ground::files, store};

/// Prefix of a copy's directory name, before the moment of its making.
const PREFIX: &str = "moescape-";

/// Longest time until a copy that failed is tried again.
const MAX_RETRY: Duration = Duration::from_mins(10);

/// Time from the server's start to its first copy.
const FIRST_BACKUP_DELAY: Duration = Duration::from_secs(2);

/// Schedule of copies: where they go, how often they are made, and how many stay.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) to: PathBuf,
    pub(crate) every: Duration,
    pub(crate) keep: u32,
}

/// A length of time as people write it: `90s`, `30m`, `24h`, `7d`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` isn't a time such as 30m, 24h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| wrong())?;
    match number.checked_mul(seconds).filter(|seconds| *seconds > 0) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(format!("{}: the least is 1s", wrong())),
    }
}

/// Starts the thread that makes them. It ends with the process; a copy that is cut off is none.
pub(crate) fn start(data: PathBuf, schedule: Schedule, told: Arc<Telemetry>) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("copies".to_owned());
    let work = move || {
        std::thread::sleep(FIRST_BACKUP_DELAY.min(schedule.every));
        loop {
            // One that was made before a restart counts.
            let age = newest(&schedule.to).map(|at| calendar::now_secs().saturating_sub(at));
            let left = age.and_then(|age| schedule.every.checked_sub(Duration::from_secs(age)));
            if let Some(left) = left.filter(|left| !left.is_zero()) {
                std::thread::sleep(left);
            }
            let pause = match make(&data, &schedule) {
                Ok(Some(name)) => {
                    told.copied(calendar::now_secs());
                    tracing::info!(name, "a copy is made and whole");
                    schedule.every
                }
                // Nothing is kept yet.
                Ok(None) => schedule.every.min(MAX_RETRY),
                Err(error) => {
                    told.copy_failed();
                    let seconds = schedule.every.min(MAX_RETRY).as_secs();
                    tracing::error!(%error, "no copy is made; it is tried again in {seconds} s");
                    schedule.every.min(MAX_RETRY)
                }
            };
            std::thread::sleep(pause);
        }
    };
    thread.spawn(work).map(drop)
}

/// Makes a copy, reads it, and lets old ones go; its name, or `None` if there is nothing to copy.
fn make(data: &Path, schedule: &Schedule) -> Result<Option<String>, BackupError> {
    if !store::glance(&data.join(store::FILE))? {
        return Ok(None);
    }
    let moment = calendar::moment(calendar::now_secs());
    let moment: String = moment.chars().filter(|char| !"-:".contains(*char)).collect();
    let name = format!("{PREFIX}{moment}");
    let to = schedule.to.join(&name);
    files::create_directories(&schedule.to)
        .map_err(|error| BackupError::Broken(format!("{}: {error}", schedule.to.display())))?;
    backup::backup(data, &to)?;
    backup::verify(&to)?;
    // Only a new one that is whole lets an old one go.
    for old in copies(&schedule.to).into_iter().rev().skip(schedule.keep as usize) {
        if let Err(error) = fs::remove_dir_all(schedule.to.join(&old)) {
            tracing::warn!(%error, old, "an old copy stays");
        }
    }
    Ok(Some(name))
}

/// The names of the copies in a directory, oldest first. Nothing else is ever removed.
fn copies(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| moment(name).is_some()).collect();
    names.sort();
    names
}

/// Seconds of the moment in a copy's name, `moescape-20260131T120000Z`; `None` for another name.
fn moment(name: &str) -> Option<u64> {
    let text = name.strip_prefix(PREFIX)?;
    let plain = text.len() == 16 && text.is_ascii() && text.ends_with('Z') && &text[8..9] == "T";
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    plain.then(|| calendar::seconds((year, month, day), (hour, minute, second)))
}

/// Time when the newest finished copy in a directory was made, seconds since 1970.
pub(crate) fn newest(directory: &Path) -> Option<u64> {
    let names = copies(directory);
    let whole = names.iter().rev().find(|name| directory.join(name).join(store::FILE).exists())?;
    moment(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_do() {
        assert_eq!(duration("24h"), Ok(Duration::from_hours(24)));
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["", "h", "0h", "24", "1.5h", "-1h", "24hh", "é"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_copies_are_taken_for_some() {
        assert_eq!(moment("moescape-19700102T000001Z"), Some(86_401));
        assert_eq!(moment("moescape-20260101T000000Z"), Some(1_767_225_600));
        for other in ["moescape-", "moescape-mine", "moescape-2026", "notes", "moescape-20260101"] {
            assert_eq!(moment(other), None, "{other}");
        }
    }

    #[test]
    fn the_newest_copies_stay_whole_and_nothing_else_goes() {
        let home = tempfile::tempdir().unwrap();
        let (data, to) = (home.path().join("data"), home.path().join("copies"));
        fs::create_dir_all(&data).unwrap();
        let schedule = Schedule { to: to.clone(), every: Duration::from_secs(1), keep: 2 };
        assert_eq!(make(&data, &schedule).unwrap(), None, "there is nothing yet");
        store::Lazy::new(&data).open().unwrap();
        for old in ["moescape-20200101T000000Z", "moescape-20210101T000000Z", "moescape-mine"] {
            fs::create_dir_all(to.join(old)).unwrap();
        }
        let made = make(&data, &schedule).unwrap().unwrap();
        assert_eq!(copies(&to), ["moescape-20210101T000000Z".to_owned(), made.clone()]);
        assert!(to.join("moescape-mine").exists());
        assert!(calendar::now_secs() - newest(&to).unwrap() < 60);
        // A byte that changes on the disk is seen.
        let file = to.join(&made).join(store::FILE);
        let mut bytes = fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&file, bytes).unwrap();
        assert!(backup::verify(&to.join(&made)).is_err());
    }
}
