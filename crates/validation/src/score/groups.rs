//! Scores of rows that share something, and of published sweeps.

use std::collections::BTreeMap;

use crate::report::{Group, Row, Score, Sweep};
use crate::statistics;

/// Designs of a published sweep, at least.
const MIN_SWEEP_DESIGNS: usize = 8;

/// Property that the rows of a group share.
type Key = fn(&Row) -> Option<&str>;

/// Scores by metric, accelerator, source, precision and framework.
pub(super) fn groups(rows: &[&Row]) -> Vec<Group> {
    let keys: [(&str, Key); 5] = [
        ("metric", |row| row.metric.as_deref()),
        ("accelerator", |row| row.accelerator.as_deref()),
        ("source", |row| Some(&row.source_id)),
        ("precision", |row| Some(&row.precision)),
        ("framework", |row| row.framework.as_deref()),
    ];
    let mut groups = vec![];
    for (by, key) in keys {
        let mut named: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().copied() {
            if let Some(name) = key(row) {
                named.entry(name).or_default().push(row);
            }
        }
        groups.extend(named.into_iter().map(|(name, rows)| Group {
            by: by.to_owned(),
            name: name.to_owned(),
            score: statistics::score(&rows),
        }));
    }
    groups
}

/// Scores of rows that are reported apart, by source.
pub(super) fn apart(rows: &[&Row]) -> Vec<Group> {
    groups(rows).into_iter().filter(|group| group.by == "source").collect()
}

/// The score of rows whose layers differ by what mixes their tokens: a class of its own.
pub(super) fn mixed(rows: &[&Row]) -> Option<Group> {
    let score = statistics::score(rows);
    let name = "layers that differ".to_owned();
    (!rows.is_empty()).then(|| Group { by: "class".to_owned(), name, score })
}

/// The class of rows that train adapters of low rank alone.
pub(super) const LORA: &str = "fine-tuning, LoRA";

/// The class of fine-tuning that a row is of: its tables are of tier C, as they say little of the
/// batch.
pub(super) fn fine_tuning(row: &Row) -> Option<&'static str> {
    let words: Vec<String> = row.model.split_whitespace().map(|word| word.to_lowercase()).collect();
    let has = |word: &str| words.iter().any(|own| own == word);
    if has("lora") { Some(LORA) } else { has("sft").then_some("fine-tuning, all weights") }
}

/// The scores of fine-tuning, a class by what is trained, whatever the rows' tier.
pub(super) fn fine_tuned<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Group> {
    let mut named: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows.filter(|row| row.error.is_some()) {
        if let Some(class) = fine_tuning(row) {
            named.entry(class).or_default().push(row);
        }
    }
    let group = |(name, rows): (&str, Vec<&Row>)| Group {
        by: "class".to_owned(),
        name: name.to_owned(),
        score: statistics::score(&rows),
    };
    named.into_iter().map(group).collect()
}

/// Rank correlations inside each sweep: rows of one source, model and accelerator, in the metric
/// that the source prints.
///
/// Runs of one design, which several releases repeat, count once with their mean: no prediction
/// can rank them.
pub(super) fn sweeps(rows: &[&Row]) -> Vec<Sweep> {
    type Designs<'a> = BTreeMap<&'a str, (f64, Vec<f64>)>;
    let mut named: BTreeMap<String, Designs<'_>> = BTreeMap::new();
    for row in rows {
        let design = row.design.as_deref().unwrap_or_default();
        if let (Some(predicted), Some(measured)) = (row.predicted, row.measured) {
            let accelerator = row.accelerator.as_deref().unwrap_or_default();
            let metric = row.metric.as_deref().unwrap_or_default();
            let name = format!("{}, {} on {accelerator} ({metric})", row.source_id, row.model);
            let designs = named.entry(name).or_default();
            designs.entry(design).or_insert((predicted, vec![])).1.push(measured);
        }
    }
    named
        .into_iter()
        .filter(|(_, designs)| designs.len() >= MIN_SWEEP_DESIGNS)
        .map(|(name, designs)| {
            let pairs: Vec<(f64, f64)> = designs
                .values()
                .map(|(predicted, measured)| (*predicted, statistics::mean(measured)))
                .collect();
            let told: Vec<bool> = (0..pairs.len())
                .flat_map(|one| (0..one).map(move |other| (one, other)))
                .filter_map(|(one, other)| in_order(pairs[one], pairs[other]))
                .collect();
            Sweep {
                name,
                rows: pairs.len(),
                rank_correlation: statistics::rank_correlation(&pairs),
                pairs: told.len(),
                pairs_in_order: told.iter().filter(|right| **right).count(),
            }
        })
        .collect()
}

/// The difference of two measured values above which it isn't repetition's own.
const MIN_DIFFERENCE: f64 = 0.03;

/// Whether two designs, predicted and measured, are in the right order; `None` if the measured
/// values are nearer than repetition.
fn in_order(one: (f64, f64), other: (f64, f64)) -> Option<bool> {
    let measured = (one.1 / other.1).ln();
    (measured.abs() > MIN_DIFFERENCE.ln_1p()).then_some((one.0 > other.0) == (measured > 0.0))
}

/// The score of peak memory over rows with a published and a predicted one.
pub(super) fn memory<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<Score> {
    let mut errors = vec![];
    for row in rows.filter(|row| matches!(row.tier.as_str(), "A" | "B")) {
        if let (Some(measured), Some(predicted)) =
            (row.memory_measured_gib, row.memory_predicted_gib)
        {
            errors.push(predicted / measured - 1.0);
        }
    }
    if errors.is_empty() {
        return None;
    }
    let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    let within = sizes.iter().filter(|error| **error <= 0.1).count();
    Some(Score {
        rows: errors.len(),
        median: statistics::percentile(&sizes, 0.5),
        p90: statistics::percentile(&sizes, 0.9),
        bias: statistics::percentile(&errors, 0.5),
        within_tenth: within as f64 / sizes.len() as f64,
    })
}
