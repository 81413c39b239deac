//! Rate at which something may be done: a number at once, and a number a second from then on.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A measure that empties with each use and fills with time.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    left: f64,
    most: f64,
    per_second: f64,
    since: Instant,
}

impl Bucket {
    /// A full one.
    pub(crate) fn new(most: u32, per_second: f64) -> Self {
        Self { left: most.into(), most: most.into(), per_second, since: Instant::now() }
    }

    /// Takes one out, if there is one.
    pub(crate) fn take(&mut self) -> bool {
        self.take_at(Instant::now())
    }

    fn take_at(&mut self, now: Instant) -> bool {
        self.fill(now);
        let is_there = self.left >= 1.0;
        if is_there {
            self.left -= 1.0;
        }
        is_there
    }

    fn fill(&mut self, now: Instant) {
        let gained = now.saturating_duration_since(self.since).as_secs_f64() * self.per_second;
        self.left = (self.left + gained).min(self.most);
        self.since = now;
    }

    /// Whether nothing has been taken for so long that it is full again.
    fn is_full(&mut self, now: Instant) -> bool {
        self.fill(now);
        self.left >= self.most
    }
}

/// A bucket for each of many.
#[derive(Debug)]
pub(crate) struct Buckets {
    most: u32,
    per_second: f64,
    all: Mutex<HashMap<String, Bucket>>,
}

/// Buckets that are kept, at most; beyond that everyone waits.
const MAX_BUCKETS: usize = 10_000;

impl Buckets {
    /// Buckets of this size for whoever comes.
    pub(crate) fn new(most: u32, per_second: f64) -> Self {
        Self { most, per_second, all: Mutex::default() }
    }

    /// Takes one out of that bucket, if there is one.
    pub(crate) fn take(&self, whose: &str) -> bool {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = all.get_mut(whose) {
            return bucket.take();
        }
        if all.len() >= MAX_BUCKETS {
            let now = Instant::now();
            all.retain(|_, bucket| !bucket.is_full(now));
        }
        if all.len() >= MAX_BUCKETS {
            return false;
        }
        let bucket = all.entry(whose.to_owned());
        bucket.or_insert_with(|| Bucket::new(self.most, self.per_second)).take()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_lets_some_through_at_once_and_then_a_few_a_second() {
        let mut bucket = Bucket::new(3, 2.0);
        let start = Instant::now();
        assert_eq!([0; 4].map(|_| bucket.take_at(start)), [true, true, true, false]);
        assert!(!bucket.take_at(start + Duration::from_millis(400)));
        assert!(bucket.take_at(start + Duration::from_millis(600)));
        let later = start + Duration::from_secs(60);
        assert_eq!([0; 4].map(|_| bucket.take_at(later)), [true, true, true, false]);
    }

    #[test]
    fn one_who_asks_often_takes_nothing_from_others() {
        let buckets = Buckets::new(1, 0.001);
        assert!(buckets.take("a") && !buckets.take("a") && buckets.take("b"));
    }
}
