//! Megatron's pattern of sub-layers, one symbol each.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::setting::Setting;
use crate::ground::knob::Value;

/// A sub-layer: one that mixes tokens, or an MLP, with a norm in front and a residual behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// `M`: Mamba-2.
    Mamba,
    /// `G`: the linear attention that `experimental_attention_variant` names.
    Linear,
    /// `*`: attention.
    Attention,
    /// `+`: multi-latent attention.
    Latent,
    /// `D`: the sparse attention that `experimental_attention_variant` names.
    Sparse,
    /// `-`: a dense MLP.
    Dense,
    /// `E`: experts.
    Experts,
}

impl Symbol {
    const fn of(letter: char) -> Option<Self> {
        Some(match letter {
            'M' => Self::Mamba,
            'G' => Self::Linear,
            '*' => Self::Attention,
            '+' => Self::Latent,
            'D' => Self::Sparse,
            '-' => Self::Dense,
            'E' => Self::Experts,
            _ => return None,
        })
    }

    /// Whether it mixes tokens.
    #[must_use]
    pub const fn mixes(self) -> bool {
        !matches!(self, Self::Dense | Self::Experts)
    }
}

/// A model as a row of sub-layers; `|` is between pipeline chunks, `/` in front of each MTP
/// depth.
///
/// # Source
/// Megatron-Core `models/hybrid` and `ssm/mamba_hybrid_layer_allocation.py`,
/// `hybrid_layer_pattern`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HybridPattern {
    text: String,
    /// The sub-layers of the model, MTP not counted.
    pub layers: Vec<Symbol>,
    /// Sub-layers of each chunk between bars; empty if there are no bars.
    pub chunks: Vec<u64>,
    /// The sub-layers of one MTP depth.
    pub mtp: Vec<Symbol>,
    /// MTP depths.
    pub depths: u64,
}

impl HybridPattern {
    /// Letters of the longest pattern.
    const MAX_LEN: usize = 2_048;

    /// Reads `M*ME|MEME/*E`. MTP depths are alike, as Megatron demands.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if text.is_empty() || text.len() > Self::MAX_LEN {
            return None;
        }
        let mut parts = text.split('/');
        let main = parts.next()?;
        let chunks: Vec<&str> = main.split('|').collect();
        let symbols = |part: &str| part.chars().map(Symbol::of).collect::<Option<Vec<_>>>();
        let layers = symbols(&main.replace('|', "")).filter(|layers| !layers.is_empty())?;
        let depths: Vec<&str> = parts.collect();
        let mtp = match depths.first() {
            Some(first) if depths.iter().all(|depth| depth == first) => symbols(first)?,
            Some(_) => return None,
            None => Vec::new(),
        };
        if !depths.is_empty() && mtp.is_empty() {
            return None;
        }
        let counts = chunks.iter().map(|chunk| chunk.len() as u64).collect();
        let chunks = if chunks.len() > 1 { counts } else { Vec::new() };
        let depths = depths.len() as u64;
        Some(Self { layers, chunks, mtp, depths, text: text.to_string() })
    }
}

impl Setting for HybridPattern {
    fn value(&self) -> Value {
        Value::Text(self.text.clone())
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Self::read(text) } else { None }
    }
}
