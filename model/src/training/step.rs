//! From a plan to its estimate: layers, stages, pipeline, data parallelism, optimizer and sums.
//!
//! [`Layers`] are what single layers cost and save, [`Spans`] what stages make of them, a [`Step`]
//! is all of it in time and memory. Each is made of the one before and of the plan, so that what
//! doesn't change from design to design can be kept: [`crate::Estimator`] does.

mod communication;
mod data_parallel;
mod lists;
mod metrics;
mod spans;

use alloc::vec::Vec;

use crate::catalogue::memory_state;
use crate::ground::choice::Timing;
use crate::ground::units::{Bytes, Seconds};
use crate::layer::deployment::Deployment;
use crate::schedule::{Run, StageTimes};
use crate::training::estimate::{Estimate, Metrics, StepPart, StepTime};
use crate::training::load_imbalance::{self, Fullest};
use crate::training::memory::{self, LayerMemory, Occupancy, PeakActivations};
use crate::training::pair::LayerPairs;
use crate::training::pipeline::Pipeline;
use crate::training::pipeline::simulated::{Load, Tasks};
use crate::training::pipeline_schedule::PipelineSchedule;
use crate::training::plan::Plan;
use crate::training::recomputation::RetainedBytes;
use crate::training::stage::{Waiting, Waits};

use communication::StepTraffic;
pub(crate) use spans::{Layers, Spans};

/// Estimate of a plan.
#[must_use]
pub fn estimate(plan: &Plan) -> Estimate {
    let layers = Layers::new(plan);
    let mut pairs = LayerPairs::default();
    let spans = Spans::new(plan, &layers, &mut pairs);
    if plan.is_even() {
        let [simulated, _] = Simulator::default().pipelines(plan, &spans, None);
        return of_loads(plan, &spans, simulated);
    }
    let evened = plan.evened();
    let even = spans.under(&evened, &layers.under(&evened), &mut pairs);
    let pipelines = Simulator::default().pipelines(plan, &spans, Some(&even));
    both(&mut plan.clone(), [&spans, &even], pipelines)
}

/// The estimate under load imbalance, whose spans are the first ones; the others are those of even
/// ones.
pub(crate) fn both(
    plan: &mut Plan,
    [own, even]: [&Spans; 2],
    pipelines: [Option<Pipeline>; 2],
) -> Estimate {
    let [of_own, of_even] = pipelines;
    let of_own = of_loads(plan, own, of_own);
    match plan.while_even(|plan| of_loads(plan, even, of_even)) {
        Some(of_even) => load_imbalance::combine(plan, of_own, of_even),
        None => of_own,
    }
}

/// Buffers of simulations, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simulator {
    tasks: Tasks,
    alone: Run<1>,
    paired: Run<2>,
}

impl Simulator {
    /// The pipelines of a plan under its own loads and under even ones where these are others;
    /// nothing where its times come from a formula.
    pub(crate) fn pipelines(
        &mut self,
        plan: &Plan,
        own: &Spans,
        even: Option<&Spans>,
    ) -> [Option<Pipeline>; 2] {
        if plan.schedule.timing == Timing::ClosedForm {
            return [None, None];
        }
        let Self { tasks, alone, paired } = self;
        let layers = own.layer_memory(&plan.recomputation);
        let each = plan.per_micro_batch(&layers);
        let own = Load { parts: &own.parts, layers: &layers, each: &each };
        let Some(even) = even else {
            let pipelines = plan.simulated_pipelines([&own], tasks, alone);
            return [pipelines.map(|[own]| own), None];
        };
        let layers = even.layer_memory(&plan.recomputation);
        let each = plan.per_micro_batch(&layers);
        let even = Load { parts: &even.parts, layers: &layers, each: &each };
        let pipelines = plan.simulated_pipelines([&own, &even], tasks, paired);
        pipelines.map_or([None, None], |pipelines| pipelines.map(Some))
    }
}

/// The estimate with every layer's rows as the plan's loads have them.
#[inline(never)]
pub(crate) fn of_loads(plan: &Plan, spans: &Spans, simulated: Option<Pipeline>) -> Estimate {
    let mut step = Step::default();
    step.take(plan, spans, simulated);
    let traffic = step.traffic(plan, spans);
    let metrics = metrics::metrics(plan, spans, &step, &traffic.totals());
    let phases = step.pipeline.phases.as_ref();
    Estimate {
        timing: if phases.is_some() { Timing::Simulated } else { Timing::ClosedForm },
        stages: lists::stages(plan, spans, &step),
        overlap: phases.map_or_else(Vec::new, lists::phases),
        warnings: lists::warnings(plan, &metrics, &step),
        step: step.time,
        metrics,
        communication: traffic.rows(),
    }
}

