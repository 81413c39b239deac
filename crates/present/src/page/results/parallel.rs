//! Parallel coordinates: an upright axis for each column, a line for each design, ranges that are
//! brushed on the axes.

use std::collections::BTreeMap;

use super::data::{Data, Dim};
use super::scale;
use super::scatter::{FRONT, MARK};
use super::select::Selection;
use super::view::{Cut, View};
use crate::draw::palette::Hue;
use crate::draw::scale::Scale;
use crate::draw::surface::{Area, Paint, Side, Stroke, Surface, Words};
use model::ground::text::cut;

/// Maximum number of designs with a line each; more are drawn as density.
const MAX_LINES: usize = 1_500;

/// Places of an axis where lines are drawn as density.
const BINS: f64 = 48.0;

/// Least distance between axes, in pixels; narrower pages scroll.
pub const MIN_GAP: f64 = 64.0;

const SIDE: f64 = 46.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 12.0;

/// Half the width of a handle, and how far from it a pointer may be.
const HANDLE: f64 = 12.0;
const REACH: f64 = 14.0;

/// Layout of the parallel coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// The axes in order.
    pub axes: Vec<(Dim, Scale)>,
    width: f64,
    height: f64,
}

/// Part that a pointer takes hold of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grip {
    /// An axis by its name.
    Name(usize),
    /// The end of a range, and whether it is the upper one.
    End(usize, bool),
    /// A range as a whole.
    Inside(usize),
    /// An axis beside its range.
    Axis(usize),
}

impl Lanes {
    /// Layout on a canvas of that size; `None` without designs.
    #[must_use]
    pub fn new(data: &Data, view: &View, (width, height): (f64, f64)) -> Option<Self> {
        if data.rows.is_empty() || height < TOP + BOTTOM + 40.0 {
            return None;
        }
        let axis = |dim: Dim| {
            Some((dim, scale::scale(dim, data.extent(dim)?, view.is_log(&data.dim_id(dim)))))
        };
        let axes: Option<Vec<_>> = view.axis_dims(data).into_iter().map(axis).collect();
        Some(Self { axes: axes?, width, height })
    }

    fn x(&self, place: usize) -> f64 {
        let gaps = self.axes.len().saturating_sub(1).max(1) as f64;
        SIDE + (self.width - 2.0 * SIDE) * place as f64 / gaps
    }

    fn y(&self, place: f64) -> f64 {
        TOP + (1.0 - place) * (self.height - TOP - BOTTOM)
    }

    fn place_of(&self, data: &Data, axis: usize, row: usize) -> f64 {
        let (dim, scale) = self.axes[axis];
        scale.place(data.number(dim, row)).clamp(0.0, 1.0)
    }

    fn y_of(&self, data: &Data, axis: usize, row: usize) -> f64 {
        self.y(self.place_of(data, axis, row))
    }

    /// The number of an axis at a height; whole for a knob.
    #[must_use]
    pub fn number(&self, axis: usize, y: f64) -> f64 {
        let place = 1.0 - (y - TOP) / (self.height - TOP - BOTTOM);
        self.axes[axis].1.number(place.clamp(0.0, 1.0))
    }

    /// The axis next to a point.
    #[must_use]
    pub fn axis_at(&self, x: f64) -> usize {
        let distance = |place: &usize| (self.x(*place) - x).abs();
        let all = 0..self.axes.len();
        all.min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(0)
    }

    /// The heights of a range that is brushed, upper first.
    fn brushed(&self, data: &Data, view: &View, axis: usize) -> Option<(f64, f64)> {
        let (dim, scale) = self.axes[axis];
        let (from, to) = view.brushed(data, dim)?;
        let half = if scale.steps { 0.45 } else { 0.0 };
        let (from, to) = (from - half, to + half);
        let place = |number: f64| self.y(scale.place(number.clamp(scale.from, scale.to)));
        Some((place(to), place(from)))
    }

    /// Part that a pointer at a place would take hold of.
    #[must_use]
    pub fn grip(&self, data: &Data, view: &View, (x, y): (f64, f64)) -> Option<Grip> {
        let axis = self.axis_at(x);
        let near = (self.x(axis) - x).abs();
        if y < TOP - 8.0 {
            return (near < 40.0).then_some(Grip::Name(axis));
        }
        if near > 22.0 {
            return None;
        }
        let Some((upper, lower)) = self.brushed(data, view, axis) else {
            return Some(Grip::Axis(axis));
        };
        if (y - upper).abs() <= REACH && y < (upper + lower) / 2.0 {
            Some(Grip::End(axis, true))
        } else if (y - lower).abs() <= REACH {
            Some(Grip::End(axis, false))
        } else if (upper..=lower).contains(&y) {
            Some(Grip::Inside(axis))
        } else {
            Some(Grip::Axis(axis))
        }
    }

