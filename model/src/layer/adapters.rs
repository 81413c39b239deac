//! Adapters of low rank beside frozen linear layers: y = W x + (alpha / r) B A x, of which A and B
//! alone are trained.
//!
//! Letters: r rank of the adapters, h hidden, T and T' tokens of a TP group and of a rank, R rows
//! of local experts, t TP.
//!
//! Sources: LoRA (arXiv 2106.09685), section 4; Megatron-Bridge, `peft/lora.py`,
//! `peft/lora_layers.py:LoRALinear`, `peft/utils.py:ParallelLinearAdapter`. Experts have a pair
//! each, as in Hugging Face's PEFT and ms-swift.

use alloc::vec::Vec;

use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::kernel::{Block, Cost};
use crate::device::operator::{Again, Operator, Operators, Place};
use crate::device::rows::Rows;
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{Framework, LoraModule, ModelPart, RecomputeModule};
use crate::ground::tally::Tally;
use crate::layer::architecture::LayerKind;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Cut, RankParams};

/// The name of adapters' operators.
const NAME: &str = "Adapters";

/// The adapters of one linear layer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Adapter {
    module: LoraModule,
    /// r.
    rank: f64,
    /// Widths of the linear layer's input and output, whole.
    widths: [f64; 2],
    cut: Cut,
    /// Pairs on one device, and pairs that a token meets.
    count: f64,
    met: f64,
    is_expert: bool,
}

/// The adapters of a layer, in the order of its matrices.
fn of_layer(on: &Deployment, kind: &LayerKind) -> Vec<Adapter> {
    let mut all: Vec<Adapter> = Vec::with_capacity(8);
    let Some(rank) = on.tuning.rank else { return all };
    let visited = kind.mlp.moe().map_or(1.0, |moe| moe.visited());
    kind.matrices(on, &mut |matrices| {
        let [outputs, inputs] = matrices.shape;
        let adapted = matrices.module.filter(|module| on.tuning.adapts(*module));
        let Some(module) = adapted.filter(|_| outputs > 0.0 && inputs > 0.0) else { return };
        match all.last_mut() {
            // Queries, keys and values are one linear layer.
            Some(last) if last.module == module => last.widths[1] += outputs,
            Some(_) | None => all.push(Adapter {
                module,
                rank: rank as f64,
                widths: [inputs, outputs],
                cut: matrices.cut,
                count: matrices.count,
                met: if matrices.is_expert { visited } else { 1.0 },
                is_expert: matrices.is_expert,
            }),
        }
    });
    all
}

/// Parameters of a layer's adapters on one device: r (inputs + outputs) each, over the ranks that
/// cut the linear layer.
pub(crate) fn params(on: &Deployment, kind: &LayerKind) -> RankParams {
    let mut sum = RankParams::default();
    for adapter in of_layer(on, kind) {
        let params = adapter.pair_params() * adapter.count / adapter.ranks(on);
        if adapter.is_expert { sum.expert += params } else { sum.dense += params }
    }
    sum
}

/// Parameters of the whole layer's adapters, over all devices.
pub(crate) fn params_total(on: &Deployment, kind: &LayerKind) -> f64 {
    let experts = kind.mlp.moe().map_or(1.0, |moe| moe.experts as f64);
    let pairs = |adapter: &Adapter| if adapter.is_expert { experts } else { adapter.count };
    of_layer(on, kind).iter().map(|adapter| adapter.pair_params() * pairs(adapter)).sum()
}

/// Forward FLOPs of one token in a layer's adapters: two for each parameter that it meets.
pub(crate) fn flops(on: &Deployment, kind: &LayerKind) -> f64 {
    of_layer(on, kind).iter().map(|adapter| 2.0 * adapter.pair_params() * adapter.met).sum()
}

/// Takes the gradients of frozen weights from a layer's operators, and adds its adapters.
pub(crate) fn tune<T: Tally>(
    on: &Deployment,
    rows: &Rows,
    kind: &LayerKind,
    operators: &mut Operators<T>,
) {
    add(on, rows, kind, false, operators);
    tune_routed(on, rows, kind, operators);
}

/// Takes the gradients of frozen weights from the operators that follow the loads, and adds their
/// adapters.
pub(crate) fn tune_routed<T: Tally>(
    on: &Deployment,
    rows: &Rows,
    kind: &LayerKind,
    operators: &mut Operators<T>,
) {
    let has_experts = kind.mlp.moe().is_some();
    operators
        .freeze(|operator| operator.name != NAME && !on.tuning.trains(part(operator, has_experts)));
    add(on, rows, kind, true, operators);
}

