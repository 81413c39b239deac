//! The operators of a layer, on one device and for one micro-batch.
//!
//! Letters: T tokens of a TP group, T' tokens that a rank keeps with SP, t TP, R rows of local
//! experts. An activation element has two bytes.

mod key;

use crate::choice::{
    AttentionFlops, ContextParallelAlgo, Framework, PositionEmbedding, RecomputeModule,
};
use crate::operator::{Attention, Block, Cost, Device};
use crate::plan::Plan;
use crate::tally::{Tally, Untallied};

pub(crate) use key::LayerKey;

/// The parts of attention and MLP, apart because recomputation chooses among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Layer<T: Tally = Untallied> {
    /// The norms in front of attention and MLP.
    pub(crate) norms: Block<T>,
    /// Residual additions, and the norms behind attention and MLP (sandwich norm).
    pub(crate) residuals: Block<T>,
    /// MLA's down-projections with the norms of their latents; zero for GQA.
    pub(crate) latents: Block<T>,
    /// Projection to queries, with rotary embedding.
    pub(crate) query: Block<T>,
    /// Projection to keys and values, with rotary embedding.
    pub(crate) key_value: Block<T>,
    /// Scores, softmax and values.
    pub(crate) core: Block<T>,
    /// Output projection.
    pub(crate) output: Block<T>,
    /// The dense MLP, or the shared experts.
    pub(crate) mlp: Block<T>,
    /// Of its forward, what recomputation does again: a dense MLP's last product is left out where
    /// the framework stops early.
    pub(crate) mlp_again: Cost<T>,
    /// Router with its softmax and top-k.
    pub(crate) router: Block<T>,
    /// Copies of tokens in expert order, before and behind the exchange.
    pub(crate) permute: Block<T>,
    /// The experts' matrix products.
    pub(crate) experts: Block<T>,
    /// The experts' activation function.
    pub(crate) activation: Block<T>,
    /// Of the forward of experts and of shared experts, what is in front of their last products,
    /// the routed experts' activation function apart.
    pub(crate) first_products: [Cost<T>; 2],
    /// Weighted sum of the experts' outputs.
    pub(crate) unpermute: Block<T>,
}

impl Layer {
    /// Everything.
    pub(crate) fn total(&self) -> Block {
        self.norms
            + self.residuals
            + self.latents
            + self.query
            + self.key_value
            + self.core
            + self.output
            + self.moe()
    }

    /// The MLP or the MoE layer, without norms.
    pub(crate) fn moe(&self) -> Block {
        self.mlp + self.router + self.permute + self.experts + self.activation + self.unpermute
    }

    /// What recomputation of the whole layer does again.
    pub(crate) fn again(&self) -> Cost {
        self.norms.forward
            + self.residuals.forward
            + self.latents.forward
            + self.query.forward
            + self.key_value.forward
            + self.core.forward
            + self.output.forward
            + self.moe_again()
    }

    /// Of that, the MLP or the MoE layer, without norms.
    fn moe_again(&self) -> Cost {
        self.mlp_again
            + self.router.forward
            + self.permute.forward
            + self.experts.forward
            + self.activation.forward
            + self.unpermute.forward
    }

    /// What the backward computes again, without whole-layer recomputation.
    pub(crate) fn recomputed(&self, plan: &Plan, is_moe: bool) -> Cost {
        self.recomputed_attention(plan) + self.recomputed_mlp(plan, is_moe)
    }

    /// Of that, what attention's backward needs.
    pub(crate) fn recomputed_attention(&self, plan: &Plan) -> Cost {
        use RecomputeModule::{CoreAttn, MlaKv, MlaQkv, MlaUpProj};
        self.chosen(plan, false, &[CoreAttn, MlaQkv, MlaUpProj, MlaKv])
    }

    /// Of that, what the norms' and the MLP's or the experts' backward needs.
    pub(crate) fn recomputed_mlp(&self, plan: &Plan, is_moe: bool) -> Cost {
        use RecomputeModule::{Layernorm, Mlp, Moe, MoeAct, MoePermute, SharedExperts};
        let modules = [Layernorm, Mlp, Moe, MoePermute, MoeAct, SharedExperts];
        let chosen = self.chosen(plan, is_moe, &modules);
        if is_moe && plan.recomputes_first_products() {
            let [experts, shared] = self.first_products;
            let whole = plan.recomputes(SharedExperts);
            chosen + (experts + if whole { Cost::ZERO } else { shared })
        } else {
            chosen
        }
    }

