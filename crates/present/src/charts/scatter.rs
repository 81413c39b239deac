//! Error of each prediction, over the number of devices of its run.

use plotters::element::Polygon;
use plotters::style::Color as _;
use plotters_backend::text_anchor::HPos;

use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{Canvas, Fill, LINE, TEXT_GAP, drawn_width, line, put, strong, svg};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend, Swatch};
use crate::draw::shape::{RADIUS, Shape};
use crate::draw::text::{TEXT_SIZE, bold_width, finite};
use crate::format::{signed, whole};
use crate::words::family::Family;

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 320;

/// Width of the band of points with the same number of devices, in octaves: they are beside each
/// other, so that each is visible.
const SPREAD: f64 = 0.7;

/// The axis reaches at least and at most so far from a perfect prediction, as a factor.
const REACH: (f64, f64) = (1.5, 3.0);

/// The band that is drawn: predictions within this share.
const BAND: f64 = 0.1;

/// Labels of the axis of errors, as predicted over measured.
const RATIOS: [f64; 13] = [1.0, 1.1, 0.9, 0.8, 1.2, 0.7, 1.3, 0.6, 1.5, 0.5, 2.0, 0.4, 3.0];

/// A prediction beside its measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Devices of the run.
    pub num_devices: u64,
    /// Predicted over measured step time.
    pub ratio: f64,
    /// Family of its accelerators.
    pub family: Family,
    /// The run's place in its file. It tells the point from others with the same number of devices,
    /// so that it stays where it is whatever else is shown.
    pub place: usize,
}

/// The marks of a family.
const fn mark(family: Family) -> (Ink, Shape) {
    match family {
        Family::Ascend => (Ink::Ascend, Shape::Circle),
        Family::Ampere => (Ink::Ampere, Shape::Square),
        Family::Hopper => (Ink::Hopper, Shape::Triangle),
        Family::Blackwell => (Ink::Blackwell, Shape::Diamond),
        Family::GraceBlackwell => (Ink::GraceBlackwell, Shape::Hanging),
        Family::Other => (Ink::OtherFamily, Shape::Cross),
    }
}

/// The class of a family's marks, for charts that are drawn without plotters.
#[must_use]
pub const fn family_class(family: Family) -> &'static str {
    mark(family).0.name()
}

/// A scatter of some width: what it draws and what a pointer is on.
#[derive(Clone, Debug)]
pub struct Scatter<'a> {
    points: &'a [Point],
    width: i32,
    height: i32,
    top: i32,
    left: i32,
    /// The largest ratio of the axis; the least is its inverse.
    reach: f64,
    /// The axis of devices, in octaves; labels are at whole ones within.
    octaves: (f64, f64),
}

impl<'a> Scatter<'a> {
    /// Lays the points out for a width in pixels.
    #[must_use]
    pub fn new(points: &'a [Point], width: u32) -> Self {
        let width = drawn_width(width);
        let legend = legend(width);
        let largest = points.iter().map(|point| off(point.ratio)).fold(REACH.0, f64::max);
        let least = points.iter().map(|point| point.num_devices).fold(8, u64::min);
        let most = points.iter().map(|point| point.num_devices).fold(1_024, u64::max);
        let top = legend.height() + 2 * LINE;
        Self {
            points,
            width,
            height: top + PLOT_HEIGHT + Frame::BELOW,
            top,
            left: bold_width("−50 %", TEXT_SIZE) + TEXT_GAP,
            reach: largest.min(REACH.1),
            octaves: (octave(least) - SPREAD, octave(most) + SPREAD),
        }
    }

    /// The chart as SVG; the point at `current` stands out.
    #[must_use]
    pub fn draw(&self, current: Option<usize>) -> String {
        svg(self.width, self.height, &self.label(), &|canvas| {
            legend(self.width).draw(canvas);
            let frame = self.frame();
            self.draw_band(canvas, &frame);
            frame.draw(canvas, self.width);
            for point in self.points {
                let (ink, shape) = mark(point.family);
                shape.draw(canvas, self.place(point), ink);
            }
            if let Some(point) = current.and_then(|index| self.points.get(index)) {
                self.draw_current(canvas, &frame, self.place(point), point);
            }
        })
    }

