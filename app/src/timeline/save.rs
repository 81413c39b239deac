//! Files of the timeline that the browser saves: its trace and its picture.

use present::draw::palette::Palette;
use present::timeline::Scene;
use present::timeline::board::Board;
use present::timeline::files::{svg, trace};

use crate::browser::download::{download, here};

/// Saves the trace.
pub(super) fn save_trace(id: &str, scene: &Scene, lane: usize) {
    download(&format!("moescape-{id}.json"), "application/json", &trace(scene, lane, &here()));
}

/// Saves the picture: what is in view, or all of it. `words` are its title and what it shows.
pub(super) fn save_picture(
    id: &str,
    board: &Board,
    palette: &Palette,
    words: (&str, &str),
    is_all: bool,
) {
    if let Some(svg) = svg(board, palette, words, is_all, &here()) {
        let part = if is_all { "" } else { "-part" };
        download(&format!("moescape-{id}{part}.svg"), "image/svg+xml", &svg);
    }
}
