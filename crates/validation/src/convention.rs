//! From a prediction to the metric that a source prints, in the source's own convention.
//!
//! A predicted step time becomes the row's metric, never the reverse. Step time and tokens/s need
//! no convention; TFLOPS, MFU and HFU count FLOPs as the row's `flops_def` says.

use model::Plan;
use model::design::{Design, KnobId};
use model::ground::choice::AttentionFlops;
use model::training::estimate::Estimate;

use crate::draft::Draft;
use crate::phrase::{self, Claim};
use crate::refusal::Refusal;
use crate::runs::Run;

/// FLOPs that a source counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Forward and backward, attention as the design's `attention_flops` says.
    Model,
    /// 6 N + 12 L d s, N with embeddings. Source: PaLM, appendix B.
    SixN,
    /// 6 N alone.
    Params,
    /// Forward and backward of the layers and their forward again, whole attention, logits.
    /// Source: Narayanan et al. 2021, 96 B s l h^2 (1 + s/6h + V/16lh).
    Hardware,
}

/// Convention by which a row counts FLOPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Convention {
    counted: Counted,
    attention: AttentionFlops,
    mtp: bool,
    /// The source doesn't say.
    is_open: bool,
}

/// A comparison in the source's metric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparison {
    /// A metric's id.
    pub(crate) metric: &'static str,
    pub(crate) measured: f64,
    pub(crate) predicted: f64,
    /// The step time's error, whatever the metric.
    pub(crate) time_error: f64,
}

fn for_run(run: &Run) -> Convention {
    let text = run.flops_convention.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    // The formula's second part, 12 L d s, is attention's.
    let has_attention = has(&["12", "palm"]) || phrase::affirms(&text, &["attention"]);
    let counted = if has(&["6n", "palm"]) {
        if has_attention { Counted::SixN } else { Counted::Params }
    } else if has(&["hardware", "96bslh", "hfu;"])
        || phrase::affirms(&text, &["recompute counted", "recompute included"])
    {
        Counted::Hardware
    } else {
        Counted::Model
    };
    let halved = phrase::claim(&text, &["causal"]);
    let whole = phrase::claim(&text, &["full attention", "full matrix", "whole attention"]);
    // DeepSeek's report prints both; the first, non-causal one is the row's.
    let full = whole == Some(Claim::Affirmed)
        || halved == Some(Claim::Denied)
        || has(&["non-causal", "not halved", "no halving", "without halving"]);
    // MoE Parallel Folding dates from Megatron-Core r0.12; its MFU at 16K to 128K tokens is level
    // only when half of the scores count.
    let releases =
        phrase::affirms(&text, &["automodel", "bridge", "log tflops_per_gpu", "mcore of the time"]);
    let is_unstated = [halved, whole].contains(&Some(Claim::Unstated));
    let causal = !full && !is_unstated && (halved == Some(Claim::Affirmed) || releases);
    let notes = format!("{} {} {text}", run.notes, run.locator).to_lowercase();
    let no_mtp = text.contains("automodel")
        || text.contains("non-causal")
        || phrase::claim(&notes, &["mtp"]) == Some(Claim::Denied);
    Convention {
        counted,
        attention: if causal { AttentionFlops::Causal } else { AttentionFlops::Full },
        mtp: !no_mtp,
        is_open: counted == Counted::Model && !full && !causal,
    }
}

/// The design with the other convention, where the source leaves open how it counts and its metric
/// depends on that.
pub(crate) fn other(run: &Run, design: &Design) -> Option<Plan> {
    let metric = measured(run).map(|(metric, _)| metric);
    let counts = matches!(metric, Some(Metric::Tflops | Metric::Mfu | Metric::Hfu));
    if !for_run(run).is_open || !counts {
        return None;
    }
    let mut design = design.clone();
    design.training.attention_flops = match design.training.attention_flops {
        AttentionFlops::Full => AttentionFlops::Causal,
        AttentionFlops::Causal => AttentionFlops::Full,
    };
    Plan::new(&design).ok()
}

/// Whether the run has no MTP layer, though its model does: because the row says so, or because its
/// framework has none (torchtitan, NeMo Automodel).
pub(crate) fn trains_without_mtp(run: &Run) -> bool {
    let text = format!("{} {} {}", run.notes, run.locator, run.overlap).to_lowercase();
    let source = run.source.to_lowercase();
    let has_none = ["torchtitan", "automodel"].iter().any(|word| source.contains(word));
    has_none || phrase::claim(&text, &["mtp"]) == Some(Claim::Denied)
}

