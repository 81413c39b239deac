//! Studies: the figures and tables of the explorer that are made from the design alone.
//!
//! A study is HTML text, a pure function of a design's numbers and a width. The server writes it
//! into the page; in the browser a module of its own makes it anew, run by a worker beside the
//! page, so that a knob never waits for a chart and the explorer's module carries no charts.
//! What can be pressed in it is a link to another design, which works without a script too.

mod advice;
pub mod conventions;
pub mod figure;
mod balance;
mod bubble;
mod communication;
mod loads;
mod memory;
mod nearest;
pub mod options;
mod explanation;
pub mod pins;
mod map;
mod roofline;
mod schedules;
mod sensitivity;
mod solve;
mod step;
mod transfer;
pub mod answer;

use crate::charts;
use crate::choices::choices;

choices! {
    /// Study of a design that a page can show.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Study {
        /// Its name in a page and in messages to the worker.
        id: &'static str,
        /// Pace at which it follows the knobs.
        pace: Pace;
        /// Single changes that would help, and what would make the design fit.
        Advice = "advice", Pace::AtRest;
        /// The measured run that is most like the design.
        Nearest = "nearest", Pace::Live;
        /// Memory per device of each stage.
        Memory = "memory", Pace::Live;
        /// Breakdown of the step's time.
        Step = "step", Pace::Live;
        /// Bytes that a device sends, per axis.
        Communication = "communication", Pace::Live;
        /// The bubble over the number of micro-batches.
        Bubble = "bubble", Pace::Live;
        /// Contents of the fullest stage's memory, tensor by tensor.
        Composition = "composition", Pace::Live;
        /// Bytes that each module of recomputation and swapping frees, and its price.
        Tradeoff = "tradeoff", Pace::AtRest;
        /// Compute time of each stage, and the layout that balances it.
        Balance = "balance", Pace::AtRest;
        /// The design under every schedule.
        Schedules = "schedules", Pace::AtRest;
        /// The load of experts, and what a planner makes of it.
        Loads = "loads", Pace::AtRest;
        /// One step of each knob.
        Sensitivity = "sensitivity", Pace::AtRest;
        /// A metric over two knobs.
        Map = "map", Pace::AtRest;
        /// Operators under their roofs.
        Roofline = "roofline", Pace::AtRest;
        /// One knob moves until a target is reached.
        Solve = "solve", Pace::AtRest;
        /// The design on other accelerators.
        Transfer = "transfer", Pace::AtRest;
        /// Meaning and terms of a metric.
        Explanation = "explanation", Pace::Asked;
        /// The design's MFU by the conventions of other papers.
        Conventions = "conventions", Pace::Asked;
    }
}

/// Pace at which a study follows the knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Runs at each change.
    Live,
    /// Runs when the knobs rest: it takes many estimates.
    AtRest,
    /// Runs at each change as long as the reader has it open: it has no place on the page.
    Asked,
}

impl Study {
    /// Studies with a place on the page.
    pub fn views() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|study| study.pace() != Pace::Asked)
    }

    /// Whether it is drawn for the width of its place: what has no chart flows by itself, and need
    /// not be made anew for another width.
    #[must_use]
    pub fn has_chart(self) -> bool {
        match self {
            Self::Memory
            | Self::Step
            | Self::Communication
            | Self::Bubble
            | Self::Composition
            | Self::Tradeoff
            | Self::Balance
            | Self::Loads
            | Self::Roofline => true,
            Self::Advice
            | Self::Nearest
            | Self::Schedules
            | Self::Sensitivity
            | Self::Map
            | Self::Solve
            | Self::Transfer
            | Self::Explanation
            | Self::Conventions => false,
        }
    }

    /// The study of that name.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|study| study.id() == id)
    }
}

/// The room for a study's chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Not known yet: the style sheet chooses among several.
    Any,
    /// Not known yet, and below the first screen: one that suits most.
    Later,
    /// Width in pixels.
    Of(u32),
}

impl Width {
    /// A chart for that width.
    pub(crate) fn chart(self, draw: impl Fn(u32) -> String) -> String {
        match self {
            Self::Any => charts::for_any_width(draw),
            Self::Later => charts::for_later(draw),
            Self::Of(width) => draw(width),
        }
    }

    /// A chart for that width that spans the whole page.
    pub(crate) fn wide_chart(self, draw: impl Fn(u32) -> String) -> String {
        match self {
            Self::Any => charts::for_any_page(draw),
            Self::Later => charts::for_later(draw),
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

    #[test]
    fn a_study_depends_on_its_width_where_it_has_a_chart_alone() {
        for study in Study::views() {
            let [narrow, wide] =
                [400, 900].map(|width| answer::of_link(study.id(), "", width, "", "").unwrap());
            assert_eq!(narrow != wide, study.has_chart(), "{}", study.id());
        }
    }
}
