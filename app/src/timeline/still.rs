//! The figure as the server writes it: it reads well before anything runs, and nothing moves when
//! the picture is filled.

use super::words;
use super::{Scene, tasks};
use crate::present::html::{self, element};

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

/// What stands below the caption.
pub(super) fn body(id: &str, title: &str, scene: Result<&Scene, &String>) -> String {
    let shown = scene.ok();
    let of = |write: &dyn Fn(&Scene) -> String| shown.map(write).unwrap_or_default();
    let mut html = String::from("<div class=\"timeline-bar\"><ul class=\"timeline-legend\">");
    html.push_str(&of(&|scene| words::legend(scene.timeline())));
    html.push_str("</ul>");
    buttons(&mut html, "Part in view", "", &STAGES, true);
    html.push_str("</div><div class=\"timeline-box\">");
    picture(&mut html, "stages", title, &format!("{id}-keys"));
    html.push_str("<p class=\"timeline-nothing\"");
    html.push_str(if scene.is_ok() { " hidden>" } else { ">" });
    html.push_str(&html::escaped(scene.err().map_or("", String::as_str)));
    html.push_str("</p></div>");
    keys(&mut html, id);
    html.push_str("<p class=\"timeline-summary muted\">");
    html.push_str(&of(&|scene| words::summary(scene.timeline())));
    html.push_str("</p><div class=\"timeline-details\" aria-live=\"polite\">");
    html.push_str(&words::hint());
    html.push_str("</div>");
    pair(&mut html, shown);
    table(&mut html, "rows", title, &of(&|scene| tasks::table_html(title, scene.timeline())));
    html.push_str("<div class=\"timeline-files\"><span class=\"muted\">Save</span>");
    for (act, text) in FILES {
        let attributes = format!("type=\"button\" class=\"button way\" data-act=\"{act}\"");
        element(&mut html, "button", &attributes, text);
    }
    let attributes = format!("type=\"button\" class=\"button way\" data-save-canvas=\"{id}\"");
    element(&mut html, "button", &attributes, "PNG of what is in view");
    html.push_str("</div>");
    html
}

fn buttons(html: &mut String, label: &str, of: &str, all: &[(&str, &str, &str)], tall: bool) {
    html.push_str("<div class=\"timeline-buttons\" role=\"group\" aria-label=\"");
    html.push_str(&format!("{label}\">"));
    for (act, text, meaning) in all {
        let attributes = format!(
            "type=\"button\" class=\"button\" data-act=\"{of}{act}\" aria-label=\"{meaning}\" \
             title=\"{meaning}\""
        );
        element(html, "button", &attributes, text);
    }
    if tall {
        let attributes =
            "type=\"button\" class=\"button\" data-act=\"tall\" aria-pressed=\"false\"";
        element(html, "button", attributes, "Taller");
    }
    html.push_str("</div>");
}

/// A picture's frame, which takes the focus, with its canvas and the place of the note.
fn picture(html: &mut String, name: &str, label: &str, described_by: &str) {
    let described = if described_by.is_empty() {
        String::new()
    } else {
        format!(" aria-describedby=\"{described_by}\"")
    };
    html.push_str(&format!(
        "<div class=\"timeline-picture timeline-{name}\" tabindex=\"0\" role=\"application\" \
         aria-label=\"{label}\"{described}>\
         <canvas aria-hidden=\"true\"></canvas>\
         <div class=\"timeline-tip\" aria-hidden=\"true\" hidden></div></div>"
    ));
}

fn keys(html: &mut String, id: &str) {
    html.push_str(&format!("<p class=\"timeline-keys muted\" id=\"{id}-keys\">On the picture: "));
    for (keys, meaning) in KEYS {
        html.push_str("<span>");
        element(html, "kbd", "", keys);
        html.push_str(&format!(" {meaning}</span> "));
    }
    html.push_str("<span>drag to move, Ctrl and wheel to zoom</span></p>");
}

/// One pair of the stage that holds most, closed; it is hidden where the stage runs no pairs.
fn pair(html: &mut String, scene: Option<&Scene>) {
    let stage = scene.map(tasks::fullest);
    let has_pairs = scene
        .zip(stage)
        .is_some_and(|(scene, stage)| tasks::pair_chunks(scene, stage, None).is_some());
    html.push_str("<details class=\"timeline-pair\"");
    html.push_str(if has_pairs { ">" } else { " hidden>" });
    element(html, "summary", "", &stage.map(tasks::pair_heading).unwrap_or_default());
    html.push_str("<p class=\"timeline-pair-words muted\"></p><div class=\"timeline-bar\">");
    html.push_str("<ul class=\"timeline-legend\">");
    html.push_str(&words::pair_legend());
    html.push_str("</ul>");
    buttons(html, "Part of the pair in view", "pair-", &STAGES, false);
    html.push_str("</div>");
    picture(html, "resources", "One pair on its resources", "");
    html.push_str("<p class=\"timeline-said\" aria-live=\"polite\"></p>");
    table(html, "operators", "Operators of the pair", "");
    html.push_str("</details>");
}

/// The same as a table, closed.
fn table(html: &mut String, name: &str, title: &str, table: &str) {
    let of = if name == "operators" { " of operators" } else { "" };
    html.push_str(&format!(
        "<details class=\"figure-table\"><summary>Table{of}</summary><div class=\"scroll-x \
         timeline-{name}\" role=\"region\" tabindex=\"0\" aria-label=\"{title}, table\">{table}\
         </div></details>"
    ));
}
