//! The sheet itself, as HTML.

use interchange::{Export as Made, Launcher, Reading, UnsupportedKnob};
use maud::{Markup, html};
use model::design::Design;
use model::{Plan, design::link};
use present::format::counted;

use operations::export::{self, Format};

use crate::ground::calendar;

/// Knobs that are named for each reason; the file itself has all of them.
const NAMED: usize = 12;

/// Frameworks whose files aren't launch scripts.
const FRAMEWORKS: [Format; 5] = [
    Format::MegatronBridge,
    Format::Mindformers,
    Format::Torchtitan,
    Format::Deepspeed,
    Format::Accelerate,
];

/// Content of the dialog or the page.
pub(super) fn html(design: &Design, launcher: Launcher) -> Markup {
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
            (launchers(launcher, &link))
            @for export in [Format::Megatron, Format::Mindspeed] {
                (file(export, launcher, design, &link))
            }
        }
        section {
            h2 { "Other frameworks" }
            @for export in FRAMEWORKS { (file(export, Launcher::Torchrun, design, &link)) }
        }
        section {
            h2 { "Inference engine" }
            @match export::command(design, &calendar::today()) {
                Ok(made) => (words(Format::Serving, &made, &link)),
                Err(why) => p.muted { (why) },
            }
        }
        section {
            h2 { "Design file" }
            (row(Format::Json, &link, about))
            (row(Format::Toml, &link, about))
        }
        section { h2 { "Numbers" } (numbers(design, &link)) }
        p.muted { "Charts are saved as SVG and PNG where they are shown." }
        p.share-back { a.button href={ "/?" (link) } { "Back to the design" } }
    }
}

/// Launchers that may start the processes of a script; the chosen one is marked.
fn launchers(chosen: Launcher, link: &str) -> Markup {
    let titled = |launcher| match launcher {
        Launcher::Torchrun => "torchrun on each node",
        Launcher::Slurm => "Slurm batch job",
    };
    html! {
        p.export-launchers {
            "Started by: "
            @for launcher in Launcher::ALL {
                @let address = format!("/export?{link}&launcher={}", launcher.name());
                a.button href=(address) aria-current=[(launcher == chosen).then_some("true")] {
                    (titled(launcher))
                }
                " "
            }
        }
    }
}

/// A file of a training run.
fn file(export: Format, launcher: Launcher, design: &Design, link: &str) -> Markup {
    let Some(target) = export.target() else { return html! {} };
    let link = match launcher {
        Launcher::Torchrun => link.to_owned(),
        Launcher::Slurm => format!("{link}&launcher={}", launcher.name()),
    };
    words(export, &export::elsewhere(target, launcher, design, &calendar::today()), &link)
}

/// Sentences on how the file's own words read, beside the design.
fn reading(reading: &Reading) -> Markup {
    html! {
        @if reading.differs() {
            div.share-warning { @for line in reading.sentences() { p { (line) } } }
        } @else {
            @for line in reading.sentences() { p.muted { (line) } }
        }
    }
}

/// List of what to check before the run.
fn checks(checks: &[String]) -> Markup {
    html! {
        @if !checks.is_empty() {
            details.export-text {
                summary { "Check before the run" }
                ul { @for check in checks { li { (check) } } }
            }
        }
    }
}

/// A file in the words of what starts a run, what those can't say and why, and the file to read.
fn words(export: Format, made: &Made, link: &str) -> Markup {
    let about = match made.unsaid.len() as u64 {
        0 => "Every knob that differs from the program's default has a word for it.".to_owned(),
        left => format!("Not expressible, kept as comments: {}", counted(left, "knob", "knobs")),
    };
    html! {
        (row(export, link, &about))
        @if let Some(read) = &made.reading { (reading(read)) }
        (checks(&made.checks))
        @if !made.unsaid.is_empty() {
            details.export-text {
                summary { "Show what it can't say" }
                (unsaid(&made.unsaid))
            }
        }
        details.export-text {
            summary { "Show the file" }
            pre.scroll-x tabindex="0" role="region" aria-label=(export.title()) { (made.text) }
        }
    }
}

/// Knobs without a word, by the reason.
fn unsaid(left: &[UnsupportedKnob]) -> Markup {
    html! {
        dl {
            @for same in left.chunk_by(|one, other| one.reason == other.reason) {
                @if let Some(first) = same.first() { dt { (first.reason) } }
                dd { (listed(same)) }
            }
        }
    }
}

fn listed(left: &[UnsupportedKnob]) -> String {
    let named = left.iter().take(NAMED).map(|one| format!("{} = {}", one.knob.id(), one.value));
    let named = named.collect::<Vec<_>>().join(", ");
    match left.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}, and {more} more"),
    }
}

fn numbers(design: &Design, link: &str) -> Markup {
    let table = "Headline metrics, every stage, every axis: a number in each row.";
    let files = [
        (Format::Csv, table),
        (Format::Parquet, table),
        (Format::Metrics, "Everything the model computes, as predict --json prints it."),
        (Format::Trace, "The schedule of every stage, for Perfetto."),
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
fn row(export: Format, link: &str, about: &str) -> Markup {
    let address = format!("/export/{}?{link}", export.name());
    let hidden_title = html! { span.visually-hidden { " " (export.title()) } };
    html! {
        div.export-row {
            div { h3 { (export.title()) } p.muted { (about) } }
            div.export-buttons {
                @if export.is_text() {
                    button type="button" class="button" data-copy-file=(address)
                        aria-live="polite" { "Copy" (hidden_title) }
                }
                a.button download href=(address) { "Download" (hidden_title) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    fn sheet(query: &str) -> String {
        html(&link::decode(query).unwrap(), Launcher::Torchrun).into_string()
    }

    #[test]
    fn every_file_has_a_download_and_texts_can_be_copied() {
        let html = sheet("preset=llama-3-8b&mbs=2");
        for export in Format::all() {
            let address = format!("/export/{}?v=1&amp;preset=llama-3-8b&amp;", export.name());
            let count = html.matches(&address).count();
            assert_eq!(count, 1 + usize::from(export.is_text()), "{export:?}");
        }
    }

    #[test]
    fn what_a_file_can_t_say_is_named_with_the_reason() {
        assert!(sheet("preset=llama-3-8b").contains("has a word for it"));
        let html = sheet("preset=llama-3-8b&hbm_usable_gib=60");
        assert!(html.contains("hbm_usable_gib = 60"), "{html}");
        let reasons = Html::new(&html).texts("dt");
        let reason = "The machine is the scheduler's matter";
        assert!(reasons.iter().any(|known| known.starts_with(reason)), "{reasons:?}");
    }

    #[test]
    fn a_design_that_breaks_rules_has_files_and_says_why_it_has_no_numbers() {
        let html = sheet("pp=12");
        assert!(html.contains("/export/design.toml?") && !html.contains("/export/metrics"));
        assert!(html.contains("This design can't run"), "{html}");
    }
}
