//! The rules of each schedule's sizes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::form::{Form, Placement};
use crate::ground::choice::{Choice, Method};

/// A rule that the sizes of a schedule break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the size that is wrong: a knob's, or `num_microbatches`, which follows from the
    /// batch.
    pub knob: &'static str,
    /// Description of the error with the numbers, in a sentence.
    pub message: String,
    /// The nearest value of that size that keeps the rules, where there is one.
    pub nearest: Option<u64>,
}

impl Fault {
    /// Stages (PP).
    pub const STAGES: &'static str = "pipeline_model_parallel_size";
    /// Chunks of a stage (VPP).
    pub const CHUNKS: &'static str = "virtual_pipeline_model_parallel_size";
    /// Micro-batches of a step.
    pub const MICRO_BATCHES: &'static str = "num_microbatches";
    /// Micro-batches that a chunk runs in a row.
    pub const GROUP: &'static str = "microbatch_group_size_per_vp_stage";
}

const MAX_STAGES: u64 = 1_024;
const MAX_CHUNKS: u64 = 256;
/// The largest global batch.
const MAX_MICRO_BATCHES: u64 = 16_777_216;
const MAX_GROUP: u64 = 65_536;

/// A pipeline's size, which may break the rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) method: Method,
    pub(crate) stages: u64,
    pub(crate) chunks: u64,
}

/// A pipeline's size with the micro-batches of a step, which may break the rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) grid: Grid,
    pub(crate) micro_batches: u64,
    pub(crate) group: Option<u64>,
}

impl Grid {
    /// Dual pipelines pair the stages from both ends.
    pub(crate) fn odd_stages(&self) -> Option<Fault> {
        let pairs_stages = Form::of(self.method).placement == Placement::Bidirectional;
        (pairs_stages && !self.stages.is_multiple_of(2)).then(|| Fault {
            knob: Fault::STAGES,
            message: format!(
                "{} pairs the stages (PP) from both ends, {} is not even",
                self.method.name(),
                self.stages
            ),
            nearest: Some(self.stages + 1),
        })
    }

    /// The method runs another number of chunks.
    pub(crate) fn wrong_chunks(&self) -> Option<Fault> {
        let right = Form::of(self.method).chunks?;
        let count = if right == 1 { "one chunk" } else { "two chunks" };
        (self.chunks != right).then(|| Fault {
            knob: Fault::CHUNKS,
            message: format!(
                "{} runs {count} per stage (VPP), not {}",
                self.method.name(),
                self.chunks
            ),
            nearest: Some(right),
        })
    }

    /// Only interleaved chunks run micro-batches in groups.
    pub(crate) fn unused_group(&self) -> Option<Fault> {
        (!self.interleaves()).then(|| Fault {
            knob: Fault::GROUP,
            message: String::from(
                "a micro-batch group needs an interleaved schedule with more than one chunk (VPP)",
            ),
            nearest: None,
        })
    }

    fn interleaves(&self) -> bool {
        self.chunks > 1 && Form::of(self.method).chunks.is_none()
    }
}

impl Sizes {
    /// Every broken rule.
    ///
    /// Source: Megatron-Core `schedules.py:forward_backward_pipelining_with_interleaving` (groups),
    /// DeepSeek's `dualpipe.py` and `dualpipev.py` (assertions of `step`).
    pub(super) fn faults(&self) -> Vec<Fault> {
        let bounded = |knob, what: &str, value: u64, most: u64| {
            (!(1..=most).contains(&value)).then(|| Fault {
                knob,
                message: format!("a pipeline has 1 to {most} {what}, not {value}"),
                nearest: Some(value.clamp(1, most)),
            })
        };
        let in_bounds = [
            bounded(Fault::STAGES, "stages", self.grid.stages, MAX_STAGES),
            bounded(Fault::CHUNKS, "chunks per stage", self.grid.chunks, MAX_CHUNKS),
            bounded(Fault::MICRO_BATCHES, "micro-batches", self.micro_batches, MAX_MICRO_BATCHES),
        ];
        let mut faults: Vec<Fault> = in_bounds.into_iter().flatten().collect();
        // Of a size that is out of bounds that says it all; the other sizes are measured against
        // its nearest value.
        let near = self.clamped();
        let rules = [
            near.grid.odd_stages(),
            near.grid.wrong_chunks(),
            near.wrong_micro_batches(),
            near.wrong_group(),
        ];
        for fault in rules.into_iter().flatten() {
            if faults.iter().all(|known| known.knob != fault.knob) {
                faults.push(fault);
            }
        }
        faults
    }

