//! Draws a card: 1200 by 630 pixels as PNG, by plotters on plain pixels.
//!
//! The two fonts come with the program: a server has none of its own to rely on. They are Inter,
//! cut down to the letters that a card can have; `server/fonts/README.md` says how.

use model::MemoryState;
use plotters::backend::BitMapBackend;
use plotters::drawing::IntoDrawingArea;
use plotters::element::{PathElement, Rectangle};
use plotters::prelude::{Color, DrawingArea, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, TextStyle, register_font};
use present::words::provenance::Provenance;

use super::content::{Body, Card, Face, Figure};

/// Width and height, as previews want them.
pub(crate) const SIZE: (u32, u32) = (1_200, 630);

/// The family's name for plotters.
const FAMILY: &str = "Inter";

static REGULAR: &[u8] = include_bytes!("../../../fonts/Inter-Regular.otf");
static BOLD: &[u8] = include_bytes!("../../../fonts/Inter-SemiBold.otf");

const GROUND: RGBColor = RGBColor(0x14, 0x18, 0x1d);
const PANEL: RGBColor = RGBColor(0x1d, 0x23, 0x2b);
const TEXT: RGBColor = RGBColor(0xf2, 0xf5, 0xf9);
const QUIET: RGBColor = RGBColor(0xa9, 0xb4, 0xc1);
const ACCENT: RGBColor = RGBColor(0x7d, 0xb4, 0xff);
const GOOD: RGBColor = RGBColor(0x6f, 0xd3, 0x9b);
const WARN: RGBColor = RGBColor(0xf2, 0xc1, 0x4e);
const BAD: RGBColor = RGBColor(0xff, 0x9a, 0x91);

/// The parts of a bar from its foot up, in the dark page's colours.
const PARTS: [RGBColor; 6] = [
    RGBColor(0x5b, 0xa6, 0xff),
    RGBColor(0x8a, 0xd4, 0xbe),
    RGBColor(0xef, 0x6a, 0x2c),
    RGBColor(0xa4, 0x8b, 0xc6),
    RGBColor(0xec, 0xba, 0x64),
    RGBColor(0x9a, 0xa4, 0xb4),
];

/// Left and right edge of what is drawn.
const EDGES: (i32, i32) = (64, 1_136);

/// Edges of the bars: left, top, right, bottom.
const BARS: [i32; 4] = [724, 220, 1_104, 486];

/// Bars, at most: with more stages neighbours share one, which shows the fullest.
const MAX_BARS: usize = 64;

type Area<'a> = DrawingArea<BitMapBackend<'a>, plotters::coord::Shift>;

/// Reason why there is no picture; it never depends on the design.
#[derive(Debug)]
pub(crate) struct DrawError(String);

impl std::fmt::Display for DrawError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl DrawError {
    fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Tells plotters the fonts. Everything of this process that measures text by plotters gets them.
pub(crate) fn prepare() {
    for (style, bytes) in [(FontStyle::Normal, REGULAR), (FontStyle::Bold, BOLD)] {
        if register_font(FAMILY, style, bytes).is_err() {
            tracing::error!("a font of the cards can't be read");
        }
    }
}

/// The card as a PNG file, which says in its text chunks where it comes from.
pub(crate) fn draw(card: &Card, from: &Provenance) -> Result<Vec<u8>, DrawError> {
    let mut pixels = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area();
        area.fill(&GROUND).map_err(DrawError::new)?;
        let mut brush = Brush { area: &area };
        brush.card(card)?;
        area.present().map_err(DrawError::new)?;
    }
    pack(&pixels, from)
}

fn pack(pixels: &[u8], from: &Provenance) -> Result<Vec<u8>, DrawError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    for (name, value) in from.entries() {
        encoder.add_text_chunk(name.to_owned(), value.to_owned()).map_err(DrawError::new)?;
    }
    let mut writer = encoder.write_header().map_err(DrawError::new)?;
    writer.write_image_data(pixels).map_err(DrawError::new)?;
    writer.finish().map_err(DrawError::new)?;
    Ok(file)
}

/// Size, weight and color of a text.
#[derive(Clone, Copy)]
struct Type {
    size: u32,
    bold: bool,
    color: RGBColor,
}

impl Type {
    fn font(self) -> FontDesc<'static> {
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        // Not by `style` of another font: that one keeps its letters.
        FontDesc::new(FontFamily::Name(FAMILY), f64::from(self.size), style)
    }
}

const fn plain(size: u32, color: RGBColor) -> Type {
    Type { size, bold: false, color }
}

const fn bold(size: u32, color: RGBColor) -> Type {
    Type { size, bold: true, color }
}

/// Draws on an area.
struct Brush<'a, 'b> {
    area: &'a Area<'b>,
}

