//! The heatmap of two knobs: the best of the first objective in each cell.

use crate::draw::palette::{Hue, Tile};
use crate::draw::surface::{Area, Paint, Side, Surface, Words};
use crate::draw::text::{TEXT_SIZE, text_width};
use model::ground::text::cut;

use super::data::{Cell, Data, Dim};
use super::scatter::MARK;

/// A pair of knobs as a grid, with the knob across first.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The knobs, across and up.
    pub knobs: [usize; 2],
    /// Bins of each.
    pub bins: [usize; 2],
    cells: Vec<Option<Cell>>,
    /// Whether the pair is kept at all: pairs of a very large space are left out.
    pub is_kept: bool,
}

impl Grid {
    /// The grid of two knobs.
    #[must_use]
    pub fn of(data: &Data, knobs: [usize; 2]) -> Self {
        let same =
            |pair: &&super::data::Pair| pair.knobs == knobs || pair.knobs == [knobs[1], knobs[0]];
        let Some(pair) = data.pairs.iter().find(same) else {
            return Self { knobs, bins: [0, 0], cells: vec![], is_kept: false };
        };
        let turned = pair.knobs != knobs;
        let turn = |two: [usize; 2]| if turned { [two[1], two[0]] } else { two };
        let bins = turn(pair.bins);
        let mut cells = vec![None; bins[0] * bins[1]];
        for cell in &pair.cells {
            let at = turn(cell.at);
            if let Some(place) = cells.get_mut(at[1] * bins[0] + at[0]) {
                *place = Some(Cell { at, ..*cell });
            }
        }
        Self { knobs, bins, cells, is_kept: true }
    }

    /// The cell at these bins.
    #[must_use]
    pub fn at(&self, [level, upright]: [usize; 2]) -> Option<&Cell> {
        if level >= self.bins[0] {
            return None;
        }
        self.cells.get(upright * self.bins[0] + level)?.as_ref()
    }

    /// Values of a knob in a bin, by their places.
    fn values(&self, data: &Data, side: usize, bin: usize) -> (usize, usize) {
        let count = data.knobs[self.knobs[side]].values.len();
        let bins = self.bins[side].max(1);
        let inside = |place: &usize| *place * bins / count.max(1) == bin;
        let mut places = (0..count).filter(inside);
        let first = places.next().unwrap_or(0);
        (first, places.next_back().unwrap_or(first))
    }

    /// Label of a bin: its value, or the first and last of its values.
    #[must_use]
    pub fn label(&self, data: &Data, side: usize, bin: usize) -> String {
        let (first, last) = self.values(data, side, bin);
        let values = &data.knobs[self.knobs[side]].values;
        let value = |place: usize| values.get(place).map_or("", String::as_str);
        if first == last {
            value(first).to_owned()
        } else {
            format!("{}–{}", value(first), value(last))
        }
    }

    /// The cell of a design.
    #[must_use]
    pub fn cell_of(&self, data: &Data, row: usize) -> Option<[usize; 2]> {
        if self.bins[0] == 0 || self.bins[1] == 0 {
            return None;
        }
        Some([0, 1].map(|side| {
            let count = data.knobs[self.knobs[side]].values.len().max(1);
            let place = data.number(Dim::Knob(self.knobs[side]), row) as usize;
            place * self.bins[side] / count
        }))
    }

    /// Least and most of the first objective.
    fn extent(&self) -> Option<(f64, f64)> {
        let all = self.cells.iter().flatten().map(|cell| cell.best.0);
        all.fold(None, |extent, value| match extent {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
    }
}

/// Place of the grid on the canvas.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    bins: [usize; 2],
}

const LEFT: f64 = 92.0;
const BOTTOM: f64 = 54.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 10.0;

impl Place {
    /// On a canvas of that size.
    #[must_use]
    pub fn new(grid: &Grid, (width, height): (f64, f64)) -> Self {
        Self {
            left: LEFT,
            top: TOP,
            width: (width - LEFT - RIGHT).max(20.0),
            height: (height - TOP - BOTTOM).max(20.0),
            bins: grid.bins.map(|bins| bins.max(1)),
        }
    }

