//! Studies: the figures and tables of the explorer that are made from the design alone.
//!
//! A study is HTML text, a pure function of a design's numbers and a width. The server writes it
//! into the page; in the browser a module of its own makes it anew, run by a worker beside the
//! page, so that a knob never waits for a chart and the explorer's module carries no charts.
//! What can be pressed in it is a link to another design, which works without a script too.

mod advice;
pub mod answer;
mod balance;
mod bubble;
pub mod client;
mod communication;
pub(crate) mod figure;
mod loads;
mod map;
mod memory;
mod nearest;
pub mod options;
mod roofline;
mod schedules;
mod sensitivity;
mod solve;
mod step;
mod transfer;

use crate::charts;

/// What there is to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Study {
    /// Single changes that would help, and what would make the design fit.
    Advice,
    /// The measured run that is most like the design.
    Nearest,
    /// Memory per device of each stage.
    Memory,
    /// Where the step's time goes.
    Step,
    /// What a device sends, per axis.
    Communication,
    /// The bubble over the number of micro-batches.
    Bubble,
    /// What fills the fullest stage, tensor by tensor.
    Composition,
    /// What each module of recomputation and swapping frees, and its price.
    Tradeoff,
    /// What each stage computes, and the layout that balances it.
    Balance,
    /// The design under every schedule.
    Schedules,
    /// The load of experts, and what a planner makes of it.
    Loads,
    /// One step of each knob.
    Sensitivity,
    /// A metric over two knobs.
    Map,
    /// Operators under their roofs.
    Roofline,
    /// One knob moves until a target is reached.
    Solve,
    /// The design on other accelerators.
    Transfer,
}

/// When a study follows the knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At each change.
    Live,
    /// When the knobs rest: it takes many estimates.
    AtRest,
}

impl Study {
    /// Every study.
    pub const ALL: [Self; 16] = [
        Self::Advice,
        Self::Nearest,
        Self::Memory,
        Self::Step,
        Self::Communication,
        Self::Bubble,
        Self::Composition,
        Self::Tradeoff,
        Self::Balance,
        Self::Schedules,
        Self::Loads,
        Self::Sensitivity,
        Self::Map,
        Self::Roofline,
        Self::Solve,
        Self::Transfer,
    ];

    /// Its name in a page and in what is said to the worker.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Advice => "advice",
            Self::Nearest => "nearest",
            Self::Memory => "memory",
            Self::Step => "step",
            Self::Communication => "communication",
            Self::Bubble => "bubble",
            Self::Composition => "composition",
            Self::Tradeoff => "tradeoff",
            Self::Balance => "balance",
            Self::Schedules => "schedules",
            Self::Loads => "loads",
            Self::Sensitivity => "sensitivity",
            Self::Map => "map",
            Self::Roofline => "roofline",
            Self::Solve => "solve",
            Self::Transfer => "transfer",
        }
    }

    /// The study of that name.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|study| study.id() == id)
    }

    /// When it follows the knobs.
    #[must_use]
    pub const fn pace(self) -> Pace {
        match self {
            Self::Nearest
            | Self::Memory
            | Self::Step
            | Self::Communication
            | Self::Bubble
            | Self::Composition => Pace::Live,
            Self::Advice
            | Self::Tradeoff
            | Self::Balance
            | Self::Schedules
            | Self::Loads
            | Self::Sensitivity
            | Self::Map
            | Self::Roofline
            | Self::Solve
            | Self::Transfer => Pace::AtRest,
        }
    }
}

/// The room for a study's chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Not known yet: the style sheet chooses among several.
    Any,
    /// So many pixels.
    Of(u32),
}

impl Width {
    /// A chart for that width.
    pub(crate) fn chart(self, draw: impl Fn(u32) -> String) -> String {
        match self {
            Self::Any => charts::for_any_width(draw),
            Self::Of(width) => draw(width),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_found_by_its_name() {
        for study in Study::ALL {
            assert_eq!(Study::of_id(study.id()), Some(study));
        }
        assert_eq!(Study::of_id("x"), None);
    }
}
