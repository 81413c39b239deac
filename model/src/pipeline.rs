//! From the times of stages to the time of the pipeline: by each schedule's published formula, or
//! task by task.

pub(crate) mod simulated;

use alloc::vec::Vec;

use crate::choice::Method;
use crate::plan::Plan;
use crate::schedule::{ChunkTimes, Form, Formula, Schedule, StageTimes, Task, Times};
use crate::stage::{PerAxis, StageWork, Waiting};

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

impl Plan {
    /// What the design's schedule is made of.
    pub(crate) fn form(&self) -> Form {
        Form::of(self.design().schedule.method)
    }

    /// Do forwards run beside backwards of other micro-batches?
    pub(crate) fn runs_pairs(&self) -> bool {
        self.form().runs_pairs || self.design().schedule.overlap_moe_expert_parallel_comm
    }

    /// The order of tasks: with EP overlap 1F1B runs its forwards and backwards as pairs.
    ///
    /// Source: Megatron-Core `combined_1f1b.py`.
    pub(crate) fn order(&self) -> Method {
        if self.runs_pairs() && !self.form().runs_pairs {
            Method::OneForwardOneBackwardOverlap
        } else {
            self.design().schedule.method
        }
    }

    /// The published formula of a method, for the plan's sizes.
    fn formula(&self, method: Method) -> Formula {
        Formula::new(method, self.sizes.pp, self.sizes.vpp, self.sizes.micro_batches)
    }

    /// The time of all micro-batches, by [`Formula`].
    ///
    /// The slowest stage works without a gap in the steady state; the other stages' first forwards
    /// and last backwards fill and drain the pipeline. For equal stages this is the published
    /// formula; for unequal ones it puts the slowest stage in the steady state and each other
    /// stage's own time in the ramp.
    pub(crate) fn closed_form_pipeline(&self, works: &[StageWork]) -> Pipeline {
        let stages: Vec<StageTimes> = works.iter().map(StageWork::times).collect();
        let formula = self.formula(self.order());
        let busy: Vec<f64> = stages.iter().map(|stage| formula.work(stage)).collect();
        let slowest = busy.iter().copied().fold(0.0, f64::max);
        let slowest_index = busy.iter().position(|time| *time >= slowest).unwrap_or(0);
        // The sum over the other stages stands for (p - 1) equal ones.
        let others = stages.iter().enumerate().filter(|(index, _)| *index != slowest_index);
        let ramp: f64 = others.map(|(_, stage)| formula.ramp(stage)).sum();
        let [part, whole] = formula.ramp_share();
        let paired = formula.paired();
        let alone = self.sizes.micro_batches as f64 - paired;
        let waiting = works.iter().map(|work| {
            let mut waiting = Waiting::default();
            waiting.add(&work.paired, paired);
            waiting.add(&work.alone[0], alone);
            waiting.add(&work.alone[1], alone);
            waiting
        });
        let waiting = waiting.collect();
        let seconds = slowest + ramp * part / whole;
        Pipeline { seconds, busy, waiting, phases: None, held: None }
    }

    /// The bubble of equal stages by counts alone: the published formula as a share of the total,
    /// with F = dX = dW where a schedule splits the backward; V-half and V-min have no formula and
    /// are simulated for such stages.
    ///
    /// (p - 1) / (v m + p - 1) for 1F1B and its interleaved forms: 15 / 79 = 18.99 % and
    /// 15 / 143 = 10.49 % at p = 16, m = 64, as Pangu Ultra MoE reports.
    #[must_use]
    pub fn bubble_ratio_closed_form(&self) -> f64 {
        let method = self.design().schedule.method;
        if matches!(method, Method::VHalf | Method::VMin) {
            let ramp = self.equal_stages_ramp();
            return ramp / (3.0 * self.sizes.micro_batches as f64 + ramp);
        }
        self.formula(method).bubble_ratio()
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
