//! The layout that balances a plan's stages best.

mod load;

use alloc::string::String;
use alloc::vec::Vec;

use crate::ground::choice::Method;
use crate::layer::architecture::Pattern;
use crate::layer::layout::solver::{Chunk, Lengths, Problem, solve};
use crate::layer::layout::text::{MAX_TEXT_LEN, spelled};
use crate::layer::layout::{Ends, Stage, add_snapshots, chunks, stages_of};
use crate::rules::vocabulary::Vocabulary;
use crate::schedule::{Form, Placement};
use crate::training::plan::Plan;
use crate::training::recomputation::Recomputation;

pub use load::StageLoad;
use load::{Costs, PartSeconds, overflow};

/// A layout that balances the stages of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The value of `parallel.pipeline_model_parallel_layout`; it needs no no-op layers.
    pub layout: String,
    /// Compute of its longest stage beyond the mean, as a share of the mean.
    pub overflow: f64,
    /// Lower bound of [`Self::overflow`] over all layouts of this model on these stages: equal to
    /// it where proven.
    pub lower_bound: f64,
    /// Was every layout compared, so that none has a shorter longest stage?
    ///
    /// Not so where recomputed layers are counted per stage, where MoE and dense layers alternate,
    /// for more than two MTP layers, and for hundreds of stages with many dense layers.
    pub proven: bool,
    /// Seconds that each stage computes for one micro-batch.
    pub stages: Vec<f64>,
    /// The overflow of the plan's own layout.
    pub current: f64,
}

/// Compute of the longest stage of a plan beyond the mean, as a share of the mean.
///
/// Forward and backward of one micro-batch, recomputation included, all chunks of a stage together.
/// It is device time without communication: exchanges that are hidden cost nothing, and those that
/// aren't grow with the layers.
#[must_use]
pub fn layout_overflow(plan: &Plan) -> f64 {
    let loads = layout_loads(plan);
    overflow(&loads.iter().map(StageLoad::seconds).collect::<Vec<_>>())
}

/// Compute of each stage of a plan for one micro-batch, by kind of part.
#[must_use]
pub fn layout_loads(plan: &Plan) -> Vec<StageLoad> {
    Costs::new(plan).loads(&plan.architecture, &plan.recomputation, &plan.stages)
}

/// The layout with the least [`layout_overflow`]: layers, MTP layers, their heads and the
/// language-model head are shared out anew, as the framework's arguments can say it; everything
/// else is as in the plan.
///
/// Equally good layouts are told apart by how alike neighbouring chunks are. Every chunk holds
/// something. `None` without a pipeline, and where there are more chunks than parts.
#[must_use]
pub fn layout_proposal(plan: &Plan) -> Option<Proposal> {
    layout_proposals(plan).into_iter().next()
}

/// The layouts worth a look: [`layout_proposal`], then others whose step may be shorter.
///
/// In an interleaved order a stage that is no longer than others still holds them up while it runs
/// a chunk that is longer than theirs: so there is the layout whose longest chunk is shortest. And
/// layers may wait for communication where heads don't: both are there once more with the
/// communication that isn't hidden.
#[must_use]
pub fn layout_proposals(plan: &Plan) -> Vec<Proposal> {
    if plan.deployment.ranks.pp < 2 {
        return Vec::new();
    }
    let costs = Costs::new(plan);
    let repeated = repeated_share(&plan.stages, &plan.recomputation);
    let (problem, is_exact) = problem(plan, costs.compute(repeated));
    let Some(solution) = solve(&problem) else { return Vec::new() };
    let mut best = proposed(plan, &costs, &solution.chunks);
    best.proven = is_exact && solution.exact;
    best.lower_bound = if best.proven {
        best.overflow
    } else if is_exact {
        (problem.bound() / (problem.total() / problem.bins as f64) - 1.0).max(0.0)
    } else {
        0.0
    };
    let lower_bound = best.lower_bound;
    let mut proposals = Vec::from([best]);
    let (whole, _) = self::problem(plan, costs.whole(repeated));
    let others = [by_chunk(&problem), Some(whole.clone()), by_chunk(&whole)];
    for solution in others.into_iter().flatten().filter_map(|problem| solve(&problem)) {
        let other = Proposal { lower_bound, ..proposed(plan, &costs, &solution.chunks) };
        if proposals.iter().all(|known| known.layout != other.layout) {
            proposals.push(other);
        }
    }
    proposals.retain(|proposal| proposal.layout.len() <= MAX_TEXT_LEN);
    proposals
}

/// The problem with each chunk for itself, where stages run several.
fn by_chunk(problem: &Problem) -> Option<Problem> {
    let chunks = problem.bin_of.len();
    let several = chunks > problem.bins;
    several.then(|| Problem { bin_of: (0..chunks).collect(), bins: chunks, ..problem.clone() })
}

