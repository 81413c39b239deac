//! What the stages of each span do for one micro-batch, whatever they copy to host memory.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::ground::choice::{Set, SwapModule};
use crate::ground::units::{Flops, Seconds};
use crate::layer::architecture::{KindId, MAX_KINDS, PerKind};
use crate::layer::layout::{Span, Stage};
use crate::layer::params::StageParams;
use crate::layer::ranks::Ranks;
use crate::layer::transformer_layer::Work;
use crate::training::data_parallel::{DataGroups, data_rows};
use crate::training::memory::{
    FixedMemory, LayerMemory, LayerRemains, LayerSaves, PerMicroBatch, Split,
};
use crate::training::pair::{self, LayerPairs};
use crate::training::plan::{Batch, Plan};
use crate::training::stage::{LayerCost, Parts, StageWork, Terms};

use super::communication::Traffic;
use super::data_parallel::{DataParallel, OnceAStep};
use super::straggler_share;

/// Costs and saved tensors of single layers: all that recomputation, exchanges, copies and overlap
/// work on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layers {
    work: Arc<Work>,
    costs: Vec<Arc<LayerCost>>,
    saves: Arc<LayerSaves>,
    pub(super) counts: Counts,
}

/// Parameters and FLOPs that follow from the architecture alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Counts {
    pub(super) params_total: u128,
    pub(super) params_active: u128,
    /// One embedding table.
    pub(super) table: u128,
    pub(super) flops_per_token: Flops,
}

impl Counts {
    /// Model FLOPs of a step over the devices.
    pub(super) fn model_flops_per_device(&self, batch: &Batch, ranks: &Ranks) -> f64 {
        self.flops_per_token.get() * batch.tokens() / ranks.world as f64
    }
}

impl Layers {
    pub(crate) fn new(plan: &Plan) -> Self {
        let counts = Counts {
            params_total: plan.params_total(),
            params_active: plan.params_active(),
            table: plan.deployment.backbone.table_params(),
            flops_per_token: plan.flops_per_token(),
        };
        let work = plan.work();
        let costs = plan.layer_costs(&work);
        Self { work: Arc::new(work), costs, saves: Arc::new(plan.layer_saves()), counts }
    }

    /// The layers under a plan with other loads, or of other expert-parallel ranks.
    pub(crate) fn under(&self, plan: &Plan) -> Self {
        let work = plan.work_under(&self.work);
        let costs = plan.layer_costs_under(&work, &self.costs);
        let saves = Arc::new(plan.layer_saves());
        Self { work: Arc::new(work), costs, saves, counts: self.counts }
    }
}

/// Work of the stages for one micro-batch, copies to host memory not counted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spans {
    pub(crate) frame: Arc<Frame>,
    pub(super) splits: Arc<[SpanSplit]>,
    pub(super) parts: Parts,
    pub(super) remains: LayerRemains,
    pub(super) counts: Counts,
    /// For each span of the plan what its stages do.
    pub(super) works: Vec<StageWork>,
    /// Compute of the mean stage.
    pub(super) compute: Compute,
    /// Seconds that the slowest stage waits for once a step, and that hiding the rest costs its
    /// kernels.
    pub(super) once_a_step: [f64; 2],
    /// Empty but of the mean rank, see [`Self::add_up_traffic`].
    pub(super) traffic: Traffic,
}

/// Memory and exchanges of stages that don't depend on the layers, nor on what is computed again,
/// swapped or hidden.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// For each span of the plan.
    pub(super) each: Vec<OfSpan>,
    pub(super) data: DataParallel,
    /// The bubble of equal stages, by counts alone.
    pub(super) bubble: f64,
    /// Delay of the slowest rank, as a share.
    pub(super) stragglers: f64,
    /// Time of a step for moving experts under the plan's own loads.
    pub(crate) migration: Seconds,
}

/// Memory and exchanges of each stage of a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OfSpan {
    pub(super) params: StageParams,
    pub(super) memory: FixedMemory,
    /// Micro-batches that the first of its stages holds at its fullest moment, by the formula of
    /// the schedule.
    pub(super) in_flight: f64,
    once_a_step: OnceAStep,
}

/// Layers of each stage of a span by what recomputation and offloading make of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpanSplit {
    /// Share of the layers that full recomputation takes.
    pub(super) repeated_share: f64,
    pub(super) split: Split,
}

/// Compute of one micro-batch on the mean stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Compute {
    /// Seconds of the cube unit, recomputation not counted.
    pub(super) tensor: f64,
    /// Seconds of the vector unit, recomputation not counted.
    pub(super) vector: f64,
    /// Seconds of forward work done again.
    pub(super) recompute: f64,
    /// FLOPs executed.
    pub(super) flops: f64,
}

impl Frame {
    pub(crate) fn new(plan: &Plan) -> Self {
        let (on, bubble) = (&plan.deployment, plan.schedule.bubble_ratio());
        let (data, stragglers) = (DataParallel::default(), straggler_share(on));
        let each = Vec::with_capacity(plan.spans.len());
        let migration = plan.migration_time();
        let mut frame = Self { each, data, bubble, stragglers, migration };
        let groups = DataGroups::new(&plan.deployment, plan.sharding.instances);
        let mut rows = Vec::with_capacity(8);
        for (span, (params, memory)) in plan.spans.iter().zip(plan.fixed_memory()) {
            data_rows(plan, &groups, &span.content, &params, &mut rows);
            let update = plan.optimizer_seconds(&span.content, &params.trained);
            frame.data.add(span.share, update, &rows);
            let once_a_step = OnceAStep::new(&on.ranks, &params, &rows);
            let in_flight = plan.in_flight(span.first);
            frame.each.push(OfSpan { params, memory, in_flight, once_a_step });
        }
        frame
    }
}

