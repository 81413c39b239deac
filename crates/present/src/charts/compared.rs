//! Several designs in one chart: each has a letter, an ink and a filling of its own.

mod axes;
mod memory;
mod step;

use model::training::estimate::Estimate;

use crate::draw::canvas::{Fill, Mark};
use crate::draw::ink::Ink;
use crate::draw::legend::Key;
use crate::draw::text::text_width;

pub use axes::{compared_axes, compared_axes_table};
pub use memory::{compared_memory, compared_memory_table};
pub use step::{compared_step, compared_step_table};

/// A design in a chart of several.
#[derive(Clone, Debug)]
pub struct Compared<'e> {
    /// Its place among the designs that are compared, four at most: A, B, C, D.
    pub place: usize,
    /// Its name.
    pub name: String,
    /// Its numbers.
    pub estimate: &'e Estimate,
}

/// Letter, ink and filling of each place.
const LOOKS: [(&str, Ink, Fill); 4] = [
    ("A", Ink::DesignA, Fill::Solid),
    ("B", Ink::DesignB, Fill::Hatched),
    ("C", Ink::DesignC, Fill::Hollow),
    ("D", Ink::DesignD, Fill::Struck),
];

/// The pinned design that a chart of another one shows as a ghost, in outlines.
pub type Ghost<'e> = Option<&'e Compared<'e>>;

impl Compared<'_> {
    /// Its entry in the legend of another design's chart.
    pub(super) fn key(&self) -> Key {
        Key::bar(self.look().1, Fill::Outline, self.title())
    }

    /// The outline of what it has where another design has a mark.
    pub(super) fn outline(&self, corners: [(i32, i32); 2]) -> Mark {
        Mark { corners, ink: self.look().1, fill: Fill::Outline }
    }

    /// Its value, as a further line of a mark's title: `A: 61.2 GiB`.
    pub(super) fn beside(&self, value: &str) -> String {
        format!("\n{}: {value}", self.letter())
    }

    fn look(&self) -> (&'static str, Ink, Fill) {
        LOOKS.get(self.place).copied().unwrap_or(LOOKS[0])
    }

    /// Letter of the design in the chart.
    fn letter(&self) -> &'static str {
        self.look().0
    }

    /// Its letter and its name, as long as there is room.
    fn title(&self) -> String {
        format!("{}: {}", self.letter(), self.name)
    }
}

/// The designs in a legend, with bars of these fillings.
fn keys(designs: &[Compared<'_>], width: i32, fill: impl Fn(Fill) -> Fill) -> Vec<Key> {
    let key = |design: &Compared<'_>| {
        let (letter, ink, own) = design.look();
        let fits = |text: &String| text_width(text, crate::draw::text::TEXT_SIZE) + 32 <= width;
        let text = Some(design.title()).filter(fits).unwrap_or_else(|| letter.to_owned());
        Key::bar(ink, fill(own), text)
    };
    designs.iter().map(key).collect()
}
