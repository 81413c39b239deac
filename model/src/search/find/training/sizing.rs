//! Questions about the size of the machine, the batch or the sequence: sizes are tried until the
//! last one that works is known.

use alloc::vec::Vec;

use super::walk::{Stage, Walk};
use crate::design::KnobId;
use crate::device::topology::devices_per_node;
use crate::ground::knob::Value;
use crate::search::find::pool::Pool;
use crate::search::find::query::{Query, Question};
use crate::search::find::target::Target;

/// The most devices that are looked at where no target bounds them.
const MAX_DEVICES: u64 = 1 << 17;

/// The longest sequence that is looked at, tokens.
const MAX_SEQUENCE: u64 = 1 << 24;

/// The largest batch that is looked at, sequences.
const MAX_BATCH: u64 = 1 << 22;

/// Sizes between one that doesn't work and the next that does, at most.
const MAX_STEPS: u64 = 32;

/// A size that is looked for.
#[derive(Debug)]
pub(super) struct Sizing {
    query: Query,
    pub(super) knob: KnobId,
    /// Sizes that are tried next, in order.
    next: Vec<u64>,
    /// The smallest of those from the first on that doesn't work, going down.
    largest: Option<u64>,
    /// A size that isn't enough.
    least: u64,
    /// Sizes between, descending, where they are halved.
    between: Vec<u64>,
    /// Whether the sizes double, or are those between two of that.
    doubles: bool,
    /// The largest or smallest that works.
    pub(super) works: Option<u64>,
    walk: Option<(u64, Walk)>,
    pub(super) evaluated: u64,
    pub(super) simulated: u64,
    tried: u64,
}

impl Sizing {
    /// Search for the size that a query asks for; `None` for a layout alone.
    pub(super) fn new(query: &Query) -> Option<Self> {
        let design = &query.design;
        let (knob, next) = match query.question {
            Question::Layout => return None,
            Question::FewestDevices => (KnobId::num_devices, device_steps(query, 1)),
            Question::LargestBatch => {
                let own = design.training.global_batch_size;
                (KnobId::global_batch_size, doubling(own, MAX_BATCH))
            }
            Question::LongestSequence => {
                (KnobId::seq_length, doubling(design.training.seq_length, MAX_SEQUENCE))
            }
        };
        Some(Self::of(query, knob, next))
    }

    /// The fewest devices beyond those of a query on which something fits.
    pub(super) fn more_devices(query: &Query) -> Self {
        let now = query.design.cluster.num_devices;
        let steps = device_steps(query, now + 1);
        Self { least: now, ..Self::of(query, KnobId::num_devices, steps) }
    }

    fn of(query: &Query, knob: KnobId, mut next: Vec<u64>) -> Self {
        next.reverse();
        Self {
            query: query.clone(),
            knob,
            next,
            largest: None,
            least: 0,
            between: Vec::new(),
            doubles: true,
            works: None,
            walk: None,
            evaluated: 0,
            simulated: 0,
            tried: 0,
        }
    }

    /// Rough share of the work that is done: sizes double some times, then come those between.
    pub(super) fn share(&self) -> f64 {
        let tried = self.tried as f64;
        tried / (tried + 8.0)
    }

    /// Does a part of the work; whether all is done.
    pub(super) fn step(&mut self, pool: &impl Pool) -> bool {
        let Some((size, walk)) = &mut self.walk else { return self.begin() };
        walk.step(pool);
        let works = !walk.found.is_empty();
        // Whether anything works is known before all is refined.
        if !works && walk.stage != Stage::Done {
            return false;
        }
        let size = *size;
        self.evaluated += walk.evaluated;
        self.simulated += walk.simulated;
        self.walk = None;
        self.tried += 1;
        self.judge(size, works);
        false
    }

    fn begin(&mut self) -> bool {
        let Some(size) = self.next.pop() else { return true };
        self.walk = sized(&self.query, self.knob, size).map(|query| {
            let mut walk = Walk::new(&query);
            walk.only_asks = true;
            (size, walk)
        });
        if self.walk.is_none() {
            self.judge(size, false);
        }
        false
    }

