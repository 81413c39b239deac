//! A picture as SVG: a file that stands for itself, its colours and its title inside, or a part of
//! a page, in the page's colours.

use std::fmt::Write as _;

use super::look::{Hatch, Look};
use super::palette::{Ink, Inks};
use super::surface::{Area, Side, Surface, TEXT_SIZE, Words};
use crate::present::html::escape_into;

/// An SVG file while it is drawn.
pub(super) struct Svg<'p> {
    palette: &'p dyn Inks,
    /// Patterns and clips.
    definitions: String,
    body: String,
    used: [bool; Look::COUNT],
    clips: usize,
}

impl<'p> Svg<'p> {
    pub(super) fn new(palette: &'p dyn Inks) -> Self {
        let mut svg = Self {
            palette,
            definitions: String::new(),
            body: String::new(),
            used: [false; Look::COUNT],
            clips: 0,
        };
        let (ground, lines) = (palette.ink_css(Ink::Surface), palette.ink_css(Ink::Axis));
        svg.pattern("bubble", &ground, &lines, Hatch::Rising, 1.0);
        svg
    }

    /// The file, on a ground of its own. `title` names it, `description` says what it shows;
    /// `metadata` is an element.
    pub(super) fn finish(
        self,
        (width, height): (f64, f64),
        title: &str,
        description: &str,
        metadata: &str,
    ) -> String {
        let mut file = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"title about\" \
             font-family=\"system-ui, sans-serif\" font-size=\"{TEXT_SIZE}\">\n<title id=\"title\">"
        );
        escape_into(&mut file, title);
        file.push_str("</title>\n<desc id=\"about\">");
        escape_into(&mut file, description);
        // Writing to a string can't fail.
        let _ = write!(
            file,
            "</desc>\n{metadata}<defs>{}</defs>\n\
             <path fill=\"{}\" d=\"M0 0h{width:.0}v{height:.0}h-{width:.0}z\"/>\n{}</svg>\n",
            self.definitions,
            self.color(Ink::Surface),
            self.body
        );
        file
    }

    fn pattern(&mut self, id: &str, ground: &str, lines: &str, hatch: Hatch, width: f64) {
        let size = Hatch::TILE;
        let _ = write!(
            self.definitions,
            "<pattern id=\"{id}\" width=\"{size}\" height=\"{size}\" \
             patternUnits=\"userSpaceOnUse\">\
             <path fill=\"{ground}\" d=\"M0 0h{size}v{size}h-{size}z\"/>\
             <path stroke=\"{lines}\" stroke-width=\"{width}\" d=\""
        );
        for [x0, y0, x1, y1] in hatch.lines() {
            let _ = write!(self.definitions, "M{x0} {y0}L{x1} {y1}");
        }
        self.definitions.push_str("\"/></pattern>");
    }

    fn rectangles(&mut self, areas: &[Area], paint: &str) {
        let _ = write!(self.body, "<path fill=\"{paint}\" d=\"");
        for Area { left, top, width, height } in areas {
            let _ = write!(self.body, "M{left:.1} {top:.1}h{width:.1}v{height:.1}h-{width:.1}z");
        }
        self.body.push_str("\"/>\n");
    }

    fn points(&mut self, points: &[(f64, f64)]) {
        self.body.push_str(" points=\"");
        for (x, y) in points {
            let _ = write!(self.body, "{x:.1},{y:.1} ");
        }
        self.body.push_str("\"/>\n");
    }

    fn color(&self, ink: Ink) -> String {
        self.palette.ink_css(ink)
    }
}

