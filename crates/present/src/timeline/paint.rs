//! Draws lanes, the axis of time and the track below them onto any surface.

use crate::draw::palette::{Hue, Tile};
use crate::draw::surface::{Area, Face, Paint, Side, Stroke, Surface, Words};
use crate::draw::text::{TEXT_SIZE, bold_width, text_width};

use super::lanes::{Lanes, Piece, Spot, pieces};
use super::look::{Look, Looks};
use super::track::{self, Track};
use super::window::Window;

/// Height of the axis with its labels, in pixels.
const AXIS: f64 = 20.0;
/// Room between the axis and the track.
const GAP: f64 = 8.0;
/// The least and the most that a track and a lane take.
const MIN_TRACK: f64 = 76.0;
const MAX_LANE: f64 = 24.0;
/// The most that a lane takes where there is no track.
const MAX_ALONE: f64 = 32.0;
/// A lane that is lower than this has no letters on its blocks.
const LETTERS: f64 = 13.0;
/// Room beside a label on a block.
const LABEL_PADDING: f64 = 2.0;
/// Room at the right of the lanes, for half of the last label of the axis.
const RIGHT: f64 = 6.0;

/// Positions of the parts of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    /// All lanes.
    pub(super) plot: Area,
    /// The track, if there is one.
    pub(super) track: Option<Area>,
    pub(super) lane_height: f64,
    count: usize,
    width: f64,
    height: f64,
}

impl Layout {
    pub(super) fn new(lanes: &dyn Lanes, has_track: bool, width: f64, height: f64) -> Self {
        let count = lanes.count();
        let names = (0..count).map(|lane| bold_width(&lanes.name(lane), TEXT_SIZE));
        let gutter = f64::from(names.max().unwrap_or(0)) + 8.0;
        let left = gutter.min(0.4 * width);
        let below = AXIS + if has_track { GAP + MIN_TRACK } else { 0.0 };
        let room = (height - below).max(1.0);
        let most = if has_track { MAX_LANE } else { MAX_ALONE };
        let lane_height = (room / count.max(1) as f64).min(most);
        let plot = Area {
            left,
            top: 0.0,
            width: (width - left - RIGHT).max(1.0),
            height: lane_height * count as f64,
        };
        let top = plot.bottom() + AXIS + GAP;
        let track = has_track.then(|| Area { top, height: (height - top).max(1.0), ..plot });
        Self { plot, track, lane_height, count, width, height }
    }

    /// Height at which lanes are as high as they read best, in pixels.
    pub(super) fn best_height(count: usize, has_track: bool) -> f64 {
        let below = AXIS + if has_track { GAP + MIN_TRACK } else { 0.0 };
        count as f64 * 18.0 + below
    }

    /// The lane at a height.
    pub(super) fn lane_at(&self, y: f64) -> Option<usize> {
        let lane = ((y - self.plot.top) / self.lane_height).floor();
        (lane >= 0.0 && lane < self.count as f64).then_some(lane as usize)
    }

    /// The room of a lane's blocks.
    fn lane(&self, lane: usize) -> Area {
        let top = self.plot.top + lane as f64 * self.lane_height;
        let gap = if self.lane_height >= 6.0 { 1.0 } else { 0.0 };
        Area { top, height: self.lane_height - gap, ..self.plot }
    }

    /// The lowest line that the pointer's line reaches.
    fn bottom(&self) -> f64 {
        self.track.map_or(self.plot.bottom(), |track| track.bottom())
    }
}

/// Contents of a picture for one frame.
pub(super) struct Picture<'a> {
    pub(super) lanes: &'a dyn Lanes,
    pub(super) window: Window,
    pub(super) layout: Layout,
    /// The lane that stands out.
    pub(super) lane: usize,
    pub(super) selected: Option<Spot>,
    pub(super) hovered: Option<Spot>,
    /// Position of the pointer's line, in pixels from the left of the plot.
    pub(super) cursor: Option<f64>,
    /// The track with its title.
    pub(super) track: Option<(&'a Track, &'a str)>,
}

