//! Blocks of the lanes, and those of them that are drawn: only the ones in view; blocks that are
//! too short to be seen are merged into spans.

use super::look::Looks;
use super::window::Window;

/// A block shorter than this is merged with its neighbours, in pixels.
const MIN_BLOCK_PIXELS: f64 = 1.0;
/// Maximum number of a pixel's blocks that are looked at: drawing takes no longer for more.
const MAX_SAMPLED_BLOCKS: usize = 16;

/// Lanes of blocks. The blocks of a lane don't overlap and are in the order of time.
pub trait Lanes {
    /// Number of lanes.
    fn count(&self) -> usize;
    /// Label in front of a lane.
    fn name(&self, lane: usize) -> String;
    /// End of the last block, in seconds.
    fn total(&self) -> f64;
    /// Start and end of each block of a lane, in seconds.
    fn times(&self, lane: usize) -> (&[f64], &[f64]);
    /// Looks of a block.
    fn looks(&self, lane: usize, index: usize) -> Looks;
    /// Writes the label of a block if there is room.
    fn label(&self, lane: usize, index: usize, text: &mut String);
    /// Whether a label may be cut off at its end.
    fn cuts_labels(&self) -> bool;
}

/// A block: its lane and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its lane.
    pub lane: usize,
    /// Its place in the lane.
    pub index: usize,
}

/// A part of a lane that is drawn as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    /// Its sides, in pixels from the left of the window.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) looks: Looks,
    /// The block, or the first of those that are merged.
    pub(super) index: usize,
    /// Number of blocks that it merges.
    pub(super) count: usize,
}

/// The first block of a lane that ends after a moment.
fn first_after(ends: &[f64], time: f64) -> usize {
    ends.partition_point(|end| *end <= time)
}

/// Calls `each` with what is seen of a lane in a window of that width in pixels.
///
/// Calls and time are bounded by the width, however many blocks there are.
pub(super) fn pieces(
    lanes: &dyn Lanes,
    lane: usize,
    window: &Window,
    width: f64,
    each: &mut dyn FnMut(Piece),
) {
    let (starts, ends) = lanes.times(lane);
    let count = starts.len().min(ends.len());
    let (starts, ends) = (&starts[..count], &ends[..count]);
    let scale = width / window.span();
    let (from, to) = (window.from(), window.to());
    let mut index = first_after(ends, from);
    while index < count && starts[index] < to {
        let first = index;
        let left = (starts[index] - from) * scale;
        let mut right = (ends[index] - from) * scale;
        let mut looks = lanes.looks(lane, index);
        index += 1;
        // Where the pixel starts that is looked at, and its first block.
        let mut pixel = (left, first);
        if right - left < MIN_BLOCK_PIXELS {
            // Both this block and what follows are short, and nothing is seen between them.
            while index < count {
                let next = (ends[index] - from) * scale;
                let start = (starts[index] - from) * scale;
                let both = looks.and(lanes.looks(lane, index));
                // What is wide enough to be seen stays apart from what looks otherwise.
                let differs = right - left >= MIN_BLOCK_PIXELS && both != looks;
                if differs
                    || next - start >= MIN_BLOCK_PIXELS
                    || start - right >= MIN_BLOCK_PIXELS
                    || start >= width
                {
                    break;
                }
                (right, looks) = (next, both);
                index += 1;
                if right - pixel.0 >= MIN_BLOCK_PIXELS {
                    pixel = (right, index);
                } else if index - pixel.1 == MAX_SAMPLED_BLOCKS {
                    // Whatever else ends within this pixel is as short.
                    index +=
                        first_after(&ends[index..], from + (pixel.0 + MIN_BLOCK_PIXELS) / scale);
                    right = (ends[index - 1] - from) * scale;
                    pixel = (right, index);
                }
            }
            right = right.max(left + MIN_BLOCK_PIXELS);
        }
        let (left, right) = (left.max(-MIN_BLOCK_PIXELS), right.min(width + MIN_BLOCK_PIXELS));
        each(Piece { left, right, looks, index: first, count: index - first });
    }
}

