//! Layouts of one model on one machine, beside each other: tokens a second per device against
//! tokens a second per user.

use alloc::string::String;
use alloc::vec::Vec;

use super::engine::overheads;
use super::inference::{Limits, Quick, prefill_rate, prefill_time, quick};
use super::plan::{Replicas, ServingPlan};
use super::ranks::Layout;
use super::rules::first_broken;
use crate::design::{Design, KnobId};
use crate::ground::choice::Disaggregation;
use crate::ground::units::Seconds;

/// Most requests that a layout is tried with, on all devices.
const MAX_REQUESTS: u64 = 16_384;

/// Instances of one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instances {
    /// Layout of an instance.
    pub layout: Layout,
    /// Instances.
    pub count: u64,
}

/// A layout at a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// Instances that decode, or do all.
    pub decode: Instances,
    /// Instances that prefill alone, where there are such.
    pub prefill: Option<Instances>,
    /// Requests in flight, on all devices.
    pub concurrency: u64,
    /// Output tokens a second and device.
    pub per_device: f64,
    /// Output tokens a second that a request gets.
    pub per_user: f64,
    /// Time to the first token, the median.
    pub ttft: Seconds,
    /// Time of each further token.
    pub tpot: Seconds,
    /// Whether the limits of both hold.
    pub is_good: bool,
}

impl Served {
    /// The design of a model and load with this layout.
    #[must_use]
    pub fn design(&self, of: &Design) -> Design {
        let mut design = laid_out(of, self.decode.layout, self.prefill);
        design.serving.concurrency = Some(self.concurrency.max(1));
        design
    }
}

/// Tokens a second by which a load of a layout beats lighter ones.
const MORE: f64 = 1.01;

/// A layout that can't serve.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// Layout that an instance would have.
    pub layout: Layout,
    /// Description of the error, in a sentence.
    pub reason: String,
}

/// Layouts beside each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Front {
    /// Pareto front: layouts that no other beats in both numbers, slow users first.
    pub best: Vec<Served>,
    /// The one of most tokens a second and device within the limits.
    pub chosen: Option<Served>,
    /// Layouts that can't serve.
    pub skipped: Vec<Skipped>,
    /// Layouts and loads that were computed.
    pub tried: usize,
}

impl Front {
    /// Every layout of a design's model on its devices at loads of powers of two up to what memory
    /// holds: prefill and decode together, and apart on pools of which those that prefill are the
    /// fastest for their devices.
    #[must_use]
    pub fn new(design: &Design) -> Self {
        let mut front = Self::default();
        let mut all: Vec<Served> = Vec::new();
        let together = layouts(design);
        for layout in &together {
            front.add(&laid_out(design, *layout, None), *layout, &mut all);
        }
        for prefill in fastest_to_prefill(design) {
            for share in SHARES {
                let Some(pool) = pool(design, prefill, share) else { continue };
                let devices = design.cluster.num_devices - pool.count * prefill.devices();
                let decodes = decoding(design, devices);
                for layout in decodes {
                    front.add(&laid_out(design, layout, Some(pool)), layout, &mut all);
                }
            }
        }
        front.chosen = all
            .iter()
            .filter(|served| served.is_good)
            .max_by(|one, other| one.per_device.total_cmp(&other.per_device))
            .cloned();
        front.best = pareto(all);
        front
    }

    /// Tries a design at every load that it holds.
    fn add(&mut self, tried: &Design, layout: Layout, all: &mut Vec<Served>) {
        match first_broken(tried) {
            // Only pools that could serve are reported.
            Some(_) if tried.serving.disaggregation == Disaggregation::PrefillDecode => {}
            Some(reason) => self.skipped.push(Skipped { layout, reason }),
            None => {
                let own = overheads(tried.serving.engine, tried.cluster.accelerator);
                self.tried += loads(&ServingPlan::with_overheads(tried, own), all);
            }
        }
    }
}

/// Shares of the devices that prefill.
const SHARES: [f64; 5] = [0.125, 0.25, 0.375, 0.5, 0.75];

/// Layouts of pools that prefill, tried with all that decode.
const MAX_PREFILL: usize = 2;