    /// What the plan recomputes of these modules; one that is a part of another costs nothing more.
    fn chosen(&self, plan: &Plan, is_moe: bool, modules: &[RecomputeModule]) -> Cost {
        let has = |module: &RecomputeModule| plan.recomputes(*module);
        let alone = |module: &&RecomputeModule| has(module) && !wider(**module).iter().any(has);
        let costs = modules.iter().filter(alone).map(|module| self.forward_of(*module, is_moe));
        costs.fold(Cost::ZERO, |sum, cost| sum + cost)
    }

    /// The forward of one module: what recomputing it costs.
    pub(crate) fn forward_of(&self, module: RecomputeModule, is_moe: bool) -> Cost {
        match module {
            RecomputeModule::CoreAttn => self.core.forward,
            RecomputeModule::MlaQkv => {
                self.latents.forward + self.query.forward + self.key_value.forward
            }
            RecomputeModule::MlaUpProj => self.query.forward + self.key_value.forward,
            RecomputeModule::MlaKv => self.key_value.forward,
            RecomputeModule::Layernorm => self.norms.forward,
            RecomputeModule::Mlp if !is_moe => self.mlp_again,
            RecomputeModule::Moe if is_moe => self.moe_again(),
            RecomputeModule::MoePermute if is_moe => self.permute.forward,
            RecomputeModule::MoeAct if is_moe => self.activation.forward,
            RecomputeModule::SharedExperts if is_moe => self.mlp.forward,
            RecomputeModule::Mlp
            | RecomputeModule::Moe
            | RecomputeModule::MoePermute
            | RecomputeModule::MoeAct
            | RecomputeModule::SharedExperts => Cost::ZERO,
        }
    }
}

/// The modules that a module is a part of.
pub(crate) const fn wider(module: RecomputeModule) -> &'static [RecomputeModule] {
    match module {
        RecomputeModule::MlaUpProj => &[RecomputeModule::MlaQkv],
        RecomputeModule::MlaKv => &[RecomputeModule::MlaQkv, RecomputeModule::MlaUpProj],
        RecomputeModule::MoePermute | RecomputeModule::MoeAct | RecomputeModule::SharedExperts => {
            &[RecomputeModule::Moe]
        }
        RecomputeModule::CoreAttn
        | RecomputeModule::MlaQkv
        | RecomputeModule::Layernorm
        | RecomputeModule::Mlp
        | RecomputeModule::Moe => &[],
    }
}

/// Every kind of work of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work<T: Tally = Untallied> {
    pub(crate) dense: Layer<T>,
    pub(crate) moe: Layer<T>,
    /// What an MTP layer adds to a layer of the last kind: projection and norms.
    pub(crate) mtp_extra: Block<T>,
    pub(crate) embedding: Block<T>,
    pub(crate) head: Block<T>,
}

impl<T: Tally> Work<T> {
    pub(crate) fn new(plan: &Plan) -> Self {
        let device = Device::new(plan);
        let attention: Layer<T> = attention(plan, &device);
        let mlp: Block<T> = mlp(plan, &device, plan.shape.ffn);
        let mlp_again = if plan.host.stops_early {
            first_product(plan, &device, plan.shape.ffn)
        } else {
            mlp.forward
        };
        let dense = Layer { mlp, mlp_again, ..attention };
        let moe = if plan.shape.moe_layers > 0 { experts(plan, &device, attention) } else { dense };
        Self {
            dense,
            moe,
            mtp_extra: mtp_extra(plan, &device),
            embedding: embedding(plan, &device),
            head: head(plan, &device),
        }
    }
}

impl Work {
    /// The same work under a plan with other loads: experts get other rows, all else is as it was.
    pub(crate) fn under(&self, plan: &Plan) -> Self {
        let moe = if plan.shape.moe_layers > 0 {
            with_experts(plan, &Device::new(plan), self.moe)
        } else {
            self.moe
        };
        Self { moe, ..*self }
    }
}

fn split(width: u64, ranks: u64) -> f64 {
    width as f64 / ranks as f64
}

