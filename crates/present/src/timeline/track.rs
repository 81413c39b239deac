//! What a stage holds over time, drawn under the lanes.

use model::ground::units::Bytes;

use super::window::Window;
use crate::draw::palette::Hue;
use crate::draw::surface::{Area, Face, Paint, Side, Stroke, Surface, Words};
use crate::draw::text::{TEXT_SIZE, bold_width, text_width};
use crate::format;

/// Unit in which a track counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackUnit {
    /// Bytes of device memory.
    Memory,
    /// Micro-batches whose activations are held, counted in whole stages.
    MicroBatches,
}

impl TrackUnit {
    /// An amount with its unit.
    #[must_use]
    pub fn text(self, amount: f64) -> String {
        match self {
            Self::Memory => format::memory(Bytes::new(amount)).to_string(),
            Self::MicroBatches => {
                let number = format::significant(amount, 3);
                let unit = if number == "1" { "micro-batch" } else { "micro-batches" };
                format!("{number} {unit}")
            }
        }
    }
}

/// The colours of what is held: of activations, of what is always taken, and of the limit.
const ACTIVATIONS: Hue = Hue::Violet;
const FIXED: Hue = Hue::Slate;
const LIMIT: Hue = Hue::Alarm;

/// Memory or micro-batches that a stage holds over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Unit of the amounts.
    pub held: TrackUnit,
    /// Amount that is always held.
    pub fixed: f64,
    /// Limit on the amount.
    pub limit: Option<f64>,
    /// Amounts held beyond `fixed`, each from a time in seconds on, in the order of time.
    pub steps: Vec<(f64, f64)>,
}

impl Track {
    /// Largest amount held.
    #[must_use]
    pub fn peak(&self) -> f64 {
        self.fixed + self.steps.iter().map(|(_, amount)| *amount).fold(0.0, f64::max)
    }

    /// Amount held at a moment.
    #[must_use]
    pub fn at(&self, time: f64) -> f64 {
        let after = self.steps.partition_point(|(from, _)| *from <= time);
        self.fixed + after.checked_sub(1).map_or(0.0, |index| self.steps[index].1)
    }

    /// The track's height at each place where it changes, at most two for each pixel.
    ///
    /// Between two pixels the most that is held counts, so that no peak is lost.
    fn outline(&self, window: &Window, width: f64) -> Vec<(f64, f64)> {
        let first = self.steps.partition_point(|(from, _)| *from <= window.from());
        let mut held = self.at(window.from());
        let mut points = vec![(0.0, held)];
        let mut index = first;
        while let Some(&(from, amount)) = self.steps.get(index).filter(|step| step.0 < window.to())
        {
            let place = window.place(from, width).floor();
            let (mut most, mut last) = (self.fixed + amount, self.fixed + amount);
            index += 1;
            while let Some(&(from, amount)) = self.steps.get(index) {
                if window.place(from, width).floor() > place {
                    break;
                }
                (last, index) = (self.fixed + amount, index + 1);
                most = most.max(last);
            }
            points.extend([(place, held), (place, most)]);
            if most > last {
                points.extend([(place + 1.0, most), (place + 1.0, last)]);
            }
            held = last;
        }
        points.push((width, held));
        points
    }
}

/// Draws a track into a rectangle, with its title in the first line.
pub(super) fn draw(
    surface: &mut dyn Surface,
    track: &Track,
    title: &str,
    area: Area,
    window: &Window,
) {
    let head = f64::from(TEXT_SIZE) + 6.0;
    let plot = Area { top: area.top + head, height: (area.height - head).max(1.0), ..area };
    let most = track.peak().max(track.limit.unwrap_or(0.0)).max(f64::MIN_POSITIVE) * 1.04;
    let y = |amount: f64| plot.bottom() - amount / most * plot.height;
    let outline = track.outline(window, plot.width);
    let line: Vec<_> = outline.iter().map(|(x, amount)| (plot.left + x, y(*amount))).collect();
    let base = y(track.fixed);
    let ends = [(plot.right(), base), (plot.left, base)];
    surface.clip(area);
    surface.shape(&[&line[..], &ends].concat(), ACTIVATIONS);
    let fixed = Area { top: base, height: plot.bottom() - base, ..plot };
    surface.fill(&[fixed], Paint::Plain(FIXED));
    let ends = |y: f64| [(plot.left, y), (plot.right(), y)];
    surface.line(&ends(plot.bottom()), Stroke::new(Hue::Axis, 1.0));
    if let Some(limit) = track.limit {
        surface.line(&ends(y(limit)), Stroke::dashed(LIMIT, 1.0));
    }
    surface.unclip();
    let y = area.top + head / 2.0;
    let words = Words::new(title, (area.left, y), Side::Left, Hue::Text);
    surface.words(Words { face: Face::Bold, ..words });
    let mut x = area.left + f64::from(bold_width(title, TEXT_SIZE)) + 12.0;
    for (hue, text) in legend(track) {
        let room = f64::from(text_width(&text, TEXT_SIZE)) + 16.0;
        if x + room > area.right() {
            break;
        }
        if hue == LIMIT {
            surface.line(&[(x, y), (x + 11.0, y)], Stroke::dashed(hue, 1.0));
        } else {
            surface.fill(&[Area::new(x, y - 5.0, 10.0, 10.0)], Paint::Plain(hue));
        }
        surface.words(Words::new(&text, (x + 15.0, y), Side::Left, Hue::Quiet));
        x += room + 10.0;
    }
}

/// The parts of a track in words.
fn legend(track: &Track) -> Vec<(Hue, String)> {
    let most = track.held.text(track.peak() - track.fixed);
    let mut parts = vec![(ACTIVATIONS, format!("Activations, up to {most}"))];
    if track.fixed > 0.0 {
        parts.push((FIXED, format!("Fixed {}", track.held.text(track.fixed))));
    }
    if let Some(limit) = track.limit {
        parts.push((LIMIT, format!("Limit {}", track.held.text(limit))));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(steps: &[(f64, f64)]) -> Track {
        Track { held: TrackUnit::MicroBatches, fixed: 10.0, limit: None, steps: steps.to_vec() }
    }

    #[test]
    fn what_is_held_follows_the_steps() {
        let track = track(&[(1.0, 2.0), (2.0, 4.0), (3.0, 0.0)]);
        for (time, held) in [(0.0, 10.0), (1.0, 12.0), (2.5, 14.0), (9.0, 10.0)] {
            assert!((track.at(time) - held).abs() < 1e-9, "{time}");
        }
        assert!((track.peak() - 14.0).abs() < 1e-9);
    }

    #[test]
    fn no_peak_is_lost_between_two_pixels() {
        let steps: Vec<_> = (0..10_000)
            .map(|index| (f64::from(index), if index == 4_321 { 99.0 } else { 1.0 }))
            .collect();
        let track = track(&steps);
        let outline = track.outline(&Window::all(10_000.0), 200.0);
        assert!(outline.len() <= 4 * 201, "{}", outline.len());
        assert!(outline.iter().any(|(_, held)| (held - 109.0).abs() < 1e-9));
        assert!(outline.is_sorted_by(|one, other| one.0 <= other.0));
    }

    #[test]
    fn amounts_have_their_unit() {
        assert_eq!(TrackUnit::Memory.text(Bytes::gib(56.84).get()), "56.8 GiB");
        assert_eq!(TrackUnit::MicroBatches.text(1.0), "1 micro-batch");
        assert_eq!(TrackUnit::MicroBatches.text(16.5), "16.5 micro-batches");
    }
}
