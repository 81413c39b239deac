//! Mixers: the part of a layer in which tokens meet. A kind of mixer is one file that has
//! everything the model says of it; this one only tells them apart.

mod attention;
mod core;
mod gdn;
mod kda;
mod lightning;
mod mla;
mod scan;

use alloc::format;
use alloc::string::String;

use crate::choice::{AttentionFlops, AttentionVariant};
use crate::deployment::Deployment;
use crate::design::Design;
use crate::hop::Exchanges;
use crate::operator::Operators;
use crate::params::{Matrices, Params};
use crate::rows::Rows;
use crate::saved::SavedTensors;
use crate::tally::Tally;

pub(crate) use attention::Attention;
pub(crate) use gdn::GatedDeltaNet;
pub(crate) use kda::Kda;
pub(crate) use lightning::Lightning;
pub(crate) use mla::Mla;
pub(crate) use scan::SCAN;

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

    /// Exchanges of its TP and CP ranks.
    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges);
}

/// A kind of mixer with its sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mixer {
    /// Grouped-query attention, multi-head attention among it.
    Attention(Attention),
    /// Multi-latent attention.
    Mla(Mla),
    /// Gated delta net.
    Gdn(GatedDeltaNet),
    /// Kimi Delta Attention.
    Kda(Kda),
    /// Lightning attention.
    Lightning(Lightning),
}

/// Calls a function of the mixer's own kind.
macro_rules! of_kind {
    ($self:ident, $mixer:ident => $call:expr) => {
        match $self {
            Self::Attention($mixer) => $call,
            Self::Mla($mixer) => $call,
            Self::Gdn($mixer) => $call,
            Self::Kda($mixer) => $call,
            Self::Lightning($mixer) => $call,
        }
    };
}

impl Mixer {
    /// Variants that the layers of one design may have: attention with its window, attention
    /// without, and what takes its place.
    pub(crate) const MAX_VARIANTS: usize = 3;

    /// Which variant a design's layer at this position has.
    ///
    /// # Source
    /// Megatron-Core `transformer/utils.py:is_layer_window_attention`.
    pub(crate) fn variant(design: &Design, layer: u64) -> usize {
        let transformer = &design.transformer;
        if transformer.experimental_attention_variant.is_linear()
            && transformer.linear_attention_freq.is_linear(layer)
        {
            return 2;
        }
        let skips = |every: u64| (layer + 1).is_multiple_of(every);
        usize::from(
            transformer.window_size.is_some()
                && transformer.window_attn_skip_freq.is_some_and(skips),
        )
    }

    /// A variant of a design's mixers.
    pub(crate) fn new(design: &Design, variant: usize) -> Self {
        let transformer = &design.transformer;
        if variant == 2 {
            match transformer.experimental_attention_variant {
                AttentionVariant::Gdn => return Self::Gdn(GatedDeltaNet::new(design, false)),
                AttentionVariant::Gdn2 => return Self::Gdn(GatedDeltaNet::new(design, true)),
                AttentionVariant::Kda => return Self::Kda(Kda::new(design)),
                AttentionVariant::Lightning => return Self::Lightning(Lightning::new(design)),
                AttentionVariant::None => {}
            }
        }
        let window = transformer.window_size.filter(|_| variant == 0);
        if transformer.multi_latent_attention {
            Self::Mla(Mla::new(design, window))
        } else {
            Self::Attention(Attention::new(design, window))
        }
    }

    /// What it is called beside full attention, which needs no name.
    pub(crate) fn name(&self) -> Option<String> {
        let window = match self {
            Self::Attention(attention) => attention.core.window,
            Self::Mla(mla) => mla.core.window,
            Self::Gdn(_) => return Some(String::from("gated delta net")),
            Self::Kda(_) => return Some(String::from("KDA")),
            Self::Lightning(_) => return Some(String::from("lightning attention")),
        };
        window.map(|tokens| format!("window {tokens}"))
    }
}

impl Mix for Mixer {
    fn params(&self, on: &Deployment) -> Params {
        of_kind!(self, mixer => mixer.params(on))
    }

    fn params_formula(&self) -> &'static str {
        of_kind!(self, mixer => mixer.params_formula())
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        of_kind!(self, mixer => mixer.matrix_params(on))
    }

    fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64 {
        of_kind!(self, mixer => mixer.score_flops(seq, convention))
    }

    fn score_formula(&self) -> &'static str {
        of_kind!(self, mixer => mixer.score_formula())
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        of_kind!(self, mixer => mixer.matrices(on, add));
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        of_kind!(self, mixer => mixer.operators(on, rows, to));
    }

    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        of_kind!(self, mixer => mixer.saved(on, rows, to));
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        of_kind!(self, mixer => mixer.exchanges(on, rows, to));
    }
}
