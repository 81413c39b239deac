//! The schedule of a pipeline: its sizes, the order of its tasks, and what follows from both.

use crate::design::Design;
use crate::ground::choice::{Method, Timing};
use crate::layer::ranks::Ranks;
use crate::schedule::{ChunkTimes, Form, Formula, Placement, Schedule, Times};

/// Schedule of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PipelineSchedule {
    /// p, stages.
    pub(crate) stages: u64,
    /// v, chunks of a stage in one direction.
    pub(crate) virtual_stages: u64,
    /// m, micro-batches of a step.
    pub(crate) micro_batches: u64,
    /// Micro-batches that a chunk runs in a row, where that isn't p.
    pub(crate) group: Option<u64>,
    pub(crate) method: Method,
    pub(crate) form: Form,
    /// Whether forwards run beside backwards of other micro-batches.
    pub(crate) runs_pairs: bool,
    /// Whether gradients of weights are computed apart from those of inputs.
    pub(crate) splits_weight_grads: bool,
    /// Whether each TP rank sends its share between stages. With SP it has no more than that.
    pub(crate) scatters_sends: bool,
    pub(crate) timing: Timing,
}

impl PipelineSchedule {
    /// The schedule of a design on these ranks.
    pub(crate) fn new(design: &Design, ranks: &Ranks, micro_batches: u64) -> Self {
        let schedule = &design.schedule;
        let form = Form::of(schedule.method);
        Self {
            stages: ranks.pp,
            virtual_stages: ranks.vpp,
            micro_batches,
            group: schedule.microbatch_group_size_per_vp_stage,
            method: schedule.method,
            form,
            runs_pairs: form.runs_pairs || schedule.overlap_moe_expert_parallel_comm,
            splits_weight_grads: schedule.delay_wgrad_compute,
            scatters_sends: schedule.scatter_gather_tensors_in_pipeline
                && ranks.tp > 1
                && ranks.sp == 1,
            timing: schedule.timing,
        }
    }

    /// The order of tasks: with EP overlap 1F1B runs its forwards and backwards as pairs.
    ///
    /// Source: Megatron-Core `combined_1f1b.py`.
    pub(crate) fn order(&self) -> Method {
        if self.runs_pairs && !self.form.runs_pairs {
            Method::OneForwardOneBackwardOverlap
        } else {
            self.method
        }
    }

    /// The tasks of this many micro-batches, where the order takes them.
    pub(crate) fn tasks(&self, micro_batches: u64) -> Option<Schedule> {
        let Self { stages, virtual_stages, group, .. } = *self;
        Schedule::new(self.order(), stages, virtual_stages, micro_batches, group).ok()
    }

    /// The published formula of a method, for these sizes.
    pub(crate) fn formula(&self, method: Method) -> Formula {
        Formula::new(method, self.stages, self.virtual_stages, self.micro_batches)
    }

    /// Pipeline directions that a device serves at once: two for DualPipe.
    pub(crate) fn directions(&self) -> f64 {
        self.form.placement.directions() as f64
    }

    /// Chunks that a stage runs, of both directions.
    pub(crate) fn chunks_per_stage(&self) -> usize {
        self.virtual_stages as usize * self.form.placement.directions()
    }

    /// Sends of a stage per pass of a micro-batch, mean over the stages: (p v - 1) / p. Where the
    /// chunks turn back, the last stage keeps what it would send itself.
    pub(crate) fn boundaries_per_stage(&self) -> f64 {
        let chunks = (self.stages * self.virtual_stages) as f64;
        let turns = if self.turns_back() { 1.0 } else { 0.0 };
        (chunks - 1.0 - turns) / self.stages as f64
    }

    /// Sends of a pair in each direction, mean over the stages.
    pub(crate) fn sends_of_pair(&self) -> f64 {
        if self.turns_back() { self.boundaries_per_stage() / 2.0 } else { 1.0 }
    }

    /// Whether the chunks go down the stages and up again, so that the last stage sends to itself.
    fn turns_back(&self) -> bool {
        self.form.placement == Placement::V
    }

