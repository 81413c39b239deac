//! How far a walk goes.

/// Limits of what a walk looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// Places that are expanded at once, before what they found cuts others.
    pub(super) at_once: usize,
    /// Places that are expanded.
    pub(super) expanded: usize,
    /// Estimates, and combinations that are discarded without one, before which a walk goes on to
    /// places that promise less.
    pub(super) enough: u64,
    /// Whether the variants of a place share an order of what saves memory.
    pub(super) thrifty: bool,
    /// Designs by closed forms that are refined.
    pub(super) refined: usize,
    /// Refined designs whose layout is chosen anew.
    pub(super) balanced: usize,
    /// Rounds of refinement by closed forms.
    pub(super) rounds: usize,
    /// Designs that are simulated after it.
    pub(super) simulated: usize,
    /// Designs that are refined by simulation.
    pub(super) polished: usize,
    /// Rounds of refinement by simulation.
    pub(super) polish_rounds: usize,
}

impl Reach {
    /// Limits of a whole search.
    pub(super) const WHOLE: Self = Self {
        at_once: 48,
        expanded: 240,
        enough: 0,
        thrifty: false,
        refined: 56,
        balanced: 6,
        rounds: 6,
        simulated: 48,
        polished: 8,
        polish_rounds: 4,
    };
}
