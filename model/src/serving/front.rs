//! Layouts of one model on one machine, beside each other: tokens a second per device against
//! tokens a second per user.

use alloc::string::String;
use alloc::vec::Vec;

use super::inference::{Limits, quick};
use super::rules::first_broken;
use super::{Layout, ServingPlan, overheads};
use crate::choice::Disaggregation;
use crate::design::Design;

/// Most requests that a layout is tried with, on all devices.
const MAX_REQUESTS: u64 = 16_384;

/// A layout at a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// How an instance is cut.
    pub layout: Layout,
    /// Instances.
    pub replicas: u64,
    /// Requests in flight, on all devices.
    pub concurrency: u64,
    /// Output tokens a second and device.
    pub per_device: f64,
    /// Output tokens a second that a request gets.
    pub per_user: f64,
    /// Time to the first token, the median, in seconds.
    pub ttft: f64,
    /// Time of each further token, in seconds.
    pub tpot: f64,
    /// Whether the limits of both hold.
    pub is_good: bool,
}

/// A layout that can't serve.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// How an instance would be cut.
    pub layout: Layout,
    /// What is wrong, in a sentence.
    pub reason: String,
}

/// Layouts beside each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Front {
    /// Those that no other beats in both numbers, slow users first.
    pub best: Vec<Served>,
    /// The one of most tokens a second and device within the limits.
    pub chosen: Option<Served>,
    /// Layouts that can't serve.
    pub skipped: Vec<Skipped>,
    /// Layouts and loads that were computed.
    pub tried: usize,
}

impl Front {
    /// Every layout of a design's model on its devices, prefill and decode together, at loads of
    /// powers of two up to what memory holds.
    #[must_use]
    pub fn new(design: &Design) -> Self {
        let mut front = Self::default();
        let mut all: Vec<Served> = Vec::new();
        for layout in layouts(design) {
            let tried = laid_out(design, layout);
            if let Some(reason) = first_broken(&tried) {
                front.skipped.push(Skipped { layout, reason });
                continue;
            }
            let serving = &tried.serving;
            let plan = ServingPlan::with_overheads(
                &tried,
                overheads(serving.engine, tried.cluster.accelerator),
            );
            front.tried += loads(&plan, &mut all);
        }
        front.chosen = all
            .iter()
            .filter(|served| served.is_good)
            .max_by(|one, other| one.per_device.total_cmp(&other.per_device))
            .cloned();
        front.best = pareto(all);
        front
    }
}

/// The same model and load with another layout of one pool.
#[must_use]
pub fn laid_out(design: &Design, layout: Layout) -> Design {
    let mut design = design.clone();
    let has_experts = design.transformer.num_moe_experts.is_some();
    let serving = &mut design.serving;
    serving.disaggregation = Disaggregation::None;
    serving.tensor_parallel_size = layout.tensor;
    serving.pipeline_parallel_size = layout.pipeline;
    serving.data_parallel_size = layout.data;
    serving.moe_expert_parallel_size = layout.expert;
    serving.moe_tensor_parallel_size = has_experts.then_some(layout.expert_tensor);
    design
}

/// Powers of two up to a number.
fn powers(most: u64) -> impl Iterator<Item = u64> {
    (0..63).map(|power| 1_u64 << power).take_while(move |size| *size <= most)
}

/// Layouts whose instances fill the devices evenly, in powers of two.
fn layouts(design: &Design) -> Vec<Layout> {
    let devices = design.cluster.num_devices;
    let has_experts = design.transformer.num_moe_experts.is_some();
    let mut layouts = Vec::new();
    for tensor in powers(devices.min(64)) {
        for data in powers((devices / tensor).min(if has_experts { 512 } else { 1 })) {
            let ranks = tensor * data;
            for pipeline in powers((devices / ranks).min(8)) {
                if !devices.is_multiple_of(ranks * pipeline) {
                    continue;
                }
                for expert in powers(if has_experts { ranks } else { 1 }) {
                    // Experts that groups share are not cut into more parts than a node has.
                    if data > 1 && ranks / expert > 8 {
                        continue;
                    }
                    let expert_tensor = ranks / expert;
                    layouts.push(Layout { tensor, pipeline, data, expert, expert_tensor });
                }
            }
        }
    }
    layouts
}

/// A layout at every load that it holds; how many there were.
fn loads(plan: &ServingPlan, all: &mut Vec<Served>) -> usize {
    let groups = plan.replicas()[1] * plan.layout().data;
    let mut last = 0.0;
    let mut tried = 0;
    for requests in powers(MAX_REQUESTS).filter(|requests| *requests >= groups) {
        let found = quick(plan, requests as f64 / groups as f64);
        tried += 1;
        // What memory doesn't hold is no other load.
        if found.in_flight <= last {
            break;
        }
        last = found.in_flight;
        let limits = Limits::of(plan);
        all.push(Served {
            layout: plan.layout(),
            replicas: plan.replicas()[1],
            concurrency: libm::round(found.in_flight * groups as f64) as u64,
            per_device: found.per_device,
            per_user: 1.0 / found.tpot,
            ttft: found.ttft,
            tpot: found.tpot,
            is_good: limits.hold(found.ttft, found.tpot),
        });
    }
    tried
}

/// Those that no other beats in both numbers.
fn pareto(mut all: Vec<Served>) -> Vec<Served> {
    all.sort_by(|one, other| {
        other.per_user.total_cmp(&one.per_user).then(other.per_device.total_cmp(&one.per_device))
    });
    let mut most = 0.0;
    let mut best: Vec<Served> = Vec::new();
    for served in all {
        if served.per_device > most {
            most = served.per_device;
            best.push(served);
        }
    }
    best.reverse();
    best
}
