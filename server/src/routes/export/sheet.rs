//! The sheet itself, as HTML.

use std::fmt::Write as _;

use app::present::html::{element, escape_into, escaped};
use model::design::Design;
use model::file::Extent;
use model::{Plan, link};

use crate::exports::{self, Export};

/// Knobs that are named by a script's side; the script itself has all of them.
const NAMED: usize = 12;

/// What stands in the dialog or on the page.
pub(super) fn html(design: &Design) -> String {
    let link = link::encode(design);
    let mut html = String::from("<h1 id=\"sheet-title\" tabindex=\"-1\">Export this design</h1>");
    html.push_str(
        "<p class=\"muted\">Every file says inside which design it is of, by its link, with the \
         model's version and the day. Nothing is stored.</p><section><h2>Launch scripts</h2>",
    );
    for export in [Export::Megatron, Export::Mindspeed] {
        script(&mut html, export, design, &link);
    }
    html.push_str("</section><section><h2>Design file</h2>");
    let about = "What differs from the preset. Import, the command line and the API read it.";
    for export in [Export::Json, Export::Toml] {
        row(&mut html, export, &link, about);
    }
    html.push_str("</section><section><h2>Numbers</h2>");
    numbers(&mut html, design, &link);
    let _ = write!(
        html,
        "</section><p class=\"muted\">Charts are saved as SVG and PNG where they are shown.</p>\
         <p class=\"share-back\"><a class=\"button\" href=\"/?{}\">Back to the design</a></p>",
        escaped(&link)
    );
    html
}

/// A script, what no argument of it says, and the script to read.
fn script(html: &mut String, export: Export, design: &Design, link: &str) {
    let text = exports::file(export, design, Extent::Changed).unwrap_or_default();
    let text = String::from_utf8(text).unwrap_or_default();
    row(html, export, link, &without_argument(&text));
    html.push_str("<details class=\"export-text\"><summary>Show the script</summary>");
    let attributes = format!(
        "class=\"scroll-x\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"",
        export.title()
    );
    element(html, "pre", &attributes, &text);
    html.push_str("</details>");
}

/// Which knobs have no argument there.
fn without_argument(script: &str) -> String {
    let left = interchange::without_argument(script);
    if left.is_empty() {
        return "Every knob that differs from the program's default has an argument.".to_owned();
    }
    let named = left.iter().take(NAMED).map(|(knob, value)| format!("{} = {value}", knob.id()));
    let named: Vec<String> = named.collect();
    let more = left.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!(
        "No argument says {}{more}. They stand in comments, which an import reads.",
        named.join(", ")
    )
}

fn numbers(html: &mut String, design: &Design, link: &str) {
    if let Err(violations) = Plan::new(design) {
        html.push_str("<p class=\"share-warning\">This design can't run, so it has no numbers. ");
        escape_into(html, violations.first().map_or("", |violation| violation.message.as_str()));
        html.push_str("</p>");
        return;
    }
    let table = "Headline metrics, every stage, every axis: a number in each row.";
    for (export, about) in [
        (Export::Csv, table),
        (Export::Parquet, table),
        (Export::Metrics, "All that the model says of the design, as predict --json prints it."),
        (Export::Trace, "What each stage does when, for Perfetto."),
    ] {
        row(html, export, link, about);
    }
}

/// A file with its buttons.
fn row(html: &mut String, export: Export, link: &str, about: &str) {
    let address = format!("/export/{}?{link}", export.name());
    let (address, title) = (escaped(&address), export.title());
    html.push_str("<div class=\"export-row\"><div>");
    element(html, "h3", "", title);
    element(html, "p", "class=\"muted\"", about);
    html.push_str("</div><div class=\"export-buttons\">");
    if export.is_text() {
        let _ = write!(
            html,
            "<button type=\"button\" class=\"button\" data-copy-file=\"{address}\" \
             aria-live=\"polite\" hidden>Copy<span class=\"visually-hidden\"> {title}</span>\
             </button>"
        );
    }
    let _ = write!(
        html,
        "<a class=\"button\" download href=\"{address}\">Download<span class=\"visually-hidden\"> \
         {title}</span></a></div></div>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(query: &str) -> String {
        html(&link::decode(query).unwrap())
    }

    #[test]
    fn every_file_has_a_download_and_texts_can_be_copied() {
        let html = sheet("preset=deepseek-v3&mbs=2");
        for export in Export::ALL {
            let address = format!("/export/{}?v=1&amp;preset=deepseek-v3&amp;", export.name());
            let count = html.matches(&address).count();
            assert_eq!(count, 1 + usize::from(export.is_text()), "{export:?}");
        }
    }

    #[test]
    fn what_has_no_argument_is_named() {
        assert!(sheet("preset=llama-3-8b").contains("Every knob that differs"));
        let html = sheet("preset=llama-3-8b&hbm_usable_gib=60");
        assert!(
            html.contains("No argument says") && html.contains("hbm_usable_gib = 60"),
            "{html}"
        );
    }

    #[test]
    fn a_design_that_breaks_rules_has_files_and_says_why_it_has_no_numbers() {
        let html = sheet("pp=12");
        assert!(html.contains("/export/design.toml?") && !html.contains("/export/metrics"));
        assert!(html.contains("This design can't run"), "{html}");
    }
}
