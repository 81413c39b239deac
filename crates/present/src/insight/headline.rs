//! The headline numbers of a design: the cards with their lines and bars, and all of it in a line.

use model::design::Design;
use model::ground::choice::{AttentionFlops, Choice, Timing};
use model::ground::units::Bytes;
use model::metric::MetricId;
use model::metric::published::of_preset;
use model::training::memory_headroom::likely_peaks;

use super::bottleneck::largest_loss;
use super::numbers::Numbers;
use crate::format::{self, Quantity};
use crate::words::name;
use crate::words::range::half;

/// A headline card.
pub struct Card {
    /// The metric.
    pub metric: MetricId,
    /// Its title.
    pub title: &'static str,
    /// The line below the number.
    pub line: fn(&Numbers) -> String,
    /// A metric that the line speaks of, where it is another one.
    pub line_metric: Option<MetricId>,
}

/// The six headline cards.
pub static CARDS: [Card; 6] = [
    Card {
        metric: MetricId::mfu,
        title: "MFU",
        line: |numbers| {
            let hfu = format::percent(numbers.estimate.metrics.hfu, 1);
            // Executed FLOPs: why they are fewer than the model's, or more.
            match numbers.plan.design().training.attention_flops {
                AttentionFlops::Full => format!("HFU {hfu}: causal attention, as executed"),
                AttentionFlops::Causal => format!("HFU {hfu}: with what is recomputed"),
            }
        },
        line_metric: Some(MetricId::hfu),
    },
    Card {
        metric: MetricId::tokens_per_second_per_device,
        title: "Throughput per device",
        line: |numbers| {
            let rate = numbers.estimate.metrics.tokens_per_second;
            format!("{} in total", format::token_rate(rate))
        },
        line_metric: Some(MetricId::tokens_per_second),
    },
    Card {
        metric: MetricId::step_time_seconds,
        title: "Step time",
        line: |numbers| {
            let training = &numbers.plan.design().training;
            let tokens = training.global_batch_size as f64 * training.seq_length as f64;
            format!("{} tokens per step", format::count(tokens))
        },
        line_metric: None,
    },
    Card {
        metric: MetricId::memory_peak_bytes,
        title: "Peak memory per device",
        line: |numbers| {
            let limit = format::memory(numbers.estimate.metrics.memory_limit);
            format!("of {limit} usable")
        },
        line_metric: None,
    },
    Card {
        metric: MetricId::bubble_ratio,
        title: "Pipeline bubble",
        line: |numbers| {
            let ratio = numbers.estimate.metrics.bubble_ratio_closed_form;
            let timing = match numbers.estimate.timing {
                Timing::Simulated => "simulated",
                Timing::ClosedForm => "not simulated",
            };
            format!("of the pipeline's time, {timing}; formula {}", format::percent(ratio, 2))
        },
        line_metric: Some(MetricId::bubble_ratio_closed_form),
    },
    Card {
        metric: MetricId::comm_exposed_seconds,
        title: "Exposed communication",
        line: |numbers| {
            let metrics = &numbers.estimate.metrics;
            let share = format::percent(metrics.comm_exposed / metrics.step_time, 1);
            format!("{share} of the step, {} hidden", format::percent(metrics.overlap_ratio, 1))
        },
        line_metric: Some(MetricId::overlap_ratio),
    },
];

/// Text of a headline card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The metric.
    pub metric: MetricId,
    /// Its title on the card.
    pub title: &'static str,
    /// The number.
    pub shown: Quantity,
    /// The line below it.
    pub line: String,
}

/// Texts of the cards, for those who show the same numbers elsewhere.
#[must_use]
pub fn headlines(numbers: &Numbers) -> Vec<Headline> {
    let headline = |card: &Card| Headline {
        metric: card.metric,
        title: card.title,
        shown: quantity(numbers, card.metric),
        line: (card.line)(numbers),
    };
    CARDS.iter().map(headline).collect()
}

/// A metric as a card shows it.
#[must_use]
pub fn quantity(numbers: &Numbers, metric: MetricId) -> Quantity {
    format::metric(metric, numbers.estimate.metrics.get(metric))
}

/// Where MFU lies with 50 and with 90 %, and what was measured, in per mille of the bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeBar {
    /// From where to where it lies with 90 %.
    pub most: [f64; 2],
    /// From where to where it lies with even odds.
    pub half: [f64; 2],
    /// The measured run.
    pub measured: Option<f64>,
}

impl RangeBar {
    /// The bar of a design; none where no range is known.
    #[must_use]
    pub fn new(numbers: &Numbers) -> Option<Self> {
        let range = model::range(&numbers.plan, MetricId::mfu)?;
        let mfu = numbers.estimate.metrics.mfu;
        // The bar ends a little behind the range, and never behind the peak.
        let end = (mfu * range.most[1] * 1.1).min(1.0);
        let at = |mfu: f64| (mfu / end * 1_000.0).clamp(0.0, 1_000.0).round();
        let design = numbers.plan.design();
        let is_published = design.changed().is_empty();
        let published = of_preset(design.preset.id).filter(|_| is_published);
        let mut measured = published.filter(|row| row.metric == MetricId::mfu);
        Some(Self {
            most: range.most.map(|factor| at(mfu * factor)),
            half: range.half.map(|factor| at(mfu * factor)),
            measured: measured.next().map(|row| at(row.figure.value)),
        })
    }
}

/// Per mille of the limit that the bar shows beyond it.
pub const MAX_EXCESS_PER_MILLE: f64 = 250.0;

