//! The parts that every stage is made of: its kinds of layers and its ends, with what they
//! exchange.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{AXES, LAYER_AXES, PerAxis, axis_index};
use crate::device::exchange::{Exchange, Exchanges, Hop, HopSeconds};
use crate::device::kernel::{Block, Cost};
use crate::device::operator::{Operators, Place};
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{ContextParallelAlgo, CudaGraph};
use crate::layer::adapters;
use crate::layer::architecture::{Architecture, KindId, LayerKind, PerKind};
use crate::layer::deployment::Deployment;
use crate::layer::embedding_head::Ends;
use crate::layer::mixer::Mix;
use crate::layer::mlp::Transform;
use crate::layer::transformer_layer::Work;
use crate::training::boundary::Boundary;
use crate::training::overlap::Overlap;
use crate::training::pipeline_schedule::PipelineSchedule;
use crate::training::plan::Plan;
use crate::training::recomputation::Recomputation;

/// Seconds of a layer's exchanges by axis, inside the domain and between domains.
pub(crate) type Links = [HopSeconds; LAYER_AXES];

/// Everything that stages are made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    pub(crate) work: Arc<Work>,
    /// One layer of each kind.
    pub(crate) layers: Vec<Arc<LayerPart>>,
    pub(crate) ends: Arc<Ends>,
    /// The way from a stage to the next.
    pub(crate) boundary: Boundary,
    /// Kind of MTP layers.
    pub(crate) mtp: KindId,
    pub(crate) schedule: PipelineSchedule,
    pub(crate) overlap: Overlap,
    /// Whether whole layers are computed again.
    pub(crate) repeats_layers: bool,
    /// Exchange of context parallelism, where there is any.
    pub(crate) context: Option<ContextParallelAlgo>,
}

/// Cost of a layer as a whole, whatever is computed again and hidden.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerCost {
    pub(crate) total: Block,
    /// Forward that whole-layer recomputation does again.
    pub(crate) again: Cost,
    /// Kernels that exchanges can hide behind, forward and backward.
    pub(crate) covers: [Cover; 2],
    /// Whether it has routed experts.
    pub(crate) has_experts: bool,
    /// Seconds by place, for pairs.
    pub(crate) places: PlaceSeconds,
}

/// A layer as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerPart {
    pub(crate) cost: Arc<LayerCost>,
    /// Forward that the backward computes again, without whole-layer recomputation.
    pub(crate) recomputed: Cost,
    /// Its seconds in front of the mixer's and of the MLP's backward.
    pub(crate) recomputed_places: [f64; 2],
    pub(crate) exchanges: Exchanges,
    pub(crate) links: LayerLinks,
    pub(crate) hops: LayerHops,
    /// Seconds that compute waits when one layer's forward and another one's backward run as a
    /// pair. Zero where no pairs run.
    pub(crate) pair: PerAxis,
}

/// Seconds of kernels that an exchange can hide behind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cover {
    /// The mixer's core: it hides a ring.
    pub(crate) core: f64,
    /// Shared experts: they hide a dispatch.
    pub(crate) shared: f64,
    /// The experts' products.
    pub(crate) experts: f64,
}

/// Seconds of one layer's exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerLinks {
    /// Forward and backward.
    pub(crate) passes: [Links; 2],
    /// Made again for the backward, without whole-layer recomputation.
    pub(crate) chosen: Links,
    /// Made again by whole-layer recomputation.
    pub(crate) whole: Links,
    /// Seconds of a ring of context parallelism in these four, in their order.
    pub(crate) ring: [f64; 4],
}

/// Seconds of a layer's operators by their place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PlaceSeconds {
    pub(crate) forward: [f64; Place::COUNT],
    pub(crate) input_grad: [f64; Place::COUNT],
    pub(crate) weight_grad: [f64; Place::COUNT],
    /// Part of the forward that whole-layer recomputation does again.
    pub(crate) again: [f64; Place::COUNT],
}

/// Seconds of a layer's exchanges by their place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerHops {
    /// Forward and backward.
    pub(crate) passes: [[HopSeconds; Hop::COUNT]; 2],
    /// Made again in front of the mixer's backward.
    pub(crate) again_mixer: HopSeconds,
    /// Made again in front of the MLP's or the experts' backward: TP and EP.
    pub(crate) again_mlp: [HopSeconds; 2],
}

impl LayerHops {
    /// All of their seconds.
    pub(crate) const SECONDS: usize = 2 * (2 * Hop::COUNT + 3);

    /// Their bits.
    pub(crate) fn bits(&self) -> [u64; Self::SECONDS] {
        let again = [self.again_mixer, self.again_mlp[0], self.again_mlp[1]];
        let mut bits = [0; Self::SECONDS];
        let all = self.passes.iter().flatten().chain(&again).flatten();
        for (bits, seconds) in bits.iter_mut().zip(all) {
            *bits = seconds.to_bits();
        }
        bits
    }
}