    /// Updates the range of sizes after one that works or doesn't.
    fn judge(&mut self, size: u64, works: bool) {
        let smallest = self.knob == KnobId::num_devices;
        if smallest && !self.doubles && self.bisects() {
            self.halve(size, works);
            return;
        }
        match (smallest, works) {
            (true, true) => {
                self.works = Some(size);
                self.next.clear();
                if self.doubles {
                    self.doubles = false;
                    // Half of it didn't work, or is what there is already.
                    self.next = self.between((size / 2).max(self.least), size);
                    self.next.reverse();
                    if self.bisects() {
                        self.between = core::mem::take(&mut self.next);
                        self.next.extend(self.middle());
                    }
                }
            }
            (true, false) => {}
            (false, true) => {
                self.works = Some(self.works.map_or(size, |known| known.max(size)));
                if self.largest.is_some() && self.doubles {
                    self.quarter(size);
                }
            }
            (false, false) => {
                // Below the first that works nothing is lost yet.
                if let Some(works) = self.works
                    && self.doubles
                {
                    self.quarter(works);
                } else if self.works.is_some() {
                    self.next.clear();
                } else {
                    // Not even its own size: the half of it, until something works.
                    self.next = Vec::from_iter((size > 1).then_some(size / 2));
                    self.largest = Some(size);
                }
            }
        }
    }

    /// Goes on with what is between a size that works and its double that doesn't.
    fn quarter(&mut self, works: u64) {
        self.doubles = false;
        self.next = [7, 6, 5].map(|fourths| works / 4 * fourths).to_vec();
        self.next.retain(|it| works >= 4 && *it > works);
    }

    /// Whether the sizes between are halved: throughput grows with the devices. What fits is asked
    /// of each, as a number of devices may have few divisors.
    fn bisects(&self) -> bool {
        let is_speed = |target: &Target| {
            matches!(target, Target::AtLeast(..) | Target::AtMost(..) | Target::Run(_))
        };
        self.query.targets.iter().any(is_speed)
    }

    fn middle(&self) -> Option<u64> {
        self.between.get(self.between.len() / 2).copied()
    }

    /// Keeps the half where the smallest that works must be; sizes are descending.
    fn halve(&mut self, size: u64, works: bool) {
        if works {
            self.works = Some(size);
            self.between.retain(|other| *other < size);
        } else {
            self.between.retain(|other| *other > size);
        }
        self.next.clear();
        self.next.extend(self.middle());
    }

    /// Whole nodes between two numbers of devices, evenly where there are many.
    fn between(&self, low: u64, high: u64) -> Vec<u64> {
        let node = devices_per_node(&self.query.design);
        if high <= node {
            return (low + 1..high).filter(|count| node.is_multiple_of(*count)).collect();
        }
        let step = ((high - low) / node).div_ceil(MAX_STEPS).max(1) * node;
        let first = low / node * node + node;
        (0..).map(|place| first + place * step).take_while(|count| *count < high).collect()
    }
}

/// Numbers of devices that double, from one on: divisors of a node, then whole nodes.
fn device_steps(query: &Query, from: u64) -> Vec<u64> {
    let node = devices_per_node(&query.design);
    let bound = query.targets.iter().fold(MAX_DEVICES, |most, target| match target {
        Target::Devices(count) => most.min(*count),
        Target::AtLeast(..) | Target::AtMost(..) | Target::Spare(_) | Target::Run(_) => most,
    });
    let mut steps: Vec<u64> = (1..=node).filter(|count| node.is_multiple_of(*count)).collect();
    let mut count = node * 2;
    while count < bound {
        steps.push(count);
        count *= 2;
    }
    // The bound itself, in whole nodes.
    if bound > node {
        steps.push(bound / node * node);
    }
    steps.retain(|count| *count >= from && *count <= bound);
    steps.dedup();
    steps
}

fn doubling(first: u64, most: u64) -> Vec<u64> {
    (0..).map(|two| first << two).take_while(|size| *size <= most).collect()
}

/// The query at another size; `None` if the knob doesn't take it.
pub(super) fn sized(query: &Query, knob: KnobId, size: u64) -> Option<Query> {
    let mut query = query.clone();
    query.question = Question::Layout;
    let training = &mut query.design.training;
    if knob == KnobId::seq_length {
        let tokens = training.seq_length * training.global_batch_size;
        training.global_batch_size = batch_of(tokens, size)?;
    }
    query.design.set(knob, &Value::Integer(size)).ok()?;
    Some(query)
}

/// Sequences of this length with as many tokens, or the largest power of two with no more: it
/// divides over ranks.
fn batch_of(tokens: u64, length: u64) -> Option<u64> {
    let sequences = tokens / length;
    if tokens.is_multiple_of(length) {
        return Some(sequences).filter(|count| *count > 0);
    }
    sequences.checked_ilog2().map(|two| 1 << two)
}
