//! Mixers: the part of a layer in which tokens meet. A kind of mixer is one file that has
//! everything the model says of it; this one only tells them apart.

mod core;
mod mix;
mod attention;
mod mla;
mod dsa;
mod csa;
mod msa;
mod nothing;
mod scan;
mod gdn;
mod kda;
mod lightning;
mod mamba;

use alloc::format;
use alloc::string::String;

use crate::design::{Design, Symbol};
use crate::device::exchange::Exchanges;
use crate::device::operator::Operators;
use crate::device::rows::Rows;
use crate::device::saved::SavedTensors;
use crate::ground::choice::{AttentionFlops, AttentionVariant};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Matrices, Params};

pub(crate) use attention::Attention;
pub(crate) use csa::Csa;
pub(crate) use dsa::Dsa;
pub(crate) use gdn::GatedDeltaNet;
pub(crate) use kda::Kda;
pub(crate) use lightning::Lightning;
pub(crate) use mamba::{CHUNK as MAMBA_CHUNK, Mamba, mamba_passes};
pub(crate) use mix::Mix;
pub(crate) use mla::Mla;
pub(crate) use msa::Msa;
pub(crate) use nothing::Nothing;
pub(crate) use scan::{DELTA_CHUNK, SCAN, delta_passes};

/// A kind of mixer with its sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mixer {
    /// Grouped-query attention, multi-head attention among it.
    Attention(Attention),
    /// Multi-latent attention.
    Mla(Mla),
    /// Latent attention over chosen keys.
    Dsa(Dsa),
    /// Grouped-query attention over chosen blocks.
    Msa(Msa),
    /// Attention over a window and compressed keys.
    Csa(Csa),
    /// Gated delta net.
    Gdn(GatedDeltaNet),
    /// Kimi Delta Attention.
    Kda(Kda),
    /// Lightning attention.
    Lightning(Lightning),
    /// Mamba-2.
    Mamba(Mamba),
    /// None, in a sub-layer that is an MLP.
    Nothing(Nothing),
}

/// Calls a function of the mixer's own kind.
macro_rules! of_kind {
    ($self:ident, $mixer:ident => $call:expr) => {
        match $self {
            Self::Attention($mixer) => $call,
            Self::Mla($mixer) => $call,
            Self::Dsa($mixer) => $call,
            Self::Msa($mixer) => $call,
            Self::Csa($mixer) => $call,
            Self::Gdn($mixer) => $call,
            Self::Kda($mixer) => $call,
            Self::Lightning($mixer) => $call,
            Self::Mamba($mixer) => $call,
            Self::Nothing($mixer) => $call,
        }
    };
}

impl Mixer {
    /// Variants that the layers of one design may have, in the order of their kinds.
    pub(crate) const MAX_VARIANTS: usize = 11;

    const WINDOWED: usize = 0;
    const FULL: usize = 1;
    const LINEAR: usize = 2;
    const MAMBA: usize = 3;
    const LATENT: usize = 4;
    pub(crate) const NOTHING: usize = 5;
    const SPARSE: usize = 6;
    const SPARSE_AS_BEFORE: usize = 7;
    const UNCOMPRESSED: usize = 8;
    const CHOSEN: usize = 9;
    const COMPRESSED: usize = 10;

    /// Which variant a design's layer at this position has: with its window, where it has one.
    ///
    /// # Source
    /// Megatron-Core `transformer/utils.py:is_layer_window_attention`.
    pub(crate) fn variant(design: &Design, layer: u64) -> usize {
        let transformer = &design.transformer;
        if let Some(pattern) = &transformer.hybrid_layer_pattern {
            let symbol = pattern.layers.get(layer as usize);
            return symbol.map_or(Self::NOTHING, |symbol| Self::of_symbol(*symbol));
        }
        if let Some(ratios) = &transformer.attention_compress_ratios {
            return match ratios.layers.get(layer as usize) {
                None | Some(0) => Self::UNCOMPRESSED,
                Some(ratio) if *ratio <= Csa::CHOSEN => Self::CHOSEN,
                Some(_) => Self::COMPRESSED,
            };
        }
        if transformer.experimental_attention_variant.is_linear()
            && transformer.linear_attention_freq.is_linear(layer)
        {
            return Self::LINEAR;
        }
        let is_sparse = transformer.sparse_attention_freq.marks(layer);
        if transformer.experimental_attention_variant.is_sparse() && is_sparse {
            let first = transformer.dsa_indexer_skip_topk_offset;
            let chooses = layer < first
                || (layer + 1 - first).is_multiple_of(transformer.dsa_indexer_topk_freq);
            return if chooses { Self::SPARSE } else { Self::SPARSE_AS_BEFORE };
        }
        let skips = |every: u64| (layer + 1).is_multiple_of(every);
        let is_full = transformer.window_size.is_some()
            && transformer.window_attn_skip_freq.is_some_and(skips);
        if is_full { Self::FULL } else { Self::WINDOWED }
    }