/// Whether the source's FLOPs count recomputation, so that there is some.
pub(crate) fn counts_recomputation(run: &Run) -> bool {
    let text = run.flops_convention.to_lowercase();
    let words = ["recompute counted", "incl. recompute", "with recompute", "recompute included"];
    for_run(run).counted == Counted::Hardware && phrase::affirms(&text, &words)
}

/// Sets what MFU counts and divides by.
pub(crate) fn set(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let run = draft.run;
    let convention = for_run(run);
    let causal = convention.attention == AttentionFlops::Causal;
    draft.set(KnobId::attention_flops, if causal { "causal" } else { "full" })?;
    draft.set(KnobId::count_mtp_flops, convention.mtp)?;
    if let Some(peak) = run.peak_tflops.or_else(|| named_peak(run)) {
        draft.set(KnobId::peak_for_mfu, peak)?;
    }
    let metric = measured(run).map(|(metric, _)| metric);
    if convention.is_open && matches!(metric, Some(Metric::Tflops | Metric::Mfu | Metric::Hfu)) {
        draft.note("FLOPs counted with the whole score matrix");
    }
    Ok(())
}

/// 989 of `BF16 MFU vs 989 TF`: the peak that the convention itself names.
fn named_peak(run: &Run) -> Option<f64> {
    let text = run.flops_convention.to_lowercase();
    let (_, rest) = text.split_once("vs ").or_else(|| text.split_once("against "))?;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.trim_end_matches('.').parse().ok().filter(|peak| (50.0..1e5).contains(peak))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    StepTime,
    TokensPerDevice,
    Tflops,
    Mfu,
    Hfu,
}

/// The first metric that the source prints, and its value.
fn measured(run: &Run) -> Option<(Metric, f64)> {
    let per_device = run
        .tokens_per_second_per_device
        .or_else(|| Some(run.tokens_per_second? / run.num_devices? as f64));
    let order: [(&[&str], Metric, Option<f64>); 5] = [
        (&["step_time_s"], Metric::StepTime, run.step_time),
        (&["tokens_per_s_per_device", "tokens_per_s_total"], Metric::TokensPerDevice, per_device),
        (&["TFLOPs_per_device"], Metric::Tflops, run.tflops_per_device),
        (&["MFU_pct"], Metric::Mfu, run.mfu_percent.map(|percent| percent / 100.0)),
        (&["HFU_pct"], Metric::Hfu, run.hfu_percent.map(|percent| percent / 100.0)),
    ];
    // Without the column every metric counts as printed.
    let prints = |columns: &[&str]| {
        run.measured_fields.is_empty()
            || run.measured_fields.iter().any(|field| columns.contains(&field.as_str()))
    };
    order.into_iter().find_map(|(columns, metric, value)| {
        value.filter(|_| prints(columns)).map(|value| (metric, value))
    })
}

/// Whether the source prints a metric of a training step.
pub(crate) fn has_metric(run: &Run) -> bool {
    measured(run).is_some()
}

/// The metric's id and the published value.
pub(crate) fn published(run: &Run) -> Option<(&'static str, f64)> {
    measured(run).map(|(metric, value)| (id(metric), value))
}

fn id(metric: Metric) -> &'static str {
    match metric {
        Metric::StepTime => "step_time_seconds",
        Metric::TokensPerDevice => "tokens_per_second_per_device",
        Metric::Tflops => "model_tflops_per_device",
        Metric::Mfu => "mfu",
        Metric::Hfu => "hfu",
    }
}

/// The prediction in the row's metric.
pub(crate) fn compare(run: &Run, plan: &Plan, estimate: &Estimate) -> Option<Comparison> {
    let (metric, measured) = measured(run)?;
    let metrics = &estimate.metrics;
    let tokens = metrics.tokens_per_second_per_device;
    let flops = tokens * flops_per_token(run, plan, estimate);
    let peak = if metrics.mfu > 0.0 { metrics.model_tflops_per_device / metrics.mfu } else { 1.0 };
    let predicted = match metric {
        Metric::StepTime => metrics.step_time.get(),
        Metric::TokensPerDevice => tokens,
        Metric::Tflops => flops / 1e12,
        Metric::Mfu => flops / 1e12 / peak,
        Metric::Hfu => hardware_flops(plan, estimate) * tokens / 1e12 / peak,
    };
    let time_error = match metric {
        Metric::StepTime => predicted / measured - 1.0,
        Metric::TokensPerDevice | Metric::Tflops | Metric::Mfu | Metric::Hfu => {
            measured / predicted - 1.0
        }
    };
    let finite = predicted.is_finite() && time_error.is_finite();
    finite.then(|| Comparison { metric: id(metric), measured, predicted, time_error })
}

