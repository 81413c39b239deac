//! What the model says of a plan: flat, and always finite.

use alloc::string::String;
use alloc::vec::Vec;

use crate::catalogue::memory_state::MemoryState;
use crate::ground::axis::{Axis, Collective, LinkLevel, Phase};
use crate::ground::choice::Timing;
use crate::ground::units::{Bytes, Flops, Seconds};
use crate::metric::{MetricAddress, MetricId, MetricPart, MetricValue, TrainingMetrics};
use crate::schedule::Task;

/// The prediction for one training configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The headline numbers.
    pub metrics: Metrics,
    /// Where the pipeline's times come from: the closed form also where a simulation was requested
    /// for and would have too many tasks.
    pub timing: Timing,
    /// Where the step's time goes; sums to the step time.
    pub step: StepTime,
    /// One entry per pipeline stage, in order.
    pub stages: Vec<StageEstimate>,
    /// One entry per axis, link and collective that carries traffic.
    pub communication: Vec<Communication>,
    /// Hidden share of the layers' communication, per phase of the pipeline and axis; empty when a
    /// formula gave the times.
    pub overlap: Vec<PhaseOverlap>,
    /// Warnings for the reader of this estimate.
    pub warnings: Vec<String>,
}

impl Estimate {
    /// The value at an address: `None` where the design has no such stage or traffic.
    #[must_use]
    pub fn get(&self, address: MetricAddress) -> Option<MetricValue> {
        let number = match address.part {
            MetricPart::Whole => return self.metrics.get(address.metric),
            MetricPart::Stage(stage) => {
                let stage = self.stages.iter().find(|row| row.stage == stage)?;
                stage.memory.peak().get()
            }
            MetricPart::Axis(axis, link) => {
                let is_asked = |row: &&Communication| {
                    row.axis == axis && link.is_none_or(|link| row.link == link)
                };
                traffic(address.metric, self.communication.iter().filter(is_asked))?
            }
        };
        Some(MetricValue::Number(number))
    }
}

/// A metric of some rows of traffic; `None` where there is none.
fn traffic<'a>(metric: MetricId, rows: impl Iterator<Item = &'a Communication>) -> Option<f64> {
    let (mut bytes, mut time, mut exposed) = (0.0, Seconds::ZERO, Seconds::ZERO);
    let mut is_empty = true;
    for row in rows {
        is_empty = false;
        bytes += row.bytes.get();
        time += row.time;
        exposed += row.exposed;
    }
    let hidden = if time > Seconds::ZERO { (1.0 - exposed / time).max(0.0) } else { 1.0 };
    let value = if metric == MetricId::comm_volume_bytes {
        bytes
    } else if metric == MetricId::comm_exposed_seconds {
        exposed.get()
    } else {
        hidden
    };
    (!is_empty).then_some(value)
}

/// The headline numbers; see [`MetricId`] for their definitions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the metric registry defines them")]
pub struct Metrics {
    pub mfu: f64,
    pub hfu: f64,
    pub tokens_per_second: f64,
    pub tokens_per_second_per_device: f64,
    pub step_time: Seconds,
    pub model_tflops_per_device: f64,
    pub params_total: u128,
    pub params_active: u128,
    pub params_total_no_input_embedding: u128,
    pub params_active_no_input_embedding: u128,
    pub flops_per_token: Flops,
    pub memory_peak: Bytes,
    pub memory_limit: Bytes,
    pub fits: bool,
    pub fit_probability: f64,
    pub bubble_ratio: f64,
    pub bubble_ratio_closed_form: f64,
    pub comm_volume: Bytes,
    pub comm_exposed: Seconds,
    pub overlap_ratio: f64,
    pub imbalance_ratio: f64,
    pub token_drop_ratio: f64,
}

impl Metrics {
    /// Whether the design fits its memory, as far as the error of the prediction lets one say.
    #[must_use]
    pub fn memory_state(&self) -> MemoryState {
        MemoryState::of(self.fit_probability)
    }

    /// The value of a metric in its registered unit; none of a metric that isn't of training.
    #[must_use]
    pub fn get(&self, id: MetricId) -> Option<MetricValue> {
        VALUES.get(id).map(|value| value(self))
    }

    /// Value as a number.
    #[must_use]
    pub fn number(&self, id: MetricId) -> Option<f64> {
        self.get(id).map(MetricValue::number)
    }
}

