//! Published runs with experts in host memory, and what is predicted of them.

use alloc::vec::Vec;

use super::engine::overheads;
use super::host::{Processors, TWO_EPYC_9355, TWO_XEON_6454S, TWO_XEON_8488C, XEON_6454S};
use super::inference::decode_step;
use super::plan::ServingPlan;
use crate::accelerator::{Accelerator, AcceleratorId};
use crate::design::{Design, KnobId};

/// A card of a workstation, which no design can name: its memory bandwidth in GB/s and peaks in
/// TFLOPS, dense, with sums in FP32.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Card {
    title: &'static str,
    memory_gb_per_sec: f64,
    bf16_tflops: f64,
    link_gb_per_sec: f64,
}

/// Source: NVIDIA, Ada and RTX Blackwell architecture papers.
const RTX_4090D: Card = Card {
    title: "RTX 4090D",
    memory_gb_per_sec: 1_008.0,
    bf16_tflops: 147.1,
    link_gb_per_sec: 25.0,
};
const RTX_4090: Card = Card { title: "RTX 4090", bf16_tflops: 165.2, ..RTX_4090D };
const RTX_5090: Card = Card {
    title: "RTX 5090",
    memory_gb_per_sec: 1_792.0,
    bf16_tflops: 209.5,
    link_gb_per_sec: 50.0,
};

/// A published run: tokens a second of one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The model.
    pub model: &'static str,
    preset: &'static str,
    card: Card,
    /// How many cards.
    pub cards: u64,
    /// The node's processors.
    pub processors: Processors,
    /// Experts that a token visits.
    pub topk: u64,
    /// Share of the experts that lie on the cards, by chance.
    pub on_cards: f64,
    /// Tokens in front of those that are decoded.
    pub context: u64,
    /// Format of dense weights.
    dtype: &'static str,
    /// Bytes of a parameter of an expert on the host.
    pub host_bytes: f64,
    /// Tokens of an answer a second.
    pub measured: f64,
    /// Whether a constant is fitted on it.
    pub is_fitted: bool,
}

impl Run {
    /// The cards' name.
    #[must_use]
    pub const fn card(&self) -> &'static str {
        self.card.title
    }
}

/// `Q4_K_M` of DeepSeek: 404 GB of 671B parameters, as some of its matrices have 6 bits.
const DEEPSEEK: Run = Run {
    model: "DeepSeek-V3",
    preset: "deepseek-v3",
    card: RTX_4090D,
    cards: 1,
    processors: TWO_XEON_6454S,
    topk: 8,
    on_cards: 0.0,
    context: 500,
    dtype: "int4",
    host_bytes: 0.602,
    measured: 12.208,
    is_fitted: true,
};

const MINIMAX: Run = Run {
    model: "MiniMax-M2.1",
    preset: "minimax-m2",
    card: RTX_4090,
    processors: TWO_XEON_8488C,
    context: 2_048,
    dtype: "int8",
    host_bytes: 1.0,
    measured: 21.8,
    is_fitted: false,
    ..DEEPSEEK
};

/// The mean of the placements `random` and `uniform`, which know nothing of loads.
const QWEN: Run = Run {
    model: "Qwen3-Next-80B-A3B",
    preset: "qwen3-next-80b-a3b",
    cards: 4,
    processors: XEON_6454S,
    topk: 10,
    context: 217,
    measured: 53.0,
    ..MINIMAX
};

const fn deepseek(processors: Processors, topk: u64, context: u64, measured: f64) -> Run {
    let card = if context > 500 { RTX_4090 } else { RTX_4090D };
    Run { card, processors, topk, context, measured, ..DEEPSEEK }
}

const fn minimax(five: bool, cards: u64, context: u64, measured: f64) -> Run {
    let (card, processors) =
        if five { (RTX_5090, TWO_EPYC_9355) } else { (RTX_4090, TWO_XEON_8488C) };
    Run { card, cards, processors, context, measured, ..MINIMAX }
}

const fn qwen(on_cards: f64, measured: f64) -> Run {
    Run { on_cards, measured, ..QWEN }
}

