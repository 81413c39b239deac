//! Which layers and heads each pipeline stage holds.

mod load;
mod proposal;
mod solver;

use alloc::vec;
use alloc::vec::Vec;

pub use load::StageLoad;
pub(crate) use proposal::even_layout;
pub use proposal::{Proposal, layout_loads, layout_overflow, layout_proposal, layout_proposals};

use crate::choice::Method;
use crate::design::Design;

/// What one pipeline stage holds, all its chunks together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stage {
    /// Dense transformer layers.
    pub(crate) dense: f64,
    /// MoE transformer layers.
    pub(crate) moe: f64,
    /// MTP layers, without their heads.
    pub(crate) mtp: f64,
    /// Input embeddings.
    pub(crate) embedding: f64,
    /// Language-model heads with their loss.
    pub(crate) head: f64,
    /// Heads and losses of MTP layers.
    pub(crate) mtp_head: f64,
}

impl Stage {
    fn add(&mut self, other: Self, weight: f64) {
        self.dense += other.dense * weight;
        self.moe += other.moe * weight;
        self.mtp += other.mtp * weight;
        self.embedding += other.embedding * weight;
        self.head += other.head * weight;
        self.mtp_head += other.mtp_head * weight;
    }

    /// Transformer layers, MTP not counted.
    pub(crate) fn layers(&self) -> f64 {
        self.dense + self.moe
    }
}

/// How the chunks of a model lie on the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    /// Chunk c on stage c mod p.
    Cyclic,
    /// Down the stages and up again.
    V,
    /// Two whole pipelines in opposite directions, each with half of the micro-batches.
    Bidirectional,
}

/// Do the chunks go down the stages and up again, so that the last stage sends to itself?
pub(crate) fn turns_back(method: Method) -> bool {
    placement(method) == Placement::V
}

fn placement(method: Method) -> Placement {
    match method {
        Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => Placement::V,
        Method::DualPipe => Placement::Bidirectional,
        Method::Gpipe
        | Method::OneForwardOneBackward
        | Method::Interleaved
        | Method::OneForwardOneBackwardOverlap
        | Method::ZbH1
        | Method::Zb2p => Placement::Cyclic,
    }
}

/// Is this layer a MoE layer?
fn is_moe(design: &Design, layer: u64) -> bool {
    let transformer = &design.transformer;
    transformer.num_moe_experts.is_some() && transformer.moe_layer_freq.is_moe(layer)
}

/// The number of MoE layers.
pub(crate) fn moe_layers(design: &Design) -> u64 {
    (0..design.transformer.num_layers).filter(|layer| is_moe(design, *layer)).count() as u64
}

/// Layer slots that are spread over the chunks: layers, MTP layers and no-op layers.
pub(crate) fn slots(design: &Design) -> u64 {
    let transformer = &design.transformer;
    transformer.num_layers + transformer.mtp_num_layers + design.parallel.noop_layers.0.len() as u64
}

/// Chunks over all stages.
pub(crate) fn chunks(design: &Design) -> u64 {
    design.parallel.pipeline_model_parallel_size
        * design.parallel.virtual_pipeline_model_parallel_size
}

/// What each chunk of the model holds, from the first layers to the last.
///
/// There are p v of them; under DualPipe both directions run the same p chunks.
///
/// Source: Megatron-Core `transformer_block.py:get_num_layers_to_build` and
/// `pipeline_parallel_layer_layout.py`; MindSpeed `noop-layers.md`.
pub(crate) fn chunks_of(design: &Design) -> Vec<Stage> {
    match &design.parallel.pipeline_model_parallel_layout {
        Some(layout) => chunks_of_layout(design, &layout.chunks),
        None => chunks_of_slots(design),
    }
}

/// The stage of the chunk at a position along the model, and which of the stage's chunks it is.
///
/// Of a bidirectional method this is the first direction; in the second one the chunk is chunk 1
/// of stage p - 1 - position.
pub(crate) fn stage_of(method: Method, p: usize, position: usize) -> (usize, usize) {
    let (round, place) = (position / p, position % p);
    match placement(method) {
        Placement::V if round % 2 == 1 => (p - 1 - place, round),
        Placement::Cyclic | Placement::V | Placement::Bidirectional => (place, round),
    }
}

/// What each stage computes for one micro-batch, mean over directions.
pub(crate) fn stages(design: &Design) -> Vec<Stage> {
    let p = design.parallel.pipeline_model_parallel_size as usize;
    stages_of(design.schedule.method, p, chunks_of(design))
}

/// What each of p stages holds of these chunks.
fn stages_of(method: Method, p: usize, chunks: Vec<Stage>) -> Vec<Stage> {
    let mut stages = vec![Stage::default(); p];
    for (position, chunk) in chunks.into_iter().enumerate() {
        let (stage, _) = stage_of(method, p, position);
        if placement(method) == Placement::Bidirectional {
            stages[stage].add(chunk, 0.5);
            stages[p - 1 - stage].add(chunk, 0.5);
        } else {
            stages[stage].add(chunk, 1.0);
        }
    }
    stages
}

/// Slots filled in order: layers, then MTP layers, skipping the no-op positions.
///
/// The embedding is on the first chunk, an MTP layer's head beside it and the language-model head
/// on the last chunk; where a no-op slot stands between the last layer and an MTP layer, it leaves
/// room for the language-model head there.
fn chunks_of_slots(design: &Design) -> Vec<Stage> {
    let (slots, count) = (slots(design), chunks(design));
    let per_chunk = slots / count;
    let mut chunks = vec![Stage::default(); count as usize];
    let transformer = &design.transformer;
    let noops = &design.parallel.noop_layers.0;
    let mut filled = 0;
    let mut head_chunk = chunks.len() - 1;
    let mut head_found = false;
    for slot in 0..slots {
        let chunk = &mut chunks[(slot / per_chunk) as usize];
        if noops.binary_search(&slot).is_ok() {
            let before_mtp = filled == transformer.num_layers && transformer.mtp_num_layers > 0;
            if before_mtp && !head_found {
                head_chunk = (slot / per_chunk) as usize;
                head_found = true;
            }
            continue;
        }
        if filled >= transformer.num_layers {
            chunk.mtp += 1.0;
            chunk.mtp_head += 1.0;
        } else if is_moe(design, filled) {
            chunk.moe += 1.0;
        } else {
            chunk.dense += 1.0;
        }
        filled += 1;
    }
    chunks[0].embedding = 1.0;
    chunks[head_chunk].head = 1.0;
    chunks
}

fn chunks_of_layout(design: &Design, layout: &[alloc::string::String]) -> Vec<Stage> {
    let mut layer = 0;
    layout
        .iter()
        .map(|letters| {
            let mut chunk = Stage::default();
            for letter in letters.chars() {
                match letter {
                    'E' => chunk.embedding += 1.0,
                    'L' => chunk.head += 1.0,
                    'm' => {
                        chunk.mtp += 1.0;
                        chunk.mtp_head += 1.0;
                    }
                    'n' => chunk.mtp += 1.0,
                    'h' => chunk.mtp_head += 1.0,
                    _ => {
                        if is_moe(design, layer) {
                            chunk.moe += 1.0;
                        } else {
                            chunk.dense += 1.0;
                        }
                        layer += 1;
                    }
                }
            }
            chunk
        })
        .collect()
}
