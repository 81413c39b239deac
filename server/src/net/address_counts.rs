//! Counts per address of something that all share: one visitor must not take everything.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The places of all addresses.
#[derive(Debug)]
pub(crate) struct AddressCounts {
    /// Places of an address, at most.
    most: AtomicU64,
    there: Mutex<HashMap<String, u64>>,
}

/// Places among those of an address, until they are dropped.
#[derive(Debug)]
pub(crate) struct Place {
    counts: Arc<AddressCounts>,
    address: String,
    count: u64,
}

impl AddressCounts {
    /// Counts without an entry, of which each address may have `most` places.
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most: AtomicU64::new(most), there: Mutex::default() })
    }

    /// Lets each address have `most` places from now on.
    pub(crate) fn allow(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Reserves `count` more places for that address, if it may have them.
    pub(crate) fn places(counts: &Arc<Self>, address: &str, count: u64) -> Option<Place> {
        counts.add(address, count).then(|| Place {
            counts: Arc::clone(counts),
            address: address.to_owned(),
            count,
        })
    }

    fn add(&self, address: &str, count: u64) -> bool {
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        let before = there.get(address).copied().unwrap_or_default();
        let after = before.saturating_add(count);
        let fits = after <= self.most.load(Ordering::Relaxed);
        if fits && after > 0 {
            there.insert(address.to_owned(), after);
        }
        fits
    }
}

impl Place {
    /// Reserves `count` more places; `false` if the address may not have them.
    pub(crate) fn grow(&mut self, count: u64) -> bool {
        let fits = self.counts.add(&self.address, count);
        if fits {
            self.count += count;
        }
        fits
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut there = self.counts.there.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut places) = there.entry(std::mem::take(&mut self.address)) {
            *places.get_mut() -= self.count;
            if *places.get() == 0 {
                places.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_so_many_places_and_gets_them_back() {
        let counts = AddressCounts::new(0);
        counts.allow(2);
        let place = |address| AddressCounts::places(&counts, address, 1);
        let (one, two) = (place("a"), place("a"));
        assert!(one.is_some() && two.is_some() && place("a").is_none());
        assert!(place("b").is_some(), "others have places of their own");
        drop(one);
        assert!(place("a").is_some());
        drop(two);
        let mut more = AddressCounts::places(&counts, "c", 0).unwrap();
        assert!(more.grow(2) && !more.grow(1));
        drop(more);
        let left = counts.there.lock().unwrap_or_else(PoisonError::into_inner).len();
        assert_eq!(left, 0, "whoever left takes no memory");
    }
}
