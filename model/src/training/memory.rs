//! What lives on a device of each stage at its fullest moment.

mod bound;
mod contents;
mod working;

use alloc::vec::Vec;

use crate::device::saved::SavedTensors;
use crate::ground::choice::{Framework, Set, ShardingStrategy, SwapModule};
use crate::ground::units::Bytes;
use crate::layer::architecture::{KindId, LayerKind, MAX_KINDS, PerKind};
use crate::layer::layout::Stage;
use crate::layer::mlp::Transform;
use crate::layer::params::{RankParams, StageParams};
use crate::schedule::Task;
use crate::training::estimate::StageMemory;
use crate::training::plan::Plan;
use crate::training::recomputation::{Recomputation, RetainedBytes};

pub(crate) use bound::at_most;
pub use bound::{is_near_limit, peak_at_most};
pub use contents::{Content, Filling, contents};
use working::Placeholders;

/// Memory of one stage, and what it parks in host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Occupancy {
    pub(crate) device: StageMemory,
    pub(crate) host: Bytes,
    /// Activation bytes that one micro-batch moves to the host, and back.
    pub(crate) swapped: f64,
    /// Optimizer bytes that a step moves from the host, and back.
    pub(crate) swapped_states: f64,
    pub(crate) in_flight: f64,
    /// The task at which the activations are fullest.
    pub(crate) fullest: Option<Task>,
}

/// Tensors that one layer of each kind saves, and bytes that it works with, whatever becomes of
/// them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerSaves {
    kinds: Vec<(SavedTensors, f64)>,
    /// Bytes of rows as wide as one residual stream.
    own_bytes: f64,
}

/// Tensors that one layer of each kind keeps or parks, what is computed again taken out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerRemains {
    kinds: Vec<Remains>,
    /// Bytes of the tensors of all kinds, one kind after the other, and whose swap parks each.
    tensors: Vec<(f64, Option<SwapModule>)>,
    own_bytes: f64,
}

/// Tensors of one kind of layer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Remains {
    /// Bytes that are computed again.
    again: f64,
    works: f64,
    /// Number of tensors that remain.
    count: usize,
}

/// Needs of one layer of each kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LayerMemory {
    kinds: Vec<LayerNeed>,
    /// Bytes of rows as wide as one residual stream.
    own_bytes: f64,
}

/// Needs of one layer: tensors for its backward, and bytes while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LayerNeed {
    retained: RetainedBytes,
    works: f64,
}

/// Activations that a stage holds for backwards at its fullest moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PeakActivations {
    /// Activations, bytes.
    pub(crate) bytes: f64,
    /// Full-stage micro-batches.
    pub(crate) micro_batches: f64,
    /// The task that brings it there; `None` if a formula gave the times.
    pub(crate) task: Option<Task>,
}

/// Bytes that each stage of a span keeps and moves for one micro-batch, and how much is done again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PerMicroBatch {
    pub(crate) kept: RetainedBytes,
    /// Share of the layers that full recomputation takes.
    pub(crate) repeated_share: f64,
}

/// Memory of a stage other than activations, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FixedMemory {
    weights: f64,
    gradients: f64,
    optimizer: f64,
    /// Buffers that stay.
    buffers: f64,
    /// Gradients of the layer that runs backward.
    whole_gradients: f64,
    /// The head's moment.
    head: f64,
}

/// The layers of a stage by what becomes of their tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    /// Layers that are computed again as a whole.
    recomputed: f64,
    /// Bytes of their checkpoints, and how many of them share one.
    checkpoints: f64,
    group: f64,
    /// The kinds, of which the first so many are there.
    kinds: PerKind<KindOfLayers>,
    count: usize,
}

/// Layers of one kind on a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct KindOfLayers {
    kind: usize,
    /// Share of all layers of the stage.
    share: f64,
    /// Neither computed again as a whole nor offloaded.
    normal: f64,
    offloaded: f64,
}

impl PeakActivations {
    /// Activations of this many micro-batches that keep this each.
    pub(crate) fn of(kept: &RetainedBytes, micro_batches: f64) -> Self {
        Self { bytes: kept.device * micro_batches, micro_batches, task: None }
    }
}

impl LayerSaves {
    /// The tensors of a layer of each kind.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = &SavedTensors> {
        self.kinds.iter().map(|(tensors, _)| tensors)
    }
}

