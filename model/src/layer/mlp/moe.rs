//! Mixture of experts: a router, routed experts, and shared experts for all tokens.
//!
//! Letters: h hidden, E experts, k experts of a token, f width of one, R rows of a rank's experts,
//! T' tokens that a rank keeps with SP.

mod dispatch;

use alloc::vec;
use alloc::vec::Vec;

use super::dense::Dense;
use super::transform::Transform;
use crate::design::Design;
use crate::device::exchange::Exchanges;
use crate::device::kernel::{Block, Cost};
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::choice::{
    AuxLoss, Dispatcher, Framework, LoraModule, ModelPart, RecomputeModule, SwapModule,
};
use crate::ground::source::MEGATRON;
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::activation;
use crate::layer::params::{Cut, Matrices, Params};
use crate::metric::Unit;
use crate::metric::breakdown::Breakdown;

/// Experts with their router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moe {
    /// E, routed experts.
    pub(crate) experts: u64,
    /// Z, further choices that give a token back as it is.
    ///
    /// # Source
    /// `LongCat-Flash`, section 2.1: zero-computation experts.
    zeros: u64,
    /// k, experts that a token chooses.
    topk: u64,
    /// Inner width of a routed expert.
    pub(crate) width: u64,
    /// l, width at which tokens reach routed experts, where it isn't the hidden size.
    ///
    /// # Source
    /// Megatron-Core `moe_layer.py`, `moe_latent_size`; Nemotron 3.
    latent: Option<u64>,
    /// Shared experts, as one MLP; of no width where there are none.
    pub(crate) shared: Dense,
    /// Whether a gate weighs what the shared experts give.
    ///
    /// # Source
    /// Megatron-Core `shared_experts.py`, `moe_shared_expert_gate`; Qwen3-Next.
    is_shared_gated: bool,
    /// Copies of busy experts.
    pub(crate) redundant: u64,
    /// Router groups, those of them that a token keeps, and whether it visits all alike.
    groups: Option<u64>,
    group_topk: Option<u64>,
    is_group_balanced: bool,
    pub(crate) aux_loss: AuxLoss,
}

impl Moe {
    /// MoE MLP with this number of experts.
    pub(super) fn new(design: &Design, experts: u64) -> Self {
        let transformer = &design.transformer;
        Self {
            experts,
            zeros: transformer.moe_zero_experts.unwrap_or(0),
            topk: transformer.moe_router_topk,
            width: transformer.moe_ffn_hidden_size.unwrap_or(transformer.ffn_hidden_size),
            latent: transformer.moe_latent_size,
            shared: Dense { width: transformer.moe_shared_expert_intermediate_size.unwrap_or(0) },
            is_shared_gated: transformer.moe_shared_expert_gate,
            redundant: design.routing.redundant_experts,
            groups: transformer.moe_router_num_groups,
            group_topk: transformer.moe_router_group_topk,
            is_group_balanced: transformer.moe_router_group_balanced,
            aux_loss: design.routing.aux_loss,
        }
    }

    /// Choices of the router: E + Z.
    const fn choices(&self) -> u64 {
        self.experts + self.zeros
    }

    /// Experts that a token visits, in the mean: k E / (E + Z), as a bias holds the loads even.
    pub(crate) fn visited(&self) -> f64 {
        self.topk as f64 * (self.experts as f64 / self.choices() as f64)
    }

    /// Whether every one of this many ranks gets as many copies of each token: whole groups lie on
    /// it, all of which a token visits.
    pub(crate) fn is_even_on(&self, ranks: u64) -> bool {
        let groups = self.groups.unwrap_or(1);
        ranks == 1 || (self.is_group_balanced && groups.is_multiple_of(ranks))
    }

    /// Places of each routed expert, copies of busy ones counted: ranks over experts, in the
    /// mean.
    pub(crate) fn copies(&self) -> f64 {
        1.0 + self.redundant as f64 / self.experts.max(1) as f64
    }

    /// Experts on one rank, copies of busy ones counted.
    pub(crate) fn local_experts(&self, on: &Deployment) -> u64 {
        ((self.experts + self.redundant) / on.ranks.ep).max(1)
    }

    /// Copies of its own tokens that a rank sends to experts, after capacity.
    ///
    /// Without SP the TP ranks hold the same tokens and each sends its share.
    pub(crate) fn copies_per_rank(&self, on: &Deployment, rows: &Rows) -> f64 {
        rows.group / on.ranks.tp as f64 * self.visited() * rows.routed.kept
    }

