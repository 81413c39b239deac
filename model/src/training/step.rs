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

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::catalogue::memory_state;
use crate::ground::choice::Timing;
use crate::ground::units::{Bytes, BytesPerSecond, Seconds};
use crate::layer::deployment::Deployment;
use crate::schedule::{Run, StageTimes};
use crate::training::estimate::{Estimate, Metrics, StepPart, StepTime};
use crate::training::load_imbalance::{self, Fullest};
use crate::training::memory::{self, LayerMemory, Occupancy, PeakActivations};
use crate::training::pair::LayerPairs;
use crate::training::pipeline::Pipeline;
use crate::training::pipeline::simulated::{Load, Tasks};
use crate::training::pipeline_schedule::PipelineSchedule;
use crate::training::plan::{Batch, Plan};
use crate::training::recomputation::RetainedBytes;
use crate::training::stage::{Waiting, Waits};

use communication::StepTraffic;
pub(crate) use spans::{Frame, Layers, Spans};

/// Estimate of a plan.
#[must_use]
pub fn estimate(plan: &Plan) -> Estimate {
    let (layers, frame) = (Layers::new(plan), Arc::new(Frame::new(plan)));
    let mut pairs = LayerPairs::default();
    let mut spans = Spans::new(plan, &layers, frame, &mut pairs);
    let mut plan = plan.clone();
    let mut even = plan.while_even(|even| spans.under(even, &layers.under(even), &mut pairs));
    even.as_mut().unwrap_or(&mut spans).add_up_traffic(&plan);
    let pipelines = Simulator::default().pipelines(&plan, &spans, even.as_ref());
    of_spans(&mut plan, &spans, even.as_ref(), pipelines)
}

/// The estimate of these spans under a plan's own loads and, where they are others, under even
/// ones.
pub(crate) fn of_spans(
    plan: &mut Plan,
    own: &Spans,
    even: Option<&Spans>,
    [of_own, of_even]: [Option<Pipeline>; 2],
) -> Estimate {
    let (mut step, mut mean) = (Step::default(), Step::default());
    step.take(plan, own, of_own);
    let warnings = lists::warnings(plan, &step);
    let estimate = even.and_then(|even| {
        mean.take(plan, even, of_even);
        let estimate = plan.while_even(|plan| mean.estimate(plan, even))?;
        let stages = step.occupancies(plan, own, 0..step.occupancy.len());
        let stages = stages.map(|(_, held)| held);
        Some(load_imbalance::combine(&step.fullest(plan, own), stages, estimate))
    });
    Estimate { warnings, ..estimate.unwrap_or_else(|| step.estimate(plan, own)) }
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
        let layers = own.layer_memory(plan.recomputation.swapped);
        let each = plan.per_micro_batch(&layers);
        let own = Load { parts: &own.parts, layers: &layers, each: &each };
        let Some(even) = even else {
            let pipelines = plan.simulated_pipelines([&own], tasks, alone);
            return [pipelines.map(|[own]| own), None];
        };
        let layers = even.layer_memory(plan.recomputation.swapped);
        let each = plan.per_micro_batch(&layers);
        let even = Load { parts: &even.parts, layers: &layers, each: &each };
        let pipelines = plan.simulated_pipelines([&own, &even], tasks, paired);
        pipelines.map_or([None, None], |pipelines| pipelines.map(Some))
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
    // No chunk is heavier than all of its stage.
    let chunks = plan.schedule.chunks_per_stage() as f64;
    if metrics.memory_peak * chunks <= metrics.memory_limit {
        return false;
    }
    let heaviest = plan.unevenness(&fullest.layers);
    let limit = metrics.memory_limit;
    (0..plan.spans.len()).any(|span| {
        // The first stage of a span holds the most.
        let most = plan.spans[span].stages_of(&heaviest).copied().fold(1.0, f64::max);
        let bound = |step: &Step| memory::at_most(&step.occupancy[span].device, most);
        bound(fullest).max(bound(mean)) > limit && {
            let [own, even] = [(own, fullest), (even, mean)]
                .map(|(it, step)| step.occupancies(plan, it, span..span + 1));
            let stages = own.zip(even).zip(plan.spans[span].stages_of(&heaviest));
            stages.into_iter().any(|(((_, own), (_, even)), heaviest)| {
                let stage = load_imbalance::fuller(own.device, even.device);
                memory::at_most(&stage, *heaviest) > limit
            })
        }
    })
}

/// A step in time and memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Step {
    /// Memory that layers need after the plan's recomputation and swapping.
    layers: LayerMemory,
    /// For each span of the plan.
    spans: Vec<SpanStep>,
    /// Waits of the spans that copy anything to the host.
    waits: Vec<Waits>,
    pipeline: Pipeline,
    /// Memory of the first of the stages that [`Pipeline::spent`] takes together: the fullest of
    /// them, as stages further behind hold no more micro-batches.
    occupancy: Vec<Occupancy>,
    /// Time of the mean stage with a task resident.
    busy: f64,
    /// Time of the mean stage beyond its kernels.
    waiting: Waiting,
    pub(crate) time: StepTime,
}

/// Memory and waits of each stage of a span, copies to host memory counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SpanStep {
    kept: RetainedBytes,
    /// Place of its waits in [`Step::waits`]; `None` where they are those of its work.
    waits: Option<usize>,
    times: StageTimes,
}