/// The layouts that prefill most tokens a second and device within the limit of the first token.
fn fastest_to_prefill(design: &Design) -> Vec<Layout> {
    let devices = design.cluster.num_devices;
    let mut rated: Vec<(f64, Layout)> = Vec::new();
    if devices < 2 {
        return Vec::new();
    }
    for layout in cuts(design, devices / 2) {
        let mut alone = laid_out(design, layout, None);
        alone.cluster.num_devices = layout.devices();
        if layout.pipeline > 1 || first_broken(&alone).is_some() {
            continue;
        }
        let own = overheads(alone.serving.engine, alone.cluster.accelerator);
        let plan = ServingPlan::with_overheads(&alone, own);
        let limit = alone.serving.ttft_limit_milliseconds.map(Seconds::millis);
        if limit.is_none_or(|limit| prefill_time(&plan, 1.0) <= limit) {
            rated.push((prefill_rate(&plan) / layout.devices() as f64, layout));
        }
    }
    rated.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    rated.into_iter().take(MAX_PREFILL).map(|(_, layout)| layout).collect()
}

/// The pool of a layout that takes about so large a share of the devices; `None` if nothing is
/// left to decode, or a smaller share gives the same.
fn pool(design: &Design, layout: Layout, share: f64) -> Option<Instances> {
    let devices = design.cluster.num_devices;
    let of = |share: f64| libm::round(share * devices as f64 / layout.devices() as f64) as u64;
    let count = of(share);
    let is_known = SHARES.iter().any(|less| *less < share && of(*less) == count);
    let fits = count > 0 && count * layout.devices() < devices;
    (fits && !is_known).then_some(Instances { layout, count })
}

/// Layouts of instances that decode on this many devices, all on one stage.
fn decoding(design: &Design, devices: u64) -> Vec<Layout> {
    let all = cuts(design, devices).into_iter();
    all.filter(|it| it.pipeline == 1 && devices.is_multiple_of(it.devices())).collect()
}

/// The design with the same model and load on another layout, and with a pool that prefills if
/// there is one.
#[must_use]
pub fn laid_out(design: &Design, layout: Layout, prefill: Option<Instances>) -> Design {
    let mut design = design.clone();
    let has_experts = design.transformer.num_moe_experts.is_some();
    let devices = design.cluster.num_devices;
    let own = |it: u64| prefill.is_some().then_some(it);
    let first = prefill.map_or(layout, |pool| pool.layout);
    let prefilling = prefill.map_or(0, |pool| pool.count * pool.layout.devices());
    let serving = &mut design.serving;
    serving.disaggregation = match prefill {
        Some(_) => Disaggregation::PrefillDecode,
        None => Disaggregation::None,
    };
    serving.tensor_parallel_size = layout.tensor;
    serving.pipeline_parallel_size = layout.pipeline;
    serving.data_parallel_size = layout.data;
    serving.moe_expert_parallel_size = layout.expert;
    serving.moe_tensor_parallel_size = has_experts.then_some(layout.expert_tensor);
    serving.prefill_devices = own(prefilling);
    serving.decode_devices = own(devices - prefilling);
    serving.prefill_tensor_parallel_size = own(first.tensor);
    serving.prefill_pipeline_parallel_size = own(first.pipeline);
    serving.prefill_data_parallel_size = own(first.data);
    serving.prefill_moe_expert_parallel_size = own(first.expert).filter(|_| has_experts);
    serving.prefill_moe_tensor_parallel_size = own(first.expert_tensor).filter(|_| has_experts);
    design
}

/// The knobs of a layout, its pools and its load.
pub const LAYOUT: &[KnobId] = &[
    KnobId::disaggregation,
    KnobId::tensor_parallel_size,
    KnobId::pipeline_parallel_size,
    KnobId::data_parallel_size,
    KnobId::moe_expert_parallel_size,
    KnobId::moe_tensor_parallel_size,
    KnobId::prefill_devices,
    KnobId::decode_devices,
    KnobId::prefill_tensor_parallel_size,
    KnobId::prefill_pipeline_parallel_size,
    KnobId::prefill_data_parallel_size,
    KnobId::prefill_moe_expert_parallel_size,
    KnobId::prefill_moe_tensor_parallel_size,
    KnobId::concurrency,
];

