//! Sets of knobs: which ones differ, which ones something reads.

use super::table::{Design, KNOBS, KnobId};
use crate::ground::knob::{Reach, Role};

const WORDS: usize = KnobId::ALL.len().div_ceil(64);

/// Some of the knobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnobSet {
    words: [u64; WORDS],
}

impl KnobSet {
    /// None of them.
    pub const EMPTY: Self = Self { words: [0; WORDS] };

    /// These knobs.
    #[must_use]
    pub const fn of(knobs: &[KnobId]) -> Self {
        Self::EMPTY.and(knobs)
    }

    /// The knobs of this role.
    #[must_use]
    pub const fn with_role(role: Role) -> Self {
        let (mut set, mut place) = (Self::EMPTY, 0);
        while place < KNOBS.len() {
            if KNOBS[place].has(role) {
                set = set.and(&[KnobId::ALL[place]]);
            }
            place += 1;
        }
        set
    }

    /// The knobs of this reach.
    #[must_use]
    pub const fn reaching(reach: Reach) -> Self {
        let (mut set, mut place) = (Self::EMPTY, 0);
        while place < KNOBS.len() {
            if KNOBS[place].reach as u8 == reach as u8 {
                set = set.and(&[KnobId::ALL[place]]);
            }
            place += 1;
        }
        set
    }

    /// With these knobs too.
    #[must_use]
    pub const fn and(mut self, knobs: &[KnobId]) -> Self {
        let mut place = 0;
        while place < knobs.len() {
            let knob = knobs[place] as usize;
            self.words[knob / 64] |= 1 << (knob % 64);
            place += 1;
        }
        self
    }

    /// Whether this knob is among them.
    #[must_use]
    pub const fn has(&self, knob: KnobId) -> bool {
        self.words[knob as usize / 64] & (1 << (knob as usize % 64)) != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Are some of these among the others?
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(own, other)| own & other != 0)
    }

    /// These knobs without the others.
    #[must_use]
    pub const fn without(mut self, other: &Self) -> Self {
        let mut word = 0;
        while word < WORDS {
            self.words[word] &= !other.words[word];
            word += 1;
        }
        self
    }

    /// These knobs and the others.
    #[must_use]
    pub const fn with(mut self, other: &Self) -> Self {
        let mut word = 0;
        while word < WORDS {
            self.words[word] |= other.words[word];
            word += 1;
        }
        self
    }

    /// Knobs that are in both sets.
    #[must_use]
    pub const fn both(mut self, other: &Self) -> Self {
        let mut word = 0;
        while word < WORDS {
            self.words[word] &= other.words[word];
            word += 1;
        }
        self
    }

    /// The knobs, in registry order.
    pub fn iter(self) -> impl Iterator<Item = KnobId> {
        self.words.into_iter().enumerate().flat_map(|(place, mut word)| {
            core::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                let knob = KnobId::ALL.get(place * 64 + bit).filter(|_| word != 0)?;
                word &= word - 1;
                Some(*knob)
            })
        })
    }

    /// Takes a knob in.
    pub const fn insert(&mut self, knob: KnobId) {
        self.words[knob as usize / 64] |= 1 << (knob as usize % 64);
    }
}

impl Design {
    /// The knobs in which two designs differ.
    pub(crate) fn differences(&self, other: &Self) -> KnobSet {
        let mut knobs = KnobSet::EMPTY;
        self.compare(other, |knob| knobs.insert(knob));
        knobs
    }

    /// Knobs among these in which two designs differ.
    pub(crate) fn differences_in(&self, other: &Self, knobs: &KnobSet) -> KnobSet {
        let mut differ = KnobSet::EMPTY;
        knobs.iter().filter(|knob| self.differs(other, *knob)).for_each(|knob| differ.insert(knob));
        differ
    }

    /// Whether these knobs are the same in two designs.
    pub(crate) fn agrees(&self, other: &Self, knobs: &KnobSet) -> bool {
        knobs.iter().all(|knob| !self.differs(other, knob))
    }

    /// Takes over these knobs of another design.
    pub(crate) fn take(&mut self, other: &Self, knobs: &KnobSet) {
        knobs.iter().for_each(|knob| self.take_one(other, knob));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        let all = KnobSet::of(KnobId::ALL);
        assert_eq!(all.iter().collect::<Vec<_>>(), KnobId::ALL);
        let (first, last) = (KnobId::ALL[0], KnobId::ALL[KnobId::ALL.len() - 1]);
        let ends = KnobSet::of(&[first]).and(&[last]);
        assert!(ends.has(first) && ends.has(last) && !ends.has(KnobId::ALL[1]));
        assert!(ends.meets(&all) && !ends.meets(&all.without(&ends)));
        assert!(ends.without(&all).is_empty() && !ends.is_empty());
    }

    #[test]
    fn designs_differ_in_what_was_set_and_can_be_made_equal() {
        for preset in ["pangu-ultra-moe-6k", "deepseek-v3"] {
            let base = Design::from_preset(preset).expect("a preset");
            assert!(base.differences(&base).is_empty());
            let mut other = base.clone();
            other.set_text(KnobId::micro_batch_size, "7").expect("a size");
            other.set_text(KnobId::noop_layers, "3,5").expect("positions");
            let differences = base.differences(&other);
            let expected = [KnobId::noop_layers, KnobId::micro_batch_size];
            assert_eq!(differences, KnobSet::of(&expected));
            let mut same = base.clone();
            same.take(&other, &differences);
            assert_eq!(same, other);
        }
    }
}
