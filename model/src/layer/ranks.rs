//! The sizes of the parallel axes.

use crate::design::Design;
use crate::ground::choice::RankOrder;

/// Ranks of each parallel axis, and their order on the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ranks {
    pub(crate) world: u64,
    pub(crate) tp: u64,
    pub(crate) pp: u64,
    pub(crate) vpp: u64,
    pub(crate) cp: u64,
    pub(crate) ep: u64,
    pub(crate) etp: u64,
    pub(crate) dp: u64,
    pub(crate) edp: u64,
    /// Ranks over which norms and residuals split a sequence beyond CP: TP with SP, else one.
    pub(crate) sp: u64,
    /// Ranks of CP that exchange heads for sequence; one where no heads are exchanged.
    pub(crate) ulysses: u64,
    pub(crate) order: RankOrder,
}

impl Ranks {
    /// The ranks of a design whose exchanges of heads take this many ranks of CP.
    pub(crate) fn new(design: &Design, ulysses: u64) -> Self {
        let parallel = &design.parallel;
        let world = design.cluster.num_devices;
        let tp = parallel.tensor_model_parallel_size;
        let pp = parallel.pipeline_model_parallel_size;
        let cp = parallel.context_parallel_size;
        let ep = parallel.expert_model_parallel_size;
        let etp = parallel.expert_tensor_parallel_size;
        Self {
            world,
            tp,
            pp,
            vpp: parallel.virtual_pipeline_model_parallel_size,
            cp,
            ep,
            etp,
            dp: world / (tp * pp * cp),
            edp: world / (pp * ep * etp),
            sp: if parallel.sequence_parallel { tp } else { 1 },
            ulysses,
            order: parallel.rank_order,
        }
    }
}