/// Mean stage's layers of each kind that full recomputation takes.
pub(super) fn mean_repeated(spans: &[Span], splits: &[SpanSplit], mtp: KindId) -> PerKind<f64> {
    let mut repeated = [0.0; MAX_KINDS];
    for (span, own) in spans.iter().zip(splits) {
        let share = own.repeated_share * span.share;
        for (sum, layers) in repeated.iter_mut().zip(span.content.with_mtp(mtp)) {
            *sum += layers * share;
        }
    }
    repeated
}

impl Spans {
    pub(crate) fn new(
        plan: &Plan,
        layers: &Layers,
        frame: Arc<Frame>,
        pairs: &mut LayerPairs,
    ) -> Self {
        let parts = Parts::new(plan, layers.work.clone(), &layers.costs, None);
        let parts = pair::paired(plan, parts, None, pairs);
        let split = |span: &Span| SpanSplit {
            repeated_share: plan.repeated_share(span),
            split: plan.split_layers(span.first, &span.content),
        };
        Self::of(plan, layers, parts, frame, plan.spans.iter().map(split).collect())
    }

    /// The stages under a plan with other loads, whose layers are given.
    pub(crate) fn under(&self, plan: &Plan, layers: &Layers, pairs: &mut LayerPairs) -> Self {
        let known = Some(&self.parts);
        let parts = Parts::new(plan, layers.work.clone(), &layers.costs, known);
        let parts = pair::paired(plan, parts, known, pairs);
        Self::of(plan, layers, parts, self.frame.clone(), self.splits.clone())
    }

    fn of(
        plan: &Plan,
        layers: &Layers,
        parts: Parts,
        frame: Arc<Frame>,
        splits: Arc<[SpanSplit]>,
    ) -> Self {
        let sends = [plan.schedule.boundaries_per_stage(); 2];
        let work = |(span, own): (&Span, &SpanSplit)| {
            let terms = Terms { repeated_share: own.repeated_share, swapped: 0.0, sends };
            StageWork::without_copies(plan, &span.content, &parts, &terms)
        };
        let works: Vec<StageWork> = plan.spans.iter().zip(&*splits).map(work).collect();
        let mut once_a_step = [0.0_f64; 2];
        for (own, work) in frame.each.iter().zip(&works) {
            let of_stage = own.once_a_step.exposed(&plan.overlap, work);
            once_a_step = core::array::from_fn(|part| once_a_step[part].max(of_stage[part]));
        }
        let compute = Compute::new(&plan.spans, &works);
        let traffic = Traffic::default();
        let remains = LayerRemains::new(&plan.recomputation, &layers.saves);
        let counts = layers.counts;
        Self { frame, splits, parts, remains, counts, works, compute, once_a_step, traffic }
    }
}

impl Spans {
    /// Adds up what the stages exchange, where these are the spans of the mean rank: nothing tells
    /// what the fullest one does.
    pub(crate) fn add_up_traffic(&mut self, plan: &Plan) {
        self.traffic = Traffic::new(plan, &self.parts, &self.frame, &self.splits);
    }

    /// Memory that layers need after this swapping.
    pub(crate) fn layer_memory(&self, swapped: Set<SwapModule>) -> LayerMemory {
        let mut memory = LayerMemory::default();
        memory.take(&self.remains, swapped);
        memory
    }
}

impl Compute {
    fn new(spans: &[Span], works: &[StageWork]) -> Self {
        let mut mean = Self::default();
        for (span, StageWork { forward, backward, .. }) in spans.iter().zip(works) {
            let weight = span.share;
            let again = &backward.recompute;
            mean.tensor += (forward.cost.tensor + backward.cost.tensor) * weight;
            mean.vector += (forward.cost.vector + backward.cost.vector) * weight;
            mean.recompute += again.seconds() * weight;
            mean.flops += (forward.cost.flops + backward.cost.flops + again.flops) * weight;
        }
        mean
    }
}

impl Plan {
    /// Content of the mean stage.
    pub(crate) fn mean_stage(&self) -> Stage {
        let mut mean = Stage::default();
        for span in &*self.spans {
            mean.add(span.content, span.share);
        }
        mean
    }

    /// Share of the layers of a stage that full recomputation takes.
    fn repeated_share(&self, span: &Span) -> f64 {
        self.recomputation.whole_share(span.first, span.content.num_all_layers())
    }

    /// Memory that the stages of each span keep for one micro-batch.
    pub(crate) fn per_micro_batch(&self, layers: &LayerMemory) -> Vec<PerMicroBatch> {
        let of_span = |span: &Span| PerMicroBatch {
            kept: self.stage_activations(
                &self.split_layers(span.first, &span.content),
                &span.content,
                layers,
            ),
            repeated_share: self.repeated_share(span),
        };
        self.spans.iter().map(of_span).collect()
    }
}
