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
mod communication;
pub mod conventions;
mod explanation;
pub mod figure;
mod loads;
mod map;
mod memory;
mod nearest;
pub mod options;
pub mod pins;
mod roofline;
mod schedules;
mod sensitivity;
mod solve;
mod step;
mod transfer;

use crate::charts;
use crate::choices::choices;

choices! {
    /// What there is to see.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Study {
        /// Its name in a page and in what is said to the worker.
        id: &'static str,
        /// When it follows the knobs.
        pace: Pace;
        /// Single changes that would help, and what would make the design fit.
        Advice = "advice", Pace::AtRest;
        /// The measured run that is most like the design.
        Nearest = "nearest", Pace::Live;
        /// Memory per device of each stage.
        Memory = "memory", Pace::Live;
        /// Where the step's time goes.
        Step = "step", Pace::Live;
        /// What a device sends, per axis.
        Communication = "communication", Pace::Live;
        /// The bubble over the number of micro-batches.
        Bubble = "bubble", Pace::Live;
        /// What fills the fullest stage, tensor by tensor.
        Composition = "composition", Pace::Live;
        /// What each module of recomputation and swapping frees, and its price.
        Tradeoff = "tradeoff", Pace::AtRest;
        /// What each stage computes, and the layout that balances it.
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
        /// What a metric is and what it is made of.
        Explanation = "explanation", Pace::Asked;
        /// What other papers would call the design's MFU.
        Conventions = "conventions", Pace::Asked;
    }
}

/// When a study follows the knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At each change.
    Live,
    /// When the knobs rest: it takes many estimates.
    AtRest,
    /// At each change as long as the reader has asked for it: it has no place on the page.
    Asked,
}

impl Study {
    /// Those that have a place on the page.
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

    /// The same for a chart that has the page's whole width.
    pub(crate) fn wide_chart(self, draw: impl Fn(u32) -> String) -> String {
        match self {
            Self::Any => charts::for_any_page(draw),
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