/// FLOPs of one token as the row counts them.
pub(crate) fn flops_per_token(run: &Run, plan: &Plan, estimate: &Estimate) -> f64 {
    match for_run(run).counted {
        Counted::Model => estimate.metrics.flops_per_token.get(),
        Counted::SixN => {
            let transformer = &plan.design().transformer;
            let heads = transformer.num_attention_heads as f64;
            let width = transformer
                .kv_channels
                .map_or(transformer.hidden_size as f64, |channels| channels as f64 * heads);
            let attention = 12.0
                * transformer.num_layers as f64
                * width
                * plan.design().training.seq_length as f64;
            6.0 * estimate.metrics.params_active as f64 + attention
        }
        Counted::Params => 6.0 * estimate.metrics.params_active as f64,
        Counted::Hardware => hardware_flops(plan, estimate),
    }
}

/// 4/3 of the layers' FLOPs where they are computed again, and the logits' once.
fn hardware_flops(plan: &Plan, estimate: &Estimate) -> f64 {
    let transformer = &plan.design().transformer;
    let logits = 6.0 * transformer.hidden_size as f64 * transformer.vocab_size as f64;
    let counted = estimate.metrics.flops_per_token.get();
    (counted - logits) * 4.0 / 3.0 + logits
}

/// The memory reading in GiB.
///
/// `GB` is 1e9 bytes, but the sources that say GiB, MiB / 1024 or read `nvidia-smi` mean GiB.
pub(crate) fn memory_gib(run: &Run) -> Option<f64> {
    let printed = run.measured_fields.is_empty()
        || run.measured_fields.iter().any(|field| field == "mem_GB_per_device");
    let value = run.memory.filter(|_| printed)?;
    let text = format!("{} {} {}", run.notes, run.other_metric, run.locator).to_lowercase();
    let binary = ["gib", "mib", "mb/1024", "nvidia-smi"].iter().any(|unit| text.contains(unit));
    Some(if binary { value } else { value * 1e9 / (1_u64 << 30) as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convention(text: &str) -> Convention {
        for_run(&Run { flops_convention: text.to_owned(), ..Run::default() })
    }

    #[test]
    fn a_convention_is_read_as_it_is_worded() {
        use AttentionFlops::{Causal, Full};
        for (text, counted, attention, is_open) in [
            ("causal-halved attention, logits incl.", Counted::Model, Causal, false),
            ("FULL attention matrix (no causal halving)", Counted::Model, Full, false),
            ("causal attention not halved", Counted::Model, Full, false),
            ("causal treatment not stated", Counted::Model, Full, true),
            ("model FLOPs; attention convention not printed", Counted::Model, Full, true),
            ("", Counted::Model, Full, true),
            ("MFU printed both non-causal and causal", Counted::Model, Full, false),
            ("6N + 12 L H Q T", Counted::SixN, Full, false),
            ("6ND, no attention", Counted::Params, Full, false),
            // MindSpeed's logs don't say how they count.
            ("MindSpeed log TFLOPs", Counted::Model, Full, true),
            ("log TFLOPS_per_GPU / peak", Counted::Model, Causal, false),
            ("PaLM MFU", Counted::SixN, Full, false),
            ("hardware FLOPs with recompute (HFU; x4/3)", Counted::Hardware, Full, false),
        ] {
            let found = convention(text);
            assert_eq!(found.counted, counted, "{text}");
            assert_eq!(found.attention, attention, "{text}");
            assert_eq!(found.is_open, is_open, "{text}");
        }
    }

    #[test]
    fn mtp_is_counted_unless_the_row_says_otherwise() {
        let mtp = |notes: &str| for_run(&Run { notes: notes.to_owned(), ..Run::default() }).mtp;
        assert!(mtp("") && mtp("MTP trained") && mtp("causal+MTP 0.997, causal no MTP 1.038"));
        assert!(!mtp("w/o MTP") && !mtp("trained without MTP"));
    }

    #[test]
    fn the_peak_may_stand_in_the_convention() {
        let peak =
            |text: &str| named_peak(&Run { flops_convention: text.to_owned(), ..Run::default() });
        assert_eq!(peak("BF16 MFU vs 989 TF; convention not printed"), Some(989.0));
        assert_eq!(peak("MFU vs listed dense peak"), None);
    }
}
