//! The published formulas for equal stages.

use super::{Schedule, StageSeconds};
use crate::choice::Method;

impl Schedule {
    /// The published time of a step with equal stages, in seconds: `stage` is the time of a whole
    /// stage for one micro-batch, `pair` that of a forward and a backward that run as one.
    ///
    /// None outside the formula's domain.
    #[must_use]
    pub fn closed_form_seconds(&self, stage: StageSeconds, _pair: f64) -> Option<f64> {
        let (p, m) = (self.stages as f64, self.micro_batches as f64);
        match self.method {
            Method::Gpipe | Method::OneForwardOneBackward => {
                Some((m + p - 1.0) * (stage.forward + stage.backward()))
            }
            Method::Interleaved
            | Method::OneForwardOneBackwardOverlap
            | Method::ZbH1
            | Method::Zb2p
            | Method::ZbV
            | Method::VHalf
            | Method::VMin
            | Method::DualPipe
            | Method::DualPipeV => None,
        }
    }
}
