//! Comparison of two designs in a metric, and the reasons why neither may be better: the one rule
//! for everything in green or red.

use model::design::{Design, KnobId};
use model::metric::{Better, MetricId};

use crate::format::number;
use crate::insight::numbers::Numbers;

/// Whether a design is better in a metric than the baseline. `None` if both are equal, if neither
/// direction is better, or if the difference follows from another model, batch, machine or way of
/// counting. Every green or red mark beside a number comes from here.
#[must_use]
pub fn is_better(metric: MetricId, numbers: &Numbers, baseline: &Numbers) -> Option<bool> {
    let [now, then] = [numbers, baseline].map(|it| number(it.estimate.metrics.get(metric)));
    let better = metric.metric().better?;
    let compares = now.total_cmp(&then).is_ne() && hindrance(metric, numbers, baseline).is_none();
    compares.then_some((now > then) == (better == Better::Higher))
}

/// Reason why a metric of two designs doesn't show which is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// They train different models, or on sequences of different length.
    Model,
    /// Their steps have different numbers of tokens.
    Batch,
    /// Their clusters have different sizes.
    Cluster,
    /// Their devices are different ones.
    Device,
    /// Their FLOPs are counted by different conventions.
    Counting,
}

impl Hindrance {
    /// Every one.
    pub const ALL: [Self; 5] =
        [Self::Model, Self::Batch, Self::Cluster, Self::Device, Self::Counting];

    /// Note on the difference, to follow the names of the designs that have it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Model => {
                "different model or sequence length: compare MFU, not tokens/s or memory."
            }
            Self::Batch => "different tokens per step: compare tokens/s, not step time or traffic.",
            Self::Cluster => {
                "different device counts: compare throughput per device, not in total."
            }
            Self::Device => {
                "different devices: time, throughput and MFU reflect the device, not the design."
            }
            Self::Counting => "different FLOP conventions: MFU and model TFLOPS aren't comparable.",
        }
    }

    /// Whether two designs differ in this respect.
    #[must_use]
    pub fn holds(self, one: &Design, other: &Design) -> bool {
        let differs = |knobs: &[KnobId]| knobs.iter().any(|id| one.get(*id) != other.get(*id));
        match self {
            Self::Model => one.transformer != other.transformer || differs(&[KnobId::seq_length]),
            Self::Batch => tokens(one) != tokens(other),
            Self::Cluster => differs(&[KnobId::num_devices]),
            Self::Device => differs(&[KnobId::accelerator, KnobId::peak_bf16_tflops]),
            Self::Counting => {
                differs(&[KnobId::attention_flops, KnobId::count_mtp_flops, KnobId::peak_for_mfu])
            }
        }
    }

    /// The metrics from whose difference it takes the meaning.
    const fn hindered(self) -> &'static [MetricId] {
        match self {
            Self::Model => &[
                MetricId::tokens_per_second,
                MetricId::tokens_per_second_per_device,
                MetricId::memory_peak_bytes,
                MetricId::step_time_seconds,
                MetricId::comm_volume_bytes,
                MetricId::comm_exposed_seconds,
            ],
            Self::Batch => &[
                MetricId::step_time_seconds,
                MetricId::comm_volume_bytes,
                MetricId::comm_exposed_seconds,
            ],
            Self::Cluster => &[
                MetricId::tokens_per_second,
                MetricId::step_time_seconds,
                MetricId::comm_volume_bytes,
                MetricId::comm_exposed_seconds,
            ],
            Self::Device => &[
                MetricId::mfu,
                MetricId::model_tflops_per_device,
                MetricId::tokens_per_second,
                MetricId::tokens_per_second_per_device,
                MetricId::step_time_seconds,
                MetricId::comm_volume_bytes,
                MetricId::comm_exposed_seconds,
                // What is left of the wait for others depends on how fast the device computes.
                MetricId::bubble_ratio,
                MetricId::overlap_ratio,
            ],
            Self::Counting => &[MetricId::mfu, MetricId::model_tflops_per_device],
        }
    }
}

/// Tokens of a step.
fn tokens(design: &Design) -> u128 {
    u128::from(design.training.global_batch_size) * u128::from(design.training.seq_length)
}

/// The first reason for which a metric doesn't say which of two is better.
fn hindrance(metric: MetricId, numbers: &Numbers, baseline: &Numbers) -> Option<Hindrance> {
    let [one, other] = [numbers, baseline].map(|it| it.plan.design());
    Hindrance::ALL.into_iter().find(|it| it.hindered().contains(&metric) && it.holds(one, other))
}
