//! The timeline as a picture that nothing moves in, for pages without a script.

use std::sync::Arc;

use super::Scene;
use super::board::Board;
use super::tasks::Stages;
use super::window::Window;
use super::words;
use crate::draw::palette::Palette;
use crate::draw::svg::SvgPicture;
use crate::present::html::escape_into;

/// A figure of all stages over the whole step: the picture in so many pixels, its legend and its
/// summary, in the colours of the page's theme.
#[must_use]
pub fn drawing(scene: &Scene, title: &str, about: &str, width: f64) -> String {
    let mut board = Board::new(false);
    board.show(Some(Arc::new(Stages(scene.clone()))));
    let palette = Palette::of_page();
    let mut svg = SvgPicture::new(&palette);
    if let Some(window) = board.window() {
        board.paint_still(&mut svg, Window::all(window.total()), width);
    }
    let svg = svg.finish((width, board.best_height()), title, about, "");
    let mut html = String::from("<figure class=\"figure card\"><figcaption><h2>");
    escape_into(&mut html, title);
    html.push_str("</h2><p>");
    escape_into(&mut html, about);
    html.push_str("</p></figcaption><ul class=\"timeline-legend\">");
    html.push_str(&words::legend(scene.timeline()));
    html.push_str("</ul><div class=\"timeline-drawing\">");
    html.push_str(&svg);
    html.push_str("</div><p class=\"muted\">");
    html.push_str(&words::summary(scene.timeline()));
    html.push_str("</p></figure>");
    html
}
