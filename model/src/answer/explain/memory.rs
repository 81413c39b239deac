//! Memory as a tree.

use alloc::vec::Vec;
use alloc::{format, vec};

use super::{Breakdown, How};
use crate::catalogue::accelerator::Accelerator;
use crate::ground::choice::Timing;
use crate::ground::source::{DERIVED, KORTHIKANTI_2022, ZERO};
use crate::ground::units::Bytes;
use crate::metric::Unit;
use crate::training::estimate::{Estimate, StageEstimate, StageMemory};
use crate::training::plan::Plan;

/// Peak memory of a stage and its parts.
pub(super) fn stage(stage: &StageEstimate) -> Breakdown {
    Breakdown::sum(&format!("stage {}", stage.stage), Unit::MemoryBytes, terms(stage))
        .by("sum at its fullest moment", KORTHIKANTI_2022)
}

fn terms(stage: &StageEstimate) -> Vec<Breakdown> {
    let formulas = [
        ("bytes of an element x parameters of a device", ZERO),
        ("bytes of an accumulated gradient x parameters", ZERO),
        ("main copy and moments, over the ranks that share them", ZERO),
        ("saved tensors of a micro-batch x micro-batches in flight", KORTHIKANTI_2022),
        (
            "fullest moment of a layer or the head: tensors made again, copies, logits, workspaces",
            DERIVED,
        ),
        ("runtime, communication library, fragmentation", DERIVED),
    ];
    let params = stage.params as f64;
    let parts = stage.memory.parts().into_iter().zip(StageMemory::LABELS).zip(formulas);
    parts
        .map(|((bytes, label), (formula, source))| {
            let bytes = bytes.get();
            let per = match label {
                "activations" => {
                    Some(("of one micro-batch", "micro-batches in flight", stage.peak_in_flight))
                }
                "weights" | "gradients" | "optimizer" => {
                    Some(("bytes per parameter", "parameters of a device", params))
                }
                _ => None,
            };
            let Some((one, many, number)) = per.filter(|(.., number)| *number > 0.0) else {
                return Breakdown::given(label, bytes, Unit::MemoryBytes).by(formula, source);
            };
            let unit = if label == "activations" { Unit::MemoryBytes } else { Unit::Count };
            let terms = vec![
                Breakdown::given(one, bytes / number, unit),
                Breakdown::given(many, number, Unit::Count),
            ];
            Breakdown::product(label, Unit::MemoryBytes, terms).by(formula, source)
        })
        .collect()
}

/// The memory that may be used.
pub(super) fn limit_terms(limit: Bytes, accelerator: &Accelerator) -> Vec<Breakdown> {
    vec![
        Breakdown::given("usable memory", limit.to_gib(), Unit::Gib)
            .by(accelerator.title, accelerator.source),
        Breakdown::given("bytes of a GiB", Bytes::gib(1.0).get(), Unit::Count),
    ]
}

/// Peaks beside their limits, of the device and of its host.
pub(super) fn fit_terms(host_limit: Bytes, estimate: &Estimate) -> Vec<Breakdown> {
    let host = estimate.stages.iter().map(|stage| stage.host_memory.get()).fold(0.0, f64::max);
    let below = |name: &str, peak: f64, limit: f64| {
        let terms = vec![
            Breakdown::given("peak memory", peak, Unit::MemoryBytes),
            Breakdown::given("memory limit", limit, Unit::MemoryBytes),
        ];
        Breakdown::made(name, Unit::Count, How::AtMost, terms)
            .by("1 if the peak is within the limit", DERIVED)
    };
    let metrics = &estimate.metrics;
    vec![
        below("on the device", metrics.memory_peak.get(), metrics.memory_limit.get()),
        below("on the host", host, host_limit.get()),
    ]
}

/// Terms of the probability of fitting: the ratio of the limit to the peak, in the memory that is
/// fuller for its size, and the possible shortfall of the schedule's formula.
pub(super) fn probability_terms(plan: &Plan, estimate: &Estimate) -> Vec<Breakdown> {
    let metrics = &estimate.metrics;
    let host = estimate.stages.iter().map(|stage| stage.host_memory).fold(Bytes::ZERO, Bytes::max);
    let on_device = [metrics.memory_limit, metrics.memory_peak];
    let on_host = [plan.deployment.machine.host_memory, host];
    let is_host = on_host[0] / on_host[1] < on_device[0] / on_device[1];
    let (names, sizes) = if is_host {
        (["host memory per device", "swapped bytes"], on_host)
    } else {
        (["memory limit", "peak memory"], on_device)
    };
    let [limit, peak] =
        [0, 1].map(|index| Breakdown::given(names[index], sizes[index].get(), Unit::MemoryBytes));
    let room = Breakdown::made("limit over peak", Unit::Count, How::Quotient, vec![limit, peak])
        .by("limit / peak, of the memory that is fuller for its size", DERIVED);
    let mut terms = vec![room];
    if estimate.timing == Timing::ClosedForm && plan.schedule.closed_form_shortfall() > 0.0 {
        let most = libm::exp(plan.schedule.closed_form_shortfall());
        terms.push(
            Breakdown::given("simulated peak over this one, at most", most, Unit::Count)
                .by("the most that it was for the presets under this schedule", DERIVED),
        );
    }
    terms
}