/// The part whose matrices an operator multiplies with, if it does.
fn part<T: Tally>(operator: &Operator<T>, has_experts: bool) -> ModelPart {
    match operator.place {
        Place::MixerInput | Place::Projection | Place::Core | Place::Output => {
            ModelPart::SelfAttention
        }
        Place::Mlp if has_experts => ModelPart::SharedExperts,
        Place::Mlp => ModelPart::Mlp,
        Place::MlpInput if operator.name == "Router" => ModelPart::Router,
        Place::MlpInput | Place::Experts | Place::MlpOutput => ModelPart::Experts,
    }
}

fn add<T: Tally>(
    on: &Deployment,
    rows: &Rows,
    kind: &LayerKind,
    is_routed: bool,
    to: &mut Operators<T>,
) {
    for adapter in of_layer(on, kind).iter().filter(|adapter| adapter.is_expert == is_routed) {
        let (place, again) = adapter.place(kind);
        let block = adapter.block(on, rows, kind);
        if is_routed {
            to.push_routed(NAME, place, again, block);
        } else {
            to.push(NAME, place, again, block);
        }
    }
}

/// Bytes of normed inputs that a layer keeps: of a part whose first matrix is trained, or has an
/// adapter, which keeps what its TP group has gathered.
///
/// # Source
/// Megatron-Bridge, `return_layernorm_output_gathered`.
pub(crate) fn normed_bytes(on: &Deployment, rows: &Rows, kind: &LayerKind) -> f64 {
    let hidden = on.backbone.hidden as f64;
    let adapters = of_layer(on, kind);
    let of = |part: ModelPart, is_first: fn(LoraModule) -> bool| {
        let own = rows.own * hidden * on.linear_input_bytes();
        let of_part = adapters.iter().filter(|adapter| is_first(adapter.module));
        let read = of_part.map(|adapter| adapter.input_rows(on, rows) * hidden);
        let read = read.fold(0.0, f64::max) * on.element_bytes();
        if on.tuning.trains(part) { own } else { read }
    };
    let mixer = if kind.mixer.is_nothing() {
        0.0
    } else {
        of(ModelPart::SelfAttention, |module| {
            use LoraModule::{InProj, LinearKvDownProj, LinearQDownProj, LinearQkv};
            matches!(module, LinearQkv | LinearQDownProj | LinearKvDownProj | InProj)
        })
    };
    let mlp = match kind.mlp.moe() {
        _ if kind.mlp.is_nothing() => 0.0,
        // Experts keep rows of their own, shared experts an input of their own.
        Some(_) => of(ModelPart::Router, |module| module == LoraModule::Router),
        None => of(ModelPart::Mlp, |module| module == LoraModule::LinearFc1),
    };
    mixer + mlp
}

/// Bytes of rows between A and B.
pub(crate) fn inner_bytes(on: &Deployment, rows: &Rows, kind: &LayerKind) -> f64 {
    let kept = |adapter: &Adapter| {
        let fullest = kind.mlp.moe().filter(|_| adapter.is_expert);
        let kept = fullest.map_or_else(
            || if adapter.cut == Cut::Nothing { rows.own } else { rows.group },
            |moe| moe.fullest_rows(on, rows),
        );
        kept * adapter.rank * on.element_bytes()
    };
    of_layer(on, kind).iter().map(kept).sum()
}

/// TP: A's part of r columns is gathered, T r, and its gradient scattered. Behind a row-parallel
/// layer Megatron-Bridge cuts B by its output and gathers that, T h; others have B on each rank.
pub(crate) fn exchanges(on: &Deployment, rows: &Rows, kind: &LayerKind, to: &mut Exchanges) {
    for adapter in of_layer(on, kind) {
        if adapter.is_expert || adapter.cut == Cut::Nothing || on.ranks.tp == 1 {
            continue;
        }
        let (_, again) = adapter.place(kind);
        let [front, behind] = if adapter.is_of_mixer() {
            [Hop::MixerIn, Hop::MixerOut]
        } else {
            [Hop::MlpIn, Hop::MlpOut]
        };
        let group = on.tp_group();
        let gather = |width: f64| {
            let bytes = rows.group * width * on.element_bytes();
            on.machine.gather_call(&group, bytes)
        };
        let is_behind = adapter.cut == Cut::Columns;
        let hop = if is_behind { behind } else { front };
        let inner = gather(adapter.rank);
        let once = |forward: f64, backward: f64| Calls::new((hop, forward), (hop, backward), again);
        to.push(Axis::Tp, Collective::AllGather, &inner, once(1.0, 0.0));
        to.push(Axis::Tp, Collective::ReduceScatter, &inner, once(0.0, 1.0));
        if is_behind && on.kernel.framework == Framework::Megatron {
            let outer = gather(adapter.widths[1]);
            to.push(Axis::Tp, Collective::AllGather, &outer, once(1.0, 1.0));
        }
    }
}