impl Picture<'_> {
    /// Draws it.
    pub(super) fn paint(&self, surface: &mut dyn Surface) {
        let Layout { plot, width, height, .. } = self.layout;
        surface.fill(&[Area::new(0.0, 0.0, width, height)], Paint::Plain(Hue::Surface));
        self.names(surface);
        surface.clip(plot);
        self.lanes(surface);
        for (spot, hue, width) in [(self.hovered, Hue::Quiet, 1.0), (self.selected, Hue::Text, 2.0)]
        {
            if let Some(area) = spot.and_then(|spot| self.area(spot)) {
                surface.frame(area, Hue::Surface, width + 1.0);
                surface.frame(area, hue, width);
            }
        }
        surface.unclip();
        self.axis(surface);
        if let (Some((track, title)), Some(area)) = (self.track, self.layout.track) {
            track::draw(surface, track, title, area, &self.window);
        }
        if let Some(x) = self.cursor {
            let x = plot.left + x.clamp(0.0, plot.width);
            let ends = [(x, plot.top), (x, self.layout.bottom())];
            surface.line(&ends, Stroke::new(Hue::Quiet, 1.0));
        }
    }

    /// Area of a block, at least wide enough to be seen.
    fn area(&self, spot: Spot) -> Option<Area> {
        let (starts, ends) = self.lanes.times(spot.lane);
        let (start, end) = (*starts.get(spot.index)?, *ends.get(spot.index)?);
        let plot = self.layout.plot;
        let left = plot.left + self.window.place(start, plot.width);
        let width = self.window.place(end, plot.width) + plot.left - left;
        let (left, width) = if width < 4.0 { (left - 1.0, 4.0) } else { (left, width) };
        let (left, right) = (left.max(plot.left - 4.0), (left + width).min(plot.right() + 4.0));
        Some(Area { left, width: right - left, ..self.layout.lane(spot.lane) })
    }

    /// The names of the lanes, as many as have room.
    fn names(&self, surface: &mut dyn Surface) {
        let Layout { plot, lane_height, count, .. } = self.layout;
        let every = (f64::from(TEXT_SIZE) / lane_height).ceil().max(1.0) as usize;
        for lane in (0..count).filter(|lane| lane % every == 0) {
            let is_current = lane == self.lane;
            let area = self.layout.lane(lane);
            let (hue, face) =
                if is_current { (Hue::Text, Face::Bold) } else { (Hue::Quiet, Face::Plain) };
            let (name, at) =
                (self.lanes.name(lane), (plot.left - 6.0, area.top + area.height / 2.0));
            surface.words(Words { face, ..Words::new(&name, at, Side::Right, hue) });
        }
    }

    fn lanes(&self, surface: &mut dyn Surface) {
        let Layout { plot, lane_height, count, .. } = self.layout;
        let mut blocks = Blocks::new();
        let end = self.window.place(self.lanes.total(), plot.width).min(plot.width);
        for lane in 0..count {
            let area = self.layout.lane(lane);
            surface.fill(&[Area { width: end, ..area }], Paint::Tiled(Tile::EMPTY));
            pieces(self.lanes, lane, &self.window, plot.width, &mut |piece| {
                blocks.add(&piece, area);
                if piece.count == 1 && lane_height >= LETTERS {
                    blocks.label(self.lanes, lane, &piece, area);
                }
            });
        }
        blocks.draw(surface);
    }

    fn axis(&self, surface: &mut dyn Surface) {
        let Layout { plot, track, width, .. } = self.layout;
        let bottom = plot.bottom();
        let axis = Stroke::new(Hue::Axis, 1.0);
        surface.line(&[(plot.left, bottom), (plot.right(), bottom)], axis);
        let mut free = 0.0;
        for (time, text) in self.window.ticks(plot.width) {
            let x = plot.left + self.window.place(time, plot.width);
            surface.line(&[(x, bottom), (x, bottom + 4.0)], axis);
            if let Some(track) = track {
                let head = track.top + f64::from(TEXT_SIZE) + 6.0;
                surface.line(&[(x, head), (x, track.bottom())], Stroke::new(Hue::Grid, 1.0));
            }
            let half = f64::from(text_width(&text, TEXT_SIZE)) / 2.0;
            let middle = x.clamp(half, (width - half).max(half));
            if middle - half >= free {
                let at = (middle, bottom + AXIS / 2.0 + 3.0);
                surface.words(Words::new(&text, at, Side::Center, Hue::Quiet));
                free = middle + half + 8.0;
            }
        }
    }
}

/// Blocks by their look, so that each colour is set once, and their labels.
struct Blocks {
    areas: Vec<Vec<Area>>,
    text: String,
    /// Middle of a label, and where its text ends.
    labels: Vec<(f64, f64, usize)>,
}

impl Blocks {
    fn new() -> Self {
        Self { areas: vec![Vec::new(); Look::COUNT], text: String::new(), labels: Vec::new() }
    }

    fn add(&mut self, piece: &Piece, lane: Area) {
        // A line between neighbours, where it takes little of them and can't pass for a bubble.
        let gap = if piece.right - piece.left >= 10.0 { 1.0 } else { 0.0 };
        let width = (piece.right - piece.left - gap).max(0.5);
        let area = Area { left: lane.left + piece.left, width, ..lane };
        match piece.looks {
            Looks::Whole(look) => self.areas[look.index()].push(area),
            Looks::Halves(upper, lower) => {
                let height = area.height / 2.0;
                self.areas[upper.index()].push(Area { height, ..area });
                self.areas[lower.index()].push(Area { height, top: area.top + height, ..area });
            }
        }
    }

