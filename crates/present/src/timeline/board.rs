//! The state of a picture that people look around in; it knows no browser.

use std::sync::Arc;

use crate::draw::surface::Surface;

use super::gesture::Turn;
use super::keys::Command;
use super::lanes::{Lanes, Spot, block_at};
use super::paint::{Layout, Picture};
use super::track::Track;
use super::window::Window;

/// One press of a key or button zooms and moves by this much.
const ZOOM: f64 = 0.6;
const MOVE: f64 = 0.2;
/// Distance from a block within which a pointer takes it, in pixels.
const MAX_POINTER_PIXELS: f64 = 4.0;

/// Result of a command or gesture, for followers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing, or nothing that anyone follows.
    Nothing,
    /// Another block or lane was selected, or none.
    Selected,
    /// The details of what is selected are wanted.
    Opened,
    /// The selection was to be dropped and there was none.
    NothingToClear,
}

/// Contents of a picture and the window on them.
#[derive(Default)]
pub struct Board {
    lanes: Option<Arc<dyn Lanes + Send + Sync>>,
    track: Option<(Track, String)>,
    /// Whether there is room for a track.
    has_track: bool,
    window: Option<Window>,
    /// Width and height, in pixels of the page.
    pub size: (f64, f64),
    lane: usize,
    selected: Option<Spot>,
    hovered: Option<Spot>,
    /// Position of the pointer.
    cursor: Option<(f64, f64)>,
}

impl Board {
    /// A board with or without room for a track below its lanes.
    pub fn new(has_track: bool) -> Self {
        Self { has_track, ..Self::default() }
    }

    /// Shows other lanes, at the same place as far as there is one.
    pub fn show(&mut self, lanes: Option<Arc<dyn Lanes + Send + Sync>>) {
        self.hovered = None;
        if let Some(lanes) = &lanes {
            let total = lanes.total();
            self.window = Some(match self.window {
                Some(window) => window.of_total(total),
                None => Window::all(total),
            });
            self.lane = self.lane.min(lanes.count().saturating_sub(1));
        }
        self.lanes = lanes;
    }

    /// Shows the track of the lane that stands out.
    pub fn show_track(&mut self, track: Option<(Track, String)>) {
        self.track = track;
    }

    /// Track of the lane that stands out.
    pub fn track(&self) -> Option<&Track> {
        self.track.as_ref().map(|(track, _)| track)
    }

    /// Selects a block or drops the selection; the lane stays where there is none.
    pub fn select(&mut self, spot: Option<Spot>) {
        self.selected = spot;
        if let Some(spot) = spot {
            self.lane = spot.lane;
        }
    }

    /// Makes a lane stand out.
    pub fn select_lane(&mut self, lane: usize) {
        self.lane = lane;
    }

    /// The block that is selected.
    pub const fn selected(&self) -> Option<Spot> {
        self.selected
    }

    /// The lane that stands out.
    pub const fn lane(&self) -> usize {
        self.lane
    }

    /// The block under the pointer.
    pub const fn hovered(&self) -> Option<Spot> {
        self.hovered
    }

    /// Position of the pointer, in pixels.
    pub const fn cursor(&self) -> Option<(f64, f64)> {
        self.cursor
    }

    /// The moment under the pointer, if it is over the lanes or the track.
    pub fn moment(&self) -> Option<f64> {
        let (layout, window) = (self.layout()?, self.window?);
        let x = self.cursor?.0 - layout.plot.left;
        (0.0..=layout.plot.width).contains(&x).then(|| window.time(x, layout.plot.width))
    }

    /// The part of time in view.
    pub(super) fn window(&self) -> Option<Window> {
        self.lanes.as_ref().and(self.window)
    }

    /// Draws it in its own size.
    pub fn paint(&self, surface: &mut dyn Surface) {
        if let (Some(window), Some(layout)) = (self.window, self.layout()) {
            let plot = layout.plot;
            let over = |(x, _): &(f64, f64)| (plot.left..=plot.right()).contains(x);
            let cursor = self.cursor.filter(over).map(|(x, _)| x - plot.left);
            self.paint_as(surface, window, layout, cursor);
        }
    }

