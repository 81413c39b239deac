//! The axes of a chart: round numbers, and labels that never collide.

use plotters_backend::text_anchor::HPos;

use super::canvas::{Canvas, TEXT_GAP, strong, text};
use super::ink::Ink;
use super::text::{TEXT_SIZE, bold_width, fixed, text_width};

/// The most numbers along an axis, whatever was wanted.
const MAX_NUMBERS: i64 = 100;

/// The multiples between two ends of the smallest of 1, 2, 5, 10, ... that cuts what lies between
/// them in at most `wanted` pieces, and the decimals that tell them apart.
pub fn round_numbers(from: f64, to: f64, wanted: f64) -> (Vec<f64>, usize) {
    if !(to - from).is_finite() {
        return (Vec::new(), 0);
    }
    let least = (to - from).max(1e-9) / wanted.max(1.0);
    let (mut power, mut decimals) = (1.0, 0_usize);
    while power * 10.0 <= least {
        power *= 10.0;
    }
    while power > least {
        power /= 10.0;
        decimals += 1;
    }
    // What is less than a pixel over a round number is that number.
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| power * factor >= least * 0.999_999);
    let (step, decimals) = match factor {
        Some(factor) => (power * factor, decimals),
        None => (power * 10.0, decimals.saturating_sub(1)),
    };
    let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
    let all = first..=last.min(first.saturating_add(MAX_NUMBERS));
    (all.map(|index| index as f64 * step).collect(), decimals)
}

/// A label at a place of an axis.
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) text: String,
    pub(crate) ink: Ink,
    /// Shown before any other that would collide with it.
    pub(crate) keep: bool,
    /// The line from there across the plot.
    pub(crate) rule: Option<Ink>,
}

/// One direction of a plot; `from` may lie above `to`.
pub(crate) struct Axis {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) ticks: Vec<Tick>,
    /// Title of the axis: the quantity, with its unit.
    pub(crate) title: String,
}

impl Axis {
    /// An axis with labels at round numbers, about `wanted` of them.
    pub(crate) fn linear(from: f64, to: f64, wanted: u32, title: &str) -> Self {
        let (numbers, decimals) = round_numbers(from, to, f64::from(wanted));
        let ticks = numbers.into_iter().map(|at| {
            let rule = Some(if at.abs() > 0.0 { Ink::Grid } else { Ink::Axis });
            Tick { rule, ..Tick::new(at, fixed(at, decimals)) }
        });
        Self { from, to, ticks: ticks.collect(), title: title.to_owned() }
    }

    /// An axis of places in slots of that many pixels, `share` of them in each: a label wherever
    /// one fits, at round steps from the first place on.
    pub(crate) fn places(num_places: usize, share: usize, slot: i32, title: String) -> Self {
        let last = num_places.saturating_sub(1).to_string();
        let room = bold_width(&last, TEXT_SIZE) + 1 + TEXT_GAP;
        let wide_enough = |step: &usize| *step as i32 * slot >= room * share as i32;
        let step = (0..11).map(|power| 1 << power).find(wide_enough).unwrap_or(num_places);
        let tick = |place: usize| Tick::new((place / share) as f64 + 0.5, place.to_string());
        let ticks = (0..num_places).step_by(step).map(tick).collect();
        Self { from: 0.0, to: num_places.div_ceil(share) as f64, ticks, title }
    }

    /// Room for the widest label.
    pub(crate) fn label_width(&self) -> i32 {
        self.ticks.iter().map(Tick::width).max().unwrap_or(0)
    }
}

impl Tick {
    /// A label that gives way to those that are kept, without a line.
    pub(crate) const fn new(at: f64, text: String) -> Self {
        Self { at, text, ink: Ink::Quiet, keep: false, rule: None }
    }

    /// A label that is kept.
    pub(crate) const fn kept(at: f64, text: String, ink: Ink) -> Self {
        Self { at, text, ink, keep: true, rule: None }
    }

    /// Room for the label; those that are kept are in bold.
    pub(super) fn width(&self) -> i32 {
        if self.keep {
            bold_width(&self.text, TEXT_SIZE)
        } else {
            text_width(&self.text, TEXT_SIZE)
        }
    }

    pub(super) fn draw(&self, canvas: &Canvas<'_>, at: (i32, i32), side: HPos) {
        let write = if self.keep { strong } else { text };
        write(canvas, &self.text, at, self.ink, side);
    }
}

/// The ticks whose labels keep that distance, each with the middle of its label.
///
/// `spans` gives middle, start and end of each label in pixels.
pub(super) fn apart(
    ticks: &[Tick],
    spans: impl Iterator<Item = (i32, i32, i32)>,
    distance: i32,
) -> Vec<(&Tick, i32)> {
    let all: Vec<_> = ticks.iter().zip(spans).collect();
    let mut shown: Vec<(&Tick, (i32, i32, i32))> = Vec::with_capacity(all.len());
    for keep in [true, false] {
        for (tick, (middle, start, end)) in &all {
            let is_clear = |(_, other): &(&Tick, (i32, i32, i32))| {
                *start >= other.2 + distance || end + distance <= other.1
            };
            if tick.keep == keep && shown.iter().all(is_clear) {
                shown.push((tick, (*middle, *start, *end)));
            }
        }
    }
    shown.into_iter().map(|(tick, (middle, ..))| (tick, middle)).collect()
}
