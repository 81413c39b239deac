//! Checks of `moescape doctor`, one after the other.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::State::{Broken, Warning};
use super::{Check, reach, serve, written};
use crate::cli::retention::Archive;
use crate::jobs::nats::{self, Address, MAX_ANSWER_TIME};
use crate::net::listen::{self, Limits};
use crate::{Site, store, store::traces};

/// Room below which the data directory is soon full, and below which it is.
const LITTLE_MIB: u64 = 1_024;
const NONE_MIB: u64 = 64;

/// First bytes of a compressed trace: the magic number of gzip (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Subject at which JetStream says what an account has.
///
/// Source: docs.nats.io/reference/reference-protocols/nats_api_reference.
const ACCOUNT: &str = "$JS.API.INFO";

/// No clock that is right says less: 2026-01-01, before the first release.
const EARLIEST: Duration = Duration::from_secs(1_767_225_600);

/// Largest time by which files may be of the future: machines that share a disk differ a little.
const AHEAD: Duration = Duration::from_mins(2);

/// The versions of what the binary is made of.
pub(super) fn versions() -> Check {
    let name = "versions";
    let found = format!(
        "moescape {}, model {}, tables {}",
        env!("CARGO_PKG_VERSION"),
        model::MODEL_VERSION,
        store::NEWEST
    );
    match Site::embedded() {
        Ok(site) if site.names().is_some() => Check::fine(name, format!("{found}, with the site")),
        Ok(_) => {
            let todo = "pages don't follow what is changed in them; build with the site in it, or \
                        serve a built one by --site";
            Check::new(name, Warning, format!("{found}, without the site"), todo)
        }
        Err(error) => {
            let todo = "install a binary that is whole";
            Check::new(name, Broken, format!("{found}, a site that can't be read: {error}"), todo)
        }
    }
}

/// All that follows from the settings.
pub(super) fn all(settings: &serve::Arguments) -> Vec<Check> {
    let mut checks = Vec::new();
    match serve::data(settings.data.clone()) {
        Ok(data) => {
            let store = settings.store.as_ref();
            checks.extend(of_data(&data, settings.trace_store_mib, store.is_none()));
        }
        Err(_) => {
            let found = "no directory was named, and there is no home";
            checks.push(Check::new("data", Broken, found, "name one by --data"));
        }
    }
    checks.extend(reach::all(settings));
    if let Some(address) = &settings.store {
        checks.extend(super::database::all(address));
    }
    let upkeep = &settings.upkeep;
    if let Some(to) = &upkeep.backup_to {
        checks.push(written::backups(to, upkeep.backup_every));
    }
    if let Some(Archive(Some(to))) = &upkeep.archive_to {
        checks.push(written::archive(to));
    }
    if let Some(file) = &upkeep.audit_log {
        checks.push(written::audit_log(file));
    }
    checks.push(descriptors(settings));
    if let Some(address) = &settings.engine {
        checks.push(engine(address));
    }
    checks
}

fn of_data(data: &Path, trace_store_mib: u64, has_store: bool) -> Vec<Check> {
    let name = "data";
    let shown = data.display();
    match fs::metadata(data) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => {
            let todo = "move the file away, or name a directory by --data";
            return vec![Check::new(name, Broken, format!("{shown} isn't a directory"), todo)];
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let todo = "name the right one by --data; the first `moescape serve` makes a new one";
            return vec![Check::new(name, Broken, format!("{shown} isn't there"), todo)];
        }
        Err(error) => {
            let todo = "let the server's user reach it, or name another one by --data";
            return vec![Check::new(name, Broken, format!("{shown}: {error}"), todo)];
        }
    }
    // Before the store is looked into, which may give its file a new time.
    let clock = clock(data);
    let mut checks = vec![Check::fine(name, shown.to_string())];
    checks.extend(permissions(data));
    let written = written::data(data);
    let is_written = written.state == super::State::Fine;
    checks.push(written);
    checks.extend(room(data));
    if has_store {
        checks.push(the_store(data, is_written));
    }
    checks.push(the_traces(&data.join(traces::DIRECTORY), trace_store_mib));
    checks.push(clock);
    checks
}

