//! Published tokens, failures, storage and facilities: what an unknown input of a run may be.

use super::figure::Figure;
use crate::ground::source::{
    DEEPSEEK_V3, GOOGLE_ENVIRONMENT, LLAMA_3_HERD, OPENPANGU, RESEARCH_CLUSTERS, Source,
    UPTIME_SURVEY,
};
use crate::metric::unit::Unit;

/// A published value that an unknown input of a run may be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunInput {
    /// The public name.
    pub name: &'static str,
    /// Title of the run, cluster or storage, for people.
    pub title: &'static str,
    /// The value.
    pub figure: Figure,
}

const fn row(
    name: &'static str,
    title: &'static str,
    value: f64,
    unit: Unit,
    (source, place): (Source, &'static str),
) -> RunInput {
    RunInput { name, title, figure: Figure::new(value, unit, source, place) }
}

/// Tokens of pre-trainings, the fewest first.
#[rustfmt::skip]
pub const TRAIN_TOKENS: &[RunInput] = &[
    row("deepseek-v3", "DeepSeek-V3: 14.8 T tokens", 14.8e12, Unit::Tokens,
        (DEEPSEEK_V3, "abstract")),
    row("llama-3", "Llama 3 405B: 15.6 T tokens", 15.6e12, Unit::Tokens,
        (LLAMA_3_HERD, "introduction")),
    row("pangu-ultra-moe", "Pangu Ultra MoE: about 19 T tokens", 19e12, Unit::Tokens,
        (OPENPANGU, "introduction")),
];

/// Device-hours between two failures that stop a run, the least reliable cluster first.
///
/// Nothing is published of Ascend clusters in these units. The clusters of RSC are those of HPCA
/// 2025: 11 months, 16,000 and 8,000 A100. RSC-1's rate gives the paper's own projections, 1.8 h
/// between failures of 16,384 GPUs and 0.23 h of 131,072; of small jobs it measured more failures
/// than the rate says: 7.9 h at 1,024 GPUs, where it gives 29 h.
#[rustfmt::skip]
pub const FAILURE_INTERVALS: &[RunInput] = &[
    row("rsc-1", "RSC-1: 6.50 failures per 1,000 node-days of 8 A100",
        1_000.0 * 24.0 * 8.0 / 6.50, Unit::DeviceHours,
        (RESEARCH_CLUSTERS, "failures per 1,000 node-days")),
    row("llama-3", "Llama 3 405B: 419 unexpected interruptions of 16,384 H100 in 54 days",
        16_384.0 * 54.0 * 24.0 / 419.0, Unit::DeviceHours, (LLAMA_3_HERD, "section 3.3")),
    row("rsc-2", "RSC-2: 2.34 failures per 1,000 node-days of 8 A100",
        1_000.0 * 24.0 * 8.0 / 2.34, Unit::DeviceHours,
        (RESEARCH_CLUSTERS, "failures per 1,000 node-days")),
];

/// Rates of storage that checkpoints go to, all devices together.
#[rustfmt::skip]
pub const CHECKPOINT_RATES: &[RunInput] = &[
    row("llama-3", "Llama 3's storage, sustained", 2e12, Unit::BytesPerSecond,
        (LLAMA_3_HERD, "section 3.3")),
    row("llama-3-peak", "Llama 3's storage, peak", 7e12, Unit::BytesPerSecond,
        (LLAMA_3_HERD, "section 3.3")),
];

/// Power of facilities over that of their machines: a hyperscaler's fleet, and the mean at the
/// largest site of each who answered a survey.
#[rustfmt::skip]
pub const POWER_USAGE_EFFECTIVENESS: &[Figure; 2] = &[
    Figure::new(1.10, Unit::Factor, GOOGLE_ENVIRONMENT,
        "fleet; 1.1 checked at cnbc.com, 13 April 2022"),
    Figure::new(1.56, Unit::Factor, UPTIME_SURVEY, "mean; checked in Statista's record 1229367"),
];
