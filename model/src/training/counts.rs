//! Parameters and model FLOPs of a plan: exact, and what a token costs by definition, whatever the
//! strategy.
//!
//! Letters: h hidden, V vocabulary.

use crate::ground::choice::AttentionFlops;
use crate::ground::units::Flops;
use crate::layer::adapters;
use crate::layer::architecture::Mtp;
use crate::layer::layout::Stage;
use crate::layer::mlp::Transform as _;
use crate::layer::params::{RankParams, StageParams};
use crate::training::plan::{LayerParams, Plan};

impl Plan {
    /// All parameters with both embeddings, without MTP layers.
    #[must_use]
    pub fn params_total(&self) -> u128 {
        self.architecture.params_total(&self.deployment)
    }

    /// Parameters that one token meets: of every MoE layer only top-k of the experts.
    #[must_use]
    pub fn params_active(&self) -> u128 {
        self.architecture.params_active(&self.deployment)
    }

    /// Active parameters of the lightest and of the heaviest token, which has none or all of its
    /// choices among experts, beyond those of the mean one; `None` if all choices are experts.
    #[must_use]
    pub fn active_params_by_token(&self) -> Option<[f64; 2]> {
        let on = &self.deployment;
        let [mut mean, mut most] = [0.0; 2];
        for (kind, count) in self.architecture.kinds.iter().zip(self.architecture.layers) {
            let Some(moe) = kind.mlp.moe() else { continue };
            let [of_mean, of_most] = moe.visited_params(on)?;
            (mean, most) = (mean + count as f64 * of_mean, most + count as f64 * of_most);
        }
        (most > 0.0).then(|| [-mean, most - mean])
    }

    /// Parameters of the MTP layers, their shared embedding and head not counted.
    #[must_use]
    pub fn params_mtp(&self) -> u128 {
        let mtp = self.architecture.mtp_kind().mtp_params(&self.deployment).total();
        let Mtp { layers, is_repeated, .. } = self.architecture.mtp;
        u128::from(if is_repeated { layers.min(1) } else { layers }) * mtp
    }

    /// Parameters that are trained, MTP layers and adapters among them.
    pub(crate) fn params_trained(&self) -> f64 {
        let (on, architecture) = (&self.deployment, &self.architecture);
        if on.tuning.is_full() {
            return (self.params_total() + self.params_mtp()) as f64;
        }
        let kinds = architecture.kinds.iter().zip(architecture.all_layers());
        let layers = kinds.map(|(kind, count)| {
            count as f64
                * (kind.trained_params(on).total() as f64 + adapters::params_total(on, kind))
        });
        let backbone = &on.backbone;
        let when = |is_trained, params: u128| if is_trained { params as f64 } else { 0.0 };
        layers.sum::<f64>()
            + when(on.trains_embedding(), backbone.embedding_params())
            + when(on.trains_head(), backbone.head_params())
            + when(on.tuning.trains_norms(), backbone.norm_params() + backbone.joint_params())
    }

    /// Parameters that one device of a stage holds, and those of them that it trains.
    pub(crate) fn stage_params(&self, stage: &Stage) -> StageParams {
        let Some(tuned) = &self.tuned_params else {
            let held = self.stage_params_of(stage, &self.layer_params, [1.0; 3]);
            return StageParams { held, trained: held };
        };
        let on = &self.deployment;
        let trained = [on.trains_embedding(), on.trains_head(), on.tuning.trains_norms()];
        let trained = trained.map(|is_trained| if is_trained { 1.0 } else { 0.0 });
        StageParams {
            held: self.stage_params_of(stage, &tuned[0], [1.0; 3]),
            trained: self.stage_params_of(stage, &tuned[1], trained),
        }
    }

    /// Parameters of these layers that one device of a stage holds, with so much of embeddings,
    /// heads and what is around them.
    ///
    /// Experts and copies of busy ones are split over EP x ETP, split matrices over TP, the rest is
    /// replicated. DualPipe holds both directions. Tied embeddings are on the first and on the
    /// last stage.
    fn stage_params_of(
        &self,
        stage: &Stage,
        layers: &LayerParams,
        [embedding, head, around]: [f64; 3],
    ) -> RankParams {
        let backbone = &self.deployment.backbone;
        let table = backbone.table_params() as f64;
        let tables = table * (stage.embedding * embedding + self.head_tables(stage) * head);
        // Megatron keeps learned positions whole on every rank.
        let positions = (backbone.embedding_params() - backbone.table_params()) as f64
            * (stage.embedding * embedding);
        // An MTP layer embeds the next token: away from the first stage it has its own table.
        let has_own = stage.mtp > 0.0 && stage.embedding <= 0.0;
        let mtp_table = if has_own { table * embedding } else { 0.0 };
        let mut all = RankParams::default();
        for (params, count) in layers.kinds.iter().zip(stage.layers) {
            all.dense += params.dense * count;
            all.expert += params.expert * count;
        }
        let mtp = layers.mtp;
        // Where a layer is repeated, those of a stage are one.
        let mtp_layers =
            if self.architecture.mtp.is_repeated { stage.mtp.min(1.0) } else { stage.mtp };
        all.dense += mtp.dense * mtp_layers
            + (tables + mtp_table) / self.deployment.ranks.tp as f64
            + positions
            + (backbone.norm_params() + backbone.joint_params()) as f64 * (stage.head * around);
        all.expert += mtp.expert * mtp_layers;
        let directions = self.schedule.directions();
        RankParams { dense: all.dense * directions, expert: all.expert * directions }
    }