    /// The variant of a sub-layer.
    pub(crate) const fn of_symbol(symbol: Symbol) -> usize {
        match symbol {
            Symbol::Mamba => Self::MAMBA,
            Symbol::Linear => Self::LINEAR,
            Symbol::Attention => Self::WINDOWED,
            Symbol::Latent => Self::LATENT,
            Symbol::Sparse => Self::SPARSE,
            Symbol::Dense | Symbol::Experts => Self::NOTHING,
        }
    }

    /// A variant of a design's mixers.
    pub(crate) fn new(design: &Design, variant: usize) -> Self {
        let transformer = &design.transformer;
        let window = transformer.window_size.filter(|_| variant != Self::FULL);
        match (variant, transformer.experimental_attention_variant) {
            (Self::MAMBA, _) => Self::Mamba(Mamba::new(design)),
            (Self::NOTHING, _) => Self::Nothing(Nothing),
            (Self::SPARSE | Self::SPARSE_AS_BEFORE, AttentionVariant::Msa) => {
                Self::Msa(Msa::new(design))
            }
            (Self::SPARSE, _) => Self::Dsa(Dsa::new(design, true)),
            (Self::SPARSE_AS_BEFORE, _) => Self::Dsa(Dsa::new(design, false)),
            (Self::UNCOMPRESSED, _) => Self::Csa(Csa::new(design, 0)),
            (Self::CHOSEN, _) => Self::Csa(Csa::new(design, Csa::CHOSEN)),
            (Self::COMPRESSED, _) => Self::Csa(Csa::new(design, Csa::ALL)),
            (Self::LINEAR, AttentionVariant::Gdn) => Self::Gdn(GatedDeltaNet::new(design, false)),
            (Self::LINEAR, AttentionVariant::Gdn2) => Self::Gdn(GatedDeltaNet::new(design, true)),
            (Self::LINEAR, AttentionVariant::Kda) => Self::Kda(Kda::new(design)),
            (Self::LINEAR, AttentionVariant::Lightning) => Self::Lightning(Lightning::new(design)),
            (Self::LATENT, _) => Self::Mla(Mla::new(design, window)),
            _ if transformer.multi_latent_attention => Self::Mla(Mla::new(design, window)),
            _ => Self::Attention(Attention::new(design, window)),
        }
    }

    /// The mixer with attention's values of this width, where it has such.
    pub(crate) fn with_values(self, design: &Design, width: Option<u64>) -> Self {
        match (self, width) {
            (Self::Attention(attention), Some(width)) => {
                Self::Attention(attention.with_values(design, width))
            }
            _ => self,
        }
    }

    /// Whether there is none.
    pub(crate) const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing(_))
    }

    /// Name of the mixer beside full attention, which needs none.
    pub(crate) fn name(&self) -> Option<String> {
        let window = match self {
            Self::Attention(attention) => attention.core.window,
            Self::Mla(mla) => mla.core.window,
            Self::Dsa(dsa) => return Some(String::from(dsa.name())),
            Self::Msa(_) => return Some(String::from("sparse attention over blocks")),
            Self::Csa(csa) => return Some(csa.name()),
            Self::Gdn(_) => return Some(String::from("gated delta net")),
            Self::Kda(_) => return Some(String::from("KDA")),
            Self::Lightning(_) => return Some(String::from("lightning attention")),
            Self::Mamba(_) => return Some(String::from("Mamba-2")),
            Self::Nothing(_) => None,
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

    fn cached_bytes(&self, on: &Deployment, tokens: f64, element_bytes: f64) -> f64 {
        of_kind!(self, mixer => mixer.cached_bytes(on, tokens, element_bytes))
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        of_kind!(self, mixer => mixer.exchanges(on, rows, to));
    }
}
