//! How long each stage computes for one micro-batch, by kind of part.

use alloc::vec::Vec;

use crate::layer::architecture::{Architecture, MAX_KINDS, PerKind};
use crate::layer::layout::Stage;
use crate::training::pair;
use crate::training::plan::Plan;
use crate::training::recomputation::Recomputation;
use crate::training::stage::{StageWork, Terms};

/// Seconds that one stage computes for one micro-batch, forward and backward with recomputation.
///
/// What the device does, with its waiting for the host; communication isn't in it. Of a
/// bidirectional schedule it is the mean of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageLoad {
    parts: [f64; Self::LABELS.len()],
}

impl StageLoad {
    /// Labels of the parts, in the order of [`Self::parts`].
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

/// Time of the longest stage beyond the mean, as a share of the mean.
pub(super) fn overflow(stages: &[f64]) -> f64 {
    let longest = stages.iter().copied().fold(0.0, f64::max);
    let mean = stages.iter().sum::<f64>() / stages.len().max(1) as f64;
    if mean > 0.0 { (longest / mean - 1.0).max(0.0) } else { 0.0 }
}

/// Seconds of each part of a model, for one micro-batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PartSeconds {
    /// One layer of each kind.
    pub(super) layers: PerKind<f64>,
    pub(super) embedding: f64,
    pub(super) head: f64,
    /// An MTP layer without its head.
    pub(super) mtp: f64,
    /// The head and loss of an MTP layer.
    pub(super) mtp_head: f64,
}

impl PartSeconds {
    /// The seconds of a stage that holds one part, for each part.
    fn new(kinds: usize, seconds: impl Fn(Stage) -> f64) -> Self {
        let none = Stage::default();
        let one = |set: fn(&mut Stage) -> &mut f64| {
            let mut stage = none;
            *set(&mut stage) = 1.0;
            seconds(stage)
        };
        let mut layers = [0.0; MAX_KINDS];
        for (kind, length) in layers.iter_mut().enumerate().take(kinds) {
            let mut stage = none;
            stage.layers[kind] = 1.0;
            *length = seconds(stage);
        }
        Self {
            layers,
            embedding: one(|stage| &mut stage.embedding),
            head: one(|stage| &mut stage.head),
            mtp: one(|stage| &mut stage.mtp),
            mtp_head: one(|stage| &mut stage.mtp_head),
        }
    }

    /// Between layers that are computed once and layers that are computed again.
    fn between([once, again]: &[Self; 2], repeated: f64) -> Self {
        let mix = |once: f64, again: f64| once + (again - once) * repeated;
        let layers = core::array::from_fn(|kind| mix(once.layers[kind], again.layers[kind]));
        Self { layers, mtp: mix(once.mtp, again.mtp), ..*once }
    }
}

/// The seconds of every part under a plan.
pub(super) struct Costs {
    /// Compute alone, without and with whole-layer recomputation.
    compute: [PartSeconds; 2],
    /// Compute and the communication that isn't hidden, without and with whole-layer recomputation.
    whole: [PartSeconds; 2],
}

impl Costs {
    pub(super) fn new(plan: &Plan) -> Self {
        let parts = pair::parts(plan);
        let kinds = plan.architecture.kinds.len();
        let both = [0.0, 1.0].map(|repeated| {
            let work = |stage: Stage| {
                let terms = Terms { repeated_share: repeated, ..Terms::default() };
                StageWork::new(plan, &stage, &parts, &terms)
            };
            let compute = PartSeconds::new(kinds, |stage| {
                let work = work(stage);
                work.forward.compute() + work.backward.compute()
            });
            let whole = PartSeconds::new(kinds, |stage| {
                let work = work(stage);
                let times = work.times;
                if plan.schedule.runs_pairs { times.pair } else { times.forward + times.backward }
            });
            [compute, whole]
        });
        Self { compute: [both[0][0], both[1][0]], whole: [both[0][1], both[1][1]] }
    }

    /// The parts' compute when this share of the layers is computed again.
    pub(super) fn compute(&self, repeated: f64) -> PartSeconds {
        PartSeconds::between(&self.compute, repeated)
    }

    /// The parts' compute and communication that isn't hidden, when this share of the layers is
    /// computed again.
    pub(super) fn whole(&self, repeated: f64) -> PartSeconds {
        PartSeconds::between(&self.whole, repeated)
    }

    /// The load of each stage, in seconds.
    pub(super) fn loads(
        &self,
        architecture: &Architecture,
        recomputation: &Recomputation,
        stages: &[Stage],
    ) -> Vec<StageLoad> {
        let load = |(index, stage): (usize, &Stage)| {
            let one = self.compute(recomputation.whole_share(index, stage.num_all_layers()));
            // Dense layers, then those with experts.
            let mut layers = [0.0; 2];
            for (index, kind) in architecture.kinds.iter().enumerate() {
                let own = &mut layers[usize::from(kind.mlp.moe().is_some())];
                *own += stage.layers[index] * one.layers[index];
            }
            StageLoad {
                parts: [
                    stage.embedding * one.embedding,
                    layers[0],
                    layers[1],
                    stage.head * one.head,
                    stage.mtp * one.mtp,
                    stage.mtp_head * one.mtp_head,
                ],
            }
        };
        stages.iter().enumerate().map(load).collect()
    }
}