/// One norm over `tokens` rows of `width`: fused it reads and writes once; in five kernels it
/// passes over the row four times as often.
fn norm<T: Tally>(plan: &Plan, device: &Device, tokens: f64, width: f64) -> Block<T> {
    let elements = tokens * width;
    let bytes = elements * plan.activation_bytes();
    let (passes, kernels) =
        if plan.design().kernel.fused_rms_norm { (1.0, 1.0) } else { (4.0, 5.0) };
    Block {
        // Square, add, scale, weigh; the gradient's two sums, its three terms and the weight's.
        forward: device.elementwise(2.0 * bytes * passes, kernels).doing(4.0 * elements),
        input_grad: device.elementwise(4.0 * bytes * passes, kernels).doing(8.0 * elements),
        weight_grad: Cost::ZERO,
    }
}

/// Norms, residuals, projections and core attention.
fn attention<T: Tally>(plan: &Plan, device: &Device) -> Layer<T> {
    let (shape, sizes) = (&plan.shape, &plan.sizes);
    let (tokens, own) = (plan.tokens(), plan.tokens_per_rank());
    let h = shape.hidden as f64;
    let (heads, groups) = (split(shape.heads, sizes.tp), split(shape.groups, sizes.tp));
    let (qk, v) = (shape.qk_dim as f64, shape.v_dim as f64);
    let [kernel_qk, kernel_v] = shape.kernel_dims.map(|width| width as f64);
    // Only MLA pads, where there are as many keys and values as queries.
    let [pad_key, _] = padding(plan, device, heads, [qk, kernel_qk]);
    let [pad_value, kept] = padding(plan, device, heads, [v, kernel_v]);
    let (latents, query, key_value) = match shape.mla {
        Some(mla) => mla_projections(plan, device, &mla),
        None => {
            let query = device.linear(tokens, h, heads * qk);
            let key_value = device.linear(tokens, h, groups * (qk + v));
            (Block::default(), query, key_value)
        }
    };
    let behind = if plan.design().transformer.sandwich_norm { 2.0 } else { 0.0 };
    let residual = own * h * plan.activation_bytes();
    let addition = device.elementwise(3.0 * residual, 1.0).doing(own * h);
    let residuals = Block { forward: addition, input_grad: addition, weight_grad: Cost::ZERO };
    let output = device.linear(tokens, heads * v, h);
    let query = query + split_heads(plan, device, [heads, groups]);
    Layer {
        norms: norm(plan, device, own, h) * 2.0,
        residuals: norm(plan, device, own, h) * behind + residuals * 2.0,
        latents,
        query: query + rotary(plan, device, heads) + pad_key,
        key_value: key_value
            + rotary(plan, device, groups)
            + head_norms(plan, device, heads + groups)
            + pad_key
            + pad_value,
        core: awaited_attention(plan, core_attention(plan, device, [heads, groups])) + kept,
        output,
        ..Layer::default()
    }
}

/// MLA: down to the latents on the rank's own tokens, up to the heads on the group's.
fn mla_projections<T: Tally>(
    plan: &Plan,
    device: &Device,
    mla: &crate::plan::Mla,
) -> (Block<T>, Block<T>, Block<T>) {
    let (shape, sizes) = (&plan.shape, &plan.sizes);
    let (tokens, own) = (plan.tokens(), plan.tokens_per_rank());
    let (h, heads) = (shape.hidden as f64, split(shape.heads, sizes.tp));
    let (q_rank, kv_rank) = (mla.q_rank as f64, mla.kv_rank as f64);
    let mut latents = device.linear(own, h, kv_rank + mla.rope_dim as f64);
    if plan.design().transformer.qk_layernorm {
        latents += norm(plan, device, own, q_rank + kv_rank);
    }
    let query = if mla.q_rank > 0 {
        latents += device.linear(own, h, q_rank);
        device.linear(tokens, q_rank, heads * shape.qk_dim as f64)
    } else {
        device.linear(tokens, h, heads * shape.qk_dim as f64)
    };
    let width = heads * (mla.nope_dim + shape.v_dim) as f64;
    (latents, query, device.linear(tokens, kv_rank, width))
}

