//! Quotas of one owner on what is kept, where whoever runs the server says so.
//!
//! An owner is a user for whom a proxy vouches, or a browser's key. Anybody can make up keys, so
//! that what comes without one, or with one that keeps nothing yet, counts by address, in memory, a
//! day at a time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;

use crate::net::problem::Problem;
use crate::people::audit_events::Kind;
use crate::people::owner::Storing;
use crate::people::storage_usage::{self, SECONDS_PER_DAY};
use crate::store::Store;

/// Limits on what one owner may have; `None` is without a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) designs: Option<u64>,
    pub(crate) sessions: Option<u64>,
    pub(crate) sweeps: Option<u64>,
    pub(crate) traces: Option<u64>,
    pub(crate) mib: Option<u64>,
}

impl Limits {
    fn limit(self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Design => self.designs,
            Kind::Session => self.sessions,
            Kind::Sweep => self.sweeps,
            Kind::Trace => self.traces,
        }
    }
}

/// Number of things that came without a known key on a day, by address.
#[derive(Debug, Default)]
struct Keyless {
    day: u64,
    counts: HashMap<(String, Kind), u64>,
}

/// The limits, and what came without a key today.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    limits: Limits,
    keyless: Mutex<Keyless>,
}

impl Quotas {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, keyless: Mutex::default() }
    }

    /// Whether there is a limit at all.
    pub(crate) fn is_there(&self, kind: Kind) -> bool {
        self.limits.limit(kind).or(self.limits.mib).is_some()
    }

    /// Checks that they may keep one thing more. It looks into the store: not for threads that
    /// answer requests.
    ///
    /// # Errors
    /// A problem that names the limit and what is used.
    pub(crate) fn check(
        &self,
        store: &Store,
        kind: Kind,
        storing: &Storing,
        client: &str,
        now_secs: u64,
    ) -> Result<(), Problem> {
        let most = self.limits.limit(kind);
        let plural = kind.plural();
        let used = storage_usage::used_by(store, &storing.owner)
            .map_err(|error| Problem::unusable_store(&error, "what an owner has"))?;
        if !storing.is_vouched && used.iter().all(|(_, sum)| sum.count == 0) {
            return most.map_or(Ok(()), |most| self.count_keyless(kind, most, client, now_secs));
        }
        let count = used.iter().find(|(of, _)| *of == kind).map_or(0, |(_, sum)| sum.count);
        if let Some(most) = most.filter(|most| count >= *most) {
            let detail = format!(
                "you keep {count} {plural} here, and one owner at most {most}: delete some first"
            );
            return Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail));
        }
        let bytes: u64 = used.iter().map(|(_, sum)| sum.bytes).sum();
        match self.limits.mib.filter(|mib| bytes >= mib.saturating_mul(1 << 20)) {
            None => Ok(()),
            Some(most) => {
                let each = used.iter().filter(|(_, sum)| sum.bytes > 0);
                let each = each.map(|(kind, sum)| format!("{} {}", kind.plural(), mib(sum.bytes)));
                let detail = format!(
                    "what you keep here takes {} ({}), and that of one owner at most {most} MiB: \
                     delete some first",
                    mib(bytes),
                    each.collect::<Vec<_>>().join(", ")
                );
                Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail))
            }
        }
    }

    fn count_keyless(
        &self,
        kind: Kind,
        most: u64,
        client: &str,
        now_secs: u64,
    ) -> Result<(), Problem> {
        let mut keyless = self.keyless.lock().unwrap_or_else(PoisonError::into_inner);
        let day = now_secs / SECONDS_PER_DAY;
        if keyless.day != day {
            *keyless = Keyless { day, counts: HashMap::new() };
        }
        let count = keyless.counts.entry((client.to_owned(), kind)).or_default();
        if *count >= most {
            let detail = format!(
                "your address has kept {count} {} today without its owner's cookie, and at most \
                 {most}: send the cookie that the first answer set, and they are one owner's",
                kind.plural()
            );
            return Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail));
        }
        *count += 1;
        Ok(())
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64)
}
