//! The sheet itself, as HTML.

use maud::{Markup, html};
use model::design::Design;
use model::file::Extent;
use model::{Plan, link};

use crate::exports::{self, Export};

/// Knobs that are named by a script's side; the script itself has all of them.
const NAMED: usize = 12;

/// What stands in the dialog or on the page.
pub(super) fn html(design: &Design) -> Markup {
    let link = link::encode(design);
    let about = "What differs from the preset. Import, the command line and the API read it.";
    html! {
        h1 #sheet-title tabindex="-1" { "Export this design" }
        p.muted {
            "Each file contains the design's link, the model version and the date. Nothing is \
             stored."
        }
        section {
            h2 { "Launch scripts" }
            (script(Export::Megatron, design, &link))
            (script(Export::Mindspeed, design, &link))
        }
        section {
            h2 { "Design file" }
            (row(Export::Json, &link, about))
            (row(Export::Toml, &link, about))
        }
        section { h2 { "Numbers" } (numbers(design, &link)) }
        p.muted { "Charts are saved as SVG and PNG where they are shown." }
        p.share-back { a.button href={ "/?" (link) } { "Back to the design" } }
    }
}

/// A script, what no argument of it says, and the script to read.
fn script(export: Export, design: &Design, link: &str) -> Markup {
    let text = exports::file(export, design, Extent::Changed).unwrap_or_default();
    let text = String::from_utf8(text).unwrap_or_default();
    html! {
        (row(export, link, &without_argument(&text)))
        details.export-text {
            summary { "Show the script" }
            pre.scroll-x tabindex="0" role="region" aria-label=(export.title()) { (text) }
        }
    }
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
        "Not expressible as arguments, kept as comments that an import reads: {}{more}.",
        named.join(", ")
    )
}

fn numbers(design: &Design, link: &str) -> Markup {
    let table = "Headline metrics, every stage, every axis: a number in each row.";
    let files = [
        (Export::Csv, table),
        (Export::Parquet, table),
        (Export::Metrics, "Everything the model computes, as predict --json prints it."),
        (Export::Trace, "The schedule of every stage, for Perfetto."),
    ];
    html! {
        @match Plan::new(design) {
            Ok(_) => @for (export, about) in files { (row(export, link, about)) },
            Err(violations) => p.share-warning {
                "This design can't run, so it has no numbers. "
                (violations.first().map_or("", |violation| violation.message.as_str()))
            },
        }
    }
}

/// A file with its buttons.
fn row(export: Export, link: &str, about: &str) -> Markup {
    let address = format!("/export/{}?{link}", export.name());
    let hidden_title = html! { span.visually-hidden { " " (export.title()) } };
    html! {
        div.export-row {
            div { h3 { (export.title()) } p.muted { (about) } }
            div.export-buttons {
                @if export.is_text() {
                    button type="button" class="button" data-copy-file=(address)
                        aria-live="polite" hidden { "Copy" (hidden_title) }
                }
                a.button download href=(address) { "Download" (hidden_title) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(query: &str) -> String {
        html(&link::decode(query).unwrap()).into_string()
    }

    #[test]
    fn every_file_has_a_download_and_texts_can_be_copied() {
        let html = sheet("preset=deepseek-v3&mbs=2");
        for export in Export::all() {
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
            html.contains("Not expressible as arguments") && html.contains("hbm_usable_gib = 60"),
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
