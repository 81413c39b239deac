//! Places of a sweep that are evaluated together.

use std::ops::Range;

use crate::space::Space;

/// Places of a sweep, with their designs where these aren't a function of the place alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The places.
    pub places: Range<u64>,
    /// The index of each, for a sweep that refines; without, those of its random order.
    pub picked: Option<Vec<u64>>,
}

impl From<Range<u64>> for Batch {
    fn from(places: Range<u64>) -> Self {
        Self { places, picked: None }
    }
}

impl Batch {
    /// Whether it can be of that sweep.
    #[must_use]
    pub fn suits(&self, space: &Space) -> bool {
        let refines = space.spec().sampling.is_refined();
        let inside = self.places.start <= self.places.end && self.places.end <= space.num_points();
        let picked = self.picked.as_ref().map_or(!refines, |picked| {
            let count = self.places.end.saturating_sub(self.places.start);
            picked.len() as u64 == count && picked.iter().all(|index| *index < space.size())
        });
        inside && picked
    }

    /// The index of a design of it.
    pub(crate) fn index(&self, space: &Space, place: u64) -> u64 {
        let picked = self.picked.as_ref();
        let picked = picked.and_then(|picked| picked.get((place - self.places.start) as usize));
        picked.copied().unwrap_or_else(|| space.index(place))
    }
}