impl Brush<'_, '_> {
    fn card(&mut self, card: &Card) -> Result<(), DrawError> {
        let (left, right) = EDGES;
        self.rectangle((0, 0), (SIZE.0 as i32, 10), ACCENT)?;
        self.text_within(&card.title, (left, 60), right - left, bold(54, TEXT))?;
        self.text(&card.changed, (left, 130), plain(28, QUIET))?;
        match &card.body {
            Body::Numbers(face) => self.face(face)?,
            Body::Broken(why) => {
                self.text("This design can't run", (left, 260), bold(48, BAD))?;
                self.paragraph(why, (left, 340), right - left, plain(32, TEXT))?;
            }
        }
        self.text("Moescape", (left, 566), bold(28, ACCENT))?;
        let width = self.width(&card.version, plain(24, QUIET))?;
        self.text(&card.version, (right - width, 569), plain(24, QUIET))
    }

    fn face(&mut self, face: &Face) -> Result<(), DrawError> {
        for (index, figure) in face.figures.iter().enumerate() {
            let (column, row) = (index as i32 % 2, index as i32 / 2);
            self.figure(figure, (EDGES.0 + 316 * column, 200 + 158 * row))?;
        }
        self.bars(face)?;
        let color = match face.state {
            MemoryState::Fits => GOOD,
            MemoryState::Tight => WARN,
            MemoryState::Unlikely | MemoryState::DoesNotFit => BAD,
        };
        // Two lines beside the bars' panel.
        const ROOM: i32 = 600;
        self.paragraph(&face.verdict, (EDGES.0, 496), ROOM, bold(24, color))
    }

    fn figure(&mut self, figure: &Figure, (left, top): (i32, i32)) -> Result<(), DrawError> {
        const ROOM: i32 = 296;
        self.text_within(figure.title, (left, top), ROOM, plain(24, QUIET))?;
        let number = bold(60, TEXT);
        self.text(&figure.number, (left, top + 34), number)?;
        let width = self.width(&figure.number, number)?;
        self.text_within(
            figure.unit,
            (left + width + 12, top + 59),
            ROOM - width - 12,
            plain(26, QUIET),
        )?;
        self.text_within(&figure.line, (left, top + 104), ROOM, plain(22, QUIET))
    }

    /// Memory of each stage under the limit.
    fn bars(&mut self, face: &Face) -> Result<(), DrawError> {
        let [left, top, right, bottom] = BARS;
        self.rectangle((left - 32, top - 52), (right + 32, bottom + 56), PANEL)?;
        let sum = |parts: &[f64; 6]| parts.iter().sum::<f64>();
        let share = face.stages.len().div_ceil(MAX_BARS).max(1);
        let bars = face
            .stages
            .chunks(share)
            .filter_map(|stages| stages.iter().max_by(|a, b| sum(a).total_cmp(&sum(b))));
        let bars: Vec<_> = bars.collect();
        let most = bars.iter().map(|parts| sum(parts)).fold(face.limit_gib, f64::max).max(0.1);
        let height = |gib: f64| (gib / most * f64::from(bottom - top)) as i32;
        let slot = f64::from(right - left) / bars.len().max(1) as f64;
        for (index, parts) in bars.iter().enumerate() {
            let from = left + (slot * index as f64) as i32;
            let to = left + (slot * (index + 1) as f64 - (slot * 0.2).max(1.0)) as i32;
            let mut foot = 0.0;
            for (part, color) in parts.iter().zip(PARTS) {
                let (low, high) = (bottom - height(foot), bottom - height(foot + part));
                self.rectangle((from, high), (to.max(from + 1), low), color)?;
                foot += part;
            }
        }
        let limit = bottom - height(face.limit_gib);
        let line =
            PathElement::new(vec![(left - 12, limit), (right + 12, limit)], BAD.stroke_width(3));
        self.area.draw(&line).map_err(DrawError::new)?;
        let label = format!("limit {}", face.limit);
        let width = self.width(&label, plain(22, BAD))?;
        self.text(&label, (right + 12 - width, top - 42), plain(22, BAD))?;
        let stages = present::format::counted(face.stages.len() as u64, "stage", "stages");
        let below = format!("Memory per device of {stages}");
        self.text_within(&below, (left, bottom + 16), right - left, plain(22, QUIET))
    }

    fn rectangle(
        &mut self,
        from: (i32, i32),
        to: (i32, i32),
        color: RGBColor,
    ) -> Result<(), DrawError> {
        self.area.draw(&Rectangle::new([from, to], color.filled())).map_err(DrawError::new)
    }

    /// Text whose upper left corner is there.
    fn text(&mut self, text: &str, at: (i32, i32), set: Type) -> Result<(), DrawError> {
        let anchor = Pos::new(HPos::Left, VPos::Top);
        let style = TextStyle::from(set.font()).color(&set.color).pos(anchor);
        self.area.draw_text(text, &style, at).map_err(DrawError::new)
    }