/// The layout that balances this many stages with this many chunks each, by the lengths that parts
/// have in a plan of the same model on any degrees; layers count as equally long.
pub(crate) fn quick_layout(
    plan: &Plan,
    method: Method,
    stages: u64,
    each: u64,
    ends: Ends,
) -> Option<String> {
    let (placement, p) = (Form::of(method).placement, stages as usize);
    let folds = placement == Placement::Bidirectional;
    let folded = |stage: usize| if folds { stage.min(p - 1 - stage) } else { stage };
    let layers = LaidOut::new(&plan.architecture.pattern, &Costs::new(plan).compute(0.0));
    let problem = Problem {
        lengths: layers.lengths,
        lead: layers.lead,
        rest: layers.rest,
        mtp: plan.architecture.mtp.layers as usize,
        bin_of: (0..p * each as usize)
            .map(|position| folded(placement.stage_at(p, position, 0)))
            .collect(),
        bins: if folds { p.div_ceil(2) } else { p },
        ends,
        stages: p,
    };
    let text = spelled(&solve(&problem.with_equal_layers())?.chunks);
    (text.len() <= MAX_TEXT_LEN).then_some(text)
}

/// A layout as it would be for a plan.
fn proposed(plan: &Plan, costs: &Costs, chunks: &[Chunk]) -> Proposal {
    let (pattern, backbone) = (&plan.architecture.pattern, &plan.deployment.backbone);
    let chunks_held = solution_chunks(pattern, backbone.residual_block, chunks);
    let stages = plan.deployment.ranks.pp as usize;
    let held: Vec<Stage> = stages_of(plan.schedule.method, stages, &chunks_held);
    let sums = |stages: &[Stage]| -> Vec<f64> {
        let loads = costs.loads(&plan.architecture, &plan.recomputation, stages);
        loads.iter().map(StageLoad::seconds).collect()
    };
    let seconds = sums(&held);
    Proposal {
        layout: spelled(chunks),
        overflow: overflow(&seconds),
        lower_bound: 0.0,
        proven: false,
        stages: seconds,
        current: overflow(&sums(&plan.stages)),
    }
}

/// A plan as the solver sees it, with parts of these lengths, and whether that is all there is.
fn problem(plan: &Plan, parts: PartSeconds) -> (Problem, bool) {
    let design = plan.design();
    let (placement, p) = (plan.schedule.form.placement, plan.deployment.ranks.pp as usize);
    // Both directions of a bidirectional pipeline run a stage and its mirror image.
    let folds = placement == Placement::Bidirectional;
    let folded = |stage: usize| if folds { stage.min(p - 1 - stage) } else { stage };
    let bin_of: Vec<usize> = (0..chunks(design) as usize)
        .map(|position| folded(placement.stage_at(p, position, 0)))
        .collect();
    let layers = LaidOut::new(&plan.architecture.pattern, &parts);
    let problem = Problem {
        lengths: layers.lengths,
        lead: layers.lead,
        rest: layers.rest,
        mtp: plan.architecture.mtp.layers as usize,
        bin_of,
        bins: if folds { p.div_ceil(2) } else { p },
        ends: Vocabulary::of(design).ends(),
        stages: p,
    };
    (problem, !plan.recomputation.is_listed() && layers.is_exact)
}

/// The layers of a plan as the solver takes them: a leading kind, and another one behind it.
struct LaidOut {
    lengths: Lengths,
    lead: usize,
    rest: usize,
    /// Whether the pattern is no more than that; else all layers count as equally long.
    is_exact: bool,
}

impl LaidOut {
    fn new(pattern: &Pattern, parts: &PartSeconds) -> Self {
        let layers = &pattern.layers;
        let first = layers.first().copied().unwrap_or_default();
        let lead = layers.iter().take_while(|kind| **kind == first).count();
        let behind = &layers[lead..];
        let other = behind.first().copied().unwrap_or(first);
        let is_exact = behind.iter().all(|kind| *kind == other);
        let lengths = Lengths {
            lead: parts.layers[first.index()],
            rest: parts.layers[other.index()],
            embedding: parts.embedding,
            head: parts.head,
            mtp: parts.mtp,
            mtp_head: parts.mtp_head,
        };
        if is_exact {
            return Self { lengths, lead, rest: behind.len(), is_exact };
        }
        let sum: f64 = layers.iter().map(|kind| parts.layers[kind.index()]).sum();
        let lengths = Lengths { rest: sum / layers.len() as f64, ..lengths };
        Self { lengths, lead: 0, rest: layers.len(), is_exact }
    }
}

/// Share of the layers that whole-layer recomputation takes, in the mean of the stages.
fn repeated_share(stages: &[Stage], recomputation: &Recomputation) -> f64 {
    let (mut layers, mut repeated) = (0.0, 0.0);
    for (index, stage) in stages.iter().enumerate() {
        let own = stage.num_all_layers();
        layers += own;
        repeated += own * recomputation.whole_share(index, own);
    }
    if layers > 0.0 { repeated / layers } else { 0.0 }
}

/// A solver's chunks with the model's own kinds of layers.
fn solution_chunks(pattern: &Pattern, residual_block: Option<u64>, chunks: &[Chunk]) -> Vec<Stage> {
    let mut layers = pattern.layers.as_slice();
    let mut held: Vec<Stage> = chunks
        .iter()
        .map(|chunk| {
            let (own, behind) = layers.split_at(chunk.layers.min(layers.len()));
            layers = behind;
            Stage {
                layers: Pattern::counts(own),
                mtp: chunk.mtp as f64,
                embedding: 0.0,
                head: chunk.heads as f64,
                mtp_head: chunk.mtp_heads as f64,
                ..Stage::default()
            }
        })
        .collect();
    if let Some(first) = held.first_mut() {
        first.embedding = 1.0;
    }
    if let Some(block) = residual_block {
        add_snapshots(&mut held, block);
    }
    held
}