/// Reader of each metric.
const VALUES: TrainingMetrics<fn(&Metrics) -> MetricValue> = TrainingMetrics {
    mfu: |of| MetricValue::Number(of.mfu),
    hfu: |of| MetricValue::Number(of.hfu),
    tokens_per_second: |of| MetricValue::Number(of.tokens_per_second),
    tokens_per_second_per_device: |of| MetricValue::Number(of.tokens_per_second_per_device),
    step_time_seconds: |of| MetricValue::Number(of.step_time.get()),
    model_tflops_per_device: |of| MetricValue::Number(of.model_tflops_per_device),
    params_total: |of| MetricValue::Number(of.params_total as f64),
    params_active: |of| MetricValue::Number(of.params_active as f64),
    params_total_no_input_embedding: |of| {
        MetricValue::Number(of.params_total_no_input_embedding as f64)
    },
    params_active_no_input_embedding: |of| {
        MetricValue::Number(of.params_active_no_input_embedding as f64)
    },
    flops_per_token: |of| MetricValue::Number(of.flops_per_token.get()),
    memory_peak_bytes: |of| MetricValue::Number(of.memory_peak.get()),
    memory_limit_bytes: |of| MetricValue::Number(of.memory_limit.get()),
    fits: |of| MetricValue::Flag(of.fits),
    fit_probability: |of| MetricValue::Number(of.fit_probability),
    bubble_ratio: |of| MetricValue::Number(of.bubble_ratio),
    bubble_ratio_closed_form: |of| MetricValue::Number(of.bubble_ratio_closed_form),
    comm_volume_bytes: |of| MetricValue::Number(of.comm_volume.get()),
    comm_exposed_seconds: |of| MetricValue::Number(of.comm_exposed.get()),
    overlap_ratio: |of| MetricValue::Number(of.overlap_ratio),
    imbalance_ratio: |of| MetricValue::Number(of.imbalance_ratio),
    token_drop_ratio: |of| MetricValue::Number(of.token_drop_ratio),
};

/// A share of the step's time, mean over all devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPart {
    /// The model FLOPs at the accelerator's peak: what a perfect machine would need.
    Ideal,
    /// Matrix products and attention beyond that: shapes, tiles, bandwidth, and work not counted.
    Kernels,
    /// Norms, activations, permutation, rotary embedding, loss: bound by memory bandwidth.
    Vector,
    /// Forward work done a second time.
    Recompute,
    /// Time in which the device waits for the host to launch kernels.
    Host,
    /// Exposed tensor-parallel collectives.
    TensorParallel,
    /// Exposed context-parallel exchange.
    ContextParallel,
    /// Exposed expert dispatch and combine.
    ExpertParallel,
    /// Exposed sends between stages.
    PipelineParallel,
    /// Exposed swapping to host memory.
    Swap,
    /// Time that kernels lose to the collectives that run beside them.
    Contention,
    /// Stages waiting for each other.
    Bubble,
    /// Exposed gradient reduction and parameter gathering.
    DataParallel,
    /// The optimizer's own step.
    Optimizer,
    /// Waiting for the slowest rank.
    Stragglers,
    /// Waiting for the rank whose experts get the most tokens.
    Imbalance,
    /// Moving experts between devices.
    Migration,
}

impl StepPart {
    /// Every part, in the order in which charts show them.
    pub const ALL: [Self; 17] = [
        Self::Ideal,
        Self::Kernels,
        Self::Vector,
        Self::Recompute,
        Self::Host,
        Self::TensorParallel,
        Self::ContextParallel,
        Self::ExpertParallel,
        Self::PipelineParallel,
        Self::Swap,
        Self::Contention,
        Self::Bubble,
        Self::DataParallel,
        Self::Optimizer,
        Self::Stragglers,
        Self::Imbalance,
        Self::Migration,
    ];

    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ideal => "Ideal",
            Self::Kernels => "Kernels",
            Self::Vector => "Vector",
            Self::Recompute => "Recompute",
            Self::Host => "Host",
            Self::TensorParallel => "TP",
            Self::ContextParallel => "CP",
            Self::ExpertParallel => "EP",
            Self::PipelineParallel => "PP",
            Self::Swap => "Swap",
            Self::Contention => "Contention",
            Self::Bubble => "Bubble",
            Self::DataParallel => "DP",
            Self::Optimizer => "Optimizer",
            Self::Stragglers => "Stragglers",
            Self::Imbalance => "Imbalance",
            Self::Migration => "Migration",
        }
    }

    /// Meaning of the part, in a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ideal => "The model FLOPs at the accelerator's peak",
            Self::Kernels => "Matrix products and attention beyond the ideal",
            Self::Vector => "Norms, activations, permutation, loss: bound by memory bandwidth",
            Self::Recompute => "Forward work done a second time",
            Self::Host => "The device waits for the host to launch kernels",
            Self::TensorParallel => "Tensor-parallel collectives that nothing hides",
            Self::ContextParallel => "Context-parallel exchange that nothing hides",
            Self::ExpertParallel => "Expert dispatch and combine that nothing hides",
            Self::PipelineParallel => "Sends between stages that nothing hides",
            Self::Swap => "Swapping to host memory that nothing hides",
            Self::Contention => "Kernels slowed by the collectives that run beside them",
            Self::Bubble => "Stages waiting for each other",
            Self::DataParallel => "Gradient reduction and parameter gathering that nothing hides",
            Self::Optimizer => "The optimizer's own step",
            Self::Stragglers => "Waiting for the slowest rank",
            Self::Imbalance => "Waiting for the rank whose experts get the most tokens",
            Self::Migration => "Moving experts between devices",
        }
    }
}

/// Where a step's time goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTime {
    pub(crate) parts: [Seconds; StepPart::ALL.len()],
}