    /// Text in smaller letters where there is too little room, cut where that isn't enough.
    fn text_within(
        &mut self,
        text: &str,
        at: (i32, i32),
        room: i32,
        set: Type,
    ) -> Result<(), DrawError> {
        let least = set.size * 2 / 3;
        let mut set = set;
        while set.size > least && self.width(text, set)? > room {
            set.size -= 2;
        }
        let mut cut = text.to_owned();
        while self.width(&cut, set)? > room && cut.chars().count() > 2 {
            cut.pop();
            cut.pop();
            cut.push('…');
        }
        self.text(&cut, at, set)
    }

    /// Text on up to four lines.
    fn paragraph(
        &mut self,
        text: &str,
        (left, top): (i32, i32),
        room: i32,
        set: Type,
    ) -> Result<(), DrawError> {
        const MAX_LINES: usize = 4;
        let mut lines = vec![String::new()];
        for word in text.split_whitespace().take(200) {
            let Some(line) = lines.last_mut() else { break };
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if self.width(&longer, set)? <= room || line.is_empty() {
                *line = longer;
            } else {
                lines.push(word.to_owned());
            }
        }
        let high = set.size as i32 * 3 / 2;
        for (index, line) in lines.iter().take(MAX_LINES).enumerate() {
            self.text_within(line, (left, top + high * index as i32), room, set)?;
        }
        Ok(())
    }

    fn width(&self, text: &str, set: Type) -> Result<i32, DrawError> {
        let size = self.area.estimate_text_size(text, &TextStyle::from(set.font()));
        size.map(|(width, _)| width as i32).map_err(DrawError::new)
    }
}

#[cfg(test)]
mod tests {
    use model::design::link;

    use super::*;

    fn file(query: &str) -> png::Reader<std::io::Cursor<Vec<u8>>> {
        prepare();
        let from = Provenance::of_link(query, "2026-01-31");
        let file = draw(&Card::from_design(&link::decode(query).unwrap()), &from).unwrap();
        png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap()
    }

    fn pixels(query: &str) -> Vec<[u8; 3]> {
        let mut reader = file(query);
        let info = reader.info();
        assert_eq!((info.width, info.height, info.color_type), (1_200, 630, png::ColorType::Rgb));
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        bytes.chunks(3).map(|rgb| [rgb[0], rgb[1], rgb[2]]).collect()
    }

    fn count(pixels: &[[u8; 3]], color: RGBColor) -> usize {
        pixels.iter().filter(|rgb| **rgb == [color.0, color.1, color.2]).count()
    }

    #[test]
    fn a_card_shows_text_bars_and_the_limit() {
        let pixels = pixels("");
        assert_eq!(pixels.len(), 1_200 * 630);
        assert!(count(&pixels, TEXT) > 2_000, "text has letters, not boxes or nothing");
        assert!(PARTS.iter().take(4).all(|part| count(&pixels, *part) > 200));
        assert!(count(&pixels, BAD) > 1_000, "the line of the limit");
        let letters = |from: usize, to: usize| count(&pixels[1_200 * from..1_200 * to], TEXT);
        assert!(letters(55, 120) > 500 && letters(10, 50) == 0, "the title is where it belongs");
    }

    #[test]
    fn a_card_says_inside_where_it_comes_from() {
        let reader = file("mbs=1");
        let said = |name: &str| {
            let mut texts = reader.info().uncompressed_latin1_text.iter();
            texts.find(|text| text.keyword == name).map(|text| text.text.clone())
        };
        assert_eq!(said("design").as_deref(), Some("/?mbs=1"));
        assert_eq!(said("model_version").as_deref(), Some(model::MODEL_VERSION));
        assert_eq!(said("date").as_deref(), Some("2026-01-31"));
    }

    #[test]
    fn every_letter_of_a_card_is_in_the_fonts() {
        use plotters::style::FontStyle::{Bold, Normal};
        prepare();
        let presets = model::catalogue::preset::Preset::all().map(|preset| preset.title.to_owned());
        let texts = presets.chain(["0123456789.,%·×−…MGTKB/s tokens".to_owned()]);
        for text in texts {
            for style in [Normal, Bold] {
                for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
                    let font = FontDesc::new(FontFamily::Name(FAMILY), 40.0, style);
                    let mut marks = 0;
                    let drawn = font.draw(&letter.to_string(), (0, 0), |_, _, shade| {
                        marks += usize::from(shade > 0.5);
                        Ok::<_, std::io::Error>(())
                    });
                    assert!(matches!(drawn, Ok(Ok(()))), "{letter} of {text}");
                    assert!(marks > 0, "no mark for {letter} of {text}");
                }
            }
        }
    }

    #[test]
    fn any_design_can_be_drawn() {
        for query in ["pp=12", "preset=deepseek-v3-2k-h800", "mbs=64", "pp=1&vpp=1&ep=1&tp=1"] {
            assert!(count(&pixels(query), TEXT) > 1_000, "{query}");
        }
    }
}
