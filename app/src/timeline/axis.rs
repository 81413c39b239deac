//! Moments with round numbers for the axis of time.

use super::window::Window;
use crate::present::format::decimals;

/// Least distance from one label to the next, in pixels.
const ROOM: f64 = 92.0;

/// The units of labels, in seconds, with their names.
const UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];

/// A moment and its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) time: f64,
    pub(super) text: String,
}

/// The labelled moments of a window of that width in pixels, each with its unit.
pub(super) fn ticks(window: &Window, width: f64) -> Vec<Tick> {
    let wanted = (width / ROOM).clamp(1.0, 40.0);
    let step = round_step(window.span() / wanted);
    // The unit follows from the end of all, so that it stays while one zooms.
    let (size, unit) = unit(window.total());
    let (mut places, mut digit) = (0, 1.0);
    while places < 12 && step / size < 0.999 * digit {
        (places, digit) = (places + 1, digit / 10.0);
    }
    let first = (window.from() / step).ceil();
    let last = (window.to() / step).floor();
    let count = (last - first).clamp(-1.0, 100.0) as i64 + 1;
    let tick = |index: i64| {
        let time = (first + index as f64) * step;
        Tick { time, text: format!("{} {unit}", decimals(time / size, places)) }
    };
    (0..count).map(tick).collect()
}

fn unit(total: f64) -> (f64, &'static str) {
    let fitting = UNITS.into_iter().find(|(size, _)| total >= *size);
    fitting.unwrap_or(UNITS[3])
}

/// The least of 1, 2, 5, 10, ... that is as long.
fn round_step(least: f64) -> f64 {
    let mut power = 1.0;
    while power * 10.0 <= least && power < 1e15 {
        power *= 10.0;
    }
    while power > least && power > 1e-15 {
        power /= 10.0;
    }
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| power * factor >= least * 0.999_999);
    power * factor.unwrap_or(10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(total: f64, factor: f64, width: f64) -> Vec<String> {
        let window = Window::all(total).zoomed(factor, 0.5);
        ticks(&window, width).into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn labels_are_round_and_carry_their_unit() {
        assert_eq!(labels(34.3, 1.0, 400.0), ["0 s", "10 s", "20 s", "30 s"]);
        assert_eq!(labels(0.0343, 1.0, 400.0), ["0 ms", "10 ms", "20 ms", "30 ms"]);
        assert_eq!(labels(8.0, 0.05, 400.0), ["3.8 s", "3.9 s", "4.0 s", "4.1 s", "4.2 s"]);
    }

    #[test]
    fn labels_differ_from_each_other_however_deep_the_zoom() {
        for factor in [1.0, 1e-2, 1e-4, 1e-6] {
            let all = labels(34.3, factor, 900.0);
            assert!((2..=12).contains(&all.len()), "{all:?}");
            assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        }
    }

    #[test]
    fn there_are_few_labels_where_there_is_little_room() {
        assert!(labels(34.3, 1.0, 60.0).len() <= 2);
        assert!(!labels(34.3, 1.0, 0.0).is_empty());
    }
}
