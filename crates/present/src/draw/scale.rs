//! A scale: from numbers to places, and the numbers beside it.

use super::axis::round_numbers;
use crate::format::decimals;

/// Scale from numbers to places along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The number at its start.
    pub from: f64,
    /// The number at its end.
    pub to: f64,
    /// Whether it is logarithmic.
    pub(crate) log: bool,
    /// Whether its numbers count values, as those of a knob.
    pub steps: bool,
}

impl Scale {
    /// A scale of values or numbers with these ends. A logarithm takes only numbers above zero.
    pub fn new((from, to): (f64, f64), steps: bool, log: bool) -> Self {
        let log = log && !steps && from > 0.0;
        let (from, to) = match (steps, log) {
            (true, _) => (from - 0.5, to + 0.5),
            (false, true) => {
                let gap = (to / from).powf(0.04).max(1.005);
                (from / gap, to * gap)
            }
            (false, false) => {
                let gap = ((to - from) * 0.04).max(to.abs().max(from.abs()) * 1e-3).max(1e-9);
                (from - gap, to + gap)
            }
        };
        Self { from, to, log, steps }
    }

    /// Place of a number, from 0 to 1; beyond when it is outside.
    pub fn place(&self, number: f64) -> f64 {
        if self.log {
            let low = self.from.ln();
            (number.max(1e-300).ln() - low) / (self.to.ln() - low)
        } else {
            (number - self.from) / (self.to - self.from)
        }
    }

    /// The number at a place.
    pub fn number(&self, place: f64) -> f64 {
        if self.log {
            let low = self.from.ln();
            (low + place * (self.to.ln() - low)).exp()
        } else {
            self.from + place * (self.to - self.from)
        }
    }

    /// The numbers that are written beside it, in units of `factor`, about `most` at most.
    pub fn numbers(&self, factor: f64, most: usize) -> Vec<(f64, String)> {
        let (from, to) = (self.from / factor, self.to / factor);
        let wide = self.log && to / from > 8.0;
        if wide {
            let mut ticks = Vec::new();
            let decades = to.log10().floor() as i32 - from.log10().floor() as i32 + 1;
            let steps: &[f64] =
                if decades as usize * 3 <= most { &[1.0, 2.0, 5.0] } else { &[1.0] };
            for decade in from.log10().floor() as i32..=to.log10().floor() as i32 {
                for step in steps {
                    let number = step * 10_f64.powi(decade);
                    if (from..=to).contains(&number) {
                        let places = usize::try_from(-decade).unwrap_or(0);
                        ticks.push((number * factor, decimals(number, places)));
                    }
                }
            }
            return ticks;
        }
        let (round, places) = round_numbers(from, to, most as f64);
        let spelled = |at: f64| (at * factor, decimals(at, places));
        round.into_iter().map(spelled).collect()
    }
}
