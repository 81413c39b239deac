//! Budgets of a server: a number of units for all, a share of it for one address, and turns for
//! some work.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::net::address_counts::{AddressCounts, Place};
use crate::net::problem::Problem;

/// Units of something: KiB, or connections.
#[derive(Debug)]
pub(crate) struct Budget {
    all: Arc<Semaphore>,
    each: Arc<AddressCounts>,
    /// Largest number of units that one address may have.
    share: u32,
}

/// Units that someone has, until they are dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    all: OwnedSemaphorePermit,
    /// Place of the address; `None` for whoever acts for others.
    own: Option<Place>,
}

/// Reason why there is none left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitExceeded {
    /// All of it is taken.
    All,
    /// All of this address's share is taken.
    Own,
}

impl Budget {
    /// Budget of `all` units, of which one address gets at most `share`.
    pub(crate) fn new(all: u32, share: u32) -> Self {
        let share = share.min(all);
        let each = AddressCounts::new(u64::from(share));
        Self { all: Arc::new(Semaphore::new(all as usize)), each, share }
    }

    /// Takes units for an address. What is more than a share counts as one: it goes alone.
    pub(crate) fn take(&self, address: &str, units: u64) -> Result<Taken, LimitExceeded> {
        let units = u32::try_from(units).unwrap_or(u32::MAX).min(self.share);
        let own = self.share_of(address, units)?;
        let all =
            Arc::clone(&self.all).try_acquire_many_owned(units).map_err(|_| LimitExceeded::All)?;
        Ok(Taken { all, own: Some(own) })
    }

    /// Units of an address alone, where something else bounds what all have.
    pub(crate) fn share_of(&self, address: &str, units: u32) -> Result<Place, LimitExceeded> {
        AddressCounts::places(&self.each, address, units.into()).ok_or(LimitExceeded::Own)
    }
}

impl Taken {
    /// Takes `units` more.
    pub(crate) fn grow(&mut self, units: u32) -> Result<(), LimitExceeded> {
        let more = Arc::clone(self.all.semaphore()).try_acquire_many_owned(units);
        let more = more.map_err(|_| LimitExceeded::All)?;
        if self.own.as_mut().is_some_and(|own| !own.grow(units.into())) {
            return Err(LimitExceeded::Own);
        }
        self.all.merge(more);
        Ok(())
    }

    /// Gives back what counts as its address's: it turned out to stand for others.
    pub(crate) fn stands_for_others(&mut self) {
        self.own = None;
    }
}

/// Work of which little is done at once. It is done in turn, and few of each address wait for it.
/// One address has fewer turns at once than there are, so that others never wait for it alone.
#[derive(Debug)]
pub(crate) struct FairQueue {
    at_once: Arc<Semaphore>,
    /// Turns that one address has at once.
    share: usize,
    own: Mutex<HashMap<String, Weak<Semaphore>>>,
    waiting: Arc<AddressCounts>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _at_once: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    _waiting: Place,
}

impl FairQueue {
    /// A queue of which `at_once` turns go on together; one address may have `of_each` that go on
    /// or wait.
    pub(crate) fn new(at_once: usize, of_each: u64) -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(at_once)),
            share: at_once.saturating_sub(1).max(1),
            own: Mutex::default(),
            waiting: AddressCounts::new(of_each),
        }
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// A problem for an address that has as many as it may.
    pub(crate) async fn turn(&self, address: &str) -> Result<Turn, Problem> {
        let waiting = AddressCounts::places(&self.waiting, address, 1).ok_or_else(|| {
            let detail = "as much of this is under way for your address as may be; wait for it";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(5)
        })?;
        let stopping = |_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
        // First its own share: what an address has too much of stands in nobody's way.
        let own = self.share_of(address).acquire_owned().await.map_err(stopping)?;
        let at_once = Arc::clone(&self.at_once).acquire_owned().await.map_err(stopping)?;
        Ok(Turn { _at_once: at_once, _own: own, _waiting: waiting })
    }

    fn share_of(&self, address: &str) -> Arc<Semaphore> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|_, share| share.strong_count() > 0);
        if let Some(share) = own.get(address).and_then(Weak::upgrade) {
            return share;
        }
        let share = Arc::new(Semaphore::new(self.share));
        own.insert(address.to_owned(), Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_leaves_something_for_others() {
        let budget = Budget::new(10, 6);
        let mut one = budget.take("a", 4).unwrap();
        assert_eq!(budget.take("a", 3).unwrap_err(), LimitExceeded::Own);
        let other = budget.take("b", 5).unwrap();
        assert_eq!(budget.take("c", 2).unwrap_err(), LimitExceeded::All);
        assert_eq!(one.grow(2), Err(LimitExceeded::All));
        assert_eq!(one.grow(1), Ok(()));
        drop((one, other));
        // As large as anything may be, and alone.
        let large = budget.take("a", u64::MAX).unwrap();
        assert_eq!(budget.take("a", 1).unwrap_err(), LimitExceeded::Own);
        drop(large);
        assert!(budget.take("a", 6).is_ok());
    }

    #[test]
    fn whoever_stands_for_others_has_no_share_but_counts() {
        let budget = Budget::new(3, 1);
        let mut proxy = budget.take("proxy", 1).unwrap();
        assert_eq!(budget.take("proxy", 1).unwrap_err(), LimitExceeded::Own);
        proxy.stands_for_others();
        let again = budget.take("proxy", 1).unwrap();
        let third = budget.take("a", 1).unwrap();
        assert_eq!(budget.take("b", 1).unwrap_err(), LimitExceeded::All);
        drop((proxy, again, third));
    }

    #[tokio::test]
    async fn an_address_with_enough_waiting_is_told_so_and_others_wait() {
        let turns = FairQueue::new(1, 2);
        let first = turns.turn("a").await.unwrap();
        let mut second = Box::pin(turns.turn("a"));
        let soon = std::time::Duration::from_millis(10);
        assert!(tokio::time::timeout(soon, &mut second).await.is_err());
        assert_eq!(turns.turn("a").await.unwrap_err().status(), StatusCode::TOO_MANY_REQUESTS);
        drop(first);
        assert!(second.await.is_ok());
        assert!(turns.turn("b").await.is_ok());
    }

    #[tokio::test]
    async fn one_address_never_has_every_turn() {
        let turns = FairQueue::new(2, 2);
        let first = turns.turn("a").await.unwrap();
        let mut second = Box::pin(turns.turn("a"));
        let soon = std::time::Duration::from_millis(10);
        assert!(tokio::time::timeout(soon, &mut second).await.is_err());
        // Came later, and doesn't wait behind it.
        let other = tokio::time::timeout(soon, turns.turn("b")).await.unwrap().unwrap();
        drop(first);
        assert!(second.await.is_ok());
        drop(other);
        assert!(turns.turn("c").await.is_ok());
        assert_eq!(turns.own.lock().unwrap().len(), 1, "whoever left takes no memory");
    }
}
