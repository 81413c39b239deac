//! A checked design with everything derived that formulas need: a deployment that trains.
//!
//! Formulas read none of the design's knobs: each is resolved here, once, into what they take. The
//! design itself is for those that speak of it or change it.
//!
//! The number of devices is the cluster's; the data-parallel size and the number of micro-batches
//! follow from it and are never stored.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::catalogue::accelerator::Accelerator;
use crate::catalogue::calibration::{FSDP, Host, IDEAL, MEGATRON, MINDSPEED};
use crate::design::software;
use crate::design::violation::Violation;
use crate::design::{Design, KnobId, KnobSet};
use crate::device::rows::{Routed, Rows};
use crate::ground::choice::{AttentionFlops, Framework};
use crate::ground::knob::Role;
use crate::ground::units::{Bytes, FlopsPerSecond};
use crate::layer::adapters;
use crate::layer::architecture::{Architecture, MAX_KINDS, PerKind};
use crate::layer::deployment::{Deployment, Dispatch};
use crate::layer::layout::{self, Span, Stage};
use crate::layer::lengths::Ragged;
use crate::layer::params::RankParams;
use crate::layer::transformer_layer::Loss;
use crate::routing::Effect;
use crate::routing::capacity::Capacity;
use crate::rules;
use crate::training::optimizer::{OptimizerStates, Sharding};
use crate::training::overlap::Overlap;
use crate::training::pipeline_schedule::PipelineSchedule;
use crate::training::recomputation::Recomputation;
use crate::training::shapes::{Layout, Shapes};

/// Knobs that say what is computed again and what is swapped, and reach nothing else of a plan.
const OF_RECOMPUTATION: KnobSet =
    KnobSet::with_role(Role::Recomputation).and(&[KnobId::swap_modules]);

/// A legal design: every size that formulas use, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    design: Arc<Design>,
    pub(crate) deployment: Deployment,
    pub(crate) architecture: Arc<Architecture>,
    pub(crate) batch: Batch,
    pub(crate) schedule: PipelineSchedule,
    pub(crate) overlap: Overlap,
    pub(crate) sharding: Sharding,
    pub(crate) optimizer: OptimizerStates,
    pub(crate) recomputation: Recomputation,
    pub(crate) loss: Loss,
    pub(crate) capacity: Capacity,
    pub(crate) flops: FlopsCount,
    /// Memory that a program gets on one device.
    pub(crate) memory_limit: Bytes,
    /// Reserve for runtime and communication library.
    pub(crate) reserved: Bytes,
    /// Content of each chunk, from the first layers to the last.
    pub(crate) chunks: Arc<[Stage]>,
    pub(crate) stages: Arc<[Stage]>,
    pub(crate) spans: Arc<[Span]>,
    pub(crate) layer_params: LayerParams,
    /// Parameters where not every weight is trained: those held, adapters among them, and those
    /// trained.
    pub(crate) tuned_params: Option<Box<[LayerParams; 2]>>,
    pub(crate) effect: Effect,
    pub(crate) ragged: Option<Ragged>,
    /// Attention work of the busiest of the ranks that wait for each other, over the mean.
    pub(crate) attention_imbalance: f64,
    /// Share of the tokens that context-parallel ranks exchange: under dynamic context parallelism
    /// those of documents that one rank can't hold.
    pub(crate) split_share: f64,
}

/// The sequences of a step on one pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// b, sequences of a micro-batch.
    pub(crate) micro_batch: u64,
    /// m, micro-batches of a step.
    pub(crate) micro_batches: u64,
    /// Sequences of a step on all pipelines.
    pub(crate) global: u64,
    /// s, tokens of a sequence.
    pub(crate) seq: u64,
}

impl Batch {
    fn new(design: &Design, data_parallel_size: u64) -> Self {
        let training = &design.training;
        let (micro_batch, global) = (training.micro_batch_size, training.global_batch_size);
        Self {
            micro_batch,
            micro_batches: global / (data_parallel_size * micro_batch),
            global,
            seq: training.seq_length,
        }
    }

    /// Tokens of a step on all pipelines.
    pub(crate) fn tokens(&self) -> f64 {
        self.global as f64 * self.seq as f64
    }
}

/// Convention by which model FLOPs are counted, and the peaks that they are held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlopsCount {
    pub(crate) attention: AttentionFlops,
    pub(crate) counts_mtp: bool,
    /// The peak of matrix products at the run's precision, with the design's own BF16 peak.
    pub(crate) peak: FlopsPerSecond,
    /// MFU's denominator per device.
    pub(crate) peak_for_mfu: FlopsPerSecond,
}

