//! The measured run that is nearest to a design: the main basis of its range.

mod best;
mod published;
mod run;

use crate::training::plan::Plan;

pub use best::BEST;
pub use published::{Best, best, comparable_mfu, operand_bits};
pub use run::Anchor;

/// The distance above which a measured run tells nothing of a design.
pub const MAX_DISTANCE: f64 = 4.0;

/// The anchor of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The run.
    pub run: &'static Anchor,
    /// Distance of the design from the measured run.
    pub distance: f64,
}

impl Nearest {
    /// Nearness of the measured run, in a word.
    #[must_use]
    pub fn nearness(&self) -> &'static str {
        if self.distance < 1.0 {
            "near"
        } else if self.distance < 2.5 {
            "some way off"
        } else {
            "far off"
        }
    }
}

/// The measured run that is nearest to a plan, or none within [`MAX_DISTANCE`].
#[must_use]
pub fn nearest(plan: &Plan) -> Option<Nearest> {
    let all = Anchor::all().iter().map(|run| Nearest { run, distance: run.distance(plan) });
    all.filter(|near| near.distance <= MAX_DISTANCE)
        .min_by(|one, other| one.distance.total_cmp(&other.distance))
}