/// Check of the directory's owner, and of who else may use it.
#[cfg(unix)]
fn permissions(data: &Path) -> Option<Check> {
    use std::os::unix::fs::MetadataExt;
    let name = "permissions";
    let metadata = fs::metadata(data).ok()?;
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    let mode = metadata.mode() & 0o777;
    let found = format!("mode {mode:03o}, owner {owner}");
    Some(if owner != user {
        let todo = if user == 0 {
            // To give it to root would shut the server out.
            "run this as the server's user: root may do what it may not; the guide's chapter on \
             running a server has the command for a unit"
                .to_owned()
        } else {
            format!("run this as the server's user, or `chown -R {user} {}`", data.display())
        };
        Check::new(name, Warning, format!("{found}, and this is user {user}"), todo)
    } else if mode & 0o022 != 0 {
        let todo = format!("`chmod 700 {}`: others can put files in it", data.display());
        Check::new(name, Broken, found, todo)
    } else {
        // What is in it is its owner's alone: the server sees to that.
        Check::fine(name, found)
    })
}

#[cfg(not(unix))]
fn permissions(_: &Path) -> Option<Check> {
    None
}

#[cfg(unix)]
fn room(data: &Path) -> Option<Check> {
    let found = rustix::fs::statvfs(data).ok()?;
    Some(of_room(found.f_bavail.saturating_mul(found.f_frsize) >> 20))
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<Check> {
    None
}

fn of_room(mib: u64) -> Check {
    let found = format!("{mib} MiB free");
    let todo = "make room, or move the data to a larger disk";
    if mib < NONE_MIB {
        Check::new("room", Broken, found, todo)
    } else if mib < LITTLE_MIB {
        Check::new("room", Warning, found, todo)
    } else {
        Check::fine("room", found)
    }
}

fn the_store(data: &Path, is_writable: bool) -> Check {
    let name = "store";
    let file = data.join(store::FILE);
    let shown = file.display();
    if let Err(unfit) = store::check(data) {
        return Check::new(name, Broken, unfit.to_string(), unfit.todo(data));
    }
    match fs::metadata(&file) {
        Ok(metadata) if metadata.len() > 0 => {}
        Ok(_) | Err(_) => return Check::fine(name, "none yet: the server makes it"),
    }
    match store::version(&file) {
        Ok(version) => {
            let version = version.map_or_else(|| "?".to_owned(), |version| version.to_string());
            Check::fine(name, format!("whole, tables {version} of {}", store::NEWEST))
        }
        Err(_) if !is_writable => {
            let todo = "make the data directory writable first";
            Check::new(name, Warning, format!("{shown} can't be looked into"), todo)
        }
        Err(error) => {
            let todo = "let the server's user read and write it; the message says what is wrong";
            Check::new(name, Broken, format!("{shown}: {error}"), todo)
        }
    }
}

fn the_traces(directory: &Path, most_mib: u64) -> Check {
    let name = "traces";
    let shown = directory.display();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Check::fine(name, "none yet");
        }
        Err(error) => {
            let todo = "it must be a directory that the server's user can read and write";
            return Check::new(name, Broken, format!("{shown}: {error}"), todo);
        }
    };
    let (mut count, mut bytes, mut bad) = (0_u64, 0_u64, Vec::new());
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let mut start = [0; GZIP.len()];
        let read = fs::File::open(entry.path()).and_then(|mut file| file.read_exact(&mut start));
        if !traces::is_stored(&file) || read.is_err() || start != GZIP {
            bad.push(file);
        }
        count += 1;
        bytes += entry.metadata().map_or(0, |metadata| metadata.len());
    }
    let found = format!("{count}, {} of {most_mib} MiB", bytes.div_ceil(1 << 20));
    if let Some(first) = bad.first() {
        let todo = "remove what isn't the server's; take a trace that is damaged from a backup";
        let others = bad.len() - 1;
        let found = format!("{found}; {first} is no trace, and {others} more");
        return Check::new(name, Broken, found, todo);
    }
    if bytes >= most_mib.saturating_mul(1 << 20) {
        let todo = "no trace can be added: give more by --trace-store-mib";
        return Check::new(name, Warning, found, todo);
    }
    Check::fine(name, found)
}

