//! Flash attention, causal, forward: heads of one width, and multi-latent attention's.

use model::burst::{Burst, CausalAttention};
use model::choice::Precision;

use super::table::{self, Row};
use super::{Case, Work};

/// Attention, with what its kernel copies beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attention {
    core: CausalAttention,
    /// Bytes that kernels in front read and write, and how many these are.
    beside: Option<[f64; 2]>,
}

impl Attention {
    pub(super) fn seconds(&self, burst: &Burst) -> f64 {
        let beside =
            self.beside.map_or(0.0, |[bytes, kernels]| burst.elementwise(bytes, kernels).get());
        burst.attention(&self.core).get() + beside
    }
}

/// The fastest of a shape's rows count: those of some frameworks hold the rotary embedding and the
/// cache's write as well.
const COUNTED: &str = "min_us";

pub(super) fn cases() -> Vec<Case> {
    table::rows(include_str!("../../kernels/attention.csv"), case)
}

fn case(row: &Row<'_>) -> Option<Case> {
    let number = |column| row.number(column);
    let width = number("head_dim")?;
    let core = CausalAttention {
        sequences: number("sequences")?,
        tokens: number("tokens_per_sequence")?,
        heads: number("heads")?,
        qk_dim: width,
        v_dim: width,
    };
    let CausalAttention { sequences, tokens, heads, .. } = core;
    Some(Case {
        kind: "attention",
        part: row.part()?,
        precision: Precision::Bf16,
        shape: format!(
            "{sequences} x {tokens} tokens, {heads} heads of {width}, {} of keys",
            number("kv_heads")?
        ),
        work: Work::Attention(Attention { core, beside: None }),
        measured_us: number(COUNTED)?,
    })
}

/// DeepSeek's widths: of queries and keys, of their rotated part, of values, of the latent.
const QK: f64 = 192.0;
const ROTATED: f64 = 64.0;
const V: f64 = 128.0;
const LATENT: f64 = 512.0;

pub(super) fn latent_cases() -> Vec<Case> {
    table::rows(include_str!("../../kernels/mla.csv"), latent_case)
}

/// All rows hold the rotary embedding of queries, and the write of rotated keys and latents.
fn latent_case(row: &Row<'_>) -> Option<Case> {
    let number = |column| row.number(column);
    let core = CausalAttention {
        sequences: number("sequences")?,
        tokens: number("tokens_per_sequence")?,
        heads: number("heads")?,
        qk_dim: QK,
        v_dim: V,
    };
    let CausalAttention { sequences, tokens, heads, .. } = core;
    let bytes = sequences * tokens * 2.0 * 2.0 * (heads * ROTATED + ROTATED + LATENT);
    Some(Case {
        kind: "mla",
        part: row.part()?,
        precision: Precision::Bf16,
        shape: format!("{sequences} x {tokens} tokens, {heads} heads"),
        work: Work::Attention(Attention { core, beside: Some([bytes, 2.0]) }),
        measured_us: number(COUNTED)?,
    })
}
