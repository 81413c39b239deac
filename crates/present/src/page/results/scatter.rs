//! The scatter of two metrics, with the front drawn over the rest.

use super::beside::ReferenceDesign;
use super::data::{Data, Dim};
use super::scale;
use super::select::{Selection, quantiles};
use super::view::View;
use crate::draw::palette::Hue;
use crate::draw::scale::Scale;
use crate::draw::surface::{Area, Face, Side, Stroke, Surface, Words};
use model::ground::text::cut;

/// The colours of designs and of those on the front.
pub(super) const MARK: Hue = Hue::Blue;
pub(super) const FRONT: Hue = Hue::Rust;

/// More designs than this are drawn as density.
const MAX_DOTS: usize = 3_000;

/// From the middle of a design on the front to its corners, in pixels.
const RADIUS: f64 = 4.5;

const LEFT: f64 = 68.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

/// Layout of the scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plot {
    dims: [Dim; 2],
    scales: [Scale; 2],
    width: f64,
    height: f64,
}

impl Plot {
    /// Layout on a canvas of that size; `None` without designs.
    #[must_use]
    pub fn new(data: &Data, view: &View, selection: &Selection, size: (f64, f64)) -> Option<Self> {
        let dims = view.scatter_dims(data);
        let axis = |dim: Dim| {
            let all = match dim {
                Dim::Metric(_) if view.clip => quantiles(data, selection, dim),
                Dim::Metric(_) => extent(data, selection, dim),
                Dim::Knob(_) => data.extent(dim),
            };
            Some(scale::scale(dim, all?, view.is_log(&data.dim_id(dim))))
        };
        let scales = [axis(dims[0])?, axis(dims[1])?];
        let (width, height) = (size.0 - LEFT - RIGHT, size.1 - TOP - BOTTOM);
        (width > 20.0 && height > 20.0).then_some(Self { dims, scales, width, height })
    }

    /// Place of a design.
    #[must_use]
    pub(super) fn at(&self, data: &Data, row: usize) -> (f64, f64) {
        let [x, y] = [0, 1].map(|side| {
            let place = self.scales[side].place(data.number(self.dims[side], row));
            if self.scales[side].steps { place + spread(row, side) } else { place }
        });
        (LEFT + x * self.width, TOP + (1.0 - y) * self.height)
    }

    fn is_inside(&self, (x, y): (f64, f64)) -> bool {
        (LEFT - 1.0..=LEFT + self.width + 1.0).contains(&x)
            && (TOP - 1.0..=TOP + self.height + 1.0).contains(&y)
    }

    /// The next brushed design in a direction along the axis across.
    #[must_use]
    pub fn step(
        &self,
        data: &Data,
        selection: &Selection,
        from: Option<usize>,
        right: bool,
    ) -> Option<usize> {
        let mut order: Vec<usize> =
            (0..data.rows.len()).filter(|row| selection.is_brushed(*row)).collect();
        // With many designs keys go along the front: everything else has no end.
        if order.len() > 200 && order.iter().any(|row| data.rows.front[*row]) {
            order.retain(|row| data.rows.front[*row]);
        }
        order.sort_by(|one, other| {
            data.number(self.dims[0], *one).total_cmp(&data.number(self.dims[0], *other))
        });
        let now = from.and_then(|from| order.iter().position(|row| *row == from));
        let next = match (now, right) {
            (None, _) => 0,
            (Some(now), true) => (now + 1).min(order.len().saturating_sub(1)),
            (Some(now), false) => now.saturating_sub(1),
        };
        order.get(next).copied()
    }

    /// Draws numbers beside the axes, and lines for them.
    pub fn axes(&self, surface: &mut dyn Surface, data: &Data) {
        let (right, bottom) = (LEFT + self.width, TOP + self.height);
        let [across, up] = self.scales;
        let grid = Stroke::new(Hue::Grid, 1.0);
        let most = (self.width / 70.0).max(2.0) as usize;
        for (number, text) in scale::ticks(&across, data, self.dims[0], most) {
            let x = LEFT + across.place(number) * self.width;
            surface.line(&[(x, TOP), (x, bottom)], grid);
            let (text, at) = (cut(&text, 12), (x, bottom + 12.0));
            surface.words(Words::new(&text, at, Side::Center, Hue::Quiet));
        }
        let most = (self.height / 36.0).max(2.0) as usize;
        for (number, text) in scale::ticks(&up, data, self.dims[1], most) {
            let y = TOP + (1.0 - up.place(number)) * self.height;
            surface.line(&[(LEFT, y), (right, y)], grid);
            let text = cut(&text, 7);
            surface.words(Words::new(&text, (LEFT - 6.0, y), Side::Right, Hue::Quiet));
        }
        let corner = [(LEFT, TOP), (LEFT, bottom), (right, bottom)];
        surface.line(&corner, Stroke::new(Hue::Axis, 1.0));
        let [x, y] = self.dims.map(|dim| scale::title(data, dim));
        let at = (LEFT + self.width / 2.0, bottom + 32.0);
        surface.words(Words::new(&x, at, Side::Center, Hue::Text));
        let up = Words::new(&y, (10.0, TOP + self.height / 2.0), Side::Center, Hue::Text);
        surface.words(Words { face: Face::Upward, ..up });
    }
}

