//! The brief: a run on one page, as HTML, Markdown and a table for other programs.

use std::fmt::Write as _;

use maud::html;
use model::ground::knob::KnobError;
use model::ground::units::Seconds;
use model::metric::{MetricId, Regime};
use model::run::quality::CAVEAT;

use super::{BudgetAnswer, BudgetInput, CSV_PATH, MARKDOWN_PATH, asked, labels, quality};
use crate::format;
use crate::words::provenance::{self, Provenance};

/// Head of the brief.
const LINES: [MetricId; 8] = [
    MetricId::days_to_train,
    MetricId::device_hours,
    MetricId::cost,
    MetricId::energy_kwh,
    MetricId::goodput_ratio,
    MetricId::failures_expected,
    MetricId::checkpoint_bytes,
    MetricId::optimal_checkpoint_interval_seconds,
];

/// The brief on the page, with the ways to take it along.
pub fn html(of: &BudgetAnswer) -> String {
    let query = of.asked.query();
    let markup = html! {
        table.budget-brief {
            caption { (title(&of.asked)) }
            tbody {
                @for metric in LINES {
                    tr {
                        th scope="row" { (metric.metric().label) }
                        td { (labels::value(of, metric)) }
                        td { (labels::likely(of, metric)) }
                    }
                }
            }
        }
        p.ways.budget-takes {
            a.button href={ (MARKDOWN_PATH) "?" (query) } download { "Brief, Markdown" }
            " "
            a.button href={ (CSV_PATH) "?" (query) } download { "Numbers, CSV" }
        }
        p.muted { "Print this page for one sheet." }
    };
    markup.into_string()
}

fn title(asked: &BudgetInput) -> String {
    let cluster = &asked.design.cluster;
    format!(
        "{} · {} x {}",
        asked.design.preset.model_name(),
        format::whole(cluster.num_devices),
        cluster.accelerator.row().title
    )
}

/// The run of a raw query string, or what is wrong with it.
fn read(raw: &str) -> Result<BudgetAnswer, Vec<KnobError>> {
    BudgetAnswer::new(&asked(raw)?).map_err(|violations| {
        let error = |broken: model::design::violation::Violation| KnobError {
            rule: broken.rule,
            knob: broken.knobs.first().map(|knob| knob.id()).unwrap_or_default(),
            detail: broken.message,
            nearest: broken
                .nearest
                .iter()
                .map(|it| format!("{}={}", it.knob.id(), it.value))
                .collect(),
        };
        violations.into_iter().map(error).collect()
    })
}

/// The brief of a raw query string as Markdown.
///
/// # Errors
/// What is wrong with the query, or the rules that the design breaks.
pub fn markdown(raw: &str, date: &str) -> Result<String, Vec<KnobError>> {
    let of = read(raw)?;
    let own = &of.assessment.own;
    let mut text = format!("# {}\n\n", title(&of.asked));
    text.push_str("| | | |\n|---|---|---|\n");
    for metric in LINES {
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            metric.metric().label,
            labels::value(&of, metric),
            labels::likely(&of, metric)
        );
    }
    if let Some(outcomes) = own.budget.outcomes {
        let [early, late] = [outcomes.early, outcomes.late].map(Seconds::to_days);
        let _ = writeln!(
            text,
            "\nOf ten equal runs one ends within {} days and nine within {} days.",
            format::significant(early, 4),
            format::significant(late, 4)
        );
    }
    if let Some(judged) = &of.assessment.judged {
        text.push_str("\n## Loss beside a baseline\n\n");
        match &judged.comparison {
            Ok(comparison) => {
                let loss = &comparison.loss_difference;
                let _ = writeln!(
                    text,
                    "{} Difference {} nats per token [{}, {}].",
                    quality::verdict(comparison),
                    format::signed(loss.median, 4),
                    format::signed(loss.min, 4),
                    format::signed(loss.max, 4)
                );
            }
            Err(refusals) => refusals.iter().for_each(|it| {
                let _ = writeln!(text, "- {}", it.words());
            }),
        }
        let _ = writeln!(text, "\n{CAVEAT}");
    }
    let said = own.budget.warnings.iter().chain(&own.budget.assumed);
    let said: Vec<String> = said.map(|line| format!("- {line}\n")).collect();
    if !said.is_empty() {
        let _ = write!(text, "\n## To know\n\n{}", said.concat());
    }
    text.push('\n');
    for (name, value) in provenance_of(&of, date).entries() {
        let _ = writeln!(text, "- {}: {value}", name.replace('_', " "));
    }
    Ok(text)
}

fn provenance_of(of: &BudgetAnswer, date: &str) -> Provenance {
    Provenance { design: of.asked.address(), date: date.to_owned() }
}

/// Every metric of the run of a raw query string as a table for other programs, unrounded, with
/// what laws say and their caveat.
///
/// # Errors
/// What is wrong with the query, or the rules that the design breaks.
pub fn csv(raw: &str, date: &str) -> Result<String, Vec<KnobError>> {
    let of = read(raw)?;
    let own = &of.assessment.own;
    let columns = ["id", "unit", "value", "low_50", "high_50", "low_90", "high_90", "note"];
    let mut rows = vec![columns.map(str::to_owned).to_vec()];
    let number = |value: Option<f64>| value.map_or_else(String::new, |it| it.to_string());
    for metric in MetricId::of(Regime::Budget) {
        let (value, range) = (own.answer().number(metric), own.answer().range(metric));
        let end = |most: bool, place: usize| {
            let factor = range.map(|it| if most { it.most[place] } else { it.half[place] });
            number(value.zip(factor).map(|(value, factor)| value * factor))
        };
        let (id, unit) = (metric.metric().name, metric.metric().unit.name());
        let cells = [id.to_owned(), unit.to_owned(), number(value)];
        let ends = [end(false, 0), end(false, 1), end(true, 0), end(true, 1)];
        rows.push(cells.into_iter().chain(ends).chain([String::new()]).collect());
    }
    if let Some(Ok(comparison)) = of.assessment.judged.as_ref().map(|it| &it.comparison) {
        let spreads = [
            ("loss_difference", "nats/token", Some(comparison.loss_difference)),
            ("tokens_to_equal_loss", "", comparison.tokens_to_equal_loss),
        ];
        for (id, unit, spread) in spreads {
            let [median, min, max] = [
                number(spread.map(|it| it.median)),
                number(spread.map(|it| it.min)),
                number(spread.map(|it| it.max)),
            ];
            let baseline = quality::baseline_link(&of.asked).unwrap_or_default();
            let note = format!("{CAVEAT} Least and most of laws in place of ranges. /?{baseline}");
            let cells = [id.to_owned(), unit.to_owned(), median, min, max];
            let rest = [String::new(), String::new(), note];
            rows.push(cells.into_iter().chain(rest).collect());
        }
    }
    Ok(provenance::csv(&provenance_of(&of, date).in_rows(rows)))
}
