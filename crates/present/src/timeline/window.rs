//! The part of time that is in view, how it maps to pixels, and its moments with round numbers.

use crate::draw::axis::round_numbers;
use crate::format::decimals;

/// Largest zoom: the whole over the smallest window.
const MAX_ZOOM: f64 = 1e6;

/// Least distance from one labelled moment to the next, in pixels.
const MIN_LABEL_DISTANCE: f64 = 92.0;

/// The units of labels, in seconds, with their names.
const UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];

/// A part of the time from zero to a total. Seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    from: f64,
    span: f64,
    total: f64,
}

impl Window {
    /// All of it.
    pub(super) fn all(total: f64) -> Self {
        // Nothing ever divides by a span of zero.
        let total = if total.is_finite() && total > 1e-12 { total } else { 1e-12 };
        Self { from: 0.0, span: total, total }
    }

    /// Start of the window.
    pub(super) const fn from(&self) -> f64 {
        self.from
    }

    /// End of the window.
    pub(super) const fn to(&self) -> f64 {
        self.from + self.span
    }

    /// Length of the window, in seconds.
    pub(super) const fn span(&self) -> f64 {
        self.span
    }

    /// Length of the whole, in seconds.
    pub(super) const fn total(&self) -> f64 {
        self.total
    }

    /// Whether everything is in view.
    pub(super) fn is_all(&self) -> bool {
        self.span >= self.total
    }

    /// Shows `factor` times as much; the moment at that share of the width stays where it is.
    pub(super) fn zoomed(self, factor: f64, share: f64) -> Self {
        if !(factor.is_finite() && factor > 0.0) {
            return self;
        }
        let span = (self.span * factor).clamp(self.total / MAX_ZOOM, self.total);
        Self { span, from: self.from + share.clamp(0.0, 1.0) * (self.span - span), ..self }
            .clamped()
    }

    /// Goes on by a share of its length; negative: back.
    pub(super) fn moved(self, share: f64) -> Self {
        let from = self.from + share * self.span;
        if from.is_finite() { Self { from, ..self }.clamped() } else { self }
    }

    /// As little moved, and as little zoomed out, as shows all of a task.
    pub(super) fn showing(self, start: f64, end: f64) -> Self {
        let margin = 0.05 * self.span;
        let mut window = self;
        if end - start > 0.9 * self.span {
            window.span = ((end - start) / 0.9).clamp(self.total / MAX_ZOOM, self.total);
            window.from = (start + end - window.span) / 2.0;
        } else if start < self.from + margin {
            window.from = start - margin;
        } else if end > self.to() - margin {
            window.from = end + margin - self.span;
        }
        window.clamped()
    }

    /// The window on the same part of another total; all of it if all was in view.
    pub(super) fn of_total(self, total: f64) -> Self {
        let all = Self::all(total);
        if self.is_all() {
            return all;
        }
        let scale = all.total / self.total;
        Self { from: self.from * scale, span: self.span * scale, total: all.total }.clamped()
    }

    /// Place of a moment in a width, in the width's unit.
    pub(super) fn place(&self, time: f64, width: f64) -> f64 {
        (time - self.from) / self.span * width
    }

    /// The moment at a place in a width.
    pub(super) fn time(&self, place: f64, width: f64) -> f64 {
        self.from + place / width.max(1.0) * self.span
    }

    /// The labelled moments in a width in pixels, each with its unit.
    pub(super) fn ticks(&self, width: f64) -> impl Iterator<Item = (f64, String)> {
        let wanted = (width / MIN_LABEL_DISTANCE).clamp(1.0, 40.0);
        // The unit follows from the end of all, so that it stays while one zooms.
        let fitting = UNITS.into_iter().find(|(size, _)| self.total >= *size);
        let (size, unit) = fitting.unwrap_or(UNITS[3]);
        let (numbers, places) = round_numbers(self.from / size, self.to() / size, wanted);
        let tick = move |number| (number * size, format!("{} {unit}", decimals(number, places)));
        numbers.into_iter().map(tick)
    }

    fn clamped(self) -> Self {
        Self { from: self.from.clamp(0.0, (self.total - self.span).max(0.0)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * left.abs().max(right.abs()).max(1.0)
    }

    fn labels(total: f64, factor: f64, width: f64) -> Vec<String> {
        let window = Window::all(total).zoomed(factor, 0.5);
        window.ticks(width).map(|(_, text)| text).collect()
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

    #[test]
    fn zooming_keeps_the_moment_under_the_pointer() {
        let window = Window::all(80.0).zoomed(0.25, 0.5);
        assert!(near(window.from(), 30.0) && near(window.to(), 50.0), "{window:?}");
        let before = window.time(300.0, 1_000.0);
        assert!(near(window.zoomed(0.5, 0.3).time(300.0, 1_000.0), before));
    }

    #[test]
    fn a_window_never_leaves_the_whole() {
        let window = Window::all(10.0).zoomed(0.1, 0.0);
        assert!(near(window.moved(-5.0).from(), 0.0));
        assert!(near(window.moved(50.0).to(), 10.0));
        assert!(window.zoomed(1e9, 0.5).is_all());
        assert!(near(window.zoomed(1e-99, 0.5).span(), 1e-5));
    }

    #[test]
    fn a_task_is_brought_into_view_with_the_least_change() {
        let window = Window::all(100.0).zoomed(0.1, 0.0);
        assert_eq!(window.showing(3.0, 4.0), window);
        let moved = window.showing(40.0, 41.0);
        assert!(near(moved.span(), 10.0) && near(moved.to(), 41.5), "{moved:?}");
        let wider = window.showing(40.0, 60.0);
        assert!(wider.from() <= 40.0 && wider.to() >= 60.0, "{wider:?}");
    }

    #[test]
    fn another_total_keeps_the_share_in_view() {
        assert!(Window::all(10.0).of_total(20.0).is_all());
        let half = Window::all(10.0).zoomed(0.5, 1.0).of_total(20.0);
        assert!(near(half.from(), 10.0) && near(half.to(), 20.0), "{half:?}");
    }

    #[test]
    fn no_time_at_all_is_still_a_window() {
        for total in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let window = Window::all(total);
            assert!(window.place(0.0, 100.0).is_finite(), "{total}");
        }
    }

    #[test]
    fn any_gesture_stays_within_the_whole() {
        let mut window = Window::all(34.3);
        let mut share = 0.5_f64;
        for turn in 0..1_000 {
            // Irregular enough: the digits of multiples of the golden ratio.
            share = (share + 0.618_033_988_75).fract();
            let factor = if turn % 3 == 0 { 3.0 - 2.0 * share } else { 0.3 + share };
            window = window.zoomed(factor, share).moved(6.0 * (share - 0.5));
            assert!(window.from() >= 0.0 && window.span() > 0.0, "{window:?}");
            assert!(window.to() <= 34.3 * (1.0 + 1e-9), "{window:?}");
        }
    }
}
