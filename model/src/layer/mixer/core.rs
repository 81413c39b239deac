//! The core that attention and MLA share: every query's scores over its keys, and the sum of
//! values.

use crate::design::Design;
use crate::device::collective::Call;
use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::kernel::{self, Block, Cost};
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::device::topology::Group;
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{
    AttentionFlops, ContextParallelAlgo, Framework, SoftmaxType, SwapModule,
};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::{norm, rotary};

use crate::ground::choice::RecomputeModule as Module;

/// Heads and their widths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Core {
    /// a, query heads.
    pub(super) heads: u64,
    /// g, key and value heads; as many as query heads under MLA.
    pub(super) groups: u64,
    /// Width of a head's query and key.
    pub(super) qk_dim: u64,
    /// Width of a head's value.
    pub(super) v_dim: u64,
    /// Widths of query or key and of value as the attention kernel reads them.
    pub(super) kernel_dims: [u64; 2],
    /// Tokens that a query looks back, itself among them; none is all of them.
    pub(super) window: Option<u64>,
    /// Whether each head learns a score of its own that no value has.
    ///
    /// # Source
    /// Transformer Engine, `softmax_type`: `learnable` in `DotProductAttention`; gpt-oss.
    has_sinks: bool,
}

/// The projections around a core.
#[derive(Clone, Copy)]
pub(super) struct Projections<T: Tally> {
    pub(super) query: Block<T>,
    pub(super) key_value: Block<T>,
    pub(super) output: Block<T>,
}

impl Core {
    /// The core of a design's heads in layers with this window.
    pub(super) fn new(
        design: &Design,
        groups: u64,
        [qk_dim, v_dim]: [u64; 2],
        window: Option<u64>,
    ) -> Self {
        let transformer = &design.transformer;
        Self {
            heads: transformer.num_attention_heads,
            groups,
            qk_dim,
            v_dim,
            kernel_dims: kernel_dims(design, [qk_dim, v_dim]),
            window,
            has_sinks: transformer.softmax_type == SoftmaxType::Learnable,
        }
    }

    /// Parameters of the sinks: one for each head.
    pub(super) fn sink_params(&self) -> u128 {
        if self.has_sinks { u128::from(self.heads) } else { 0 }
    }

