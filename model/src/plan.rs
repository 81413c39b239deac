//! A checked design with everything derived that formulas need; the only thing they read.
//!
//! The number of devices is the cluster's; the data-parallel size and the number of micro-batches
//! follow from it and are never stored.

use alloc::vec::Vec;

use crate::accelerator::{Accelerator, IntraNode};
use crate::calibration::{FSDP, Host, IDEAL, MEGATRON, MINDSPEED};
use crate::choice::{AttentionFlops, Framework, Optimizer, Precision, ShardingStrategy};
use crate::design::{Design, Kernel, KnobId, KnobSet, PerStage};
use crate::layout::{self, Span, Stage};
use crate::params::LayerParams;
use crate::routing::Effect;
use crate::rules;
use crate::software;
use crate::topology::Machine;
use crate::units::{Bytes, FlopsPerSecond};
use crate::violation::Violation;

/// A legal design: every size that formulas use, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    design: Design,
    pub(crate) accelerator: Accelerator,
    pub(crate) host: Host,
    pub(crate) shape: Shape,
    pub(crate) sizes: Sizes,
    pub(crate) machine: Machine,
    /// What each chunk holds, from the first layers to the last.
    pub(crate) chunks: Vec<Stage>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) spans: Vec<Span>,
    pub(crate) layer_params: LayerParams,
    pub(crate) effect: Effect,
}

/// The model's sizes: what is optional in a design is a number here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// h, width of the residual stream.
    pub(crate) hidden: u64,
    /// a, query heads.
    pub(crate) heads: u64,
    /// Key and value heads; as many as query heads under MLA.
    pub(crate) groups: u64,
    /// Width of a head's query and key.
    pub(crate) qk_dim: u64,
    /// Width of a head's value.
    pub(crate) v_dim: u64,
    /// Widths of query or key and of value as the attention kernel reads them.
    pub(crate) kernel_dims: [u64; 2],
    /// MLA's latents, where the model has them.
    pub(crate) mla: Option<Mla>,
    /// Inner width of a dense MLP.
    pub(crate) ffn: u64,
    /// Matrices of an MLP: three with a gate, two without.
    pub(crate) mlp_matrices: u64,
    /// E, routed experts; zero in a dense model.
    pub(crate) experts: u64,
    /// Experts that a token visits; zero in a dense model.
    pub(crate) topk: u64,
    /// Inner width of a routed expert.
    pub(crate) expert_ffn: u64,
    /// Inner width of all shared experts together; zero without.
    pub(crate) shared_ffn: u64,
    /// V, padded vocabulary.
    pub(crate) vocab: u64,
    /// s, tokens of a sequence.
    pub(crate) seq: u64,
    /// Tokens that a query looks back, at most s.
    pub(crate) window: u64,
    /// MoE layers.
    pub(crate) moe_layers: u64,
    /// Dense layers.
    pub(crate) dense_layers: u64,
    /// MTP layers.
    pub(crate) mtp_layers: u64,
}

/// The sizes of multi-latent attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mla {
    /// Rank of the query latent; zero when queries are projected directly.
    pub(crate) q_rank: u64,
    /// Rank of the key-value latent.
    pub(crate) kv_rank: u64,
    /// Width of a head's part without rotary embedding.
    pub(crate) nope_dim: u64,
    /// Width of a head's part with rotary embedding.
    pub(crate) rope_dim: u64,
}