/// Positions of all designs on a plot, and the small squares of the density that they are in:
/// looked up once, not with every frame. Beside them the axes as they were drawn.
#[derive(Default)]
pub struct Places {
    of: Option<Plot>,
    at: Vec<(f32, f32)>,
    squares: Vec<u32>,
}

impl Places {
    /// Looks up the positions on this plot; what is there already is kept.
    pub fn follow(&mut self, data: &Data, plot: &Plot) {
        if self.of != Some(*plot) {
            self.of = Some(*plot);
            let at = |row| plot.at(data, row);
            self.at.clear();
            self.at.extend((0..data.rows.len()).map(at).map(|(x, y)| (x as f32, y as f32)));
            let across = squares(plot.width + LEFT + RIGHT);
            let square = |at: &(f32, f32)| match plot.is_inside(wide(*at)) {
                // The designs of the front are drawn one by one.
                true => (at.1 / SQUARE) as u32 * across as u32 + (at.0 / SQUARE) as u32,
                false => u32::MAX,
            };
            self.squares.clear();
            self.squares.extend(self.at.iter().map(square));
            for (square, front) in self.squares.iter_mut().zip(&data.rows.front) {
                *square = if *front { u32::MAX } else { *square };
            }
        }
    }

    /// Forgets all, as there are other designs.
    pub fn clear(&mut self) {
        self.of = None;
    }

    /// Number of designs of each level in each square.
    fn density(&self, levels: &[u8], squares: usize) -> [Vec<u32>; 3] {
        let mut counts = [0; 3].map(|_: u8| vec![0_u32; squares]);
        for (square, level) in self.squares.iter().zip(levels) {
            let of = counts.get_mut(usize::from(*level));
            if let Some(count) = of.and_then(|counts| counts.get_mut(*square as usize)) {
                *count += 1;
            }
        }
        counts
    }

    /// The brushed design next to a point, within some pixels.
    #[must_use]
    pub fn nearest(
        &self,
        data: &Data,
        selection: &Selection,
        (x, y): (f64, f64),
        within: f64,
    ) -> Option<usize> {
        let plot = self.of?;
        let (x, y, within) = (x as f32, y as f32, within as f32);
        let (mut best, mut least) = (None, within * within);
        let rows = self.at.iter().zip(&selection.level).zip(&data.rows.front).enumerate();
        for (row, ((at, level), front)) in rows {
            let (across, up) = (at.0 - x, at.1 - y);
            // A design of the front is preferred to one beside it.
            let bonus = if *front { 0.5 } else { 1.0 };
            let distance = (across * across + up * up) * bonus;
            if distance < least && *level == 2 && plot.is_inside(wide(*at)) {
                (best, least) = (Some(row), distance);
            }
        }
        best
    }
}

/// Side of the squares that show density, in pixels.
const SQUARE: f32 = 3.0;

/// Number of squares over that many pixels.
fn squares(pixels: f64) -> usize {
    (pixels as f32 / SQUARE) as usize + 1
}

fn wide((x, y): (f32, f32)) -> (f64, f64) {
    (f64::from(x), f64::from(y))
}

/// Least and most of what is kept.
fn extent(data: &Data, selection: &Selection, dim: Dim) -> Option<(f64, f64)> {
    let kept = (0..data.rows.len()).filter(|row| selection.level[*row] > 0);
    kept.map(|row| data.number(dim, row)).fold(None, |extent, number| match extent {
        None => Some((number, number)),
        Some((low, high)) => Some((number.min(low), number.max(high))),
    })
}

/// Designs with the same value of a knob beside each other; always the same way.
fn spread(row: usize, side: usize) -> f64 {
    let mixed = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (side as u64) << 7);
    ((mixed >> 40) as f64 / 16_777_216.0 - 0.5) * 0.02
}

/// Draws designs on the axes, all but what a pointer is on.
pub fn paint(
    surface: &mut dyn Surface,
    data: &Data,
    (plot, places): (&Plot, &Places),
    selection: &Selection,
) {
    surface.clip(Area::new(LEFT, TOP, plot.width, plot.height).inset(-5.0));
    let brushing = selection.brushed < selection.kept;
    let across = squares(plot.width + LEFT + RIGHT);
    let down = squares(plot.height + TOP + BOTTOM);
    let [_, left, brushed] = places.density(&selection.level, across * down);
    for (level, counts, opacity) in [(1, left, 0.12), (2, brushed, 0.55)] {
        let count: u32 = counts.iter().sum();
        if count as usize > MAX_DOTS {
            cloud(surface, across, counts, opacity);
        } else if count > 0 {
            let rows = places.at.iter().zip(&places.squares).zip(&selection.level);
            let own = rows.filter(|((_, square), own)| **own == level && **square != u32::MAX);
            let dots: Vec<_> = own.map(|((at, _), _)| wide(*at)).collect();
            surface.opacity(opacity);
            surface.dots(&dots, 2.5, MARK);
            surface.opacity(1.0);
        }
    }
    front(surface, plot, data, selection, brushing);
    surface.unclip();
}

