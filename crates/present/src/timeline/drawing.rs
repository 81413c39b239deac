//! The timeline as a picture that nothing moves in, for pages without a script.

use std::sync::Arc;

use maud::{PreEscaped, html};

use super::board::Board;
use super::labels;
use super::source::Scene;
use super::tasks::Stages;
use super::window::Window;
use crate::draw::palette::Palette;
use crate::draw::svg::SvgPicture;

/// A figure of all stages over the whole step: the picture, `width` pixels wide, its legend and its
/// summary, in the colours of the page's theme.
#[must_use]
pub(super) fn drawing(scene: &Scene, title: &str, about: &str, width: f64) -> String {
    let mut board = Board::new(false);
    board.show(Some(Arc::new(Stages(scene.clone()))));
    let palette = Palette::of_page();
    let mut svg = SvgPicture::new(&palette);
    if let Some(window) = board.window() {
        board.paint_still(&mut svg, Window::all(window.total()), width);
    }
    let svg = svg.finish((width, board.best_height()), title, about, "");
    let markup = html! {
        figure.figure.card {
            figcaption { h2 { (title) } p { (about) } }
            ul.timeline-legend { (PreEscaped(labels::legend(scene.timeline()))) }
            div.timeline-drawing { (PreEscaped(svg)) }
            p.muted { (PreEscaped(labels::summary(scene.timeline()))) }
        }
    };
    markup.into_string()
}
