//! Arguments of `moescape serve` on what is kept, how long and by whom: limits, retention, copies,
//! the audit log and groups.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderName;

use super::Failure;
use crate::cli::retention::{self, Archive, Retention};
use crate::people::audit::Audit;
use crate::people::groups::Groups;
use crate::people::quotas::Limits;
use crate::state::AppState;
use crate::store::scheduled_backup::{self, Schedule};

/// How long, how much, and who.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Let sweeps, review sessions and traces go that nobody used for so many days [default: they
    /// are kept for ever]
    #[arg(
        long,
        env = "MOESCAPE_KEEP_DAYS",
        value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "archive_to"
    )]
    keep_days: Option<u32>,
    /// Let stored designs go that nobody opened for so many days: their short links end [default:
    /// they are kept for ever]
    #[arg(
        long,
        env = "MOESCAPE_KEEP_DESIGNS_DAYS",
        value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "archive_to"
    )]
    keep_designs_days: Option<u32>,
    /// Directory that what goes is written to before, as JSON lines; `none` for nowhere
    #[arg(long, env = "MOESCAPE_ARCHIVE_TO", value_name = "DIR")]
    pub(super) archive_to: Option<Archive>,
    /// Designs that one owner may keep [default: any number]
    #[arg(long, env = "MOESCAPE_MAX_DESIGNS_PER_OWNER", value_name = "NUMBER")]
    max_designs_per_owner: Option<u64>,
    /// Review sessions that one owner may keep [default: any number]
    #[arg(long, env = "MOESCAPE_MAX_SESSIONS_PER_OWNER", value_name = "NUMBER")]
    max_sessions_per_owner: Option<u64>,
    /// Sweeps that one owner may keep [default: any number]
    #[arg(long, env = "MOESCAPE_MAX_SWEEPS_PER_OWNER", value_name = "NUMBER")]
    max_sweeps_per_owner: Option<u64>,
    /// Traces that one owner may keep [default: any number]
    #[arg(long, env = "MOESCAPE_MAX_TRACES_PER_OWNER", value_name = "NUMBER")]
    max_traces_per_owner: Option<u64>,
    /// Room that what one owner keeps may take before nothing more is taken, in MiB [default: any]
    #[arg(long, env = "MOESCAPE_MAX_MIB_PER_OWNER", value_name = "MIB")]
    max_mib_per_owner: Option<u64>,
    /// Directory of copies that the server makes by itself, each in a directory of its own
    #[arg(long, env = "MOESCAPE_BACKUP_TO", value_name = "DIR", conflicts_with = "store")]
    pub(super) backup_to: Option<PathBuf>,
    /// How often: 30m, 24h, 7d
    #[arg(
        long,
        env = "MOESCAPE_BACKUP_EVERY",
        value_name = "TIME",
        default_value = "24h",
        value_parser = scheduled_backup::duration
    )]
    pub(super) backup_every: Duration,
    /// How many of them stay, the newest
    #[arg(
        long,
        env = "MOESCAPE_BACKUP_KEEP",
        value_name = "NUMBER",
        default_value_t = 7,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    backup_keep: u32,
    /// File that is told who made, joined, decided, deleted or was refused what, as JSON lines
    #[arg(long, env = "MOESCAPE_AUDIT_LOG", value_name = "FILE")]
    pub(super) audit_log: Option<PathBuf>,
    /// Header in which a proxy in front says of which groups its user is, with commas between; from
    /// others it is ignored
    #[arg(long, env = "MOESCAPE_GROUPS_HEADER", value_name = "NAME")]
    groups_header: Option<HeaderName>,
    /// Groups whose members may make designs, sessions, sweeps and traces; others look and compute
    #[arg(
        long,
        env = "MOESCAPE_CREATE_GROUPS",
        value_delimiter = ',',
        value_name = "NAME",
        requires = "groups_header"
    )]
    create_groups: Vec<String>,
}

impl Arguments {
    /// The state that knows of it.
    pub(super) fn tell(&self, state: AppState) -> Result<AppState, Failure> {
        let state = state.limited(Limits {
            designs: self.max_designs_per_owner,
            sessions: self.max_sessions_per_owner,
            sweeps: self.max_sweeps_per_owner,
            traces: self.max_traces_per_owner,
            mib: self.max_mib_per_owner,
        });
        let (header, create) = (self.groups_header.clone(), self.create_groups.clone());
        let state = state.for_groups(Groups { header, create });
        let Some(path) = &self.audit_log else { return Ok(state) };
        let audit = Audit::begin(path.clone()).map_err(|error| {
            Failure::user(format!(
                "can't write the audit log {}: {error}; it takes a file in a directory that is \
                 there and that the server's user may write",
                path.display()
            ))
        })?;
        Ok(state.audited(audit))
    }

    /// Starts what the server does by itself.
    pub(super) fn start(self, state: &AppState) -> Result<(), Failure> {
        let failed = |what: &str, error: std::io::Error| Failure::user(format!("{what}: {error}"));
        if let Some(archive) = self.archive_to {
            retention::check(&archive).map_err(|error| failed("--archive-to", error))?;
            let (days, design_days) = (self.keep_days, self.keep_designs_days);
            if days.or(design_days).is_some() {
                let retention = Retention { days, design_days, archive };
                let started = retention::start(state.clone(), retention);
                started.map_err(|error| failed("no thread for --keep-days", error))?;
            }
        }
        if let Some(to) = self.backup_to {
            let schedule = Schedule { to, every: self.backup_every, keep: self.backup_keep };
            let (data, told) = (state.data.as_ref().clone(), Arc::clone(&state.telemetry));
            let started = scheduled_backup::start(data, schedule, told);
            started.map_err(|error| failed("no thread for --backup-to", error))?;
        }
        Ok(())
    }
}