/// The sizes of the parallel axes and of the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sizes {
    pub(crate) world: u64,
    pub(crate) tp: u64,
    pub(crate) pp: u64,
    pub(crate) vpp: u64,
    pub(crate) cp: u64,
    pub(crate) ep: u64,
    pub(crate) etp: u64,
    pub(crate) dp: u64,
    pub(crate) edp: u64,
    /// b, sequences of a micro-batch.
    pub(crate) micro_batch: u64,
    /// m, micro-batches of a step on one pipeline.
    pub(crate) micro_batches: u64,
    /// Ranks over which norms and residuals split a sequence beyond CP: TP with SP, else one.
    pub(crate) sp: u64,
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
        Ok(Self::checked(design, Effect::of(design)))
    }

    /// The plan of a design that breaks no rule.
    pub(crate) fn checked(design: &Design, effect: Effect) -> Self {
        let mut accelerator = *design.cluster.accelerator.row();
        let mut host = host(design.kernel.framework);
        software::install(&design.kernel, &mut accelerator, &mut host);
        let chunks = layout::chunks_of(design);
        let stages = layout::stages(design, &chunks);
        let mut plan = Self {
            accelerator,
            host,
            shape: Shape::new(design),
            sizes: Sizes::new(design),
            machine: Machine::new(design, &accelerator),
            spans: layout::spans(&stages, design),
            chunks,
            stages,
            layer_params: LayerParams::default(),
            effect,
            design: design.clone(),
        };
        plan.layer_params = plan.layer_params_of_rank();
        plan
    }

    /// Takes over how a design recomputes, swaps and hides: knobs which change no size of the plan.
    pub(crate) fn follow(&mut self, design: &Design, knobs: &KnobSet) {
        self.design.take(design, knobs);
        if knobs.has(KnobId::recompute_num_layers) {
            self.spans = layout::spans(&self.stages, design);
        }
    }

    /// For each stage what its span has.
    pub(crate) fn by_stage<'a, T>(&'a self, each: &'a [T]) -> impl Iterator<Item = &'a T> {
        let spans = self.spans.iter().zip(each);
        spans.flat_map(|(span, own)| core::iter::repeat_n(own, span.count))
    }

    /// The same plan on an accelerator and a host with other constants: how a calibration tries
    /// values that the tables don't hold. The design's state of the software stays.
    #[must_use]
    pub fn with_constants(mut self, mut accelerator: Accelerator, mut host: Host) -> Self {
        software::install(&self.design.kernel, &mut accelerator, &mut host);
        self.machine = Machine::new(&self.design, &accelerator);
        self.accelerator = accelerator;
        self.host = host;
        self
    }

    /// The design that was checked.
    #[must_use]
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Has the model layers of experts?
    #[must_use]
    pub const fn has_experts(&self) -> bool {
        self.shape.moe_layers > 0
    }

    /// DP: world size over TP x PP x CP.
    #[must_use]
    pub fn data_parallel_size(&self) -> u64 {
        self.sizes.dp
    }

    /// EDP: world size over PP x EP x ETP.
    #[must_use]
    pub fn expert_data_parallel_size(&self) -> u64 {
        self.sizes.edp
    }

    /// m: global batch over DP x micro-batch.
    #[must_use]
    pub fn num_microbatches(&self) -> u64 {
        self.sizes.micro_batches
    }

    /// The accelerator's row.
    pub(crate) fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// Sequence tokens of a micro-batch that the TP ranks of one CP rank work on together: s b / c.
    pub(crate) fn tokens(&self) -> f64 {
        (self.shape.seq * self.sizes.micro_batch) as f64 / self.sizes.cp as f64
    }

    /// Of these, the ones that one rank keeps between blocks: s b / (c t) with SP.
    pub(crate) fn tokens_per_rank(&self) -> f64 {
        self.tokens() / self.sizes.sp as f64
    }

    /// Copies of its own tokens that a rank sends to experts, after capacity.
    ///
    /// Without SP the TP ranks hold the same tokens and each sends its share.
    pub(crate) fn copies_per_rank(&self) -> f64 {
        self.tokens() / self.sizes.tp as f64 * self.shape.topk as f64 * self.capacity_share()
    }

    /// Rows that one rank's experts compute: copies of the whole ETP group, mean over the ranks.
    pub(crate) fn expert_rows(&self) -> f64 {
        self.copies_per_rank() * self.sizes.etp as f64
    }

    /// Rows of the fullest rank, for which the others wait: mean over steps and layers.
    pub(crate) fn awaited_rows(&self) -> f64 {
        self.expert_rows() * self.effect.imbalance
    }

    /// Rows that a rank must have memory for.
    pub(crate) fn most_rows(&self) -> f64 {
        self.expert_rows() * self.effect.fullest
    }

    /// Copies kept over copies routed: at most one without padding, the capacity factor with it.
    pub(crate) fn capacity_share(&self) -> f64 {
        let training = &self.design.training;
        match training.moe_expert_capacity_factor {
            None => 1.0,
            Some(factor) if training.moe_pad_expert_input_to_capacity => factor,
            Some(factor) if self.effect.drop_ratio <= 0.0 => factor.min(1.0),
            Some(_) => 1.0 - self.effect.drop_ratio,
        }
    }

    /// Experts on one rank, copies of busy ones counted.
    pub(crate) fn local_experts(&self) -> u64 {
        (self.shape.experts + self.design.routing.redundant_experts) / self.sizes.ep
    }

    /// Bytes of one stored activation element.
    pub(crate) fn activation_bytes(&self) -> f64 {
        self.design.training.precision.stored_bytes()
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

    /// Average keys that a query meets: all under the `full` convention, half under `causal`.
    ///
    /// With a window w < s the causal mean is w - w^2 / (2 s).
    pub(crate) fn keys_per_query(&self, convention: AttentionFlops) -> f64 {
        let (s, w) = (self.shape.seq as f64, self.shape.window as f64);
        match convention {
            AttentionFlops::Full => w,
            AttentionFlops::Causal => w - w * w / (2.0 * s),
        }
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
            crate::choice::RecomputeMethod::Uniform => layers,
            crate::choice::RecomputeMethod::Block => {
                listed.map_or(layers, |count| layers.min(count as f64))
            }
        }
    }

    /// Layers that share one checkpoint under uniform full recomputation, when a stage recomputes
    /// this many: groups do not reach beyond a chunk.
    pub(crate) fn checkpoint_group(&self, layers: f64) -> f64 {
        let memory = &self.design.memory;
        match (&memory.recompute_num_layers, memory.recompute_method) {
            (Some(PerStage::Same(count)), crate::choice::RecomputeMethod::Uniform) => {
                ((*count).max(1) as f64).min((layers / self.sizes.vpp as f64).max(1.0))
            }
            _ => 1.0,
        }
    }

    /// Ranks that share out the states of parameters which all DP x CP ranks hold.
    pub(crate) fn dense_shards(&self) -> f64 {
        (self.sizes.dp * self.sizes.cp / self.instances()) as f64
    }

    /// Ranks that share out the states of experts.
    pub(crate) fn expert_shards(&self) -> f64 {
        (self.sizes.edp / self.instances()).max(1) as f64
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
        self.design.kernel.dispatch_microseconds.unwrap_or(self.host.dispatch_micros)
    }
}

