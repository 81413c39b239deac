//! The published runs with the highest MFU of each family of accelerators, kind of model and width
//! of operands. Written by `cargo xtask calibrate`.

use super::published::Best;
use crate::catalogue::calibration::ModelKind;

/// The runs.
#[rustfmt::skip]
pub static BEST: &[Best] = &[
    Best::new(("Ascend 910", ModelKind::Dense, 16),
        ["F1", "LLaMA2-7B bf16 pretrain"], 0.605),
    Best::new(("Ascend 910", ModelKind::Experts, 16),
        ["N2", "DeepSeek-V3 671B + torch.compile AutoFuse"], 0.408),
    Best::new(("Ascend 910", ModelKind::Mixed, 16),
        ["N5", "DeepSeek-V4-Flash 284B/13B"], 0.255),
    Best::new(("NVIDIA Ampere", ModelKind::Dense, 16),
        ["llm_foundry-096", "MPT-7b"], 0.617),
    Best::new(("NVIDIA Blackwell", ModelKind::Dense, 4),
        ["bridge_perf-083", "LLAMA3.1_405B"], 0.242),
    Best::new(("NVIDIA Blackwell", ModelKind::Dense, 8),
        ["bridge_perf-033", "LLAMA3.1_405B"], 0.529),
    Best::new(("NVIDIA Blackwell", ModelKind::Dense, 16),
        ["simumax_b200-034", "llama3_405b 4L"], 0.404),
    Best::new(("NVIDIA Blackwell", ModelKind::Experts, 8),
        ["dgxc_bench-256", "grok1-314b"], 0.329),
    Best::new(("NVIDIA Blackwell", ModelKind::Experts, 16),
        ["dgxc_bench-253", "grok1-314b"], 0.467),
    Best::new(("NVIDIA Blackwell", ModelKind::Mixed, 4),
        ["bridge_perf-016", "Nemotron_3_Super"], 0.061),
    Best::new(("NVIDIA Blackwell", ModelKind::Mixed, 8),
        ["bridge_perf-017", "Nemotron_3_Ultra"], 0.248),
    Best::new(("NVIDIA Blackwell", ModelKind::Mixed, 16),
        ["bridge_perf-219", "GPT OSS 120B"], 0.254),
    Best::new(("NVIDIA Hopper", ModelKind::Dense, 8),
        ["mlperf-025", "GPT-3 175B (MLPerf)"], 0.478),
    Best::new(("NVIDIA Hopper", ModelKind::Dense, 16),
        ["dgxc_bench-019", "llama3.1-405b proxy 7L"], 0.561),
    Best::new(("NVIDIA Hopper", ModelKind::Experts, 8),
        ["moe_folding-007", "Mixtral-8x22B"], 0.319),
    Best::new(("NVIDIA Hopper", ModelKind::Experts, 16),
        ["moe_folding-025", "Mixtral-8x22B"], 0.522),
    Best::new(("NVIDIA Hopper", ModelKind::Mixed, 8),
        ["dgxc_bench-292", "nemotron-h-56b"], 0.281),
    Best::new(("NVIDIA Hopper", ModelKind::Mixed, 16),
        ["automodel-002", "Nemotron V3 Nano 30B (26.02)"], 0.343),
];
