//! Muon: momentum of matrices, made orthogonal by Newton-Schulz steps.
//!
//! It updates what is a matrix: attention's projections, MLPs, experts, the router and MTP's
//! projection, each as Megatron-Core holds it. Gate and up-projection are one matrix; query, key
//! and value are told apart (`muon_split_qkv`). Embeddings, the output head, norms and biases are
//! left to Adam, with both moments.
//!
//! A matrix of m rows and n >= m columns takes in each of five steps X X' (2 m^2 n), its square
//! (2 m^3) and their product with X (2 m^2 n): 4 m^2 n + 2 m^3 FLOPs. That is 46.8k a parameter for
//! 2,048 x 7,168.
//!
//! Where data-parallel ranks share out the optimizer, each takes whole matrices (the layer-wise
//! distributed optimizer): the fullest rank has the work and the states of at least the largest
//! matrix, and of as many as some rank must take.
//!
//! Sources: Jordan et al. 2024, Muon; Megatron-Core, `optimizer/muon.py`,
//! `optimizer/layer_wise_optimizer.py`; Emerging-Optimizers, `muon_utils.py`.

use alloc::vec::Vec;

use crate::device::topology::Group;
use crate::ground::axis::Collective;
use crate::ground::choice::{MuonTpMode, ShardingStrategy};
use crate::ground::sorting::sort_short;
use crate::layer::layout::Stage;
use crate::layer::params::{Cut, Matrices, RankParams};
use crate::training::optimizer::{Muon, OptimizerStates};
use crate::training::plan::Plan;

/// Newton-Schulz steps, `muon_num_ns_steps`.
const STEPS: f64 = 5.0;
/// Matrix products of a step.
const PRODUCTS: f64 = 3.0;
/// Bytes of an element of the momentum and of X X', which are FP32.
const FP32: f64 = 4.0;

/// Parameters and time of Muon on one device of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Share {
    /// Parameters of whole matrices that the fullest rank updates.
    pub(crate) matrices: f64,
    /// Parameters that Adam updates.
    pub(crate) adam: f64,
    /// Seconds of Newton-Schulz steps with what they exchange.
    pub(crate) seconds: f64,
}

/// FLOPs that make one matrix orthogonal.
fn newton_schulz_flops([rows, columns]: [f64; 2]) -> f64 {
    let (m, n) = (rows.min(columns), rows.max(columns));
    STEPS * (4.0 * m * m * n + 2.0 * m * m * m)
}

/// FLOPs per device where the matrix stays cut over t ranks: the products with X are shared, the
/// square of what isn't cut, c x c, is not.
fn distributed_flops([cut, whole]: [f64; 2], ranks: f64) -> f64 {
    STEPS * (4.0 * whole * whole * cut / ranks + 2.0 * whole * whole * whole)
}

/// Load of the fullest of `ranks` ranks, for a list of (weight, count): no packing of whole ones is
/// shorter than the mean, nor than what the pigeonhole principle leaves for some rank.
fn fullest(mut weights: Vec<(f64, f64)>, ranks: f64) -> f64 {
    sort_short(&mut weights, |one, other| other.0.total_cmp(&one.0));
    let (mut all, mut count, mut most) = (0.0, 0.0, 0.0_f64);
    for (weight, times) in weights {
        all += weight * times;
        count += times;
        most = most.max(libm::ceil(count / ranks) * weight);
    }
    most.max(all / ranks)
}

impl Matrices {
    /// The part that a device holds of one of them.
    fn part(&self, ranks: f64) -> [f64; 2] {
        let [rows, columns] = self.shape;
        match self.cut {
            Cut::Rows => [rows / ranks, columns],
            Cut::Columns => [rows, columns / ranks],
            Cut::Nothing => self.shape,
        }
    }

    fn params(&self, ranks: f64) -> f64 {
        let [rows, columns] = self.part(ranks);
        rows * columns
    }
}

impl Plan {
    /// The optimizer states of a stage, in bytes: those of each parameter over the ranks that share
    /// them; with Muon those of the fullest rank.
    pub(crate) fn optimizer_states(&self, stage: &Stage, params: &RankParams) -> f64 {
        let OptimizerStates { muon, per_param, second_moment, .. } = &self.optimizer;
        if let Some(muon) = muon {
            let share = self.muon_share(muon, stage, params);
            return share.matrices * per_param + share.adam * (per_param + second_moment);
        }
        self.sharding.params(params, ShardingStrategy::Optim) * per_param
    }

    /// Parameters of matrices and of the rest, and Muon's time, on the fullest device of a stage.
    pub(crate) fn muon_share(&self, muon: &Muon, stage: &Stage, params: &RankParams) -> Share {
        let matrices = self.matrices(stage);
        let sharded = self.sharding.shards(ShardingStrategy::Optim);
        let mut share = Share::default();
        for is_expert in [false, true] {
            let of = || matrices.iter().filter(|kind| kind.is_expert == is_expert);
            let (tensor, data, all) = if is_expert {
                (self.deployment.ranks.etp as f64, self.sharding.expert_ranks, params.expert)
            } else {
                (self.deployment.ranks.tp as f64, self.sharding.dense_ranks, params.dense)
            };
            let data = if sharded { data } else { 1.0 };
            let group =
                if is_expert { self.deployment.etp_group() } else { self.deployment.tp_group() };
            let held: f64 = of().map(|kind| kind.params(tensor) * kind.count).sum();
            share.adam += (all - held).max(0.0) / data;
            let weigh = |weight: &dyn Fn(&Matrices) -> f64| {
                fullest(of().map(|kind| (weight(kind), kind.count)).collect(), data)
            };
            share.matrices += weigh(&|kind| kind.params(tensor));
            share.seconds += weigh(&|kind| self.newton_schulz_seconds(muon, kind, &group));
        }
        share
    }

