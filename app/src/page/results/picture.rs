//! A sweep's picture as an SVG file: what a pen draws on a canvas, written down. Its colours are
//! inside, so that it stands for itself.

use std::fmt::Write as _;

use crate::present::html::{escape_into, escaped};
use crate::present::provenance::Provenance;

/// Size of all words, in pixels, as on the canvas.
const TEXT_SIZE: f64 = 12.0;

/// Side of a tile of the hatch.
const TILE: f64 = 7.0;

/// An SVG file while it is drawn.
#[derive(Debug, Default)]
pub(super) struct Picture {
    /// Clips and the hatch.
    definitions: String,
    body: String,
    alpha: f64,
    dashed: bool,
    clips: usize,
}

impl Picture {
    pub(super) fn new() -> Self {
        Self { alpha: 1.0, ..Self::default() }
    }

    pub(super) const fn alpha(&mut self, alpha: f64) {
        self.alpha = alpha;
    }

    pub(super) const fn dashes(&mut self, on: bool) {
        self.dashed = on;
    }

    pub(super) fn rectangles(
        &mut self,
        color: &str,
        (width, height): (f64, f64),
        corners: impl Iterator<Item = (f64, f64)>,
    ) {
        self.path(color, corners, |body, x, y| {
            let _ = write!(body, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h{:.1}z", -width);
        });
    }

    /// Squares side by side, in rows of so many, each as opaque as its byte says: one path for all
    /// that are alike.
    pub(super) fn squares(&mut self, color: &str, size: f64, across: usize, opacities: &[u8]) {
        let mut alike = vec![Vec::new(); 256];
        for (place, opacity) in opacities.iter().enumerate().filter(|(_, opacity)| **opacity > 0) {
            let corner = ((place % across) as f64 * size, (place / across) as f64 * size);
            alike[usize::from(*opacity)].push(corner);
        }
        let before = self.alpha;
        for (opacity, corners) in alike.into_iter().enumerate() {
            if !corners.is_empty() {
                self.alpha = opacity as f64 / 255.0;
                self.rectangles(color, (size, size), corners.into_iter());
            }
        }
        self.alpha = before;
    }

    pub(super) fn dots(
        &mut self,
        color: &str,
        radius: f64,
        points: impl Iterator<Item = (f64, f64)>,
    ) {
        self.path(color, points, |body, x, y| {
            let (left, wide) = (x - radius, 2.0 * radius);
            let arc = format!("a{radius:.1} {radius:.1} 0 1 0 ");
            let _ = write!(body, "M{left:.1} {y:.1}{arc}{wide:.1} 0{arc}{:.1} 0z", -wide);
        });
    }

    pub(super) fn diamond(&mut self, color: &str, radius: f64, x: f64, y: f64) {
        self.path(color, std::iter::once((x, y - radius)), |body, x, y| {
            let _ = write!(body, "M{x:.1} {y:.1}l{radius} {radius}l-{radius} {radius}");
            let _ = write!(body, "l-{radius} -{radius}z");
        });
    }

    pub(super) fn ring(&mut self, color: &str, radius: f64, x: f64, y: f64) {
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"none\" \
             stroke=\"{}\" stroke-width=\"2.5\"{}/>",
            escaped(color),
            self.opacity(),
        );
    }

