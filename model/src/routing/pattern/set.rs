//! A set of a layer's experts.

use alloc::vec;
use alloc::vec::Vec;

/// A set of experts, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    words: Vec<u64>,
}

impl Set {
    /// The set of these of so many experts; others are passed over.
    #[must_use]
    pub fn of(experts: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut words = vec![0; experts.div_ceil(64)];
        for member in members.into_iter().filter(|member| *member < experts) {
            words[member / 64] |= 1 << (member % 64);
        }
        Self { words }
    }

    /// Number of experts in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an expert is in it.
    #[must_use]
    pub fn has(&self, expert: usize) -> bool {
        self.words.get(expert / 64).is_some_and(|word| word >> (expert % 64) & 1 == 1)
    }

    /// Its experts, the lowest number first.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * 64).filter(|expert| self.has(*expert))
    }

    /// Number of experts in both.
    #[must_use]
    pub fn shared(&self, other: &Self) -> usize {
        let both = self.words.iter().zip(&other.words);
        both.map(|(one, other)| (one & other).count_ones() as usize).sum()
    }

    /// Takes in those of another.
    pub fn join(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }
}
