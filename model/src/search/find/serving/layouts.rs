//! Layouts that a machine allows, and the loads that each of them holds.

use alloc::string::String;
use alloc::vec::Vec;

use super::LayoutPoint;
use crate::design::Design;
use crate::ground::units::Seconds;
use crate::rules::rule::Rule;
use crate::search::find::pool::Pool;
use crate::search::find::target::Target;
use crate::serving::rules::first_broken;
use crate::serving::{
    Instances, Layout, Limits, Quick, Replicas, ServingPlan, infer, overheads, prefill_rate,
    prefill_time, quick, with_layout,
};

/// Largest number of requests that a layout is tried with, on all devices.
const MAX_REQUESTS: u64 = 16_384;

/// Gain in tokens a second by which a load of a layout beats lighter ones.
const MIN_GAIN: f64 = 1.01;

/// Shares of the devices that prefill.
const PREFILL_SHARES: [f64; 5] = [0.125, 0.25, 0.375, 0.5, 0.75];

/// Layouts of pools that prefill, tried with all that decode.
const MAX_PREFILL_LAYOUTS: usize = 2;

/// Halvings between a load within the limits and the next one that isn't.
const HALVINGS: u32 = 4;

/// A layout of the machine: of the instances that decode or do all, and of a pool that prefills.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) layout: Layout,
    pub(super) prefill: Option<Instances>,
}

/// Loads of a layout.
#[derive(Debug, Default)]
pub(super) struct Loads {
    pub(super) points: Vec<LayoutPoint>,
    /// Number of loads that were computed.
    pub(super) tried: usize,
    /// The rule that keeps it from serving, and why.
    pub(super) broken: Option<(&'static Rule, String)>,
}

/// Every layout of a design's model on its devices: prefill and decode together, and apart on pools
/// of which those that prefill are the fastest for their devices.
pub(super) fn machines(design: &Design, pool: &impl Pool) -> Vec<Machine> {
    let together = filling(design, design.cluster.num_devices);
    let mut all: Vec<Machine> = together.map(|layout| Machine { layout, prefill: None }).collect();
    for prefill in fastest_to_prefill(design, pool) {
        for share in PREFILL_SHARES {
            let Some(pool) = prefill_pool(design, prefill, share) else { continue };
            let devices = design.cluster.num_devices - pool.count * prefill.devices();
            let decoding = filling(design, devices).filter(|it| it.pipeline == 1);
            all.extend(decoding.map(|layout| Machine { layout, prefill: Some(pool) }));
        }
    }
    all
}

/// A legal design's plan, or the rule that it breaks first.
fn planned(design: &Design) -> Result<ServingPlan, (&'static Rule, String)> {
    match first_broken(design) {
        Some(broken) => Err(broken),
        None => {
            let own = overheads(design.serving.engine, design.cluster.accelerator);
            Ok(ServingPlan::with_overheads(design, own))
        }
    }
}

/// Layouts that prefill most tokens a second and device within the limit of the first token.
fn fastest_to_prefill(design: &Design, pool: &impl Pool) -> Vec<Layout> {
    let devices = design.cluster.num_devices;
    if devices < 2 {
        return Vec::new();
    }
    let rated = pool.map(&cuts(design, devices / 2), |_, layout| {
        let mut alone = with_layout(design, *layout, None);
        alone.cluster.num_devices = layout.devices();
        if layout.pipeline > 1 {
            return None;
        }
        let plan = planned(&alone).ok()?;
        let limit = alone.serving.ttft_limit_milliseconds.map(Seconds::millis);
        let is_within = limit.is_none_or(|limit| prefill_time(&plan, 1.0) <= limit);
        is_within.then(|| (prefill_rate(&plan) / layout.devices() as f64, *layout))
    });
    let mut rated: Vec<(f64, Layout)> = rated.into_iter().flatten().collect();
    rated.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    rated.into_iter().take(MAX_PREFILL_LAYOUTS).map(|(_, layout)| layout).collect()
}

/// The pool of a layout that takes about so large a share of the devices; `None` if nothing is
/// left to decode, or a smaller share gives the same.
fn prefill_pool(design: &Design, layout: Layout, share: f64) -> Option<Instances> {
    let devices = design.cluster.num_devices;
    let of = |share: f64| libm::round(share * devices as f64 / layout.devices() as f64) as u64;
    let count = of(share);
    let is_known = PREFILL_SHARES.iter().any(|less| *less < share && of(*less) == count);
    let fits = count > 0 && count * layout.devices() < devices;
    (fits && !is_known).then_some(Instances { layout, count })
}

/// Layouts whose instances fill this many devices evenly.
fn filling(design: &Design, devices: u64) -> impl Iterator<Item = Layout> {
    let all = cuts(design, devices).into_iter();
    all.filter(move |layout| devices.is_multiple_of(layout.devices()))
}

/// Powers of two up to a number.
fn powers(most: u64) -> impl Iterator<Item = u64> {
    (0..63).map(|power| 1_u64 << power).take_while(move |size| *size <= most)
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

/// A design that is laid out, and what its loads must reach.
struct Laid<'a> {
    design: &'a Design,
    plan: ServingPlan,
    limits: Limits,
    targets: &'a [Target],
    groups: u64,
    loads: Loads,
}

/// A layout at loads of powers of two up to what memory holds, or at `load` alone, and at about the
/// heaviest one that reaches its limits and targets.
pub(super) fn loads(
    design: &Design,
    machine: &Machine,
    targets: &[Target],
    load: Option<u64>,
) -> Loads {
    let design = with_layout(design, machine.layout, machine.prefill);
    let plan = match planned(&design) {
        Ok(plan) => plan,
        Err(broken) => return Loads { broken: Some(broken), ..Loads::default() },
    };
    let limits = Limits::of(&plan);
    let groups = plan.replicas().decode * plan.layout().data;
    let loads = Loads::default();
    let mut laid = Laid { design: &design, plan, limits, targets, groups, loads };
    match load {
        Some(load) => {
            let point = laid.point(load).1;
            laid.loads.points.push(point);
        }
        None => laid.all_loads(),
    }
    laid.loads
}

impl Laid<'_> {
    fn all_loads(&mut self) {
        let [mut last, mut most] = [0.0; 2];
        // The heaviest load that was within the limits, and the next one that wasn't.
        let mut between: [Option<u64>; 2] = [None; 2];
        let groups = self.groups;
        for requests in powers(MAX_REQUESTS).filter(|requests| *requests >= groups) {
            let (found, point) = self.point(requests);
            // What memory doesn't hold is no other load.
            if found.in_flight <= last {
                break;
            }
            last = found.in_flight;
            between = match (point.is_good, between) {
                (true, _) => [Some(point.concurrency), None],
                (false, [good, None]) => [good, Some(point.concurrency)],
                (false, both) => both,
            };
            // More requests that only wait are no load of their own.
            if found.per_device >= most * MIN_GAIN {
                most = found.per_device;
                self.loads.points.push(point);
            }
        }
        if let [Some(low), Some(high)] = between {
            self.halve(low, high);
        }
    }

