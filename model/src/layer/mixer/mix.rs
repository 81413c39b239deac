//! What every kind of mixer says of itself.

use crate::device::exchange::Exchanges;
use crate::device::operator::Operators;
use crate::device::rows::Rows;
use crate::device::saved::SavedTensors;
use crate::ground::choice::AttentionFlops;
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Matrices, Params};

/// Everything that the model says of one kind of mixer.
///
/// Formulas take the deployment and the rows of a pass, and nothing else: training, prefill and
/// decode call the same ones.
pub(crate) trait Mix {
    /// Parameters, its layer's norms not counted.
    fn params(&self, on: &Deployment) -> Params;

    /// The formula of these parameters, in words.
    fn params_formula(&self) -> &'static str;

    /// Parameters of the matrices that every token meets: two FLOPs each, forward.
    fn matrix_params(&self, on: &Deployment) -> f64;

    /// Model FLOPs of one token beyond its matrices, forward: scores and values, or a state.
    fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64;

    /// The formula of these FLOPs, in words.
    fn score_formula(&self) -> &'static str;

    /// Weight matrices, as an optimizer that works on matrices sees them.
    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices));

    /// Operators of all passes.
    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>);

    /// Tensors that a forward saves for its backward.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors);

    /// Bytes that one rank keeps of a sequence of this many tokens, whose cached elements take so
    /// many bytes: keys and values, latents, or a state that doesn't grow.
    fn cached_bytes(&self, on: &Deployment, tokens: f64, element_bytes: f64) -> f64;

    /// Exchanges of its TP and CP ranks.
    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges);
}