/// Whether a design with these metrics is near the limit of memory by a closed form, see
/// [`memory::is_near_limit`]; by the steps of the fullest and of the mean rank.
pub(crate) fn is_near_limit(
    plan: &Plan,
    metrics: &Metrics,
    [(own, fullest), (even, mean)]: [(&Spans, &Step); 2],
) -> bool {
    if !metrics.fits || mean.pipeline.phases.is_some() {
        return false;
    }
    let outgrows = |heaviest: f64| metrics.memory_peak * heaviest > metrics.memory_limit;
    // No chunk is heavier than all of its stage; then beyond any rounding of the product.
    outgrows(plan.schedule.chunks_per_stage() as f64)
        && outgrows(plan.heaviest_chunk(&fullest.layers) * (1.0 + 1e-9))
        && {
            let steps = [(own, fullest), (even, mean)];
            let [own, even] = steps.map(|(spans, step)| step.occupancies(plan, spans));
            let stages = own
                .zip(even)
                .map(|((_, own), (_, even))| load_imbalance::fuller(own.device, even.device));
            memory::most_of(plan, &fullest.layers, stages, metrics.memory_peak)
                > metrics.memory_limit
        }
}

/// A step in time and memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Step {
    /// What layers need after the plan's recomputation and swapping.
    layers: LayerMemory,
    /// For each span of the plan.
    spans: Vec<SpanStep>,
    pipeline: Pipeline,
    /// Memory of the first of the stages that [`Pipeline::spent`] takes together: the fullest of
    /// them, as stages further behind hold no more micro-batches.
    occupancy: Vec<Occupancy>,
    /// Time of the mean stage beyond its kernels.
    waiting: Waiting,
    pub(crate) time: StepTime,
}

/// Memory and waits of each stage of a span, copies to host memory counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SpanStep {
    kept: RetainedBytes,
    waits: Waits,
    times: StageTimes,
}

impl Step {
    /// Takes the step of a plan, in place of what was here before; of its pipeline where that was
    /// simulated.
    pub(crate) fn take(&mut self, plan: &Plan, spans: &Spans, simulated: Option<Pipeline>) {
        let Self { layers, .. } = self;
        layers.take(&plan.recomputation, &spans.saves);
        self.spans.clear();
        let each = plan.spans.iter().zip(&spans.frame.each).zip(&spans.works);
        self.spans.extend(each.map(|((span, own), work)| {
            let kept = plan.stage_activations(&own.split, &span.content, layers);
            let waits = work.waits_with_copies(plan, kept.host);
            SpanStep { kept, waits, times: work.times(&waits) }
        }));
        match simulated {
            Some(pipeline) => self.pipeline = pipeline,
            None => {
                let each = self.spans.iter().map(|own| (&own.times, &own.waits));
                plan.closed_form_pipeline(each, &mut self.pipeline);
            }
        }
        self.occupancy.clear();
        self.occupancy.extend(self.pipeline.spent.iter().map(|spent| {
            let (own, kept) = (&spans.frame.each[spent.span], &self.spans[spent.span].kept);
            let by_formula = || PeakActivations::of(kept, own.in_flight);
            plan.occupancy(&own.memory, kept, &spent.held.unwrap_or_else(by_formula))
        }));
        self.waiting = self.pipeline.mean_waiting();
        self.time = self.time(plan, spans);
    }

    pub(crate) fn metrics(&self, plan: &Plan, spans: &Spans) -> Metrics {
        metrics::metrics(plan, spans, self, &self.traffic(plan, spans).totals())
    }

