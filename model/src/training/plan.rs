//! A checked design with everything derived that formulas need: a deployment that trains.
//!
//! The number of devices is the cluster's; the data-parallel size and the number of micro-batches
//! follow from it and are never stored.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::catalogue::accelerator::Accelerator;
use crate::catalogue::calibration::{FSDP, Host, IDEAL, MEGATRON, MINDSPEED};
use crate::design::software;
use crate::design::violation::Violation;
use crate::design::{Design, KnobId, KnobSet, PerStage};
use crate::device::rows::{Routed, Rows};
use crate::ground::choice::{Framework, Optimizer, Precision, RecomputeMethod, ShardingStrategy};
use crate::ground::units::{Bytes, FlopsPerSecond};
use crate::layer::adapters;
use crate::layer::architecture::{Architecture, MAX_KINDS, PerKind};
use crate::layer::deployment::{Deployment, Dispatch};
use crate::layer::layout::{self, Span, Stage};
use crate::layer::lengths::{Drawn, Ragged};
use crate::layer::params::RankParams;
use crate::routing::Effect;
use crate::rules;

/// A legal design: every size that formulas use, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    design: Design,
    pub(crate) deployment: Deployment,
    pub(crate) architecture: Architecture,
    pub(crate) batch: Batch,
    /// Content of each chunk, from the first layers to the last.
    pub(crate) chunks: Vec<Stage>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) spans: Vec<Span>,
    pub(crate) layer_params: LayerParams,
    /// Parameters where not every weight is trained: those held, adapters among them, and those
    /// trained.
    pub(crate) tuned_params: Option<Box<[LayerParams; 2]>>,
    pub(crate) effect: Effect,
    pub(crate) ragged: Option<Ragged>,
}

/// The sequences of a step on one pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// b, sequences of a micro-batch.
    pub(crate) micro_batch: u64,
    /// m, micro-batches of a step.
    pub(crate) micro_batches: u64,
    /// s, tokens of a sequence.
    pub(crate) seq: u64,
}

/// Parameters that one device holds of one layer of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerParams {
    pub(crate) kinds: PerKind<RankParams>,
    pub(crate) mtp: RankParams,
}

impl LayerParams {
    fn new(architecture: &Architecture, on: &Deployment) -> Self {
        let mut kinds = [RankParams::default(); MAX_KINDS];
        for (params, kind) in kinds.iter_mut().zip(&architecture.kinds) {
            *params = kind.params(on).on_rank(&on.ranks, kind.expert_copies());
        }
        let mtp = if architecture.mtp.layers > 0 {
            let kind = architecture.mtp_kind();
            kind.mtp_params(on).on_rank(&on.ranks, kind.expert_copies())
        } else {
            RankParams::default()
        };
        Self { kinds, mtp }
    }

    /// Parameters held, adapters among them, and those trained, where not every weight is.
    fn tuned(&self, architecture: &Architecture, on: &Deployment) -> Option<Box<[Self; 2]>> {
        if on.tuning.is_full() {
            return None;
        }
        let [mut held, mut trained] = [*self; 2];
        for (index, kind) in architecture.kinds.iter().enumerate() {
            let adapters = adapters::params(on, kind);
            let own = kind.trained_params(on).on_rank(&on.ranks, kind.expert_copies());
            held.kinds[index] = held.kinds[index].plus(adapters);
            trained.kinds[index] = own.plus(adapters);
        }
        let index = architecture.mtp.kind.index();
        if architecture.mtp.layers > 0 {
            let (kind, adapters) =
                (architecture.mtp_kind(), adapters::params(on, architecture.mtp_kind()));
            held.mtp = held.mtp.plus(adapters);
            // What an MTP layer has around its layer is trained as norms are.
            let around = if on.tuning.trains_norms() {
                self.mtp.dense - self.kinds[index].dense
            } else {
                0.0
            };
            let own = kind.trained_params(on).on_rank(&on.ranks, kind.expert_copies());
            let around = RankParams { dense: around, expert: 0.0 };
            trained.mtp = own.plus(adapters).plus(around);
        }
        Some(Box::new([held, trained]))
    }
}

impl Plan {
    /// Checks a design and derives what formulas need.
    ///
    /// # Errors
    /// Every rule that the design breaks.
    pub fn new(design: &Design) -> Result<Self, Vec<Violation>> {
        let violations = rules::violations(design);
        if !violations.is_empty() {
            return Err(violations);
        }
        Ok(Self::checked(design, Effect::of(design), &mut Drawn::default()))
    }

    /// The plan of a design that breaks no rule.
    pub(crate) fn checked(design: &Design, effect: Effect, drawn: &mut Drawn) -> Self {
        let row = *design.cluster.accelerator.row();
        let deployment = deployment(design, row, host(design.kernel.framework));
        let architecture = Architecture::new(design);
        let chunks = layout::chunks_of(design, &architecture.pattern);
        let stages = layout::stages(design, &chunks);
        let training = &design.training;
        let batch = Batch {
            micro_batch: training.micro_batch_size,
            micro_batches: training.global_batch_size
                / (deployment.ranks.dp * training.micro_batch_size),
            seq: training.seq_length,
        };
        let layer_params = LayerParams::new(&architecture, &deployment);
        Self {
            ragged: Ragged::of(design, &deployment.ranks, drawn),
            tuned_params: layer_params.tuned(&architecture, &deployment),
            layer_params,
            spans: layout::spans(&stages, design),
            deployment,
            architecture,
            batch,
            chunks,
            stages,
            effect,
            design: design.clone(),
        }
    }

