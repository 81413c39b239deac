//! What routing makes of the few tokens of a step.
//!
//! Letters: T tokens of all attention groups, k experts of a token, E experts, n ranks that whole
//! experts are spread over.

use super::resident::Resident;
use crate::device::rows::Routed;
use crate::layer::deployment::Deployment;
use crate::layer::mlp::Moe;
use crate::routing::random::quantile;

/// The mean of the largest of this many standard normals, by Blom.
fn largest(of: f64) -> f64 {
    if of <= 1.0 { 0.0 } else { quantile((of - 0.375) / (of + 0.25)) }
}

/// Copies and distinct experts of the busiest of the ranks that share out the experts of this many
/// tokens; `skew` is how far the busiest rank's mean load is above the mean of all.
///
/// A rank's copies are T k / n in the mean, and vary as a count does: by its root. Of its E / n
/// experts each gets a token with p = 1 - (1 - k / E)^T; how many do varies by (E / n) p (1 - p).
/// Groups that every token visits alike (MoGE) have no such spread on ranks that hold whole groups.
/// Where some experts live on the host, a rank has its share of the others, and copies of those
/// visits alone.
pub(super) fn routed(
    moe: &Moe,
    on: &Deployment,
    tokens: f64,
    skew: f64,
    resident: Resident,
) -> Routed {
    let (experts, ranks) = (moe.experts.max(1) as f64, on.ranks.ep as f64);
    // Copies of busy experts are on ranks of their own.
    let (all, experts) = (moe.local_experts(on) as f64, experts * resident.share);
    let local = all * resident.share;
    let topk = moe.visited() * resident.hits;
    let mean = tokens * topk / ranks;
    let is_even = moe.is_even_on(on.ranks.ep);
    let spread = if is_even { 0.0 } else { largest(ranks) };
    let busiest = mean * skew + spread * libm::sqrt(mean);
    // No rank gets more than each of its experts for every token.
    let most = tokens * local.min(topk);
    let imbalance = (busiest.min(most) / mean).max(1.0);
    let chance = 1.0 - libm::pow(1.0 - (topk / experts).min(1.0), tokens);
    let touched = local * chance + spread * libm::sqrt(local * chance * (1.0 - chance));
    let touched = touched.min(mean * imbalance).min(local).max(1.0);
    Routed { kept: resident.hits, imbalance, fullest: imbalance, touched: touched / all }
}
