//! What a checkpoint is and how long it takes.

use crate::design::Run;
use crate::ground::choice::ShardingStrategy;
use crate::ground::units::{Bytes, BytesPerSecond, Seconds};
use crate::training::plan::Plan;

/// Times of writing a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Writing {
    /// Time that it stops the training.
    pub stall: Seconds,
    /// Time that it is written behind the training.
    pub behind: Seconds,
}

/// A checkpoint of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checkpoint {
    /// The whole model: weights, main copy and moments, each once.
    pub bytes: Bytes,
    /// Devices that have a part of it that is theirs to write.
    pub writers: f64,
    /// Parameters of the fullest writer over the mean.
    pub unevenness: f64,
    /// Bandwidth from a device to its host's memory.
    pub host: BytesPerSecond,
    /// Time in which the fullest writer copies its part to the host's memory.
    pub snapshot: Seconds,
}

impl Checkpoint {
    /// The checkpoint of a plan.
    ///
    /// Bytes: parameters, those of MTP among them, x (weights as they are stored + main copy +
    /// moments); where the weights are the upper halves of the main copy they are in it. Every
    /// device writes where states are shared out, else one replica of data parallelism does. The
    /// fullest writer has more than the mean as its stage has more parameters than the mean.
    ///
    /// # Source
    /// Megatron-Core `dist_checkpointing` with fully parallel saving; `ByteCheckpoint` section 4.2.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let params = plan.params_trained();
        let weights =
            if plan.optimizer.reuses_main_params { 0.0 } else { plan.deployment.element_bytes() };
        let bytes = Bytes::new(params * (weights + plan.optimizer.per_param));
        let devices = plan.deployment.ranks.world as f64;
        let writers = if plan.sharding.shards(ShardingStrategy::Optim) {
            devices / plan.sharding.instances as f64
        } else {
            devices / plan.sharding.dense_ranks
        };
        let stages: f64 = plan.stages.len() as f64;
        let held = plan.stages.iter().map(|stage| plan.stage_params(stage).trained.total());
        let (sum, most) = held.fold((0.0, 0.0_f64), |(sum, most), it| (sum + it, most.max(it)));
        let unevenness = most * stages / sum;
        let cluster = &plan.design().cluster;
        let host = cluster.host_gb_per_sec.unwrap_or(plan.deployment.accelerator.host_gb_per_sec);
        let host = BytesPerSecond::gb(host);
        let snapshot = bytes / writers * unevenness / host;
        Self { bytes, writers, unevenness, host, snapshot }
    }

    /// Times of writing it; `None` without a rate.
    #[must_use]
    pub fn writing(&self, run: &Run) -> Option<Writing> {
        let write = self.bytes / BytesPerSecond::gb(run.checkpoint_gb_per_sec?);
        Some(if run.checkpoint_async {
            Writing { stall: self.snapshot, behind: write }
        } else {
            Writing { stall: write, behind: Seconds::ZERO }
        })
    }
}
