//! MLPs: the part of a layer that works on each token alone. A kind of MLP is one file that has
//! everything the model says of it; this one only tells them apart.

mod transform;
mod dense;
mod moe;
mod nothing;

use alloc::vec::Vec;

use crate::design::{Design, Symbol};
use crate::device::exchange::Exchanges;
use crate::device::operator::Operators;
use crate::device::rows::Rows;
use crate::device::saved::SavedTensors;
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Matrices, Params};
use crate::metric::breakdown::Breakdown;

pub(crate) use dense::Dense;
pub(crate) use moe::Moe;
pub(crate) use nothing::Nothing;
pub(crate) use transform::Transform;

/// A kind of MLP with its sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mlp {
    /// One MLP for all tokens.
    Dense(Dense),
    /// Experts among which a router chooses.
    Moe(Moe),
    /// None, in a sub-layer that is a mixer.
    Nothing(Nothing),
}

/// Calls a function of the MLP's own kind.
macro_rules! of_kind {
    ($self:ident, $mlp:ident => $call:expr) => {
        match $self {
            Self::Dense($mlp) => $call,
            Self::Moe($mlp) => $call,
            Self::Nothing($mlp) => $call,
        }
    };
}

impl Mlp {
    /// Variants that the layers of one design may have: dense, with experts, and none.
    pub(crate) const MAX_VARIANTS: usize = 3;

    pub(crate) const DENSE: usize = 0;
    const EXPERTS: usize = 1;
    pub(crate) const NOTHING: usize = 2;

    /// Which variant a design's layer at this position has.
    pub(crate) fn variant(design: &Design, layer: u64) -> usize {
        let transformer = &design.transformer;
        if let Some(pattern) = &transformer.hybrid_layer_pattern {
            let symbol = pattern.layers.get(layer as usize);
            return symbol.map_or(Self::DENSE, |symbol| Self::of_symbol(*symbol));
        }
        usize::from(transformer.is_moe_layer(layer))
    }

    /// The variant of a sub-layer.
    pub(crate) const fn of_symbol(symbol: Symbol) -> usize {
        match symbol {
            Symbol::Dense => Self::DENSE,
            Symbol::Experts => Self::EXPERTS,
            Symbol::Mamba
            | Symbol::Linear
            | Symbol::Attention
            | Symbol::Latent
            | Symbol::Sparse => Self::NOTHING,
        }
    }

    /// A variant of a design's MLPs.
    pub(crate) fn new(design: &Design, variant: usize) -> Self {
        let transformer = &design.transformer;
        match transformer.num_moe_experts {
            _ if variant == Self::NOTHING => Self::Nothing(Nothing),
            Some(experts) if variant == Self::EXPERTS => Self::Moe(Moe::new(design, experts)),
            Some(_) | None => Self::Dense(Dense { width: transformer.ffn_hidden_size }),
        }
    }

    /// The experts, where it has any.
    pub(crate) const fn moe(&self) -> Option<&Moe> {
        match self {
            Self::Dense(_) | Self::Nothing(_) => None,
            Self::Moe(moe) => Some(moe),
        }
    }

    /// Whether there is none.
    pub(crate) const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing(_))
    }

    /// The name of a layer with this MLP.
    pub(crate) const fn layer_name(&self) -> &'static str {
        match self {
            Self::Dense(_) => "dense",
            Self::Moe(_) => "MoE",
            Self::Nothing(_) => "attention",
        }
    }
}

impl Transform for Mlp {
    fn params(&self, on: &Deployment) -> Params {
        of_kind!(self, mlp => mlp.params(on))
    }

    fn param_terms(&self, on: &Deployment) -> Vec<Breakdown> {
        of_kind!(self, mlp => mlp.param_terms(on))
    }

    fn params_formula(&self) -> &'static str {
        of_kind!(self, mlp => mlp.params_formula())
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        of_kind!(self, mlp => mlp.matrix_params(on))
    }

    fn frozen(&self, on: &Deployment) -> Params {
        of_kind!(self, mlp => mlp.frozen(on))
    }

    fn frozen_matrix_params(&self, on: &Deployment) -> f64 {
        of_kind!(self, mlp => mlp.frozen_matrix_params(on))
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        of_kind!(self, mlp => mlp.matrices(on, add));
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        of_kind!(self, mlp => mlp.operators(on, rows, to));
    }

    fn routed_operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        of_kind!(self, mlp => mlp.routed_operators(on, rows, to));
    }

    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        of_kind!(self, mlp => mlp.saved(on, rows, to));
    }

    fn working_bytes(&self, on: &Deployment, rows: &Rows) -> f64 {
        of_kind!(self, mlp => mlp.working_bytes(on, rows))
    }

    fn shapes_params(&self, on: &Deployment) -> f64 {
        of_kind!(self, mlp => mlp.shapes_params(on))
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        of_kind!(self, mlp => mlp.exchanges(on, rows, to));
    }
}
