//! Capacity of machines: how many of a model's experts fit, and how many requests.

use alloc::vec::Vec;

use super::engine::Overheads;
use super::memory::ServingMemory;
use super::need::{Need, least_memory};
use super::plan::ServingPlan;
use super::ranks::{Layout, with_layout};
use super::rules;
use crate::catalogue::accelerator::AcceleratorId;
use crate::design::Design;
use crate::ground::choice::{Choice as _, WeightDtype};
use crate::ground::units::Bytes;

/// A machine that people have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub title: &'static str,
    /// Its devices.
    pub accelerator: AcceleratorId,
    /// Number of devices.
    pub devices: u64,
}

/// The machines of the table: servers of eight devices, two of them, and a half of one with two
/// dies a card.
pub const MACHINES: &[Machine] = &[
    machine("8 x 64 GiB (Atlas 800 A2)", AcceleratorId::Ascend910b3, 8),
    machine("16 x 64 GiB (2 x Atlas 800 A2)", AcceleratorId::Ascend910b3, 16),
    machine("8 x 910C (16 dies)", AcceleratorId::Ascend910c, 16),
    machine("8 x H20", AcceleratorId::H20, 8),
    machine("8 x H100 80 GB", AcceleratorId::H100Sxm80gb, 8),
    machine("8 x H200", AcceleratorId::H200Sxm141gb, 8),
];

const fn machine(title: &'static str, accelerator: AcceleratorId, devices: u64) -> Machine {
    Machine { title, accelerator, devices }
}

/// A model on a machine in one format of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// The machine.
    pub machine: Machine,
    /// The format.
    pub dtype: WeightDtype,
    /// Experts of a layer of the model.
    pub routed: u64,
    /// Most experts of a layer with which one request still fits; `None` if the rest alone
    /// doesn't.
    pub most_kept: Option<u64>,
    /// Experts that the design keeps.
    pub kept: u64,
    /// Whether it fits with them.
    pub is_fitting: bool,
    /// Weights on the fullest device with them.
    pub weights: Bytes,
    /// Memory of a device that the engine takes.
    pub limit: Bytes,
    /// Requests of the design's lengths that memory then holds.
    pub requests: f64,
}

/// A design with this machine and format: all devices as one instance, heads over as many as
/// divide them and attention groups over the rest, whole experts on each.
fn on(design: &Design, machine: &Machine, dtype: WeightDtype, kept: u64) -> Design {
    let heads = design.transformer.num_attention_heads;
    let tensor = (1..=machine.devices)
        .rev()
        .find(|size| machine.devices.is_multiple_of(*size) && heads.is_multiple_of(*size))
        .unwrap_or(1);
    let mut laid = with_layout(
        design,
        Layout {
            tensor,
            pipeline: 1,
            data: machine.devices / tensor,
            expert: machine.devices,
            expert_tensor: 1,
        },
        None,
    );
    let none = Design::neutral(laid.preset).cluster;
    laid.cluster = crate::design::Cluster {
        accelerator: machine.accelerator,
        num_devices: machine.devices,
        ..none
    };
    laid.serving.weight_dtype = dtype;
    laid.serving.experts_kept = Some(kept);
    laid.serving.experts_on_host = 0;
    laid.serving.expert_cache_hit_rate = None;
    laid.routing.redundant_experts = 0;
    laid
}

/// Whether memory holds a design and one request; rules of formats and routing hold as well.
fn holds(design: &Design) -> bool {
    least_memory(design).is_some_and(Need::is_met)
}

/// A design's model on each of the machines, in its own format of weights and in 16 and 8 bits,
/// where the accelerator computes in them; nothing for a model without experts.
///
/// Experts are kept in whole shares of the devices, and of router groups where those are balanced.
#[must_use]
pub fn capacities(design: &Design) -> Vec<Capacity> {
    let Some(routed) = design.transformer.num_moe_experts else { return Vec::new() };
    let own = design.serving.weight_dtype;
    let mut rows = Vec::new();
    for machine in MACHINES {
        let row = machine.accelerator.row();
        let narrow = if row.fp8_tflops.is_some() { WeightDtype::Fp8 } else { WeightDtype::Int8 };
        let mut formats = Vec::from([WeightDtype::Bf16, narrow]);
        if !formats.contains(&own) && own != WeightDtype::Fp8 && own != WeightDtype::Int8 {
            formats.push(own);
        }
        formats.retain(|dtype| !rules::lacks_format(machine.accelerator, *dtype));
        rows.extend(formats.into_iter().map(|dtype| capacity(design, machine, dtype, routed)));
    }
    rows
}

fn capacity(design: &Design, machine: &Machine, dtype: WeightDtype, routed: u64) -> Capacity {
    let own = &design.transformer;
    let groups = own.moe_router_num_groups.filter(|_| own.moe_router_group_balanced).unwrap_or(1);
    let step = least_common_multiple(machine.devices, groups);
    let topk = design.serving.experts_kept_topk.unwrap_or(own.moe_router_topk);
    let fitting = |shares: u64| {
        let kept = shares * step;
        kept >= topk && holds(&on(design, machine, dtype, kept))
    };
    // Memory grows with every expert: the last share that fits is found by halves.
    let (mut low, mut high) = (topk.div_ceil(step).max(1), routed / step);
    let most_kept = (low <= high && fitting(low)).then(|| {
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fitting(middle) { low = middle } else { high = middle - 1 }
        }
        low * step
    });
    let kept = design.serving.experts_kept.unwrap_or(routed);
    // As many as a share of the devices asks for.
    let shared = (kept.div_ceil(step) * step).min(routed.max(step));
    let tried = on(design, machine, dtype, shared.min(routed));
    let plan = ServingPlan::with_overheads(&tried, Overheads::IDEAL);
    let memory = ServingMemory::new(&tried, &plan.architecture, &plan.decode);
    let is_fitting = holds(&tried);
    let groups = plan.layout().data as f64;
    let requests = if is_fitting { memory.sequences() * groups } else { 0.0 };
    Capacity {
        machine: *machine,
        dtype,
        routed,
        most_kept,
        kept,
        is_fitting,
        weights: memory.weights,
        limit: memory.limit,
        requests,
    }
}

fn least_common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    one / a.max(1) * other
}

impl Capacity {
    /// The format's name.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.dtype.name()
    }
}
