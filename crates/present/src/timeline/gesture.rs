//! Gestures of the pointers that are down on a picture: drag it with one, pinch it with two, or
//! tap.

/// A pointer that moved less than this has tapped, in pixels.
const MAX_TAP_PIXELS: f64 = 5.0;
/// Two fingers closer than this don't zoom any further.
const MIN_PINCH_PIXELS: f64 = 24.0;

/// Change of the window by a movement, in pixels of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// Nothing.
    None,
    /// The picture follows the pointer that far.
    Drag(f64),
    /// As much time as before fits into `factor` of it around a place, after a drag.
    Pinch {
        /// Distance by which the picture follows.
        drag: f64,
        /// More time fits where it is above one.
        factor: f64,
        /// The place.
        x: f64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Pointer {
    id: i32,
    start: (f64, f64),
    now: (f64, f64),
}

fn distance(one: (f64, f64), other: (f64, f64)) -> f64 {
    ((one.0 - other.0).powi(2) + (one.1 - other.1).powi(2)).sqrt()
}

/// The pointers that are down.
#[derive(Clone, Debug, Default)]
pub struct Gesture {
    pointers: Vec<Pointer>,
    /// Whether any of them has moved or there has been a second one; the gesture is no tap then.
    moved: bool,
}

impl Gesture {
    /// A pointer goes down.
    pub fn down(&mut self, id: i32, x: f64, y: f64) {
        self.pointers.retain(|pointer| pointer.id != id);
        if self.pointers.is_empty() {
            self.moved = false;
        }
        self.pointers.push(Pointer { id, start: (x, y), now: (x, y) });
        self.moved |= self.pointers.len() > 1;
    }

    /// A pointer moves.
    pub fn turn(&mut self, id: i32, x: f64, y: f64) -> Turn {
        let before = self.spread();
        let Some(pointer) = self.pointers.iter_mut().find(|pointer| pointer.id == id) else {
            return Turn::None;
        };
        let by = x - pointer.now.0;
        let far = distance((x, y), pointer.start) >= MAX_TAP_PIXELS;
        let starts = far && !self.moved;
        pointer.now = (x, y);
        self.moved |= far;
        let whole = x - pointer.start.0;
        match (before, self.spread()) {
            (Some((middle, apart)), Some((now, now_apart))) => {
                let factor = apart.max(MIN_PINCH_PIXELS) / now_apart.max(MIN_PINCH_PIXELS);
                Turn::Pinch { drag: now - middle, factor, x: now }
            }
            _ if !self.moved => Turn::None,
            _ => Turn::Drag(if starts { whole } else { by }),
        }
    }

    /// A pointer goes up; true when that was a tap.
    pub fn up(&mut self, id: i32) -> bool {
        let was_down = self.pointers.iter().any(|pointer| pointer.id == id);
        self.pointers.retain(|pointer| pointer.id != id);
        was_down && !self.moved && self.pointers.is_empty()
    }

    /// The browser took the pointer for itself.
    pub fn cancel(&mut self, id: i32) {
        self.moved = true;
        self.pointers.retain(|pointer| pointer.id != id);
    }

    /// Whether a picture is being dragged or pinched.
    pub fn is_moving(&self) -> bool {
        self.moved && !self.pointers.is_empty()
    }

    /// Middle of the first two pointers and how far they are apart.
    fn spread(&self) -> Option<(f64, f64)> {
        let [one, other, ..] = self.pointers.as_slice() else { return None };
        let apart = distance(one.now, other.now);
        Some(((one.now.0 + other.now.0) / 2.0, apart))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_that_hardly_moves_taps() {
        let mut gesture = Gesture::default();
        gesture.down(1, 10.0, 10.0);
        assert_eq!(gesture.turn(1, 12.0, 11.0), Turn::None);
        assert!(gesture.up(1));
        assert!(!gesture.up(1));
    }

    #[test]
    fn a_pointer_that_moves_drags_from_where_it_went_down() {
        let mut gesture = Gesture::default();
        gesture.down(1, 10.0, 10.0);
        assert_eq!(gesture.turn(1, 13.0, 10.0), Turn::None);
        assert_eq!(gesture.turn(1, 20.0, 10.0), Turn::Drag(10.0));
        assert_eq!(gesture.turn(1, 21.0, 10.0), Turn::Drag(1.0));
        assert!(gesture.is_moving());
        assert!(!gesture.up(1));
        assert!(!gesture.is_moving());
    }

    #[test]
    fn two_fingers_that_part_zoom_in_around_their_middle() {
        let mut gesture = Gesture::default();
        gesture.down(1, 100.0, 0.0);
        gesture.down(2, 200.0, 0.0);
        let turn = gesture.turn(2, 300.0, 0.0);
        assert_eq!(turn, Turn::Pinch { drag: 50.0, factor: 0.5, x: 200.0 });
        assert!(!gesture.up(2));
        assert!(!gesture.up(1));
    }

    #[test]
    fn what_the_browser_takes_is_no_tap() {
        let mut gesture = Gesture::default();
        gesture.down(1, 10.0, 10.0);
        gesture.cancel(1);
        assert!(!gesture.up(1));
        assert_eq!(gesture.turn(1, 50.0, 50.0), Turn::None);
    }
}