    /// The rectangle of a cell; the first of the knob that goes up is at the bottom.
    fn cell(&self, [level, upright]: [usize; 2]) -> Area {
        let (width, height) = (self.width / self.bins[0] as f64, self.height / self.bins[1] as f64);
        let row = self.bins[1] - 1 - upright.min(self.bins[1] - 1);
        let (left, top) = (self.left + level as f64 * width, self.top + row as f64 * height);
        Area { left, top, width, height }
    }

    /// The cell at a point.
    #[must_use]
    pub fn hit(&self, x: f64, y: f64) -> Option<[usize; 2]> {
        let (across, down) = ((x - self.left) / self.width, (y - self.top) / self.height);
        let inside = (0.0..1.0).contains(&across) && (0.0..1.0).contains(&down);
        let level = (across * self.bins[0] as f64) as usize;
        let row = (down * self.bins[1] as f64) as usize;
        inside.then(|| [level, self.bins[1] - 1 - row])
    }
}

/// Draws all cells.
pub fn paint(surface: &mut dyn Surface, data: &Data, grid: &Grid, place: &Place) {
    let Some(objective) = data.first() else { return };
    let dim = Dim::Metric(objective.metric);
    let (low, high) = grid.extent().unwrap_or((0.0, 1.0));
    for upright in 0..grid.bins[1] {
        for level in 0..grid.bins[0] {
            let area = place.cell([level, upright]);
            let Some(cell) = grid.at([level, upright]) else {
                surface.opacity(0.55);
                surface.fill(&[area.inset(0.5)], Paint::Tiled(Tile::EMPTY));
                surface.opacity(1.0);
                continue;
            };
            let share = if high > low { (cell.best.0 - low) / (high - low) } else { 1.0 };
            let good = if objective.max { share } else { 1.0 - share };
            // Never so dark that the number on it can't be read.
            surface.opacity(0.06 + 0.46 * good);
            surface.fill(&[area.inset(0.5)], Paint::Plain(MARK));
            surface.opacity(1.0);
            let mark = if data.is_refuted(cell.best.1) { "✗" } else { "" };
            let whole = format!("{mark} {}", data.spelled(dim, cell.best.0));
            // The width is an upper bound, with room beside the words in it.
            let fits =
                |text: &str| !text.is_empty() && area.height >= 15.0 && wide(text) <= area.width;
            if let Some(text) = [whole.trim_start(), mark].iter().find(|text| fits(text)) {
                surface.words(Words::new(text, area.center(), Side::Center, Hue::Text));
            }
        }
    }
    labels(surface, data, grid, place);
}

/// Values beside both axes, as many as there is room for.
fn labels(surface: &mut dyn Surface, data: &Data, grid: &Grid, place: &Place) {
    let room = place.width / place.bins[0] as f64;
    let widest =
        (0..grid.bins[0]).map(|bin| wide(&cut(&grid.label(data, 0, bin), 14))).fold(20.0, f64::max);
    let stride = ((widest + 6.0) / room).ceil().max(1.0) as usize;
    for bin in (0..grid.bins[0]).step_by(stride) {
        let (x, _) = place.cell([bin, 0]).center();
        let text = cut(&grid.label(data, 0, bin), 14);
        let at = (x, place.top + place.height + 14.0);
        surface.words(Words::new(&text, at, Side::Center, Hue::Quiet));
    }
    let room = place.height / place.bins[1] as f64;
    let stride = (14.0 / room).ceil().max(1.0) as usize;
    for bin in (0..grid.bins[1]).step_by(stride) {
        let (_, y) = place.cell([0, bin]).center();
        let text = cut(&grid.label(data, 1, bin), 13);
        surface.words(Words::new(&text, (place.left - 6.0, y), Side::Right, Hue::Quiet));
    }
    let at = (place.left + place.width / 2.0, place.top + place.height + 38.0);
    let across = data.label(Dim::Knob(grid.knobs[0]));
    let up = data.label(Dim::Knob(grid.knobs[1]));
    let text = format!("{across} (across), {up} (up)");
    surface.words(Words::new(&text, at, Side::Center, Hue::Text));
}

fn wide(text: &str) -> f64 {
    f64::from(text_width(text, TEXT_SIZE))
}

/// Frames a cell.
pub fn frame(surface: &mut dyn Surface, place: &Place, cell: [usize; 2], hue: Hue) {
    surface.frame(place.cell(cell), hue, 2.0);
}