impl LayerRemains {
    pub(crate) fn new(recomputation: &Recomputation, saves: &LayerSaves) -> Self {
        let count = saves.kinds.iter().map(|(saved, _)| saved.len()).sum();
        let mut tensors = Vec::with_capacity(count);
        let kinds = saves.kinds.iter().map(|(saved, works)| {
            let (mut again, before) = (0.0, tensors.len());
            for tensor in saved {
                if recomputation.recomputes(tensor) {
                    again += tensor.bytes;
                } else {
                    tensors.push((tensor.bytes, tensor.swapped_by));
                }
            }
            Remains { again, works: *works, count: tensors.len() - before }
        });
        Self { kinds: kinds.collect(), tensors, own_bytes: saves.own_bytes }
    }
}

impl LayerMemory {
    /// Memory that each kind of layer needs after this recomputation and swapping.
    pub(crate) fn new(recomputation: &Recomputation, saves: &LayerSaves) -> Self {
        let mut memory = Self::default();
        memory.take(&LayerRemains::new(recomputation, saves), recomputation.swapped);
        memory
    }

    /// Takes what remains of layers after this swapping, in place of what was here before.
    pub(crate) fn take(&mut self, remains: &LayerRemains, swapped: Set<SwapModule>) {
        self.own_bytes = remains.own_bytes;
        self.kinds.clear();
        let mut tensors = remains.tensors.iter();
        self.kinds.extend(remains.kinds.iter().map(|kind| {
            let mut retained = RetainedBytes { again: kind.again, ..RetainedBytes::default() };
            for (bytes, module) in tensors.by_ref().take(kind.count) {
                match module {
                    Some(module) if swapped.has(*module) => retained.host += bytes,
                    Some(_) | None => retained.device += bytes,
                }
            }
            LayerNeed { retained, works: kind.works }
        }));
    }

    /// Bytes that a micro-batch would keep on these layers without whole-layer recomputation and
    /// offloading: by this a stage's bytes are split over its chunks.
    pub(crate) fn weight(&self, mtp: KindId, content: &Stage) -> f64 {
        let counts = content.with_mtp(mtp);
        let kinds = self.kinds.iter().zip(counts);
        let layers: f64 = kinds.map(|(need, count)| need.retained.device * count).sum();
        layers + head_inputs(self.own_bytes, content) + self.own_bytes * content.snapshots
    }
}

/// Bytes that heads keep: their input and its normed copy, of rows of this many bytes.
fn head_inputs(own_bytes: f64, stage: &Stage) -> f64 {
    own_bytes * 2.0 * stage.heads()
}

impl Plan {
    /// Tensors that layers save, whatever becomes of them.
    pub(crate) fn layer_saves(&self) -> LayerSaves {
        let (on, rows) = (&self.deployment, self.rows());
        let of = |kind: &LayerKind| (kind.saved(on, &rows), kind.mlp.working_bytes(on, &rows));
        let kinds = self.architecture.kinds.iter().map(of).collect();
        LayerSaves { kinds, own_bytes: on.own_bytes(&rows) }
    }

    /// Memory that layers need after the plan's recomputation and swapping.
    pub(crate) fn layer_memory(&self) -> LayerMemory {
        LayerMemory::new(&self.recomputation, &self.layer_saves())
    }

    /// The parameters of a rank on the stages of each span, and what it holds whatever becomes of
    /// activations.
    pub(crate) fn fixed_memory(&self) -> impl Iterator<Item = (StageParams, FixedMemory)> {
        let placeholders = Placeholders::new(&self.deployment, &self.architecture.kinds);
        self.spans.iter().map(move |span| {
            let params = self.stage_params(&span.content);
            (params, self.fixed_on(&span.content, &params, &placeholders))
        })
    }

    /// Weights, gradients, optimizer and buffers of a stage with these parameters.
    ///
    /// They are shared out as the sharding strategy says, over DP x CP for what all ranks hold and
    /// over EDP for experts (ZeRO, section 5).
    fn fixed_on(
        &self,
        stage: &Stage,
        params: &StageParams,
        placeholders: &Placeholders,
    ) -> FixedMemory {
        let StageParams { held, trained } = params;
        let sharded = |params: &RankParams, states: ShardingStrategy, bytes: f64| {
            self.sharding.params(params, states) * bytes
        };
        let stored = self.deployment.element_bytes();
        let mut weights = sharded(held, ShardingStrategy::OptimGradsParams, stored);
        let mut optimizer = self.optimizer_states(stage, trained);
        if self.optimizer.reuses_main_params || self.shards_main_weights() {
            // The 16-bit weights are the upper halves of the main copies, where those are whole.
            if self.sharding.shards(ShardingStrategy::Optim) {
                optimizer -= sharded(trained, ShardingStrategy::Optim, stored);
            } else {
                // What is frozen has no main copy.
                weights = (held.total() - trained.total()) * stored;
            }
        }
        FixedMemory {
            weights,
            gradients: sharded(trained, ShardingStrategy::OptimGrads, self.optimizer.gradient)
                + self.second_gradients(trained),
            optimizer,
            buffers: placeholders.bytes(&self.architecture, stage)
                + self.workspaces(stage)
                + self.boundary_tensors()
                + self.gathered_weights(stage, held),
            whole_gradients: self.whole_gradients(stage, trained),
            head: self.head_works(stage),
        }
    }