    /// R, rows that one rank's experts compute: copies of the whole ETP group, mean over the ranks.
    pub(crate) fn rows(&self, on: &Deployment, rows: &Rows) -> f64 {
        self.copies_per_rank(on, rows) * on.ranks.etp as f64
    }

    /// Rows of the fullest rank's experts, for which the others wait.
    pub(crate) fn awaited_rows(&self, on: &Deployment, rows: &Rows) -> f64 {
        self.rows(on, rows) * rows.routed.imbalance
    }

    /// Rows that a rank must have memory for.
    pub(crate) fn fullest_rows(&self, on: &Deployment, rows: &Rows) -> f64 {
        self.rows(on, rows) * rows.routed.fullest
    }

    /// Scores of all experts in FP32: softmax, top-k, and the map of who goes where.
    fn router<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let (own, experts) = (rows.own, self.choices() as f64);
        let scores = own * experts;
        let mut block = on.device.linear(own, on.backbone.hidden as f64, experts);
        // Largest, exponential, sum, division, and the comparison of the top-k; backward a sum, a
        // difference and two products.
        block.forward += on.device.elementwise(6.0 * (scores * 4.0), 4.0).doing(5.0 * scores);
        block.input_grad += on.device.elementwise(4.0 * (scores * 4.0), 3.0).doing(4.0 * scores);
        block
    }

    /// Width of a row of routed experts: of the latent, or of the hidden state.
    const fn row_width(&self, on: &Deployment) -> u64 {
        match self.latent {
            Some(latent) => latent,
            None => on.backbone.hidden,
        }
    }

    /// Bytes of a row of routed experts.
    fn row_bytes(&self, on: &Deployment) -> f64 {
        self.row_width(on) as f64 * on.element_bytes()
    }

    /// Parameters of the matrices of one routed expert.
    fn expert_matrix_params(&self, on: &Deployment) -> u128 {
        let rows = u128::from(self.row_width(on)) * u128::from(self.width);
        u128::from(on.backbone.mlp_matrices) * rows
    }

    /// Parameters of one routed expert: its matrices and biases.
    fn expert_params(&self, on: &Deployment) -> u128 {
        let biases = if on.backbone.has_biases {
            let first = u128::from(on.backbone.mlp_matrices - 1) * u128::from(self.width);
            first + u128::from(self.row_width(on))
        } else {
            0
        };
        self.expert_matrix_params(on) + biases
    }

    /// Parameters between the hidden state and the latent, there and back: 2 h l.
    fn latent_params(&self, on: &Deployment) -> u128 {
        let latent = self.latent.map_or(0, u128::from);
        2 * u128::from(on.backbone.hidden) * latent
    }

    /// Parameters of the router.
    pub(crate) fn router_params(&self, on: &Deployment) -> u128 {
        u128::from(on.backbone.hidden) * u128::from(self.choices())
    }

    /// Parameters of the shared experts' gate: h where they have one.
    fn gate_params(&self, on: &Deployment) -> u128 {
        let has_gate = self.is_shared_gated && self.shared.width > 0;
        if has_gate { u128::from(on.backbone.hidden) } else { 0 }
    }

    /// The shared experts' gate: a score of each token, its sigmoid, and the product with what they
    /// give. Forward the input and the output are read and the product is written; backward the
    /// output, its gradient and the input are read and the gradients of output and input written,
    /// the latter's sum read once more. One column is no work for the cube.
    fn gate<T: Tally>(on: &Deployment, rows: &Rows) -> Block<T> {
        let (bytes, elements) = (on.own_bytes(rows), rows.own * on.backbone.hidden as f64);
        let pass = |passes: f64, kernels: f64, operations: f64| {
            on.device.elementwise(passes * bytes, kernels).doing(operations * elements)
        };
        Block {
            forward: pass(3.0, 3.0, 3.0),
            input_grad: pass(6.0, 4.0, 6.0),
            weight_grad: Cost::ZERO,
        }
    }

    /// Copies in expert order on one side of the exchange: each read and written. Unfused, an
    /// index and a gather kernel take each side, which passes over the rows twice.
    fn reorder<T: Tally>(&self, on: &Deployment, rows: f64, share: f64) -> Block<T> {
        let bytes = rows * self.row_bytes(on) * 2.0 * share;
        let (passes, kernels) = if on.kernel.moe_permute_fusion { (1.0, 1.0) } else { (2.0, 3.0) };
        let cost = on.device.gather(bytes * passes, kernels);
        Block { forward: cost, input_grad: cost, weight_grad: Cost::ZERO }
    }

    /// Parameters of the experts that a token visits, in the mean and at most; `None` if all of
    /// its choices are experts.
    pub(crate) fn visited_params(&self, on: &Deployment) -> Option<[f64; 2]> {
        let one = self.expert_params(on) as f64;
        (self.zeros > 0).then(|| [self.visited() * one, self.topk as f64 * one])
    }

    /// Parameters of the routed experts that a token doesn't visit, in the mean.
    pub(crate) fn resting_params(&self, on: &Deployment) -> u128 {
        let all = u128::from(self.experts) * self.expert_params(on);
        all - (all * u128::from(self.topk) / u128::from(self.choices())).min(all)
    }
}

