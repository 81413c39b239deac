//! How many sockets each address has: one visitor must not take everyone's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Sockets of an address, at most, unless the server was told otherwise: a company's network may
/// be one address to it.
const MOST: u32 = 256;

/// The sockets of all addresses.
#[derive(Debug)]
pub(super) struct Crowd {
    most: AtomicU32,
    there: Mutex<HashMap<String, u32>>,
}

impl Default for Crowd {
    fn default() -> Self {
        Self { most: AtomicU32::new(MOST), there: Mutex::default() }
    }
}

/// A socket's place among those of its address, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    address: String,
}

impl Crowd {
    pub(super) fn allow(&self, most: u32) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// One more place for that address, if it may have one more.
    pub(super) fn place(crowd: &Arc<Self>, address: &str) -> Option<Place> {
        let mut there = crowd.there.lock().unwrap_or_else(PoisonError::into_inner);
        let count = there.get(address).copied().unwrap_or_default();
        if count >= crowd.most.load(Ordering::Relaxed) {
            return None;
        }
        there.insert(address.to_owned(), count + 1);
        Some(Place { crowd: Arc::clone(crowd), address: address.to_owned() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut there = self.crowd.there.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = there.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                there.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_so_many_places_and_gets_them_back() {
        let crowd = Arc::new(Crowd::default());
        crowd.allow(2);
        let place = |address| Crowd::place(&crowd, address);
        let (one, two) = (place("a"), place("a"));
        assert!(one.is_some() && two.is_some() && place("a").is_none());
        assert!(place("b").is_some(), "others have places of their own");
        drop(one);
        assert!(place("a").is_some());
        drop(two);
        let left = crowd.there.lock().unwrap_or_else(PoisonError::into_inner).len();
        assert_eq!(left, 0, "whoever left takes no memory");
    }
}
