//! What is published of tokens, failures, storage and facilities.

use crate::ground::source::{DEEPSEEK_V3, LLAMA_3_HERD, OPENPANGU, RESEARCH_CLUSTERS, Source};

/// Published tokens of a pre-training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainTokens {
    /// The public name.
    pub name: &'static str,
    /// Title of the trained model, for people.
    pub title: &'static str,
    /// Tokens that it was trained on.
    pub tokens: f64,
    /// Where it is published.
    pub source: Source,
}

/// Models whose tokens are published, the fewest first.
#[must_use]
pub const fn published_tokens() -> &'static [TrainTokens] {
    &[
        TrainTokens {
            name: "deepseek-v3",
            title: "DeepSeek-V3: 14.8 T tokens",
            tokens: 14.8e12,
            source: DEEPSEEK_V3,
        },
        TrainTokens {
            name: "llama-3",
            title: "Llama 3 405B: 15.6 T tokens",
            tokens: 15.6e12,
            source: LLAMA_3_HERD,
        },
        TrainTokens {
            name: "pangu-ultra-moe",
            title: "Pangu Ultra MoE: about 19 T tokens",
            tokens: 19e12,
            source: OPENPANGU,
        },
    ]
}

/// Published failures of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failures {
    /// The public name.
    pub name: &'static str,
    /// Title of the run whose failures were counted, for people.
    pub title: &'static str,
    /// Device-hours between two that stop a run.
    pub device_hours: f64,
    /// Where it is published.
    pub source: Source,
}

/// Clusters whose failures are published, the least reliable first.
///
/// Nothing is published of Ascend clusters in these units. The clusters of RSC are those of arXiv
/// 2410.21680 (HPCA 2025: 11 months, 16,000 and 8,000 A100). RSC-1's rate gives the paper's own
/// projections, 1.8 h between failures of 16,384 GPUs and 0.23 h of 131,072; of small jobs it
/// measured more failures than the rate says: 7.9 h at 1,024 GPUs, where it gives 29 h.
#[must_use]
pub const fn published_failures() -> &'static [Failures] {
    &[
        Failures {
            name: "rsc-1",
            title: "RSC-1: 6.50 failures per 1,000 node-days of 8 A100",
            device_hours: 1_000.0 * 24.0 * 8.0 / 6.50,
            source: RESEARCH_CLUSTERS,
        },
        Failures {
            name: "llama-3",
            title: "Llama 3 405B: 419 unexpected interruptions of 16,384 H100 in 54 days",
            device_hours: 16_384.0 * 54.0 * 24.0 / 419.0,
            source: LLAMA_3_HERD,
        },
        Failures {
            name: "rsc-2",
            title: "RSC-2: 2.34 failures per 1,000 node-days of 8 A100",
            device_hours: 1_000.0 * 24.0 * 8.0 / 2.34,
            source: RESEARCH_CLUSTERS,
        },
    ]
}

/// Published rates of storage that checkpoints go to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Storage {
    /// Title of the storage, for people.
    pub title: &'static str,
    /// All devices together, GB/s.
    pub gb_per_sec: f64,
    /// Where it is published.
    pub source: Source,
}

/// Storage whose rates are published.
#[must_use]
pub const fn published_storage() -> &'static [Storage] {
    &[
        Storage {
            title: "Llama 3's storage, sustained",
            gb_per_sec: 2_000.0,
            source: LLAMA_3_HERD,
        },
        Storage { title: "Llama 3's storage, peak", gb_per_sec: 7_000.0, source: LLAMA_3_HERD },
    ]
}

/// Facilities' power over that of their machines: a hyperscaler's fleet, and the mean of those
/// that answered a survey.
///
/// # Source
/// Google, Environmental Report 2024: 1.10, of which 1.1 was checked (cnbc.com, 13 April 2022, on
/// Google's own figure); Uptime Institute, Global Data Center Survey 2024: 1.56 at the largest
/// site of each who answered (checked in Statista's record 1229367 of it).
pub const PUE_RANGE: [f64; 2] = [1.10, 1.56];