    /// Gradient of the sinks: two statistics of each query and head in FP32 are read and added up.
    /// The forward has one exponential more for each of them, which its kernel hides.
    fn sinks<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let statistics = rows.group * on.split(self.heads);
        let sum = on.device.elementwise(2.0 * 4.0 * statistics, 1.0).doing(3.0 * statistics);
        Block { input_grad: sum, ..Block::default() }
    }

    /// Mean keys that a query meets: all under the `full` convention, half under `causal`.
    ///
    /// With a window w < s the causal mean is w - w^2 / (2 s).
    pub(super) fn keys_per_query(&self, seq: u64, convention: AttentionFlops) -> f64 {
        let (s, w) = (seq as f64, self.window.map_or(seq, |window| window.min(seq)) as f64);
        match convention {
            AttentionFlops::Full => w,
            AttentionFlops::Causal => w - w * w / (2.0 * s),
        }
    }

    /// Scores and values of one token, forward: 2 k a (d_qk + d_v).
    pub(super) fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64 {
        let dims = (self.qk_dim + self.v_dim) as f64;
        2.0 * self.keys_per_query(seq, convention) * self.heads as f64 * dims
    }

    /// Key and value heads that the projections give all TP ranks together: where there are fewer
    /// than ranks, several share one and each has it whole.
    pub(super) fn given_groups(&self, on: &Deployment) -> u64 {
        self.groups.max(on.ranks.tp)
    }

    /// Key and value heads that attention reads and keeps: MindSpeed's Ulysses repeats those of a
    /// rank for each of its queries' heads before it exchanges them, where they are fewer than the
    /// ranks that exchange.
    ///
    /// # Source
    /// MindSpeed, `ulysses_context_parallel.py`, `repeat_interleave` of key and value;
    /// MindSpeed-LLM
    /// `--kv-head-repeat-before-uly-alltoall`, on without being told.
    pub(super) fn kept_groups(&self, on: &Deployment) -> u64 {
        let given = self.given_groups(on);
        if self.repeats_groups(on) { self.heads } else { given }
    }

    fn repeats_groups(&self, on: &Deployment) -> bool {
        let ulysses = on.ranks.ulysses;
        on.kernel.framework == Framework::Mindspeed
            && ulysses > 1
            && self.given_groups(on) < ulysses * on.ranks.tp
    }

    /// Copies of keys and values for each head of the queries; backward their gradients are summed.
    fn repeat<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        if !self.repeats_groups(on) {
            return Block::default();
        }
        let width = (self.qk_dim + self.v_dim) as f64 * on.element_bytes();
        let heads = on.split(self.given_groups(on)) + on.split(self.heads);
        let pass = on.device.elementwise(rows.group * heads * width, 2.0);
        Block { forward: pass, input_grad: pass, weight_grad: Cost::ZERO }
    }

    /// Projections with what brings their heads into the kernel's form, the core, and the output.
    pub(super) fn operators<T: Tally>(
        &self,
        on: &Deployment,
        rows: &Rows,
        projections: Projections<T>,
        to: &mut Operators<T>,
    ) {
        let heads = on.split(self.heads);
        let (qk, v) = (self.qk_dim as f64, self.v_dim as f64);
        let [kernel_qk, kernel_v] = self.kernel_dims.map(|width| width as f64);
        // Only MLA pads, where there are as many keys and values as queries.
        let [pad_key, _] = padding(on, rows, heads, [qk, kernel_qk]);
        let [pad_value, kept] = padding(on, rows, heads, [v, kernel_v]);
        let Projections { query, key_value, output } = projections;
        let query = query + rotary(on, rows, heads * qk) + pad_key;
        let keys = on.split(self.given_groups(on));
        let key_value =
            key_value + rotary(on, rows, keys * qk) + pad_key + pad_value + self.repeat(on, rows);
        let mut core = awaited(rows, self.scores(on, rows)) + kept;
        if self.has_sinks {
            core += self.sinks(on, rows);
        }
        to.push("Query projection", Place::Projection, Again::with(Module::MlaUpProj), query);
        to.push(
            "Key and value projection",
            Place::Projection,
            Again::with(Module::MlaKv),
            key_value,
        );
        to.push("Core attention", Place::Core, Again::with(Module::CoreAttn), core);
        to.push("Output projection", Place::Output, Again::LAYER, output);
    }

    /// The gate of the output, its sigmoid and product: reads both, writes one; backward the
    /// output's gradient and both of them make two.
    pub(super) fn gate<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let elements = rows.group * on.split(self.heads) * self.v_dim as f64;
        let bytes = elements * on.element_bytes();
        let pass = |moved: f64, operations: f64| {
            on.device.elementwise(moved * bytes, 1.0).doing(operations * elements)
        };
        Block { forward: pass(3.0, 4.0), input_grad: pass(5.0, 8.0), weight_grad: Cost::ZERO }
    }

    /// Saves the gate's own tensors: itself, and the output in front of it.
    pub(super) fn save_gate(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let width = on.split(self.heads) * self.v_dim as f64;
        let bytes = 2.0 * rows.group * width * on.element_bytes();
        let outputs = to.iter_mut().filter(|saved| saved.tensor == Tensor::AttentionOutput);
        outputs.for_each(|saved| saved.bytes += bytes);
    }

    /// Norms of query and key heads.
    pub(super) fn head_norms<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let heads = on.split(self.heads) + on.split(self.given_groups(on));
        norm(on, rows.group, heads * self.qk_dim as f64)
    }

    /// Scores, softmax and values of a rank's heads; Ulysses trades heads for sequence, which costs
    /// the same.
    fn scores<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let (heads, groups) = (on.split(self.heads), on.split(self.kept_groups(on)));
        let [qk, v] = self.kernel_dims.map(|width| width as f64);
        let tokens = rows.group;
        if let Some(past) = rows.past {
            let widths = [self.qk_dim, self.v_dim].map(|width| width as f64);
            let element = past.element_bytes;
            return on.device.cached_attention(
                rows,
                kernel::Cached {
                    heads,
                    keys: rows.keys(self.window.map(|tokens| tokens as f64)),
                    widths,
                    read: self.cached_bytes(on, past.tokens, element) * rows.sequences as f64,
                },
            );
        }
        if !on.kernel.flash_attention {
            return on.device.plain_attention(heads, tokens, rows.seq as f64, qk, v);
        }
        // A ring runs one kernel per step.
        let is_ring = on.context == ContextParallelAlgo::P2p;
        let steps = if is_ring { on.ranks.cp as f64 } else { 1.0 };
        let keys = self.keys_per_query(rows.seq, AttentionFlops::Causal);
        let mut block: Block<T> = on.device.flash_attention(kernel::Attention {
            heads,
            rows: tokens,
            keys,
            widths: [qk, v],
            kernels: steps,
        });
        // Queries and outputs, keys and values, each once: what stays on the chip is not read
        // again. Backward their gradients as well.
        let moved = tokens * (heads + groups * on.ranks.cp as f64) * (qk + v) * on.element_bytes();
        block.forward = block.forward.moving(moved);
        block.input_grad = block.input_grad.moving(2.0 * moved);
        if steps > 1.0 {
            // Behind each step but the first the output is rescaled by the new maximum.
            let output = tokens * heads * v * on.element_bytes();
            let merge = on
                .device
                .elementwise(3.0 * output * (steps - 1.0), steps - 1.0)
                .doing(3.0 * tokens * heads * v * (steps - 1.0));
            block.forward += merge;
            block.input_grad += merge;
        }
        block
    }

    /// Cached keys and values of this many tokens on one rank, whatever the window.
    pub(super) fn whole_cache_bytes(&self, on: &Deployment, tokens: f64, element: f64) -> f64 {
        let groups = on.split(self.given_groups(on));
        tokens * groups * (self.qk_dim + self.v_dim) as f64 * element
    }

    /// Cached keys and values of the tokens that a query can still reach, on one rank.
    pub(super) fn cached_bytes(&self, on: &Deployment, tokens: f64, element: f64) -> f64 {
        let reached = self.window.map_or(tokens, |window| tokens.min(window as f64));
        self.whole_cache_bytes(on, reached, element)
    }

    /// Queries, keys and values, statistics and output.
    pub(super) fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let (tokens, element) = (rows.group, on.element_bytes());
        let (heads, groups) = (on.split(self.heads), on.split(self.kept_groups(on)));
        let [qk_dim, v_dim] = self.kernel_dims;
        let scores = if on.kernel.flash_attention {
            tokens * heads * 4.0
        } else {
            // Softmax output and its masked copy, and with dropout the mask: 5 a s^2 b.
            let mask = if on.backbone.drops_scores { 1.0 } else { 0.0 };
            tokens * heads * rows.seq as f64 * (2.0 * element + mask)
        };
        // With Ulysses and with padding the output also as the kernel wrote it.
        let exchanged = match on.context {
            ContextParallelAlgo::A2a | ContextParallelAlgo::Hybrid => on.ranks.cp > 1,
            ContextParallelAlgo::P2p | ContextParallelAlgo::Allgather => false,
        };
        let written = if exchanged || v_dim > self.v_dim { v_dim } else { 0 };
        let output = tokens * heads * (self.v_dim + written) as f64 * element;
        let query = tokens * heads * qk_dim as f64 * element;
        let key_value = tokens * groups * (qk_dim + v_dim) as f64 * element;
        to.extend([
            Saved::new(Tensor::Query, query, &[Module::MlaQkv, Module::MlaUpProj]),
            Saved::new(
                Tensor::KeyValue,
                key_value,
                &[Module::MlaQkv, Module::MlaUpProj, Module::MlaKv],
            ),
            Saved::new(Tensor::Scores, scores, &[Module::CoreAttn]),
            Saved::new(Tensor::AttentionOutput, output, &[])
                .swapped_by(SwapModule::AttentionOutput),
        ]);
    }

    /// CP: keys and values go round a ring (and their gradients, backward), are gathered, or heads
    /// are exchanged for sequence before and behind attention.
    ///
    /// # Source
    /// Liu et al. 2023 (ring), Jacobs et al. 2023 (Ulysses).
    pub(super) fn context_exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        let cp = on.ranks.cp;
        if cp == 1 {
            return;
        }
        let element = rows.group * on.element_bytes() / on.ranks.tp as f64 * rows.split_share;
        let [qk, v] = self.kernel_dims.map(|width| width as f64);
        let key_value = element * self.kept_groups(on) as f64 * (qk + v);
        let query_output = element * self.heads as f64 * (qk + v);
        let (machine, group) = (&on.machine, on.cp_group());
        let calls = |forward: f64, backward: f64| {
            let again = Again::with(Module::CoreAttn);
            Calls::new((Hop::Context, forward), (Hop::Context, backward), again)
        };
        let ulysses = on.ranks.ulysses;
        if ulysses > 1 {
            let close = ulysses.min(group.close);
            let part = Group { size: ulysses, close, domains: ulysses / close };
            let call = machine.all_to_all_call(&part, key_value + query_output);
            to.push(Axis::Cp, Collective::AllToAll, &call, calls(1.0, 1.0));
        }
        let ring = cp / ulysses;
        if ring == 1 {
            return;
        }
        if on.context == ContextParallelAlgo::Allgather {
            let call = machine.gather_call(&group, key_value * cp as f64);
            to.push(Axis::Cp, Collective::AllGather, &call, calls(1.0, 1.0));
            to.push(Axis::Cp, Collective::ReduceScatter, &call, calls(0.0, 1.0));
            return;
        }
        // A ring that leaves the domain is as slow as its slowest link.
        let steps = (ring - 1) as f64;
        let call = if group.domains > 1 {
            let start = machine.fabric.ring.start_micros;
            let inter = machine.between(&group, key_value, machine.ring.inter, start);
            Call { inter, ..Call::default() }
        } else {
            Call { intra: [key_value, machine.send(key_value).get()], ..Call::default() }
        };
        to.push(Axis::Cp, Collective::P2p, &call, calls(steps, 2.0 * steps));
    }
}

