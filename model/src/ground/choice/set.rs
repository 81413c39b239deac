//! Some of the values of a choice.

use alloc::string::String;
use alloc::vec::Vec;

use super::Choice;

/// Some of the values of a choice, each at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set<C> {
    bits: u32,
    choice: core::marker::PhantomData<C>,
}

impl<C: Choice> Set<C> {
    /// None of them.
    pub const EMPTY: Self = Self { bits: 0, choice: core::marker::PhantomData };

    /// Whether this value is among them.
    #[must_use]
    pub fn has(self, value: C) -> bool {
        self.bits & (1 << value.index()) != 0
    }

    /// With this value among them.
    #[must_use]
    pub fn with(self, value: C) -> Self {
        Self { bits: self.bits | (1 << value.index()), ..self }
    }

    /// Whether any value is in both.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.bits & other.bits != 0
    }

    /// Every value.
    pub(crate) const fn all() -> Self {
        Self { bits: (1 << C::ALL.len()) - 1, choice: core::marker::PhantomData }
    }

    /// Every value but one.
    pub(crate) fn all_but(value: C) -> Self {
        Self { bits: Self::all().bits & !(1 << value.index()), ..Self::all() }
    }

    /// The values, in the order of the choice.
    pub fn iter(self) -> impl Iterator<Item = C> {
        C::ALL.iter().copied().filter(move |value| self.has(*value))
    }

    /// Are there none?
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The public names, comma-joined; `none` when there are none.
    #[must_use]
    pub fn text(self) -> String {
        let names: Vec<&str> = self.iter().map(Choice::name).collect();
        if names.is_empty() { String::from("none") } else { names.join(",") }
    }
}
