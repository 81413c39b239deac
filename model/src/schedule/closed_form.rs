//! The published formulas for equal stages.

use super::{Schedule, StageSeconds};
use crate::choice::Method;

impl Schedule {
    /// The published time of a step with equal stages and no time for P2P, in seconds.
    ///
    /// `stage` is the time of a whole stage for one micro-batch (F, dX, dW; B = dX + dW), `pair`
    /// that of a forward and a backward that run as one (FB). None outside a formula's domain; in
    /// it, the simulation gives the same to 12 digits.
    ///
    /// - GPipe, 1F1B: (m + p - 1)(F + B), always.
    /// - Interleaved: (m + (p - 1) / v)(F + B), in groups of p and m a multiple of p; always for
    ///   v = 1.
    /// - 1F1B overlap: (m - 1) FB + p (F + B), for v = 1, FB >= F and FB >= B.
    /// - ZB-H1: m (F + B) + (p - 1)(F + dX - dW), for dW <= F, dW <= dX and m >= p.
    /// - ZB-2P: m (F + B) + (p - 1) max(F + dX - 2 dW, 0), for dW <= F and m >= 2 p - 1.
    /// - ZB-V: m (F + B) + (p - 1) F / 2, for F = dX = dW and m >= 2 p - 1.
    /// - DualPipe: (m - p - 1) FB + (p + 1)(F + B) + (p / 2 - 1)(FB + B - 3 dW), for F = dX = dW
    ///   and FB >= B.
    /// - DualPipeV: (m - p - 1/2) FB + (p + 1/2)(F + B) + (p - 1) / 2 (FB + B - 3 dW), for the same
    ///   and m >= 2 p.
    ///
    /// V-half, V-min and overlapped chunks have none. Of dual pipelines the bubble, the last term,
    /// is published; the terms before it are the work of the middle stage (the last one in a V).
    ///
    /// Sources: GPipe, arXiv 1811.06965; Narayanan et al. 2021, arXiv 2104.04473, section 2.2;
    /// Zero Bubble, arXiv 2401.10241, table 1; DualPipe's README, "Pipeline Bubbles"; the overlap
    /// and ZB-V's half are derived.
    #[must_use]
    pub fn closed_form_seconds(&self, stage: StageSeconds, pair: f64) -> Option<f64> {
        let [p, v, m] = [self.stages, self.chunks, self.micro_batches].map(f64::from);
        let StageSeconds { forward, input_grad, weight_grad } = stage;
        let backward = stage.backward();
        let both = forward + backward;
        let even = close(forward, input_grad) && close(input_grad, weight_grad);
        let dual_bubble = pair + backward - 3.0 * weight_grad;
        match self.method {
            Method::Gpipe | Method::OneForwardOneBackward => Some((m + p - 1.0) * both),
            Method::Interleaved => self.fills_evenly().then(|| (m + (p - 1.0) / v) * both),
            Method::OneForwardOneBackwardOverlap => {
                let holds = self.chunks == 1 && pair >= forward && pair >= backward;
                holds.then_some((m - 1.0) * pair + p * both)
            }
            Method::ZbH1 => {
                let holds = weight_grad <= forward && weight_grad <= input_grad && m >= p;
                holds.then_some(m * both + (p - 1.0) * (forward + input_grad - weight_grad))
            }
            Method::Zb2p => {
                let ramp = (forward + input_grad - 2.0 * weight_grad).max(0.0);
                let holds = weight_grad <= forward && m >= 2.0 * p - 1.0;
                holds.then_some(m * both + (p - 1.0) * ramp)
            }
            Method::ZbV => {
                let holds = even && m >= 2.0 * p - 1.0;
                holds.then_some(m * both + (p - 1.0) * forward / 2.0)
            }
            Method::DualPipe => (even && pair >= backward)
                .then(|| (m - p - 1.0) * pair + (p + 1.0) * both + (p / 2.0 - 1.0) * dual_bubble),
            Method::DualPipeV => (even && pair >= backward && m >= 2.0 * p)
                .then(|| (m - p - 0.5) * pair + (p + 0.5) * both + (p - 1.0) / 2.0 * dual_bubble),
            Method::VHalf | Method::VMin => None,
        }
    }

    /// Do groups of p micro-batches take all of them?
    fn fills_evenly(&self) -> bool {
        let whole = self.group == self.stages && self.micro_batches.is_multiple_of(self.stages);
        self.chunks == 1 || whole
    }
}

/// The same but for rounding.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs()
}
