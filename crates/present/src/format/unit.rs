//! The unit in which a visitor reads sizes of memory: chosen for the thread that writes a page,
//! passed to the browser in the document, and to a worker by its name.

use std::cell::Cell;
use std::sync::OnceLock;

use model::ground::units::Bytes;

/// Unit of sizes of memory: 1 GiB is 2^30 bytes, 1 GB is 10^9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryUnit {
    /// GiB, as allocators and profilers count.
    #[default]
    Binary,
    /// GB, as data sheets count.
    Decimal,
}

thread_local! {
    /// A page is written on one thread and for one visitor; in the browser there is one of each.
    static MEMORY_UNIT: Cell<MemoryUnit> = const { Cell::new(MemoryUnit::Binary) };
}

impl MemoryUnit {
    /// Unit chosen by the visitor for whom this thread writes.
    #[must_use]
    pub fn chosen() -> Self {
        MEMORY_UNIT.get()
    }

    /// Writes so from now on, on this thread.
    pub fn choose(self) {
        MEMORY_UNIT.set(self);
    }

    /// Does something with this unit, and is back at the one before then, also after a panic.
    pub fn during<T>(self, act: impl FnOnce() -> T) -> T {
        struct Back(MemoryUnit);
        impl Drop for Back {
            fn drop(&mut self) {
                self.0.choose();
            }
        }
        let _back = Back(MEMORY_UNIT.replace(self));
        act()
    }

    /// Its id in cookies and in the document.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Decimal => "decimal",
        }
    }

    /// The unit of an id; the binary one for what isn't known.
    #[must_use]
    pub fn of_id(id: &str) -> Self {
        if id == Self::Decimal.id() { Self::Decimal } else { Self::Binary }
    }

    /// `GiB` or `GB`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Binary => "GiB",
            Self::Decimal => "GB",
        }
    }

    /// So much of it.
    #[must_use]
    pub fn count(self, bytes: Bytes) -> f64 {
        match self {
            Self::Binary => bytes.to_gib(),
            Self::Decimal => bytes.get() / 1e9,
        }
    }

    /// The unit below, for a tensor of one layer: how many bytes it is, and its name.
    #[must_use]
    pub const fn small(self) -> (f64, &'static str) {
        self.smaller()[0]
    }

    pub(super) const fn smaller(self) -> [(f64, &'static str); 3] {
        match self {
            Self::Binary => [(1_048_576.0, "MiB"), (1_024.0, "KiB"), (1.0, "B")],
            Self::Decimal => [(1e6, "MB"), (1e3, "kB"), (1.0, "B")],
        }
    }
}

/// Something that has sizes of memory in its text, made once for each unit.
#[derive(Debug, Default)]
pub struct PerUnit<T> {
    binary: OnceLock<T>,
    decimal: OnceLock<T>,
}

impl<T> PerUnit<T> {
    /// Nothing is made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { binary: OnceLock::new(), decimal: OnceLock::new() }
    }

    /// The value for the visitor's unit; it is made when it is first requested.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let made = match MemoryUnit::chosen() {
            MemoryUnit::Binary => &self.binary,
            MemoryUnit::Decimal => &self.decimal,
        };
        made.get_or_init(make)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_before_is_back_even_after_a_panic() {
        let fails = || MemoryUnit::Decimal.during(|| panic!("on purpose"));
        assert!(std::panic::catch_unwind(fails).is_err());
        assert_eq!(MemoryUnit::chosen(), MemoryUnit::Binary);
    }

    #[test]
    fn what_is_made_once_is_made_for_each_unit() {
        let made = PerUnit::new();
        let name = || MemoryUnit::chosen().name();
        assert_eq!(*made.get_or_init(name), "GiB");
        MemoryUnit::Decimal.during(|| assert_eq!(*made.get_or_init(name), "GB"));
        assert_eq!(*made.get_or_init(name), "GiB");
    }

    #[test]
    fn ids_are_read_back_and_others_are_the_usual_unit() {
        for unit in [MemoryUnit::Binary, MemoryUnit::Decimal] {
            assert_eq!(MemoryUnit::of_id(unit.id()), unit);
        }
        assert_eq!(MemoryUnit::of_id("furlong"), MemoryUnit::Binary);
    }
}