impl Parts {
    /// The parts of layers that cost this, pairs not run yet. Under other loads than `known` no
    /// layer without experts is another one.
    pub(crate) fn new(
        plan: &Plan,
        work: Arc<Work>,
        costs: &[Arc<LayerCost>],
        known: Option<&Self>,
    ) -> Self {
        let (on, rows) = (&plan.deployment, plan.rows());
        let recomputation = &plan.recomputation;
        let kinds = plan.architecture.kinds.iter().zip(&work.kinds).zip(costs).enumerate();
        let layers = kinds.map(|(index, ((kind, operators), cost))| {
            if let Some(known) = known.filter(|_| !cost.has_experts) {
                return known.layers[index].clone();
            }
            let mut exchanges = Exchanges::with_capacity(16);
            kind.mixer.exchanges(on, &rows, &mut exchanges);
            kind.mlp.exchanges(on, &rows, &mut exchanges);
            if on.tuning.rank.is_some() {
                adapters::exchanges(on, &rows, kind, &mut exchanges);
            }
            Arc::new(LayerPart::new(operators, cost.clone(), exchanges, recomputation))
        });
        let layers = layers.collect();
        let new_ends = || Arc::new(Ends::new(on, &rows));
        Self {
            work,
            layers,
            ends: known.map_or_else(new_ends, |known| known.ends.clone()),
            boundary: known.map_or_else(|| plan.boundary(), |known| known.boundary),
            mtp: plan.architecture.mtp.kind,
            schedule: plan.schedule,
            overlap: plan.overlap,
            repeats_layers: recomputation.is_whole,
            context: (on.ranks.cp > 1).then_some(on.context),
        }
    }

    /// The layer of a kind.
    pub(crate) fn layer(&self, kind: KindId) -> &LayerPart {
        &self.layers[kind.index()]
    }

    /// The kinds of layers with how many there are of each.
    pub(crate) fn counted<'a>(
        &'a self,
        counts: &'a PerKind<f64>,
    ) -> impl Iterator<Item = (&'a LayerPart, f64)> {
        let layers = self.layers.iter().zip(counts.iter().copied());
        layers.filter(|(_, count)| *count > 0.0).map(|(layer, count)| (&**layer, count))
    }
}

impl LayerCost {
    fn new(kind: &LayerKind, operators: &Operators) -> Self {
        let has_experts = kind.mlp.moe().is_some();
        Self {
            total: operators.total(),
            again: operators.made_again(|again| !again.never),
            covers: covers(operators, has_experts),
            has_experts,
            places: PlaceSeconds::new(operators),
        }
    }
}

impl LayerPart {
    fn new(
        operators: &Operators,
        cost: Arc<LayerCost>,
        exchanges: Exchanges,
        recomputation: &Recomputation,
    ) -> Self {
        let (links, hops) = seconds_of(&exchanges, recomputation);
        let (recomputed, recomputed_places) = recomputed(operators, recomputation);
        let pair = [0.0; AXES.len()];
        Self { cost, recomputed, recomputed_places, links, hops, exchanges, pair }
    }
}

fn covers(operators: &Operators, has_experts: bool) -> [Cover; 2] {
    let mut covers = [Cover::default(); 2];
    for operator in operators.iter() {
        let Block { forward, input_grad, weight_grad } = operator.block;
        let gradients = (input_grad + weight_grad).seconds();
        let seconds = [forward.seconds(), gradients];
        for (cover, seconds) in covers.iter_mut().zip(seconds) {
            match operator.place {
                Place::Core => cover.core += seconds,
                Place::Mlp if has_experts => cover.shared += seconds,
                // Their activation function runs on the vector unit, and hides nothing.
                Place::Experts if forward.flops > 0.0 => cover.experts += seconds,
                Place::MixerInput
                | Place::Projection
                | Place::Output
                | Place::MlpInput
                | Place::Mlp
                | Place::Experts
                | Place::MlpOutput => {}
            }
        }
    }
    covers
}

/// Seconds of these exchanges by axis, and by place.
fn seconds_of(exchanges: &Exchanges, recomputation: &Recomputation) -> (LayerLinks, LayerHops) {
    let (mut links, mut hops) = (LayerLinks::default(), LayerHops::default());
    let is_whole = recomputation.is_whole;
    for exchange in exchanges.iter() {
        let repeats = !is_whole && recomputation.repeats(&exchange.calls.again);
        links.add(exchange, is_whole, repeats);
        hops.add(exchange, repeats);
    }
    (links, hops)
}

impl LayerLinks {
    /// Adds an exchange: of a layer that is computed again as a whole, or one that is made again
    /// alone.
    fn add(&mut self, exchange: &Exchange, is_whole: bool, repeats: bool) {
        let axis = axis_index(exchange.axis);
        let [(_, forward), (_, backward)] = exchange.calls.passes;
        exchange.add_to(&mut self.passes[0][axis], forward);
        exchange.add_to(&mut self.passes[1][axis], backward);
        let chosen = if repeats { forward } else { 0.0 };
        let whole = if is_whole && !exchange.calls.again.never { forward } else { 0.0 };
        if chosen > 0.0 {
            exchange.add_to(&mut self.chosen[axis], chosen);
        }
        if whole > 0.0 {
            exchange.add_to(&mut self.whole[axis], whole);
        }
        if exchange.axis == Axis::Cp && exchange.collective == Collective::P2p {
            for (ring, calls) in self.ring.iter_mut().zip([forward, backward, chosen, whole]) {
                *ring += calls * exchange.seconds;
            }
        }
    }
}

