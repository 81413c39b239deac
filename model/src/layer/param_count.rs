//! Parameters of a model as a whole, whatever its devices do with it.

use crate::layer::architecture::Architecture;
use crate::layer::deployment::Deployment;

impl Architecture {
    /// All parameters with both embeddings, without MTP layers.
    pub(crate) fn params_total(&self, on: &Deployment) -> u128 {
        let kinds = self.kinds.iter().zip(self.layers);
        let layers = kinds.map(|(kind, count)| u128::from(count) * kind.params(on).total());
        let backbone = &on.backbone;
        backbone.embedding_params()
            + layers.sum::<u128>()
            + backbone.norm_params()
            + backbone.joint_params()
            + backbone.head_params()
    }

    /// Parameters that one token meets: of every MoE layer only top-k of the experts.
    pub(crate) fn params_active(&self, on: &Deployment) -> u128 {
        let kinds = self.kinds.iter().zip(self.layers);
        let resting = kinds.map(|(kind, count)| {
            u128::from(count) * kind.mlp.moe().map_or(0, |moe| moe.resting_params(on))
        });
        self.params_total(on) - resting.sum::<u128>()
    }
}