    fn traffic<'a>(&self, plan: &Plan, spans: &'a Spans) -> StepTraffic<'a> {
        let (m, host) = (plan.batch.micro_batches as f64, plan.deployment.machine.host);
        StepTraffic::new(m, host, spans, self)
    }

    /// Memory of every stage, in order, with the place of its stages in [`Pipeline::spent`].
    fn occupancies(&self, plan: &Plan, spans: &Spans) -> impl Iterator<Item = (usize, Occupancy)> {
        self.pipeline.spent.iter().zip(&self.occupancy).enumerate().flat_map(
            move |(place, (spent, first))| {
                let (own, kept) = (&spans.frame.each[spent.span], &self.spans[spent.span].kept);
                // Stages of a span hold as much of a micro-batch, but not as many at once.
                (spent.first..spent.first + spent.count).map(move |index| {
                    let by_formula = || PeakActivations::of(kept, plan.in_flight(index));
                    let held = match index == spent.first {
                        true => *first,
                        false => plan.occupancy(
                            &own.memory,
                            kept,
                            &spent.held.unwrap_or_else(by_formula),
                        ),
                    };
                    (place, held)
                })
            },
        )
    }

    /// Time, peak memory and fit of this step, taken where others wait for it.
    pub(crate) fn fullest(&self, plan: &Plan) -> Fullest {
        let [memory_peak, host_peak] = self.peaks();
        let fits = plan.fits(memory_peak, host_peak);
        let room = plan.room([memory_peak, host_peak]);
        let fit_probability = self.fit_probability(&plan.schedule, room);
        Fullest { time: self.time.total(), memory_peak, fits, fit_probability }
    }

    /// Probability that it fits with this ratio of limits to peaks.
    fn fit_probability(&self, schedule: &PipelineSchedule, room: f64) -> f64 {
        memory_state::fit_probability(room, self.shortfall(schedule))
    }

    /// By how much the peak may be higher than the schedule's formula says; nothing where the
    /// schedule was simulated.
    fn shortfall(&self, schedule: &PipelineSchedule) -> f64 {
        if self.pipeline.phases.is_some() { 0.0 } else { schedule.closed_form_shortfall() }
    }

    /// Memory of the fullest stage, on the device and on the host.
    pub(crate) fn peaks(&self) -> [Bytes; 2] {
        let most = |of: fn(&Occupancy) -> Bytes| {
            self.occupancy.iter().map(of).fold(Bytes::ZERO, Bytes::max)
        };
        [most(|stage| stage.device.peak()), most(|stage| stage.host)]
    }

    /// Mean over all stages of what doesn't differ within a span.
    fn mean_occupancy(&self, of: impl Fn(&Occupancy) -> f64) -> f64 {
        let (mut sum, mut stages) = (0.0, 0);
        for (spent, first) in self.pipeline.spent.iter().zip(&self.occupancy) {
            let of_stage = of(first);
            (0..spent.count).for_each(|_| sum += of_stage);
            stages += spent.count;
        }
        sum / stages as f64
    }

    fn time(&self, plan: &Plan, spans: &Spans) -> StepTime {
        let m = plan.batch.micro_batches as f64;
        let (compute, frame) = (&spans.compute, &spans.frame);
        let [exposed_once, contention_once] = spans.once_a_step;
        let ideal = spans.counts.model_flops_per_device(&plan.batch, &plan.deployment.ranks)
            / plan.flops.peak.get();
        let Waiting { exposed, contention, host } = self.waiting;
        let states = most(&self.occupancy, |stage| stage.swapped_states);
        let pipeline = self.pipeline.seconds;
        let mut parts = [Seconds::ZERO; StepPart::ALL.len()];
        let mut set = |part: StepPart, seconds: f64| parts[part as usize] = Seconds::new(seconds);
        set(StepPart::Ideal, ideal);
        set(StepPart::Kernels, m * compute.tensor - ideal);
        set(StepPart::Vector, m * compute.vector);
        set(StepPart::Recompute, m * compute.recompute);
        set(StepPart::Host, host);
        set(StepPart::Contention, contention + contention_once);
        set(StepPart::TensorParallel, exposed[0]);
        set(StepPart::ContextParallel, exposed[1]);
        set(StepPart::ExpertParallel, exposed[2]);
        set(StepPart::PipelineParallel, exposed[3]);
        // Optimizer states come from the host and go back, once a step.
        set(StepPart::Swap, exposed[4] + 2.0 * states / plan.deployment.machine.host.get());
        set(StepPart::Bubble, pipeline - self.pipeline.mean_busy());
        set(StepPart::DataParallel, exposed[5] + exposed_once);
        set(StepPart::Optimizer, frame.data.optimizer);
        set(StepPart::Stragglers, pipeline * frame.stragglers);
        StepTime { parts }
    }
}

fn most(stages: &[Occupancy], of: impl Fn(&Occupancy) -> f64) -> f64 {
    stages.iter().map(of).fold(0.0, f64::max)
}

/// Delay of the slowest of N ranks over the mean, for normal times of spread sigma: sigma sqrt(2 ln
/// N), the leading term of the expected maximum.
fn straggler_share(on: &Deployment) -> f64 {
    let sigma = on.kernel.straggler_sigma.unwrap_or(on.host.straggler_sigma);
    sigma * libm::sqrt(2.0 * libm::log(on.ranks.world as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Design;

    #[test]
    fn what_loads_do_not_reach_is_as_from_scratch() {
        for preset in ["pangu-ultra-moe-6k", "qwen3-30b-a3b", "deepseek-v3"] {
            for overlap in ["1f1b", "1f1b_overlap"] {
                let mut design = Design::from_preset(preset).expect("a preset");
                let knobs = [("balance", "skewed"), ("method", overlap), ("timing", "closed_form")];
                for (name, value) in knobs {
                    let knob = crate::design::KnobId::find(name).expect("a knob");
                    design.set_text(knob, value).expect("a value");
                }
                let Ok(plan) = Plan::new(&design) else { continue };
                let evened = plan.evened();
                let (own, even) = (Layers::new(&plan), Layers::new(&evened));
                assert_eq!(own.under(&evened), even);
                let spans = Spans::new(&plan, &own, &mut LayerPairs::default());
                let spans = spans.under(&evened, &even, &mut LayerPairs::default());
                assert_eq!(spans, Spans::new(&evened, &even, &mut LayerPairs::default()));
            }
        }
    }
}