/// Links end by the clock, and events have its times.
fn clock(data: &Path) -> Check {
    let stored = fs::metadata(data.join(store::FILE)).and_then(|found| found.modified()).ok();
    of_clock(SystemTime::now(), stored)
}

fn of_clock(now: SystemTime, stored: Option<SystemTime>) -> Check {
    let name = "clock";
    let todo = "set the clock, as by NTP: links end by it";
    if now < SystemTime::UNIX_EPOCH + EARLIEST {
        return Check::new(name, Broken, "it says a time before this program was made", todo);
    }
    let ahead = stored.and_then(|stored| stored.duration_since(now).ok()).unwrap_or_default();
    if ahead > AHEAD {
        let found = format!("the store was written {} s from now", ahead.as_secs());
        return Check::new(name, Broken, found, todo);
    }
    Check::fine(name, "later than all that is stored")
}

fn descriptors(settings: &serve::Arguments) -> Check {
    let wanted = settings.max_connections;
    let limits = Limits::new(wanted, None, 0);
    of_descriptors(wanted, limits.possible().connections)
}

fn of_descriptors(wanted: u32, possible: u32) -> Check {
    let name = "descriptors";
    if possible >= wanted {
        return Check::fine(name, format!("enough for {wanted} connections"));
    }
    let found = format!("enough for {possible} of {wanted} connections");
    let todo = format!(
        "allow {} (LimitNOFILE of a unit, `ulimit -n`), or ask for fewer by --max-connections",
        u64::from(wanted) + listen::RESERVED_DESCRIPTORS
    );
    Check::new(name, Broken, found, todo)
}

fn engine(address: &Address) -> Check {
    let name = "NATS";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let asked = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        runtime.block_on(async {
            let silent =
                || format!("{address} doesn't answer within {} s", MAX_ANSWER_TIME.as_secs());
            let asks = async {
                let client = nats::connect(address, "moescape-doctor").await;
                let client = client.map_err(|error| error.to_string())?;
                let told = client.request(ACCOUNT, "".into()).await;
                let told = told.map_err(|error| format!("{address} has no JetStream: {error}"))?;
                streams(&told.payload).map_err(|why| format!("{address} has no JetStream: {why}"))
            };
            tokio::time::timeout(MAX_ANSWER_TIME * 2, asks).await.map_err(|_| silent())?
        })
    });
    match asked {
        Ok(streams) => Check::fine(name, format!("{address} with JetStream, streams: {streams}")),
        Err(why) => {
            let todo = "start it with JetStream, `nats-server -js`, where --engine says; see \
                        firewalls, name and password";
            Check::new(name, Broken, why, todo)
        }
    }
}

/// Number of streams that an account has, from JetStream's answer.
fn streams(said: &[u8]) -> Result<u64, String> {
    let said: serde_json::Value =
        serde_json::from_slice(said).map_err(|_| "it says no JSON".to_owned())?;
    match said["streams"].as_u64() {
        Some(streams) => Ok(streams),
        None => Err(said["error"]["description"].as_str().unwrap_or("it says no more").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::State;

    #[test]
    fn a_clock_that_is_behind_what_is_stored_is_broken() {
        let now = SystemTime::UNIX_EPOCH + EARLIEST + Duration::from_hours(24);
        assert_eq!(of_clock(now, None).state, State::Fine);
        assert_eq!(of_clock(now, Some(now + AHEAD)).state, State::Fine);
        assert_eq!(of_clock(now, Some(now + AHEAD * 2)).state, State::Broken);
        assert_eq!(of_clock(SystemTime::UNIX_EPOCH, None).state, State::Broken);
    }

    #[test]
    fn little_room_is_a_warning_and_none_is_broken() {
        assert_eq!(of_room(LITTLE_MIB).state, State::Fine);
        assert_eq!(of_room(LITTLE_MIB - 1).state, State::Warning);
        assert_eq!(of_room(NONE_MIB - 1).state, State::Broken);
    }
}