impl StepTime {
    /// The time of one part; negative for `Kernels` only when FLOPs are counted that aren't done.
    #[must_use]
    pub fn part(&self, part: StepPart) -> Seconds {
        self.parts[part as usize]
    }

    /// The parts with their times, in chart order.
    pub fn parts(&self) -> impl Iterator<Item = (StepPart, Seconds)> + '_ {
        StepPart::ALL.iter().map(|part| (*part, self.part(*part)))
    }

    /// The step time: the sum of its parts.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.parts.iter().copied().sum()
    }
}

/// Device memory of one stage at its fullest moment, per device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageMemory {
    /// Weights as the forward reads them.
    pub weights: Bytes,
    /// Accumulated gradients.
    pub gradients: Bytes,
    /// The optimizer's main parameters and moments.
    pub optimizer: Bytes,
    /// Activations of all micro-batches in flight.
    pub activations: Bytes,
    /// Recomputed tensors, communication buffers and logits of the task that runs.
    pub buffers: Bytes,
    /// Runtime, communication library and fragmentation.
    pub reserved: Bytes,
}

impl StageMemory {
    /// The names of the parts, in the order of [`Self::parts`].
    pub const LABELS: [&'static str; 6] =
        ["weights", "gradients", "optimizer", "activations", "buffers", "reserve"];

    /// The parts, in chart order.
    #[must_use]
    pub fn parts(&self) -> [Bytes; 6] {
        [
            self.weights,
            self.gradients,
            self.optimizer,
            self.activations,
            self.buffers,
            self.reserved,
        ]
    }

    /// Their sum.
    #[must_use]
    pub fn peak(&self) -> Bytes {
        self.parts().into_iter().sum()
    }
}

/// One pipeline stage, per device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageEstimate {
    /// Its position in the pipeline.
    pub stage: u32,
    /// Transformer layers on it.
    pub num_layers: u32,
    /// Parameters that one of its devices holds.
    pub params: u128,
    /// Memory at the fullest moment.
    pub memory: StageMemory,
    /// Memory of the node's host that one of its devices uses for swapping.
    pub host_memory: Bytes,
    /// Full-stage micro-batches whose activations are held at once, at most.
    pub peak_in_flight: f64,
    /// The task at whose start that memory is full; none when a formula gave the times.
    pub fullest: Option<Task>,
    /// Forward of one micro-batch, exposed communication included.
    pub forward: Seconds,
    /// Backward of one micro-batch, recomputation and exposed communication included.
    pub backward: Seconds,
    /// Compute of the whole step, waiting for the host included.
    pub compute: Seconds,
    /// Exposed communication and swapping of the whole step and what hiding the rest costs, data
    /// parallelism not included.
    pub exposed: Seconds,
    /// Waiting for other stages in the whole step.
    pub idle: Seconds,
}

/// Traffic of one axis over one link by one collective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Communication {
    /// The axis.
    pub axis: Axis,
    /// The link.
    pub link: LinkLevel,
    /// The collective.
    pub collective: Collective,
    /// Bytes that one call sends on one device, where the axis is used.
    pub bytes_per_call: Bytes,
    /// Bytes that a device sends in a step, mean over all devices.
    pub bytes: Bytes,
    /// Time of that, hidden or not.
    pub time: Seconds,
    /// The part of the time in which the device waits.
    pub exposed: Seconds,
}

/// Communication of one axis in one phase of the pipeline, mean over stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseOverlap {
    /// The phase.
    pub phase: Phase,
    /// The axis.
    pub axis: Axis,
    /// Its time in a step, hidden or not.
    pub time: Seconds,
    /// The part of the time in which compute waits.
    pub exposed: Seconds,
}

impl PhaseOverlap {
    /// Share of the time that is hidden.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        (1.0 - self.exposed / self.time).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::preset::Preset;
    use crate::{Plan, estimate};

    fn number(estimate: &Estimate, address: &str) -> Option<f64> {
        match estimate.get(MetricAddress::parse(address).unwrap())? {
            MetricValue::Number(number) => Some(number),
            MetricValue::Flag(_) => None,
        }
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            let Ok(plan) = Plan::new(&preset.design()) else { continue };
            let estimate = estimate(&plan);
            let stages = (0..estimate.stages.len()).map(|stage| {
                number(&estimate, &alloc::format!("memory_peak_bytes@stage={stage}")).unwrap()
            });
            let peak = number(&estimate, "memory_peak_bytes").unwrap();
            assert_eq!(stages.fold(0.0, f64::max).to_bits(), peak.to_bits(), "{}", preset.id);
            for metric in ["comm_volume_bytes", "comm_exposed_seconds"] {
                let whole = number(&estimate, metric).unwrap();
                let axes = Axis::ALL.iter().filter_map(|axis| {
                    number(&estimate, &alloc::format!("{metric}@axis={}", axis.name()))
                });
                let sum: f64 = axes.sum();
                assert!((sum - whole).abs() <= 1e-9 * whole, "{} {metric}", preset.id);
            }
        }
    }
}
