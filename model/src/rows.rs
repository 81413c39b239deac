//! The tokens that one pass of a layer works on: the only thing in which training, prefill and
//! decode differ for a layer.

use crate::deployment::Deployment;

/// Rows of one pass on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rows {
    /// T, tokens that the TP ranks of one CP rank work on together: s b / c.
    pub(crate) group: f64,
    /// T', those of them that one rank keeps between blocks: s b / (c t) with SP.
    pub(crate) own: f64,
    /// s, tokens of a sequence.
    pub(crate) seq: u64,
    /// b, sequences.
    pub(crate) sequences: u64,
    /// Attention work of the busiest of the ranks that wait for each other, over the mean.
    pub(crate) attention_imbalance: f64,
    pub(crate) routed: Routed,
}

/// What routing makes of the copies that go to experts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Routed {
    /// Copies kept over copies routed: at most one without padding, the capacity factor with it.
    pub(crate) kept: f64,
    /// Rows of the fullest rank over the mean, which the others wait for.
    pub(crate) imbalance: f64,
    /// Rows that a rank must have memory for, over the mean.
    pub(crate) fullest: f64,
}

impl Rows {
    /// Bytes of these rows on all residual streams, as one rank keeps them: n T' h.
    pub(crate) fn stream_bytes(&self, on: &Deployment) -> f64 {
        self.own_bytes(on) * on.backbone.streams as f64
    }

    /// Bytes of these rows as wide as one residual stream, as one rank keeps them: T' h.
    pub(crate) fn own_bytes(&self, on: &Deployment) -> f64 {
        self.own * on.backbone.hidden as f64 * on.element_bytes()
    }
}
