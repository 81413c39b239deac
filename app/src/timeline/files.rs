//! The timeline as files: a trace for Perfetto, pictures as SVG.

use model::trace::{Event, Trace};

use super::board::Board;
use super::operators::{Operators, pass_words};
use super::palette::Palette;
use super::svg::Svg;
use super::window::Window;
use super::{Scene, tasks};
use crate::browser::download::{download, here};
use crate::present::provenance::Provenance;

/// A trace of more tasks than this has no parts beside them: they would be most of the file.
const MAX_DETAILED: usize = 100_000;
/// How wide a block is on average in the picture of all of it, and how wide it may be as a whole.
const BLOCK: f64 = 48.0;
const WIDTHS: (f64, f64) = (1_200.0, 24_000.0);

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

/// The trace of all stages, and of a pair of the first one where there are pairs.
#[must_use]
pub fn chrome_trace(scene: &Scene, provenance: &Provenance) -> String {
    trace(scene, 0, provenance)
}

/// The trace of all stages, and of a pair of one of them where there are pairs.
pub(super) fn trace(scene: &Scene, lane: usize, provenance: &Provenance) -> String {
    let timeline = scene.timeline();
    let detailed = timeline.lists.tasks.len() <= MAX_DETAILED;
    let mut trace = Trace::new(timeline, &mut |stage, task| {
        let detail = if detailed { scene.explain(stage, task) } else { None };
        let parts = detail.map(|detail| detail.parts).unwrap_or_default().into_iter();
        parts.map(|part| (part.0, part.2.get())).collect()
    });
    if let Some((forward, backward)) = tasks::pair_chunks(scene, lane, None) {
        let operators = Operators::new(scene.pair(lane, forward, backward));
        trace.begin_process(&format!("One pair of stage {lane}, from its own start on"));
        for (thread, (name, operators)) in operators.lanes().enumerate() {
            trace.name_thread(thread, name);
            for operator in operators {
                let (start, end) = (operator.start, operator.end);
                let category = pass_words(operator.pass);
                trace.add(thread, &Event { name: operator.name, category, start, end }, &[]);
            }
        }
    }
    provenance.entries().iter().for_each(|(name, value)| trace.note(name, value));
    trace.finish()
}

/// The picture as it is in view, or of all of it at a width at which blocks can be read.
pub(super) fn svg(
    board: &Board,
    palette: &Palette,
    (title, about): (&str, &str),
    is_all: bool,
    provenance: &Provenance,
) -> Option<String> {
    let window = board.window()?;
    let wide = (window.total() / board.mean_block() * BLOCK).clamp(WIDTHS.0, WIDTHS.1);
    let (window, width) =
        if is_all { (Window::all(window.total()), wide) } else { (window, board.size.0) };
    let mut svg = Svg::new(palette);
    board.paint_still(&mut svg, window, width);
    let (from, to) = (tasks::seconds(window.from()), tasks::seconds(window.to()));
    let title = format!("{title}, from {from} to {to}");
    let size = (width, board.best_height());
    Some(svg.finish(size, &title, about, &provenance.svg()))
}