    /// The bubble of equal stages by counts alone: the published formula as a share of the total,
    /// with F = dX = dW where a schedule splits the backward; V-half and V-min have no formula and
    /// are simulated for such stages.
    ///
    /// (p - 1) / (v m + p - 1) for 1F1B and its interleaved forms: 15 / 79 = 18.99 % and
    /// 15 / 143 = 10.49 % at p = 16, m = 64, as Pangu Ultra MoE reports.
    pub(crate) fn bubble_ratio(&self) -> f64 {
        if matches!(self.method, Method::VHalf | Method::VMin) {
            let ramp = self.equal_stages_ramp();
            return ramp / (3.0 * self.micro_batches as f64 + ramp);
        }
        self.formula(self.method).bubble_ratio()
    }

    /// Ramp of equal stages with F = dX = dW = 1, for a schedule without a published formula:
    /// simulated, for at most eight times as many micro-batches as stages.
    fn equal_stages_ramp(&self) -> f64 {
        let Self { stages: p, virtual_stages: v, .. } = *self;
        let m = self.micro_batches.min(8 * p);
        let unit = ChunkTimes { forward: 1.0, input_grad: 1.0, weight_grad: 1.0 };
        Schedule::new(self.order(), p, v, m, None).map_or(0.0, |schedule| {
            let times = Times::equal(&schedule, unit, None, 0.0);
            (schedule.simulate(&times).seconds - 3.0 * m as f64).max(0.0)
        })
    }

    /// Full-stage micro-batches whose activations a stage holds at once, at most.
    ///
    /// GPipe m. 1F1B p - i on stage i. Interleaved (2 (p - i - 1) + (v - 1) k + 1) / v with groups
    /// of k = p micro-batches; overlapping pairs hold `share_of_pair` of a chunk more. Zero bubble:
    /// H1 p, 2p twice that; ZB-V p; DualPipe p + 1; DualPipeV 2 p + 1 chunks of half a stage. Never
    /// more than m.
    ///
    /// # Source
    /// Narayanan et al. 2021, section 2.2; Korthikanti et al. 2022, appendix; Zero Bubble,
    /// section 2; DualPipe's table of memory.
    pub(crate) fn in_flight(&self, index: usize, share_of_pair: f64) -> f64 {
        let (p, v, m) = (self.stages as f64, self.virtual_stages as f64, self.micro_batches as f64);
        let behind = p - index as f64;
        let group = self.group.map_or(p, |group| group as f64);
        let chunked = (2.0 * (behind - 1.0) + (v - 1.0) * group + 1.0) / v;
        let interleaved = if self.virtual_stages == 1 { behind } else { chunked };
        let held = match self.order() {
            Method::Gpipe => m,
            Method::OneForwardOneBackward => behind,
            Method::Interleaved => interleaved,
            Method::OneForwardOneBackwardOverlap => chunked + share_of_pair / v,
            Method::ZbH1 | Method::ZbV | Method::VHalf | Method::VMin => p,
            Method::Zb2p => 2.0 * p - 1.0,
            Method::DualPipe => p + 1.0,
            Method::DualPipeV => p + 0.5,
        };
        held.min(m)
    }

    /// By how much the simulated peak may exceed that of the schedule's formula, as the natural
    /// logarithm of their ratio.
    ///
    /// One chunk for each stage is held by the formula's count of micro-batches, and the
    /// simulation holds exactly that. Formulas for several chunks count chunks of equal size, and
    /// those of V-shaped schedules stages of equal time as well: what that misses is bounded by
    /// what it was for every preset under every schedule, depth and size of micro-batch (a test
    /// tries them).
    pub(crate) fn closed_form_shortfall(&self) -> f64 {
        match self.order() {
            Method::Gpipe | Method::OneForwardOneBackward | Method::ZbH1 | Method::Zb2p => 0.0,
            Method::Interleaved | Method::OneForwardOneBackwardOverlap => 0.05,
            Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipe | Method::DualPipeV => {
                0.16
            }
        }
    }
}