/// Rotary embedding of `heads` heads: read and write each rotated element. Under MLA the rotated
/// part is joined with the rest, which copies whole heads.
fn rotary<T: Tally>(plan: &Plan, device: &Device, heads: f64) -> Block<T> {
    if plan.design().transformer.position_embedding_type != PositionEmbedding::Rope {
        return Block::default();
    }
    let elements = plan.tokens() * heads * plan.shape.qk_dim as f64;
    // Two multiplications and an addition an element.
    let cost =
        device.elementwise(2.0 * elements * plan.activation_bytes(), 1.0).doing(3.0 * elements);
    Block { forward: cost, input_grad: cost, weight_grad: Cost::ZERO }
}

/// Copies around the joint projection to queries, keys and values: under GQA queries are copied out
/// of their groups, values into a tensor of their own, and backward all three gradients into one.
///
/// Source: Megatron-Core, `SelfAttention.get_query_key_value_tensors`, and Transformer Engine,
/// which takes queries, keys and values as they are only where one tensor holds them.
fn split_heads<T: Tally>(plan: &Plan, device: &Device, [heads, groups]: [f64; 2]) -> Block<T> {
    let shape = &plan.shape;
    if shape.mla.is_some() || plan.design().kernel.framework != Framework::Megatron {
        return Block::default();
    }
    let [query, key, value] =
        [heads * shape.qk_dim as f64, groups * shape.qk_dim as f64, groups * shape.v_dim as f64];
    let grouped = if shape.groups < shape.heads { query } else { 0.0 };
    let copy = |width: f64, kernels: f64| {
        device.elementwise(2.0 * plan.tokens() * width * plan.activation_bytes(), kernels)
    };
    let kernels = if shape.groups < shape.heads { 2.0 } else { 1.0 };
    Block {
        forward: copy(grouped + value, kernels),
        input_grad: copy(query + key + value, 1.0),
        weight_grad: Cost::ZERO,
    }
}

/// Norms of query and key heads outside MLA.
fn head_norms<T: Tally>(plan: &Plan, device: &Device, heads: f64) -> Block<T> {
    if plan.shape.mla.is_some() || !plan.design().transformer.qk_layernorm {
        return Block::default();
    }
    norm(plan, device, plan.tokens(), heads * plan.shape.qk_dim as f64)
}

/// Zeros behind heads of this width, up to the width at which the kernel takes them, and the part
/// of its output in front of them.
///
/// Zeros are added by reading the heads and writing them wider; backward the gradient's part is
/// copied. The output's part is a copy, too, and its gradient is copied into zeros.
///
/// Source: MindSpeed-LLM `multi_latent_attention.py`: `F.pad` of query, key and value, and the
/// slice behind attention.
fn padding<T: Tally>(plan: &Plan, device: &Device, heads: f64, widths: [f64; 2]) -> [Block<T>; 2] {
    let [width, padded] = widths;
    if padded <= width {
        return [Block::default(); 2];
    }
    let column = plan.tokens() * heads * plan.activation_bytes();
    let part = device.elementwise(column * 2.0 * width, 1.0);
    let wider = device.elementwise(column * (width + padded), 1.0);
    let zeros = device.elementwise(column * padded, 1.0);
    [
        Block { forward: wider, input_grad: part, weight_grad: Cost::ZERO },
        Block { forward: part, input_grad: zeros + part, weight_grad: Cost::ZERO },
    ]
}

/// Core attention of a rank's heads; Ulysses trades heads for sequence, which costs the same.
fn core_attention<T: Tally>(plan: &Plan, device: &Device, [heads, groups]: [f64; 2]) -> Block<T> {
    let rows = plan.tokens();
    let [qk, v] = plan.shape.kernel_dims.map(|width| width as f64);
    let kernel = &plan.design().kernel;
    if !kernel.flash_attention {
        return device.plain_attention(heads, rows, plan.shape.seq as f64, qk, v);
    }
    // A ring runs one kernel per step.
    let is_ring = plan.design().parallel.context_parallel_algo == ContextParallelAlgo::P2p;
    let steps = if is_ring { plan.sizes.cp as f64 } else { 1.0 };
    let keys = plan.keys_per_query(AttentionFlops::Causal);
    let mut block: Block<T> =
        device.flash_attention(Attention { heads, rows, keys, widths: [qk, v], kernels: steps });
    // Queries and outputs, keys and values, each once: what stays on the chip is not read again.
    // Backward their gradients as well.
    let moved = rows * (heads + groups * plan.sizes.cp as f64) * (qk + v) * plan.activation_bytes();
    block.forward = block.forward.moving(moved);
    block.input_grad = block.input_grad.moving(2.0 * moved);
    if steps > 1.0 {
        // Behind each step but the first the output is rescaled by the new maximum.
        let output = rows * heads * v * plan.activation_bytes();
        let merge = device
            .elementwise(3.0 * output * (steps - 1.0), steps - 1.0)
            .doing(3.0 * rows * heads * v * (steps - 1.0));
        block.forward += merge;
        block.input_grad += merge;
    }
    block
}