    /// Gradients that a framework holds beside the accumulated ones, in bytes.
    ///
    /// DeepSpeed under BF16 adds those of every backward, 16 bits each, into whole FP32 buffers and
    /// keeps both, up to ZeRO-1. From ZeRO-2 on a bucket is reduced as soon as it is full, its
    /// gradients are freed, and the reduced share alone is kept: 2 bytes of weights, 4 of the share
    /// and 12 of the optimizer are its 18 bytes a parameter. Under FP16 they add up in the
    /// parameters' own; its ZeRO step then flattens the rank's share and copies it to FP32. A
    /// pipeline on FSDP adds micro-batches up unsharded, in the format in which they are reduced,
    /// and scatters them once a step.
    ///
    /// # Source
    /// DeepSpeed, `bf16_optimizer.py` (`fp32_groups_gradients_flat`), `stage_1_and_2.py`
    /// (`partition_gradients`, `averaged_gradients`, `single_partition_of_fp32_groups`),
    /// `stage3.py` (`grad_partitions_flat_buffer`, `estimate_zero3_model_states_mem_needs`);
    /// PyTorch,
    /// `fully_shard`, `unsharded_accumulated_grad`; torchtitan, `set_requires_gradient_sync` in a
    /// pipeline.
    fn second_gradients(&self, params: &RankParams) -> f64 {
        let (on, sharding, accumulated) =
            (&self.deployment, &self.sharding, self.optimizer.gradient);
        let (stored, whole) = (self.deployment.element_bytes(), params.dense + params.expert);
        match on.kernel.framework {
            Framework::Deepspeed if accumulated > stored => {
                if sharding.shards(ShardingStrategy::OptimGrads) { 0.0 } else { whole * stored }
            }
            Framework::Deepspeed if sharding.shards(ShardingStrategy::Optim) => {
                sharding.share(params) * (stored + 4.0)
            }
            Framework::Fsdp if on.ranks.pp > 1 && sharding.shards(ShardingStrategy::OptimGrads) => {
                whole * accumulated
            }
            Framework::Megatron
            | Framework::Mindspeed
            | Framework::Fsdp
            | Framework::Deepspeed
            | Framework::Ideal => 0.0,
        }
    }

    /// Memory of a stage that holds these activations at its fullest moment.
    pub(crate) fn occupancy(
        &self,
        fixed: &FixedMemory,
        kept: &RetainedBytes,
        held: &PeakActivations,
    ) -> Occupancy {
        let optimizer = fixed.optimizer;
        let is_swapped = self.recomputation.swapped.has(SwapModule::Optimizer);
        let states = if is_swapped { optimizer } else { 0.0 };
        // What stays, and the fuller of a layer's and the head's moment.
        let buffers = fixed.buffers + (kept.again + fixed.whole_gradients).max(fixed.head);
        Occupancy {
            device: StageMemory {
                weights: Bytes::new(fixed.weights),
                gradients: Bytes::new(fixed.gradients),
                optimizer: Bytes::new(optimizer - states),
                activations: Bytes::new(held.bytes),
                buffers: Bytes::new(buffers),
                reserved: self.reserved,
            },
            host: Bytes::new(kept.host * held.micro_batches + states),
            swapped: kept.host,
            swapped_states: states,
            in_flight: held.micro_batches,
            fullest: held.task,
        }
    }

    /// Micro-batches whose activations a stage holds at its fullest moment, by the formula of the
    /// schedule.
    pub(crate) fn in_flight(&self, index: usize) -> f64 {
        self.schedule.in_flight(index, self.share_of_pair())
    }

    /// Memory of every stage.
    pub(crate) fn occupancies(
        &self,
        each: &[PerMicroBatch],
        held: Option<&[PeakActivations]>,
    ) -> Vec<Occupancy> {
        let fixed: Vec<FixedMemory> = self.fixed_memory().map(|(_, fixed)| fixed).collect();
        let of = |(index, (fixed, own)): (usize, (&FixedMemory, &PerMicroBatch))| {
            let held = held.and_then(|held| held.get(index)).copied();
            let by_formula = || PeakActivations::of(&own.kept, self.in_flight(index));
            self.occupancy(fixed, &own.kept, &held.unwrap_or_else(by_formula))
        };
        self.by_stage(&fixed).zip(self.by_stage(each)).enumerate().map(of).collect()
    }

