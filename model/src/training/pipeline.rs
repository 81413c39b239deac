//! From the times of stages to the time of the pipeline: by each schedule's published formula, or
//! task by task.
//!
//! Task by task, [`crate::schedule`] runs every task of every stage on the times of stages and
//! pairs, and what stages spend, hold and hide is counted in warm-up, steady state and cool-down.
//! The mean and the fullest rank are simulated at once, as the order of tasks depends on no time. A
//! long step is simulated for a part, twice, and extended by what its steady state repeats. The
//! closed form is thirty times faster, for sweeps; `Estimate::timing` says which one it was.

pub(crate) mod simulated;

use alloc::vec::Vec;

use crate::layer::layout::Span;
use crate::schedule::StageTimes;
use crate::training::memory::PeakActivations;
use crate::training::plan::Plan;
use crate::training::stage::{PerAxis, Waiting, Waits};

/// Communication of one phase, mean over stages, and what of it is exposed. Seconds per axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PhaseTraffic {
    pub(crate) seconds: PerAxis,
    pub(crate) exposed: PerAxis,
}

/// Time that stages next to each other spend in the step, each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spent {
    /// Index of the span that they are of.
    pub(crate) span: usize,
    /// The first of them.
    pub(crate) first: usize,
    /// Number of stages: all of their span, except where they were simulated one by one.
    pub(crate) count: usize,
    /// Time with a task resident.
    pub(crate) busy: f64,
    /// Time of a stage beyond its kernels in a step.
    pub(crate) waiting: Waiting,
    /// Memory that it holds; `None` where a formula gave the times.
    pub(crate) held: Option<PeakActivations>,
}

/// The pipeline's time and how the stages spend it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pipeline {
    /// From the first forward to the last backward.
    pub(crate) seconds: f64,
    /// All stages, in order.
    pub(crate) spent: Vec<Spent>,
    /// By [`Phase`](crate::ground::axis::Phase); `None` if a formula gave the times.
    pub(crate) phases: Option<[PhaseTraffic; 3]>,
}

impl Pipeline {
    /// Mean time of the stages with a task resident.
    pub(crate) fn mean_busy(&self) -> f64 {
        let (mut sum, mut stages) = (0.0, 0);
        for spent in &self.spent {
            (0..spent.count).for_each(|_| sum += spent.busy);
            stages += spent.count;
        }
        sum / stages as f64
    }

    /// Time of the mean stage beyond its kernels in a step.
    pub(crate) fn mean_waiting(&self) -> Waiting {
        let mut all = Waiting::default();
        let stages: usize = self.spent.iter().map(|spent| spent.count).sum();
        let share = 1.0 / stages as f64;
        for spent in &self.spent {
            let mut own = Waiting::default();
            own.add(&spent.waiting, share);
            (0..spent.count).for_each(|_| all.add(&own, 1.0));
        }
        all
    }
}

impl Plan {
    /// The time of all micro-batches, by its closed form.
    ///
    /// The slowest stage works without a gap in the steady state; the other stages' first forwards
    /// and last backwards fill and drain the pipeline. For equal stages this is the published
    /// formula; for unequal ones it puts the slowest stage in the steady state and each other
    /// stage's own time in the ramp.
    pub(crate) fn closed_form_pipeline<'a>(
        &self,
        each: impl Iterator<Item = (&'a StageTimes, &'a Waits)> + Clone,
        pipeline: &mut Pipeline,
    ) {
        let formula = self.schedule.formula(self.schedule.order());
        let paired = formula.paired();
        let alone = self.batch.micro_batches as f64 - paired;
        pipeline.spent.clear();
        let each = self.spans.iter().zip(each);
        pipeline.spent.extend(each.clone().enumerate().map(|(index, (span, (times, waits)))| {
            let mut waiting = Waiting::default();
            if paired > 0.0 {
                waiting.add(&waits.paired, paired);
            }
            waiting.add(&waits.alone[0], alone);
            waiting.add(&waits.alone[1], alone);
            let Span { first, count, .. } = *span;
            Spent { span: index, first, count, busy: formula.work(times), waiting, held: None }
        }));
        let slowest = pipeline.spent.iter().map(|spent| spent.busy).fold(0.0, f64::max);
        let of_slowest = pipeline.spent.iter().position(|spent| spent.busy >= slowest);
        // The sum over the other stages stands for (p - 1) equal ones.
        let mut ramp = 0.0;
        for (index, (span, (times, _))) in each.enumerate() {
            let of_stage = formula.ramp(times);
            let others = span.count - usize::from(Some(index) == of_slowest);
            (0..others).for_each(|_| ramp += of_stage);
        }
        let [part, whole] = formula.ramp_share();
        pipeline.seconds = slowest + ramp * part / whole;
        pipeline.phases = None;
    }

    /// Bubble of equal stages by counts alone, as its schedule's published formula has it.
    #[must_use]
    pub fn bubble_ratio_closed_form(&self) -> f64 {
        self.schedule.bubble_ratio()
    }
}
