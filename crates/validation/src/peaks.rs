//! How far measured peaks of memory are from predicted ones, signed: what the model reads the
//! probability of fitting off.

use std::collections::{BTreeMap, BTreeSet};

use model::catalogue::calibration::MemoryQuantile;
use model::design::link;

use crate::imputation::{self, Item};
use crate::report::Row;
use crate::statistics::weighted_percentile;

/// The shares of [`model::catalogue::calibration::MEMORY_QUANTILES`].
const SHARES: [f64; 7] = [0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95];

/// A published peak beside its prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak<'a> {
    /// Publisher of the peak.
    pub source: &'a str,
    /// ln(measured / predicted): positive where more was needed than predicted.
    pub log_ratio: f64,
    /// Whether it ran, though predicted not to fit: the limit of its memory is taken for its peak,
    /// which was no higher.
    pub is_bound: bool,
    /// Its part of what its source counts.
    pub weight: f64,
}

/// The peaks that tell how far the model is off: of tier A and B, each once, without those that it
/// was derived from.
///
/// Left out are rows of layers that differ, which are a class of their own, and those that print
/// neither recomputation nor micro-batch, or only one of them: what
/// activations need is their product, so their error is that of the imputation and not the
/// model's. A run that differs from another only in what its peak doesn't depend on (the number of
/// micro-batches, the kind of routing) repeats its peak, and counts once with it.
///
/// Nothing is left out for being far off. Those that are furthest are BLOOM's prototypes, whose
/// readings are what `nvidia-smi` shows on 384 GPUs: two runs that differ in the micro-batch alone
/// read 65 GB for two sequences and 56 for four.
///
/// A run that prints no peak but ran needed no more than its memory: where more was predicted, that
/// bounds the error. Such a run counts as one of all its source's runs; those that were predicted
/// to fit say nothing, and leave their part of the source's weight to the rest.
#[must_use]
pub fn peaks(rows: &[Row]) -> Vec<Peak<'_>> {
    let is_printed = |row: &&Row| {
        let assumes = |item| imputation::is_among(item, &row.assumed);
        matches!(row.tier.as_str(), "A" | "B")
            && !row.is_derived_memory
            && !is_mixed(row)
            && !assumes(Item::Recompute)
            && !assumes(Item::MicroBatchSize)
    };
    let mut of_source: BTreeMap<&str, Source> = BTreeMap::new();
    for row in rows.iter().filter(is_printed) {
        let Some(predicted) = row.memory_predicted_gib else { continue };
        let source = of_source.entry(&row.source_id).or_default();
        if let Some(measured) = row.memory_measured_gib {
            if source.known.insert((measured.to_bits(), predicted.to_bits())) {
                source.errors.push((measured / predicted).ln());
            }
        } else if let Some(limit) = limit_gib(row) {
            source.runs += 1.0;
            if predicted > limit {
                source.bounds.push((limit / predicted).ln());
            }
        }
    }
    of_source.iter().flat_map(|(name, source)| source.peaks(name)).collect()
}

/// Errors of a source's peaks.
#[derive(Clone, Debug, Default)]
struct Source {
    /// Peaks that were taken already, measured and predicted.
    known: BTreeSet<(u64, u64)>,
    errors: Vec<f64>,
    bounds: Vec<f64>,
    /// Runs without a peak.
    runs: f64,
}

impl Source {
    fn peaks<'a>(&self, source: &'a str) -> Vec<Peak<'a>> {
        let bound = if self.runs > 0.0 { 1.0 / self.runs } else { 0.0 };
        let rest = 1.0 - bound * self.bounds.len() as f64;
        let error = rest / self.errors.len().max(1) as f64;
        let of = |is_bound, weight| move |log_ratio| Peak { source, log_ratio, is_bound, weight };
        let errors = self.errors.iter().copied().map(of(false, error));
        errors.chain(self.bounds.iter().copied().map(of(true, bound))).collect()
    }
}

/// Whether a row's layers differ by what mixes their tokens: a class of its own, whose errors say
/// nothing of the others'.
pub(crate) fn is_mixed(row: &Row) -> bool {
    let design =
        row.design.as_deref().and_then(|link| link::decode(link.trim_start_matches('?')).ok());
    design.is_some_and(|design| design.transformer.is_mixed())
}

/// The memory that a row's program gets on a device.
fn limit_gib(row: &Row) -> Option<f64> {
    let cluster = link::decode(row.design.as_ref()?.trim_start_matches('?')).ok()?.cluster;
    Some(cluster.hbm_usable_gib.unwrap_or(cluster.accelerator.row().hbm_usable_gib))
}

/// The quantiles of these peaks, each source with the same weight in all.
///
/// A few sources print many peaks, and those of one source share what is wrong with it. Whoever
/// asks the model is a new source; so each counts as one.
#[must_use]
pub fn quantiles(peaks: &[Peak<'_>]) -> Vec<MemoryQuantile> {
    let weighed: Vec<(f64, f64)> = peaks.iter().map(|peak| (peak.log_ratio, peak.weight)).collect();
    let quantile =
        |share: f64| MemoryQuantile { share, log_ratio: weighted_percentile(&weighed, share) };
    SHARES.map(quantile).to_vec()
}

/// The table as the model's source has it.
#[must_use]
pub fn table(peaks: &[Peak<'_>]) -> String {
    let measured = || peaks.iter().filter(|peak| !peak.is_bound);
    let sources: BTreeSet<&str> = measured().map(|peak| peak.source).collect();
    let mut text = format!(
        "/// Signed errors of the peak memory, of {} peaks from {} sources that print \
         recomputation and\n/// micro-batch, and of {} runs that ran though predicted not to \
         fit.\n#[rustfmt::skip]\npub const MEMORY_QUANTILES: [MemoryQuantile; {}] = [\n",
        measured().count(),
        sources.len(),
        peaks.len() - measured().count(),
        SHARES.len(),
    );
    for MemoryQuantile { share, log_ratio } in quantiles(peaks) {
        text +=
            &format!("    MemoryQuantile {{ share: {share:.2}, log_ratio: {log_ratio:.3} }},\n");
    }
    text + "];\n"
}
