//! SVG: its elements, and a picture as a file that stands for itself, with its colours and its
//! title inside, or as a part of a page, in the page's colours.

use std::fmt::{Display, Write as _};

use super::palette::{Hue, Palette, Tile};
use super::surface::{Area, Face, Paint, Side, Stroke, Surface, Words};
use super::text::TEXT_SIZE;
use crate::html::{escape_into, escaped};

/// The widths of a dash and of the gap behind it, in pixels.
pub const DASHES: [f64; 2] = [5.0, 3.0];

/// Appends a rectangle: left, top, width and height. `look` is attributes that colour it.
pub(crate) fn rect<N: Display>(svg: &mut String, [x, y, width, height]: [N; 4], look: &str) {
    // Writing to a string can't fail.
    let _ = write!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {look}/>"
    );
}

/// Appends a circle.
pub(crate) fn circle<N: Display>(svg: &mut String, (x, y): (N, N), radius: N, look: &str) {
    let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {look}/>");
}

/// Appends a line from point to point, or a polygon: `tag` says which.
pub(crate) fn points<N: Display>(
    svg: &mut String,
    tag: &str,
    points: impl IntoIterator<Item = (N, N)>,
    look: &str,
) {
    let _ = write!(svg, "<{tag} points=\"");
    for (place, (x, y)) in points.into_iter().enumerate() {
        let gap = if place == 0 { "" } else { " " };
        let _ = write!(svg, "{gap}{x:.1},{y:.1}");
    }
    let _ = write!(svg, "\" {look}/>");
}

/// Appends words of the picture's size; `y` is their baseline.
pub(crate) fn text<N: Display>(
    svg: &mut String,
    words: &str,
    (x, y): (N, N),
    side: Side,
    look: &str,
) {
    let anchor = match side {
        Side::Left => "",
        Side::Center => "text-anchor=\"middle\" ",
        Side::Right => "text-anchor=\"end\" ",
    };
    let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {anchor}{look}>");
    escape_into(svg, words);
    svg.push_str("</text>");
}

/// A picture while it is drawn.
pub struct SvgPicture<'p> {
    palette: &'p Palette,
    /// Patterns and clips.
    definitions: String,
    body: String,
    /// The tiles among the patterns, by their numbers.
    tiles: Vec<Tile>,
    clips: usize,
    opacity: f64,
}

impl<'p> SvgPicture<'p> {
    /// A picture of nothing.
    pub const fn new(palette: &'p Palette) -> Self {
        Self {
            palette,
            definitions: String::new(),
            body: String::new(),
            tiles: Vec::new(),
            clips: 0,
            opacity: 1.0,
        }
    }

    /// The picture on a ground of its own. `title` names it, `description` says what it shows;
    /// `metadata` is an element.
    pub fn finish(
        mut self,
        (width, height): (f64, f64),
        title: &str,
        description: &str,
        metadata: &str,
    ) -> String {
        self.opacity = 1.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"title about\" \
             font-family=\"system-ui, sans-serif\" font-size=\"{TEXT_SIZE}\">\n\
             <title id=\"title\">{}</title>\n<desc id=\"about\">{}</desc>\n{metadata}\
             <defs>{}</defs>\n<path {} \
             d=\"M0 0h{width:.0}v{height:.0}h-{width:.0}z\"/>\n{}</svg>\n",
            escaped(title),
            escaped(description),
            self.definitions,
            self.fill_of(Hue::Surface),
            self.body,
        )
    }

    /// The number of a tile's pattern.
    fn pattern(&mut self, tile: Tile) -> usize {
        if let Some(place) = self.tiles.iter().position(|known| *known == tile) {
            return place;
        }
        let ([ground, lines], size) = (self.palette.tile(&tile), Tile::SIZE);
        let place = self.tiles.len();
        let _ = write!(
            self.definitions,
            "<pattern id=\"tile{place}\" width=\"{size}\" height=\"{size}\" \
             patternUnits=\"userSpaceOnUse\">\
             <path fill=\"{}\" d=\"M0 0h{size}v{size}h-{size}z\"/><path stroke=\"{}\" d=\"",
            escaped(&ground),
            escaped(&lines),
        );
        for [x0, y0, x1, y1] in tile.hatch.lines() {
            let _ = write!(self.definitions, "M{x0} {y0}L{x1} {y1}");
        }
        self.definitions.push_str("\"/></pattern>");
        self.tiles.push(tile);
        place
    }

    /// Attributes that colour a filled mark.
    fn fill_of(&self, hue: Hue) -> String {
        format!("fill=\"{}\"{}", escaped(self.palette.color(hue)), self.see_through())
    }

    /// Attributes that colour a line.
    fn stroke_of(&self, Stroke { hue, width, is_dashed }: Stroke) -> String {
        let [dash, gap] = DASHES;
        let dashes =
            if is_dashed { format!(" stroke-dasharray=\"{dash} {gap}\"") } else { String::new() };
        format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dashes}{}",
            escaped(self.palette.color(hue)),
            self.see_through(),
        )
    }

    fn see_through(&self) -> String {
        if self.opacity < 1.0 { format!(" opacity=\"{:.2}\"", self.opacity) } else { String::new() }
    }

    /// Marks of one look as one path.
    fn path<M>(&mut self, look: &str, marks: &[M], draw: impl Fn(&mut String, &M)) {
        let _ = write!(self.body, "<path {look} d=\"");
        marks.iter().for_each(|mark| draw(&mut self.body, mark));
        self.body.push_str("\"/>\n");
    }
}

