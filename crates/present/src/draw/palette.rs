//! The colours of pictures: read from the page's custom properties, or named by them.

/// A colour without transparency: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color([u8; 3]);

impl Color {
    /// A colour as style sheets write it: `#1b2430` or `#fff`.
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
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
    fn css(self) -> String {
        let Self([red, green, blue]) = self;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// This colour with a share of another.
    fn mixed(self, other: Self, share: f64) -> Self {
        let channel = |index: usize| {
            let (own, its) = (f64::from(self.0[index]), f64::from(other.0[index]));
            (own + (its - own) * share + 0.5) as u8
        };
        Self([channel(0), channel(1), channel(2)])
    }
}

macro_rules! hues {
    ($($(#[$doc:meta])* $Name:ident = $property:literal;)+) => {
        /// A colour of the style sheet. A surface draws in these; what a chart writes for a page
        /// has an `Ink`, whose colour the style sheet chooses among them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Hue { $($(#[$doc])* $Name,)+ }

        /// The custom property of each, by index.
        const PROPERTIES: &[&str] = &[$($property,)+];
    };
}

hues! {
    /// Background of everything.
    Surface = "--chart-surface";
    /// Text that is read first, and the frame of what is selected.
    Text = "--chart-text";
    /// Labels, and lines under the pointer.
    Quiet = "--chart-quiet";
    /// Letters on a mark.
    OnMark = "--chart-on-mark";
    /// Lines that help the eye.
    Grid = "--chart-grid";
    /// Lines at the foot of marks, and outlines of empty places.
    Axis = "--chart-axis";
    /// A limit.
    Alarm = "--chart-alarm";
    /// Element under the pointer.
    Accent = "--accent";
    /// Blue marks.
    Blue = "--chart-blue";
    /// Teal marks.
    Teal = "--chart-teal";
    /// Rust-coloured marks.
    Rust = "--chart-rust";
    /// Violet marks.
    Violet = "--chart-violet";
    /// Golden marks.
    Gold = "--chart-gold";
    /// Slate marks.
    Slate = "--chart-slate";
    /// Grey marks.
    Grey = "--chart-grey";
}

/// Weight of the text colour in the lines of a tile; the rest is the ground.
const HATCH: f64 = 0.45;

/// The colours of a picture, as style sheets write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette(Vec<String>);

impl Palette {
    /// Reads the colours of a theme, each `light-dark(#1b2430, #e6ebf1)` or alone; a property that
    /// is missing is grey.
    pub fn read(is_dark: bool, property: &dyn Fn(&str) -> Option<String>) -> Self {
        let color = |name: &&str| {
            let text = property(name).unwrap_or_default();
            let both = text.trim().trim_start_matches("light-dark(").trim_end_matches(')');
            let (light, dark) = both.split_once(',').unwrap_or((both, both));
            match if is_dark { dark } else { light }.trim() {
                "" => Color([0x80; 3]).css(),
                color => color.to_owned(),
            }
        };
        Self(PROPERTIES.iter().map(color).collect())
    }

    /// The colours of the page around a picture, whichever theme it has.
    pub fn of_page() -> Self {
        Self(PROPERTIES.iter().map(|name| format!("var({name})")).collect())
    }

    /// A colour.
    pub fn color(&self, hue: Hue) -> &str {
        &self.0[hue as usize]
    }

    /// The ground of a tile and its lines.
    pub fn tile(&self, tile: &Tile) -> [String; 2] {
        let ground = self.mixed(self.color(tile.ground), f64::from(tile.shade) / 100.0);
        let lines = if tile.ground == Hue::Surface {
            self.color(Hue::Axis).to_owned()
        } else {
            self.mixed(&ground, HATCH)
        };
        [ground, lines]
    }

    /// A colour with a share of that of text. The page mixes those that only it knows.
    fn mixed(&self, color: &str, share: f64) -> String {
        let text = self.color(Hue::Text);
        match (Color::parse(color), Color::parse(text)) {
            (Some(color), Some(text)) => color.mixed(text, share).css(),
            _ => format!("color-mix(in srgb, {color}, {text} {:.0}%)", share * 100.0),
        }
    }
}

/// Lines or dots over a colour, in a tile that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hatch {
    /// None.
    None,
    /// Diagonals that rise to the right.
    Rising,
    /// Diagonals that fall to the right.
    Falling,
    /// Level lines.
    Level,
    /// Upright lines.
    Upright,
    /// Level and upright lines.
    Crossed,
    /// Dots.
    Dots,
}

impl Hatch {
    /// The lines in a tile, from point to point; those at its edges continue in the next tile.
    pub const fn lines(self) -> &'static [[f64; 4]] {
        match self {
            Self::None => &[],
            Self::Rising => &[[-1.0, 1.0, 1.0, -1.0], [-1.0, 7.0, 7.0, -1.0], [5.0, 7.0, 7.0, 5.0]],
            Self::Falling => {
                &[[-1.0, 5.0, 1.0, 7.0], [-1.0, -1.0, 7.0, 7.0], [5.0, -1.0, 7.0, 1.0]]
            }
            Self::Level => &[[0.0, 1.5, 6.0, 1.5], [0.0, 4.5, 6.0, 4.5]],
            Self::Upright => &[[1.5, 0.0, 1.5, 6.0], [4.5, 0.0, 4.5, 6.0]],
            Self::Crossed => &[[0.0, 1.5, 6.0, 1.5], [1.5, 0.0, 1.5, 6.0]],
            Self::Dots => &[[1.0, 1.5, 2.5, 1.5], [4.0, 4.5, 5.5, 4.5]],
        }
    }
}

/// A pattern over a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Colour below the lines.
    pub ground: Hue,
    /// Share of the text colour in the ground, in percent.
    pub shade: u8,
    /// Lines or dots over it.
    pub hatch: Hatch,
}