    /// The matrices of a stage, by kind.
    fn matrices(&self, stage: &Stage) -> Vec<Matrices> {
        let mut all: Vec<Matrices> = Vec::with_capacity(16);
        let mut add = |matrices: Matrices, layers: f64| {
            let count = matrices.count * layers * self.schedule.directions();
            if count > 0.0 && matrices.shape.iter().all(|edge| *edge > 0.0) {
                all.push(Matrices { count, ..matrices });
            }
        };
        let layers = stage.with_mtp(self.architecture.mtp.kind);
        for (kind, layers) in self.architecture.kinds.iter().zip(layers) {
            kind.matrices(&self.deployment, &mut |matrices| add(matrices, layers));
        }
        let h = self.deployment.backbone.hidden as f64;
        add(Matrices::dense([h, 2.0 * h], Cut::Rows), stage.mtp);
        all
    }

    /// Time in which one matrix is made orthogonal on a rank that has it, with what its tensor
    /// group exchanges.
    ///
    /// `blockwise` takes each rank's part for a matrix of its own. `duplicated` gathers the
    /// momentum, and every rank does the whole. `distributed` leaves it cut, and sums the c x c
    /// products over the group in every step. A matrix that isn't cut is the same in all.
    fn newton_schulz_seconds(&self, muon: &Muon, kind: &Matrices, group: &Group) -> f64 {
        let ranks = group.size as f64;
        let whole = kind.shape[0] * kind.shape[1];
        let cut = if group.size > 1 { kind.cut } else { Cut::Nothing };
        let (flops, exchange) = match (muon.tp_mode, cut) {
            (MuonTpMode::Blockwise, _) | (_, Cut::Nothing) => {
                (newton_schulz_flops(kind.part(ranks)), 0.0)
            }
            (MuonTpMode::Duplicated, _) => {
                let gather = self.tensor_seconds(group, Collective::AllGather, whole * FP32);
                (newton_schulz_flops(kind.shape), gather)
            }
            (MuonTpMode::Distributed, cut) => {
                let [rows, columns] = kind.shape;
                let sides = if cut == Cut::Rows { [rows, columns] } else { [columns, rows] };
                let gram = sides[1] * sides[1] * FP32;
                let sums = 2.0 * STEPS * self.tensor_seconds(group, Collective::AllReduce, gram);
                (distributed_flops(sides, ranks), sums)
            }
        };
        let launches = STEPS * PRODUCTS * self.overlap.dispatch_micros * 1e-6;
        (flops / muon.product_rate).max(launches) + exchange
    }

    /// Seconds of a call over a tensor-parallel group, whose levels work at once; of an all-reduce
    /// one of its two halves.
    fn tensor_seconds(&self, group: &Group, collective: Collective, bytes: f64) -> f64 {
        let [[_, intra], [_, inter]] =
            self.deployment.machine.data_calls(group, collective, bytes, 1.0);
        intra.max(inter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expert_takes_46_8_thousand_flops_a_parameter() {
        let per_param = newton_schulz_flops([2_048.0, 7_168.0]) / (2_048.0 * 7_168.0);
        assert!((per_param - 46_811.0).abs() < 1.0, "{per_param}");
        let turned = newton_schulz_flops([7_168.0, 2_048.0]);
        assert!((turned - newton_schulz_flops([2_048.0, 7_168.0])).abs() < 1.0);
    }

    #[test]
    fn distributed_steps_share_all_but_the_square_of_what_is_whole() {
        let one = distributed_flops([7_168.0, 2_048.0], 1.0);
        assert!((one / newton_schulz_flops([7_168.0, 2_048.0]) - 1.0).abs() < 1e-12);
        let square = STEPS * 2.0 * 2_048.0_f64 * 2_048.0 * 2_048.0;
        let eight = distributed_flops([7_168.0, 2_048.0], 8.0);
        assert!(((eight - square) * 8.0 / (one - square) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn some_rank_has_no_less_than_the_mean_and_the_pigeonholes_leave() {
        let of = |weights: &[(f64, f64)], ranks| fullest(weights.to_vec(), ranks);
        assert!((of(&[(1.0, 8.0)], 8.0) - 1.0).abs() < 1e-12);
        assert!((of(&[(1.0, 9.0)], 8.0) - 2.0).abs() < 1e-12);
        assert!((of(&[(4.0, 1.0), (1.0, 4.0)], 8.0) - 4.0).abs() < 1e-12);
        assert!((of(&[(4.0, 2.0), (1.0, 100.0)], 4.0) - 27.0).abs() < 1e-12);
        assert!(of(&[], 4.0).abs() < 1e-12);
    }
}
