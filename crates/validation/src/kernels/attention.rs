//! Flash attention, causal, forward: heads of one width, and multi-latent attention's.

use model::answer::microbench::{Burst, CausalAttention};
use model::ground::choice::Precision;

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
    let (width, groups) = (row.number("head_dim")?, row.number("kv_heads")?);
    let more = format!(" of {width}, {groups} of keys");
    of_widths("attention", row, [width, width], |_| None, &more)
}

/// A case of heads of these widths, with what its kernel copies beside, and what else its shape
/// says.
fn of_widths(
    kind: &'static str,
    row: &Row<'_>,
    [qk_dim, v_dim]: [f64; 2],
    beside: fn(&CausalAttention) -> Option<[f64; 2]>,
    more: &str,
) -> Option<Case> {
    let (sequences, tokens) = (row.number("sequences")?, row.number("tokens_per_sequence")?);
    let heads = row.number("heads")?;
    let core = CausalAttention { sequences, tokens, heads, qk_dim, v_dim };
    Some(Case {
        kind,
        part: row.part()?,
        precision: Precision::Bf16,
        shape: format!("{sequences} x {tokens} tokens, {heads} heads{more}"),
        work: Work::Attention(Attention { core, beside: beside(&core) }),
        measured_us: row.number(COUNTED)?,
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
    let beside = |core: &CausalAttention| {
        let width = core.heads * ROTATED + ROTATED + LATENT;
        Some([core.sequences * core.tokens * 2.0 * 2.0 * width, 2.0])
    };
    of_widths("mla", row, [QK, V], beside, "")
}
