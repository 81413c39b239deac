//! No MLP: a sub-layer that is a mixer alone.

use alloc::vec;
use alloc::vec::Vec;

use super::transform::Transform;
use crate::device::exchange::Exchanges;
use crate::device::operator::Operators;
use crate::device::rows::Rows;
use crate::device::saved::SavedTensors;
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Matrices, Params};
use crate::metric::breakdown::Breakdown;

/// Nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nothing;

impl Transform for Nothing {
    fn params(&self, _: &Deployment) -> Params {
        Params::default()
    }

    fn param_terms(&self, _: &Deployment) -> Vec<Breakdown> {
        vec![]
    }

    fn params_formula(&self) -> &'static str {
        "mixer + norm"
    }

    fn matrix_params(&self, _: &Deployment) -> f64 {
        0.0
    }

    fn frozen(&self, _: &Deployment) -> Params {
        Params::default()
    }

    fn frozen_matrix_params(&self, _: &Deployment) -> f64 {
        0.0
    }

    fn matrices(&self, _: &Deployment, _: &mut dyn FnMut(Matrices)) {}

    fn operators<T: Tally>(&self, _: &Deployment, _: &Rows, _: &mut Operators<T>) {}

    fn routed_operators<T: Tally>(&self, _: &Deployment, _: &Rows, _: &mut Operators<T>) {}

    fn saved(&self, _: &Deployment, _: &Rows, _: &mut SavedTensors) {}

    /// The gradient of the residual, which in a pipeline is the boundary tensor that arrived.
    fn working_bytes(&self, on: &Deployment, rows: &Rows) -> f64 {
        if on.ranks.pp > 1 { 0.0 } else { on.stream_bytes(rows) }
    }

    fn shapes_params(&self, _: &Deployment) -> f64 {
        0.0
    }

    fn exchanges(&self, _: &Deployment, _: &Rows, _: &mut Exchanges) {}
}
