//! Published runs with experts in host memory, and what is predicted of them: tokens a second of
//! answers and of prompts.

use alloc::vec::Vec;

use super::engine::overheads;
use super::host::{
    FIRST_LAYER_TIME, LAYER_TIME, OnHost, Processors, TWO_EPYC_9355, TWO_XEON_6454S,
    TWO_XEON_6454S_AMX, TWO_XEON_8488C, XEON_6454S,
};
use super::inference::{decode_step, prefill_time};
use super::plan::ServingPlan;
use crate::catalogue::accelerator::{Accelerator, AcceleratorId};
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

/// Phase that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Tokens of the answer.
    Decode,
    /// Tokens of the prompt, all of it in one chunk.
    Prompt,
}

/// A published run: tokens a second of one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The model.
    pub model: &'static str,
    preset: &'static str,
    card: Card,
    /// Number of cards.
    pub cards: u64,
    /// The node's processors.
    pub processors: Processors,
    /// Experts that a token visits.
    pub topk: u64,
    /// Share of the experts that lie on the cards, by chance.
    pub on_cards: f64,
    /// Phase that is measured.
    pub phase: Phase,
    /// Tokens in front of those that are decoded, or of the prompt.
    pub context: u64,
    /// Format of dense weights.
    dtype: &'static str,
    /// Bytes of a parameter of an expert on the host.
    pub host_bytes: f64,
    /// Tokens a second.
    pub measured: f64,
    /// Whether its engine is one of KTransformers' first versions, before 0.5: they send no experts
    /// to the cards, and a layer takes longer.
    pub is_first: bool,
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
    phase: Phase::Decode,
    context: 500,
    dtype: "int4",
    host_bytes: 0.602,
    measured: 12.208,
    is_first: true,
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
    is_first: false,
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

impl Run {
    /// The run with a prompt, which no constant is fitted on unless a row of processors is.
    const fn prompt(self, context: u64, measured: f64, is_fitted: bool) -> Self {
        Self { phase: Phase::Prompt, context, measured, is_fitted, ..self }
    }
}

/// A constant is fitted on the ends.
const fn qwen(on_cards: f64, measured: f64) -> Run {
    Run { on_cards, measured, is_fitted: on_cards <= 0.0 || on_cards >= 0.9, ..QWEN }
}

/// The runs.
///
/// # Source
/// KTransformers, `doc/en`: `DeepseekR1_V3_tutorial.md` (V0.2 and V0.2.1),
/// `MiniMax-M2.1-Tutorial.md` and `kt-kernel/experts-sched-Tutorial.md`. Five prompts, one of each
/// host, are those that the rows of [`super::host`] are worked out from, and one that its rate of
/// sending is. Those whose host's memory
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
    deepseek(XEON_6454S, 8, 500, 0.0).prompt(500, 54.21, true),
    deepseek(XEON_6454S, 6, 500, 0.0).prompt(500, 65.14, false),
    deepseek(TWO_XEON_6454S, 8, 500, 0.0).prompt(500, 82.94, true),
    deepseek(TWO_XEON_6454S, 6, 500, 0.0).prompt(500, 97.32, false),
    deepseek(TWO_XEON_6454S, 8, 969, 0.0).prompt(969, 88.2, false),
    deepseek(TWO_XEON_6454S, 8, 1_930, 0.0).prompt(1_930, 88.5, false),
    deepseek(TWO_XEON_6454S, 8, 3_846, 0.0).prompt(3_846, 81.9, false),
    deepseek(TWO_XEON_6454S, 8, 7_678, 0.0).prompt(7_678, 80.0, false),
    deepseek(TWO_XEON_6454S_AMX, 8, 969, 0.0).prompt(969, 185.96, false),
    deepseek(TWO_XEON_6454S_AMX, 8, 1_930, 0.0).prompt(1_930, 255.26, false),
    deepseek(TWO_XEON_6454S_AMX, 8, 3_846, 0.0).prompt(3_846, 252.58, true),
    deepseek(TWO_XEON_6454S_AMX, 8, 7_678, 0.0).prompt(7_678, 195.62, false),
    minimax(false, 1, 2_048, 0.0).prompt(2_048, 129.0, true),
    minimax(false, 1, 8_192, 0.0).prompt(8_192, 669.0, true),
    minimax(false, 1, 32_768, 0.0).prompt(32_768, 1_385.0, false),
    minimax(false, 2, 2_048, 0.0).prompt(2_048, 139.0, false),
    minimax(false, 2, 8_192, 0.0).prompt(8_192, 1_013.0, false),
    minimax(false, 2, 32_768, 0.0).prompt(32_768, 2_269.0, false),
    minimax(true, 1, 2_048, 0.0).prompt(2_048, 408.0, true),
    minimax(true, 1, 8_192, 0.0).prompt(8_192, 1_196.0, false),
    minimax(true, 1, 32_768, 0.0).prompt(32_768, 2_540.0, false),
    minimax(true, 2, 2_048, 0.0).prompt(2_048, 414.0, false),
    minimax(true, 2, 8_192, 0.0).prompt(8_192, 1_847.0, false),
    minimax(true, 2, 32_768, 0.0).prompt(32_768, 4_007.0, false),
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
    // Over no link worth the name where the engine sends nothing.
    let link = if run.is_first { 1e-3 } else { run.card.link_gb_per_sec };
    design.cluster.host_gb_per_sec = Some(link);
    let serving = &mut design.serving;
    serving.tensor_parallel_size = run.cards;
    serving.moe_expert_parallel_size = 1;
    serving.moe_tensor_parallel_size = Some(run.cards);
    serving.experts_kept_topk = Some(run.topk);
    serving.experts_on_host = experts - on_cards;
    serving.input_length = run.context;
    serving.output_length = 1;
    serving.max_num_batched_tokens = serving.max_num_batched_tokens.max(run.context);
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
    let on_host = OnHost {
        bytes_per_parameter: run.host_bytes,
        layer_time: if run.is_first { FIRST_LAYER_TIME.get() } else { LAYER_TIME },
    };
    let own = overheads(design.serving.engine, AcceleratorId::H100Sxm80gb);
    let plan = ServingPlan::on_card(&design, own, &card, on_host);
    Some(match run.phase {
        Phase::Decode => 1.0 / decode_step(&plan, 1.0).get(),
        Phase::Prompt => run.context as f64 / prefill_time(&plan, 1.0).get(),
    })
}