    /// The brushed design whose line is next to a point.
    #[must_use]
    pub fn nearest(
        &self,
        columns: &Columns,
        selection: &Selection,
        (x, y): (f64, f64),
    ) -> Option<usize> {
        /// Largest distance of a pointer from a line, in pixels.
        const REACH: f64 = 7.0;
        let last = self.axes.len().checked_sub(2)?;
        let gap = self.x(1) - self.x(0);
        let left = (((x - SIDE) / gap).floor().max(0.0) as usize).min(last);
        let share = ((x - self.x(left)) / gap).clamp(0.0, 1.0) as f32;
        let high = self.height - TOP - BOTTOM;
        let at = (1.0 - (y - TOP) / high) as f32;
        let (mut best, mut least) = (None, (REACH / high) as f32);
        let [from, to] = [left, left + 1].map(|axis| columns.places.get(axis));
        let ends = from?.iter().zip(to?);
        for (row, ((from, to), level)) in ends.zip(&selection.level).enumerate() {
            let distance = (from + share * (to - from) - at).abs();
            if distance < least && *level == 2 {
                (best, least) = (Some(row), distance);
            }
        }
        best
    }
}

/// State that the drawn axes depend on: which they are, and the size of the picture.
pub type Drawn = (Vec<(Dim, Scale)>, (f64, f64));

/// State that the lines of all designs depend on, beside the axes: what was cut away.
pub type Faint = (Drawn, (Vec<Cut>, bool));

/// For each axis where on it each design is, from 0 to 1 and in bins: looked up once, not with
/// every frame.
#[derive(Default)]
pub struct Columns {
    axes: Vec<(Dim, Scale)>,
    places: Vec<Vec<f32>>,
    bins: Vec<Vec<u16>>,
}

impl Columns {
    /// Looks up the places on these axes; what is there already is kept.
    pub fn follow(&mut self, data: &Data, lanes: &Lanes) {
        let mut old = std::mem::take(self);
        for (axis, known) in lanes.axes.iter().enumerate() {
            // An axis that is there twice is looked up twice.
            let kept = old.axes.iter().position(|other| other == known);
            let kept = kept.map(|at| (std::mem::take(&mut old.places[at]), at));
            let (places, bins) = match kept.filter(|(places, _)| !places.is_empty()) {
                Some((places, at)) => (places, std::mem::take(&mut old.bins[at])),
                None => {
                    let rows = 0..data.rows.len();
                    let places: Vec<f64> =
                        rows.map(|row| lanes.place_of(data, axis, row)).collect();
                    let bins = places.iter().map(|place| (place * BINS).round() as u16).collect();
                    (places.into_iter().map(|place| place as f32).collect(), bins)
                }
            };
            self.places.push(places);
            self.bins.push(bins);
        }
        self.axes.clone_from(&lanes.axes);
    }

