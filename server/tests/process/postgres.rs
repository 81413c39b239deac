//! A PostgreSQL of the tests' own, on a socket in a directory of its own; it ends with the process
//! that started it, however that ends.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Directory where Debian has what PostgreSQL brings; elsewhere it is on the path.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Starts the server `$2` in `$1`, and ends it when the input ends: when whoever has its other end
/// is gone.
const SCRIPT: &str = r#"
set -e
cd /
umask 077
mkdir "$1/data"
"$2/initdb" --pgdata="$1/data" --username=moescape --auth=trust --encoding=UTF8 --locale=C \
    >/dev/null
"$2/postgres" -D "$1/data" -c listen_addresses= -c unix_socket_directories="$1" \
    -c max_connections=200 -c shared_buffers=32MB >"$1/log" 2>&1 &
read -r _ || true
"$2/pg_ctl" stop -D "$1/data" -m immediate -w >/dev/null 2>&1 || true
rm -rf "$1"
"#;

/// One that runs.
pub(crate) struct Postgres {
    child: Child,
    directory: PathBuf,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Postgres {
    pub(crate) fn start() -> Self {
        let directory = tempfile::Builder::new().prefix("moescape-pg").tempdir().unwrap().keep();
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|found| owner(&found) == 0);
        // It doesn't run as root.
        let mut shell = if is_root {
            let chown = Command::new("chown").arg("nobody").arg(&directory).status().unwrap();
            assert!(chown.success());
            let mut shell = Command::new("runuser");
            shell.args(["-u", "nobody", "--", "sh"]);
            shell
        } else {
            Command::new("sh")
        };
        shell.args(["-c", SCRIPT, "sh"]).arg(&directory).arg(programs());
        let child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let this = Self { child, directory };
        let start = Instant::now();
        while !this.psql("postgres", "SELECT 1") {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "PostgreSQL is missing or doesn't start: apt-get install postgresql, or leave \
                 its tests out by `cargo xtask test --skip postgres`"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        this
    }

    /// Says something to a database; false where that failed.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> bool {
        let mut psql = Command::new(programs().join("psql"));
        psql.args(["--no-psqlrc", "--quiet", "-U", "moescape", "-d", database, "-c", sql, "-h"]);
        psql.arg(&self.directory).stdout(Stdio::null()).stderr(Stdio::null());
        psql.status().is_ok_and(|status| status.success())
    }

    /// The address of a database of that name, which is made where there is none.
    pub(crate) fn database(&self, name: &str) -> String {
        self.psql("postgres", &format!("CREATE DATABASE \"{name}\""));
        let socket = self.directory.display().to_string().replace('/', "%2F");
        format!("postgres://moescape@{socket}/{name}")
    }
}

impl Postgres {
    /// Lets it come to an end and start again, as an update of it does.
    #[allow(dead_code, reason = "few tests use it")]
    pub(crate) fn restart(&self, pause: Duration) {
        let control = |arguments: &[&str]| {
            let is_root = std::fs::metadata("/proc/self").is_ok_and(|found| owner(&found) == 0);
            let control = programs().join("pg_ctl");
            let mut program = if is_root {
                let mut program = Command::new("runuser");
                program.args(["-u", "nobody", "--"]).arg(control);
                program
            } else {
                Command::new(control)
            };
            program.current_dir("/").arg("-D").arg(self.directory.join("data")).args(arguments);
            let done = program.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            assert!(done.success(), "{arguments:?}");
        };
        control(&["stop", "-m", "fast", "-w"]);
        std::thread::sleep(pause);
        let socket =
            format!("-c listen_addresses= -c unix_socket_directories={}", self.directory.display());
        control(&["start", "-w", "-l", "/dev/null", "-o", &socket]);
    }
}

/// The one that all tests of this process share.
#[allow(dead_code, reason = "some tests have their own")]
pub(crate) fn shared() -> &'static Postgres {
    static SHARED: OnceLock<Postgres> = OnceLock::new();
    SHARED.get_or_init(Postgres::start)
}

/// The address of the store that belongs to a data directory, where `MOESCAPE_TEST_STORE` says
/// that tests are to use PostgreSQL.
#[allow(dead_code, reason = "some tests have their own")]
pub(crate) fn of(data: &Path) -> Option<String> {
    let (postgres, name) = beside(data)?;
    Some(postgres.database(&name))
}

/// That store's server, and the name of its database.
#[allow(dead_code, reason = "some tests have their own")]
pub(crate) fn beside(data: &Path) -> Option<(&'static Postgres, String)> {
    std::env::var_os("MOESCAPE_TEST_STORE").filter(|store| store == "postgres")?;
    let path = data.display().to_string();
    Some((shared(), path.chars().filter(char::is_ascii_alphanumeric).collect()))
}

fn programs() -> PathBuf {
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let newest = versions.map(|entry| entry.path()).max();
    newest.map_or_else(PathBuf::new, |version| version.join("bin"))
}

#[cfg(unix)]
fn owner(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(metadata)
}