/// The block at a moment, or the nearest one that is at most `slack` seconds away.
pub(super) fn block_at(lanes: &dyn Lanes, lane: usize, time: f64, slack: f64) -> Option<Spot> {
    let (starts, ends) = lanes.times(lane);
    let after = first_after(ends, time);
    let away = |index: usize| {
        let (start, end) = (*starts.get(index)?, *ends.get(index)?);
        Some((start - time).max(time - end).max(0.0))
    };
    let candidates = [after.checked_sub(1), Some(after)].into_iter().flatten();
    let near = candidates.filter_map(|index| Some((index, away(index)?)));
    let best = near.min_by(|one, other| one.1.total_cmp(&other.1));
    best.filter(|(_, away)| *away <= slack).map(|(index, _)| Spot { lane, index })
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::look::{Kind, Look};
    use super::*;

    /// Lanes of blocks that alternate between forward and backward.
    pub(in super::super) struct Sample(pub(in super::super) Vec<(Vec<f64>, Vec<f64>)>);

    impl Sample {
        /// That many blocks of a length with a gap behind each.
        pub(in super::super) fn even(lanes: usize, count: usize, length: f64, gap: f64) -> Self {
            let starts: Vec<f64> = (0..count).map(|index| index as f64 * (length + gap)).collect();
            let ends = starts.iter().map(|start| start + length).collect();
            Self(vec![(starts, ends); lanes])
        }
    }

    impl Lanes for Sample {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn name(&self, lane: usize) -> String {
            lane.to_string()
        }
        fn total(&self) -> f64 {
            self.0.iter().filter_map(|(_, ends)| ends.last().copied()).fold(0.0, f64::max)
        }
        fn times(&self, lane: usize) -> (&[f64], &[f64]) {
            self.0.get(lane).map_or((&[], &[]), |(starts, ends)| (starts, ends))
        }
        fn looks(&self, _: usize, index: usize) -> Looks {
            let kind = if index.is_multiple_of(2) { Kind::Forward } else { Kind::Backward };
            Looks::Whole(Look::new(kind, 0))
        }
        fn label(&self, _: usize, index: usize, text: &mut String) {
            text.push_str(&format!("F{index}"));
        }
        fn cuts_labels(&self) -> bool {
            false
        }
    }

    fn seen(sample: &Sample, window: Window, width: f64) -> Vec<Piece> {
        let mut all = Vec::new();
        pieces(sample, 0, &window, width, &mut |piece| all.push(piece));
        all
    }

    #[test]
    fn blocks_with_room_are_drawn_one_by_one() {
        let sample = Sample::even(1, 10, 1.0, 0.0);
        let all = seen(&sample, Window::all(sample.total()), 100.0);
        assert_eq!(all.len(), 10);
        assert!(all.iter().all(|piece| piece.count == 1));
        assert!((all[3].left - 30.0).abs() < 1e-9 && (all[3].right - 40.0).abs() < 1e-9);
    }

    #[test]
    fn only_what_is_in_view_is_drawn() {
        let sample = Sample::even(1, 1_000, 1.0, 0.0);
        let window = Window::all(sample.total()).zoomed(0.01, 0.5);
        let all = seen(&sample, window, 100.0);
        assert!((10..=11).contains(&all.len()), "{}", all.len());
        assert!(all[0].index >= 494, "{:?}", all[0]);
    }

    #[test]
    fn short_blocks_merge_and_a_gap_that_is_seen_stays() {
        let sample = Sample::even(1, 100_000, 1.0, 0.0);
        let all = seen(&sample, Window::all(sample.total()), 500.0);
        assert!(all.len() <= 500, "{}", all.len());
        assert!(all.iter().all(|piece| piece.looks == Looks::Whole(Look::new(Kind::Mixed, 0))));
        let Sample(mut lanes) = sample;
        for time in lanes[0].0[50_000..].iter_mut() {
            *time += 1_000.0;
        }
        for time in lanes[0].1[50_000..].iter_mut() {
            *time += 1_000.0;
        }
        let sample = Sample(lanes);
        let all = seen(&sample, Window::all(sample.total()), 500.0);
        let gaps = all.windows(2).filter(|pair| pair[1].left - pair[0].right > 1.0).count();
        assert_eq!(gaps, 1, "{all:?}");
        assert_eq!(all.iter().map(|piece| piece.count).sum::<usize>(), 100_000);
    }

    #[test]
    fn the_number_of_pieces_is_bounded_by_the_width() {
        for gap in [0.0, 0.1, 0.9, 3.0] {
            let sample = Sample::even(1, 50_000, 1.0, gap);
            for factor in [1.0, 0.3, 0.01, 0.001] {
                let window = Window::all(sample.total()).zoomed(factor, 0.3);
                let all = seen(&sample, window, 800.0);
                assert!(all.len() <= 1_602, "{} at {gap}, {factor}", all.len());
                assert!(all.iter().all(|piece| piece.right >= piece.left));
            }
        }
    }

    #[test]
    fn the_time_to_draw_is_bounded_by_the_width() {
        /// Counts how many blocks are looked at.
        struct Counting(Sample, std::cell::Cell<usize>);
        impl Lanes for Counting {
            fn count(&self) -> usize {
                self.0.count()
            }
            fn name(&self, lane: usize) -> String {
                self.0.name(lane)
            }
            fn total(&self) -> f64 {
                self.0.total()
            }
            fn times(&self, lane: usize) -> (&[f64], &[f64]) {
                self.0.times(lane)
            }
            fn looks(&self, lane: usize, index: usize) -> Looks {
                self.1.set(self.1.get() + 1);
                self.0.looks(lane, index)
            }
            fn label(&self, _: usize, _: usize, _: &mut String) {}
            fn cuts_labels(&self) -> bool {
                false
            }
        }
        let counting = Counting(Sample::even(1, 1_000_000, 1.0, 0.1), std::cell::Cell::new(0));
        let mut seen = 0;
        let window = Window::all(counting.total());
        pieces(&counting, 0, &window, 500.0, &mut |piece| seen += piece.count);
        assert_eq!(seen, 1_000_000);
        assert!(counting.1.get() <= 500 * 2 * MAX_SAMPLED_BLOCKS, "{}", counting.1.get());
    }

    #[test]
    fn a_pointer_finds_the_block_under_it_or_close_to_it() {
        let sample = Sample::even(2, 10, 1.0, 1.0);
        let at = |time, slack| block_at(&sample, 1, time, slack).map(|spot| spot.index);
        assert_eq!(at(4.5, 0.0), Some(2));
        assert_eq!(at(5.1, 0.2), Some(2));
        assert_eq!(at(5.9, 0.2), Some(3));
        assert_eq!(at(5.5, 0.2), None);
        assert_eq!(at(99.0, 0.2), None);
        assert_eq!(block_at(&sample, 7, 1.0, 1.0), None);
    }
}
