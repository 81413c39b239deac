//! What a step does once: gradients and parameters over data-parallel ranks, and the optimizer.

use alloc::vec::Vec;

use crate::ground::axis::{Collective, LinkLevel};
use crate::ground::choice::ShardingStrategy;
use crate::layer::layout::Stage;
use crate::layer::params::{RankParams, StageParams};
use crate::layer::ranks::Ranks;
use crate::training::data_parallel::DataRow;
use crate::training::muon::Share;
use crate::training::overlap::Overlap;
use crate::training::plan::Plan;
use crate::training::stage::{DP, StageWork};

/// Parameters of a gradient bucket, at least, and for each data-parallel rank: more ranks need
/// larger calls, which the latency of their ring would spoil otherwise.
///
/// Source: Megatron-Core `distributed_data_parallel_config.py`: max(40M, 1M x ranks).
const BUCKET_PARAMS: [f64; 2] = [40e6, 1e6];

/// Gradient reduction, parameter gathering and the optimizer's step of the slowest stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DataParallel {
    /// Bytes of the mean stage, time of the slowest one: the step waits for that.
    pub(super) rows: Vec<DataRow>,
    pub(super) optimizer: f64,
}

impl DataParallel {
    /// Adds stages of this share: their update and the calls that each of them makes.
    pub(super) fn add(&mut self, share: f64, update: f64, rows: &[DataRow]) {
        self.optimizer = self.optimizer.max(update);
        for (place, row) in rows.iter().enumerate() {
            // Stages mostly make the same calls in the same order.
            let known = match self.rows.get(place) {
                Some(known) if known.is_like(row) => Some(place),
                Some(_) | None => self.rows.iter().position(|known| known.is_like(row)),
            };
            let place = known.unwrap_or(self.rows.len());
            if known.is_none() {
                self.rows.push(DataRow { bytes_per_call: 0.0, ..*row });
            }
            let known = &mut self.rows[place];
            known.bytes_per_call += row.bytes_per_call * share;
            known.seconds_per_call = known.seconds_per_call.max(row.seconds_per_call);
        }
    }
}

/// Exchanges of a stage once a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OnceAStep {
    /// Seconds of gradients and of parameters: inside the domain, between domains.
    passes: [[f64; 2]; 2],
    buckets: f64,
}

impl OnceAStep {
    pub(super) fn new(ranks: &Ranks, params: &StageParams, rows: &[DataRow]) -> Self {
        let mut passes = [[0.0_f64; 2]; 2];
        for row in rows.iter().filter(|row| row.once_a_step()) {
            let gather = usize::from(row.collective == Collective::AllGather);
            passes[gather][usize::from(row.link == LinkLevel::InterNode)] += row.seconds_per_call;
        }
        let [least, each] = BUCKET_PARAMS;
        let bucket = least.max(each * (ranks.dp * ranks.cp) as f64);
        Self { passes, buckets: (params.trained.total() / bucket).max(1.0) }
    }

    /// Seconds that a stage with this work waits for once a step, and that hiding the rest costs
    /// its kernels.
    ///
    /// Overlapped gradients run under the last backward, all but the last bucket; overlapped
    /// parameters under the next step's first forward, all but the first bucket. The levels of a
    /// ring work at the same time, piece by piece.
    pub(super) fn exposed(&self, overlap: &Overlap, work: &StageWork) -> [f64; 2] {
        let Self { passes, buckets } = *self;
        let cover = [
            (overlap.reductions, work.backward.compute()),
            (overlap.gathers, work.forward.compute()),
        ];
        let exposed = |pass: usize| {
            let seconds = passes[pass][0].max(passes[pass][1]);
            let (overlapped, compute) = cover[pass];
            if !overlapped {
                return seconds;
            }
            (seconds - compute).max(seconds / buckets)
        };
        let (scatter, gather) = (exposed(0), exposed(1));
        let hidden: f64 = passes.iter().map(|links| links[0].max(links[1])).sum();
        let hidden = (hidden - scatter - gather).max(0.0);
        [scatter + gather, hidden * overlap.core_share_of(DP)]
    }
}

impl Plan {
    /// Time of the optimizer's step: memory traffic of gradients and states.
    ///
    /// On the whole gradients: set to zero, then scaled before they are reduced (read, write). On
    /// the rank's share: norm (read), clipping (read, write), then the update, which reads them,
    /// reads and writes main copy and moments, and writes the weights.
    ///
    /// All of it moves through memory at the rate of element-wise kernels. Muon adds the
    /// Newton-Schulz steps of the rank that has most of them, and what these exchange.
    ///
    /// Sources: Megatron-Core `param_and_grad_buffer.py`, `clip_grads.py`;
    /// [`crate::training::muon`].
    pub(super) fn optimizer_seconds(&self, stage: &Stage, params: &RankParams) -> f64 {
        let shared = self.sharding.params(params, ShardingStrategy::Optim);
        let held = self.sharding.params(params, ShardingStrategy::OptimGrads);
        let muon = match &self.optimizer.muon {
            Some(muon) => self.muon_share(muon, stage, params),
            None => Share { adam: shared, ..Share::default() },
        };
        let gradient = self.optimizer.gradient;
        let updated = muon.matrices + muon.adam;
        let states = 2.0 * self.optimizer_states(stage, params);
        let update = updated * (4.0 * gradient + self.deployment.element_bytes()) + states;
        let memory_rate = self.deployment.device.vector_bytes;
        (held * 3.0 * gradient + update) / memory_rate + muon.seconds
    }
}