    /// Takes over how a design recomputes, swaps and hides: knobs which change no size of the plan.
    pub(crate) fn follow(&mut self, design: &Design, knobs: &KnobSet) {
        self.design.take(design, knobs);
        self.deployment.dispatch = Dispatch::new(&self.design);
        if knobs.has(KnobId::recompute_num_layers) {
            self.spans = layout::spans(&self.stages, design);
        }
    }

    /// For each stage what its span has.
    pub(crate) fn by_stage<'a, T>(&'a self, each: &'a [T]) -> impl Iterator<Item = &'a T> {
        let spans = self.spans.iter().zip(each);
        spans.flat_map(|(span, own)| core::iter::repeat_n(own, span.count))
    }

    /// The plan on an accelerator and a host with other constants: how a calibration tries values
    /// that the tables don't hold. The design's state of the software stays.
    #[must_use]
    pub fn with_constants(mut self, accelerator: Accelerator, host: Host) -> Self {
        self.deployment = deployment(&self.design, accelerator, host);
        self
    }

    /// The design that was checked.
    #[must_use]
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Whether the model has layers of experts.
    #[must_use]
    pub fn has_experts(&self) -> bool {
        self.architecture.moe().is_some()
    }

    /// DP: world size over TP x PP x CP.
    #[must_use]
    pub fn data_parallel_size(&self) -> u64 {
        self.deployment.ranks.dp
    }

    /// EDP: world size over PP x EP x ETP.
    #[must_use]
    pub fn expert_data_parallel_size(&self) -> u64 {
        self.deployment.ranks.edp
    }

    /// m: global batch over DP x micro-batch.
    #[must_use]
    pub fn num_microbatches(&self) -> u64 {
        self.batch.micro_batches
    }

    /// The accelerator's row.
    pub(crate) fn accelerator(&self) -> &Accelerator {
        &self.deployment.accelerator
    }

    /// The rows of one micro-batch on one device.
    pub(crate) fn rows(&self) -> Rows {
        let Batch { micro_batch, seq, .. } = self.batch;
        let ranks = &self.deployment.ranks;
        let group = (seq * micro_batch) as f64 / ranks.cp as f64;
        Rows {
            group,
            own: group / ranks.sp as f64,
            seq: self.attended(),
            whole: seq,
            sequences: micro_batch,
            attention_imbalance: self.attention_imbalance(),
            split_share: self.split_share(),
            routed: Routed {
                kept: self.capacity_share(),
                imbalance: self.effect.imbalance,
                fullest: self.effect.fullest,
                touched: 1.0,
            },
            past: None,
        }
    }

    /// Effect of documents on attention, where their lengths aren't their sequence's.
    #[must_use]
    pub fn ragged(&self) -> Option<&Ragged> {
        self.ragged.as_ref()
    }

    /// Tokens that see each other: a sequence's, or those of a document in the mean over tokens.
    pub(crate) fn attended(&self) -> u64 {
        self.ragged.map_or(self.batch.seq, |ragged| (ragged.attended + 0.5).max(1.0) as u64)
    }

    fn is_dynamic(&self) -> bool {
        self.design.parallel.dynamic_context_parallel
    }

    /// Attention work of the busiest of the ranks that wait for each other, over the mean.
    pub(crate) fn attention_imbalance(&self) -> f64 {
        match self.ragged {
            None => self.design.training.data_imbalance,
            Some(ragged) if self.is_dynamic() => ragged.dynamic_imbalance,
            Some(ragged) => ragged.imbalance,
        }
    }

    /// Share of the tokens that context-parallel ranks exchange: under dynamic context parallelism
    /// those of documents that one rank can't hold.
    pub(crate) fn split_share(&self) -> f64 {
        self.ragged.filter(|_| self.is_dynamic()).map_or(1.0, |ragged| ragged.split_share)
    }

    /// Copies kept over copies routed: at most one without padding, the capacity factor with it.
    fn capacity_share(&self) -> f64 {
        let training = &self.design.training;
        match training.moe_expert_capacity_factor {
            None => 1.0,
            Some(factor) if training.moe_pad_expert_input_to_capacity => factor,
            Some(factor) if self.effect.drop_ratio <= 0.0 => factor.min(1.0),
            Some(_) => 1.0 - self.effect.drop_ratio,
        }
    }

    /// Bytes of one stored activation element.
    pub(crate) fn activation_bytes(&self) -> f64 {
        self.deployment.element_bytes()
    }

    /// Bytes of the input of one layer: all that full recomputation keeps, T' h for each stream.
    pub(crate) fn layer_input(&self) -> f64 {
        self.deployment.stream_bytes(&self.rows())
    }