impl Adapter {
    /// Parameters of A and B.
    fn pair_params(&self) -> f64 {
        self.rank * (self.widths[0] + self.widths[1])
    }

    /// Ranks that cut the linear layer.
    fn ranks(&self, on: &Deployment) -> f64 {
        let ranks = if self.is_expert { on.ranks.etp } else { on.ranks.tp };
        if self.cut == Cut::Nothing { 1.0 } else { ranks as f64 }
    }

    const fn is_of_mixer(&self) -> bool {
        use LoraModule as M;
        match self.module {
            M::LinearQkv
            | M::LinearProj
            | M::LinearQDownProj
            | M::LinearQUpProj
            | M::LinearKvDownProj
            | M::LinearKvUpProj
            | M::InProj
            | M::OutProj => true,
            M::LinearFc1 | M::LinearFc2 | M::ExpertsFc1 | M::ExpertsFc2 | M::Router => false,
        }
    }

    /// Rows of its input that a device has: the TP group's where the layer gathers them.
    fn input_rows(&self, on: &Deployment, rows: &Rows) -> f64 {
        let is_gathered = self.cut != Cut::Nothing && on.ranks.tp > 1;
        if is_gathered { rows.group } else { rows.own }
    }

    /// Place of its operators, and with what they are made again.
    fn place(&self, kind: &LayerKind) -> (Place, Again) {
        use LoraModule as M;
        let with = Again::with;
        match self.module {
            M::LinearQkv | M::InProj => (Place::Projection, Again::LAYER),
            M::LinearQDownProj | M::LinearKvDownProj => {
                (Place::MixerInput, with(RecomputeModule::MlaQkv))
            }
            M::LinearQUpProj | M::LinearKvUpProj => {
                (Place::Projection, with(RecomputeModule::MlaUpProj))
            }
            M::LinearProj | M::OutProj => (Place::Output, Again::LAYER),
            M::LinearFc1 | M::LinearFc2 if kind.mlp.moe().is_some() => {
                (Place::Mlp, with(RecomputeModule::SharedExperts))
            }
            M::LinearFc1 | M::LinearFc2 => (Place::Mlp, with(RecomputeModule::Mlp)),
            M::ExpertsFc1 | M::ExpertsFc2 => (Place::Experts, with(RecomputeModule::Moe)),
            M::Router => (Place::MlpInput, with(RecomputeModule::Moe)),
        }
    }

    /// Two products in 16 bits, the output's scale and the addition to the layer's own; backward
    /// the gradient's scale and the addition to the input's own gradient.
    ///
    /// A column-parallel layer's A is cut by r, a row-parallel one's by its input; B by its output.
    fn block<T: Tally>(&self, on: &Deployment, rows: &Rows, kind: &LayerKind) -> Block<T> {
        let (device, ranks, r) = (on.device.for_adapters(), self.ranks(on), self.rank);
        let [inputs, outputs] = self.widths;
        let [first, last] = match self.cut {
            Cut::Rows => [[inputs, r / ranks], [r, outputs / ranks]],
            Cut::Columns => [[inputs / ranks, r], [r, outputs / ranks]],
            Cut::Nothing => [[inputs, r], [r, outputs]],
        };
        let experts = kind.mlp.moe().filter(|_| self.is_expert);
        let tokens = match (experts, self.cut) {
            (Some(moe), _) => moe.awaited_rows(on, rows),
            (None, Cut::Nothing) => rows.own,
            (None, Cut::Rows | Cut::Columns) => rows.group,
        };
        let products: Block<T> = match experts {
            Some(_) => {
                let touched = self.count * rows.routed.touched;
                let one = |[k, n]: [f64; 2]| device.grouped_linear(tokens / touched, k, n, touched);
                one(first) + one(last)
            }
            None => {
                let one = |[k, n]: [f64; 2]| device.linear(tokens, k, n);
                one(first) + one(last)
            }
        };
        let element = on.element_bytes();
        let [input, output] = match (experts, self.cut) {
            (_, Cut::Rows) => [tokens * inputs, tokens * outputs / ranks],
            // What a row-parallel layer gives is scattered over the tokens.
            (None, Cut::Columns) => [tokens * inputs / ranks, rows.own * outputs],
            (Some(_), Cut::Columns) => [tokens * inputs / ranks, tokens * outputs],
            (_, Cut::Nothing) => [tokens * inputs, tokens * outputs],
        };
        let pass = |elements: f64| device.elementwise(elements * element, 1.0).doing(elements);
        let around = Block {
            forward: pass(2.0 * output) + pass(3.0 * output),
            input_grad: pass(2.0 * output) + pass(3.0 * input),
            weight_grad: Cost::ZERO,
        };
        products + around
    }
}
