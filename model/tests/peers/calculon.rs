//! Calculon: dense GPT models with attention scores in memory.
//!
//! Letters: u elements of a micro-batch's hidden state, t TP, s sequence length.

use model::ground::axis::{Axis, Collective};
use model::ground::choice::{RecomputeGranularity, ShardingStrategy};

use super::{Case, Kind, call_bytes, cases, same, step_bytes};

fn all() -> Vec<Case> {
    cases(include_str!("calculon.json"))
}

impl Case {
    fn granularity(&self) -> RecomputeGranularity {
        self.design.memory.recompute_granularity
    }

    fn stages(&self) -> f64 {
        self.design.parallel.pipeline_model_parallel_size as f64
    }

    /// Layers of a stage.
    fn stage_layers(&self) -> f64 {
        self.design.transformer.num_layers as f64 / self.stages()
    }

    /// u: elements of the hidden state of a micro-batch.
    fn elements(&self) -> f64 {
        self.tokens() * self.hidden()
    }

    /// Elements of the score matrix on one device.
    fn scores(&self) -> f64 {
        self.tokens() * self.design.training.seq_length as f64 * self.heads() / self.tp()
    }
}

/// Calculon has no norm behind the last layer.
#[test]
fn parameters_differ_from_calculon_by_the_final_norm() {
    for case in all() {
        let ours = case.plan().params_total() as f64;
        same(&case.name, ours, case.theirs("params") + 2.0 * case.hidden());
    }
}

/// Calculon adds the FLOPs of vector kernels, which no MFU counts: per element of the hidden state
/// 22 in norms, dropout and residuals, 46 in biases and GELU, and 6 per score in the softmax.
#[test]
fn flops_differ_from_calculon_by_the_vector_kernels() {
    for case in all() {
        let (u, scores) = (case.elements(), case.scores());
        let vector = |whole: f64, split: f64, softmax: f64| {
            (whole / case.sp() + split / case.tp()) * u + softmax * scores
        };
        let forward = case.forward_flops("dense") / case.tp();
        let products = 4.0 * scores * case.hidden() / case.heads();
        let theirs = |pass: &str| case.theirs(&format!("block_{pass}_flops"));
        same(&case.name, forward + vector(22.0, 46.0, 6.0), theirs("fw"));
        same(&case.name, forward + products + vector(38.0, 90.0, 9.0), theirs("agrad"));
        same(&case.name, forward - products + vector(14.0, 0.0, 0.0), theirs("wgrad"));
    }
}

/// Calculon's weights of a layer are the matrices and the norms: it leaves the biases out, 7 h that
/// are split and 2 h that are not, although its number of parameters has them. It has no
/// embedding on any stage either.
#[test]
fn weights_differ_from_calculon_by_the_biases() {
    for case in all() {
        let biases = case.hidden() * (7.0 / case.tp() + 2.0);
        let layer = case.layer_params(Kind::Dense) as f64;
        same(&case.name, layer - biases, case.theirs("block_weight_space") / 2.0);
        if case.stages() < 3.0 {
            continue;
        }
        let memory = case.estimate().stages[1].memory;
        let ours = |bytes: f64| bytes * biases * case.stage_layers();
        same(&case.name, memory.weights.get() - ours(2.0), case.theirs("weight_space"));
        let shards = match case.design.parallel.data_parallel_sharding_strategy {
            ShardingStrategy::NoShard => 1.0,
            ShardingStrategy::Optim
            | ShardingStrategy::OptimGrads
            | ShardingStrategy::OptimGradsParams => case.plan().data_parallel_size() as f64,
        };
        let states = memory.optimizer.get() - ours(12.0) / shards;
        same(&case.name, states, case.theirs("optimizer_space"));
    }
}

/// Calculon has dropout, as GPT-3 had: a byte per element for two masks behind the blocks and one
/// for the scores. Without sequence parallelism its selective recomputation forgets the two.
#[test]
fn saved_bytes_of_a_layer_differ_from_calculon_by_the_dropout_masks() {
    for case in all().iter().filter(|case| case.granularity() != RecomputeGranularity::Full) {
        let scores = case.granularity() == RecomputeGranularity::None;
        let forgotten = !scores && case.sp() <= 1.0;
        let hidden = if forgotten { 0.0 } else { 2.0 * case.elements() / case.sp() };
        let masks = hidden + if scores { case.scores() } else { 0.0 };
        let block = case.theirs("block_act_storage_space");
        same(&case.name, case.layer_saved(Kind::Dense) + masks, block);
        // A stage holds all its layers in flight but the one at work, which it counts apart.
        let layers = case.estimate().stages[0].peak_in_flight * case.stage_layers();
        let working = case.theirs("block_act_working_space");
        same(&case.name, (layers - 1.0) * block + working, case.theirs("act_space"));
    }
}

#[test]
fn checkpoints_are_those_of_calculon() {
    for case in all().iter().filter(|case| case.granularity() == RecomputeGranularity::Full) {
        let stage = case.estimate().stages[0];
        // The head's two tensors are no checkpoints.
        let head = if case.stages() > 1.0 { 0.0 } else { 4.0 * case.elements() / case.sp() };
        let ours = stage.memory.activations.get() - head;
        same(&case.name, ours, case.theirs("act_checkpoint_size"));
    }
}

/// Calculon gives the bytes of the tensors; a rank sends (t - 1) / t of them, twice in an
/// all-reduce. Embedding and head, which Calculon doesn't have, call too.
#[test]
fn tensor_parallel_volumes_are_those_of_calculon() {
    for case in all() {
        let tensor = 2.0 * case.elements();
        let sent = (case.tp() - 1.0) / case.tp();
        // All-reduces of the embedding's output and the head's input gradient; with sequence
        // parallelism a gather and a scatter each, and the head gathers its input once more.
        let (times, ends) = if case.sp() > 1.0 { (1.0, 5.0) } else { (2.0, 2.0) };
        let layer = case.theirs("baseblock_fw_tp_size")
            + case.theirs("baseblock_bw_tp_size")
            + case.theirs("baseblock_recomm_size");
        let stage = case.stage_layers() * layer + ends * tensor / case.stages();
        let theirs = stage * sent * times * case.micro_batches();
        same(&case.name, step_bytes(&case.estimate(), Axis::Tp), theirs);
    }
}

#[test]
fn sends_between_stages_are_those_of_calculon() {
    for case in all() {
        let ours = call_bytes(&case.estimate(), Axis::Pp, Collective::P2p);
        same(&case.name, ours, case.theirs("block_fw_pp_size"));
    }
}