    /// The peak of matrix products at the run's precision, with the design's own BF16 peak.
    pub(crate) fn peak(&self) -> FlopsPerSecond {
        peak(&self.design).unwrap_or(FlopsPerSecond::tera(1.0))
    }

    /// MFU's denominator per device.
    pub(crate) fn peak_for_mfu(&self) -> FlopsPerSecond {
        self.design.training.peak_for_mfu.map_or_else(|| self.peak(), FlopsPerSecond::tera)
    }

    /// Memory that a program gets on one device.
    pub(crate) fn memory_limit(&self) -> Bytes {
        let usable = self.design.cluster.hbm_usable_gib;
        Bytes::gib(usable.unwrap_or(self.accelerator().hbm_usable_gib))
    }

    /// Pipeline directions that a device serves at once: two for DualPipe.
    pub(crate) fn directions(&self) -> f64 {
        self.form().placement.directions() as f64
    }

    /// Layers of a stage that full recomputation takes, out of `layers`.
    pub(crate) fn recomputed_layers(&self, stage: usize, layers: f64) -> f64 {
        let memory = &self.design.memory;
        let listed = match &memory.recompute_num_layers {
            None => None,
            Some(PerStage::Same(count)) => Some(*count),
            Some(PerStage::Each(counts)) => counts.get(stage).copied(),
        };
        match memory.recompute_method {
            RecomputeMethod::Uniform => layers,
            RecomputeMethod::Block => listed.map_or(layers, |count| layers.min(count as f64)),
        }
    }

    /// Layers that share one checkpoint under uniform full recomputation, when a stage recomputes
    /// this many: groups do not reach beyond a chunk.
    pub(crate) fn checkpoint_group(&self, layers: f64) -> f64 {
        let memory = &self.design.memory;
        match (&memory.recompute_num_layers, memory.recompute_method) {
            (Some(PerStage::Same(count)), RecomputeMethod::Uniform) => {
                ((*count).max(1) as f64).min((layers / self.deployment.ranks.vpp as f64).max(1.0))
            }
            _ => 1.0,
        }
    }

    /// Ranks that share out the states of parameters which all DP x CP ranks hold.
    pub(crate) fn dense_shards(&self) -> f64 {
        (self.deployment.ranks.dp * self.deployment.ranks.cp / self.instances()) as f64
    }

    /// Ranks that share out the states of experts.
    pub(crate) fn expert_shards(&self) -> f64 {
        (self.deployment.ranks.edp / self.instances()).max(1) as f64
    }

    fn instances(&self) -> u64 {
        self.design.parallel.num_distributed_optimizer_instances
    }

    /// Are at least these states shared out?
    pub(crate) fn shards(&self, least: ShardingStrategy) -> bool {
        self.design.parallel.data_parallel_sharding_strategy as u8 >= least as u8
    }

    /// Bytes of optimizer state per parameter: main copy and moments; with Muon those of a matrix.
    pub(crate) fn optimizer_bytes_per_param(&self) -> f64 {
        let memory = &self.design.memory;
        let moments = match self.design.training.optimizer {
            Optimizer::Adam => memory.exp_avg_dtype.bytes() + memory.exp_avg_sq_dtype.bytes(),
            Optimizer::Sgd | Optimizer::Muon => memory.exp_avg_dtype.bytes(),
        };
        // Weights already in fp32 are their own main copy.
        let own_copy = self.design.training.precision == Precision::Fp32;
        moments + if own_copy { 0.0 } else { memory.main_params_dtype.bytes() }
    }

    /// Host time to launch one kernel.
    pub(crate) fn dispatch_micros(&self) -> f64 {
        self.design.kernel.dispatch_microseconds.unwrap_or(self.deployment.host.dispatch_micros)
    }
}

/// The deployment of a design with these constants, the state of its software put in.
fn deployment(design: &Design, mut accelerator: Accelerator, mut host: Host) -> Deployment {
    software::install(&design.kernel, &mut accelerator, &mut host);
    let peak = peak(design).unwrap_or(FlopsPerSecond::tera(1.0));
    Deployment::new(design, accelerator, host, peak.get())
}

/// The host costs of a framework.
fn host(framework: Framework) -> Host {
    match framework {
        Framework::Megatron | Framework::Deepspeed => MEGATRON,
        Framework::Mindspeed => MINDSPEED,
        Framework::Fsdp => FSDP,
        Framework::Ideal => IDEAL,
    }
}

/// The peak of matrix products at a design's precision; `None` where the accelerator has none.
///
/// An override of the BF16 peak scales every precision alike.
#[must_use]
pub fn peak(design: &Design) -> Option<FlopsPerSecond> {
    let row = design.cluster.accelerator.row();
    let nominal = row.peak_tflops(design.training.precision)?;
    let scale = match (design.cluster.peak_bf16_tflops, row.bf16_tflops) {
        (Some(own), Some(nominal)) => own / nominal,
        _ => 1.0,
    };
    Some(FlopsPerSecond::tera(nominal * scale))
}
