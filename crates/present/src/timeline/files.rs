//! The timeline as files: a trace for Perfetto, pictures as SVG.

use model::schedule::trace::{Event, Trace};

use crate::draw::palette::Palette;
use crate::draw::svg::SvgPicture;
use crate::words::provenance::Provenance;

use super::board::Board;
use super::operators::{Operators, pass_words};
use super::source::Scene;
use super::tasks;
use super::window::Window;

/// A trace of more tasks than this has no parts beside them: they would be most of the file.
const MAX_DETAILED: usize = 100_000;
/// Mean width of a block in the picture of all of it, and bounds on the width of the whole.
const BLOCK: f64 = 48.0;
const WIDTHS: (f64, f64) = (1_200.0, 24_000.0);

/// The trace of all stages, and of a pair of the first one where there are pairs.
#[must_use]
pub fn chrome_trace(scene: &Scene, provenance: &Provenance) -> String {
    trace(scene, 0, provenance)
}

/// The trace of all stages, and of a pair of one of them where there are pairs.
pub fn trace(scene: &Scene, lane: usize, provenance: &Provenance) -> String {
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
pub fn svg(
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
    let mut svg = SvgPicture::new(palette);
    board.paint_still(&mut svg, window, width);
    let (from, to) = (tasks::seconds(window.from()), tasks::seconds(window.to()));
    let title = format!("{title}, from {from} to {to}");
    let size = (width, board.best_height());
    Some(svg.finish(size, &title, about, &provenance.svg()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::lanes::tests::Sample;
    use super::super::track::{Track, TrackUnit};
    use super::*;
    use crate::draw::palette::Hue;
    use crate::draw::palette::tests::palette;

    fn from() -> Provenance {
        Provenance { design: "/?v=1&pp=2".into(), date: "2026-01-31".into() }
    }

    fn board() -> Board {
        let mut board = Board::new(true);
        board.size = (640.0, 320.0);
        board.show(Some(Arc::new(Sample::even(4, 10, 1.0, 0.5))));
        let steps = vec![(0.0, 1.0), (5.0, 3.0), (14.0, 0.0)];
        let track = Track { held: TrackUnit::MicroBatches, fixed: 1.0, limit: Some(6.0), steps };
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
                let surface = palette(dark).color(Hue::Surface).to_owned();
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
