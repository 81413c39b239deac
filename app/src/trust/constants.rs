//! The constants that predictions rest on, as HTML text.

use model::accelerator::{Accelerator, AcceleratorId};
use model::calibration::{
    AMPERE, ASCEND, BLACKWELL, FSDP, HOPPER, Host, IDEAL, Kernels, MEGATRON, MINDSPEED,
};
use model::choice::Choice;

use super::sheet::{Cell, card, table};
use super::words::NOTHING;
use crate::format;

/// Families of accelerators.
const KERNELS: [&Kernels; 4] = [&ASCEND, &AMPERE, &HOPPER, &BLACKWELL];

/// Frameworks.
const HOSTS: [(&str, &Host); 4] = [
    ("Megatron-Core", &MEGATRON),
    ("MindSpeed", &MINDSPEED),
    ("PyTorch FSDP", &FSDP),
    ("Ideal", &IDEAL),
];

/// All of them: what kernels reach, what a framework costs, what the hardware has.
pub(super) fn html() -> String {
    let intro = "The whole of what is fitted: one set for each family of accelerators and one for \
                 each framework. They hold for every run, model and source.";
    let kernels = KERNELS.into_iter().map(kernels_row).collect();
    let hosts = HOSTS.into_iter().map(host_row).collect();
    let accelerators = AcceleratorId::ALL.iter().map(|id| accelerator_row(id.row())).collect();
    let content = [
        table("Share of the peak that kernels reach", &KERNELS_COLUMNS, kernels),
        table("What a framework costs", &HOST_COLUMNS, hosts),
        table("Rates of one device", &ACCELERATOR_COLUMNS, accelerators),
    ];
    card("Constants", intro, &content.concat())
}

const KERNELS_COLUMNS: [&str; 8] = [
    "Share of the peak that kernels reach",
    "Matrix products, 16 bit",
    "8 bit",
    "4 bit",
    "Attention, forward",
    "Attention, backward",
    "Element-wise, of memory",
    "Fitted on",
];

fn kernels_row(kernels: &Kernels) -> Vec<Cell> {
    vec![
        Cell::text(kernels.family),
        share(kernels.gemm),
        share(kernels.fp8_gemm),
        share(kernels.fp4_gemm),
        share(kernels.attention_forward),
        share(kernels.attention_backward),
        share(kernels.vector_bandwidth),
        Cell::words(kernels.fitted_on),
    ]
}

const HOST_COLUMNS: [&str; 8] = [
    "What a framework costs",
    "Host per kernel, µs",
    "Host per MoE layer and pass, µs",
    "Launches per further expert",
    "Attention kernels",
    "Element-wise traffic, of fused",
    "Spread of ranks' step times",
    "Fitted on",
];

fn host_row((name, host): (&str, &Host)) -> Vec<Cell> {
    vec![
        Cell::text(name),
        number(host.dispatch_micros),
        number(host.sync_micros),
        number(host.launches_per_expert),
        Cell::text(if host.flash_attention_2 { "FlashAttention-2" } else { "the family's own" }),
        Cell::text(&format!("{} ×", format::decimals(host.element_passes, 2))),
        share(host.straggler_sigma),
        Cell::words(host.fitted_on),
    ]
}

const ACCELERATOR_COLUMNS: [&str; 9] = [
    "Rates of one device, dense",
    "BF16 peak, TFLOPS",
    "FP8 peak, TFLOPS",
    "Memory, GB/s",
    "In the node, GB/s",
    "Reached",
    "Between nodes, GB/s",
    "Reached",
    "Source",
];

fn accelerator_row(row: &Accelerator) -> Vec<Cell> {
    let link = Some(row.source.url.to_owned()).filter(|url| !url.is_empty());
    let peak = |peak: Option<f64>| peak.map_or_else(|| Cell::text(NOTHING), number);
    vec![
        Cell::text(row.title),
        peak(row.bf16_tflops),
        peak(row.fp8_tflops),
        number(row.hbm_gb_per_sec),
        number(row.intra_node_gb_per_sec),
        share(row.intra_node_fraction),
        number(row.inter_node_gb_per_sec),
        share(row.inter_node_fraction),
        Cell { link, ..Cell::words(row.source.title) },
    ]
}

fn share(share: f64) -> Cell {
    Cell::text(&format::percent(share, 1).to_string())
}

/// Without a fraction where it has none.
fn number(number: f64) -> Cell {
    let places = usize::from(number.fract() != 0.0);
    Cell::text(&format::decimals(number, places))
}