/// The same on the rank whose sequences give attention most to do, for which the others wait: its
/// time, and not what is computed on average.
fn awaited_attention<T: Tally>(plan: &Plan, attention: Block<T>) -> Block<T> {
    let imbalance = plan.design().training.data_imbalance;
    let awaited = |pass: Cost<T>| Cost {
        tensor: pass.tensor * imbalance,
        vector: pass.vector * imbalance,
        ..pass
    };
    Block {
        forward: awaited(attention.forward),
        input_grad: awaited(attention.input_grad),
        weight_grad: awaited(attention.weight_grad),
    }
}

/// The activation function between an MLP's matrices: reads both halves, writes one.
fn activation<T: Tally>(plan: &Plan, device: &Device, rows: f64, width: f64) -> Block<T> {
    let inputs = (plan.shape.mlp_matrices - 1) as f64;
    let elements = rows * width;
    let bytes = elements * plan.activation_bytes();
    Block {
        // Exponential, addition, division, one product for each input; about twice that backward.
        forward: device.elementwise((inputs + 1.0) * bytes, 1.0).doing((3.0 + inputs) * elements),
        input_grad: device
            .elementwise((2.0 * inputs + 1.0) * bytes, 1.0)
            .doing((6.0 + 2.0 * inputs) * elements),
        weight_grad: Cost::ZERO,
    }
}

/// A dense MLP of this inner width, split over TP.
fn mlp<T: Tally>(plan: &Plan, device: &Device, width: u64) -> Block<T> {
    if width == 0 {
        return Block::default();
    }
    let (tokens, h) = (plan.tokens(), plan.shape.hidden as f64);
    let inner = split(width, plan.sizes.tp);
    let inputs = (plan.shape.mlp_matrices - 1) as f64;
    let block = device.linear(tokens, h, inputs * inner) + device.linear(tokens, inner, h);
    block + activation(plan, device, tokens, inner)
}

/// A MoE layer: attention as given, router, permutation, experts, shared experts.
fn experts<T: Tally>(plan: &Plan, device: &Device, attention: Layer<T>) -> Layer<T> {
    let mlp = mlp(plan, device, plan.shape.shared_ffn);
    let layer = Layer {
        router: router(plan, device, plan.tokens_per_rank()),
        first_products: [Cost::ZERO, first_product(plan, device, plan.shape.shared_ffn)],
        mlp,
        mlp_again: mlp.forward,
        ..attention
    };
    with_experts(plan, device, layer)
}

/// A MoE layer with what its rows take: permutation, experts and their activation function.
fn with_experts<T: Tally>(plan: &Plan, device: &Device, layer: Layer<T>) -> Layer<T> {
    let (shape, sizes) = (&plan.shape, &plan.sizes);
    let h = shape.hidden as f64;
    let rows = plan.awaited_rows();
    let local = plan.local_experts() as f64;
    let inner = split(shape.expert_ffn, sizes.etp);
    let inputs = (shape.mlp_matrices - 1) as f64;
    let per_expert = rows / local;
    let first = device.grouped_linear(per_expert, h, inputs * inner, local);
    let [_, shared] = layer.first_products;
    Layer {
        permute: reorder(plan, device, rows, 1.0),
        experts: first + device.grouped_linear(per_expert, inner, h, local),
        activation: activation(plan, device, rows, inner),
        first_products: [first.forward, shared],
        // The weighted sum reads every copy and writes every token.
        unpermute: weighted(
            reorder(plan, device, rows, 1.0 + 1.0 / shape.topk.max(1) as f64),
            rows * h,
        ),
        ..layer
    }
}

