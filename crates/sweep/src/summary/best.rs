//! The best value of an objective.

use serde::{Deserialize, Serialize};

use super::front::precedes;
use crate::spec::Goal;

/// The best value of the first objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The value.
    pub value: f64,
    /// The index of the design that has it.
    pub index: u64,
}

impl Best {
    /// The better one first; of equals the one with the lower index.
    pub(crate) fn order(&self, other: &Self, goal: Goal) -> std::cmp::Ordering {
        let of = |best: &Self| (best.value, best.index);
        if precedes(goal, of(self), of(other)) {
            std::cmp::Ordering::Less
        } else if self.index == other.index {
            std::cmp::Ordering::Equal
        } else {
            std::cmp::Ordering::Greater
        }
    }
}
