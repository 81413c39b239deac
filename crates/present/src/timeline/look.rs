//! What a block looks like: a colour and a pattern for what it is, a shade for its chunk.
//!
//! A pattern and a letter repeat what the colour says. Colours are those of the page's charts; a
//! later chunk is nearer to the colour of text, which keeps the contrast with the surface and with
//! the letters on it.

use model::schedule::{Task, TaskKind};

use crate::choices::choices;
use crate::draw::palette::{Hatch, Hue, Tile};

choices! {
    /// Kind of a block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// Its class in the legend.
        class: &'static str,
        /// Its colour and its pattern.
        pattern: (Hue, Hatch);
        /// A forward pass.
        Forward = "forward", (Hue::Blue, Hatch::None);
        /// A whole backward pass.
        Backward = "backward", (Hue::Teal, Hatch::Rising);
        /// A backward pass for the gradients of inputs.
        InputGrad = "input-grad", (Hue::Gold, Hatch::Falling);
        /// A backward pass for the gradients of weights.
        WeightGrad = "weight-grad", (Hue::Violet, Hatch::Level);
        /// Forward work done again.
        Recompute = "recompute", (Hue::Rust, Hatch::Dots);
        /// A copy to or from host memory.
        Swap = "swap", (Hue::Slate, Hatch::Upright);
        /// Several blocks that are too short to be seen one by one.
        Mixed = "mixed", (Hue::Grey, Hatch::Crossed);
    }
}

/// A kind in the shade of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Colour and pattern.
    pub kind: Kind,
    /// Shade of its chunk.
    pub shade: u8,
}

impl Look {
    /// Number of shades; further chunks start over.
    pub const SHADES: usize = 4;

    /// Number of looks.
    pub const COUNT: usize = Kind::ALL.len() * Self::SHADES;

    /// Every look, by [`Self::index`].
    pub fn all() -> impl Iterator<Item = Self> {
        let shades = 0..Self::SHADES as u8;
        Kind::ALL
            .into_iter()
            .flat_map(move |kind| shades.clone().map(move |shade| Self { kind, shade }))
    }

    /// A kind in the shade of that chunk.
    pub const fn new(kind: Kind, chunk: u16) -> Self {
        Self { kind, shade: (chunk as usize % Self::SHADES) as u8 }
    }

    /// Its place among all looks.
    pub const fn index(self) -> usize {
        self.kind as usize * Self::SHADES + self.shade as usize
    }

    /// Its colour, nearer to that of text for a later chunk, and its pattern.
    pub const fn tile(self) -> Tile {
        let shade = [0, 42, 21, 62][self.shade as usize % Self::SHADES];
        let (ground, hatch) = self.kind.pattern();
        Tile { ground, shade, hatch }
    }

    /// Common look of several blocks in one place.
    pub fn and(self, other: Self) -> Self {
        match (self.kind == other.kind, self.shade == other.shade) {
            (true, true) => self,
            (true, false) => Self { shade: 0, ..self },
            (false, _) => Self { kind: Kind::Mixed, shade: 0 },
        }
    }
}

/// The looks of a block: one, or one for each half where two run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// One look for all of it.
    Whole(Look),
    /// The upper half and the lower one.
    Halves(Look, Look),
}

impl Looks {
    /// The looks of a task.
    pub fn of(task: &Task) -> Self {
        let look = |kind| Look::new(kind, task.chunk);
        match task.kind {
            TaskKind::Forward => Self::Whole(look(Kind::Forward)),
            TaskKind::Backward => Self::Whole(look(Kind::Backward)),
            TaskKind::InputGrad => Self::Whole(look(Kind::InputGrad)),
            TaskKind::WeightGrad => Self::Whole(look(Kind::WeightGrad)),
            TaskKind::Pair => {
                Self::Halves(look(Kind::Forward), Look::new(Kind::Backward, task.backward_chunk))
            }
        }
    }

    /// Common looks of several blocks in one place.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => Self::Whole(one.and(other)),
            (Self::Halves(a, b), Self::Halves(c, d)) => Self::Halves(a.and(c), b.and(d)),
            (Self::Whole(_), Self::Halves(..)) | (Self::Halves(..), Self::Whole(_)) => {
                Self::Whole(Look::new(Kind::Mixed, 0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::palette::tests::{contrast, palette};

    #[test]
    fn every_block_stands_out_from_the_surface_and_carries_its_letters_in_both_themes() {
        for dark in [false, true] {
            let palette = palette(dark);
            for look in Look::all() {
                for color in palette.tile(&look.tile()) {
                    let surface = contrast(&color, palette.color(Hue::Surface));
                    assert!(surface >= 3.0, "{look:?} {color:?}, dark {dark}: {surface}");
                    let letters = contrast(&color, palette.color(Hue::OnMark));
                    assert!(letters >= 4.5, "{look:?} {color:?}, dark {dark}: {letters}");
                }
            }
        }
    }

    #[test]
    fn every_look_has_an_index_of_its_own() {
        let indices: Vec<_> = Look::all().map(Look::index).collect();
        assert_eq!(indices, (0..Look::COUNT).collect::<Vec<_>>());
    }

    #[test]
    fn blocks_that_share_a_kind_keep_it_when_they_merge() {
        let [first, second] = [0, 1].map(|chunk| Look::new(Kind::Forward, chunk));
        assert_eq!(first.and(second), first);
        assert_eq!(second.and(second), second);
        assert_eq!(first.and(Look::new(Kind::Backward, 0)).kind, Kind::Mixed);
    }

    #[test]
    fn kinds_differ_in_pattern_and_not_by_colour_alone() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            for other in &Kind::ALL[index + 1..] {
                let ((hue, hatch), (its_hue, its_hatch)) = (kind.pattern(), other.pattern());
                assert!(hue != its_hue && hatch != its_hatch, "{kind:?} and {other:?}");
            }
        }
    }
}
