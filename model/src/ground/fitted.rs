//! Constants that no data sheet gives, with the measurements that they were fitted on.

use core::fmt;

/// Measurements behind a constant, as `crates/validation` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Published runs: the id of each source, with the number of its rows.
    Runs(&'static [(&'static str, u32)]),
    /// Published runs by their ids, each its source's with a number behind it.
    Rows(&'static [&'static str]),
    /// Measured kernels: who measured them, and the number of rows of each kind.
    Kernels(&'static str, &'static [(&'static str, u32)]),
    /// Nothing measured was fitted; the words say where the value comes from.
    Unfitted(&'static str),
}

impl Evidence {
    /// Rows, all sources together.
    #[must_use]
    pub fn rows(self) -> u64 {
        match self {
            Self::Runs(counted) | Self::Kernels(_, counted) => {
                counted.iter().map(|(_, rows)| u64::from(*rows)).sum()
            }
            Self::Rows(ids) => ids.len() as u64,
            Self::Unfitted(_) => 0,
        }
    }

    /// Sources of the rows.
    #[must_use]
    pub fn sources(self) -> usize {
        match self {
            Self::Runs(counted) => counted.len(),
            Self::Rows(ids) => {
                let is_first = |place: &usize| {
                    let other = ids.iter().take(*place);
                    !other.map(|id| source(id)).any(|known| known == source(ids[*place]))
                };
                (0..ids.len()).filter(is_first).count()
            }
            Self::Kernels(..) => 1,
            Self::Unfitted(_) => 0,
        }
    }

    /// Whether a constant may rest on it: on three rows of two sources at least. A measured kernel
    /// has no other cause of its time, so that one table of three is enough.
    #[must_use]
    pub fn suffices(self) -> bool {
        match self {
            Self::Runs(_) | Self::Rows(_) => self.rows() >= 3 && self.sources() >= 2,
            Self::Kernels(..) => self.rows() >= 3,
            Self::Unfitted(_) => true,
        }
    }
}

/// The source of a row's id: `moe_modelzoo` of `moe_modelzoo-008`.
fn source(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(source, _)| source)
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = match self {
            Self::Runs(counted) => counted,
            Self::Kernels(source, counted) => {
                write!(f, "{source}: ")?;
                counted
            }
            Self::Rows(ids) => {
                for (place, id) in ids.iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { ", " })?;
                    f.write_str(id)?;
                }
                return Ok(());
            }
            Self::Unfitted(words) => return f.write_str(words),
        };
        for (place, (name, rows)) in counted.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{name} ({rows})")?;
        }
        Ok(())
    }
}

/// A constant of the model that was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted<T = f64> {
    value: T,
    on: Evidence,
    provisional: Option<&'static str>,
}

impl<T: Copy> Fitted<T> {
    /// A value that rests on enough rows; a test holds it to that.
    #[must_use]
    pub const fn new(value: T, on: Evidence) -> Self {
        Self { value, on, provisional: None }
    }

    /// A value that rests on fewer rows than it should, until more are published, for this reason.
    #[must_use]
    pub const fn provisional(value: T, on: Evidence, reason: &'static str) -> Self {
        Self { value, on, provisional: Some(reason) }
    }

    /// The value.
    #[must_use]
    pub const fn get(&self) -> T {
        self.value
    }

    /// Measurements that it was fitted on.
    #[must_use]
    pub const fn evidence(&self) -> Evidence {
        self.on
    }

    /// Why it rests on too few, if it does.
    #[must_use]
    pub const fn reason(&self) -> Option<&'static str> {
        self.provisional
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn evidence_is_of_three_rows_of_two_sources() {
        let runs = Evidence::Runs(&[("a", 2), ("b/c", 1)]);
        assert_eq!((runs.rows(), runs.sources(), runs.suffices()), (3, 2, true));
        assert!(!Evidence::Runs(&[("a", 10)]).suffices());
        assert!(!Evidence::Runs(&[("a", 1), ("b", 1)]).suffices());
        let rows = Evidence::Rows(&["a-1", "a-2", "b-1", "a-3"]);
        assert_eq!((rows.rows(), rows.sources(), rows.suffices()), (4, 2, true));
        assert!(!Evidence::Rows(&["a_b-1", "a_b-2", "a_b-3"]).suffices());
        assert!(Evidence::Kernels("tables", &[("gemm", 3)]).suffices());
        assert!(!Evidence::Kernels("tables", &[("gemm", 2)]).suffices());
        assert!(Evidence::Unfitted("by definition").suffices());
    }

    #[test]
    fn evidence_is_told_with_its_counts() {
        for (evidence, text) in [
            (Evidence::Runs(&[("a", 2), ("b/c", 1)]), "a (2), b/c (1)"),
            (Evidence::Rows(&["a-1", "b-2"]), "a-1, b-2"),
            (
                Evidence::Kernels("tables", &[("gemm", 3), ("cast", 1)]),
                "tables: gemm (3), cast (1)",
            ),
            (Evidence::Unfitted("no run"), "no run"),
        ] {
            assert_eq!(evidence.to_string(), text);
        }
    }
}