/// Draws the density of designs, by their number in each small square.
fn cloud(surface: &mut dyn Surface, across: usize, counts: Vec<u32>, alpha: f64) {
    let most = f64::from(counts.iter().copied().max().unwrap_or(1)).ln_1p();
    // There are few different counts, and a logarithm for each square would take its time.
    let strength = |count: u32| alpha * (0.35 + 1.05 * f64::from(count).ln_1p() / most);
    let known: Vec<u8> = (0..256).map(|count| opacity(strength(count))).collect();
    let opacities = counts.into_iter().map(|count| match count {
        0 => 0,
        count => known.get(count as usize).copied().unwrap_or_else(|| opacity(strength(count))),
    });
    surface.squares(f64::from(SQUARE), across, &opacities.collect::<Vec<_>>(), MARK);
}

/// A share of 1 as a byte.
fn opacity(share: f64) -> u8 {
    (share.clamp(0.0, 1.0) * 255.0) as u8
}

/// The front over the rest: diamonds, and a line where both axes are the two objectives.
fn front(
    surface: &mut dyn Surface,
    plot: &Plot,
    data: &Data,
    selection: &Selection,
    brushing: bool,
) {
    let on_front =
        (0..data.rows.len()).filter(|row| data.rows.front[*row] && selection.level[*row] > 0);
    let mut rows: Vec<usize> = on_front.collect();
    let objectives: Vec<Dim> = data.objectives.iter().map(|one| Dim::Metric(one.metric)).collect();
    let both = objectives.len() == 2 && plot.dims.iter().all(|dim| objectives.contains(dim));
    if both {
        rows.sort_by(|one, other| {
            data.number(plot.dims[0], *one).total_cmp(&data.number(plot.dims[0], *other))
        });
        let points: Vec<_> = rows.iter().map(|row| plot.at(data, *row)).collect();
        surface.opacity(0.7);
        surface.line(&points, Stroke::new(FRONT, 1.25));
        surface.opacity(1.0);
    }
    for row in rows {
        let (x, y) = plot.at(data, row);
        surface.opacity(if brushing && !selection.is_brushed(row) { 0.3 } else { 1.0 });
        let corners = [(x, y - RADIUS), (x + RADIUS, y), (x, y + RADIUS), (x - RADIUS, y)];
        surface.shape(&corners, FRONT);
    }
    surface.opacity(1.0);
}

/// Designs that aren't the sweep's; what lies beyond the axes stands at their ends.
pub fn beside(surface: &mut dyn Surface, data: &Data, plot: &Plot, all: &[impl ReferenceDesign]) {
    for design in all {
        let place = |side: usize| match plot.dims[side] {
            Dim::Metric(place) => {
                let number = design.metric(*data.metrics.get(place)?)?;
                Some(plot.scales[side].place(number).clamp(0.0, 1.0))
            }
            Dim::Knob(_) => None,
        };
        let (Some(x), Some(y)) = (place(0), place(1)) else { continue };
        let at = (LEFT + x * plot.width, TOP + (1.0 - y) * plot.height);
        surface.ring(at, 6.0, Hue::Accent);
        let (side, by) = if x > 0.7 { (Side::Right, -11.0) } else { (Side::Left, 11.0) };
        let words = Words::new(design.label(), (at.0 + by, at.1), side, Hue::Accent);
        surface.words_over(Words { face: Face::Bold, ..words });
    }
}

/// Overlay of the design under the pointer, and of the pins.
pub fn overlay(
    surface: &mut dyn Surface,
    data: &Data,
    plot: &Plot,
    view: &View,
    row: Option<usize>,
) {
    for (place, pin) in view.pins.iter().enumerate() {
        if let Some(row) = data.row_of(*pin) {
            let at = plot.at(data, row);
            if plot.is_inside(at) {
                surface.ring(at, 7.0, Hue::Text);
                let (text, at) = ((place + 1).to_string(), (at.0 + 11.0, at.1 - 9.0));
                surface.words_over(Words::new(&text, at, Side::Left, Hue::Text));
            }
        }
    }
    let Some(row) = row else { return };
    let (x, y) = plot.at(data, row);
    if !plot.is_inside((x, y)) {
        return;
    }
    let to_axes = [(LEFT, y), (x, y), (x, TOP + plot.height)];
    surface.line(&to_axes, Stroke::dashed(Hue::Accent, 1.0));
    surface.ring((x, y), 8.0, Hue::Accent);
}
