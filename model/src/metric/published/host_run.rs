//! Published runs with experts in host memory: tokens a second of one request.

use super::figure::Figure;
use crate::catalogue::processors::{
    Processors, TWO_EPYC_9355, TWO_XEON_6454S, TWO_XEON_6454S_AMX, TWO_XEON_8488C, XEON_6454S,
};
use crate::ground::source::KTRANSFORMERS;
use crate::metric::unit::Unit;

/// A card of a workstation, which no design can name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Card {
    /// The name that people use.
    pub title: &'static str,
    /// Bandwidth of its memory.
    pub memory_gb_per_sec: f64,
    /// Dense BF16 peak, with sums in FP32.
    pub bf16_tflops: f64,
    /// Link to the host, one direction.
    pub link_gb_per_sec: f64,
}

const fn card(title: &'static str, memory: f64, bf16_tflops: f64, link: f64) -> Card {
    Card { title, memory_gb_per_sec: memory, bf16_tflops, link_gb_per_sec: link }
}

// Source: NVIDIA, Ada and RTX Blackwell architecture papers.
const RTX_4090D: Card = card("RTX 4090D", 1_008.0, 147.1, 25.0);
const RTX_4090: Card = card("RTX 4090", 1_008.0, 165.2, 25.0);
const RTX_5090: Card = card("RTX 5090", 1_792.0, 209.5, 50.0);

/// Phase that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Tokens of the answer.
    Decode,
    /// Tokens of the prompt, all of it in one chunk.
    Prompt,
}

use Phase::{Decode, Prompt};

/// The model that was run, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experiment {
    /// The model.
    pub model: &'static str,
    /// Preset of the model.
    pub preset: &'static str,
    /// Format of dense weights.
    pub dtype: &'static str,
    /// Bytes of a parameter of an expert on the host.
    pub host_bytes: f64,
    /// Whether its engine is one of KTransformers' first versions, before 0.5: they send no experts
    /// to the cards, and a layer takes longer.
    pub is_first: bool,
    place: &'static str,
}

/// `Q4_K_M`: 404 GB of 671B parameters, as some of its matrices have 6 bits.
const DEEPSEEK: Experiment = Experiment {
    model: "DeepSeek-V3",
    preset: "deepseek-v3",
    dtype: "int4",
    host_bytes: 0.602,
    is_first: true,
    place: "DeepseekR1_V3_tutorial.md, V0.2 to V0.3",
};
const MINIMAX: Experiment = Experiment {
    model: "MiniMax-M2.1",
    preset: "minimax-m2",
    dtype: "int8",
    host_bytes: 1.0,
    is_first: false,
    place: "MiniMax-M2.1-Tutorial.md",
};
/// The mean of the placements `random` and `uniform`, which know nothing of loads.
const QWEN: Experiment = Experiment {
    model: "Qwen3-Next-80B-A3B",
    preset: "qwen3-next-80b-a3b",
    place: "kt-kernel/experts-sched-Tutorial.md",
    ..MINIMAX
};

/// A published run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostRun {
    /// Number behind `ktransformers-` of its id in the table of published runs of serving; zero if
    /// it has no row there.
    pub number: u16,
    /// The model, and how it was run.
    pub experiment: Experiment,
    /// Number of cards.
    pub cards: u64,
    /// Each of them.
    pub card: Card,
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
    /// Tokens a second.
    pub figure: Figure,
    /// Whether a constant is fitted on it.
    pub is_fitted: bool,
}

const fn row(
    number: u16,
    experiment: Experiment,
    (cards, card, processors): (u64, Card, Processors),
    topk: u64,
    (phase, context): (Phase, u64),
    tokens_per_second: f64,
    is_fitted: bool,
) -> HostRun {
    let unit = Unit::TokensPerSecond;
    let figure = Figure::new(tokens_per_second, unit, KTRANSFORMERS, experiment.place);
    HostRun {
        number,
        experiment,
        cards,
        card,
        processors,
        topk,
        on_cards: 0.0,
        phase,
        context,
        figure,
        is_fitted,
    }
}

const fn qwen(on_cards: f64, tokens_per_second: f64, is_fitted: bool) -> HostRun {
    let node = (4, RTX_4090, XEON_6454S);
    let read = (Decode, 217);
    HostRun { on_cards, ..row(0, QWEN, node, 10, read, tokens_per_second, is_fitted) }
}

const FITTED: bool = true;
const PREDICTED: bool = false;