impl FlopsCount {
    fn new(design: &Design) -> Self {
        let training = &design.training;
        let peak = peak(design).unwrap_or(FlopsPerSecond::tera(1.0));
        Self {
            attention: training.attention_flops,
            counts_mtp: training.count_mtp_flops,
            peak,
            peak_for_mfu: training.peak_for_mfu.map_or(peak, FlopsPerSecond::tera),
        }
    }
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
        let design = Arc::new(design.clone());
        let effect = Effect::of(&design);
        Ok(Self::checked(design, effect, &mut Shapes::default()))
    }

    /// The plan of a design that breaks no rule.
    pub(crate) fn checked(own: Arc<Design>, effect: Effect, shapes: &mut Shapes) -> Self {
        let design = &*own;
        let row = *design.cluster.accelerator.row();
        let deployment = deployment(design, row, host(design.kernel.framework));
        let architecture = shapes.architecture(design);
        let Layout { chunks, stages, spans } = shapes.layout(design, &architecture);
        let batch = Batch::new(design, deployment.ranks.dp);
        let schedule = PipelineSchedule::new(design, &deployment.ranks, batch.micro_batches);
        let sharding = Sharding::new(design, &deployment.ranks);
        let layer_params = LayerParams::new(&architecture, &deployment);
        let ragged = Ragged::of(design, &deployment.ranks, &mut shapes.drawn);
        let (attention_imbalance, split_share) = match &ragged {
            None => (design.training.data_imbalance, 1.0),
            Some(ragged) if design.parallel.dynamic_context_parallel => {
                (ragged.dynamic_imbalance, ragged.split_share)
            }
            Some(ragged) => (ragged.imbalance, 1.0),
        };
        Self {
            attention_imbalance,
            split_share,
            ragged,
            tuned_params: layer_params.tuned(&architecture, &deployment),
            layer_params,
            spans,
            schedule,
            overlap: Overlap::new(design, &deployment, &schedule, &sharding),
            sharding,
            optimizer: OptimizerStates::new(design, &deployment.accelerator),
            recomputation: Recomputation::new(design),
            loss: Loss::new(design),
            capacity: Capacity::new(design),
            flops: FlopsCount::new(design),
            memory_limit: memory_limit(design, &deployment.accelerator),
            reserved: Bytes::gib(design.memory.reserved_gib),
            deployment,
            architecture,
            batch,
            chunks,
            stages,
            effect,
            design: own,
        }
    }

    /// Takes over how a design recomputes, swaps and hides: knobs which change no size of the plan.
    pub(crate) fn follow(&mut self, design: &Design, knobs: &KnobSet) {
        Arc::make_mut(&mut self.design).take(design, knobs);
        self.recomputation = Recomputation::new(&self.design);
        if !knobs.without(&OF_RECOMPUTATION).is_empty() {
            let (ranks, micro_batches) = (&self.deployment.ranks, self.batch.micro_batches);
            self.deployment.dispatch = Dispatch::new(&self.design);
            self.schedule = PipelineSchedule::new(&self.design, ranks, micro_batches);
            self.overlap = self.own_overlap();
        }
        if knobs.has(KnobId::recompute_num_layers) {
            self.spans = layout::spans(&self.stages, design).into();
        }
    }

    /// Its design, shared.
    pub(crate) const fn shared_design(&self) -> &Arc<Design> {
        &self.design
    }

    /// Another design, which differs in these knobs, in the room of this one's.
    pub(crate) fn turned_to(self, design: &Design, differences: &KnobSet) -> Arc<Design> {
        if !core::ptr::eq(self.design.preset, design.preset) {
            return Arc::new(design.clone());
        }
        let mut own = self.design;
        Arc::make_mut(&mut own).take(design, differences);
        own
    }

    fn own_overlap(&self) -> Overlap {
        Overlap::new(&self.design, &self.deployment, &self.schedule, &self.sharding)
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
        let accelerator = &self.deployment.accelerator;
        self.optimizer = OptimizerStates::new(&self.design, accelerator);
        self.memory_limit = memory_limit(&self.design, accelerator);
        self.overlap = self.own_overlap();
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
            attention_imbalance: self.attention_imbalance,
            split_share: self.split_share,
            routed: Routed {
                kept: self.capacity.kept_share(&self.effect),
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

    /// Bytes of the input of one layer: all that full recomputation keeps, T' h for each stream.
    pub(crate) fn layer_input(&self) -> f64 {
        self.deployment.stream_bytes(&self.rows())
    }
}

fn memory_limit(design: &Design, accelerator: &Accelerator) -> Bytes {
    Bytes::gib(design.cluster.hbm_usable_gib.unwrap_or(accelerator.hbm_usable_gib))
}

/// The deployment of a design with these constants, the state of its software put in.
fn deployment(design: &Design, mut accelerator: Accelerator, mut host: Host) -> Deployment {
    software::install(&design.kernel, &mut accelerator, &mut host);
    let peak = peak(design).unwrap_or(FlopsPerSecond::tera(1.0));
    Deployment::new(design, accelerator, host, peak.get())
}

/// The host costs of a framework.
pub(crate) fn host(framework: Framework) -> Host {
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
