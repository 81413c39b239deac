//! Counts of what rules designs out, while designs are added.

use std::collections::BTreeMap;

/// Designs that each reason rules out: most are ruled out by a few, which come first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reasons(Vec<(String, u64)>);

impl Reasons {
    /// Counts designs that a reason rules out.
    pub(super) fn count(&mut self, reason: &str, points: u64) {
        let Some(place) = self.0.iter().position(|(known, _)| known == reason) else {
            self.0.push((reason.to_owned(), points));
            return;
        };
        self.0[place].1 += points;
        let ahead = place.saturating_sub(1);
        if self.0[ahead].1 < self.0[place].1 {
            self.0.swap(ahead, place);
        }
    }

    /// Moves all counts to these.
    pub(super) fn drain_to(&mut self, counts: &mut BTreeMap<String, u64>) {
        for (reason, points) in self.0.drain(..) {
            *counts.entry(reason).or_default() += points;
        }
    }
}
