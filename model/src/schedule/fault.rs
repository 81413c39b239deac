//! The rules of each schedule's sizes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::choice::{Choice, Method};

/// A rule that the sizes of a schedule break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the size that is wrong: that of a knob, or `num_microbatches`, which follows
    /// from the batch.
    pub knob: &'static str,
    /// What is wrong, with the numbers, in a sentence.
    pub message: String,
    /// The nearest value of that size that keeps the rule, where one does.
    pub nearest: Option<u64>,
}

/// Chunks of a stage (VPP).
pub(super) const CHUNKS: &str = "virtual_pipeline_model_parallel_size";
/// Stages (PP).
pub(super) const STAGES: &str = "pipeline_model_parallel_size";
/// Micro-batches of a step.
pub(super) const MICRO_BATCHES: &str = "num_microbatches";

const MAX_STAGES: u64 = 1_024;
const MAX_CHUNKS: u64 = 256;
const MAX_MICRO_BATCHES: u64 = 16_777_216;

/// Every broken rule.
pub(super) fn faults(
    method: Method,
    stages: u64,
    chunks: u64,
    micro_batches: u64,
    _group: Option<u64>,
) -> Vec<Fault> {
    let name = method.name();
    let bounded = |knob, value: u64, most| {
        let message = format!("{name} has 1 to {most}, not {value}");
        (!(1..=most).contains(&value)).then(|| Fault {
            knob,
            message,
            nearest: Some(value.clamp(1, most)),
        })
    };
    [
        bounded(STAGES, stages, MAX_STAGES),
        bounded(CHUNKS, chunks, MAX_CHUNKS),
        bounded(MICRO_BATCHES, micro_batches, MAX_MICRO_BATCHES),
    ]
    .into_iter()
    .flatten()
    .collect()
}
