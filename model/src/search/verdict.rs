//! Whether a design fits its memory, what fills it, and the smallest changes that help.

mod options;
mod change;

use alloc::vec::Vec;

use crate::catalogue::memory_state::MemoryState;
use crate::device::saved::Fate;
use crate::ground::sorting::sort_short;
use crate::ground::units::Bytes;
use crate::schedule::Task;
use crate::training::estimate::{Estimate, StageEstimate};
use crate::training::memory::{Content, Filling, contents};
use crate::training::plan::Plan;

pub use change::Change;

/// Which memory has the least room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The device's own.
    Device,
    /// The host's, a device's share of it.
    Host,
}

impl Place {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
        }
    }
}

/// Whether a design fits its memory, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Does every stage fit, on the device and in host memory, by its predicted peak?
    pub fits: bool,
    /// Probability that it fits by its true peak.
    pub fit_probability: f64,
    /// The memory that is fullest for its size.
    pub place: Place,
    /// The stage where it is fullest.
    pub stage: u32,
    /// Memory that the stage needs at its peak.
    pub peak: Bytes,
    /// Limit of that memory.
    pub limit: Bytes,
    /// Memory that the allocator holds at that peak, blocks that it keeps beyond tensors counted;
    /// of host memory the peak.
    pub held: Bytes,
    /// The task at whose start it is fullest; none when a formula gave the times.
    pub fullest: Option<Task>,
    /// Full-stage micro-batches whose activations the stage holds then.
    pub in_flight: f64,
    /// Contents of the memory at the peak, the largest first; the parts sum to `peak`.
    pub contents: Vec<Filling>,
    /// MFU of the design as it is.
    pub mfu: f64,
    /// One change for each knob, of what the framework's arguments can say. When the design doesn't
    /// fit: the smallest with which it does, the fastest first, then the knobs that can't alone,
    /// the nearest to fitting first. When it fits: those that use room that is left to be faster,
    /// the fastest first.
    pub changes: Vec<Change>,
    /// Where the design doesn't fit: the fastest set of recomputation and swapping with which it
    /// does ([`crate::make_it_fit`]).
    pub set: Option<Change>,
}

impl Verdict {
    /// Whether it fits, as far as the error of the prediction lets one say.
    #[must_use]
    pub fn state(&self) -> MemoryState {
        MemoryState::of(self.fit_probability)
    }

    /// Whether the peak is within the limit, but not what the allocator holds at it. Then
    /// fragmentation decides whether it runs, and blocks that are given back and allocated again
    /// slow it down.
    #[must_use]
    pub fn is_nearly_full(&self) -> bool {
        self.peak <= self.limit && self.held > self.limit
    }

    /// Bytes above the limit; zero when it fits.
    #[must_use]
    pub fn over(&self) -> Bytes {
        self.peak.beyond(self.limit)
    }

    /// Bytes that are left; zero when it doesn't fit.
    #[must_use]
    pub fn headroom(&self) -> Bytes {
        self.limit.beyond(self.peak)
    }

    /// The largest part of what fills it.
    #[must_use]
    pub fn largest(&self) -> Option<&Filling> {
        self.contents.first()
    }
}

/// Whether a plan fits its memory by its estimate, and which change helps.
///
/// Each value of a knob is tried alone; what has to move with it moves (sequence parallelism with
/// TP, the layout with PP). Values are screened with the closed form, the nearest that comes
/// within 5 % of fitting is estimated as the plan is timed.
#[must_use]
pub fn verdict(plan: &Plan, estimate: &Estimate) -> Verdict {
    let host_limit = plan.deployment.machine.host_memory;
    let (place, stage) = fullest(host_limit, estimate);
    let Tightest { peak, limit, .. } = held(host_limit, estimate, place, &stage);
    let contents = match place {
        Place::Device => contents(plan, &stage),
        Place::Host => on_host(plan, &stage),
    };
    Verdict {
        fits: estimate.metrics.fits,
        fit_probability: estimate.metrics.fit_probability,
        place,
        stage: stage.stage,
        peak,
        limit,
        held: match place {
            Place::Device => plan.held_for(peak),
            Place::Host => peak,
        },
        fullest: stage.fullest,
        in_flight: stage.peak_in_flight,
        contents,
        mfu: estimate.metrics.mfu,
        set: if estimate.metrics.fits { None } else { change::cheapest_set(plan) },
        changes: change::changes(plan, estimate),
    }
}

/// The memory with the least room for its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tightest {
    /// Which memory.
    pub place: Place,
    /// The stage where it is fullest.
    pub stage: u32,
    /// Memory that the stage needs at its peak.
    pub peak: Bytes,
    /// Limit of that memory.
    pub limit: Bytes,
}

/// The memory that is fullest for its size, and its stage.
#[must_use]
pub fn tightest(plan: &Plan, estimate: &Estimate) -> Tightest {
    let host_limit = plan.deployment.machine.host_memory;
    let (place, stage) = fullest(host_limit, estimate);
    held(host_limit, estimate, place, &stage)
}

fn held(host_limit: Bytes, estimate: &Estimate, place: Place, stage: &StageEstimate) -> Tightest {
    let [peak, limit] = match place {
        Place::Device => [stage.memory.peak(), estimate.metrics.memory_limit],
        Place::Host => [stage.host_memory, host_limit],
    };
    Tightest { place, stage: stage.stage, peak, limit }
}

/// The memory and the stage that is fullest for its size; of equally full stages the first.
fn fullest(host_limit: Bytes, estimate: &Estimate) -> (Place, StageEstimate) {
    let device = |stage: &StageEstimate| stage.memory.peak() / estimate.metrics.memory_limit;
    let host = |stage: &StageEstimate| stage.host_memory / host_limit;
    let all = estimate.stages.iter().flat_map(|stage| {
        [(Place::Device, device(stage), stage), (Place::Host, host(stage), stage)]
    });
    let most = all.reduce(|most, other| if other.1 > most.1 { other } else { most });
    most.map_or_else(
        || (Place::Device, StageEstimate::default()),
        |(place, _, stage)| (place, *stage),
    )
}

/// Tensors that a stage parks in host memory, the largest first.
fn on_host(plan: &Plan, stage: &StageEstimate) -> Vec<Filling> {
    let index = stage.stage as usize;
    let Some(held) = plan.stages.get(index) else { return Vec::new() };
    let mut parts: Vec<(Content, f64)> = plan
        .saved_on(index, held, Fate::Swapped)
        .into_iter()
        .map(|(content, bytes)| (content, bytes * stage.peak_in_flight))
        .collect();
    let saved: f64 = parts.iter().map(|(_, bytes)| bytes).sum();
    parts.push((Content::OptimizerStates, stage.host_memory.get() - saved));
    // Sums of tensors differ from their total in the last digits.
    parts.retain(|(_, bytes)| *bytes > 1.0);
    sort_short(&mut parts, |one, other| other.1.total_cmp(&one.1));
    parts
        .into_iter()
        .map(|(content, bytes)| Filling { content, bytes: Bytes::new(bytes) })
        .collect()
}