/// The rows.
///
/// Five prompts, one of each host, are those that the rows of [`crate::catalogue::processors`] are
/// worked out from, and one that the rate of sending experts is. Those whose host's memory isn't
/// described are left out: Kunpeng 920 7270Z, and L20 with an unnamed host.
#[rustfmt::skip]
pub const HOST_RUNS: &[HostRun] = &[
    row(1, DEEPSEEK, (1, RTX_4090D, TWO_XEON_6454S), 8, (Decode, 500), 12.208, FITTED),
    row(5, DEEPSEEK, (1, RTX_4090D, TWO_XEON_6454S), 6, (Decode, 500), 13.69, FITTED),
    row(3, DEEPSEEK, (1, RTX_4090D, XEON_6454S), 8, (Decode, 500), 8.73, FITTED),
    row(7, DEEPSEEK, (1, RTX_4090D, XEON_6454S), 6, (Decode, 500), 10.303, FITTED),
    row(11, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Decode, 969), 13.5, FITTED),
    row(14, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Decode, 1_930), 13.4, FITTED),
    row(17, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Decode, 3_846), 13.2, FITTED),
    row(20, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Decode, 7_678), 12.4, FITTED),
    row(0, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 6, (Decode, 969), 15.9, FITTED),
    row(0, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 6, (Decode, 3_846), 14.9, FITTED),
    row(26, MINIMAX, (1, RTX_4090, TWO_XEON_8488C), 8, (Decode, 2_048), 21.8, PREDICTED),
    row(28, MINIMAX, (1, RTX_4090, TWO_XEON_8488C), 8, (Decode, 8_192), 20.9, PREDICTED),
    row(30, MINIMAX, (1, RTX_4090, TWO_XEON_8488C), 8, (Decode, 32_768), 18.5, PREDICTED),
    row(32, MINIMAX, (2, RTX_4090, TWO_XEON_8488C), 8, (Decode, 2_048), 23.6, PREDICTED),
    row(34, MINIMAX, (2, RTX_4090, TWO_XEON_8488C), 8, (Decode, 8_192), 23.3, PREDICTED),
    row(36, MINIMAX, (2, RTX_4090, TWO_XEON_8488C), 8, (Decode, 32_768), 21.6, PREDICTED),
    row(38, MINIMAX, (1, RTX_5090, TWO_EPYC_9355), 8, (Decode, 2_048), 32.1, PREDICTED),
    row(40, MINIMAX, (1, RTX_5090, TWO_EPYC_9355), 8, (Decode, 8_192), 31.4, PREDICTED),
    row(42, MINIMAX, (1, RTX_5090, TWO_EPYC_9355), 8, (Decode, 32_768), 27.6, PREDICTED),
    row(44, MINIMAX, (2, RTX_5090, TWO_EPYC_9355), 8, (Decode, 2_048), 35.9, PREDICTED),
    row(46, MINIMAX, (2, RTX_5090, TWO_EPYC_9355), 8, (Decode, 8_192), 35.5, PREDICTED),
    row(48, MINIMAX, (2, RTX_5090, TWO_EPYC_9355), 8, (Decode, 32_768), 33.1, PREDICTED),
    qwen(0.0, 53.0, FITTED),
    qwen(0.1, 56.6, PREDICTED),
    qwen(0.2, 59.5, PREDICTED),
    qwen(0.3, 62.5, PREDICTED),
    qwen(0.4, 66.8, PREDICTED),
    qwen(0.5, 67.8, PREDICTED),
    qwen(0.6, 72.1, PREDICTED),
    qwen(0.7, 75.3, PREDICTED),
    qwen(0.8, 79.5, PREDICTED),
    qwen(0.9, 84.9, FITTED),
    row(4, DEEPSEEK, (1, RTX_4090D, XEON_6454S), 8, (Prompt, 500), 54.21, FITTED),
    row(8, DEEPSEEK, (1, RTX_4090D, XEON_6454S), 6, (Prompt, 500), 65.14, PREDICTED),
    row(2, DEEPSEEK, (1, RTX_4090D, TWO_XEON_6454S), 8, (Prompt, 500), 82.94, FITTED),
    row(6, DEEPSEEK, (1, RTX_4090D, TWO_XEON_6454S), 6, (Prompt, 500), 97.32, PREDICTED),
    row(12, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Prompt, 969), 88.2, PREDICTED),
    row(15, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Prompt, 1_930), 88.5, PREDICTED),
    row(18, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Prompt, 3_846), 81.9, PREDICTED),
    row(21, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S), 8, (Prompt, 7_678), 80.0, PREDICTED),
    row(13, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S_AMX), 8, (Prompt, 969), 185.96, PREDICTED),
    row(16, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S_AMX), 8, (Prompt, 1_930), 255.26, PREDICTED),
    row(19, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S_AMX), 8, (Prompt, 3_846), 252.58, FITTED),
    row(22, DEEPSEEK, (1, RTX_4090, TWO_XEON_6454S_AMX), 8, (Prompt, 7_678), 195.62, PREDICTED),
    row(25, MINIMAX, (1, RTX_4090, TWO_XEON_8488C), 8, (Prompt, 2_048), 129.0, FITTED),
    row(27, MINIMAX, (1, RTX_4090, TWO_XEON_8488C), 8, (Prompt, 8_192), 669.0, FITTED),
    row(29, MINIMAX, (1, RTX_4090, TWO_XEON_8488C), 8, (Prompt, 32_768), 1_385.0, PREDICTED),
    row(31, MINIMAX, (2, RTX_4090, TWO_XEON_8488C), 8, (Prompt, 2_048), 139.0, PREDICTED),
    row(33, MINIMAX, (2, RTX_4090, TWO_XEON_8488C), 8, (Prompt, 8_192), 1_013.0, PREDICTED),
    row(35, MINIMAX, (2, RTX_4090, TWO_XEON_8488C), 8, (Prompt, 32_768), 2_269.0, PREDICTED),
    row(37, MINIMAX, (1, RTX_5090, TWO_EPYC_9355), 8, (Prompt, 2_048), 408.0, FITTED),
    row(39, MINIMAX, (1, RTX_5090, TWO_EPYC_9355), 8, (Prompt, 8_192), 1_196.0, PREDICTED),
    row(41, MINIMAX, (1, RTX_5090, TWO_EPYC_9355), 8, (Prompt, 32_768), 2_540.0, PREDICTED),
    row(43, MINIMAX, (2, RTX_5090, TWO_EPYC_9355), 8, (Prompt, 2_048), 414.0, PREDICTED),
    row(45, MINIMAX, (2, RTX_5090, TWO_EPYC_9355), 8, (Prompt, 8_192), 1_847.0, PREDICTED),
    row(47, MINIMAX, (2, RTX_5090, TWO_EPYC_9355), 8, (Prompt, 32_768), 4_007.0, PREDICTED),
];