    /// The nearest sizes in bounds.
    fn clamped(&self) -> Self {
        let Grid { method, stages, chunks } = self.grid;
        Self {
            grid: Grid {
                method,
                stages: stages.clamp(1, MAX_STAGES),
                chunks: chunks.clamp(1, MAX_CHUNKS),
            },
            micro_batches: self.micro_batches.clamp(1, MAX_MICRO_BATCHES),
            group: self.group,
        }
    }

    /// The micro-batches don't come out for the method.
    pub(crate) fn wrong_micro_batches(&self) -> Option<Fault> {
        self.unpaired().or_else(|| self.too_few()).or_else(|| self.undivided())
    }

    fn unpaired(&self) -> Option<Fault> {
        let (m, method) = (self.micro_batches, self.grid.method);
        let directions = Form::of(method).placement.directions() as u64;
        (!m.is_multiple_of(directions)).then(|| Fault {
            knob: Fault::MICRO_BATCHES,
            message: format!(
                "{} sends half of the micro-batches each way, {m} is not even",
                method.name()
            ),
            nearest: Some((m + 1).max(self.least_micro_batches())),
        })
    }

    fn too_few(&self) -> Option<Fault> {
        let (m, least) = (self.micro_batches, self.least_micro_batches());
        (m < least).then(|| Fault {
            knob: Fault::MICRO_BATCHES,
            message: format!(
                "{} needs {least} micro-batches (2 PP), there are {m}",
                self.grid.method.name()
            ),
            nearest: Some(least),
        })
    }

    /// The two streams of dual pipelines must meet; a pipeline of one stage has but one.
    fn least_micro_batches(&self) -> u64 {
        let stages = if self.grid.stages > 1 { self.grid.stages } else { 0 };
        (Form::of(self.grid.method).micro_batches_per_stage * stages).max(1)
    }

    /// Without a group, chunks run groups of p micro-batches.
    fn undivided(&self) -> Option<Fault> {
        let (m, p) = (self.micro_batches, self.grid.stages);
        let undivided = self.grid.interleaves() && self.group.is_none() && !m.is_multiple_of(p);
        undivided.then(|| {
            let below = m - m % p;
            // The nearer multiple; the larger one of two that are as near.
            let nearest = if m - below < p - m % p && below > 0 { below } else { below + p };
            Fault {
                knob: Fault::MICRO_BATCHES,
                message: format!("{m} micro-batches are not a multiple of the {p} stages (PP)"),
                nearest: Some(nearest),
            }
        })
    }

    /// Error in the number of micro-batches that a chunk runs in a row.
    pub(crate) fn wrong_group(&self) -> Option<Fault> {
        let (group, m, p) = (self.group?, self.micro_batches, self.grid.stages);
        if let Some(fault) = self.grid.unused_group() {
            return Some(fault);
        }
        if m < p {
            let message = format!("{m} micro-batches are no group for the {p} stages (PP)");
            return Some(Fault { knob: Fault::MICRO_BATCHES, message, nearest: Some(p) });
        }
        if fills(group, m, p) {
            return None;
        }
        let most = m.min(MAX_GROUP);
        let message = if (p..=most).contains(&group) {
            let rest = m % group;
            format!(
                "groups of {group} leave {rest} of {m} micro-batches, fewer than the {p} stages \
                 (PP)"
            )
        } else {
            format!("a micro-batch group has {p} (PP) to {most} micro-batches, not {group}")
        };
        Some(Fault { knob: Fault::GROUP, message, nearest: nearest_group(group, m, p) })
    }
}

/// Does each group of micro-batches, the last one too, fill the pipeline?
fn fills(group: u64, m: u64, p: u64) -> bool {
    (p..=m.min(MAX_GROUP)).contains(&group) && (m.is_multiple_of(group) || m % group >= p)
}

fn nearest_group(group: u64, m: u64, p: u64) -> Option<u64> {
    let most = m.min(MAX_GROUP);
    let start = group.clamp(p.min(most), most);
    let candidates = (0..=most).flat_map(|step| [start.checked_sub(step), start.checked_add(step)]);
    candidates.flatten().filter(|candidate| *candidate <= most).find(|near| fills(*near, m, p))
}