impl Tile {
    /// The size of a tile, in pixels.
    pub const SIZE: f64 = 6.0;

    /// Tile of an empty place: a bubble, or a cell without a design.
    pub const EMPTY: Self = Self { ground: Hue::Surface, shade: 0, hatch: Hatch::Rising };
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The palette of a theme, as the style sheet has it.
    pub(crate) fn palette(dark: bool) -> Palette {
        let css = include_str!("../../../../style/charts.css");
        Palette::read(dark, &|name| {
            let (_, after) = css.split_once(&format!("{name}:"))?;
            Some(after.split(';').next()?.to_owned())
        })
    }

    /// Contrast as WCAG 2.2 defines it; none of what is no plain colour.
    pub(crate) fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |color: &str| -> f64 {
            let Some(Color(channels)) = Color::parse(color) else { return f64::NAN };
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
        assert_eq!(Color::parse("#1b2430"), Some(Color([0x1b, 0x24, 0x30])));
        assert_eq!(Color::parse("#fff"), Some(Color([255; 3])));
        for wrong in ["", "red", "#12", "#ééé", "#12345g"] {
            assert_eq!(Color::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Color([0x1b, 0x24, 0x30]).css(), "#1b2430");
    }

    #[test]
    fn a_colour_is_the_one_of_its_theme_and_one_that_is_missing_is_grey() {
        for (text, [light, dark]) in [
            (" light-dark(#ffffff, #14181d) ", ["#ffffff", "#14181d"]),
            ("#123456", ["#123456"; 2]),
            ("", ["#808080"; 2]),
        ] {
            for (is_dark, color) in [(false, light), (true, dark)] {
                let palette = Palette::read(is_dark, &|_| Some(text.to_owned()));
                assert_eq!(palette.color(Hue::Surface), color, "{text}");
            }
        }
    }

    #[test]
    fn the_page_mixes_the_colours_that_only_it_knows() {
        let tile = Tile { ground: Hue::Blue, shade: 42, hatch: Hatch::None };
        let [ground, _] = Palette::of_page().tile(&tile);
        assert_eq!(ground, "color-mix(in srgb, var(--chart-blue), var(--chart-text) 42%)");
        let [ground, _] = palette(false).tile(&tile);
        assert_eq!(ground, "#243f6c");
    }

    #[test]
    fn lines_stand_out_from_the_surface_in_both_themes() {
        for dark in [false, true] {
            let palette = palette(dark);
            let surface = |hue| contrast(palette.color(hue), palette.color(Hue::Surface));
            for hue in [Hue::Axis, Hue::Alarm, Hue::Slate, Hue::Violet, Hue::Text] {
                assert!(surface(hue) >= 3.0, "{hue:?}, dark {dark}: {}", surface(hue));
            }
            assert!(surface(Hue::Quiet) >= 4.5, "text, dark {dark}");
        }
    }
}
