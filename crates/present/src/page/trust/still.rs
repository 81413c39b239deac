//! The fixed part of the page, as HTML text that only the server writes.

mod kernels;
mod serving;
mod sweeps;

use maud::{Markup, html};
use model::catalogue::preset::Preset;
use model::metric::published::of_preset;
use validation::report::kernels::KernelValidation;
use validation::report::serving::ServingValidation;
use validation::report::{Group, Pair, Summary, Target, Validation};

use super::constants;
use super::filter::{Facet, Filter};
use super::sheet::{self, Cell, card, table};
use super::{CSV_PATH, JSON_PATH, words};
use crate::draw::text::sentence;
use crate::format;
use crate::insight::numbers::Numbers;
use crate::words::published;
use crate::words::range::expected;

/// The parts of the page that no filter changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Still {
    /// The headline's sentence, as plain text.
    pub sentence: String,
    /// The errors on sources that the model hasn't seen, by family.
    pub left_out: String,
    /// Headline and targets.
    pub above: String,
    /// Scores by what runs share, between the chart and the runs.
    pub scores: String,
    /// Runs that aren't modelled, the constants, the files.
    pub below: String,
}

impl Still {
    /// The parts for the reports on runs, on runs of serving and on kernels.
    #[must_use]
    pub fn new(
        report: &Validation,
        served: &ServingValidation,
        measured: &KernelValidation,
    ) -> Self {
        let summary = &report.summary;
        Self {
            sentence: words::headline(summary),
            left_out: left_out(summary).into_string(),
            above: html! {
                (headline(report))
                (left_out(summary))
                (seeds())
                (targets(&summary.targets))
                (serving::html(served))
            }
            .into_string(),
            scores: scores(summary).into_string(),
            below: html! {
                (refusals(summary))
                (sweeps::html(report))
                (comparisons(summary))
                (kernels::html(measured))
                (constants::html(&report.rows))
                (files(report))
            }
            .into_string(),
        }
    }
}

fn headline(report: &Validation) -> Markup {
    let summary = &report.summary;
    let whole = |number: usize| format::whole(number as u64);
    html! {
        section.card.trust-card {
            h1 { "How far to trust the numbers" }
            p.trust-headline { (format::unbroken(&words::headline(summary))) }
            @if summary.all.rows > 0 { p { (format::unbroken(&words::fitted(summary))) } }
            p.muted {
                "For each run we compare the first of these that its source reports, in the \
                 source's own convention: step time, tokens per second, TFLOPS, MFU. The error is \
                 predicted / measured − 1. No constant is tuned to a single run, model or source. \
                 What a source doesn't state is filled in by one rule for all runs, and each \
                 assumption is listed with its run."
            }
            p.muted {
                "The file holds " (whole(summary.rows)) " runs. " (whole(summary.candidates))
                " can count towards the targets (tier A or B, a training step, NVIDIA or Ascend); "
                (whole(summary.expressible)) " of them can be modelled, and "
                (whole(summary.expressed)) " are predicted. Model version "
                (report.model_version) "."
            }
        }
    }
}

/// Errors on sources that the model hasn't seen, by family.
fn left_out(summary: &Summary) -> Markup {
    if summary.left_out.is_empty() {
        return Markup::default();
    }
    let rows = summary.left_out.iter().map(|score| {
        vec![
            Cell::text(&words::left_out(score)),
            Cell::text(&format::whole(score.rows as u64)),
            Cell::text(&format::whole(score.sources as u64)),
            Cell::text(&words::share(score.median)),
            Cell::text(&words::share(score.p90)),
            Cell::text(&words::coverage(score)),
        ]
    });
    let intro = "Your cluster is a source that the model hasn't seen. So the constants were \
                 refitted without each source in turn, and its runs predicted from the rest: the \
                 ranges of all numbers come from these errors. Inside is the share of runs within \
                 the 50 and 90 % ranges of the other sources, each source weighted equally.";
    let columns = ["", "Runs", "Sources", "Median error", "90th percentile", "Inside 50, 90 %"];
    card("Sources that the model hasn't seen", intro, &table("By family", &columns, rows))
}

