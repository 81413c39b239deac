//! Published shares of dropped tokens, and lengths that drafts are accepted to.

use super::figure::Figure;
use crate::ground::source::{PANGU_ULTRA_MOE, TENSORRT_LLM};
use crate::metric::unit::Unit;

const fn dropped(share: f64, place: &'static str) -> Figure {
    Figure::new(share, Unit::Ratio(0), PANGU_ULTRA_MOE, place)
}

/// Shares of tokens that Pangu's models drop with drop-and-pad.
pub const DROP_RATIOS: &[Figure; 2] =
    &[dropped(0.06, "drop-and-pad, 20B"), dropped(0.08, "drop-and-pad, 718B")];

const fn accepted(tokens: f64) -> Figure {
    Figure::new(tokens, Unit::Tokens, TENSORRT_LLM, "tech blog 1, DeepSeek-R1 on B200")
}

/// Tokens that a step yields with one to five drafts of MTP layers, the model's own among them.
pub const ACCEPTANCE_LENGTHS: &[Figure; 5] =
    &[accepted(1.92), accepted(2.58), accepted(2.82), accepted(2.99), accepted(3.01)];