/// The runs.
///
/// # Source
/// KTransformers, `doc/en`: `DeepseekR1_V3_tutorial.md` (V0.2 and V0.2.1),
/// `MiniMax-M2.1-Tutorial.md` and `kt-kernel/experts-sched-Tutorial.md`. Those whose host's memory
/// isn't described are left out: Kunpeng 920 7270Z, and L20 with an unnamed host.
pub const RUNS: &[Run] = &[
    deepseek(TWO_XEON_6454S, 8, 500, 12.208),
    deepseek(TWO_XEON_6454S, 6, 500, 13.69),
    deepseek(XEON_6454S, 8, 500, 8.73),
    deepseek(XEON_6454S, 6, 500, 10.303),
    deepseek(TWO_XEON_6454S, 8, 969, 13.5),
    deepseek(TWO_XEON_6454S, 8, 1_930, 13.4),
    deepseek(TWO_XEON_6454S, 8, 3_846, 13.2),
    deepseek(TWO_XEON_6454S, 8, 7_678, 12.4),
    deepseek(TWO_XEON_6454S, 6, 969, 15.9),
    deepseek(TWO_XEON_6454S, 6, 3_846, 14.9),
    minimax(false, 1, 2_048, 21.8),
    minimax(false, 1, 8_192, 20.9),
    minimax(false, 1, 32_768, 18.5),
    minimax(false, 2, 2_048, 23.6),
    minimax(false, 2, 8_192, 23.3),
    minimax(false, 2, 32_768, 21.6),
    minimax(true, 1, 2_048, 32.1),
    minimax(true, 1, 8_192, 31.4),
    minimax(true, 1, 32_768, 27.6),
    minimax(true, 2, 2_048, 35.9),
    minimax(true, 2, 8_192, 35.5),
    minimax(true, 2, 32_768, 33.1),
    qwen(0.0, 53.0),
    qwen(0.1, 56.6),
    qwen(0.2, 59.5),
    qwen(0.3, 62.5),
    qwen(0.4, 66.8),
    qwen(0.5, 67.8),
    qwen(0.6, 72.1),
    qwen(0.7, 75.3),
    qwen(0.8, 79.5),
    qwen(0.9, 84.9),
];

/// A run beside what is predicted of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// The run.
    pub run: Run,
    /// Tokens a second as predicted.
    pub predicted: f64,
}

impl Beside {
    /// Predicted over measured, less one.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.predicted / self.run.measured - 1.0
    }
}

/// Every run beside what is predicted of it, by the engine SGLang on one instance of its cards.
#[must_use]
pub fn beside() -> Vec<Beside> {
    RUNS.iter().filter_map(|run| Some(Beside { run: *run, predicted: predicted(run)? })).collect()
}

fn predicted(run: &Run) -> Option<f64> {
    let mut design = Design::from_preset(run.preset).ok()?;
    design.set_text(KnobId::weight_dtype, run.dtype).ok()?;
    design.set_text(KnobId::engine, "sglang").ok()?;
    let experts = design.transformer.num_moe_experts?;
    let on_cards = libm::round(experts as f64 * run.on_cards) as u64;
    design.cluster.num_devices = run.cards;
    design.cluster.devices_per_node = Some(run.cards);
    design.serving.host_memory_gb_per_sec = Some(run.processors.memory_gb_per_sec);
    design.serving.host_tflops = Some(run.processors.tflops);
    design.cluster.host_gb_per_sec = Some(run.card.link_gb_per_sec);
    let serving = &mut design.serving;
    serving.tensor_parallel_size = run.cards;
    serving.moe_expert_parallel_size = 1;
    serving.moe_tensor_parallel_size = Some(run.cards);
    serving.experts_kept_topk = Some(run.topk);
    serving.experts_on_host = experts - on_cards;
    serving.input_length = run.context;
    serving.output_length = 1;
    let like = AcceleratorId::A100Sxm80gb;
    let card = Accelerator {
        title: run.card.title,
        bf16_tflops: Some(run.card.bf16_tflops),
        fp16_tflops: run.card.bf16_tflops,
        hbm_gb_per_sec: run.card.memory_gb_per_sec,
        // Over PCIe, both ways through the host.
        intra_node_gb_per_sec: run.card.link_gb_per_sec,
        ..*like.row()
    };
    let own = overheads(design.serving.engine, AcceleratorId::H100Sxm80gb);
    let plan = ServingPlan::on_card(&design, own, &card, run.host_bytes);
    Some(1.0 / decode_step(&plan, 1.0))
}
