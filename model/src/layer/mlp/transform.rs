//! What every kind of MLP says of itself.

use alloc::vec::Vec;

use crate::device::exchange::Exchanges;
use crate::device::operator::Operators;
use crate::device::rows::Rows;
use crate::device::saved::SavedTensors;
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Matrices, Params};
use crate::metric::breakdown::Breakdown;

/// Everything that the model says of one kind of MLP.
pub(crate) trait Transform {
    /// Parameters, its layer's norms not counted.
    fn params(&self, on: &Deployment) -> Params;

    /// Its parameters part by part.
    fn param_terms(&self, on: &Deployment) -> Vec<Breakdown>;

    /// The formula of a layer's parameters, in words.
    fn params_formula(&self) -> &'static str;

    /// Parameters of the matrices that one token meets: two FLOPs each, forward.
    fn matrix_params(&self, on: &Deployment) -> f64;

    /// Parameters that aren't trained.
    fn frozen(&self, on: &Deployment) -> Params;

    /// Parameters that aren't trained of the matrices that one token meets.
    fn frozen_matrix_params(&self, on: &Deployment) -> f64;

    /// Weight matrices, as an optimizer that works on matrices sees them.
    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices));

    /// Operators of all passes that don't follow the loads of experts.
    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>);

    /// Operators whose rows follow from routing.
    fn routed_operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>);

    /// Tensors that a forward saves for its backward.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors);

    /// Bytes at the fullest moment of a layer, beyond what is saved.
    fn working_bytes(&self, on: &Deployment, rows: &Rows) -> f64;

    /// Parameters on one rank of weights with different shapes.
    fn shapes_params(&self, on: &Deployment) -> f64;

    /// Exchanges of its TP, EP and ETP ranks.
    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges);
}
