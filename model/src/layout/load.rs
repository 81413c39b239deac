//! How long each stage computes for one micro-batch, by kind of part.

use alloc::vec::Vec;

use super::{Stage, solver};
use crate::choice::RecomputeGranularity;
use crate::operator::{Block, Cost};
use crate::plan::Plan;
use crate::stage::Parts;

/// Seconds that one stage computes for one micro-batch, forward and backward with recomputation.
///
/// What the device does, or the launches of its kernels by the host where these take longer;
/// communication isn't in it. Of a bidirectional schedule it is the mean of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageLoad {
    parts: [f64; Self::LABELS.len()],
}

impl StageLoad {
    /// What each part is, in the order of [`Self::parts`].
    pub const LABELS: [&str; 6] =
        ["embedding", "dense layers", "MoE layers", "LM head", "MTP layers", "MTP heads"];

    /// Seconds of each kind of part.
    #[must_use]
    pub const fn parts(&self) -> [f64; Self::LABELS.len()] {
        self.parts
    }

    /// All parts together, seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.parts.iter().sum()
    }
}

/// How much longer the longest stage is than the mean, as a share of the mean.
pub(super) fn overflow(stages: &[f64]) -> f64 {
    let longest = stages.iter().copied().fold(0.0, f64::max);
    let mean = stages.iter().sum::<f64>() / stages.len().max(1) as f64;
    if mean > 0.0 { (longest / mean - 1.0).max(0.0) } else { 0.0 }
}

/// One part's seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Length {
    /// Without whole-layer recomputation.
    once: f64,
    /// What whole-layer recomputation adds.
    again: f64,
}

/// The seconds of every kind of part under a plan.
pub(super) struct Costs {
    embedding: f64,
    dense: Length,
    moe: Length,
    /// What an MTP layer adds to a layer of its kind.
    mtp_extra: f64,
    head: f64,
    mtp_is_moe: bool,
}

impl Costs {
    pub(super) fn new(plan: &Plan) -> Self {
        let work = Parts::new(plan).work;
        let dispatch = plan.dispatch_micros() * 1e-6;
        let seconds = |cost: Cost| cost.seconds().max(cost.launches * dispatch);
        let block = |block: Block, again: Cost| {
            seconds(block.forward) + seconds(block.input_grad + block.weight_grad + again)
        };
        let layer = |layer: &crate::layer::Layer, is_moe: bool| Length {
            once: block(layer.total(), layer.recomputed(plan, is_moe)),
            again: seconds(layer.total().forward),
        };
        Self {
            embedding: block(work.embedding, Cost::ZERO),
            dense: layer(&work.dense, false),
            moe: layer(&work.moe, true),
            mtp_extra: block(work.mtp_extra, Cost::ZERO),
            head: block(work.head, Cost::ZERO),
            mtp_is_moe: plan.shape.moe_layers > 0,
        }
    }

    /// The parts' seconds when this share of the layers is computed again.
    pub(super) fn lengths(&self, repeated: f64) -> solver::Lengths {
        let of = |layer: Length| layer.once + layer.again * repeated;
        let mtp = if self.mtp_is_moe { self.moe } else { self.dense };
        solver::Lengths {
            dense: of(self.dense),
            moe: of(self.moe),
            embedding: self.embedding,
            head: self.head,
            mtp: of(mtp) + self.mtp_extra,
            mtp_head: self.head,
        }
    }

    /// What the stages hold, in seconds.
    pub(super) fn loads(&self, plan: &Plan, stages: &[Stage]) -> Vec<StageLoad> {
        let load = |(index, stage): (usize, &Stage)| {
            let layers = stage.layers() + stage.mtp;
            let of = self.lengths(repeated_share(plan, index, layers));
            StageLoad {
                parts: [
                    stage.embedding * of.embedding,
                    stage.dense * of.dense,
                    stage.moe * of.moe,
                    stage.head * of.head,
                    stage.mtp * of.mtp,
                    stage.mtp_head * of.mtp_head,
                ],
            }
        };
        stages.iter().enumerate().map(load).collect()
    }
}

/// The share of a stage's layers that whole-layer recomputation takes.
pub(super) fn repeated_share(plan: &Plan, stage: usize, layers: f64) -> f64 {
    let full = plan.design().memory.recompute_granularity == RecomputeGranularity::Full;
    if full && layers > 0.0 { plan.recomputed_layers(stage, layers) / layers } else { 0.0 }
}
