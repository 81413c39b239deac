//! The rules of each schedule's sizes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::choice::{Choice, Method};

/// A rule that the sizes of a schedule break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the size that is wrong: a knob's, or `num_microbatches`, which follows from the
    /// batch.
    pub knob: &'static str,
    /// What is wrong, with the numbers, in a sentence.
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

/// Every broken rule.
///
/// Source: Megatron-Core `schedules.py:forward_backward_pipelining_with_interleaving` (groups),
/// DeepSeek's `dualpipe.py` and `dualpipev.py` (assertions of `step`).
pub(super) fn faults(
    method: Method,
    stages: u64,
    chunks: u64,
    micro_batches: u64,
    group: Option<u64>,
) -> Vec<Fault> {
    Sizes { method, stages, chunks, micro_batches, group }.faults()
}

/// Sizes that may break the rules.
struct Sizes {
    method: Method,
    stages: u64,
    chunks: u64,
    micro_batches: u64,
    group: Option<u64>,
}

impl Sizes {
    fn faults(&self) -> Vec<Fault> {
        let bounded = |knob, what: &str, value: u64, most: u64| {
            (!(1..=most).contains(&value)).then(|| Fault {
                knob,
                message: format!("a pipeline has 1 to {most} {what}, not {value}"),
                nearest: Some(value.clamp(1, most)),
            })
        };
        let in_bounds = [
            bounded(Fault::STAGES, "stages", self.stages, MAX_STAGES),
            bounded(Fault::CHUNKS, "chunks per stage", self.chunks, MAX_CHUNKS),
            bounded(Fault::MICRO_BATCHES, "micro-batches", self.micro_batches, MAX_MICRO_BATCHES),
        ];
        let mut faults: Vec<Fault> = in_bounds.into_iter().flatten().collect();
        // Of a size that is out of bounds that says it all; the other sizes are measured against
        // its nearest value.
        let near = self.clamped();
        let rules = [
            near.odd_stages(),
            near.wrong_chunks(),
            near.unpaired_micro_batches().or_else(|| near.too_few_micro_batches()),
            near.undivided_micro_batches(),
            near.group_problem(),
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
        Self {
            stages: self.stages.clamp(1, MAX_STAGES),
            chunks: self.chunks.clamp(1, MAX_CHUNKS),
            micro_batches: self.micro_batches.clamp(1, MAX_MICRO_BATCHES),
            ..*self
        }
    }

    fn odd_stages(&self) -> Option<Fault> {
        (self.method == Method::DualPipe && !self.stages.is_multiple_of(2)).then(|| Fault {
            knob: Fault::STAGES,
            message: format!(
                "dualpipe pairs the stages from both ends, {} is not even",
                self.stages
            ),
            nearest: Some(self.stages + 1),
        })
    }

    fn wrong_chunks(&self) -> Option<Fault> {
        let right = match self.method {
            Method::Gpipe
            | Method::OneForwardOneBackward
            | Method::ZbH1
            | Method::Zb2p
            | Method::DualPipe => 1,
            Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => 2,
            Method::Interleaved | Method::OneForwardOneBackwardOverlap => return None,
        };
        let (name, count) =
            (self.method.name(), if right == 1 { "one chunk" } else { "two chunks" });
        (self.chunks != right).then(|| Fault {
            knob: Fault::CHUNKS,
            message: format!("{name} runs {count} per stage, not {}", self.chunks),
            nearest: Some(right),
        })
    }

    fn unpaired_micro_batches(&self) -> Option<Fault> {
        let m = self.micro_batches;
        (self.method == Method::DualPipe && !m.is_multiple_of(2)).then(|| Fault {
            knob: Fault::MICRO_BATCHES,
            message: format!("dualpipe sends half of the micro-batches each way, {m} is not even"),
            nearest: Some((m + 1).max(self.least_micro_batches())),
        })
    }

    fn too_few_micro_batches(&self) -> Option<Fault> {
        let (m, least) = (self.micro_batches, self.least_micro_batches());
        let name = self.method.name();
        (m < least).then(|| Fault {
            knob: Fault::MICRO_BATCHES,
            message: format!(
                "{name} with {} stages needs {least} micro-batches, there are {m}",
                self.stages
            ),
            nearest: Some(least),
        })
    }

    /// The two streams of dual pipelines must meet; a pipeline of one stage has but one.
    fn least_micro_batches(&self) -> u64 {
        match self.method {
            Method::DualPipe | Method::DualPipeV if self.stages > 1 => 2 * self.stages,
            Method::Gpipe
            | Method::OneForwardOneBackward
            | Method::Interleaved
            | Method::OneForwardOneBackwardOverlap
            | Method::ZbH1
            | Method::Zb2p
            | Method::ZbV
            | Method::VHalf
            | Method::VMin
            | Method::DualPipe
            | Method::DualPipeV => 1,
        }
    }

    fn interleaves(&self) -> bool {
        self.chunks > 1
            && matches!(self.method, Method::Interleaved | Method::OneForwardOneBackwardOverlap)
    }

    /// Without a group, chunks run groups of p micro-batches.
    fn undivided_micro_batches(&self) -> Option<Fault> {
        let (m, p) = (self.micro_batches, self.stages);
        let undivided = self.interleaves() && self.group.is_none() && !m.is_multiple_of(p);
        undivided.then(|| {
            let below = m - m % p;
            // The nearer multiple; the larger one of two that are as near.
            let nearest = if m - below < p - m % p && below > 0 { below } else { below + p };
            Fault {
                knob: Fault::MICRO_BATCHES,
                message: format!("{m} micro-batches are not a multiple of {p} stages"),
                nearest: Some(nearest),
            }
        })
    }

    fn group_problem(&self) -> Option<Fault> {
        let (group, m, p) = (self.group?, self.micro_batches, self.stages);
        let fault = |message, nearest| Some(Fault { knob: Fault::GROUP, message, nearest });
        if !self.interleaves() {
            let message =
                "a micro-batch group needs an interleaved schedule with more than one chunk";
            return fault(String::from(message), None);
        }
        if m < p {
            let message = format!("{m} micro-batches are no group for {p} stages");
            return Some(Fault { knob: Fault::MICRO_BATCHES, message, nearest: Some(p) });
        }
        if fills(group, m, p) {
            return None;
        }
        let most = m.min(MAX_GROUP);
        let message = if (p..=most).contains(&group) {
            let rest = m % group;
            format!("groups of {group} leave {rest} of {m} micro-batches, fewer than {p} stages")
        } else {
            format!("a micro-batch group has {p} to {most} micro-batches, not {group}")
        };
        fault(message, nearest_group(group, m, p))
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