    /// The point nearest to a place in the drawing, in pixels, if one is near.
    #[must_use]
    pub fn nearest(&self, x: f64, y: f64) -> Option<usize> {
        const NEAR: f64 = 16.0;
        let mut best = None;
        let mut least = NEAR * NEAR;
        for (index, point) in self.points.iter().enumerate() {
            let (at_x, at_y) = self.pixels(point);
            let distance = (at_x - x).powi(2) + (at_y - y).powi(2);
            if distance < least {
                (best, least) = (Some(index), distance);
            }
        }
        best
    }

    /// Width of the drawing, in pixels.
    #[must_use]
    pub const fn width(&self) -> i32 {
        self.width
    }

    /// In words, for those who don't see it.
    fn label(&self) -> String {
        if self.points.is_empty() {
            return String::from("Error of the predicted step time over the number of devices.");
        }
        let within = self.points.iter().filter(|point| (point.ratio - 1.0).abs() <= BAND).count();
        let slow = self.points.iter().filter(|point| point.ratio > 1.0 + BAND).count();
        let all = self.points.len();
        format!(
            "Error of the predicted step time over the number of devices, {} runs: {} within \
             10 %, {} too slow by more, {} too fast by more.",
            whole(all as u64),
            whole(within as u64),
            whole(slow as u64),
            whole((all - within - slow) as u64),
        )
    }

    fn frame(&self) -> Frame {
        let limit = octaves_of(self.reach);
        let ticks = RATIOS.into_iter().filter(|ratio| off(*ratio) <= self.reach * 1.001);
        let y = ticks.map(|ratio| {
            let percent = (ratio - 1.0) * 100.0;
            let is_zero = percent.abs() < 0.5;
            Tick {
                at: octaves_of(ratio),
                text: format!("{} %", signed(percent, 0)),
                ink: Ink::Quiet,
                keep: is_zero,
                rule: Some(if is_zero { Ink::Axis } else { Ink::Grid }),
            }
        });
        let (from, to) = self.octaves;
        let every = if self.width < 560 { 2 } else { 1 };
        let powers = (from.max(0.0).ceil() as u32..=to as u32).step_by(every);
        let x = powers.map(|power| Tick::new(f64::from(power), whole(1_u64 << power.min(63))));
        let axis = |from, to, ticks, title: &str| Axis { from, to, ticks, title: title.to_owned() };
        let title = "Error of the step time";
        Frame {
            left: self.left,
            right: self.width - RADIUS,
            top: self.top,
            bottom: self.top + PLOT_HEIGHT,
            x: axis(from, to, x.collect(), "Devices"),
            y: axis(-limit, limit, y.collect(), title),
        }
    }

    fn place(&self, point: &Point) -> (i32, i32) {
        let (x, y) = self.pixels(point);
        (x as i32, y as i32)
    }

    /// Position of a point; one off the axis is at its end.
    fn pixels(&self, point: &Point) -> (f64, f64) {
        let limit = octaves_of(self.reach);
        let error = octaves_of(finite(point.ratio).clamp(1.0 / self.reach, self.reach));
        let (from, to) = self.octaves;
        // The golden ratio spreads consecutive places evenly.
        let aside = (point.place as f64 * 0.618_033_988_75).fract() - 0.5;
        let along = (octave(point.num_devices) + aside * SPREAD - from) / (to - from);
        let room = f64::from(self.width - RADIUS - self.left);
        let down = (limit - error) / (2.0 * limit) * f64::from(PLOT_HEIGHT);
        (f64::from(self.left) + along * room, f64::from(self.top) + down)
    }