    /// Output tables on a stage: the model's head, and a copy for an MTP head that is elsewhere.
    fn head_tables(&self, stage: &Stage) -> f64 {
        let own = if stage.head > 0.0 || stage.mtp_head > 0.0 { 1.0 } else { 0.0 };
        // A tied head beside its own embedding needs no second table.
        if !self.deployment.backbone.is_untied && stage.embedding > 0.0 {
            0.0
        } else {
            own * stage.head.max(stage.mtp_head).min(1.0)
        }
    }

    /// Forward FLOPs of one token in the output head: 2 h V.
    pub(crate) fn head_flops(&self) -> f64 {
        2.0 * self.deployment.backbone.table_params() as f64
    }

    /// Forward FLOPs of one token in one MTP layer with its head.
    pub(crate) fn mtp_flops(&self, convention: AttentionFlops) -> f64 {
        let h = self.deployment.backbone.hidden as f64;
        let kind = self.architecture.mtp_kind();
        kind.flops(&self.deployment, self.attended(), convention)
            + 2.0 * 2.0 * h * h
            + self.head_flops()
    }

    /// Model FLOPs of one token, forward and backward, under the design's convention.
    ///
    /// 3 (sum of layers + head + MTP): the backward takes twice the forward, one matrix product
    /// each for the gradient of its input and of its weight. What is frozen has no gradient of its
    /// weight, so that of a LoRA run about two thirds are left; adapters count three times.
    /// Attention scores, which have no weight, count as before.
    ///
    /// # Source
    /// Megatron-LM `training.py:num_floating_point_operations`; for Pangu Ultra MoE at 8K with full
    /// attention and MTP 371.5 GFLOP, which fits its published MFU and throughput to 0.2 %.
    #[must_use]
    pub fn flops_per_token(&self) -> Flops {
        self.flops_per_token_under(self.flops.attention, self.flops.counts_mtp)
    }

    /// Model FLOPs of one token as Megatron-LM counted before it knew an expert's own width: each
    /// layer has as many MLPs of the dense width as a token visits experts, all of the attention
    /// and no shared expert; `None` where the widths are the same.
    ///
    /// 3 (sum of layers without their MLPs + 2 m h f k L + head), m the matrices of an MLP, f the
    /// dense width, k the experts that a token visits.
    ///
    /// # Source
    /// Megatron-LM `training.py:num_floating_point_operations` of early 2024.
    pub(crate) fn flops_per_token_at_dense_width(&self) -> Option<Flops> {
        let transformer = &self.design().transformer;
        let dense = transformer.ffn_hidden_size;
        transformer.num_moe_experts?;
        transformer.moe_ffn_hidden_size.filter(|width| *width != dense)?;
        let (architecture, on) = (&self.architecture, &self.deployment);
        let kinds = architecture.kinds.iter().zip(architecture.layers);
        let (mut rest, mut layers) = (0.0, 0.0);
        for (kind, count) in kinds {
            let all = kind.flops(on, self.batch.seq, AttentionFlops::Full);
            rest += count as f64 * (all - 2.0 * kind.mlp.matrix_params(on));
            layers += count as f64;
        }
        let params = on.backbone.mlp_matrix_params(dense) as f64;
        let mlp = 2.0 * params * transformer.moe_router_topk as f64;
        Some(Flops::new(3.0 * (rest + layers * mlp + self.head_flops())))
    }

    /// Model FLOPs of one token under a given convention.
    pub(crate) fn flops_per_token_under(
        &self,
        convention: AttentionFlops,
        count_mtp: bool,
    ) -> Flops {
        let (architecture, seq) = (&self.architecture, self.attended());
        let mtp = if count_mtp && architecture.mtp.layers > 0 {
            architecture.mtp.layers as f64 * self.mtp_flops(convention)
        } else {
            0.0
        };
        let kinds = architecture.kinds.iter().zip(architecture.layers);
        let layers: f64 = kinds
            .map(|(kind, count)| count as f64 * kind.flops(&self.deployment, seq, convention))
            .sum();
        let all = 3.0 * (layers + self.head_flops() + mtp);
        if self.deployment.tuning.is_full() {
            return Flops::new(all);
        }
        let [frozen, adapters] = self.tuning_flops(count_mtp);
        Flops::new(all - frozen + adapters)
    }

    /// FLOPs of one token that gradients of frozen weights would take, and those of adapters in
    /// all three passes.
    pub(crate) fn tuning_flops(&self, count_mtp: bool) -> [f64; 2] {
        let (on, architecture) = (&self.deployment, &self.architecture);
        let mtp = if count_mtp { architecture.mtp.layers } else { 0 };
        let h = on.backbone.hidden as f64;
        let head = if on.trains_head() { 0.0 } else { self.head_flops() };
        let projection = if on.tuning.trains_norms() { 0.0 } else { 2.0 * 2.0 * h * h };
        let [mut frozen, mut adapters] = [head + mtp as f64 * (head + projection), 0.0];
        for (index, kind) in architecture.kinds.iter().enumerate() {
            let more = if index == architecture.mtp.kind.index() { mtp } else { 0 };
            let layers = (architecture.layers[index] + more) as f64;
            frozen += layers * 2.0 * kind.frozen_matrix_params(on);
            adapters += layers * 3.0 * adapters::flops(on, kind);
        }
        [frozen, adapters]
    }
}