    /// Forgets all, as there are other designs.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Draws all that is there, under what is brushed of it: it stays while a range is dragged.
pub fn paint_all(
    surface: &mut dyn Surface,
    (lanes, columns): (&Lanes, &Columns),
    selection: &Selection,
) {
    lines(surface, lanes, columns.lines(lanes, selection, 1, Hue::Axis, 0.35));
}

/// Draws what is brushed, and the ranges.
pub fn paint_brushed(
    surface: &mut dyn Surface,
    data: &Data,
    view: &View,
    (lanes, columns): (&Lanes, &Columns),
    selection: &Selection,
) {
    lines(surface, lanes, columns.lines(lanes, selection, 2, MARK, 0.9));
    let on_front = |row: &usize| selection.level[*row] == 2 && data.rows.front[*row];
    let front: Vec<usize> = (0..data.rows.len()).filter(on_front).take(MAX_LINES).collect();
    let bundles = columns.bundles(&front, lanes.height.round());
    let (bins, count) = (lanes.height.round(), front.len());
    lines(surface, lanes, Lines { bundles, bins, count, hue: FRONT, alpha: 0.9 });
    for axis in 0..lanes.axes.len() {
        paint_brush(surface, data, view, lanes, axis);
    }
}

/// Draws the axes over it.
pub fn paint_axes(surface: &mut dyn Surface, data: &Data, lanes: &Lanes) {
    for axis in 0..lanes.axes.len() {
        paint_axis(surface, data, lanes, axis);
    }
}

/// All designs that go from one place of an axis to one of the next, and how many they are.
type Bundle = ((u16, u16), u32);

/// Lines of designs: for each axis but the last, what goes on from it.
struct Lines {
    bundles: Vec<Vec<Bundle>>,
    /// Number of places on an axis.
    bins: f64,
    /// Number of designs.
    count: usize,
    hue: Hue,
    alpha: f64,
}

/// Draws lines of designs. Between two axes all that go from one place to another are one line, the
/// stronger and wider the more they are.
fn lines(surface: &mut dyn Surface, lanes: &Lanes, all: Lines) {
    let Lines { bundles, bins, count: all, hue, alpha } = all;
    if all == 0 {
        return;
    }
    let few = 30.0 / all as f64;
    // Lines of one look together: a browser takes its time to change it, and to begin a path.
    let mut looks: BTreeMap<[u8; 2], Vec<[(f64, f64); 2]>> = BTreeMap::new();
    for (axis, bundles) in bundles.into_iter().enumerate() {
        let most = bundles.iter().map(|(_, count)| *count).max().unwrap_or(1);
        let (left, right) = (lanes.x(axis), lanes.x(axis + 1));
        for ((from, to), count) in bundles {
            let share = f64::from(count).ln_1p() / f64::from(most).ln_1p();
            // A line of many is wider, by the share of all that it has.
            let many = f64::from(count) / all as f64;
            let look = [share * f64::from(STRENGTHS), many * f64::from(WIDTHS)];
            let ends = [(left, from), (right, to)];
            let ends = ends.map(|(x, bin)| (x, lanes.y(f64::from(bin) / bins)));
            looks.entry(look.map(|it| it.round() as u8)).or_default().push(ends);
        }
    }
    for ([strength, width], ends) in looks {
        let share = f64::from(strength) / f64::from(STRENGTHS);
        surface.opacity(alpha * (few + 0.1 + 0.45 * share).clamp(0.05, 1.0));
        let width = 1.0 + 7.0 * f64::from(width) / f64::from(WIDTHS);
        surface.lines(&ends, Stroke::new(hue, width));
    }
    surface.opacity(1.0);
}

/// Strengths and widths of lines that are distinguished.
const STRENGTHS: u8 = 8;
const WIDTHS: u8 = 14;

impl Columns {
    /// The lines of designs that have at least a level: every one, or how many there are.
    fn lines(
        &self,
        lanes: &Lanes,
        selection: &Selection,
        least: u8,
        hue: Hue,
        alpha: f64,
    ) -> Lines {
        let count = if least == 1 { selection.kept } else { selection.brushed };
        let (bins, bundles) = if count > MAX_LINES {
            let pairs = self.bins.iter().zip(self.bins.iter().skip(1));
            let of = |(left, right): (&Vec<u16>, &Vec<u16>)| {
                counted(left, right, (&selection.level, least), BINS as usize + 1)
            };
            (BINS, pairs.map(of).collect())
        } else {
            let all = selection.level.iter().enumerate().filter(|(_, level)| **level >= least);
            let rows: Vec<usize> = all.map(|(row, _)| row).collect();
            (lanes.height.round(), self.bundles(&rows, lanes.height.round()))
        };
        Lines { bundles, bins, count, hue, alpha }
    }

