//! What every stage is made of: the work of its layers and ends, and what they exchange.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::choice::CudaGraph;
use crate::layer::{Layer, Work};
use crate::layout::Stage;
use crate::operator::{Block, Cost};
use crate::pair::{EndHops, Hiding, LayerHops, LayerPairs, Side, exposed};
use crate::plan::Plan;
use crate::traffic::{Boundary, Exchange};

use super::{AXES, PerAxis, StageWork, Terms};

/// What every stage is made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    pub(crate) work: Arc<Work>,
    /// A dense and a MoE layer.
    pub(crate) layers: [WholeLayer; 2],
    pub(crate) exchanges: Vec<Exchange>,
    /// The way from a stage to the next.
    pub(crate) boundary: Boundary,
    /// Where a dense and a MoE layer's exchanges stand in it.
    pub(crate) hops: [LayerHops; 2],
    /// Those of embedding, heads and MTP projections.
    pub(crate) ends: EndHops,
    /// What compute waits for when one dense layer's forward and backward run as a pair, and one
    /// MoE layer's. Zero where no pairs run.
    pub(crate) layer_pairs: [PerAxis; 2],
}

/// A layer as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WholeLayer {
    pub(crate) total: Block,
    /// What the backward computes again of it, without whole-layer recomputation.
    pub(crate) recomputed: Cost,
    /// What whole-layer recomputation does again.
    pub(crate) again: Cost,
}

impl Parts {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self::of(plan, Arc::new(launched(plan)), &mut LayerPairs::default())
    }

    /// The parts of layers that cost this.
    pub(crate) fn of(plan: &Plan, work: Arc<Work>, pairs: &mut LayerPairs) -> Self {
        Self::made(plan, work, None, pairs)
    }

    /// The same parts under a plan with other loads, whose layers cost this: no load reaches a
    /// dense layer.
    pub(crate) fn under(&self, plan: &Plan, work: Arc<Work>, pairs: &mut LayerPairs) -> Self {
        Self::made(plan, work, Some(self.layer_pairs[0]), pairs)
    }

    fn made(
        plan: &Plan,
        work: Arc<Work>,
        dense_pair: Option<PerAxis>,
        pairs: &mut LayerPairs,
    ) -> Self {
        let layers = [(&work.dense, false), (&work.moe, true)].map(|(layer, is_moe)| WholeLayer {
            total: layer.total(),
            recomputed: layer.recomputed(plan, is_moe),
            again: layer.again(),
        });
        let exchanges = plan.exchanges();
        let hops = [false, true].map(|is_moe| LayerHops::new(&exchanges, is_moe));
        let ends = EndHops::new(&exchanges);
        let (boundary, layer_pairs) = (plan.boundary(), [[0.0; AXES.len()]; 2]);
        let mut parts = Self { work, layers, exchanges, boundary, hops, ends, layer_pairs };
        if plan.runs_pairs() {
            let mut pair =
                |is_moe| pairs.exposed(plan, &parts, is_moe, || parts.layer_pair(plan, is_moe));
            let dense = dense_pair.unwrap_or_else(|| pair(false));
            parts.layer_pairs = [dense, pair(true)];
        }
        parts
    }

    /// One layer's forward beside the backward of another of its kind.
    fn layer_pair(&self, plan: &Plan, is_moe: bool) -> PerAxis {
        let count = |kind: bool| f64::from(u8::from(kind));
        let content = Stage { dense: count(!is_moe), moe: count(is_moe), ..Stage::default() };
        let layers = [plan.shape.dense_layers, plan.shape.moe_layers][usize::from(is_moe)];
        if layers == 0 {
            return [0.0; AXES.len()];
        }
        let repeated_share = if plan.recomputes_whole_layers() { 1.0 } else { 0.0 };
        let hiding = Hiding::new(plan, || {
            let terms = Terms { repeated_share, ..Terms::default() };
            [StageWork::new(plan, &content, self, &terms); 2]
        });
        let side = Side { content, repeated_share, copy: 0.0 };
        exposed(plan, self, &hiding, [&side, &side])
    }
}

/// Every kind of work, its kernels launched one by one or as a graph.
pub(crate) fn launched(plan: &Plan) -> Work {
    replayed(plan, Work::new(plan))
}

/// The same work under a plan with other loads.
pub(crate) fn relaunched(plan: &Plan, work: &Work) -> Work {
    replayed(plan, work.under(plan))
}

fn replayed(plan: &Plan, mut work: Work) -> Work {
    let graph = plan.design().kernel.cuda_graph_impl;
    if graph != CudaGraph::None {
        replay(&mut work.dense, true);
        replay(&mut work.moe, graph == CudaGraph::Local);
    }
    work
}

/// A recorded graph launches all its kernels at once. Transformer Engine's covers attention, the
/// router and a dense MLP; how many rows an expert gets is known too late for it. Megatron's own
/// covers a whole iteration, whose experts get buffers of a fixed size.
///
/// Source: Megatron-Core, `--cuda-graph-impl` and `--cuda-graph-scope`.
fn replay(layer: &mut Layer, everything: bool) {
    let attention = [
        &mut layer.norms,
        &mut layer.residuals,
        &mut layer.latents,
        &mut layer.query,
        &mut layer.key_value,
        &mut layer.core,
        &mut layer.output,
        &mut layer.mlp,
        &mut layer.router,
    ];
    let experts =
        [&mut layer.permute, &mut layer.experts, &mut layer.activation, &mut layer.unpermute];
    for block in attention.into_iter().chain(experts.into_iter().filter(|_| everything)) {
        for pass in [&mut block.forward, &mut block.input_grad, &mut block.weight_grad] {
            pass.launches = 0.0;
        }
    }
    layer.mlp_again.launches = 0.0;
    layer.norms.forward.launches = 1.0;
    layer.norms.input_grad.launches = 1.0;
}