/// The bar of memory, in per mille of the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meter {
    /// The predicted peak.
    pub peak: f64,
    /// Where the true peak lies with eight chances in ten.
    pub likely: [f64; 2],
}

impl Meter {
    /// The bar of a design.
    #[must_use]
    pub fn of(numbers: &Numbers) -> Self {
        let metrics = &numbers.estimate.metrics;
        // Whole per mille, so that a step that can't be seen draws nothing.
        let share = |bytes: Bytes| {
            (bytes / metrics.memory_limit * 1_000.0)
                .clamp(0.0, 1_000.0 + MAX_EXCESS_PER_MILLE)
                .round()
        };
        Self {
            peak: share(metrics.memory_peak),
            likely: likely_peaks(&numbers.plan, &numbers.estimate).map(share),
        }
    }
}

/// Outcome of the design: `11 to 48 % MFU, 97 % of memory. Largest loss: ...`.
#[must_use]
pub fn outcome(numbers: &Numbers) -> String {
    let metrics = &numbers.estimate.metrics;
    let mfu = half(&numbers.plan, MetricId::mfu, metrics)
        .unwrap_or_else(|| format::percent(metrics.mfu, 1).to_string());
    let memory = format::percent(metrics.memory_peak / metrics.memory_limit, 0);
    let mut text = format!("{mfu} MFU with even odds, {memory} of memory.");
    if let Some((name, share)) = largest_loss(&numbers.estimate) {
        text.push_str(&format!(" Largest loss: {name}, {share} of the step."));
    }
    text
}

/// Size, layout and batch, a few words each: one text, so that none moves where another one grows.
#[must_use]
pub fn in_short(numbers: &Numbers) -> String {
    let (design, metrics) = (numbers.plan.design(), &numbers.estimate.metrics);
    let total = format::count(metrics.params_total as f64);
    let active = format::count(metrics.params_active as f64);
    let mut words = vec![if metrics.params_total == metrics.params_active {
        format!("{total} parameters")
    } else {
        format!("{total} parameters, {active} active")
    }];
    words.extend(degrees(design));
    let training = &design.training;
    words.push(format!("MBS {}", training.micro_batch_size));
    let tokens = training.global_batch_size as f64 * training.seq_length as f64;
    words.push(format!("{} tokens a step", format::count(tokens)));
    let precision = training.precision.name();
    words.push(name::value(precision).unwrap_or_else(|| precision.to_owned()));
    words.extend(design.kernel.profile.as_ref().map(|name| format!("profile {name}")));
    words.join(" · ")
}

/// The degrees of parallelism that aren't 1.
fn degrees(design: &Design) -> impl Iterator<Item = String> {
    let parallel = &design.parallel;
    let virtual_stages = parallel.virtual_pipeline_model_parallel_size;
    let stages = parallel.pipeline_model_parallel_size;
    let pipeline = match virtual_stages {
        1 => stages.to_string(),
        chunks => format!("{stages} × {chunks}"),
    };
    let is_cut = [
        ("TP", parallel.tensor_model_parallel_size),
        ("PP", stages),
        ("CP", parallel.context_parallel_size),
        ("EP", parallel.expert_model_parallel_size),
        ("ETP", parallel.expert_tensor_parallel_size),
    ];
    is_cut.into_iter().filter(|(_, degree)| *degree > 1).map(move |(axis, degree)| {
        if axis == "PP" { format!("PP {pipeline}") } else { format!("{axis} {degree}") }
    })
}

#[cfg(test)]
mod tests {
    use model::MemoryState;
    use model::training::estimate::Metrics;

    use super::*;

    fn meter(gib: f64) -> (Meter, Metrics) {
        let mut design = Design::from_preset("pangu-ultra-moe-6k").unwrap();
        design.cluster.hbm_usable_gib = Some(gib);
        let numbers = Numbers::of(&design).unwrap();
        (Meter::of(&numbers), numbers.estimate.metrics)
    }

    fn is_over(metrics: &Metrics) -> bool {
        metrics.memory_peak > metrics.memory_limit
    }

    #[test]
    fn the_bar_is_full_at_the_limit_and_shows_what_is_beyond() {
        let peak = meter(60.0).0.peak * 0.06;
        let (full, _) = meter(peak);
        assert!((full.peak - 1_000.0).abs() <= 1.0, "{full:?}");
        let (half, metrics) = meter(peak * 2.0);
        assert!((half.peak - 500.0).abs() <= 1.0 && !is_over(&metrics), "{half:?}");
        let (over, metrics) = meter(peak / 1.1);
        assert!((over.peak - 1_100.0).abs() <= 1.0 && is_over(&metrics), "{over:?}");
        assert_eq!(meter(peak / 3.0).0.peak.to_bits(), 1_250.0_f64.to_bits());
    }

    /// The shadow lies before the limit, across it or behind it, as the state says.
    #[test]
    fn the_shadow_crosses_the_limit_where_it_is_tight() {
        for gib in 30..120 {
            let (Meter { likely: [low, high], .. }, metrics) = meter(f64::from(gib));
            match metrics.memory_state() {
                MemoryState::Fits => assert!(high <= 1_000.0, "{gib}: {high}"),
                MemoryState::Tight | MemoryState::Unlikely => {
                    assert!(low <= 1_000.0 && high >= 1_000.0, "{gib}");
                }
                MemoryState::DoesNotFit => assert!(low >= 1_000.0, "{gib}: {low}"),
            }
        }
    }
}
