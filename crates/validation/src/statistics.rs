//! Medians, percentiles and rank correlation.

use model::ground::sorting::quantile;

use crate::report::{Row, Score};

/// The score of rows that have a prediction.
pub(super) fn score(rows: &[&Row]) -> Score {
    let errors: Vec<f64> = rows.iter().filter_map(|row| row.error).collect();
    let times: Vec<f64> = rows.iter().filter_map(|row| row.time_error).collect();
    score_of(&errors, &times)
}

/// The score of errors; its bias is that of `times`, whose sign means slower or faster.
#[must_use]
pub fn score_of(errors: &[f64], times: &[f64]) -> Score {
    let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    let within = sizes.iter().filter(|error| **error <= 0.1).count();
    Score {
        rows: sizes.len(),
        median: percentile(&sizes, 0.5),
        p90: percentile(&sizes, 0.9),
        bias: percentile(times, 0.5),
        within_tenth: if sizes.is_empty() { 0.0 } else { within as f64 / sizes.len() as f64 },
    }
}

/// A percentile, between two values in proportion; zero of nothing.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, share)
}

/// A percentile of values with weights, between the middles of two values' weights in proportion;
/// zero of nothing.
pub(crate) fn weighted_percentile(values: &[(f64, f64)], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let mut before: Option<(f64, f64)> = None;
    let mut reached = 0.0;
    for (value, weight) in sorted {
        let middle = (reached + weight / 2.0) / all;
        reached += weight;
        if share <= middle {
            return before.map_or(value, |(lower, at)| {
                lower + (value - lower) * (share - at) / (middle - at)
            });
        }
        before = Some((value, middle));
    }
    before.map_or(0.0, |(value, _)| value)
}

/// The mean; zero of nothing.
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Spearman's rank correlation; equal values share the mean of their ranks.
pub(super) fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let left = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let right = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let (mean_left, mean_right) = (mean(&left), mean(&right));
    let product = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
    };
    let both = product(&left, mean_left, &right, mean_right);
    let spread = product(&left, mean_left, &left, mean_left)
        * product(&right, mean_right, &right, mean_right);
    if spread > 0.0 { both / spread.sqrt() } else { 0.0 }
}

fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| other.total_cmp(value).is_lt()).count();
            let equal = values.iter().filter(|other| other.total_cmp(value).is_eq()).count();
            below as f64 + (equal as f64 + 1.0) / 2.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
    }

    #[test]
    fn percentiles_lie_between_values_in_proportion() {
        let values = [4.0, 1.0, 2.0, 3.0];
        close(percentile(&values, 0.5), 2.5);
        close(percentile(&values, 0.9), 3.7);
        close(percentile(&values, 1.0), 4.0);
        close(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn weighted_percentiles_lie_between_the_middles_of_two_weights() {
        let values = [(2.0, 1.0), (1.0, 1.0), (3.0, 2.0)];
        close(weighted_percentile(&values, 0.0), 1.0);
        close(weighted_percentile(&values, 0.125), 1.0);
        close(weighted_percentile(&values, 0.25), 1.5);
        close(weighted_percentile(&values, 0.75), 3.0);
        close(weighted_percentile(&values, 1.0), 3.0);
        close(weighted_percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn ranks_correlate_whatever_the_scale() {
        close(rank_correlation(&[(1.0, 10.0), (2.0, 100.0), (3.0, 1_000.0)]), 1.0);
        close(rank_correlation(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0);
        close(rank_correlation(&[(1.0, 1.0), (1.0, 2.0)]), 0.0);
        close(rank_correlation(&[]), 0.0);
    }
}