/// Powers of two up to a number.
fn powers(most: u64) -> impl Iterator<Item = u64> {
    (0..63).map(|power| 1_u64 << power).take_while(move |size| *size <= most)
}

/// Layouts whose instances fill all devices evenly.
fn layouts(design: &Design) -> Vec<Layout> {
    let devices = design.cluster.num_devices;
    let all = cuts(design, devices).into_iter();
    all.filter(|layout| devices.is_multiple_of(layout.devices())).collect()
}

/// Layouts of instances of at most this many devices, in powers of two, and of groups that share
/// them out where their number is none.
fn cuts(design: &Design, devices: u64) -> Vec<Layout> {
    let has_experts = design.transformer.num_moe_experts.is_some();
    let mut layouts = Vec::new();
    for tensor in powers(devices.min(64)) {
        for data in groups(devices / tensor, has_experts) {
            let ranks = tensor * data;
            for pipeline in powers((devices / ranks).min(8)) {
                let spread = if has_experts { ranks } else { 1 };
                for expert in (1..=spread).filter(|expert| is_cut(*expert, spread)) {
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

/// Numbers of attention groups on this many ranks: powers of two, and all of them.
fn groups(ranks: u64, has_experts: bool) -> impl Iterator<Item = u64> {
    let most = if has_experts { ranks.min(512) } else { 1 };
    powers(most).chain((!most.is_power_of_two()).then_some(most))
}

/// Whether experts are spread over such a part of this many ranks: a power of two of it.
const fn is_cut(expert: u64, ranks: u64) -> bool {
    ranks.is_multiple_of(expert) && (ranks / expert).is_power_of_two()
}

/// A layout at every load that it holds, and at about the heaviest one within the limits; how many
/// there were.
fn loads(plan: &ServingPlan, all: &mut Vec<Served>) -> usize {
    let groups = plan.replicas().decode * plan.layout().data;
    let limits = Limits::of(plan);
    let [mut last, mut most] = [0.0; 2];
    let mut tried = 0;
    // The heaviest load that was within the limits, and the next one that wasn't.
    let mut between: [Option<u64>; 2] = [None; 2];
    for requests in powers(MAX_REQUESTS).filter(|requests| *requests >= groups) {
        let found = quick(plan, requests as f64 / groups as f64);
        tried += 1;
        // What memory doesn't hold is no other load.
        if found.in_flight <= last {
            break;
        }
        last = found.in_flight;
        let served = served(plan, &found, limits);
        between = match (served.is_good, between) {
            (true, _) => [Some(served.concurrency), None],
            (false, [good, None]) => [good, Some(served.concurrency)],
            (false, both) => both,
        };
        // More requests that only wait are no load of their own.
        if found.per_device >= most * MORE {
            most = found.per_device;
            all.push(served);
        }
    }
    let [Some(mut low), Some(mut high)] = between else { return tried };
    for _ in 0..HALVINGS {
        let middle = low.midpoint(high);
        if middle == low {
            break;
        }
        let served = served(plan, &quick(plan, middle as f64 / groups as f64), limits);
        tried += 1;
        if served.is_good {
            low = middle;
            all.push(served);
        } else {
            high = middle;
        }
    }
    tried
}

/// Halvings between a load within the limits and the next one that isn't.
const HALVINGS: u32 = 4;

/// Speeds of a plan at a load.
fn served(plan: &ServingPlan, found: &Quick, limits: Limits) -> Served {
    let Replicas { prefill, decode: count } = plan.replicas();
    let groups = count * plan.layout().data;
    Served {
        decode: Instances { layout: plan.layout(), count },
        prefill: plan.prefill_layout().map(|layout| Instances { layout, count: prefill }),
        concurrency: libm::round(found.in_flight * groups as f64) as u64,
        per_device: found.per_device,
        per_user: 1.0 / found.tpot.get(),
        ttft: found.ttft,
        tpot: found.tpot,
        is_good: limits.hold(found.ttft, found.tpot),
    }
}

/// Pareto front: layouts that no other beats in both numbers.
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