    /// Draws a part of time in another size, without the marks of a pointer.
    pub(super) fn paint_still(&self, surface: &mut dyn Surface, window: Window, width: f64) {
        if let Some(lanes) = self.lanes.as_deref() {
            let height = Layout::best_height(lanes.count(), self.track.is_some()).max(self.size.1);
            let layout = Layout::new(lanes, self.track.is_some(), width, height);
            self.paint_as(surface, window, layout, None);
        }
    }

    /// Mean duration of a block, in seconds.
    pub(super) fn mean_block(&self) -> f64 {
        let Some(lanes) = self.lanes.as_deref() else { return 1.0 };
        let (mut sum, mut count) = (0.0, 0);
        for lane in 0..lanes.count() {
            let (starts, ends) = lanes.times(lane);
            sum += starts.iter().zip(ends).map(|(start, end)| end - start).sum::<f64>();
            count += starts.len();
        }
        if sum > 0.0 { sum / count as f64 } else { 1.0 }
    }

    /// The height of [`Self::paint_still`].
    pub(super) fn best_height(&self) -> f64 {
        let count = self.lanes.as_ref().map_or(0, |lanes| lanes.count());
        Layout::best_height(count, self.track.is_some()).max(self.size.1)
    }

    fn paint_as(
        &self,
        surface: &mut dyn Surface,
        window: Window,
        layout: Layout,
        cursor: Option<f64>,
    ) {
        let Some(lanes) = self.lanes.as_deref() else { return };
        Picture {
            lanes,
            window,
            layout,
            lane: self.lane,
            selected: self.selected,
            hovered: self.hovered.filter(|_| cursor.is_some()),
            cursor,
            track: self.track.as_ref().map(|(track, title)| (track, title.as_str())),
        }
        .paint(surface);
    }

    fn layout(&self) -> Option<Layout> {
        let lanes = self.lanes.as_deref()?;
        let (width, height) = self.size;
        (width > 0.0 && height > 0.0).then(|| Layout::new(lanes, self.has_track, width, height))
    }

    /// Does what a key or a button says.
    pub fn act(&mut self, command: Command) -> Done {
        let Some(window) = self.window() else { return Done::NothingToClear };
        // Keys zoom around what is selected.
        let share = self.selected_share().unwrap_or(0.5);
        let window = match command {
            Command::ZoomIn => self.with_selected(window.zoomed(ZOOM, share)),
            Command::ZoomOut => window.zoomed(1.0 / ZOOM, share),
            Command::Earlier => window.moved(-MOVE),
            Command::Later => window.moved(MOVE),
            Command::Fit => Window::all(window.total()),
            Command::Previous | Command::Next | Command::First | Command::Last => {
                return self.step(command);
            }
            Command::Above => return self.change_lane(-1),
            Command::Below => return self.change_lane(1),
            Command::Open => return self.open(),
            Command::Clear if self.selected.is_none() => return Done::NothingToClear,
            Command::Clear => {
                self.selected = None;
                return Done::Selected;
            }
        };
        self.window = Some(window);
        Done::Nothing
    }

    /// The window moved so that it has all of the selected block, if that is in view now.
    fn with_selected(&self, window: Window) -> Window {
        match self
            .selected
            .filter(|_| self.selected_share().is_some())
            .and_then(|it| self.block(it))
        {
            Some((start, end)) => window.showing(start, end),
            None => window,
        }
    }

    /// Place of the selected block in the window, if it is in view.
    fn selected_share(&self) -> Option<f64> {
        let (start, end) = self.block(self.selected?)?;
        let share = self.window?.place((start + end) / 2.0, 1.0);
        (0.0..=1.0).contains(&share).then_some(share)
    }

