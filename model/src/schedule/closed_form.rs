//! The published formulas.

use super::order::Schedule;
use super::times::{ChunkTimes, StageSeconds};
use crate::ground::choice::Method;

/// One stage's times for one micro-batch, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StageTimes {
    /// Forward that runs alone.
    pub(crate) forward: f64,
    /// Backward that runs alone, weight gradients included.
    pub(crate) backward: f64,
    /// The weight gradients' part of the backward.
    pub(crate) weight_grad: f64,
    /// A forward and a backward that run together.
    pub(crate) pair: f64,
}

impl StageTimes {
    /// F = dX = dW = 1, a pair as long as its passes: what bubbles are published for.
    const EVEN: Self = Self { forward: 1.0, backward: 2.0, weight_grad: 1.0, pair: 3.0 };

    /// A forward and a backward that run alone.
    fn both(&self) -> f64 {
        self.forward + self.backward
    }
}

/// A method's formula: the work of a stage's m micro-batches, then what filling and draining the
/// pipeline adds for each other stage. B = dX + dW; FB is a pair.
///
/// - GPipe, 1F1B: m (F + B) + (p - 1)(F + B).
/// - Interleaved: m (F + B) + (p - 1)(F + B) / v. Narayanan et al. 2021, section 2.2.
/// - 1F1B overlap: (m v - n) pairs and n solo chunks, n = (v - 1) p + 1, then the same ramp;
///   for v = 1 (m - 1) FB + p (F + B).
/// - ZB-H1: ramp (p - 1)(F + dX - dW); ZB-2P: (p - 1)(F + dX - 2 dW), here never below zero.
///   Zero Bubble, section 2. ZB-V: half of H1's ramp, as its first half-stage forwards fill it;
///   V-half and V-min have no formula and take that one where they can't be simulated.
/// - DualPipe: (m - p - 1) pairs, p + 1 apart, ramp (p / 2 - 1)(FB + B - 3 dW); DualPipeV: half
///   a pair more, ramp (p - 1) / 2 of the same. DualPipe's README publishes the ramps; the work is
///   that of the middle stage (the last one in a V).
///
/// Sources: GPipe, arXiv 1811.06965; Narayanan et al. 2021, arXiv 2104.04473, section 2.2;
/// Zero Bubble, arXiv 2401.10241, table 1; DualPipe's README, "Pipeline Bubbles"; the overlap and
/// ZB-V's half are derived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Formula {
    method: Method,
    p: f64,
    v: f64,
    m: f64,
}

impl Formula {
    pub(crate) fn new(method: Method, stages: u64, chunks: u64, micro_batches: u64) -> Self {
        Self { method, p: stages as f64, v: chunks as f64, m: micro_batches as f64 }
    }

    /// Micro-batches of a stage that run as pairs.
    pub(crate) fn paired(&self) -> f64 {
        let Self { p, v, m, .. } = *self;
        let apart = match self.method {
            Method::OneForwardOneBackwardOverlap => ((v - 1.0) * p + 1.0) / v,
            Method::DualPipe => p + 1.0,
            Method::DualPipeV => p + 0.5,
            Method::Gpipe
            | Method::OneForwardOneBackward
            | Method::Interleaved
            | Method::ZbH1
            | Method::Zb2p
            | Method::ZbV
            | Method::VHalf
            | Method::VMin => return 0.0,
        };
        (m - apart).max(0.0)
    }

    /// Seconds of all micro-batches on a stage.
    pub(crate) fn work(&self, stage: &StageTimes) -> f64 {
        let paired = self.paired();
        paired * stage.pair + (self.m - paired) * stage.both()
    }

    /// Time that one other stage adds to fill and drain the pipeline, before [`Self::ramp_share`].
    pub(crate) fn ramp(&self, stage: &StageTimes) -> f64 {
        let seconds = match self.method {
            Method::Gpipe
            | Method::OneForwardOneBackward
            | Method::Interleaved
            | Method::OneForwardOneBackwardOverlap => stage.both(),
            Method::ZbH1 | Method::ZbV | Method::VHalf | Method::VMin => {
                stage.both() - 2.0 * stage.weight_grad
            }
            Method::Zb2p => stage.both() - 3.0 * stage.weight_grad,
            Method::DualPipe | Method::DualPipeV => {
                stage.pair + stage.backward - 3.0 * stage.weight_grad
            }
        };
        seconds.max(0.0)
    }

    /// The share of the other stages' ramps that counts, as a fraction.
    pub(crate) fn ramp_share(&self) -> [f64; 2] {
        match self.method {
            Method::Gpipe | Method::OneForwardOneBackward | Method::ZbH1 | Method::Zb2p => {
                [1.0, 1.0]
            }
            Method::Interleaved | Method::OneForwardOneBackwardOverlap => [1.0, self.v],
            Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => [1.0, 2.0],
            // Stages are even in number, so that there are two.
            Method::DualPipe => [self.p / 2.0 - 1.0, (self.p - 1.0).max(1.0)],
        }
    }

    /// Seconds of a step with equal stages.
    fn equal_stages(&self, stage: &StageTimes) -> f64 {
        let [part, whole] = self.ramp_share();
        self.work(stage) + (self.p - 1.0) * self.ramp(stage) * part / whole
    }

    /// The bubble of equal stages with F = dX = dW and a pair as long as its passes, as a share of
    /// the step.
    ///
    /// (p - 1) / (v m + p - 1) for 1F1B and its interleaved forms, whatever their times.
    pub(crate) fn bubble_ratio(&self) -> f64 {
        let [part, whole] = self.ramp_share();
        let ramp = (self.p - 1.0) * self.ramp(&StageTimes::EVEN) * part;
        ramp / (self.m * StageTimes::EVEN.both() * whole + ramp)
    }
}

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
        let ChunkTimes { forward, weight_grad, .. } = stage;
        let [p, v, m] = [self.stages, self.chunks, self.micro_batches].map(u64::from);
        let formula = Formula::new(self.method, p, v, m);
        let backward = stage.backward();
        self.has_formula(stage, pair)
            .then(|| formula.equal_stages(&StageTimes { forward, backward, weight_grad, pair }))
    }

    /// Are these sizes and times in the domain of the method's formula?
    fn has_formula(&self, stage: StageSeconds, pair: f64) -> bool {
        let (p, m) = (self.stages, self.micro_batches);
        let StageSeconds { forward, input_grad, weight_grad } = stage;
        let backward = stage.backward();
        let even = close(forward, input_grad) && close(input_grad, weight_grad);
        match self.method {
            Method::Gpipe | Method::OneForwardOneBackward => true,
            Method::Interleaved => self.fills_evenly(),
            Method::OneForwardOneBackwardOverlap => {
                self.chunks == 1 && pair >= forward && pair >= backward
            }
            Method::ZbH1 => weight_grad <= forward && weight_grad <= input_grad && m >= p,
            Method::Zb2p => weight_grad <= forward && m >= 2 * p - 1,
            Method::ZbV => even && m >= 2 * p - 1,
            Method::DualPipe => even && pair >= backward,
            Method::DualPipeV => even && pair >= backward && m >= 2 * p,
            Method::VHalf | Method::VMin => false,
        }
    }

    /// Do groups of p micro-batches take all of them?
    fn fills_evenly(&self) -> bool {
        let whole = self.group == self.stages && self.micro_batches.is_multiple_of(self.stages);
        self.chunks == 1 || whole
    }
}

/// Whether two times are equal but for rounding.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs()
}