/// The published runs of Pangu Ultra MoE, which no constant was fitted on.
fn seeds() -> Markup {
    let rows = Preset::all().flat_map(|preset| {
        let numbers = of_preset(preset.id).next().and_then(|_| Numbers::of(&preset.design()));
        of_preset(preset.id).filter_map(move |row| {
            let numbers = numbers.as_ref()?;
            let metrics = &numbers.estimate.metrics;
            let ours = metrics.number(row.metric)?;
            Some(vec![
                Cell {
                    link: Some(format!("/?v=1&preset={}", preset.id)),
                    ..Cell::text(preset.title)
                },
                Cell::text(row.metric.metric().label),
                Cell::text(&published::value(row).to_string()),
                Cell::text(&format::measured(row.metric, ours).to_string()),
                Cell::text(&format::relative(ours, row.figure.value)),
                Cell::text(&expected(&numbers.plan, row.metric).short(row.metric, metrics)),
            ])
        })
    });
    let intro = "The runs this tool started from. No constant is fitted on them; each has its \
                 software version as an input. The baseline's layout isn't published: the ladder \
                 gives the range over plausible layouts.";
    let columns = ["Run", "Metric", "Published", "Predicted", "Error", "Range"];
    card("Pangu Ultra MoE", intro, &table("Pangu Ultra MoE", &columns, rows))
}

/// Targets, met or missed.
fn targets(targets: &[Target]) -> Markup {
    let met = targets.iter().filter(|target| target.met).count();
    let intro = format!(
        "{} of {} are met.",
        format::whole(met as u64),
        format::counted(targets.len() as u64, "target", "targets"),
    );
    let rows = targets.iter().map(target_row);
    card("Targets", &intro, &table("Targets", &TARGET_COLUMNS, rows))
}

const TARGET_COLUMNS: [&str; 4] = ["Measure", "Target", "Actual", "Verdict"];

fn target_row(target: &Target) -> Vec<Cell> {
    let (class, verdict) =
        if target.met { ("verdict-met", "✓ Met") } else { ("verdict-missed", "✗ Missed") };
    vec![
        Cell::text(&sentence(&target.asked)),
        Cell::narrow(&format::unbroken(&words::limit(target))),
        Cell::text(&words::reached(target)),
        Cell { class, ..Cell::text(verdict) },
    ]
}

/// The cards of scores, in two columns of about the same height.
fn scores(summary: &Summary) -> Markup {
    let cards = [
        ("accelerator", "By accelerator", Some(Facet::Accelerator)),
        ("precision", "By precision", Some(Facet::Precision)),
        ("metric", "By metric", Some(Facet::Metric)),
        ("source", "By source", Some(Facet::Source)),
        ("framework", "By framework", None),
    ];
    let groups = cards.map(|(by, ..)| {
        summary.groups.iter().filter(|group| group.by == by).collect::<Vec<&Group>>()
    });
    let heights = [0, 1, 2, 3, 4].map(|card: usize| CARD_LINES + groups[card].len());
    let places = columns_of(heights);
    let cards =
        || groups.iter().zip(cards).zip(places).filter(|((groups, _), _)| !groups.is_empty());
    html! {
        div.trust-grid.even {
            @for column in [0, 1] {
                div.column {
                    @for ((groups, (_, title, facet)), _) in cards().filter(|it| it.1 == column) {
                        (group_card(groups, title, facet))
                    }
                }
            }
        }
    }
}

/// Height of a card beside its rows, in rows: heading, names of columns, borders, the gap.
const CARD_LINES: usize = 4;

/// The column of each card: the first card is in the first column, and the columns differ least
/// in height.
fn columns_of<const CARDS: usize>(heights: [usize; CARDS]) -> [usize; CARDS] {
    let column = |split: usize, card: usize| (split >> card) & 1;
    let difference = |split: &usize| {
        let second: usize = (0..CARDS).map(|card| heights[card] * column(*split, card)).sum();
        (2 * second).abs_diff(heights.iter().sum())
    };
    let splits = (0..1_usize << CARDS).step_by(2);
    let best = splits.min_by_key(difference).unwrap_or(0);
    std::array::from_fn(|card| column(best, card))
}