    /// Start and end of a block.
    fn block(&self, spot: Spot) -> Option<(f64, f64)> {
        let (starts, ends) = self.lanes.as_ref()?.times(spot.lane);
        Some((*starts.get(spot.index)?, *ends.get(spot.index)?))
    }

    fn step(&mut self, command: Command) -> Done {
        let count = self.lanes.as_ref().map_or(0, |lanes| lanes.times(self.lane).0.len());
        let Some(last) = count.checked_sub(1) else { return Done::Nothing };
        let index = match (command, self.selected) {
            (Command::First, _) => 0,
            (Command::Last, _) => last,
            (Command::Previous, Some(spot)) => spot.index.saturating_sub(1),
            (_, Some(spot)) => (spot.index + 1).min(last),
            // The first that is in view.
            (_, None) => {
                let from = self.window.map_or(0.0, |window| window.from());
                let lanes = self.lanes.as_deref();
                let near = lanes.and_then(|lanes| block_at(lanes, self.lane, from, f64::INFINITY));
                near.map_or(0, |spot| spot.index)
            }
        };
        self.go_to(Spot { lane: self.lane, index })
    }

    fn change_lane(&mut self, by: isize) -> Done {
        let Some(lanes) = self.lanes.as_deref() else { return Done::Nothing };
        let lane = self.lane.saturating_add_signed(by).min(lanes.count().saturating_sub(1));
        let middle =
            self.selected.and_then(|spot| self.block(spot)).map(|(start, end)| (start + end) / 2.0);
        let spot = middle.and_then(|middle| block_at(lanes, lane, middle, f64::INFINITY));
        self.lane = lane;
        match spot {
            Some(spot) => self.go_to(spot),
            None => Done::Selected,
        }
    }

    fn open(&mut self) -> Done {
        if self.selected.is_none() {
            self.step(Command::Next);
        }
        Done::Opened
    }

    /// Selects a block and brings it into view.
    pub(super) fn go_to(&mut self, spot: Spot) -> Done {
        if let (Some((start, end)), Some(window)) = (self.block(spot), self.window) {
            self.window = Some(window.showing(start, end));
            self.select(Some(spot));
        }
        Done::Selected
    }

    /// A wheel turns: `steps` of zooming at a place, or a move.
    pub fn wheel(&mut self, x: f64, zoom: f64, pan: f64) {
        let (Some(window), Some(layout)) = (self.window, self.layout()) else { return };
        let share = (x - layout.plot.left) / layout.plot.width;
        // Close to a power of two, and turning back undoes it.
        let factor = 1.0 + zoom.abs();
        let factor = if zoom < 0.0 { 1.0 / factor } else { factor };
        let window = window.zoomed(factor, share);
        self.window = Some(window.moved(pan / layout.plot.width));
    }

    /// A drag or a pinch.
    pub fn turn(&mut self, turn: Turn) {
        let (Some(window), Some(layout)) = (self.window, self.layout()) else { return };
        let width = layout.plot.width;
        self.window = Some(match turn {
            Turn::None => window,
            Turn::Drag(by) => window.moved(-by / width),
            Turn::Pinch { drag, factor, x } => {
                window.moved(-drag / width).zoomed(factor, (x - layout.plot.left) / width)
            }
        });
    }

    /// The pointer is at a place, or gone.
    pub fn point(&mut self, at: Option<(f64, f64)>) {
        (self.cursor, self.hovered) = (at, at.and_then(|(x, y)| self.spot_at(x, y)));
    }

    /// A tap: selects the block, or only the lane, at a place.
    pub fn tap(&mut self, x: f64, y: f64) -> Done {
        let Some(lane) = self.layout().and_then(|layout| layout.lane_at(y)) else {
            return Done::Nothing;
        };
        self.lane = lane;
        self.selected = self.spot_at(x, y);
        if self.selected.is_some() { Done::Opened } else { Done::Selected }
    }