/// The biases of the experts' last products, each row's weighted by its probability: expert by
/// expert, outside of the product, in the FP32 of the probabilities.
///
/// Forward each element is written as bias x probability (4 bytes), added (2 + 4 + 4), put together
/// (4 + 4) and rounded (4 + 2). Backward it is widened (2 + 4), rounded for the product's gradient
/// (4 + 2) and put together (2 + 2); gradients of biases and probabilities are a product (4 + 4)
/// and a sum (4) each.
///
/// # Source
/// Megatron-Core `experts.py:TEGroupedMLP._apply_bias`; Automodel has the same.
fn biases<T: Tally>(on: &Deployment, elements: f64, experts: f64) -> Block<T> {
    let pass = |bytes: f64, kernels: f64, operations: f64| {
        on.device.elementwise(elements * bytes, kernels).doing(elements * operations)
    };
    Block {
        forward: pass(28.0, 2.0 * experts + 2.0, 2.0),
        input_grad: pass(40.0, 5.0 * experts + 2.0, 4.0),
        weight_grad: Cost::ZERO,
    }
}

impl Transform for Moe {
    /// Router h E, routed experts, shared experts.
    fn params(&self, on: &Deployment) -> Params {
        Params {
            replicated: self.router_params(on) + self.gate_params(on) + self.latent_params(on),
            tensor: on.backbone.mlp_matrix_params(self.shared.width),
            expert: u128::from(self.experts) * self.expert_params(on),
        }
    }

    fn param_terms(&self, on: &Deployment) -> Vec<Breakdown> {
        let experts = vec![
            Breakdown::given("experts", self.experts as f64, Unit::Count),
            Breakdown::params(
                "one expert",
                self.expert_params(on),
                "matrices x hidden size x expert width",
            ),
        ];
        let shared = on.backbone.mlp_matrix_params(self.shared.width) + self.gate_params(on);
        let formula = match self.zeros {
            0 => "hidden size x experts",
            _ => "hidden size x (experts + zero experts)",
        };
        let mut terms = vec![Breakdown::params("router", self.router_params(on), formula)];
        if self.latent.is_some() {
            let formula = "2 x hidden size x latent";
            terms.push(Breakdown::params("expert latents", self.latent_params(on), formula));
        }
        terms.extend([
            Breakdown::product("routed experts", Unit::Count, experts)
                .by("experts x one expert", MEGATRON),
            Breakdown::params("shared experts", shared, "matrices x hidden size x shared width"),
        ]);
        terms
    }

