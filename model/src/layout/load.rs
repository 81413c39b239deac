//! How long each stage computes for one micro-batch, by kind of part.

use alloc::vec::Vec;

use super::Stage;
use super::solver::Lengths;
use crate::choice::RecomputeGranularity;
use crate::plan::Plan;
use crate::stage::{Parts, StageWork, Terms};

/// Seconds that one stage computes for one micro-batch, forward and backward with recomputation.
///
/// What the device does, with its waiting for the host; communication isn't in it. Of a
/// bidirectional schedule it is the mean of both directions.
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

/// The seconds of every kind of part under a plan.
pub(super) struct Costs {
    /// Compute alone, without and with whole-layer recomputation.
    compute: [Lengths; 2],
    /// The same with the communication that isn't hidden.
    whole: [Lengths; 2],
}

impl Costs {
    pub(super) fn new(plan: &Plan) -> Self {
        let parts = Parts::new(plan);
        let both = [0.0, 1.0].map(|repeated| {
            let work = |stage: Stage| {
                let terms = Terms { repeated_share: repeated, ..Terms::default() };
                StageWork::new(plan, &stage, &parts, &terms)
            };
            let compute = lengths(|stage| {
                let work = work(stage);
                work.forward.compute() + work.backward.compute()
            });
            let whole = lengths(|stage| {
                let work = work(stage);
                let times = work.times(&work.waits);
                if plan.runs_pairs() { times.pair } else { times.forward + times.backward }
            });
            [compute, whole]
        });
        Self { compute: [both[0][0], both[1][0]], whole: [both[0][1], both[1][1]] }
    }

    /// The parts' compute when this share of the layers is computed again.
    pub(super) fn compute(&self, repeated: f64) -> Lengths {
        between(&self.compute, repeated)
    }

    /// The same with the communication that isn't hidden.
    pub(super) fn whole(&self, repeated: f64) -> Lengths {
        between(&self.whole, repeated)
    }

    /// What the stages hold, in seconds.
    pub(super) fn loads(&self, plan: &Plan, stages: &[Stage]) -> Vec<StageLoad> {
        let load = |(index, stage): (usize, &Stage)| {
            let layers = stage.layers() + stage.mtp;
            let of = self.compute(repeated_share(plan, index, layers));
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

/// The length of a stage that holds one part, for each kind of part.
fn lengths(of: impl Fn(Stage) -> f64) -> Lengths {
    let none = Stage::default();
    Lengths {
        dense: of(Stage { dense: 1.0, ..none }),
        moe: of(Stage { moe: 1.0, ..none }),
        embedding: of(Stage { embedding: 1.0, ..none }),
        head: of(Stage { head: 1.0, ..none }),
        mtp: of(Stage { mtp: 1.0, ..none }),
        mtp_head: of(Stage { mtp_head: 1.0, ..none }),
    }
}

/// Between the lengths of layers that are computed once and of layers that are computed again.
fn between([once, again]: &[Lengths; 2], repeated: f64) -> Lengths {
    let of = |once: f64, again: f64| once + (again - once) * repeated;
    Lengths {
        dense: of(once.dense, again.dense),
        moe: of(once.moe, again.moe),
        mtp: of(once.mtp, again.mtp),
        ..*once
    }
}

/// The share of a stage's layers that whole-layer recomputation takes.
pub(super) fn repeated_share(plan: &Plan, stage: usize, layers: f64) -> f64 {
    let full = plan.design().memory.recompute_granularity == RecomputeGranularity::Full;
    if full && layers > 0.0 { plan.recomputed_layers(stage, layers) / layers } else { 0.0 }
}