    fn draw_band(&self, canvas: &Canvas<'_>, frame: &Frame) {
        let limit = octaves_of(self.reach);
        let at = |ratio: f64| {
            let down = (limit - octaves_of(ratio)) / (2.0 * limit) * f64::from(PLOT_HEIGHT);
            self.top + down as i32
        };
        let (high, low) = (at(1.0 + BAND), at(1.0 - BAND));
        let corners =
            [(frame.left, high), (frame.right, high), (frame.right, low), (frame.left, low)];
        put(canvas, &Polygon::new(corners, Ink::Band.filled()));
    }

    /// Lines to the axes through a point, with its error.
    fn draw_current(&self, canvas: &Canvas<'_>, frame: &Frame, (x, y): (i32, i32), point: &Point) {
        line(canvas, (x, frame.top), (x, frame.bottom), Ink::Current);
        line(canvas, (frame.left, y), (frame.right, y), Ink::Current);
        let (_, shape) = mark(point.family);
        shape.draw(canvas, (x, y), Ink::Current);
        let words = format!("{} %", signed((point.ratio - 1.0) * 100.0, 1));
        let half = bold_width(&words, TEXT_SIZE) / 2 + 1;
        let middle = x.clamp(frame.left + half, (self.width - half).max(frame.left + half));
        strong(canvas, &words, (middle, frame.top - LINE / 2), Ink::Text, HPos::Center);
    }
}

fn legend(width: i32) -> Legend {
    let families = Family::ALL.into_iter().filter(|family| *family != Family::Other);
    let keys = families.map(|family| {
        let (ink, shape) = mark(family);
        Key { ink, swatch: Swatch::Point(shape), text: family.label().to_owned() }
    });
    let band = Key::bar(Ink::Band, Fill::Solid, "Within 10 %");
    Legend::new(width, keys.chain([band]).collect())
}

/// Factor of at least one by which a ratio is off from one.
fn off(ratio: f64) -> f64 {
    if ratio >= 1.0 { ratio } else { 1.0 / ratio.max(1e-9) }
}

fn octave(number: u64) -> f64 {
    octaves_of(number.max(1) as f64)
}

fn octaves_of(number: f64) -> f64 {
    number.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<Point> {
        let families = Family::ALL.into_iter().cycle();
        let ratios = [0.2, 0.85, 0.95, 1.0, 1.05, 1.3, 9.0, f64::NAN];
        ratios
            .into_iter()
            .zip(families)
            .enumerate()
            .map(|(place, (ratio, family))| Point { num_devices: 8 << place, ratio, family, place })
            .collect()
    }

    #[test]
    fn every_point_stands_within_the_drawing() {
        let points = points();
        for width in [288, 480, 1_000] {
            let scatter = Scatter::new(&points, width);
            for point in &points {
                let (x, y) = scatter.pixels(point);
                assert!((0.0..f64::from(scatter.width)).contains(&x), "{point:?}: {x}");
                assert!((0.0..f64::from(scatter.height)).contains(&y), "{point:?}: {y}");
            }
        }
    }

    #[test]
    fn the_drawing_is_well_formed_with_and_without_points() {
        let points = points();
        for points in [&points[..], &[]] {
            for current in [None, Some(0), Some(99)] {
                let svg = Scatter::new(points, 480).draw(current);
                roxmltree::Document::parse(&svg).expect("well-formed");
                assert!(!svg.contains("NaN"), "{svg}");
            }
        }
    }

    #[test]
    fn a_pointer_finds_the_point_that_it_is_on() {
        let points = points();
        let scatter = Scatter::new(&points, 480);
        for (index, point) in points.iter().enumerate() {
            let (x, y) = scatter.pixels(point);
            assert_eq!(scatter.nearest(x + 1.0, y - 1.0), Some(index));
        }
        assert_eq!(scatter.nearest(-100.0, 0.0), None);
    }

    #[test]
    fn words_count_what_is_within_the_band() {
        let label = Scatter::new(&points()[..7], 480).label();
        assert!(label.contains("7 runs: 3 within 10 %, 2 too slow by more, 2 too fast"), "{label}");
    }
}
