//! Rules of layers that differ by what mixes their tokens.

use alloc::format;

use super::rule::{Words, indivisible, say};
use super::table::{cp, tp};
use crate::choice::AttentionVariant;
use crate::design::Design;

/// Whether layers of a design have linear attention.
fn has_linear(d: &Design) -> bool {
    d.transformer.experimental_attention_variant.is_linear()
}

/// A pattern of linear attention is as long as the model.
pub(super) fn linear_pattern<W: Words>(d: &Design) -> Option<W> {
    let length = d.transformer.linear_attention_freq.len().filter(|_| has_linear(d))?;
    let layers = d.transformer.num_layers;
    (length != layers).then(|| {
        say!("the pattern of linear attention speaks of {length} layers, the model has {layers}")
    })
}

/// Its heads are split over TP, and exchanged for sequence over CP.
pub(super) fn linear_heads<W: Words>(d: &Design) -> Option<W> {
    if !has_linear(d) {
        return None;
    }
    let (transformer, ranks) = (&d.transformer, tp(d) * cp(d));
    let heads = match transformer.experimental_attention_variant {
        AttentionVariant::Gdn | AttentionVariant::Gdn2 => transformer.linear_num_key_heads,
        AttentionVariant::Kda | AttentionVariant::Lightning | AttentionVariant::None => {
            transformer.linear_num_value_heads
        }
    };
    indivisible(heads, ranks, || {
        say!("{heads} heads of linear attention can't be split over {ranks} TP x CP ranks")
    })
}

/// Queries and keys of a gated delta net serve whole groups of values' heads; KDA and lightning
/// attention have as many of each.
pub(super) fn linear_groups<W: Words>(d: &Design) -> Option<W> {
    let (keys, values) = (d.transformer.linear_num_key_heads, d.transformer.linear_num_value_heads);
    match d.transformer.experimental_attention_variant {
        AttentionVariant::None => None,
        AttentionVariant::Gdn | AttentionVariant::Gdn2 => indivisible(values, keys, || {
            say!("{keys} key heads don't divide {values} value heads of linear attention")
        }),
        AttentionVariant::Kda | AttentionVariant::Lightning => (keys != values).then(|| {
            say!("this attention has as many key heads as value heads, not {keys} and {values}")
        }),
    }
}