impl Surface for SvgPicture<'_> {
    fn fill(&mut self, areas: &[Area], paint: Paint) {
        let look = match paint {
            Paint::Plain(hue) => self.fill_of(hue),
            Paint::Tiled(tile) => {
                format!("fill=\"url(#tile{})\"{}", self.pattern(tile), self.see_through())
            }
        };
        self.path(&look, areas, |body, Area { left, top, width, height }| {
            let _ = write!(body, "M{left:.1} {top:.1}h{width:.1}v{height:.1}h-{width:.1}z");
        });
    }

    fn squares(&mut self, size: f64, across: usize, opacities: &[u8], hue: Hue) {
        let mut alike = vec![Vec::new(); 256];
        for (place, opacity) in opacities.iter().enumerate().filter(|(_, opacity)| **opacity > 0) {
            let (left, top) = ((place % across) as f64 * size, (place / across) as f64 * size);
            alike[usize::from(*opacity)].push(Area::new(left, top, size, size));
        }
        let before = self.opacity;
        for (opacity, areas) in alike.iter().enumerate().filter(|(_, areas)| !areas.is_empty()) {
            self.opacity = opacity as f64 / 255.0;
            self.fill(areas, Paint::Plain(hue));
        }
        self.opacity = before;
    }

    fn frame(&mut self, area: Area, hue: Hue, width: f64) {
        let Area { left, top, width: w, height: h } = area.inset(width / 2.0);
        let look = self.stroke_of(Stroke::new(hue, width));
        rect(&mut self.body, [left, top, w.max(0.0), h.max(0.0)], &look);
    }

    fn line(&mut self, along: &[(f64, f64)], stroke: Stroke) {
        let look = self.stroke_of(stroke);
        points(&mut self.body, "polyline", along.iter().copied(), &look);
    }

    fn lines(&mut self, all: &[[(f64, f64); 2]], stroke: Stroke) {
        let look = self.stroke_of(stroke);
        self.path(&look, all, |body, [from, to]| {
            let _ = write!(body, "M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1);
        });
    }

    fn shape(&mut self, around: &[(f64, f64)], hue: Hue) {
        let look = self.fill_of(hue);
        points(&mut self.body, "polygon", around.iter().copied(), &look);
    }

    fn dots(&mut self, centers: &[(f64, f64)], radius: f64, hue: Hue) {
        let (look, wide) = (self.fill_of(hue), 2.0 * radius);
        let arc = format!("a{radius:.1} {radius:.1} 0 1 0 ");
        self.path(&look, centers, |body, (x, y)| {
            let _ = write!(body, "M{:.1} {y:.1}{arc}{wide:.1} 0{arc}-{wide:.1} 0z", x - radius);
        });
    }

    fn ring(&mut self, center: (f64, f64), radius: f64, hue: Hue) {
        let look = self.stroke_of(Stroke::new(hue, 2.5));
        circle(&mut self.body, center, radius, &look);
    }

    fn words(&mut self, Words { text: words, x, y, side, hue, face }: Words<'_>) {
        let mut look = self.fill_of(hue);
        // Half the height of a capital below the middle.
        let half = 0.36 * f64::from(TEXT_SIZE);
        let at = match face {
            Face::Upward => {
                let _ = write!(look, " transform=\"translate({x:.1} {y:.1}) rotate(-90)\"");
                (0.0, half)
            }
            Face::Plain | Face::Bold => (x, y + half),
        };
        if face == Face::Bold {
            look.push_str(" font-weight=\"600\"");
        }
        text(&mut self.body, words, at, side, &look);
    }

    fn opacity(&mut self, opacity: f64) {
        self.opacity = opacity;
    }

    fn clip(&mut self, Area { left, top, width, height }: Area) {
        self.clips += 1;
        let _ = write!(self.definitions, "<clipPath id=\"clip{}\">", self.clips);
        rect(&mut self.definitions, [left, top, width, height], "");
        self.definitions.push_str("</clipPath>");
        let _ = writeln!(self.body, "<g clip-path=\"url(#clip{})\">", self.clips);
    }

    fn unclip(&mut self) {
        self.body.push_str("</g>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::tests::palette;
    use super::*;

    #[test]
    fn a_picture_is_well_formed_and_says_what_it_is() {
        let palette = palette(false);
        let mut picture = SvgPicture::new(&palette);
        picture.opacity(0.3);
        picture.dots(&[(1.0, 2.0), (3.0, 4.0)], 2.0, Hue::Blue);
        picture.squares(3.0, 2, &[0, 7, 7, 9], Hue::Blue);
        picture.clip(Area::new(0.0, 0.0, 10.0, 10.0));
        picture.line(&[(0.0, 0.0), (5.0, 5.0)], Stroke::dashed(Hue::Text, 1.0));
        picture.unclip();
        for left in [0.0, 5.0] {
            picture.fill(&[Area::new(left, 0.0, 5.0, 5.0)], Paint::Tiled(Tile::EMPTY));
        }
        let words = Words::new("<A & B>", (5.0, 5.0), Side::Center, Hue::Text);
        picture.words(Words { face: Face::Upward, ..words });
        let file = picture.finish((640.0, 480.0), "A & B", "What \"it\" is", "<metadata/>");
        let document = roxmltree::Document::parse(&file).expect("well-formed");
        let of = |tag: &'static str| {
            document.descendants().filter(move |node| node.has_tag_name(tag)).collect::<Vec<_>>()
        };
        assert_eq!(of("text")[0].text(), Some("<A & B>"));
        assert_eq!(of("title")[0].text(), Some("A & B"));
        assert_eq!(of("desc")[0].text(), Some("What \"it\" is"));
        assert_eq!((of("pattern").len(), of("clipPath").len()), (1, 1));
        assert_eq!(of("path").iter().filter(|it| it.attribute("opacity").is_some()).count(), 5);
        assert!(!file.contains("NaN") && !file.contains("var("), "{file}");
    }
}
