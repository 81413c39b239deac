//! The outcomes of designs.

use model::design::Design;

/// The outcome of one design, or of several that are ruled out together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// They have no estimate.
    RuledOut {
        /// Number of designs ruled out.
        points: u64,
        /// The rule or constraint that they break; of several the one that is checked first.
        reason: &'a str,
    },
    /// One that has an estimate.
    Legal {
        /// Its index.
        index: u64,
        /// Its coordinates, one for each axis of the space.
        coordinates: &'a [usize],
        /// The metrics of the spec's columns.
        values: &'a [f64],
        /// The constraint that it doesn't keep; a feasible design keeps all.
        broken: Option<&'a str>,
        /// It is feasible by a closed form that is nearer to the limit than its own error.
        near_limit: bool,
        /// The design with the strategy that was found for it, where the sweep finds one.
        found: Option<&'a Design>,
    },
}