impl PlaceSeconds {
    fn new(operators: &Operators) -> Self {
        let mut seconds = Self::default();
        for operator in operators.iter() {
            let place = operator.place as usize;
            let Block { forward, input_grad, weight_grad } = operator.block;
            let forward = forward.seconds();
            seconds.forward[place] += forward;
            seconds.input_grad[place] += input_grad.seconds();
            seconds.weight_grad[place] += weight_grad.seconds();
            if !operator.again.never {
                seconds.again[place] += forward;
            }
        }
        seconds
    }
}

/// Forward that is computed again without whole-layer recomputation, and its seconds in front of
/// the mixer's and of the MLP's backward.
fn recomputed(operators: &Operators, recomputation: &Recomputation) -> (Cost, [f64; 2]) {
    let (mut sum, mut seconds) = (Cost::ZERO, [0.0; 2]);
    for operator in operators.iter().filter(|operator| recomputation.repeats(&operator.again)) {
        let forward = operator.block.forward;
        let is_for_mixer = Recomputation::is_for_mixer(&operator.again);
        sum += forward;
        seconds[usize::from(!is_for_mixer)] += forward.seconds();
    }
    (sum, seconds)
}

impl LayerHops {
    /// Adds an exchange, which may be made again alone.
    fn add(&mut self, exchange: &Exchange, repeats: bool) {
        let passes = &exchange.calls.passes;
        for ((hop, calls), hops) in passes.iter().zip(&mut self.passes) {
            exchange.add_to(&mut hops[*hop as usize], *calls);
        }
        // Whole layers go through their forward's hops again, which pairs do themselves.
        if !repeats {
            return;
        }
        let is_expert = usize::from(exchange.axis == Axis::Ep);
        let made = if Recomputation::is_for_mixer(&exchange.calls.again) {
            &mut self.again_mixer
        } else {
            &mut self.again_mlp[is_expert]
        };
        exchange.add_to(made, passes[0].1);
    }
}

impl Plan {
    /// Every kind of work, its kernels launched one by one or as a graph.
    pub(crate) fn work(&self) -> Work {
        let (on, architecture) = (&self.deployment, &self.architecture);
        replayed(on, architecture, Work::new(on, architecture, &self.rows(), self.loss))
    }

    /// Cost of a layer of each kind of this work.
    pub(crate) fn layer_costs(&self, work: &Work) -> Vec<Arc<LayerCost>> {
        let kinds = self.architecture.kinds.iter().zip(&work.kinds);
        kinds.map(|(kind, operators)| Arc::new(LayerCost::new(kind, operators))).collect()
    }

    /// Cost of a layer of each kind of this work, where it is known under other loads: of layers
    /// without experts it is the same.
    pub(crate) fn layer_costs_under(
        &self,
        work: &Work,
        known: &[Arc<LayerCost>],
    ) -> Vec<Arc<LayerCost>> {
        let kinds = self.architecture.kinds.iter().zip(&work.kinds).zip(known);
        let costs = kinds.map(|((kind, operators), known)| match known.has_experts {
            true => Arc::new(LayerCost::new(kind, operators)),
            false => known.clone(),
        });
        costs.collect()
    }

    /// This work under the plan's loads, which may be others than its own.
    pub(crate) fn work_under(&self, work: &Work) -> Work {
        let (on, architecture) = (&self.deployment, &self.architecture);
        replayed(on, architecture, work.under(on, architecture, &self.rows()))
    }
}

fn replayed(on: &Deployment, architecture: &Architecture, mut work: Work) -> Work {
    let graph = on.kernel.cuda_graph_impl;
    if graph != CudaGraph::None {
        for (kind, operators) in architecture.kinds.iter().zip(&mut work.kinds) {
            let has_experts = kind.mlp.moe().is_some();
            replay(operators, !has_experts || graph == CudaGraph::Local);
        }
    }
    work
}

/// A recorded graph launches all its kernels at once. Transformer Engine's covers attention, the
/// router and a dense MLP; how many rows an expert gets is known too late for it. Megatron's own
/// covers a whole iteration, whose experts get buffers of a fixed size.
///
/// # Source
/// Megatron-Core, `--cuda-graph-impl` and `--cuda-graph-scope`.
fn replay(operators: &mut Operators, everything: bool) {
    for operator in operators.iter_mut().filter(|operator| everything || !operator.is_routed) {
        let block = &mut operator.block;
        for pass in [&mut block.forward, &mut block.input_grad, &mut block.weight_grad] {
            pass.launches = 0.0;
        }
    }
    // The graph's own launch, forward and backward, is at the layer's first operator.
    if let Some(first) = operators.iter_mut().next() {
        first.block.forward.launches = 1.0;
        first.block.input_grad.launches = 1.0;
    }
}
