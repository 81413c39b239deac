//! What makes a step faster outside of the strategy: newer software, kernels that are off, a
//! narrower number format. A search of layouts leaves all of them as they are.

use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Precision, Software};
use model::ground::knob::Value;
use model::ground::sorting::sort_short;
use model::search::find::STRATEGY;
use model::training::estimate::{Estimate, StepPart};
use model::{Plan, estimate};

use crate::insight::numbers::Numbers;

/// A gain in throughput below this share isn't worth a change.
const MIN_GAIN: f64 = 0.002;

/// A part of the step has to become smaller by this share to count as moved.
const MIN_MOVED: f64 = 0.02;

/// Kernels that are better on: each is one where its framework has it.
const FUSED: [KnobId; 7] = [
    KnobId::flash_attention,
    KnobId::mla_fa_without_pad,
    KnobId::fused_rms_norm,
    KnobId::moe_grouped_gemm,
    KnobId::gmm_add,
    KnobId::moe_permute_fusion,
    KnobId::cross_entropy_loss_fusion,
];

/// A change outside of the strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// The changed knob.
    pub knob: KnobId,
    /// Its new value.
    pub value: Value,
    /// The design with it.
    pub design: Design,
    /// Its numbers.
    pub estimate: Estimate,
    /// Speed-up, as a share of the tokens per second.
    pub gain: f64,
}

impl Outside {
    /// Whether the change makes this part of a step smaller.
    #[must_use]
    pub fn moves(&self, part: StepPart, now: &Estimate) -> bool {
        let [left, before] = [&self.estimate, now].map(|it| it.step.part(part).get());
        left < before * (1.0 - MIN_MOVED)
    }

    /// Whether MFU is counted against the same peak as before, so that its points measure the gain.
    #[must_use]
    pub fn keeps_peak(&self) -> bool {
        self.knob != KnobId::precision
    }
}

/// The changes outside of the strategy that make a design faster and keep it within its memory, the
/// fastest first. Each is estimated, alone; of several number formats of one width the fastest
/// counts, and so does the fastest of several states of the software.
#[must_use]
pub fn outside(numbers: &Numbers) -> Vec<Outside> {
    let design = numbers.plan.design();
    let kernels = fused(design).into_iter().filter_map(|change| tried(numbers, change)).collect();
    let [software, narrow, narrower] =
        [software(design), formats(design, 1.0), formats(design, 0.5)].map(|changes| {
            let all = changes.into_iter().filter_map(|change| tried(numbers, change));
            all.reduce(|one, other| if other.gain > one.gain { other } else { one })
        });
    let mut found: Vec<Outside> = kernels;
    found.extend([software, narrow, narrower].into_iter().flatten());
    sort_short(&mut found, |one, other| other.gain.total_cmp(&one.gain));
    found
}

/// A change with its gain; `None` if it breaks a rule, doesn't fit or gains too little.
fn tried(numbers: &Numbers, (knob, value): (KnobId, Value)) -> Option<Outside> {
    let mut design = numbers.plan.design().clone();
    design.set(knob, &value).ok()?;
    let plan: Plan = numbers.plan.variant(&design).ok()?;
    let estimate = estimate(&plan);
    let now = &numbers.estimate.metrics;
    let gain = estimate.metrics.tokens_per_second / now.tokens_per_second - 1.0;
    let fits = estimate.metrics.fits || !now.fits;
    (fits && gain > MIN_GAIN).then_some(Outside { knob, value, design, estimate, gain })
}

/// Kernels that are off, each turned on; graphs, and launches that don't wait.
fn fused(design: &Design) -> Vec<(KnobId, Value)> {
    let is_off = |knob: &KnobId| design.get(*knob) == Value::Flag(false);
    let kernels = FUSED.into_iter().filter(|knob| !STRATEGY.has(*knob));
    let mut changes: Vec<_> =
        kernels.filter(is_off).map(|knob| (knob, Value::Flag(true))).collect();
    if design.kernel.launch_blocking {
        changes.push((KnobId::launch_blocking, Value::Flag(false)));
    }
    let graphs = model::ground::choice::CudaGraph::TransformerEngine;
    if design.kernel.cuda_graph_impl == model::ground::choice::CudaGraph::None {
        changes.push((KnobId::cuda_graph_impl, Value::Text(graphs.name().into())));
    }
    changes
}