    fn spot_at(&self, x: f64, y: f64) -> Option<Spot> {
        let (layout, window) = (self.layout()?, self.window?);
        let width = layout.plot.width;
        let x = x - layout.plot.left;
        let lane = layout
            .lane_at(y)
            .filter(|_| (-MAX_POINTER_PIXELS..=width + MAX_POINTER_PIXELS).contains(&x))?;
        let slack = MAX_POINTER_PIXELS / width * window.span();
        block_at(self.lanes.as_deref()?, lane, window.time(x, width), slack)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::tests::Sample;
    use super::*;

    fn board() -> Board {
        let mut board = Board { size: (640.0, 320.0), ..Board::default() };
        board.show(Some(Arc::new(Sample::even(4, 100, 1.0, 0.0))));
        board
    }

    fn spot(lane: usize, index: usize) -> Option<Spot> {
        Some(Spot { lane, index })
    }

    #[test]
    fn keys_walk_along_a_lane_and_across() {
        let mut board = board();
        assert_eq!(board.act(Command::Next), Done::Selected);
        assert_eq!(board.selected(), spot(0, 0));
        board.act(Command::Next);
        board.act(Command::Below);
        assert_eq!(board.selected(), spot(1, 1));
        board.act(Command::Last);
        board.act(Command::Next);
        assert_eq!(board.selected(), spot(1, 99));
        board.act(Command::Above);
        board.act(Command::Above);
        assert_eq!(board.selected(), spot(0, 99));
    }

    #[test]
    fn what_is_walked_to_comes_into_view() {
        let mut board = board();
        for _ in 0..8 {
            board.act(Command::ZoomIn);
        }
        board.act(Command::Last);
        let window = board.window().unwrap();
        assert!(window.from() < 99.0 && window.to() >= 99.999, "{window:?}");
    }

    #[test]
    fn enter_opens_and_escape_drops_the_selection() {
        let mut board = board();
        assert_eq!(board.act(Command::Open), Done::Opened);
        assert!(board.selected().is_some());
        assert_eq!(board.act(Command::Clear), Done::Selected);
        assert_eq!(board.act(Command::Clear), Done::NothingToClear);
    }

    #[test]
    fn fit_shows_everything_again() {
        let mut board = board();
        board.act(Command::ZoomIn);
        board.act(Command::Later);
        assert!(!board.window().unwrap().is_all());
        board.act(Command::Fit);
        assert!(board.window().unwrap().is_all());
    }

    #[test]
    fn a_tap_selects_what_is_under_it() {
        let mut board = board();
        let layout = board.layout().unwrap();
        let x = layout.plot.left + layout.plot.width * 0.505;
        assert_eq!(board.tap(x, layout.lane_height * 2.5), Done::Opened);
        assert_eq!(board.selected(), spot(2, 50));
        assert_eq!(board.tap(x, 319.0), Done::Nothing);
    }

    #[test]
    fn a_wheel_zooms_where_the_pointer_is() {
        let mut board = board();
        let layout = board.layout().unwrap();
        let x = layout.plot.left + layout.plot.width * 0.25;
        board.point(Some((x, 1.0)));
        let before = board.moment().unwrap();
        board.wheel(x, -3.0, 0.0);
        assert!((board.moment().unwrap() - before).abs() < 1e-9);
        assert!((board.window().unwrap().span() - 25.0).abs() < 1e-9);
    }

    #[test]
    fn a_board_without_lanes_does_nothing() {
        let mut board = Board { size: (640.0, 320.0), ..Board::default() };
        for command in [Command::ZoomIn, Command::Next, Command::Below, Command::Open] {
            assert_eq!(board.act(command), Done::NothingToClear);
        }
        board.wheel(1.0, 1.0, 1.0);
        board.turn(Turn::Drag(5.0));
        board.point(Some((1.0, 1.0)));
        assert_eq!(board.hovered(), None);
        assert_eq!(board.tap(1.0, 1.0), Done::Nothing);
    }
}
