//! Drafted tokens: how many of them a step yields.

use crate::design::Design;
use crate::metric::published::ACCEPTANCE_LENGTHS;

/// Tokens that a step yields in the mean.
pub(super) fn accepted(design: &Design) -> f64 {
    let drafts = design.serving.num_speculative_tokens as usize;
    let drafted = drafts.min(ACCEPTANCE_LENGTHS.len()).checked_sub(1);
    let published = drafted.map_or(1.0, |index| ACCEPTANCE_LENGTHS[index].value);
    let most = (drafts + 1) as f64;
    design.serving.acceptance_length.unwrap_or(published).clamp(1.0, most)
}
