//! Number of designs that a client may store: enough for people, too few to fill a disk.
//!
//! Counts are in memory only, so that no address of a visitor is kept.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Designs that a client stores in an hour, at most.
const MAX_DESIGNS_PER_HOUR: u32 = 120;

/// Seconds after which counting begins anew.
const WINDOW_SECS: u64 = 3_600;

/// Number of designs that each client stored since a point in time.
#[derive(Debug, Default)]
struct Counts {
    since_secs: u64,
    of_client: HashMap<String, u32>,
}

/// Counts what clients store.
#[derive(Debug, Default)]
pub(crate) struct Quota(Mutex<Counts>);

impl Quota {
    /// Counts one more.
    ///
    /// # Errors
    /// Seconds after which there is room again.
    pub(crate) fn take(&self, client: &str, now_secs: u64) -> Result<(), u64> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now_secs.saturating_sub(counts.since_secs) >= WINDOW_SECS {
            *counts = Counts { since_secs: now_secs, of_client: HashMap::new() };
        }
        let end = counts.since_secs + WINDOW_SECS;
        let taken = counts.of_client.entry(client.to_owned()).or_default();
        if *taken >= MAX_DESIGNS_PER_HOUR {
            return Err(end.saturating_sub(now_secs).max(1));
        }
        *taken += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_so_many_in_an_hour() {
        let quota = Quota::default();
        for _ in 0..MAX_DESIGNS_PER_HOUR {
            assert_eq!(quota.take("a", 10_000), Ok(()));
        }
        assert_eq!(quota.take("a", 10_060), Err(3_540));
        assert_eq!(quota.take("b", 10_060), Ok(()));
        assert_eq!(quota.take("a", 13_600), Ok(()));
    }
}
