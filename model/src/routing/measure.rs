//! Measures of load imbalance.

use crate::ground::sorting::sort_numbers;

/// The fullest device's tokens over the mean: 1 when all get the same, also when all get none.
///
/// # Source
/// The paper's device load; TensorRT-LLM's `report_load_statistics.py` prints it less one.
#[must_use]
pub fn imbalance(loads: &[f64]) -> f64 {
    let sum: f64 = loads.iter().sum();
    if sum > 0.0 { most(loads) * loads.len() as f64 / sum } else { 1.0 }
}

/// MoGE's imbalance score: (max - min) / |X|, |X| being the tokens of the batch.
///
/// # Source
/// Pangu Pro MoE, arXiv 2505.21411, section 2.
#[must_use]
pub fn imbalance_score(loads: &[f64], tokens: f64) -> f64 {
    let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
    if tokens > 0.0 && least.is_finite() { (most(loads) - least) / tokens } else { 0.0 }
}

/// Standard deviation over mean, the spread by which MindSpeed decides whether to move experts.
///
/// # Source
/// MindSpeed, `moe_expert_load_balance_placeemnt.md`.
#[must_use]
pub fn coefficient_of_variation(loads: &[f64]) -> f64 {
    let count = loads.len() as f64;
    let mean = loads.iter().sum::<f64>() / count;
    if mean > 0.0 {
        let squares: f64 = loads.iter().map(|load| (load - mean) * (load - mean)).sum();
        libm::sqrt(squares / count) / mean
    } else {
        0.0
    }
}

/// Gini's coefficient: 0 when all get the same, towards 1 when one gets all.
///
/// For loads in ascending order: sum of (2 i - n - 1) x_i over n times their sum. Of a log-normal
/// it is erf(sigma / 2).
#[must_use]
pub fn gini(loads: &[f64]) -> f64 {
    let mut sorted = loads.to_vec();
    sort_numbers(&mut sorted);
    let (count, sum) = (sorted.len() as f64, sorted.iter().sum::<f64>());
    let weighted = |(index, load): (usize, &f64)| (2.0 * (index as f64 + 1.0) - count - 1.0) * load;
    let weighted: f64 = sorted.iter().enumerate().map(weighted).sum();
    if sum > 0.0 { weighted / (count * sum) } else { 0.0 }
}

/// The largest load.
pub(super) fn most(loads: &[f64]) -> f64 {
    loads.iter().copied().fold(0.0, f64::max)
}
