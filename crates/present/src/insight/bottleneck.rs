//! What bounds a design, in plain words: the largest losses of a step and the fullest stage.

use model::Plan;
use model::ground::sorting::sort_short;
use model::ground::units::{Bytes, Seconds};
use model::training::estimate::{Estimate, StageEstimate, StageMemory, StepPart};

use crate::format;
use crate::insight::memory_view::moment;
use crate::insight::utilisation::Utilisation;

/// Losses below this share of the step aren't worth a word.
const MIN_SHARE: f64 = 0.005;

/// Bottlenecks of a design, in sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// Largest losses of the step.
    pub time: String,
    /// Largest contents of the memory; empty if the design doesn't fit, as other text covers that.
    pub memory: String,
}

/// Describes the bottlenecks of a design.
#[must_use]
pub fn bottleneck(plan: &Plan, estimate: &Estimate) -> Bottleneck {
    let losses = largest_losses(estimate);
    let fullest = fullest_stage(estimate).filter(|_| estimate.metrics.fits);
    let memory = fullest.map(memory_sentence).unwrap_or_default();
    let other = Utilisation::of(plan, &estimate.metrics);
    let peak = other.other.map(|_| other.computed.peak);
    Bottleneck { time: time_sentence(estimate, &losses, peak), memory }
}

/// The largest loss of a step in words, and its share; none of a step that is all ideal.
#[must_use]
pub fn largest_loss(estimate: &Estimate) -> Option<(&'static str, String)> {
    let (part, time) = largest_losses(estimate).into_iter().next()?;
    Some((name(part), format::percent(time / estimate.metrics.step_time, 0).to_string()))
}

/// The stage whose memory is fullest.
#[must_use]
pub fn fullest_stage(estimate: &Estimate) -> Option<&StageEstimate> {
    estimate.stages.iter().max_by(|a, b| fuller(a, b))
}

/// Order by memory; of two equal stages the earlier one counts as the fuller.
fn fuller(left: &StageEstimate, right: &StageEstimate) -> std::cmp::Ordering {
    let (a, b) = (left.memory.peak().get(), right.memory.peak().get());
    a.total_cmp(&b).then(right.stage.cmp(&left.stage))
}

fn largest_losses(estimate: &Estimate) -> Vec<(StepPart, Seconds)> {
    let least = estimate.metrics.step_time * MIN_SHARE;
    let losses = estimate
        .step
        .parts()
        .filter(|(part, time)| *part != StepPart::Ideal && time.get() > least.get());
    let mut losses: Vec<_> = losses.collect();
    sort_short(&mut losses, |(_, a), (_, b)| b.get().total_cmp(&a.get()));
    losses.truncate(3);
    losses
}

/// Sentence on the largest losses of the step, and on the peak of the ideal if there are two.
fn time_sentence(
    estimate: &Estimate,
    losses: &[(StepPart, Seconds)],
    peak: Option<&str>,
) -> String {
    let total = estimate.metrics.step_time;
    let share = |time: Seconds| format::percent(time / total, 0);
    let ideal = estimate.step.part(StepPart::Ideal);
    let mut sentence = format!(
        "Of the {} step, {} ({}{}) is ideal compute",
        format::duration(total),
        format::duration(ideal),
        share(ideal),
        peak.map_or_else(String::new, |peak| format!(", at the {peak} peak")),
    );
    let words: Vec<String> = losses
        .iter()
        .map(|(part, time)| {
            format!("{} {} ({})", name(*part), format::duration(*time), share(*time))
        })
        .collect();
    if !words.is_empty() {
        sentence.push_str("; the largest losses are ");
        sentence.push_str(&format::list(&words));
    }
    sentence.push('.');
    sentence
}

fn memory_sentence(stage: &StageEstimate) -> String {
    let parts = stage.memory.parts();
    let largest =
        parts.iter().zip(StageMemory::LABELS).fold((Bytes::ZERO, ""), |best, (bytes, label)| {
            if bytes.get() > best.0.get() { (*bytes, label) } else { best }
        });
    let moment = stage.fullest.map_or_else(String::new, |task| format!(", {}", moment(task)));
    format!(
        "Stage {} is the fullest{moment}: {} of its {} are {}.",
        stage.stage,
        format::memory(largest.0),
        format::memory(stage.memory.peak()),
        largest.1,
    )
}

const fn name(part: StepPart) -> &'static str {
    match part {
        StepPart::Ideal => "ideal compute",
        StepPart::Kernels => "matmul and attention efficiency",
        StepPart::Vector => "element-wise work",
        StepPart::Recompute => "recomputation",
        StepPart::Host => "waiting for the host",
        StepPart::TensorParallel => "exposed tensor-parallel communication",
        StepPart::ContextParallel => "exposed context-parallel communication",
        StepPart::ExpertParallel => "exposed expert-parallel communication",
        StepPart::PipelineParallel => "exposed sends between stages",
        StepPart::Swap => "exposed swapping",
        StepPart::Contention => "kernels slowed by collectives beside them",
        StepPart::Bubble => "the pipeline bubble",
        StepPart::DataParallel => "exposed data-parallel communication",
        StepPart::Optimizer => "the optimizer",
        StepPart::Stragglers => "stragglers",
        StepPart::Imbalance => "waiting for the fullest experts",
        StepPart::Migration => "moving experts",
    }
}

#[cfg(test)]
mod tests {
    use model::catalogue::preset::Preset;
    use model::design::Design;
    use model::estimate;

    use super::*;

    fn of(preset: &str) -> (Plan, Estimate) {
        let design = Design::from_preset(preset).expect("a preset");
        let plan = Plan::new(&design).expect("a legal design");
        let estimate = estimate(&plan);
        (plan, estimate)
    }

    #[test]
    fn the_ideal_names_its_peak_where_mfu_counts_against_another() {
        let said = |preset| {
            let (plan, estimate) = of(preset);
            bottleneck(&plan, &estimate).time
        };
        let fp8 = said("deepseek-v3-2k-h800");
        assert!(fp8.contains(" %, at the FP8 peak) is ideal compute"), "{fp8}");
        assert!(!said(Preset::DEFAULT_ID).contains("peak"));
    }

    #[test]
    fn the_sentence_names_the_largest_loss_first() {
        let (plan, estimate) = of(Preset::DEFAULT_ID);
        let losses = largest_losses(&estimate);
        assert!(losses.is_sorted_by(|(_, a), (_, b)| a.get() >= b.get()));
        let said = bottleneck(&plan, &estimate);
        let (largest, _) = losses.first().expect("some loss");
        assert!(said.time.contains(name(*largest)), "{}", said.time);
    }

    #[test]
    fn the_fullest_stage_holds_the_peak() {
        let (plan, estimate) = of(Preset::DEFAULT_ID);
        let stage = fullest_stage(&estimate).expect("a stage");
        assert_eq!(stage.memory.peak(), estimate.metrics.memory_peak);
        let said = bottleneck(&plan, &estimate);
        assert!(
            said.memory.contains(&format!("Stage {} is the fullest", stage.stage)),
            "{}",
            said.memory
        );
    }
}
