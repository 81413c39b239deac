//! The rows of feasible designs that a sweep was asked to keep.

/// Designs whose rows a sweep can keep.
pub(crate) const MAX_ROWS: u64 = 2_000_000;

/// Designs whose rows all sweeps of a server can keep together.
pub(crate) const MAX_ROWS_OF_ALL: u64 = 20_000_000;

/// State of keeping a sweep's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// Not requested.
    No,
    /// Number of rows that are there.
    Yes(u64),
    /// More than [`MAX_ROWS`].
    TooMany,
}

impl Keeping {
    /// Designs whose rows are kept in the end, at most, of a sweep of `places`.
    pub(super) fn at_most(self, places: u64) -> u64 {
        match self {
            Self::No | Self::TooMany => 0,
            Self::Yes(_) => places.min(MAX_ROWS),
        }
    }

    /// Code for the store.
    pub(super) const fn code(self) -> Option<i64> {
        match self {
            Self::No => None,
            Self::Yes(rows) => Some(rows as i64),
            Self::TooMany => Some(-1),
        }
    }

    pub(super) fn from_code(code: Option<i64>) -> Self {
        match code {
            None => Self::No,
            Some(rows) => u64::try_from(rows).map_or(Self::TooMany, Self::Yes),
        }
    }
}

/// Rows of a running sweep, in the binary form of [`super::rows`].
#[derive(Clone, Debug)]
pub(crate) struct KeptRows {
    pub(crate) keeping: Keeping,
    /// Rows of chunks that aren't stored yet, by first place.
    unsaved: Vec<(u64, Vec<u8>)>,
}

impl KeptRows {
    pub(super) const fn new(keeping: Keeping) -> Self {
        Self { keeping, unsaved: vec![] }
    }

    /// Whether rows are wanted.
    pub(super) const fn are_wanted(&self) -> bool {
        matches!(self.keeping, Keeping::Yes(_))
    }

    /// Adds the rows of a chunk. With too many of them none are kept: which ones came first is
    /// nothing that anyone could rely on.
    pub(super) fn add(&mut self, start: u64, rows: Vec<u8>, count: u64) {
        let Keeping::Yes(before) = self.keeping else { return };
        let now = before.saturating_add(count);
        if now > MAX_ROWS {
            self.keeping = Keeping::TooMany;
            self.unsaved.clear();
        } else {
            self.keeping = Keeping::Yes(now);
            if !rows.is_empty() {
                self.unsaved.push((start, rows));
            }
        }
    }

    /// Takes the rows that are to be stored now.
    pub(super) fn take(&mut self) -> Vec<(u64, Vec<u8>)> {
        std::mem::take(&mut self.unsaved)
    }

    /// Gets back what couldn't be stored.
    pub(super) fn restore(&mut self, rows: &[(u64, Vec<u8>)]) {
        self.unsaved.extend_from_slice(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_than_can_be_kept_are_none() {
        let mut kept = KeptRows::new(Keeping::Yes(MAX_ROWS - 2));
        kept.add(0, vec![1], 2);
        assert_eq!((kept.keeping, kept.take().len()), (Keeping::Yes(MAX_ROWS), 1));
        kept.add(8, vec![1], 1);
        assert_eq!((kept.keeping, kept.take().len()), (Keeping::TooMany, 0));
        kept.add(9, vec![1], 1);
        assert_eq!((kept.keeping, kept.take().len()), (Keeping::TooMany, 0));
        for keeping in [Keeping::No, Keeping::Yes(0), Keeping::Yes(7), Keeping::TooMany] {
            assert_eq!(Keeping::from_code(keeping.code()), keeping);
        }
    }
}
