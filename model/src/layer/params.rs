//! Parameters of a part of a model, and what one device holds of it.

use crate::ground::choice::LoraModule;
use crate::layer::ranks::Ranks;

/// Parameters of one part, split by how ranks hold them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    /// Held by every TP rank whole: norms, router, MLA's down-projections, biases behind a sum.
    pub(crate) replicated: u128,
    /// Split over the TP ranks.
    pub(crate) tensor: u128,
    /// Routed experts: split over EP and ETP ranks.
    pub(crate) expert: u128,
}

impl Params {
    /// All of them.
    pub(crate) const fn total(self) -> u128 {
        self.replicated + self.tensor + self.expert
    }

    /// These and others.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            replicated: self.replicated + other.replicated,
            tensor: self.tensor + other.tensor,
            expert: self.expert + other.expert,
        }
    }

    /// These without others that are among them.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self {
            replicated: self.replicated - other.replicated,
            tensor: self.tensor - other.tensor,
            expert: self.expert - other.expert,
        }
    }

    /// Parameters of one device, where each routed expert has `copies` copies in the mean: experts
    /// are split over EP x ETP, split matrices over TP, the rest is replicated.
    pub(crate) fn on_rank(self, ranks: &Ranks, copies: f64) -> RankParams {
        RankParams {
            dense: self.replicated as f64 + self.tensor as f64 / ranks.tp as f64,
            expert: self.expert as f64 / (ranks.ep * ranks.etp) as f64 * copies,
        }
    }
}

/// Parameters that one device holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RankParams {
    /// Everything but routed experts.
    pub(crate) dense: f64,
    /// Routed experts.
    pub(crate) expert: f64,
}

impl RankParams {
    /// These and others.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { dense: self.dense + other.dense, expert: self.expert + other.expert }
    }

    /// All of them.
    pub(crate) fn total(self) -> f64 {
        self.dense + self.expert
    }
}

/// Parameters that one device of a stage holds, and those of them that it trains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StageParams {
    /// All that it holds, adapters among them.
    pub(crate) held: RankParams,
    /// Parameters that have gradients and states.
    pub(crate) trained: RankParams,
}

/// Equal weight matrices, as an optimizer that works on matrices sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Matrices {
    /// Output and input features, whole.
    pub(crate) shape: [f64; 2],
    pub(crate) cut: Cut,
    /// Matrices of which a device holds its part.
    pub(crate) count: f64,
    pub(crate) is_expert: bool,
    /// The linear layer that they are, or are a part of, where that may have an adapter.
    pub(crate) module: Option<LoraModule>,
}

impl Matrices {
    /// Matrices of a layer that every rank of a stage has a part of.
    pub(crate) const fn dense(shape: [f64; 2], cut: Cut) -> Self {
        Self { shape, cut, count: 1.0, is_expert: false, module: None }
    }

    /// The matrices as a linear layer of this name.
    pub(crate) const fn linear(self, module: LoraModule) -> Self {
        Self { module: Some(module), ..self }
    }
}

/// The dimension that tensor parallelism cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Output features: a column-parallel layer.
    Rows,
    /// Input features: a row-parallel layer.
    Columns,
    /// None: each rank holds it whole.
    Nothing,
}
