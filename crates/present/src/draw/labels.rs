//! Names beside marks: written where there is room, and never over each other.

use plotters_backend::text_anchor::HPos;

use super::canvas::{Canvas, LINE, text};
use super::frame::Frame;
use super::ink::Ink;
use super::text::{TEXT_SIZE, text_width};

/// Left, top, right, bottom of what a name may not cover.
pub(crate) type Boxed = (i32, i32, i32, i32);

/// Length of the pieces that a line is cut into, in pixels: a box around each is nearly the line.
const PIECE: i32 = 6;

/// The places inside a frame that are taken, and those that a name covers only for want of others.
pub(crate) struct Labels<'a> {
    frame: &'a Frame,
    taken: Vec<Boxed>,
    lines: Vec<Boxed>,
}

impl<'a> Labels<'a> {
    /// Room around marks.
    pub(crate) const fn new(frame: &'a Frame, marks: Vec<Boxed>) -> Self {
        Self { frame, taken: marks, lines: Vec::new() }
    }

    /// Keeps names off a straight line where there is room elsewhere.
    pub(crate) fn line(&mut self, [from, to]: [(i32, i32); 2]) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()) / PIECE + 1;
        let at = |from: i32, to: i32, step: i32| from + (to - from) * step / steps;
        self.lines.extend((0..steps).map(|step| {
            let x = [at(from.0, to.0, step), at(from.0, to.0, step + 1)];
            let y = [at(from.1, to.1, step), at(from.1, to.1, step + 1)];
            (x[0].min(x[1]), y[0].min(y[1]), x[0].max(x[1]), y[0].max(y[1]))
        }));
    }

    /// Writes a name at the first of some places that is free, better off all lines than on one:
    /// its left end and its middle.
    pub(crate) fn write(
        &mut self,
        canvas: &Canvas<'_>,
        words: &str,
        ink: Ink,
        places: impl IntoIterator<Item = (i32, i32)>,
    ) {
        let (frame, width) = (self.frame, text_width(words, TEXT_SIZE));
        let mut on_line = None;
        let free = places.into_iter().find_map(|(left, middle)| {
            let own = (left, middle - LINE / 2, left + width, middle + LINE / 2);
            let inside = own.0 >= frame.left
                && own.2 <= frame.right
                && own.1 >= frame.top
                && own.3 <= frame.bottom;
            let place = (inside && is_clear(own, &self.taken)).then_some((left, middle, own))?;
            on_line = on_line.or(Some(place));
            is_clear(own, &self.lines).then_some(place)
        });
        if let Some((left, middle, own)) = free.or(on_line) {
            self.taken.push(own);
            text(canvas, words, (left, middle), ink, HPos::Left);
        }
    }
}

fn is_clear(own: Boxed, others: &[Boxed]) -> bool {
    others
        .iter()
        .all(|other| own.2 <= other.0 || other.2 <= own.0 || own.3 <= other.1 || other.3 <= own.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::axis::Axis;
    use crate::draw::canvas::svg;

    #[test]
    fn a_name_is_off_a_line_where_there_is_room_and_on_it_else() {
        let axis = || Axis::linear(0.0, 1.0, 2, "");
        let frame = Frame { left: 0, right: 200, top: 0, bottom: 200, x: axis(), y: axis() };
        let drawn = |places: &[(i32, i32)]| {
            svg(200, 200, "", &|canvas| {
                let mut labels = Labels::new(&frame, Vec::new());
                labels.line([(0, 200), (200, 0)]);
                labels.write(canvas, "Roof", Ink::Text, places.iter().copied());
            })
        };
        let (on, off) = ((90, 100), (10, 20));
        assert_eq!(drawn(&[on, off]), drawn(&[off]));
        assert_ne!(drawn(&[on]), drawn(&[]));
        assert_ne!(drawn(&[on]), drawn(&[off]));
    }
}