    /// Bytes of the checkpoints of `layers` recomputed layers: one layer input for each group of
    /// layers inside a chunk.
    ///
    /// DeepSpeed's pipeline also keeps what a stage has sent until its backward, where Megatron
    /// frees it. Source: DeepSpeed, `pipe/engine.py` (`pipe_buffers["outputs"]`); Megatron-Core,
    /// `deallocate_pipeline_outputs`.
    fn checkpoints(&self, layers: f64) -> f64 {
        let chunks = self.deployment.ranks.vpp as f64;
        let group = self.recomputation.checkpoint_group(layers, chunks);
        let inputs =
            if group <= 1.0 { layers } else { chunks * libm::ceil(layers / chunks / group) };
        let deepspeed = self.deployment.kernel.framework == Framework::Deepspeed;
        let sent =
            if deepspeed && self.deployment.ranks.pp > 1 && layers > 0.0 { chunks } else { 0.0 };
        self.layer_input() * (inputs + sent)
    }

    /// Activations that one micro-batch keeps on a stage whose layers are split like this. `again`
    /// is the most that one of its layers needs while it runs: what it computes again or brings
    /// back from the host, one layer at a time (with prefetch the next one is on its way), and what
    /// it works with.
    pub(crate) fn stage_activations(
        &self,
        split: &Split,
        stage: &Stage,
        layers: &LayerMemory,
    ) -> RetainedBytes {
        let mut sum = RetainedBytes::default();
        let recomputes = split.recomputed > 0.0;
        let ahead = if self.overlap.prefetches { 2.0 } else { 1.0 };
        for kind in split.kinds.iter().take(split.count) {
            let Some(LayerNeed { retained, works }) = layers.kinds.get(kind.kind) else { continue };
            let whole = retained.device + retained.host;
            sum.device += retained.device * kind.normal + split.checkpoints * kind.share;
            sum.host += retained.host * kind.normal + whole * kind.offloaded;
            let again = if recomputes {
                whole * split.group
            } else {
                retained.again + retained.host * ahead
            };
            let offloaded = whole * ahead.min(kind.offloaded.max(1.0));
            let again = if kind.offloaded > 0.0 { again.max(offloaded) } else { again };
            sum.again = sum.again.max(again + works);
        }
        sum.device += head_inputs(layers.own_bytes, stage) + layers.own_bytes * stage.snapshots;
        sum
    }

    /// A stage's layers by what becomes of their tensors. Whole-layer recomputation and offloading
    /// take of each kind alike.
    pub(crate) fn split_layers(&self, index: usize, stage: &Stage) -> Split {
        let counts = stage.with_mtp(self.architecture.mtp.kind);
        let all: f64 = counts.iter().sum();
        let recomputed = self.recomputation.whole_layers(index, all);
        let offloaded = self.recomputation.offloaded_layers.min(all - recomputed);
        let (mut kinds, mut there) = ([KindOfLayers::default(); MAX_KINDS], 0);
        for (kind, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0.0) {
            let share = count / all;
            let normal = count - (recomputed + offloaded) * share;
            kinds[there] = KindOfLayers { kind, share, normal, offloaded: offloaded * share };
            there += 1;
        }
        let chunks = self.deployment.ranks.vpp as f64;
        Split {
            recomputed,
            checkpoints: if recomputed > 0.0 { self.checkpoints(recomputed) } else { 0.0 },
            group: self.recomputation.checkpoint_group(recomputed, chunks),
            kinds,
            count: there,
        }
    }

    /// The share of a chunk by which a pair's forward holds more than its backward gives back.
    ///
    /// A forward fills the layers one by one while the other micro-batch's backward empties them
    /// from the end: together they hold one chunk, and the two layers that run. Without a pipeline
    /// that is all: Qwen3-30B-A3B on 16 H100 peaks at 62.2 GiB with the overlap and 61.4 without
    /// (Megatron-Bridge, `skills`), where one micro-batch keeps 19 GiB. In a pipeline the
    /// forward's chunk is counted whole, as the schedules' own tables do.
    pub(crate) fn share_of_pair(&self) -> f64 {
        if self.deployment.ranks.pp > 1 {
            return 1.0;
        }
        let layers = (self.architecture.num_layers() + self.architecture.mtp.layers) as f64;
        (2.0 / layers.max(1.0)).min(1.0)
    }
}