    /// Notes a block's label if it has room on the part of the block that is in view.
    fn label(&mut self, lanes: &dyn Lanes, lane: usize, piece: &Piece, area: Area) {
        let (left, right) = (piece.left.max(0.0), piece.right.min(area.width));
        let room = right - left - 2.0 * LABEL_PADDING;
        if room < 12.0 {
            return;
        }
        let start = self.text.len();
        lanes.label(lane, piece.index, &mut self.text);
        let fits = |text: &str| f64::from(text_width(text, TEXT_SIZE)) <= room;
        if !fits(&self.text[start..]) && lanes.cuts_labels() {
            while self.text.len() > start && !fits(&format!("{}…", &self.text[start..])) {
                self.text.pop();
            }
            if self.text.len() >= start + 3 {
                self.text.push('…');
            }
        }
        if self.text.len() > start + 1 && fits(&self.text[start..]) {
            let middle = (area.left + (left + right) / 2.0, area.top + area.height / 2.0);
            self.labels.push((middle.0, middle.1, self.text.len()));
        } else {
            self.text.truncate(start);
        }
    }

    fn draw(&self, surface: &mut dyn Surface) {
        for look in Look::all() {
            let areas = &self.areas[look.index()];
            if !areas.is_empty() {
                surface.fill(areas, Paint::Tiled(look.tile()));
            }
        }
        let mut start = 0;
        for (x, y, end) in &self.labels {
            let text = &self.text[start..*end];
            surface.words(Words::new(text, (*x, *y), Side::Center, Hue::OnMark));
            start = *end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::tests::Sample;
    use super::*;

    /// Notes what is drawn.
    #[derive(Default)]
    struct Notes {
        blocks: Vec<Area>,
        words: Vec<String>,
    }

    impl Surface for Notes {
        fn fill(&mut self, areas: &[Area], paint: Paint) {
            if matches!(paint, Paint::Tiled(tile) if tile != Tile::EMPTY) {
                self.blocks.extend(areas);
            }
        }
        fn squares(&mut self, _: f64, _: usize, _: &[u8], _: Hue) {}
        fn frame(&mut self, _: Area, _: Hue, _: f64) {}
        fn line(&mut self, _: &[(f64, f64)], _: Stroke) {}
        fn lines(&mut self, _: &[[(f64, f64); 2]], _: Stroke) {}
        fn shape(&mut self, _: &[(f64, f64)], _: Hue) {}
        fn dots(&mut self, _: &[(f64, f64)], _: f64, _: Hue) {}
        fn ring(&mut self, _: (f64, f64), _: f64, _: Hue) {}
        fn opacity(&mut self, _: f64) {}
        fn words(&mut self, words: Words<'_>) {
            self.words.push(words.text.to_owned());
        }
        fn clip(&mut self, _: Area) {}
        fn unclip(&mut self) {}
    }

    fn drawn(sample: &Sample, width: f64, height: f64) -> Notes {
        let window = Window::all(sample.total());
        let layout = Layout::new(sample, false, width, height);
        let mut notes = Notes::default();
        Picture {
            lanes: sample,
            window,
            layout,
            lane: 0,
            selected: Some(Spot { lane: 0, index: 0 }),
            hovered: Some(Spot { lane: 9_999, index: 9 }),
            cursor: Some(1e9),
            track: None,
        }
        .paint(&mut notes);
        notes
    }

    #[test]
    fn letters_stand_where_there_is_room() {
        let wide = drawn(&Sample::even(2, 10, 1.0, 0.0), 600.0, 100.0);
        assert_eq!(wide.words.iter().filter(|text| text.starts_with('F')).count(), 20);
        let narrow = drawn(&Sample::even(2, 100, 1.0, 0.0), 600.0, 100.0);
        assert_eq!(narrow.words.iter().filter(|text| text.starts_with('F')).count(), 0);
    }

    #[test]
    fn blocks_stay_within_their_picture_and_are_few() {
        for lanes in [1, 2, 16, 64, 1_024] {
            let notes = drawn(&Sample::even(lanes, 2_000, 1.0, 0.2), 340.0, 320.0);
            assert!(notes.blocks.len() <= lanes * 2 * 342, "{}", notes.blocks.len());
            for area in &notes.blocks {
                assert!(area.top >= 0.0 && area.bottom() <= 320.5, "{area:?}");
            }
        }
    }

    #[test]
    fn a_height_finds_its_lane() {
        let sample = Sample::even(16, 1, 1.0, 0.0);
        let layout = Layout::new(&sample, true, 800.0, 320.0);
        assert_eq!(layout.lane_at(1.0), Some(0));
        assert_eq!(layout.lane_at(layout.plot.bottom() - 1.0), Some(15));
        assert_eq!(layout.lane_at(layout.plot.bottom() + 1.0), None);
        assert_eq!(layout.lane_at(-1.0), None);
        let track = layout.track.unwrap();
        assert!(track.height >= MIN_TRACK && track.bottom() <= 320.0, "{track:?}");
    }
}
