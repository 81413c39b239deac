//! From the times of stages to the time of the pipeline: by each schedule's published formula, or
//! task by task.

pub(crate) mod simulated;

use alloc::vec::Vec;

use crate::choice::Method;
use crate::plan::Plan;
use crate::schedule::{ChunkTimes, Schedule, Task, Times};
use crate::stage::{PerAxis, StageWork, Waiting};

/// One stage's times for one micro-batch, communication that isn't hidden included. Seconds.
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

/// A part of the step in which a stage's passes hide more or less of their communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before a stage's first backward.
    WarmUp,
    /// Forwards and backwards take turns, or run as pairs.
    Steady,
    /// Behind a stage's last forward.
    CoolDown,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 3] = [Self::WarmUp, Self::Steady, Self::CoolDown];

    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Steady => "steady state",
            Self::CoolDown => "cool-down",
        }
    }

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm_up",
            Self::Steady => "steady",
            Self::CoolDown => "cool_down",
        }
    }
}

/// Communication of one phase, mean over stages, and what of it is exposed. Seconds per axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PhaseTraffic {
    pub(crate) seconds: PerAxis,
    pub(crate) exposed: PerAxis,
}

/// What a stage holds for backwards at its fullest moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Held {
    /// Activations, bytes.
    pub(crate) bytes: f64,
    /// Full-stage micro-batches.
    pub(crate) micro_batches: f64,
    /// The task that brings it there; none where a formula gave the times.
    pub(crate) task: Option<Task>,
}

/// The pipeline's time and how the stages spend it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pipeline {
    /// From the first forward to the last backward.
    pub(crate) seconds: f64,
    /// Time with a task resident, per stage.
    pub(crate) busy: Vec<f64>,
    /// What each stage spends beside its kernels in a step.
    pub(crate) waiting: Vec<Waiting>,
    /// By [`Phase`]; none where a formula gave the times.
    pub(crate) phases: Option<[PhaseTraffic; 3]>,
    /// Per stage; none where a formula gave the times.
    pub(crate) held: Option<Vec<Held>>,
}

impl Pipeline {
    /// Mean share of the time with no task resident.
    pub(crate) fn bubble_ratio(&self) -> f64 {
        if self.seconds <= 0.0 {
            return 0.0;
        }
        let mean = self.busy.iter().sum::<f64>() / self.busy.len() as f64;
        1.0 - mean / self.seconds
    }
}

/// Do forwards and backwards of this schedule run as overlapping pairs?
pub(crate) fn runs_pairs(method: Method) -> bool {
    match method {
        Method::OneForwardOneBackwardOverlap | Method::DualPipe | Method::DualPipeV => true,
        Method::Gpipe
        | Method::OneForwardOneBackward
        | Method::Interleaved
        | Method::ZbH1
        | Method::Zb2p
        | Method::ZbV
        | Method::VHalf
        | Method::VMin => false,
    }
}

impl Plan {
    /// Do forwards run beside backwards of other micro-batches?
    pub(crate) fn runs_pairs(&self) -> bool {
        let schedule = &self.design().schedule;
        runs_pairs(schedule.method) || schedule.overlap_moe_expert_parallel_comm
    }

    /// The order of tasks: with EP overlap 1F1B runs its forwards and backwards as pairs.
    ///
    /// Source: Megatron-Core `combined_1f1b.py`.
    pub(crate) fn order(&self) -> Method {
        let method = self.design().schedule.method;
        if self.runs_pairs() && !runs_pairs(method) {
            Method::OneForwardOneBackwardOverlap
        } else {
            method
        }
    }