fn group_card(groups: &[&Group], title: &str, facet: Option<Facet>) -> Markup {
    let rows = groups.iter().map(|group| score_row(group, facet));
    let columns = ["", "Runs", "Median error", "90th percentile", "Bias", "Within 10 %"];
    card(title, "", &table(title, &columns, rows))
}

fn score_row(group: &Group, facet: Option<Facet>) -> Vec<Cell> {
    let name = match facet {
        Some(Facet::Accelerator) => words::accelerator_label(&group.name),
        Some(Facet::Metric) => words::metric_label(&group.name),
        Some(Facet::Source | Facet::Tier | Facet::Precision) | None => &group.name,
    };
    let name = if name.is_empty() { "not said" } else { name };
    let link = facet.filter(|_| !group.name.is_empty()).map(|facet| {
        let address = Filter::default().with_facet(facet, &group.name).address();
        format!("{address}#runs")
    });
    let score = &group.score;
    vec![
        Cell { link, ..Cell::text(name) },
        Cell::text(&format::whole(score.rows as u64)),
        Cell::text(&words::share(score.median)),
        Cell::text(&words::share(score.p90)),
        Cell::text(&words::error(score.bias)),
        Cell::text(&format::percent(score.within_tenth, 0).to_string()),
    ]
}

/// Table of the reasons why runs aren't modelled.
fn refusals(summary: &Summary) -> Markup {
    let rows = summary.refusals.iter().map(|refusal| {
        vec![
            Cell::text(&sentence(&refusal.reason)),
            Cell::text(&format::whole(refusal.rows as u64)),
        ]
    });
    let intro = "Runs that can't be modelled, or whose source omits something decisive, are \
                 excluded rather than guessed.";
    sheet::folded(
        "Not modelled",
        intro,
        &table("Reasons for refusing runs", &["Reason", "Runs"], rows),
    )
}

/// Pairs and memory: what one number doesn't say.
fn comparisons(summary: &Summary) -> Markup {
    let memory = summary.memory.as_ref().filter(|memory| memory.rows > 0).map(|memory| {
        format!(
            "Peak memory of a device, {}: half are predicted within {}, nine of ten within {}.",
            format::counted(memory.rows as u64, "run", "runs"),
            words::share(memory.median),
            words::share(memory.p90),
        )
    });
    html! {
        // Two short cards beside each other.
        div.trust-grid.even {
            @if !summary.pairs.is_empty() { (pairs(&summary.pairs)) }
            @if let Some(text) = memory { (card("Memory", &text, &Markup::default())) }
        }
    }
}

fn pairs(pairs: &[Pair]) -> Markup {
    let times = |ratio: f64| Cell::text(&format!("{} ×", format::decimals(ratio, 2)));
    let rows = pairs.iter().map(|pair| {
        vec![
            Cell::text(&pair.what),
            Cell::words(&pair.ids.join(", ")),
            times(pair.measured_ratio),
            times(pair.predicted_ratio),
        ]
    });
    let agrees = |pair: &&Pair| (pair.measured_ratio > 1.0) == (pair.predicted_ratio > 1.0);
    let right = pairs.iter().filter(agrees).count();
    let count = format::counted(pairs.len() as u64, "pair", "pairs");
    let intro = format!(
        "Pairs of runs that differ in one setting: the ratio of their step times. {} of {count} \
         have the same sign.",
        format::whole(right as u64),
    );
    let columns = ["What differs", "Runs", "Measured", "Predicted"];
    // Hundreds of lines that few want to read.
    let folded = html! {
        details { summary { "All " (count) } (table("Pairs", &columns, rows)) }
    };
    card("Differences", &intro, &folded)
}

fn files(report: &Validation) -> Markup {
    let count = format::counted(report.rows.len() as u64, "run", "runs");
    let content = html! {
        p.ways {
            @for (path, label) in [(CSV_PATH, "CSV"), (JSON_PATH, "JSON")] {
                a.button href=(path) download { (label) ", " (count) }
            }
        }
        p.muted { "In a terminal: " code { "moescape validate --json" } }
    };
    card("Files", "", &content)
}

#[cfg(test)]
mod tests {
    use validation::report::kernels::Measured;
    use validation::report::{LeftOutScore, Refusal, Score, Sweep};