    /// Bundles of a few designs, with that many places on an axis.
    fn bundles(&self, rows: &[usize], places: f64) -> Vec<Vec<Bundle>> {
        let bin = |place: f32| (f64::from(place) * places).round() as u16;
        let pairs = self.places.iter().zip(self.places.iter().skip(1));
        let ends = |(left, right): (&Vec<f32>, &Vec<f32>)| {
            grouped(rows.iter().map(|row| (bin(left[*row]), bin(right[*row]))))
        };
        pairs.map(ends).collect()
    }
}

/// Bundles between the bins of two axes, over the designs of at least a level.
fn counted(left: &[u16], right: &[u16], (levels, least): (&[u8], u8), bins: usize) -> Vec<Bundle> {
    let mut counts = vec![0_u32; bins * bins];
    for ((from, to), level) in left.iter().zip(right).zip(levels) {
        if let Some(count) = counts.get_mut(usize::from(*from) * bins + usize::from(*to)) {
            *count += u32::from(*level >= least);
        }
    }
    let some = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    let ends = |place: usize| ((place / bins) as u16, (place % bins) as u16);
    some.map(|(place, count)| (ends(place), count)).collect()
}

/// Bundles of a few designs among many places.
fn grouped(ends: impl Iterator<Item = (u16, u16)>) -> Vec<Bundle> {
    let mut all: Vec<_> = ends.collect();
    all.sort_unstable();
    let same = all.chunk_by(|one, other| one == other);
    same.map(|same| (same[0], same.len() as u32)).collect()
}

/// The range that is brushed on an axis.
fn paint_brush(surface: &mut dyn Surface, data: &Data, view: &View, lanes: &Lanes, axis: usize) {
    let Some((upper, lower)) = lanes.brushed(data, view, axis) else { return };
    let x = lanes.x(axis);
    let accent = Paint::Plain(Hue::Accent);
    surface.opacity(0.22);
    surface.fill(&[Area::new(x - 9.0, upper, 18.0, (lower - upper).max(2.0))], accent);
    surface.opacity(1.0);
    let handle = |y: f64| Area::new(x - HANDLE, y - 3.0, 2.0 * HANDLE, 6.0);
    surface.fill(&[handle(upper), handle(lower)], accent);
}

fn paint_axis(surface: &mut dyn Surface, data: &Data, lanes: &Lanes, axis: usize) {
    let (dim, scale) = lanes.axes[axis];
    let (x, top, bottom) = (lanes.x(axis), lanes.y(1.0), lanes.y(0.0));
    surface.line(&[(x, top), (x, bottom)], Stroke::new(Hue::Quiet, 1.5));
    let gap = if lanes.axes.len() > 1 { lanes.x(1) - lanes.x(0) } else { 200.0 };
    let letters = ((gap - 14.0) / 6.5).max(4.0) as usize;
    let most = ((bottom - top) / 26.0).max(2.0) as usize;
    for (number, text) in scale::ticks(&scale, data, dim, most) {
        let y = lanes.y(scale.place(number));
        surface.line(&[(x - 3.0, y), (x + 3.0, y)], Stroke::new(Hue::Quiet, 1.0));
        // The last axis has its numbers inside, as there is no room beyond.
        let (side, at) = if axis + 1 == lanes.axes.len() {
            (Side::Right, x - 7.0)
        } else {
            (Side::Left, x + 7.0)
        };
        let text = cut(&text, letters);
        surface.words_over(Words::new(&text, (at, y), side, Hue::Text));
    }
    let name = cut(&scale::title(data, dim), (gap / 6.2).max(9.0) as usize);
    let side = match axis {
        0 => Side::Left,
        last if last + 1 == lanes.axes.len() => Side::Right,
        _ => Side::Center,
    };
    let at = match side {
        Side::Left => x - SIDE + 2.0,
        Side::Right => x + SIDE - 2.0,
        Side::Center => x,
    };
    // Neighbours are at two heights, so that longer names fit.
    let y = if axis.is_multiple_of(2) { 10.0 } else { 26.0 };
    surface.words_over(Words::new(&name, (at, y), side, Hue::Text));
}

/// Overlay of the design under the pointer, the pins, and an axis that is moved.
pub fn overlay(
    surface: &mut dyn Surface,
    data: &Data,
    view: &View,
    lanes: &Lanes,
    row: Option<usize>,
    moved: Option<(usize, f64)>,
) {
    let mut line = |row: usize, hue: Hue, width: f64| {
        let all = 0..lanes.axes.len();
        let points = all.map(|axis| (lanes.x(axis), lanes.y_of(data, axis, row)));
        surface.line(&points.collect::<Vec<_>>(), Stroke::new(hue, width));
    };
    for pin in view.pins.iter().filter_map(|pin| data.row_of(*pin)) {
        line(pin, Hue::Text, 2.0);
    }
    if let Some(row) = row {
        line(row, Hue::Surface, 5.0);
        line(row, Hue::Accent, 2.5);
    }
    if let Some((axis, x)) = moved {
        let ends = [(x, lanes.y(1.0) - 10.0), (x, lanes.y(0.0))];
        surface.line(&ends, Stroke::dashed(Hue::Accent, 2.0));
        let name = data.label(lanes.axes[axis].0);
        surface.words_over(Words::new(name, (x, 10.0), Side::Center, Hue::Accent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_alike_among_few_places_and_many() {
        let [left, right]: [Vec<u16>; 2] =
            [|at: u16| at * 7 % 13, |at: u16| at * at % 11].map(|of| (0..250).map(of).collect());
        let levels: Vec<u8> = (0..250).map(|at| at % 3).collect();
        for least in [0, 1, 2] {
            let own = (0..250).filter(|at| levels[*at] >= least);
            let few = grouped(own.map(|at| (left[at], right[at])));
            assert_eq!(counted(&left, &right, (&levels, least), 13), few);
        }
    }
}
