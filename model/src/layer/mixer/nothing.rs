//! No mixer: a sub-layer that is an MLP alone.

use super::mix::Mix;
use crate::device::exchange::Exchanges;
use crate::device::operator::Operators;
use crate::device::rows::Rows;
use crate::device::saved::SavedTensors;
use crate::ground::choice::AttentionFlops;
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Matrices, Params};

/// Nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nothing;

impl Mix for Nothing {
    fn params(&self, _: &Deployment) -> Params {
        Params::default()
    }

    fn params_formula(&self) -> &'static str {
        "none"
    }

    fn matrix_params(&self, _: &Deployment) -> f64 {
        0.0
    }

    fn score_flops(&self, _: u64, _: AttentionFlops) -> f64 {
        0.0
    }

    fn score_formula(&self) -> &'static str {
        "none"
    }

    fn matrices(&self, _: &Deployment, _: &mut dyn FnMut(Matrices)) {}

    fn operators<T: Tally>(&self, _: &Deployment, _: &Rows, _: &mut Operators<T>) {}

    fn saved(&self, _: &Deployment, _: &Rows, _: &mut SavedTensors) {}

    fn cached_bytes(&self, _: &Deployment, _: f64, _: f64) -> f64 {
        0.0
    }

    fn exchanges(&self, _: &Deployment, _: &Rows, _: &mut Exchanges) {}
}