/// The forward of an MLP or of shared experts of this width in front of the last product.
fn first_product<T: Tally>(plan: &Plan, device: &Device, width: u64) -> Cost<T> {
    let width = split(width, plan.sizes.tp);
    if width <= 0.0 {
        return Cost::ZERO;
    }
    let (tokens, inputs) = (plan.tokens(), (plan.shape.mlp_matrices - 1) as f64);
    device.linear_forward(tokens, plan.shape.hidden as f64, inputs * width)
        + activation(plan, device, tokens, width).forward
}

/// Scores of all experts in FP32: softmax, top-k, and the map of who goes where.
fn router<T: Tally>(plan: &Plan, device: &Device, own: f64) -> Block<T> {
    let experts = plan.shape.experts as f64;
    let scores = own * experts;
    let mut block = device.linear(own, plan.shape.hidden as f64, experts);
    // Largest, exponential, sum, division, and the comparison of the top-k; backward a sum, a
    // difference and two products.
    block.forward += device.elementwise(6.0 * (scores * 4.0), 4.0).doing(5.0 * scores);
    block.input_grad += device.elementwise(4.0 * (scores * 4.0), 3.0).doing(4.0 * scores);
    block
}

/// Copies in expert order on the sending and on the receiving side: each read and written.
/// Unfused, an index and a gather kernel take each side, which passes over the rows twice.
///
/// Without an exchange there is one side.
fn reorder<T: Tally>(plan: &Plan, device: &Device, rows: f64, share: f64) -> Block<T> {
    let bytes = rows * plan.shape.hidden as f64 * plan.activation_bytes() * 2.0 * share;
    let sides = if plan.sizes.ep == 1 { 1.0 } else { 2.0 };
    let (passes, kernels) =
        if plan.design().kernel.moe_permute_fusion { (1.0, 1.0) } else { (2.0, 3.0) };
    let cost = device.gather(sides * bytes * passes, sides * kernels);
    Block { forward: cost, input_grad: cost, weight_grad: Cost::ZERO }
}

/// The same with a product and an addition for each of so many elements; backward as many.
fn weighted<T: Tally>(copies: Block<T>, elements: f64) -> Block<T> {
    let [forward, input_grad] =
        [copies.forward, copies.input_grad].map(|pass| pass.doing(2.0 * elements));
    Block { forward, input_grad, ..copies }
}

/// The projection of the token's and the next token's state, 2 h to h, and its norms.
fn mtp_extra<T: Tally>(plan: &Plan, device: &Device) -> Block<T> {
    let h = plan.shape.hidden as f64;
    device.linear(plan.tokens(), 2.0 * h, split(plan.shape.hidden, plan.sizes.tp))
        + norm(plan, device, plan.tokens_per_rank(), h) * 3.0
}

/// Looking rows up and, backward, adding into them.
fn embedding<T: Tally>(plan: &Plan, device: &Device) -> Block<T> {
    let elements = plan.tokens() * plan.shape.hidden as f64;
    let bytes = elements * plan.activation_bytes();
    Block {
        forward: device.gather(2.0 * bytes, 1.0),
        input_grad: Cost::ZERO,
        weight_grad: device.gather(3.0 * bytes, 1.0).doing(elements),
    }
}

/// The output head over the rank's share of the vocabulary, and the loss.
///
/// A fused loss passes over the logits three times in 16 bits; otherwise an FP32 copy is made and
/// softmax, loss and gradient pass over it eight times.
fn head<T: Tally>(plan: &Plan, device: &Device) -> Block<T> {
    let (tokens, h) = (plan.tokens(), plan.shape.hidden as f64);
    // Megatron pads the vocabulary to a multiple of 128 on each rank.
    let vocab = libm::ceil(split(plan.shape.vocab, plan.sizes.tp) / 128.0) * 128.0;
    let mut block = device.linear(tokens, h, vocab) + norm(plan, device, plan.tokens_per_rank(), h);
    let logits = tokens * vocab;
    let (bytes, kernels) = if plan.design().memory.cross_entropy_loss_fusion {
        (3.0 * plan.activation_bytes(), 2.0)
    } else {
        (8.0 * 4.0, 8.0)
    };
    // Largest, exponential, sum, logarithm or division, gradient.
    block.forward += device.elementwise(logits * bytes, kernels).doing(5.0 * logits);
    block
}
