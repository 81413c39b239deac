//! The colours of a picture: read from the page's custom properties, or named by them.

use super::look::{Kind, Look};

/// A colour without transparency: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Color(pub(super) [u8; 3]);

impl Color {
    /// A colour as style sheets write it: `#1b2430` or `#fff`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().strip_prefix('#')?;
        let digit = |place: usize| u8::from_str_radix(digits.get(place..=place)?, 16).ok();
        match digits.len() {
            3 => Some(Self([digit(0)? * 17, digit(1)? * 17, digit(2)? * 17])),
            6 => {
                let channel = |place| Some(digit(place)? * 16 + digit(place + 1)?);
                Some(Self([channel(0)?, channel(2)?, channel(4)?]))
            }
            _ => None,
        }
    }

    /// As style sheets and canvases read it.
    pub(super) fn css(self) -> String {
        let Self([red, green, blue]) = self;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// This colour with a share of another.
    pub(super) fn mixed(self, other: Self, share: f64) -> Self {
        let channel = |index: usize| {
            let (own, its) = (f64::from(self.0[index]), f64::from(other.0[index]));
            (own + (its - own) * share + 0.5) as u8
        };
        Self([channel(0), channel(1), channel(2)])
    }
}

/// What is drawn in one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// What is behind everything.
    Surface,
    /// Text that is read first, and the frame of what is selected.
    Text,
    /// Labels, and the line under the pointer.
    Quiet,
    /// Letters on a block.
    OnMark,
    /// Lines that help the eye.
    Grid,
    /// The lines of a bubble.
    Axis,
    /// The limit of memory.
    Limit,
    /// Memory that is always taken.
    Fixed,
    /// Memory of activations.
    Activations,
}

impl Ink {
    const ALL: [Self; 9] = [
        Self::Surface,
        Self::Text,
        Self::Quiet,
        Self::OnMark,
        Self::Grid,
        Self::Axis,
        Self::Limit,
        Self::Fixed,
        Self::Activations,
    ];

    const fn property(self) -> &'static str {
        match self {
            Self::Surface => "--chart-surface",
            Self::Text => "--chart-text",
            Self::Quiet => "--chart-quiet",
            Self::OnMark => "--chart-on-mark",
            Self::Grid => "--chart-grid",
            Self::Axis => "--chart-axis",
            Self::Limit => "--chart-alarm",
            Self::Fixed => "--chart-slate",
            Self::Activations => "--chart-violet",
        }
    }
}

/// The colours of a picture that is written, as style sheets write them.
pub(super) trait Inks {
    fn ink_css(&self, ink: Ink) -> String;
    /// The ground of a block.
    fn look_css(&self, look: Look) -> String;
    /// The lines of its pattern.
    fn hatch_css(&self, look: Look) -> String;
}

/// The colours of the page that a picture stands in, whichever theme it has.
pub(super) struct OfPage;

impl OfPage {
    /// As [`Color::mixed`] with the colour of text.
    fn mixed(color: &str, share: f64) -> String {
        let (text, percent) = (Ink::Text.property(), share * 100.0);
        format!("color-mix(in srgb, {color}, var({text}) {percent:.0}%)")
    }
}

impl Inks for OfPage {
    fn ink_css(&self, ink: Ink) -> String {
        format!("var({})", ink.property())
    }

    fn look_css(&self, look: Look) -> String {
        Self::mixed(&format!("var({})", look.kind.property()), look.depth())
    }

    fn hatch_css(&self, look: Look) -> String {
        Self::mixed(&self.look_css(look), HATCH)
    }
}

/// How near the lines of a pattern are to the colour of text.
const HATCH: f64 = 0.45;

/// The colours of a theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Palette {
    inks: [Color; Ink::ALL.len()],
    kinds: [Color; Kind::COUNT],
}

impl Palette {
    /// Reads it; a property that is missing or isn't a plain colour is grey.
    pub(super) fn read(property: &dyn Fn(&str) -> Option<String>) -> Self {
        let color =
            |name| property(name).and_then(|text| Color::parse(&text)).unwrap_or(Color([0x80; 3]));
        Self {
            inks: Ink::ALL.map(|ink| color(ink.property())),
            kinds: Kind::ALL.map(|kind| color(kind.property())),
        }
    }

    pub(super) const fn ink(&self, ink: Ink) -> Color {
        self.inks[ink as usize]
    }

    /// The ground of a block.
    pub(super) fn look(&self, look: Look) -> Color {
        self.kinds[look.kind as usize].mixed(self.ink(Ink::Text), look.depth())
    }

    /// The lines of its pattern.
    pub(super) fn hatch(&self, look: Look) -> Color {
        self.look(look).mixed(self.ink(Ink::Text), HATCH)
    }
}

impl Inks for Palette {
    fn ink_css(&self, ink: Ink) -> String {
        self.ink(ink).css()
    }

    fn look_css(&self, look: Look) -> String {
        self.look(look).css()
    }

    fn hatch_css(&self, look: Look) -> String {
        self.hatch(look).css()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The palette of a theme, as the style sheet has it.
    pub(in super::super) fn palette(dark: bool) -> Palette {
        let css = include_str!("../../../style/charts.css");
        let head = if dark { "[data-theme=\"dark\"] {" } else { ":root {" };
        let block = css.split('}').find(|block| block.contains(head)).unwrap_or_default();
        Palette::read(&|name| {
            let (_, after) = block.split_once(&format!("{name}:"))?;
            Some(after.split(';').next()?.to_owned())
        })
    }

    /// Contrast as WCAG 2.2 defines it.
    fn contrast(one: Color, other: Color) -> f64 {
        let luminance = |Color(channels): Color| -> f64 {
            let linear = channels.map(|channel| {
                let share = f64::from(channel) / 255.0;
                if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn colours_are_read_as_style_sheets_write_them() {
        assert_eq!(Color::parse(" #1b2430"), Some(Color([0x1b, 0x24, 0x30])));
        assert_eq!(Color::parse("#fff"), Some(Color([255; 3])));
        for wrong in ["", "red", "#12", "#ééé", "#12345g"] {
            assert_eq!(Color::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Color([0x1b, 0x24, 0x30]).css(), "#1b2430");
    }

    #[test]
    fn every_block_stands_out_from_the_surface_and_carries_its_letters_in_both_themes() {
        for dark in [false, true] {
            let palette = palette(dark);
            for look in Look::all() {
                for color in [palette.look(look), palette.hatch(look)] {
                    let surface = contrast(color, palette.ink(Ink::Surface));
                    assert!(surface >= 3.0, "{look:?} {color:?}, dark {dark}: {surface}");
                    let letters = contrast(color, palette.ink(Ink::OnMark));
                    assert!(letters >= 4.5, "{look:?} {color:?}, dark {dark}: {letters}");
                }
            }
        }
    }

    #[test]
    fn lines_stand_out_from_the_surface_in_both_themes() {
        for dark in [false, true] {
            let palette = palette(dark);
            let lines = [Ink::Axis, Ink::Limit, Ink::Fixed, Ink::Activations, Ink::Text];
            for ink in lines {
                let surface = contrast(palette.ink(ink), palette.ink(Ink::Surface));
                assert!(surface >= 3.0, "{ink:?}, dark {dark}: {surface}");
            }
            let quiet = contrast(palette.ink(Ink::Quiet), palette.ink(Ink::Surface));
            assert!(quiet >= 4.5, "text, dark {dark}: {quiet}");
        }
    }
}
