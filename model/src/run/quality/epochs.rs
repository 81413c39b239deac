//! Tokens that are seen more than once.

/// Repetitions after which tokens are worth 1/e of new ones.
const REPETITION_DECAY: f64 = 15.387_756;

/// Tokens without repetition that are worth as much as these with it: U + R U (1 - e^(-(D/U -
/// 1)/R)), R = 15.387756, D where none is seen twice.
///
/// # Source
/// Muennighoff et al. 2023, arXiv 2305.16264, eq. 16 to 20; up to four epochs are as good as new
/// tokens.
#[must_use]
pub fn effective_tokens(unique: f64, tokens: f64) -> f64 {
    if tokens <= unique {
        return tokens;
    }
    unique
        + REPETITION_DECAY * unique * (1.0 - libm::exp(-(tokens / unique - 1.0) / REPETITION_DECAY))
}