    use super::*;

    fn report() -> Validation {
        let score =
            Score { rows: 700, median: 0.071, p90: 0.186, bias: -0.012, within_tenth: 0.64 };
        let group = |by: &str, name: &str| Group {
            by: by.to_owned(),
            name: name.to_owned(),
            score: score.clone(),
        };
        let summary = Summary {
            rows: 1_209,
            all: score.clone(),
            groups: vec![group("accelerator", "h100-sxm-80gb"), group("source", "<b>&")],
            refusals: vec![Refusal { reason: "a Mamba hybrid".into(), rows: 12 }],
            sweeps: vec![Sweep {
                name: "sweep".into(),
                rows: 9,
                rank_correlation: 0.95,
                pairs: 30,
                pairs_in_order: 29,
            }],
            left_out: vec![LeftOutScore {
                family: String::new(),
                kind: None,
                rows: 700,
                sources: 19,
                median: 0.09,
                p90: 0.27,
                coverage: Some([0.5, 0.9]),
            }],
            pairs: vec![Pair {
                what: "recompute".into(),
                ids: ["a".into(), "b".into()],
                measured_ratio: 1.3,
                predicted_ratio: 1.25,
            }],
            memory: Some(score),
            targets: vec![Target {
                name: "median error".into(),
                asked: "median absolute error".into(),
                reached: 0.071,
                limit: 0.08,
                met: true,
            }],
            ..Summary::default()
        };
        Validation { rows: vec![], summary, model_version: "1.0.0".into() }
    }

    fn measured() -> KernelValidation {
        let kernel = |part: &str, predicted_us: f64| Measured {
            table: "table".into(),
            kind: "gemm".into(),
            part: part.into(),
            precision: "fp8".into(),
            shape: "m 4096".into(),
            measured_us: 120.0,
            predicted_us,
            is_held_out: true,
        };
        KernelValidation {
            measured: vec![kernel("h100-sxm-80gb", 126.0), kernel("gb200", 900.0)],
            ..KernelValidation::default()
        }
    }

    /// Kernels that are far off stay in the chart, and every family has a colour.
    #[test]
    fn measured_kernels_are_drawn_by_family() {
        let below = Still::new(&report(), &ServingValidation::default(), &measured()).below;
        for point in ["chart-hopper kernel-points", "chart-grace-blackwell kernel-points"] {
            assert!(below.contains(point), "{below}");
        }
        assert!(below.contains("FP8, 2 shapes"), "{below}");
        let nothing =
            Still::new(&report(), &ServingValidation::default(), &KernelValidation::default())
                .below;
        assert!(!nothing.contains("Kernels and collectives"));
    }

    #[test]
    fn the_page_says_first_how_far_predictions_are_off() {
        let above = Still::new(&report(), &ServingValidation::default(), &measured()).above;
        let sentence = "Half of 700 published runs are predicted within 9.0\u{a0}%, nine of ten \
             within 27.0\u{a0}%, by constants that were fitted without their source.";
        assert!(above.contains(sentence), "{above}");
        assert!(above.contains("at most 8.00\u{a0}%") && above.contains("✓ Met"), "{above}");
    }

    #[test]
    fn every_part_is_well_formed_and_text_is_never_markup() {
        let mut empty = report();
        empty.summary = Summary::default();
        for report in [report(), empty] {
            let Still { above, scores, below, .. } =
                Still::new(&report, &ServingValidation::default(), &measured());
            let html = format!("<div>{above}{scores}{below}</div>");
            // A boolean attribute is HTML but no XML.
            let xml = html.replace(" download>", " download=\"\">");
            roxmltree::Document::parse(&xml).expect("well-formed");
        }
        assert!(
            Still::new(&report(), &ServingValidation::default(), &measured())
                .scores
                .contains("&lt;b&gt;&amp;")
        );
    }

    #[test]
    fn cards_stand_in_columns_of_about_the_same_height() {
        assert_eq!(columns_of([15, 10, 8, 27, 7]), [0, 0, 0, 1, 1]);
        assert_eq!(columns_of([4, 4]), [0, 1]);
        assert_eq!(columns_of([0]), [0]);
    }
}