    /// Goes towards the heaviest load within the limits, from one that is and one that isn't.
    fn halve(&mut self, mut low: u64, mut high: u64) {
        for _ in 0..HALVINGS {
            let middle = low.midpoint(high);
            if middle == low {
                break;
            }
            let (_, point) = self.point(middle);
            if point.is_good {
                low = middle;
                self.loads.points.push(point);
            } else {
                high = middle;
            }
        }
    }

    /// The layout at this many requests.
    fn point(&mut self, requests: u64) -> (Quick, LayoutPoint) {
        self.loads.tried += 1;
        let found = quick(&self.plan, requests as f64 / self.groups as f64);
        let Replicas { prefill, decode: count } = self.plan.replicas();
        let prefill_layout = self.plan.prefill_layout();
        let mut point = LayoutPoint {
            decode: Instances { layout: self.plan.layout(), count },
            prefill: prefill_layout.map(|layout| Instances { layout, count: prefill }),
            concurrency: libm::round(found.in_flight * self.groups as f64) as u64,
            per_device: found.per_device,
            per_user: 1.0 / found.tpot.get(),
            ttft: found.ttft,
            tpot: found.tpot,
            is_good: self.limits.hold(found.ttft, found.tpot),
        };
        if point.is_good && !self.targets.is_empty() {
            let design = point.design(self.design);
            point.is_good = planned(&design).is_ok_and(|plan| {
                let inference = infer(&plan);
                self.targets.iter().all(|target| target.is_reached(&design, &inference))
            });
        }
        (found, point)
    }
}