    /// The time of all micro-batches, by formula.
    ///
    /// The slowest stage works without a gap in the steady state; the other stages' first forwards
    /// and last backwards fill and drain the pipeline. For equal stages this is the published
    /// formula; for unequal ones it puts the slowest stage in the steady state and each other
    /// stage's own time in the ramp.
    ///
    /// - GPipe, 1F1B: m (F + B) + (p - 1)(F + B).
    /// - Interleaved: m (F + B) + (p - 1)(F + B) / v. Narayanan et al. 2021, section 2.2.
    /// - 1F1B overlap: (m v - n) pairs and n solo chunks, n = (v - 1) p + 1, then the same ramp;
    ///   for v = 1 (m - 1) FB + p (F + B).
    /// - ZB-H1: ramp (p - 1)(F + dX - dW); ZB-2P: (p - 1)(F + dX - 2 dW), here never below zero.
    ///   Zero Bubble, section 2. ZB-V: half of H1's ramp, as its first half-stage forwards fill it.
    /// - DualPipe: (m - p - 1) pairs, p + 1 apart, ramp (p / 2 - 1)(FB + B - 3 dW); DualPipeV: half
    ///   a pair more, ramp (p - 1) / 2 of the same. DualPipe's README.
    pub(crate) fn closed_form_pipeline(&self, works: &[StageWork]) -> Pipeline {
        let stages: Vec<StageTimes> = works.iter().map(StageWork::times).collect();
        let method = self.order();
        let (p, v, m) =
            (self.sizes.pp as f64, self.sizes.vpp as f64, self.sizes.micro_batches as f64);
        let paired = self.paired_micro_batches();
        let work = |stage: &StageTimes| {
            paired * stage.pair + (m - paired) * (stage.forward + stage.backward)
        };
        let busy: Vec<f64> = stages.iter().map(work).collect();
        let slowest = busy.iter().copied().fold(0.0, f64::max);
        let slowest_index = busy.iter().position(|time| *time >= slowest).unwrap_or(0);
        // The sum over the other stages stands for (p - 1) equal ones.
        let ramp = |time: &dyn Fn(&StageTimes) -> f64| -> f64 {
            let others = stages.iter().enumerate().filter(|(index, _)| *index != slowest_index);
            others.map(|(_, stage)| time(stage).max(0.0)).sum()
        };
        let solo = |stage: &StageTimes| stage.forward + stage.backward;
        let split = |delayed: f64| {
            move |stage: &StageTimes| {
                stage.forward + stage.backward - (1.0 + delayed) * stage.weight_grad
            }
        };
        let dual = |stage: &StageTimes| stage.pair + stage.backward - 3.0 * stage.weight_grad;
        let fill = match method {
            Method::Gpipe | Method::OneForwardOneBackward => ramp(&solo),
            Method::Interleaved | Method::OneForwardOneBackwardOverlap => ramp(&solo) / v,
            Method::ZbH1 => ramp(&split(1.0)),
            Method::Zb2p => ramp(&split(2.0)),
            Method::ZbV | Method::VHalf | Method::VMin => ramp(&split(1.0)) / 2.0,
            Method::DualPipe if p > 1.0 => ramp(&dual) * (p / 2.0 - 1.0) / (p - 1.0),
            Method::DualPipe | Method::DualPipeV => ramp(&dual) / 2.0,
        };
        let waiting = works.iter().map(|work| {
            let mut waiting = Waiting::default();
            waiting.add(&work.paired, paired);
            waiting.add(&work.alone[0], m - paired);
            waiting.add(&work.alone[1], m - paired);
            waiting
        });
        let waiting = waiting.collect();
        Pipeline { seconds: slowest + fill, busy, waiting, phases: None, held: None }
    }

    /// Micro-batches of a stage that run as pairs: all but a warm-up of n chunks; DualPipe's middle
    /// stages run p + 1 of them apart, the last stage of DualPipeV half a one less.
    fn paired_micro_batches(&self) -> f64 {
        let (p, v, m) =
            (self.sizes.pp as f64, self.sizes.vpp as f64, self.sizes.micro_batches as f64);
        if !self.runs_pairs() {
            return 0.0;
        }
        let apart = match self.order() {
            Method::DualPipe => p + 1.0,
            Method::DualPipeV => p + 0.5,
            Method::Gpipe
            | Method::OneForwardOneBackward
            | Method::Interleaved
            | Method::OneForwardOneBackwardOverlap
            | Method::ZbH1
            | Method::Zb2p
            | Method::ZbV
            | Method::VHalf
            | Method::VMin => ((v - 1.0) * p + 1.0) / v,
        };
        (m - apart).max(0.0)
    }

    /// The bubble of equal stages by counts alone: the published formula as a share of the total,
    /// with F = dX = dW where a schedule splits the backward; V-half and V-min have no formula and
    /// are simulated for such stages.
    ///
    /// (p - 1) / (v m + p - 1) for 1F1B and its interleaved forms: 15 / 79 = 18.99 % and
    /// 15 / 143 = 10.49 % at p = 16, m = 64, as Pangu Ultra MoE reports.
    #[must_use]
    pub fn bubble_ratio_closed_form(&self) -> f64 {
        let (p, v, m) =
            (self.sizes.pp as f64, self.sizes.vpp as f64, self.sizes.micro_batches as f64);
        let share = |ramp: f64, work: f64| ramp / (work + ramp);
        match self.design().schedule.method {
            Method::Gpipe
            | Method::OneForwardOneBackward
            | Method::Interleaved
            | Method::OneForwardOneBackwardOverlap => share(p - 1.0, v * m),
            Method::ZbH1 => share(p - 1.0, 3.0 * m),
            Method::Zb2p => 0.0,
            Method::ZbV => share((p - 1.0) / 2.0, 3.0 * m),
            Method::VHalf | Method::VMin => share(self.equal_stages_ramp(), 3.0 * m),
            Method::DualPipe => share((p - 2.0).max(0.0), 3.0 * m),
            Method::DualPipeV => share(p - 1.0, 3.0 * m),
        }
    }

    /// What equal stages with F = dX = dW = 1 take beyond their work, for a schedule without a
    /// published formula: simulated, for at most eight times as many micro-batches as stages.
    fn equal_stages_ramp(&self) -> f64 {
        let m = self.sizes.micro_batches.min(8 * self.sizes.pp);
        let (p, v) = (self.sizes.pp, self.sizes.vpp);
        let unit = ChunkTimes { forward: 1.0, input_grad: 1.0, weight_grad: 1.0 };
        Schedule::new(self.order(), p, v, m, None).map_or(0.0, |schedule| {
            let times = Times::equal(&schedule, unit, None, 0.0);
            (schedule.simulate(&times).seconds - 3.0 * m as f64).max(0.0)
        })
    }
}