    pub(super) fn frame(&mut self, color: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)];
        self.line(color, 2.0, corners.into_iter());
    }

    pub(super) fn line(
        &mut self,
        color: &str,
        width: f64,
        points: impl Iterator<Item = (f64, f64)>,
    ) {
        let dashes = if self.dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = write!(
            self.body,
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dashes}{} points=\"",
            escaped(color),
            self.opacity(),
        );
        for (x, y) in points {
            let _ = write!(self.body, "{x:.1},{y:.1} ");
        }
        self.body.push_str("\"/>\n");
    }

    pub(super) fn hatch(&mut self, color: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        if !self.definitions.contains("id=\"hatch\"") {
            let _ = write!(
                self.definitions,
                "<pattern id=\"hatch\" width=\"{TILE}\" height=\"{TILE}\" \
                 patternUnits=\"userSpaceOnUse\"><path stroke=\"{}\" d=\"M0 {TILE}L{TILE} 0\
                 M-1 1L1 -1M{} {}L{} {}\"/></pattern>",
                escaped(color),
                TILE - 1.0,
                TILE + 1.0,
                TILE + 1.0,
                TILE - 1.0,
            );
        }
        let before = std::mem::replace(&mut self.alpha, 0.55);
        self.rectangles("url(#hatch)", (width, height), std::iter::once((x, y)));
        self.alpha = before;
    }

    /// Words at a place, `anchor` being SVG's; upwards where they are turned.
    pub(super) fn words(
        &mut self,
        color: &str,
        anchor: &str,
        text: &str,
        (x, y): (f64, f64),
        is_turned: bool,
    ) {
        let turn = if is_turned { " rotate(-90)" } else { "" };
        let _ = write!(
            self.body,
            // Half the height of a capital below the middle.
            "<text transform=\"translate({x:.1} {y:.1}){turn}\" y=\"{:.1}\" \
             text-anchor=\"{anchor}\" fill=\"{}\"{}>",
            0.36 * TEXT_SIZE,
            escaped(color),
            self.opacity(),
        );
        escape_into(&mut self.body, text);
        self.body.push_str("</text>\n");
    }

    pub(super) fn clip(&mut self, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.clips += 1;
        let _ = write!(
            self.definitions,
            "<clipPath id=\"clip{}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/></clipPath>",
            self.clips,
        );
        let _ = writeln!(self.body, "<g clip-path=\"url(#clip{})\">", self.clips);
    }

    pub(super) fn unclip(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The file, on a ground of its own.
    pub(super) fn finish(
        self,
        (width, height): (f64, f64),
        title: &str,
        ground: &str,
        from: &Provenance,
    ) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"{TEXT_SIZE}\">\n\
             <title>{}</title>\n{}<defs>{}</defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n{}</svg>\n",
            escaped(title),
            from.svg(),
            self.definitions,
            escaped(ground),
            self.body,
        )
    }

    fn path(
        &mut self,
        color: &str,
        points: impl Iterator<Item = (f64, f64)>,
        mark: impl Fn(&mut String, f64, f64),
    ) {
        let _ = write!(self.body, "<path fill=\"{}\"{} d=\"", escaped(color), self.opacity());
        points.for_each(|(x, y)| mark(&mut self.body, x, y));
        self.body.push_str("\"/>\n");
    }

    fn opacity(&self) -> String {
        if self.alpha < 1.0 { format!(" opacity=\"{:.2}\"", self.alpha) } else { String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_well_formed_and_says_where_it_comes_from() {
        let mut picture = Picture::new();
        picture.alpha(0.3);
        picture.dots("#123456", 2.0, [(1.0, 2.0), (3.0, 4.0)].into_iter());
        picture.clip((0.0, 0.0), (10.0, 10.0));
        picture.dashes(true);
        picture.line("#000", 1.0, [(0.0, 0.0), (5.0, 5.0)].into_iter());
        picture.unclip();
        picture.hatch("#777", (0.0, 0.0), (5.0, 5.0));
        picture.hatch("#777", (5.0, 0.0), (5.0, 5.0));
        picture.words("#000", "middle", "<A & B>", (5.0, 5.0), true);
        let from = Provenance::of_link("v=1&tp=2", "2026-01-31");
        let file = picture.finish((640.0, 480.0), "Trade-off", "#ffffff", &from);
        let document = roxmltree::Document::parse(&file).expect("well-formed");
        let of = |tag: &'static str| {
            document.descendants().filter(move |node| node.has_tag_name(tag)).collect::<Vec<_>>()
        };
        assert_eq!(of("text")[0].text(), Some("<A & B>"));
        assert!(of("metadata")[0].text().is_some_and(|text| text.contains("/?v=1&tp=2")));
        assert_eq!((of("pattern").len(), of("clipPath").len()), (1, 1));
        assert_eq!(of("path").iter().filter(|it| it.attribute("opacity").is_some()).count(), 3);
        assert!(!file.contains("NaN") && !file.contains("var("), "{file}");
    }
}