    fn params_formula(&self) -> &'static str {
        "attention + router + routed experts + shared experts + norms"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        (on.backbone.hidden * self.choices()) as f64
            + self.visited() * self.expert_matrix_params(on) as f64
            + on.backbone.mlp_matrix_params(self.shared.width) as f64
            + self.gate_params(on) as f64
            + self.latent_params(on) as f64
    }

    fn frozen(&self, on: &Deployment) -> Params {
        let free = |part, params| if on.tuning.trains(part) { 0 } else { params };
        let shared = free(ModelPart::SharedExperts, self.gate_params(on));
        let experts = u128::from(self.experts) * self.expert_params(on);
        let matrices = on.backbone.mlp_matrix_params(self.shared.width);
        Params {
            replicated: free(ModelPart::Router, self.router_params(on))
                + shared
                + free(ModelPart::Experts, self.latent_params(on)),
            tensor: free(ModelPart::SharedExperts, matrices),
            expert: free(ModelPart::Experts, experts),
        }
    }

    fn frozen_matrix_params(&self, on: &Deployment) -> f64 {
        let free = |part, params: f64| if on.tuning.trains(part) { 0.0 } else { params };
        let shared = on.backbone.mlp_matrix_params(self.shared.width) + self.gate_params(on);
        let routed = self.visited() * self.expert_matrix_params(on) as f64;
        free(ModelPart::Router, (on.backbone.hidden * self.choices()) as f64)
            + free(ModelPart::Experts, routed + self.latent_params(on) as f64)
            + free(ModelPart::SharedExperts, shared as f64)
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        self.shared.matrices(on, add);
        let local = self.local_experts(on) as f64;
        let (rows, width) = (self.row_width(on) as f64, self.width as f64);
        let inputs = on.backbone.mlp_inputs() * width;
        let is_expert = true;
        let [first, last] = [LoraModule::ExpertsFc1, LoraModule::ExpertsFc2].map(Some);
        let (shape, count) = ([inputs, rows], local);
        add(Matrices { shape, cut: Cut::Rows, count, is_expert, module: first });
        let shape = [rows, width];
        add(Matrices { shape, cut: Cut::Columns, count, is_expert, module: last });
        if let Some(latent) = self.latent {
            let (h, latent) = (on.backbone.hidden as f64, latent as f64);
            add(Matrices::dense([latent, h], Cut::Nothing));
            add(Matrices::dense([h, latent], Cut::Nothing));
        }
        let router = [self.choices() as f64, on.backbone.hidden as f64];
        add(Matrices::dense(router, Cut::Nothing).linear(LoraModule::Router));
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let again = Again::with(RecomputeModule::Moe);
        to.push("Router", Place::MlpInput, again, self.router(on, rows));
        if let Some(latent) = self.latent {
            // On a rank's own tokens, in front of dispatch and behind the sum.
            let (own, h, latent) = (rows.own, on.backbone.hidden as f64, latent as f64);
            let [down, up] = [[h, latent], [latent, h]].map(|[k, n]| on.device.linear(own, k, n));
            to.push("Expert latents", Place::MlpInput, again, down);
            to.push("Expert latents", Place::MlpOutput, again, up);
        }
        if let Some([up, down]) = self.shared.blocks(on, rows) {
            let again = Again::with(RecomputeModule::SharedExperts);
            to.push("Shared experts", Place::Mlp, again.at_level_1(), up);
            to.push("Shared experts", Place::Mlp, again, down);
            if self.is_shared_gated {
                to.push("Shared experts", Place::Mlp, again, Self::gate(on, rows));
            }
        }
    }

    /// Permutation on both sides of the exchange, experts, their activation function, and the
    /// weighted sum of what they give. The fullest rank is waited for.
    fn routed_operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (device, h) = (&on.device, self.row_width(on) as f64);
        let awaited = self.awaited_rows(on, rows);
        let local = self.local_experts(on) as f64;
        let inner = self.width as f64 / on.ranks.etp as f64;
        // Of few tokens, experts that get none are not read.
        let touched = local * rows.routed.touched;
        let each = awaited / touched;
        // Without an exchange there is one side, half of it in front of what would be dispatch.
        let side = self.reorder(on, awaited, 1.0) * if on.ranks.ep == 1 { 0.5 } else { 1.0 };
        let up = device.grouped_linear(each, h, on.backbone.mlp_inputs() * inner, touched);
        let down = device.grouped_linear(each, inner, h, touched);
        // The weighted sum reads every copy and writes every token.
        let sides = if on.ranks.ep == 1 { 1.0 } else { 2.0 };
        let sum: Block<T> = self.reorder(on, awaited, 1.0 + 1.0 / self.visited()) * sides;
        // A product and an addition for each element, both ways.
        let [forward, input_grad] =
            [sum.forward, sum.input_grad].map(|pass| pass.doing(2.0 * awaited * h));
        let moe = Again::with(RecomputeModule::Moe);
        let permute = Again::with(RecomputeModule::MoePermute);
        to.push_routed("Permutation", Place::MlpInput, permute, side);
        to.push_routed("Permutation", Place::Experts, permute, side);
        to.push_routed("Experts", Place::Experts, moe.at_level_1(), up);
        to.push_routed(
            "Experts' activation function",
            Place::Experts,
            Again::with(RecomputeModule::MoeAct),
            activation(on, awaited, inner),
        );
        to.push_routed("Experts", Place::Experts, moe, down);
        if on.backbone.has_biases {
            // Serving adds them in the product's own kernel.
            let bias =
                if rows.past.is_some() { Block::default() } else { biases(on, awaited * h, local) };
            to.push_routed("Experts' biases", Place::Experts, moe, bias);
        }
        let sum = Block { forward, input_grad, ..sum };
        to.push_routed("Unpermutation", Place::MlpOutput, moe, sum);
    }

    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        use RecomputeModule::{Moe, MoeAct, MoePermute, SharedExperts};
        let element = on.element_bytes();
        let [first, last] = [LoraModule::ExpertsFc1, LoraModule::ExpertsFc2]
            .map(|module| on.kept_input_bytes(ModelPart::Experts, module));
        let [shared_first, shared_last] = [LoraModule::LinearFc1, LoraModule::LinearFc2]
            .map(|module| on.kept_input_bytes(ModelPart::SharedExperts, module));
        let fullest = self.fullest_rows(on, rows);
        let inputs = on.backbone.mlp_inputs();
        let inner = fullest * (self.width as f64 / on.ranks.etp as f64);
        let shared = rows.group * on.split(self.shared.width);
        let hidden = on.backbone.hidden as f64;
        // The shared experts' input is gathered again in the backward; a rank keeps its own part.
        let shared_input =
            if self.shared.width > 0 { rows.own * hidden * shared_first } else { 0.0 };
        // With a latent, its own copies beside the rows: the one sent and the sum that came back.
        let latents = self.latent.map_or(0.0, |width| 2.0 * rows.own * width as f64 * first);
        let permuted = fullest * self.row_width(on) as f64 * first + latents;
        // A gate needs what it weighs.
        let weighed = if self.is_shared_gated && self.shared.width > 0 {
            rows.own * hidden * on.linear_input_bytes()
        } else {
            0.0
        };
        let shared = (inputs * element + shared_last) * shared + shared_input + weighed;
        let activations = SwapModule::Activations;
        to.extend([
            Saved::new(Tensor::Probs, rows.own * self.choices() as f64 * 5.0, &[Moe])
                .swapped_by(SwapModule::Probs),
            Saved::new(Tensor::Permuted, permuted, &[MoePermute, Moe]).swapped_by(activations),
            Saved::new(Tensor::ActivationInput, inputs * inner * element, &[Moe])
                .at_level_1()
                .swapped_by(activations),
            Saved::new(Tensor::ActivationOutput, inner * last, &[MoeAct, Moe])
                .swapped_by(activations),
            Saved::new(Tensor::Shared, shared, &[SharedExperts, Moe]).at_level_1(),
        ]);
    }

    /// The return of the experts' outputs, which is the forward's.
    ///
    /// Megatron-Core's layer still names the rows that it sent and received and the outputs in the
    /// experts' and in the senders' order: four times R h, and the shared experts' output. A
    /// dispatcher that sends a token once to a rank, or gathers all tokens, has those two
    /// beside the experts' outputs. MindSpeed gives each copy back once it is read.
    ///
    /// # Source
    /// Megatron-Core, `moe_layer.py` and `token_dispatcher.py`; MindSpeed,
    /// `moe_layer_overlap_all2all.py`.
    fn working_bytes(&self, on: &Deployment, rows: &Rows) -> f64 {
        let fullest = self.fullest_rows(on, rows);
        let (ranks, own) = (on.ranks.ep as f64, rows.own);
        let copies = match on.dispatch.dispatcher {
            _ if on.kernel.framework == Framework::Mindspeed => 2.0 * fullest,
            // A group of one rank returns what it is given.
            Dispatcher::Alltoall => fullest * if ranks > 1.0 { 4.0 } else { 3.0 },
            Dispatcher::Flex => {
                // Ranks that a token's experts lie on, for even routing.
                let missed = libm::pow(1.0 - 1.0 / ranks, self.visited());
                fullest + 2.0 * own * ranks * (1.0 - missed)
            }
            Dispatcher::Allgather => fullest + 2.0 * own * ranks,
        };
        let shared = if self.shared.width > 0 { on.own_bytes(rows) } else { 0.0 };
        copies * self.row_bytes(on) + shared
    }

    fn shapes_params(&self, on: &Deployment) -> f64 {
        let expert = self.width as f64 / on.ranks.etp as f64;
        let shared = on.split(self.shared.width);
        // A shared expert as wide as a routed one has the same shapes.
        let shared = if (shared - expert).abs() < 0.5 { 0.0 } else { shared };
        if self.latent.is_some() {
            let [hidden, row] = [on.backbone.hidden, self.row_width(on)].map(|it| it as f64);
            let matrices = on.backbone.mlp_matrices as f64;
            return matrices * (row * expert + hidden * shared) + 2.0 * hidden * row;
        }
        (on.backbone.mlp_matrices * on.backbone.hidden) as f64 * (expert + shared)
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        if rows.past.is_some() {
            return self.served_exchanges(on, rows, to);
        }
        if self.shared.width > 0 {
            let shared = Again::with(RecomputeModule::SharedExperts);
            // A zero-memory level doesn't run the last product, whose sums are scattered.
            let again = [shared.at_level_1(), shared];
            Dense::tensor_exchanges(on, rows, ModelPart::SharedExperts, again, to);
        }
        self.expert_exchanges(on, rows, to);
    }
}
