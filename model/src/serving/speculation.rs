//! Drafted tokens: how many of them a step yields.

use crate::design::Design;

/// Tokens that a step yields for this many drafts of MTP layers, the model's own among them.
///
/// # Source
/// TensorRT-LLM, `blog01`: DeepSeek-R1 on B200 with one to five drafts.
const ACCEPTED: [f64; 6] = [1.0, 1.92, 2.58, 2.82, 2.99, 3.01];

/// Tokens that a step yields in the mean.
pub(super) fn accepted(design: &Design) -> f64 {
    let drafts = design.serving.num_speculative_tokens as usize;
    let published = ACCEPTED[drafts.min(ACCEPTED.len() - 1)];
    let most = (drafts + 1) as f64;
    design.serving.acceptance_length.unwrap_or(published).clamp(1.0, most)
}
