//! Layers that repeat in both chunks of a pair, so that scheduling some of them tells of all.

use alloc::vec::Vec;

use crate::layer::architecture::KindId;

/// Layers of a repetition that are scheduled: enough for both passes to find their rhythm.
const MIN_SCHEDULED_LAYERS: usize = 16;

/// Number of last scheduled layers whose mean each further layer takes.
const RHYTHM_LAYERS: usize = 8;

/// Layers of the longest pattern that is looked for: seven of one kind and one of another.
const MAX_PERIOD_LAYERS: usize = 8;

/// A pattern of layers that occurs in both chunks more often than has to be scheduled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Repetition {
    /// Layers that make the pattern.
    period: usize,
    /// Where it begins in each chunk.
    starts: [usize; 2],
    /// Layers that needn't be scheduled: whole patterns.
    pub(super) left_out: usize,
}

impl Repetition {
    /// The shortest pattern that leaves something out of both chunks; none of short or irregular
    /// ones.
    pub(super) fn new(chunks: [&[KindId]; 2]) -> Option<Self> {
        // Extending costs two runs: less than these is scheduled as quickly.
        if chunks.iter().any(|layers| layers.len() < 2 * MIN_SCHEDULED_LAYERS + RHYTHM_LAYERS) {
            return None;
        }
        (1..=MAX_PERIOD_LAYERS).find_map(|period| {
            let [(first, length), (second, other)] = chunks.map(|layers| stretch(layers, period));
            let mut repetition = Self { period, starts: [first, second], left_out: 0 };
            let spare = length.min(other).saturating_sub(MIN_SCHEDULED_LAYERS);
            repetition.left_out = spare / period * period;
            (spare >= MIN_SCHEDULED_LAYERS + RHYTHM_LAYERS).then_some(repetition)
        })
    }

    /// Layers by which the two runs differ that tell what a layer adds: whole patterns.
    pub(super) const fn rhythm(&self) -> usize {
        RHYTHM_LAYERS.div_ceil(self.period) * self.period
    }

    /// Layers that the shorter of these runs leaves out.
    pub(super) const fn shorter(&self) -> usize {
        self.left_out + self.rhythm()
    }

    /// A chunk's layers without so many of the repetition.
    pub(super) fn without(&self, side: usize, layers: &[KindId], count: usize) -> Vec<KindId> {
        let start = self.starts[side];
        [&layers[..start], &layers[start + count..]].concat()
    }
}

/// The longest stretch of layers in which each is as the one a period before: where it begins, and
/// its length.
fn stretch(layers: &[KindId], period: usize) -> (usize, usize) {
    let (mut longest, mut start) = ((0, 0), 0);
    for end in period..=layers.len() {
        if end == layers.len() || layers[end] != layers[end - period] {
            if end - start > longest.1 {
                longest = (start, end - start);
            }
            start = end + 1 - period;
        }
    }
    longest
}
