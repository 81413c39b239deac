//! The figure as the server writes it: it reads well before anything runs, and nothing moves when
//! the picture is filled.

use maud::{Markup, PreEscaped, html};

use super::labels;
use super::source::Scene;
use super::tasks;

/// Keys of a picture and what they do.
const KEYS: [(&str, &str); 6] = [
    ("W S", "zoom"),
    ("A D", "move"),
    ("F", "fit"),
    ("← → ↑ ↓", "select"),
    ("Enter", "details"),
    ("Esc", "clear"),
];

/// Buttons of the picture of all stages: what they do, what they say, what they mean.
const STAGES: [(&str, &str, &str); 5] = [
    ("earlier", "←", "Earlier"),
    ("later", "→", "Later"),
    ("out", "−", "Zoom out"),
    ("in", "+", "Zoom in"),
    ("fit", "Fit", "Fit all of it into view"),
];

/// Buttons that save a file.
const FILES: [(&str, &str); 3] = [
    ("trace", "Trace for Perfetto (JSON)"),
    ("part", "SVG of what is in view"),
    ("all", "SVG of all of it"),
];

/// HTML of the figure below the caption.
pub fn body(id: &str, title: &str, scene: Result<&Scene, &String>) -> String {
    let shown = scene.ok();
    let of = |write: &dyn Fn(&Scene) -> String| PreEscaped(shown.map(write).unwrap_or_default());
    let keys = format!("{id}-keys");
    let markup = html! {
        div.timeline-bar {
            ul.timeline-legend { (of(&|scene| labels::legend(scene.timeline()))) }
            (buttons("Part in view", "", true))
        }
        div.timeline-box {
            (picture("stages", title, Some(&keys)))
            p.timeline-nothing hidden[shown.is_some()] { (scene.err().map_or("", String::as_str)) }
        }
        p.timeline-keys.muted id=(keys) {
            "Shortcuts: "
            @for (keys, meaning) in KEYS { span { kbd { (keys) } " " (meaning) } " " }
            span { "drag to move, Ctrl and wheel to zoom" }
        }
        p.timeline-summary.muted { (of(&|scene| labels::summary(scene.timeline()))) }
        div.timeline-details aria-live="polite" { (PreEscaped(labels::hint())) }
        (pair(shown))
        (table("rows", title, "", &of(&|scene| tasks::table_html(title, scene.timeline()))))
        div.timeline-files {
            span.muted { "Save" }
            @for (act, text) in FILES {
                button type="button" class="button way" data-act=(act) { (text) }
            }
            button type="button" class="button way" data-save-canvas=(id) {
                "PNG of what is in view"
            }
        }
    };
    markup.into_string()
}

fn buttons(label: &str, of: &str, tall: bool) -> Markup {
    html! {
        div.timeline-buttons role="group" aria-label=(label) {
            @for (act, text, meaning) in STAGES {
                button type="button" class="button" data-act={ (of) (act) } aria-label=(meaning)
                    title=(meaning) { (text) }
            }
            @if tall {
                button type="button" class="button" data-act="tall" aria-pressed="false" {
                    "Taller"
                }
            }
        }
    }
}

/// A picture's frame, which takes the focus, with its canvas and the place of the note.
fn picture(name: &str, label: &str, described_by: Option<&str>) -> Markup {
    html! {
        div class={ "timeline-picture timeline-" (name) } tabindex="0" role="application"
            aria-label=(label) aria-describedby=[described_by] {
            canvas aria-hidden="true" {}
            div.timeline-tip aria-hidden="true" hidden {}
        }
    }
}

/// One pair of the stage that holds most, closed; it is hidden where the stage runs no pairs.
fn pair(scene: Option<&Scene>) -> Markup {
    let stage = scene.map(tasks::fullest);
    let chunks = scene.zip(stage).and_then(|(scene, stage)| tasks::pair_chunks(scene, stage, None));
    html! {
        details.timeline-pair hidden[chunks.is_none()] {
            summary { (stage.map(tasks::pair_heading).unwrap_or_default()) }
            p.timeline-pair-words.muted {}
            div.timeline-bar {
                ul.timeline-legend { (labels::pair_legend()) }
                (buttons("Part of the pair in view", "pair-", false))
            }
            (picture("resources", "One pair on its resources", None))
            p.timeline-said aria-live="polite" {}
            (table("operators", "Operators of the pair", " of operators", &PreEscaped("")))
        }
    }
}

/// A closed table of the picture's data.
fn table(name: &str, title: &str, of: &str, table: &PreEscaped<impl AsRef<str>>) -> Markup {
    html! {
        details.figure-table {
            summary { "Table" (of) }
            div class={ "scroll-x timeline-" (name) } role="region" tabindex="0"
                aria-label={ (title) ", table" } { (PreEscaped(table.0.as_ref())) }
        }
    }
}
