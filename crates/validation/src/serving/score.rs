//! Runs of serving beside their predictions, and the scores.

use std::collections::BTreeMap;

use model::ground::choice::Choice as _;
use model::{MODEL_VERSION, design::link};

use super::expression::express;
use super::{Measured, ServingRow, ServingRun};
use crate::report::serving::{ServingRowReport, ServingValidation};
use crate::report::{Group, Refusal, Score, Target};
use crate::statistics::score_of;

/// Role of the seeds' rows: Pangu Pro MoE and its dense rivals.
const SEED: &str = "seed";

impl Measured {
    /// Its public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::Ttft => "ttft",
            Self::Prefill => "prefill",
            Self::Latency => "latency",
            Self::Output => "output",
            Self::Total => "total",
            Self::Input => "input",
        }
    }

    /// Whether it is a rate, whose error has the other sign than that of the time.
    #[must_use]
    pub const fn is_rate(self) -> bool {
        matches!(self, Self::Output | Self::Total | Self::Input)
    }

    /// Whether it is of tokens behind the first one, or of throughput.
    const fn is_of_tokens(self) -> bool {
        matches!(self, Self::Tpot | Self::Itl | Self::Output | Self::Total | Self::Latency)
    }
}

/// Every row beside its prediction.
#[must_use]
pub fn validate(rows: &[ServingRow]) -> ServingValidation {
    let mut report = ServingValidation {
        rows: rows.iter().map(one).collect(),
        model_version: MODEL_VERSION.into(),
        ..ServingValidation::default()
    };
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in report.rows.iter().filter_map(|row| row.refused.as_deref()).map(in_general) {
        *refused.entry(reason).or_default() += 1;
    }
    let refused = refused.into_iter();
    report.refusals =
        refused.map(|(reason, rows)| Refusal { reason: reason.into(), rows }).collect();
    let scored: Vec<&ServingRowReport> = report.rows.iter().filter(|row| row.scored).collect();
    report.groups = groups(&scored);
    report.targets = targets(&scored);
    report
}

/// A reason without what is particular to one row: rules that are broken name numbers.
fn in_general(reason: &str) -> &str {
    let is_of_rules = reason.contains(|sign: char| sign.is_ascii_digit());
    if is_of_rules { "by the model it breaks a rule or has no room" } else { reason }
}

fn one(row: &ServingRow) -> ServingRowReport {
    let mut report = ServingRowReport {
        id: row.id.clone(),
        source_id: row.source_id.clone(),
        tier: row.tier.clone(),
        framework: row.framework.clone(),
        model: row.model.clone(),
        accelerator: row.accelerator.clone(),
        measured_field: row.measured_field.clone(),
        is_seed: row.is(SEED),
        ..ServingRowReport::default()
    };
    match express(row).and_then(|run| run.predicted(None).map(|predicted| (run, predicted))) {
        Ok((run, predicted)) => told(&mut report, &run, predicted),
        Err(reason) => report.refused = Some(reason),
    }
    report
}

fn told(report: &mut ServingRowReport, run: &ServingRun, predicted: f64) {
    let ratio = predicted / run.value;
    report.engine = Some(run.engine.name().into());
    report.metric = Some(run.measured.name().into());
    report.measured = Some(run.value);
    report.predicted = Some(predicted);
    report.time_error = Some(if run.measured.is_rate() { 1.0 / ratio } else { ratio } - 1.0);
    report.scored = run.row.tier != "C";
    report.design = Some(link::encode(&run.design));
}

fn measured(row: &ServingRowReport) -> Option<Measured> {
    let name = row.metric.as_deref()?;
    [
        Measured::Tpot,
        Measured::Itl,
        Measured::Ttft,
        Measured::Prefill,
        Measured::Latency,
        Measured::Output,
        Measured::Total,
        Measured::Input,
    ]
    .into_iter()
    .find(|it| it.name() == name)
}

fn is_of_tokens(row: &ServingRowReport) -> bool {
    measured(row).is_some_and(Measured::is_of_tokens)
}

fn score<'a>(rows: impl Iterator<Item = &'a ServingRowReport>) -> Score {
    let errors: Vec<f64> = rows.filter_map(|row| row.time_error).collect();
    score_of(&errors, &errors)
}

type Key = fn(&ServingRowReport) -> String;

fn groups(scored: &[&ServingRowReport]) -> Vec<Group> {
    let of: [(&str, Key, bool); 5] = [
        ("metric", |row| row.metric.clone().unwrap_or_default(), false),
        ("engine", |row| row.engine.clone().unwrap_or_default(), true),
        ("accelerator", |row| row.accelerator.clone(), true),
        ("source", |row| row.source_id.clone(), true),
        ("model", |row| row.model.clone(), true),
    ];
    let mut groups = Vec::new();
    for (by, key, is_tokens) in of {
        let mut rows: BTreeMap<String, Vec<&ServingRowReport>> = BTreeMap::new();
        for row in scored.iter().filter(|row| !is_tokens || is_of_tokens(row)) {
            rows.entry(key(row)).or_default().push(row);
        }
        groups.extend(rows.into_iter().map(|(name, rows)| Group {
            by: by.into(),
            name,
            score: score(rows.into_iter()),
        }));
    }
    groups
}

fn targets(scored: &[&ServingRowReport]) -> Vec<Target> {
    let of = |is_asked: &dyn Fn(&ServingRowReport) -> bool| {
        score(scored.iter().copied().filter(|row| is_asked(row)))
    };
    let tokens = of(&is_of_tokens);
    let first = of(&|row| measured(row) == Some(Measured::Prefill));
    let seeds = of(&|row| row.is_seed);
    let target = |name: &str, asked: &str, score: &Score, reached: f64, limit: f64| {
        (score.rows > 0).then(|| Target {
            name: name.into(),
            asked: asked.into(),
            reached,
            limit,
            met: reached <= limit,
        })
    };
    [
        target(
            "tokens, median",
            "median absolute error of TPOT, ITL and throughput",
            &tokens,
            tokens.median,
            0.12,
        ),
        target("tokens, 90th percentile", "90th percentile of the same", &tokens, tokens.p90, 0.35),
        target(
            "prefill, median",
            "median absolute error of prompts without load",
            &first,
            first.median,
            0.2,
        ),
        target(
            "Pangu Pro MoE and its rivals",
            "median absolute error of the runs on Atlas 800I A2 and 300I Duo",
            &seeds,
            seeds.median,
            0.15,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
