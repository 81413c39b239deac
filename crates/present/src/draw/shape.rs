//! The outlines of marks that differ by their shape.

use plotters::element::Polygon;
use plotters::style::Color as _;

use super::canvas::{Canvas, put};
use super::ink::Ink;

/// Half the size of a mark, in pixels.
pub(crate) const RADIUS: i32 = 4;

/// The outline of a mark around a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Hanging,
    Cross,
}

impl Shape {
    /// Its corners, as multiples of the radius in tenths.
    const fn corners(self) -> &'static [(i32, i32)] {
        match self {
            Self::Circle => {
                &[(-4, -10), (4, -10), (10, -4), (10, 4), (4, 10), (-4, 10), (-10, 4), (-10, -4)]
            }
            Self::Square => &[(-9, -9), (9, -9), (9, 9), (-9, 9)],
            Self::Triangle => &[(0, -12), (11, 9), (-11, 9)],
            Self::Diamond => &[(0, -13), (13, 0), (0, 13), (-13, 0)],
            Self::Hanging => &[(0, 12), (11, -9), (-11, -9)],
            Self::Cross => {
                const ARM: i32 = 3;
                &[
                    (-10, -ARM),
                    (-ARM, -ARM),
                    (-ARM, -10),
                    (ARM, -10),
                    (ARM, -ARM),
                    (10, -ARM),
                    (10, ARM),
                    (ARM, ARM),
                    (ARM, 10),
                    (-ARM, 10),
                    (-ARM, ARM),
                    (-10, ARM),
                ]
            }
        }
    }

    /// Draws it, filled.
    pub(crate) fn draw(self, canvas: &Canvas<'_>, (x, y): (i32, i32), ink: Ink) {
        let corners = self.corners().iter();
        let outline: Vec<_> =
            corners.map(|(dx, dy)| (x + tenths(dx * RADIUS), y + tenths(dy * RADIUS))).collect();
        put(canvas, &Polygon::new(outline, ink.filled()));
    }
}

/// A tenth, rounded away from zero.
const fn tenths(number: i32) -> i32 {
    (number + 5 * number.signum()) / 10
}
