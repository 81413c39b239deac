//! Published runs with experts in host memory, beside the tokens a second that are predicted.

use alloc::vec::Vec;

use super::engine::overheads;
use super::host::{FIRST_LAYER_TIME, LAYER_TIME, OnHost};
use super::inference::{decode_step, prefill_time};
use super::plan::ServingPlan;
use crate::catalogue::accelerator::{Accelerator, AcceleratorId};
use crate::design::{Design, KnobId};
use crate::metric::published::{HOST_RUNS, HostRun, Phase};

/// A published run beside its prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The run.
    pub run: &'static HostRun,
    /// Tokens a second as predicted.
    pub predicted: f64,
}

impl Comparison {
    /// Predicted over measured, less one.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.predicted / self.run.figure.value - 1.0
    }
}

/// Every run beside its prediction, by the engine SGLang on one instance of its cards.
#[must_use]
pub fn comparisons() -> Vec<Comparison> {
    let comparison = |run| Some(Comparison { run, predicted: predicted(run)? });
    HOST_RUNS.iter().filter_map(comparison).collect()
}

fn predicted(run: &HostRun) -> Option<f64> {
    let experiment = &run.experiment;
    let mut design = Design::from_preset(experiment.preset).ok()?;
    design.set_text(KnobId::weight_dtype, experiment.dtype).ok()?;
    design.set_text(KnobId::engine, "sglang").ok()?;
    let experts = design.transformer.num_moe_experts?;
    let on_cards = libm::round(experts as f64 * run.on_cards) as u64;
    design.cluster.num_devices = run.cards;
    design.cluster.devices_per_node = Some(run.cards);
    design.serving.host_memory_gb_per_sec = Some(run.processors.memory_gb_per_sec);
    design.serving.host_tflops = Some(run.processors.tflops);
    // Over no link worth the name where the engine sends nothing.
    let link = if experiment.is_first { 1e-3 } else { run.card.link_gb_per_sec };
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
        bytes_per_parameter: experiment.host_bytes,
        layer_time: if experiment.is_first { FIRST_LAYER_TIME.get() } else { LAYER_TIME },
    };
    let own = overheads(design.serving.engine, AcceleratorId::H100Sxm80gb);
    let plan = ServingPlan::on_card(&design, own, &card, on_host);
    Some(match run.phase {
        Phase::Decode => 1.0 / decode_step(&plan, 1.0).get(),
        Phase::Prompt => run.context as f64 / prefill_time(&plan, 1.0).get(),
    })
}