/// Cost of attention on the rank whose sequences give it most to do, for which the others wait: its
/// time, and not what is computed on average.
fn awaited<T: Tally>(rows: &Rows, attention: Block<T>) -> Block<T> {
    let imbalance = rows.attention_imbalance;
    let longer = |pass: Cost<T>| Cost {
        tensor: pass.tensor * imbalance,
        vector: pass.vector * imbalance,
        ..pass
    };
    Block {
        forward: longer(attention.forward),
        input_grad: longer(attention.input_grad),
        weight_grad: longer(attention.weight_grad),
    }
}

/// Zeros behind heads of this width, up to the width at which the kernel takes them, and the part
/// of its output in front of them.
///
/// Zeros are added by reading the heads and writing them wider; backward the gradient's part is
/// copied. The output's part is a copy, too, and its gradient is copied into zeros.
///
/// # Source
/// MindSpeed-LLM `multi_latent_attention.py`: `F.pad` of query, key and value, and the slice behind
/// attention.
fn padding<T: Tally>(
    on: &Deployment,
    rows: &Rows,
    heads: f64,
    [width, padded]: [f64; 2],
) -> [Block<T>; 2] {
    if padded <= width {
        return [Block::default(); 2];
    }
    let column = rows.group * heads * on.element_bytes();
    let part = on.device.elementwise(column * 2.0 * width, 1.0);
    let wider = on.device.elementwise(column * (width + padded), 1.0);
    let zeros = on.device.elementwise(column * padded, 1.0);
    [
        Block { forward: wider, input_grad: part, weight_grad: Cost::ZERO },
        Block { forward: part, input_grad: zeros + part, weight_grad: Cost::ZERO },
    ]
}

/// Widths of query or key and of value as the attention kernel reads them: as they are, or both
/// padded to the next multiple of `kernel.padded_base_length`.
///
/// # Source
/// MindSpeed-LLM `multi_latent_attention.py`: `fa_padding_length`, where flash attention runs
/// without `--mla-fa-without-pad` and keys aren't as wide as values. Its shape order BNSD pads the
/// values to the keys' width, which a base length of that width does too.
fn kernel_dims(design: &Design, [qk, v]: [u64; 2]) -> [u64; 2] {
    let kernel = &design.kernel;
    if qk == v || kernel.mla_fa_without_pad || !kernel.flash_attention {
        return [qk, v];
    }
    let padded = qk.max(v).next_multiple_of(kernel.padded_base_length);
    [padded, padded]
}