impl Surface for Svg<'_> {
    fn fill(&mut self, areas: &[Area], ink: Ink) {
        let color = self.color(ink);
        self.rectangles(areas, &color);
    }

    fn blocks(&mut self, areas: &[Area], look: Look) {
        let id = format!("{}-{}", look.kind.class(), look.shade);
        if !std::mem::replace(&mut self.used[look.index()], true) {
            let (ground, lines) = (self.palette.look_css(look), self.palette.hatch_css(look));
            self.pattern(&id, &ground, &lines, look.kind.hatch(), 1.0);
        }
        self.rectangles(areas, &format!("url(#{id})"));
    }

    fn bubble(&mut self, area: Area) {
        self.rectangles(&[area], "url(#bubble)");
    }

    fn frame(&mut self, area: Area, ink: Ink, width: f64) {
        let color = self.color(ink);
        let half = width / 2.0;
        let (w, h) = ((area.width - width).max(0.0), (area.height - width).max(0.0));
        let _ = writeln!(
            self.body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" fill=\"none\" \
             stroke=\"{color}\" stroke-width=\"{width}\"/>",
            area.left + half,
            area.top + half,
        );
    }

    fn line(&mut self, points: &[(f64, f64)], ink: Ink, dashed: bool) {
        let color = self.color(ink);
        let dashes = if dashed { " stroke-dasharray=\"5 3\"" } else { "" };
        let _ = write!(self.body, "<polyline fill=\"none\" stroke=\"{color}\"{dashes}");
        self.points(points);
    }

    fn shape(&mut self, points: &[(f64, f64)], ink: Ink) {
        let color = self.color(ink);
        let _ = write!(self.body, "<polygon fill=\"{color}\"");
        self.points(points);
    }

    fn words(&mut self, words: Words<'_>) {
        let anchor = match words.side {
            Side::Left => "start",
            Side::Center => "middle",
            Side::Right => "end",
        };
        let weight = if words.bold { " font-weight=\"600\"" } else { "" };
        let color = self.color(words.ink);
        // Half the height of a capital below the middle.
        let baseline = words.y + 0.36 * f64::from(TEXT_SIZE);
        let _ = write!(
            self.body,
            "<text x=\"{:.1}\" y=\"{baseline:.1}\" text-anchor=\"{anchor}\" \
             fill=\"{color}\"{weight}>",
            words.x,
        );
        escape_into(&mut self.body, words.text);
        self.body.push_str("</text>\n");
    }

    fn clip(&mut self, area: Area) {
        self.clips += 1;
        let Area { left, top, width, height } = area;
        let _ = write!(
            self.definitions,
            "<clipPath id=\"clip{}\"><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/></clipPath>",
            self.clips,
        );
        let _ = writeln!(self.body, "<g clip-path=\"url(#clip{})\">", self.clips);
    }

    fn unclip(&mut self) {
        self.body.push_str("</g>\n");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::board::Board;
    use super::super::files::svg;
    use super::super::lanes::tests::Sample;
    use super::super::palette::Ink;
    use super::super::palette::tests::palette;
    use super::super::track::{Held, Track};
    use crate::present::provenance::Provenance;

    fn from() -> Provenance {
        Provenance { design: "/?v=1&pp=2".into(), date: "2026-01-31".into() }
    }

    fn board() -> Board {
        let mut board = Board::new(true);
        board.size = (640.0, 320.0);
        board.show(Some(Arc::new(Sample::even(4, 10, 1.0, 0.5))));
        let steps = vec![(0.0, 1.0), (5.0, 3.0), (14.0, 0.0)];
        let track = Track { held: Held::MicroBatches, fixed: 1.0, limit: Some(6.0), steps };
        board.show_track(Some((track, "In <flight>".to_owned())));
        board
    }

    #[test]
    fn a_file_is_well_formed_has_a_name_and_brings_its_colours() {
        for is_all in [false, true] {
            for dark in [false, true] {
                let file =
                    svg(&board(), &palette(dark), ("A & B", "What \"it\" is"), is_all, &from())
                        .unwrap();
                let document = roxmltree::Document::parse(&file).expect("well-formed");
                let root = document.root_element();
                assert_eq!(root.attribute("role"), Some("img"));
                let text = |tag: &str| {
                    let element = root.children().find(|node| node.has_tag_name(tag));
                    element.and_then(|element| element.text()).unwrap_or_default().to_owned()
                };
                assert_eq!(text("title"), "A & B, from 0.00 s to 14.5 s");
                assert_eq!(text("desc"), "What \"it\" is");
                let ground = root.children().find(|node| node.has_tag_name("path")).unwrap();
                let surface = palette(dark).ink(Ink::Surface).css();
                assert_eq!(ground.attribute("fill"), Some(surface.as_str()));
                assert!(text("metadata").starts_with("design: /?v=1&pp=2\nmodel_version: "));
                assert!(!file.contains("var(") && !file.contains("NaN"), "{file}");
                let ids: Vec<_> =
                    document.descendants().filter_map(|node| node.attribute("id")).collect();
                for part in file.split("url(#").skip(1) {
                    let id = part.split(')').next().unwrap();
                    assert!(ids.contains(&id), "{id} is not defined");
                }
            }
        }
    }

    #[test]
    fn all_of_it_has_room_for_a_letter_on_each_block() {
        let file = svg(&board(), &palette(false), ("A", ""), true, &from()).unwrap();
        let document = roxmltree::Document::parse(&file).expect("well-formed");
        let words = document.descendants().filter(|node| node.has_tag_name("text"));
        let letters = words.filter(|node| node.text().is_some_and(|text| text.starts_with('F')));
        assert!(letters.count() >= 40, "{file}");
    }

    #[test]
    fn there_is_no_file_of_nothing() {
        assert_eq!(svg(&Board::new(true), &palette(false), ("A", ""), true, &from()), None);
    }
}
