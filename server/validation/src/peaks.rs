//! How far measured peaks of memory are from predicted ones, signed: what the model reads the
//! probability of fitting off.

use std::collections::{BTreeMap, BTreeSet};

use model::calibration::MemoryQuantile;

use crate::imputation::{self, Item};
use crate::report::Row;
use crate::score::statistics::weighted_percentile;

/// The shares of [`model::calibration::MEMORY_QUANTILES`].
const SHARES: [f64; 7] = [0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95];

/// A published peak beside its prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak<'a> {
    /// Who published it.
    pub source: &'a str,
    /// ln(measured / predicted): positive where more was needed than predicted.
    pub log_ratio: f64,
}

/// The source whose peaks the buffers of a running task were derived from: they say nothing of how
/// far off another source's are.
const DERIVED_FROM: &str = "simumax_b200";

/// The peaks that tell how far the model is off: of tier A and B, each once, without those that it
/// was derived from ([`DERIVED_FROM`]).
///
/// Left out are rows that print neither recomputation nor micro-batch, or only one of them: what
/// activations need is their product, so their error is that of the imputation and not the
/// model's. A run that differs from another only in what its peak doesn't depend on (the number of
/// micro-batches, the kind of routing) repeats its peak, and counts once with it.
///
/// Nothing is left out for being far off. Those that are furthest are BLOOM's prototypes, whose
/// readings are what `nvidia-smi` shows on 384 GPUs: two runs that differ in the micro-batch alone
/// read 65 GB for two sequences and 56 for four.
#[must_use]
pub fn peaks(rows: &[Row]) -> Vec<Peak<'_>> {
    let mut known = BTreeSet::new();
    let rows = rows.iter().filter(|row| matches!(row.tier.as_str(), "A" | "B"));
    let is_printed = |row: &&Row| {
        let assumes = |item| imputation::is_among(item, &row.assumed);
        !assumes(Item::Recompute) && !assumes(Item::MicroBatchSize)
    };
    rows.filter(|row| row.source_id != DERIVED_FROM)
        .filter(is_printed)
        .filter_map(|row| {
            let (measured, predicted) = (row.memory_measured_gib?, row.memory_predicted_gib?);
            let source = row.source_id.as_str();
            let is_new = known.insert((source, measured.to_bits(), predicted.to_bits()));
            is_new.then(|| Peak { source, log_ratio: (measured / predicted).ln() })
        })
        .collect()
}

/// The quantiles of these peaks, each source with the same weight in all.
///
/// A few sources print many peaks, and those of one source share what is wrong with it. Whoever
/// asks the model is a new source; so each counts as one.
#[must_use]
pub fn quantiles(peaks: &[Peak<'_>]) -> Vec<MemoryQuantile> {
    let mut of_source: BTreeMap<&str, f64> = BTreeMap::new();
    for peak in peaks {
        *of_source.entry(peak.source).or_default() += 1.0;
    }
    let weigh = |peak: &Peak<'_>| {
        let all = of_source.get(peak.source).copied().unwrap_or(1.0);
        (peak.log_ratio, 1.0 / all)
    };
    let weighed: Vec<(f64, f64)> = peaks.iter().map(weigh).collect();
    let quantile =
        |share: f64| MemoryQuantile { share, log_ratio: weighted_percentile(&weighed, share) };
    SHARES.map(quantile).to_vec()
}

/// The table as the model's source has it.
#[must_use]
pub fn table(peaks: &[Peak<'_>]) -> String {
    let sources: BTreeSet<&str> = peaks.iter().map(|peak| peak.source).collect();
    let mut text = format!(
        "/// Signed errors of the peak memory, of {} peaks from {} sources that print \
         recomputation and\n/// micro-batch.\n#[rustfmt::skip]\npub const MEMORY_QUANTILES: \
         [MemoryQuantile; {}] = [\n",
        peaks.len(),
        sources.len(),
        SHARES.len(),
    );
    for MemoryQuantile { share, log_ratio } in quantiles(peaks) {
        text +=
            &format!("    MemoryQuantile {{ share: {share:.2}, log_ratio: {log_ratio:.3} }},\n");
    }
    text + "];\n"
}
