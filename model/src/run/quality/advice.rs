//! The batch that published fits advise.

use super::Shape;

/// Tokens of a batch by four fits.
///
/// They differ threefold: they advise and never change the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchAdvice {
    /// 0.58 D^0.571; arXiv 2503.04715.
    pub step_law: f64,
    /// 512 x 22.91 (D / 10^6)^0.47, the critical batch; arXiv 2410.21676.
    pub critical: f64,
    /// 0.2920 C^0.3271; arXiv 2401.02954.
    pub deepseek: f64,
    /// 0.0694 C^0.3644, of mixtures of experts; arXiv 2507.17702.
    pub ling: f64,
}

impl BatchAdvice {
    /// The four, with the name of each.
    #[must_use]
    pub const fn all(&self) -> [(&'static str, f64); 4] {
        [
            ("step_law", self.step_law),
            ("critical", self.critical),
            ("deepseek", self.deepseek),
            ("ling", self.ling),
        ]
    }

    /// The smallest and the largest.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        let all = self.all().map(|(_, tokens)| tokens);
        [all.into_iter().fold(f64::MAX, f64::min), all.into_iter().fold(0.0, f64::max)]
    }
}

/// The batch in tokens that is advised for a model after this many tokens.
#[must_use]
pub fn batch_advice(shape: &Shape, tokens: f64) -> BatchAdvice {
    let compute = shape.compute(tokens);
    let power = |base: f64, exponent: f64| libm::pow(base, exponent);
    BatchAdvice {
        step_law: 0.58 * power(tokens, 0.571),
        critical: 512.0 * 22.91 * power(tokens / 1e6, 0.47),
        deepseek: 0.2920 * power(compute, 0.3271),
        ling: 0.0694 * power(compute, 0.3644),
    }
}