impl Step {
    /// Takes the step of a plan, in place of what was here before; of its pipeline where that was
    /// simulated.
    pub(crate) fn take(&mut self, plan: &Plan, spans: &Spans, simulated: Option<Pipeline>) {
        let Self { layers, .. } = self;
        layers.take(&spans.remains, plan.recomputation.swapped);
        self.spans.clear();
        let each = plan.spans.iter().zip(&*spans.splits).zip(&spans.works);
        self.spans.extend(each.map(|((span, own), work)| {
            let kept = plan.stage_activations(&own.split, &span.content, layers);
            SpanStep { kept, waits: None, times: work.times }
        }));
        self.waits.clear();
        for (own, work) in self.spans.iter_mut().zip(&spans.works) {
            if own.kept.host > 0.0 {
                let mut waits = work.waits;
                work.add_copies(plan, own.kept.host, &mut waits);
                own.times = work.times_with(&waits);
                own.waits = Some(self.waits.len());
                self.waits.push(waits);
            }
        }
        match simulated {
            Some(pipeline) => self.pipeline = pipeline,
            None => {
                let each = self.spans.iter().zip(&spans.works).map(|(own, work)| {
                    (&own.times, own.waits.map_or(&work.waits, |place| &self.waits[place]))
                });
                plan.closed_form_pipeline(each, &mut self.pipeline);
            }
        }
        self.occupancy.clear();
        self.occupancy.extend(self.pipeline.spent.iter().map(|spent| {
            let (own, kept) = (&spans.frame.each[spent.span], &self.spans[spent.span].kept);
            let by_formula = || PeakActivations::of(kept, own.in_flight);
            plan.occupancy(&own.memory, kept, &spent.held.unwrap_or_else(by_formula))
        }));
        self.busy = self.pipeline.mean_busy();
        self.waiting = self.pipeline.mean_waiting();
        self.time = self.time(plan, spans);
    }

    /// The estimate, without warnings.
    fn estimate(&self, plan: &Plan, spans: &Spans) -> Estimate {
        let traffic = self.traffic(&plan.batch, plan.deployment.machine.host, spans);
        let phases = self.pipeline.phases.as_ref();
        Estimate {
            metrics: metrics::metrics(plan, spans, self, &traffic.totals()),
            timing: if phases.is_some() { Timing::Simulated } else { Timing::ClosedForm },
            step: self.time,
            stages: lists::stages(plan, spans, self),
            communication: traffic.rows(),
            overlap: phases.map_or_else(Vec::new, lists::phases),
            warnings: Vec::new(),
        }
    }

    /// The metrics.
    pub(crate) fn metrics(&self, plan: &Plan, spans: &Spans) -> Metrics {
        let traffic = self.traffic(&plan.batch, plan.deployment.machine.host, spans);
        metrics::metrics(plan, spans, self, &traffic.totals())
    }

    fn traffic<'a>(
        &self,
        batch: &Batch,
        host: BytesPerSecond,
        spans: &'a Spans,
    ) -> StepTraffic<'a> {
        StepTraffic::new(batch.micro_batches as f64, host, spans, self)
    }

    /// Memory of every stage at these places in [`Pipeline::spent`], in order, with its place.
    fn occupancies(
        &self,
        plan: &Plan,
        spans: &Spans,
        places: Range<usize>,
    ) -> impl Iterator<Item = (usize, Occupancy)> {
        places.flat_map(move |place| {
            let (spent, first) = (&self.pipeline.spent[place], &self.occupancy[place]);
            let (own, kept) = (&spans.frame.each[spent.span], &self.spans[spent.span].kept);
            // Stages of a span hold as much of a micro-batch, but not as many at once.
            (spent.first..spent.first + spent.count).map(move |index| {
                let by_formula = || PeakActivations::of(kept, plan.in_flight(index));
                let held = match index == spent.first {
                    true => *first,
                    false => {
                        let held = spent.held.unwrap_or_else(by_formula);
                        plan.occupancy(&own.memory, kept, &held)
                    }
                };
                (place, held)
            })
        })
    }

    /// Time, peak memory and fit of this step, taken where others wait for it.
    pub(crate) fn fullest(&self, plan: &Plan, spans: &Spans) -> Fullest {
        let [memory_peak, host_peak] = self.peaks();
        let fits = plan.fits(memory_peak, host_peak);
        let room = plan.room([memory_peak, host_peak]);
        let fit_probability = self.fit_probability(&plan.schedule, room);
        Fullest {
            time: self.time.total(),
            memory_peak,
            fits,
            fit_probability,
            migration: spans.frame.migration,
            imbalance: plan.effect.imbalance,
        }
    }

    /// Mean share of the time with no task resident.
    fn bubble_ratio(&self) -> f64 {
        let seconds = self.pipeline.seconds;
        if seconds <= 0.0 { 0.0 } else { 1.0 - self.busy / seconds }
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
        set(StepPart::Bubble, pipeline - self.busy);
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
                let frame = || Arc::new(Frame::new(&plan));
                let spans = Spans::new(&plan, &own, frame(), &mut LayerPairs::default());
                let mut spans = spans.under(&evened, &even, &mut LayerPairs::default());
                let mut fresh = Spans::new(&evened, &even, frame(), &mut LayerPairs::default());
                spans.add_up_traffic(&evened);
                fresh.add_up_traffic(&evened);
                assert_eq!(spans, fresh);
            }
        }
    }
}
