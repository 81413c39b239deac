//! The ranks that share out weights, gradients and optimizer states (ZeRO, section 5).

use crate::design::Design;
use crate::ground::choice::ShardingStrategy;
use crate::layer::params::RankParams;
use crate::layer::ranks::Ranks;

/// Sharding over data-parallel ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sharding {
    strategy: ShardingStrategy,
    /// Instances of the distributed optimizer.
    pub(crate) instances: u64,
    /// Ranks that share out the states of parameters which all DP x CP ranks hold.
    pub(crate) dense_ranks: f64,
    /// Ranks that share out the states of experts.
    pub(crate) expert_ranks: f64,
}

impl Sharding {
    /// The sharding of a design over these ranks.
    pub(crate) fn new(design: &Design, ranks: &Ranks) -> Self {
        let instances = design.parallel.num_distributed_optimizer_instances;
        Self {
            strategy: design.parallel.data_parallel_sharding_strategy,
            instances,
            dense_ranks: (ranks.dp * ranks.cp / instances) as f64,
            expert_ranks: (ranks.edp / instances).max(1) as f64,
        }
    }

    /// Whether at least these states are shared out.
    pub(crate) fn shards(&self, least: ShardingStrategy) -> bool {
        self.strategy as u8 >= least as u8
    }

    /// A rank's share of these parameters.
    pub(crate) fn share(&self, params: &RankParams) -> f64 {
        params.dense / self.dense_ranks + params.expert / self.expert_ranks
    }

    /// Parameters of which a rank has these states: its share where they are shared out.
    pub(crate) fn params(&self, params: &RankParams, states: ShardingStrategy) -> f64 {
        if self.shards(states) { self.share(params) } else { params.dense + params.expert }
    }
}
