//! A published number with its unit and source.

use crate::ground::source::Source;
use crate::metric::unit::Unit;

/// A published number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The value.
    pub value: f64,
    /// The unit of the value, with as many decimals as are printed.
    pub unit: Unit,
    /// Source of the figure.
    pub source: Source,
    /// Place in the source.
    pub place: &'static str,
}

impl Figure {
    pub(super) const fn new(value: f64, unit: Unit, source: Source, place: &'static str) -> Self {
        Self { value, unit, source, place }
    }
}