/// What a framework's host costs.
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

impl Shape {
    fn new(design: &Design) -> Self {
        let t = &design.transformer;
        let mla = t.multi_latent_attention.then(|| Mla {
            q_rank: t.q_lora_rank.unwrap_or(0),
            kv_rank: t.kv_lora_rank,
            nope_dim: t.qk_head_dim,
            rope_dim: t.qk_pos_emb_head_dim,
        });
        let head_dim = t.kv_channels.unwrap_or(t.hidden_size / t.num_attention_heads);
        let qk_dim = mla.map_or(head_dim, |mla| mla.nope_dim + mla.rope_dim);
        let v_dim = if mla.is_some() { t.v_head_dim } else { head_dim };
        let moe_layers = t.moe_layers();
        let has_experts = moe_layers > 0;
        let experts = t.num_moe_experts.unwrap_or(0);
        Self {
            hidden: t.hidden_size,
            heads: t.num_attention_heads,
            groups: match mla {
                Some(_) => t.num_attention_heads,
                None => t.num_query_groups.unwrap_or(t.num_attention_heads),
            },
            qk_dim,
            v_dim,
            kernel_dims: kernel_dims(&design.kernel, [qk_dim, v_dim]),
            mla,
            ffn: t.ffn_hidden_size,
            mlp_matrices: if t.gated_linear_unit { 3 } else { 2 },
            experts: if has_experts { experts } else { 0 },
            topk: if has_experts { t.moe_router_topk } else { 0 },
            expert_ffn: t.moe_ffn_hidden_size.unwrap_or(t.ffn_hidden_size),
            shared_ffn: t.moe_shared_expert_intermediate_size.unwrap_or(0),
            vocab: t.vocab_size,
            seq: design.training.seq_length,
            window: t.window_size.map_or(design.training.seq_length, |window| {
                window.min(design.training.seq_length)
            }),
            moe_layers,
            dense_layers: t.num_layers - moe_layers,
            mtp_layers: t.mtp_num_layers,
        }
    }
}

/// Widths of query or key and of value as the attention kernel reads them: as they are, or both
/// padded to the next multiple of [`Kernel::padded_base_length`].
///
/// Source: MindSpeed-LLM `multi_latent_attention.py`: `fa_padding_length`, where flash attention
/// runs without `--mla-fa-without-pad` and keys aren't as wide as values. Its shape order BNSD pads
/// the values to the keys' width, which a base length of that width does too.
fn kernel_dims(kernel: &Kernel, [qk, v]: [u64; 2]) -> [u64; 2] {
    if qk == v || kernel.mla_fa_without_pad || !kernel.flash_attention {
        return [qk, v];
    }
    let padded = qk.max(v).next_multiple_of(kernel.padded_base_length);
    [padded, padded]
}

impl Sizes {
    fn new(design: &Design) -> Self {
        let (parallel, training) = (&design.parallel, &design.training);
        let world = design.cluster.num_devices;
        let tp = parallel.tensor_model_parallel_size;
        let pp = parallel.pipeline_model_parallel_size;
        let cp = parallel.context_parallel_size;
        let ep = parallel.expert_model_parallel_size;
        let etp = parallel.expert_tensor_parallel_size;
        let dp = world / (tp * pp * cp);
        Self {
            world,
            tp,
            pp,
            vpp: parallel.virtual_pipeline_model_parallel_size,
            cp,
            ep,
            etp,
            dp,
            edp: world / (pp * ep * etp),
            micro_batch: training.micro_batch_size,
            micro_batches: training.global_batch_size / (dp * training.micro_batch_size),
            sp: if parallel.sequence_parallel { tp } else { 1 },
        }
    }
}

/// How a node is wired, for the machine's own use.
pub(crate) fn wiring(design: &Design) -> IntraNode {
    design.cluster.accelerator.row().intra_node
}
