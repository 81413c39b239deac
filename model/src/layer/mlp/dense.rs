//! The dense MLP: two or three matrices, split over TP.

use alloc::vec;
use alloc::vec::Vec;

use super::transform::Transform;
use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::kernel::Block;
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{LoraModule, ModelPart, RecomputeModule};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::activation;
use crate::layer::params::{Cut, Matrices, Params};
use crate::metric::breakdown::Breakdown;

/// An MLP of one width for all tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dense {
    /// f, inner width.
    pub(crate) width: u64,
}

impl Dense {
    /// The products up to the activation function, with it, and the product behind it.
    ///
    /// `None` if the width is zero.
    pub(super) fn blocks<T: Tally>(self, on: &Deployment, rows: &Rows) -> Option<[Block<T>; 2]> {
        let (tokens, h, inner) = (rows.group, on.backbone.hidden as f64, on.split(self.width));
        (self.width > 0).then(|| {
            let up = on.device.linear(tokens, h, on.backbone.mlp_inputs() * inner);
            [up + activation(on, tokens, inner), on.device.linear(tokens, inner, h)]
        })
    }

    /// Adds the matrices of this many MLPs; gate and up-projection are one.
    pub(super) fn add_matrices(
        self,
        on: &Deployment,
        count: f64,
        is_expert: bool,
        add: &mut dyn FnMut(Matrices),
    ) {
        let (h, width) = (on.backbone.hidden as f64, self.width as f64);
        let inputs = on.backbone.mlp_inputs();
        let [first, last] = [LoraModule::LinearFc1, LoraModule::LinearFc2].map(Some);
        let shape = [inputs * width, h];
        add(Matrices { shape, cut: Cut::Rows, count, is_expert, module: first });
        add(Matrices { shape: [h, width], cut: Cut::Columns, count, is_expert, module: last });
    }

    /// TP: tokens are gathered in front of the MLP and its sums scattered behind it; backward the
    /// mirror image, and the input is gathered again for the weight's gradient. Without SP the sums
    /// are all-reduced. The sums are made again on their own terms.
    ///
    /// # Source
    /// Korthikanti et al. 2022, section 4.2.2; Megatron-Core `layers.py`.
    pub(super) fn tensor_exchanges(
        on: &Deployment,
        rows: &Rows,
        part: ModelPart,
        [gathered, summed]: [Again; 2],
        to: &mut Exchanges,
    ) {
        if on.ranks.tp == 1 {
            return;
        }
        let (machine, group) = (&on.machine, on.tp_group());
        let hidden = rows.group * on.backbone.hidden as f64 * on.element_bytes();
        let sums = Calls::new((Hop::MlpOut, 1.0), (Hop::MlpIn, 1.0), summed);
        if on.ranks.sp == 1 {
            let call = machine.all_reduce_call(&group, hidden);
            to.push(Axis::Tp, Collective::AllReduce, &call, sums);
            return;
        }
        let call = machine.gather_call(&group, hidden);
        // Frozen weights have no gradient that reads the input again.
        let read = if on.tuning.trains(part) { 2.0 } else { 1.0 };
        let gathers = Calls::new((Hop::MlpIn, 1.0), (Hop::MlpOut, read), gathered);
        to.push(Axis::Tp, Collective::AllGather, &call, gathers);
        to.push(Axis::Tp, Collective::ReduceScatter, &call, sums);
    }
}

/// The dense MLP's recomputation.
const AGAIN: Again = Again::with(RecomputeModule::Mlp);

impl Transform for Dense {
    /// 3 h f with a gate, 2 h f without. Biases of the first matrices are split, that of the last
    /// is not.
    fn params(&self, on: &Deployment) -> Params {
        let backbone = &on.backbone;
        let tensor = backbone.mlp_matrix_params(self.width);
        if !backbone.has_biases {
            return Params { tensor, ..Params::default() };
        }
        let first = u128::from(backbone.mlp_matrices - 1) * u128::from(self.width);
        Params { replicated: u128::from(backbone.hidden), tensor: tensor + first, expert: 0 }
    }

    fn param_terms(&self, on: &Deployment) -> Vec<Breakdown> {
        let formula = "matrices x hidden size x FFN width";
        vec![Breakdown::params("MLP", self.params(on).total(), formula)]
    }

    fn params_formula(&self) -> &'static str {
        "attention + MLP + norms"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        on.backbone.mlp_matrix_params(self.width) as f64
    }

    fn frozen(&self, on: &Deployment) -> Params {
        if on.tuning.trains(ModelPart::Mlp) { Params::default() } else { self.params(on) }
    }

    fn frozen_matrix_params(&self, on: &Deployment) -> f64 {
        if on.tuning.trains(ModelPart::Mlp) { 0.0 } else { self.matrix_params(on) }
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        self.add_matrices(on, 1.0, false, add);
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        if let Some([up, down]) = self.blocks(on, rows) {
            to.push("Dense MLP", Place::Mlp, AGAIN, up);
            // No backward needs the last product's result.
            to.push("Dense MLP", Place::Mlp, AGAIN.never_if(on.host.stops_early), down);
        }
    }

    fn routed_operators<T: Tally>(&self, _: &Deployment, _: &Rows, _: &mut Operators<T>) {}

    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let (tokens, width) = (rows.group, on.split(self.width));
        let input = tokens * on.backbone.mlp_inputs() * width * on.element_bytes();
        let output = tokens * width * on.kept_input_bytes(ModelPart::Mlp, LoraModule::LinearFc2);
        to.extend([
            Saved::new(Tensor::ActivationInput, input, &[RecomputeModule::Mlp]),
            Saved::new(Tensor::ActivationOutput, output, &[RecomputeModule::Mlp]),
        ]);
    }

    /// The gradient of the activation function's input, when the one of its output takes the place
    /// of the saved output, beside the residual's gradient, which in a pipeline is the boundary
    /// tensor that arrived.
    fn working_bytes(&self, on: &Deployment, rows: &Rows) -> f64 {
        let residual = if on.ranks.pp > 1 { 0.0 } else { on.stream_bytes(rows) };
        let inner = on.backbone.mlp_inputs() * on.split(self.width);
        rows.group * inner * on.element_bytes() + residual
    }

    fn shapes_params(&self, on: &Deployment) -> f64 {
        (on.backbone.mlp_matrices * on.backbone.hidden) as f64 * on.split(self.width)
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        // Where recomputation ends in front of the last product, it doesn't add that up.
        let summed = AGAIN.never_if(on.host.stops_early);
        Self::tensor_exchanges(on, rows, ModelPart::Mlp, [AGAIN, summed], to);
    }
}