/// States of the software that came after the design's own.
fn software(design: &Design) -> Vec<(KnobId, Value)> {
    let kernels = &design.cluster.accelerator.row().kernels;
    let now = design.kernel.software.index();
    let later = Software::ALL.iter().filter(|state| state.index() > now && state.is_of(kernels));
    later.map(|state| (KnobId::software, Value::Text(state.name().into()))).collect()
}

/// Number formats with operands of at most `bytes` bytes and more than half of it, if the design
/// computes in wider ones.
fn formats(design: &Design, bytes: f64) -> Vec<(KnobId, Value)> {
    let row = design.cluster.accelerator.row();
    let now = design.training.precision.operand_bytes();
    // FP4 has a scale for every 16 elements beside its half byte.
    let has_width = |it: f64| it <= bytes * 1.2 && it > bytes * 0.6;
    let narrower = Precision::ALL.iter().filter(|it| {
        let width = it.operand_bytes();
        // Block scales came to the matrix units with FP4.
        let has_scales = **it != Precision::Mxfp8 || row.fp4_tflops.is_some();
        width < now && has_width(width) && has_scales && row.peak_tflops(**it).is_some()
    });
    narrower.map(|it| (KnobId::precision, Value::Text(it.name().into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Vec<Outside> {
        outside(&Numbers::of_link(query))
    }

    fn names(found: &[Outside]) -> Vec<KnobId> {
        found.iter().map(|it| it.knob).collect()
    }

    #[test]
    fn newer_software_moves_the_kernels_of_ascend() {
        let numbers = Numbers::of_link("v=1&preset=pangu-ultra-moe-6k@2");
        let found = outside(&numbers);
        assert!(found.is_sorted_by(|one, other| one.gain >= other.gain));
        let newer = found.iter().find(|it| it.knob == KnobId::software).expect("newer software");
        assert!(newer.moves(StepPart::Kernels, &numbers.estimate) && newer.keeps_peak());
        assert!(newer.estimate.metrics.mfu > numbers.estimate.metrics.mfu + 0.02);
        let last = of("v=1&preset=pangu-ultra-moe-6k@2&kernel.software=ascend-2026");
        assert!(!names(&last).contains(&KnobId::software), "{:?}", names(&last));
        assert!(!names(&last).contains(&KnobId::precision), "no narrow format on this part");
    }

    #[test]
    fn kernels_that_are_off_are_offered_and_those_that_are_on_are_not() {
        let query = "v=1&preset=deepseek-v3-2k-h800";
        let plain = names(&of(query));
        let off = names(&of(&format!("{query}&kernel.moe_permute_fusion=false")));
        assert!(!plain.contains(&KnobId::moe_permute_fusion), "{plain:?}");
        assert!(off.contains(&KnobId::moe_permute_fusion), "{off:?}");
        assert!(!plain.contains(&KnobId::software), "only Ascend's software has dates");
    }

    #[test]
    fn a_narrower_format_is_one_of_the_accelerator_and_of_each_width_the_fastest() {
        let knobs = "&training.precision=bf16&training.peak_for_mfu=989";
        let found = of(&format!("v=1&preset=deepseek-v3-2k-h800{knobs}"));
        let formats: Vec<&Outside> =
            found.iter().filter(|it| it.knob == KnobId::precision).collect();
        let [fp8] = formats.as_slice() else { panic!("{formats:?}") };
        assert!(fp8.design.training.precision != Precision::Mxfp8 && !fp8.keeps_peak());
    }
}
