//! Names beside marks: written where there is room, and never over each other.

use plotters_backend::text_anchor::HPos;

use super::canvas::{Canvas, LINE, text};
use super::frame::Frame;
use super::ink::Ink;
use super::text::{TEXT_SIZE, text_width};

/// Left, top, right, bottom of what a name may not cover.
pub(crate) type Boxed = (i32, i32, i32, i32);

/// The places inside a frame that are taken.
pub(crate) struct Labels<'a> {
    frame: &'a Frame,
    taken: Vec<Boxed>,
}

impl<'a> Labels<'a> {
    /// Room around marks.
    pub(crate) const fn new(frame: &'a Frame, marks: Vec<Boxed>) -> Self {
        Self { frame, taken: marks }
    }

    /// Writes a name at the first of some places that is free: its left end and its middle.
    pub(crate) fn write(
        &mut self,
        canvas: &Canvas<'_>,
        words: &str,
        ink: Ink,
        places: impl IntoIterator<Item = (i32, i32)>,
    ) {
        let (frame, width) = (self.frame, text_width(words, TEXT_SIZE));
        let free = places.into_iter().find_map(|(left, middle)| {
            let own = (left, middle - LINE / 2, left + width, middle + LINE / 2);
            let inside = own.0 >= frame.left
                && own.2 <= frame.right
                && own.1 >= frame.top
                && own.3 <= frame.bottom;
            let clear = self.taken.iter().all(|other| {
                own.2 <= other.0 || other.2 <= own.0 || own.3 <= other.1 || other.3 <= own.1
            });
            (inside && clear).then_some((left, middle, own))
        });
        if let Some((left, middle, own)) = free {
            self.taken.push(own);
            text(canvas, words, (left, middle), ink, HPos::Left);
        }
    }
}
