//! The layout whose longest stage is shortest, for parts of known length.
//!
//! The parts of a model come in order: the embedding, the layers (those of the leading kind first),
//! and behind the last layer, in any later chunk, the language-model head and each MTP layer with
//! its head, which never runs before its layer. A chunk holds consecutive layers; a bin holds the
//! chunks that one stage runs, and its length is the sum of their parts.

use alloc::vec;
use alloc::vec::Vec;

/// Most steps of the search over leading layers; beyond, all layers count as equally long.
const MAX_STEPS: usize = 4_000_000;
/// MTP layers that are split from their heads; of more, each stays with its head.
const MAX_SPLIT: usize = 2;
/// Chunks behind the last layer, where MTP layers aren't split.
const MAX_BEHIND: usize = 3;
/// Chunks whose layers are moved about to make neighbours alike.
const MAX_SMOOTHED: usize = 96;

/// Seconds of each kind of part, for one micro-batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Lengths {
    pub(crate) lead: f64,
    pub(crate) rest: f64,
    pub(crate) embedding: f64,
    pub(crate) head: f64,
    /// An MTP layer without its head.
    pub(crate) mtp: f64,
    /// The head and loss of an MTP layer.
    pub(crate) mtp_head: f64,
}

/// Allowed places of the parts behind the last layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// In any chunk from that of the last layer on.
    Anywhere,
    /// All heads in the last chunk; the MTP layers together in a chunk that is the last one of its
    /// stage, the first stage's not counted.
    HeadsLast,
    /// All in the last chunk.
    Last,
}

/// Input of the layout solver: the parts to be laid out, and the stages of the chunks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) lengths: Lengths,
    /// Layers of the leading kind.
    pub(crate) lead: usize,
    /// Layers of the other kind, behind them.
    pub(crate) rest: usize,
    pub(crate) mtp: usize,
    /// The bin of each chunk, in model order.
    pub(crate) bin_of: Vec<usize>,
    /// Number of bins.
    pub(crate) bins: usize,
    pub(crate) ends: Ends,
    /// Number of stages.
    pub(crate) stages: usize,
}

/// Content of one chunk beside the embedding, which is on the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) mtp: usize,
    pub(crate) mtp_heads: usize,
}

impl Chunk {
    fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// MTP layers whose head is in the same chunk.
    pub(crate) fn whole_mtp(self) -> usize {
        self.mtp.min(self.mtp_heads)
    }
}

/// A layout with the least longest bin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solution {
    pub(crate) chunks: Vec<Chunk>,
    /// The longest bin.
    pub(crate) longest: f64,
    /// Was every layout compared?
    pub(crate) exact: bool,
}

impl Problem {
    fn layers(&self) -> usize {
        self.lead + self.rest
    }

    /// Whether the last chunks may hold this beside their layers.
    fn takes(&self, tail: &[Chunk]) -> bool {
        let Some(last) = tail.last() else { return true };
        match self.ends {
            Ends::Anywhere => true,
            Ends::Last => tail.len() == 1,
            Ends::HeadsLast => {
                let first = self.bin_of.len() - tail.len();
                let ends_a_stage = |at: usize| first + at + self.stages > self.bin_of.len();
                let is_alone = |(at, chunk): (usize, &Chunk)| {
                    chunk.mtp == 0
                        || chunk.mtp == self.mtp && (at + 1 == tail.len() || ends_a_stage(at))
                };
                last.heads == 1
                    && last.mtp_heads == self.mtp
                    && tail.iter().enumerate().all(is_alone)
            }
        }
    }

    /// All parts together.
    pub(crate) fn total(&self) -> f64 {
        let of = &self.lengths;
        of.embedding
            + of.head
            + self.lead as f64 * of.lead
            + self.rest as f64 * of.rest
            + self.mtp as f64 * (of.mtp + of.mtp_head)
    }

    /// No layout is shorter than its longest part, nor than the mean.
    pub(crate) fn bound(&self) -> f64 {
        let of = &self.lengths;
        let some = |count: usize, length: f64| if count > 0 { length } else { 0.0 };
        [
            some(self.lead, of.lead),
            some(self.rest, of.rest),
            some(self.mtp, of.mtp.max(of.mtp_head)),
            of.head,
            of.embedding,
        ]
        .into_iter()
        .fold(self.total() / self.bins as f64, f64::max)
    }

    /// The length of each bin under a layout.
    pub(crate) fn bin_lengths(&self, chunks: &[Chunk]) -> Vec<f64> {
        let mut counts = vec![(0, 0); self.bins];
        let mut first = 0;
        for (chunk, bin) in chunks.iter().zip(&self.bin_of) {
            let lead = self.lead.saturating_sub(first).min(chunk.layers);
            first += chunk.layers;
            counts[*bin].0 += lead;
            counts[*bin].1 += chunk.layers - lead;
        }
        let fixed = self.fixed(chunks);
        counts.iter().zip(fixed).map(|((d, m), fixed)| self.length(fixed, *d, *m)).collect()
    }

    /// One way to add a bin up: sums that are compared must be rounded alike.
    fn length(&self, fixed: f64, lead: usize, rest: usize) -> f64 {
        fixed + (lead as f64 * self.lengths.lead + rest as f64 * self.lengths.rest)
    }

    /// The length of each bin without layers.
    fn fixed(&self, chunks: &[Chunk]) -> Vec<f64> {
        let of = &self.lengths;
        let mut fixed = vec![0.0; self.bins];
        for (chunk, bin) in chunks.iter().zip(&self.bin_of) {
            fixed[*bin] += chunk.heads as f64 * of.head
                + chunk.mtp as f64 * of.mtp
                + chunk.mtp_heads as f64 * of.mtp_head;
        }
        fixed[self.bin_of[0]] += of.embedding;
        fixed
    }

    /// The problem with all layers as long as their mean.
    pub(crate) fn with_equal_layers(&self) -> Self {
        let (lead, rest) = (self.lead as f64, self.rest as f64);
        let sum = lead * self.lengths.lead + rest * self.lengths.rest;
        let lengths = Lengths { rest: sum / (lead + rest), ..self.lengths };
        Self { lengths, lead: 0, rest: self.layers(), ..self.clone() }
    }
}

/// Finds the layout whose longest bin is shortest, every chunk holding something; `None` where
/// there are more chunks than parts, or no layers.
///
/// Every place of the parts behind the layers is tried. For each, and for each chunk that may hold
/// the last lead layer, the least bound is searched under which the bins have room for all layers:
/// lead ones are shared out by dynamic programming so that most room is left for the others.
/// Among equally long layouts the one is taken that keeps MTP layers with their heads, and whose
/// neighbouring chunks differ least.
pub(crate) fn solve(problem: &Problem) -> Option<Solution> {
    let (chunks, layers) = (problem.bin_of.len(), problem.layers());
    if chunks == 0 || layers == 0 || chunks > layers + 2 + 2 * problem.mtp {
        return None;
    }
    if problem.lead > 0 && problem.rest == 0 {
        // One kind of layer is the second kind.
        let lengths = Lengths { rest: problem.lengths.lead, ..problem.lengths };
        return solve(&Problem { lengths, lead: 0, rest: layers, ..problem.clone() });
    }
    let tails = tails(problem);
    let steps = problem
        .bins
        .saturating_mul((problem.lead + 1).saturating_pow(3))
        .saturating_mul(tails.len());
    if problem.lead > 0 && steps > MAX_STEPS {
        let equal = solve(&problem.with_equal_layers())?;
        let lengths = problem.bin_lengths(&equal.chunks);
        let longest = lengths.into_iter().fold(0.0, f64::max);
        return Some(Solution { longest, exact: false, ..equal });
    }
    let mut longest = f64::INFINITY;
    for frame in frames(problem, &tails) {
        while let Some(found) = frame.shorter_than(problem, longest) {
            longest = found;
        }
    }
    let chunks = frames(problem, &tails)
        .filter_map(|frame| frame.layout(problem, longest))
        .min_by(|a, b| roughness(problem, a).total_cmp(&roughness(problem, b)))?;
    let chunks = smoothed(problem, chunks, longest);
    Some(Solution { chunks, longest, exact: problem.mtp <= MAX_SPLIT })
}

/// Roughness of a layout, against one that is written by hand: MTP layers apart from their heads
/// first, then the differences of layers between neighbouring chunks, then those of their lengths.
fn roughness(problem: &Problem, chunks: &[Chunk]) -> f64 {
    let split: usize = chunks.iter().map(|chunk| chunk.mtp - chunk.whole_mtp()).sum();
    let layers = steps_of(chunks);
    let of = &problem.lengths;
    let length = |chunk: &Chunk| {
        chunk.layers as f64 * of.rest
            + chunk.heads as f64 * of.head
            + chunk.mtp as f64 * of.mtp
            + chunk.mtp_heads as f64 * of.mtp_head
    };
    let lengths: f64 =
        chunks.windows(2).map(|pair| (length(&pair[0]) - length(&pair[1])).abs()).sum();
    // Seconds of all chunks together weigh less than one layer moved.
    let total = problem.total().max(f64::MIN_POSITIVE);
    split as f64 * 1e6 + layers as f64 + lengths / (2.0 * total)
}

/// Moves single layers between chunks as long as neighbours become more alike and no bin longer
/// than it may be.
fn smoothed(problem: &Problem, mut chunks: Vec<Chunk>, longest: f64) -> Vec<Chunk> {
    let last = chunks.iter().rposition(|chunk| chunk.layers > 0).unwrap_or(0);
    if chunks.len() > MAX_SMOOTHED {
        return chunks;
    }
    let mut best = roughness(problem, &chunks);
    let split: usize = chunks.iter().map(|chunk| chunk.mtp - chunk.whole_mtp()).sum();
    let mut steps = steps_of(&chunks);
    // Each round lowers the roughness; a few suffice.
    for _ in 0..2 * chunks.len() {
        let mut moved = None;
        for (from, to) in (0..=last).flat_map(|from| (0..=last).map(move |to| (from, to))) {
            // Only the first chunk has something beside its layers.
            let least = usize::from(from > 0 || last == 0);
            if from == to || chunks[from].layers <= least {
                continue;
            }
            let before = steps_beside(&chunks, from, to);
            chunks[from].layers -= 1;
            chunks[to].layers += 1;
            let after = steps_beside(&chunks, from, to);
            // What lengths add is never below nothing: most moves need no more than this.
            let least = split as f64 * 1e6 + (steps - before + after) as f64;
            let rough = if least < best { roughness(problem, &chunks) } else { least };
            if rough < best && problem.bin_lengths(&chunks).iter().all(|bin| *bin <= longest) {
                (best, moved) = (rough, Some((from, to)));
            }
            chunks[from].layers += 1;
            chunks[to].layers -= 1;
        }
        let Some((from, to)) = moved else { break };
        chunks[from].layers -= 1;
        chunks[to].layers += 1;
        steps = steps_of(&chunks);
    }
    chunks
}

/// Sum of the differences in layers between neighbouring chunks.
fn steps_of(chunks: &[Chunk]) -> usize {
    chunks.windows(2).map(|pair| pair[0].layers.abs_diff(pair[1].layers)).sum()
}

/// Sum of these differences over the pairs that two chunks are part of.
fn steps_beside(chunks: &[Chunk], one: usize, other: usize) -> usize {
    let step = |left: usize| match chunks.get(left..left + 2) {
        Some(pair) => pair[0].layers.abs_diff(pair[1].layers),
        None => 0,
    };
    let (low, high) = (one.min(other), one.max(other));
    let between = if high > low + 1 { step(low) } else { 0 };
    low.checked_sub(1).map_or(0, step) + between + step(high - 1) + step(high)
}

/// Where everything but the layers is, and between which chunks lead and MoE layers change.
#[derive(Clone, Debug)]
struct Frame {
    /// The chunks without their layers.
    chunks: Vec<Chunk>,
    /// The chunk of the last lead layer; `None` without lead layers.
    last_lead: Option<usize>,
    /// The chunk of the last layer.
    last: usize,
    /// Each bin's length without layers.
    fixed: Vec<f64>,
    /// Least numbers of lead and MoE layers of each bin, `None` where it can't hold any.
    least: Vec<[Option<usize>; 2]>,
}

/// Every frame of a problem.
fn frames(problem: &Problem, tails: &[Vec<Chunk>]) -> impl Iterator<Item = Frame> {
    tails.iter().flat_map(move |tail| {
        let last = problem.bin_of.len() - tail.len();
        let latest = if problem.lead > 0 { last.min(problem.lead) } else { 0 };
        (0..=latest).filter_map(move |end| {
            let last_lead = (problem.lead > 0).then_some(end);
            Frame::new(problem, tail, last_lead)
        })
    })
}

/// Contents of the last chunks beside layers, from the chunk of the last layer on.
fn tails(problem: &Problem) -> Vec<Vec<Chunk>> {
    let splits = problem.mtp <= MAX_SPLIT;
    let parts = 1 + problem.mtp * if splits { 2 } else { 1 };
    let behind = if splits { parts } else { parts.min(MAX_BEHIND) };
    let mut tails = Vec::new();
    for behind in 0..=behind.min(problem.bin_of.len() - 1) {
        let left = Chunk { layers: 0, heads: 1, mtp: problem.mtp, mtp_heads: problem.mtp };
        let mut tail = vec![Chunk::default(); behind + 1];
        fill(&mut tail, 0, left, splits, &mut tails);
    }
    tails.retain(|tail| problem.takes(tail));
    tails
}

/// Puts what is left into the chunks from `at` on, in every way.
fn fill(tail: &mut [Chunk], at: usize, left: Chunk, splits: bool, tails: &mut Vec<Vec<Chunk>>) {
    let Some(later) = (tail.len() - at).checked_sub(1) else {
        if left.is_empty() {
            tails.push(tail.to_vec());
        }
        return;
    };
    if left.heads + left.mtp + left.mtp_heads < later {
        return;
    }
    for heads in 0..=left.heads {
        for mtp in 0..=left.mtp {
            // No more heads than layers have passed.
            let passed = left.mtp_heads - left.mtp + mtp;
            let mtp_heads = if splits { 0..=passed } else { mtp..=mtp };
            for mtp_heads in mtp_heads {
                let chunk = Chunk { layers: 0, heads, mtp, mtp_heads };
                if at > 0 && chunk.is_empty() {
                    continue;
                }
                tail[at] = chunk;
                let left = Chunk {
                    layers: 0,
                    heads: left.heads - heads,
                    mtp: left.mtp - mtp,
                    mtp_heads: left.mtp_heads - mtp_heads,
                };
                fill(tail, at + 1, left, splits, tails);
            }
        }
    }
}

impl Frame {
    /// `None` where the layers can't fill the chunks.
    fn new(problem: &Problem, tail: &[Chunk], last_lead: Option<usize>) -> Option<Self> {
        let last = problem.bin_of.len() - tail.len();
        let mut least = vec![[None, None]; problem.bins];
        let mut sums = [0, 0];
        for (chunk, bin) in problem.bin_of.iter().enumerate().take(last + 1) {
            let mut at_least = |kind: usize, count: usize| {
                let sum: &mut Option<usize> = &mut least[*bin][kind];
                *sum = Some(sum.unwrap_or(0) + count);
                sums[kind] += count;
            };
            // The embedding fills the first chunk, unless the last layer must be there.
            let needed = usize::from(chunk > 0 || last == 0);
            match last_lead {
                Some(end) if chunk < end => at_least(0, needed),
                Some(end) if chunk == end => {
                    at_least(0, 1);
                    at_least(1, 0);
                }
                Some(_) | None => at_least(1, needed),
            }
        }
        let mut chunks = vec![Chunk::default(); problem.bin_of.len()];
        chunks[last..].copy_from_slice(tail);
        let fixed = problem.fixed(&chunks);
        let fits = sums[0] <= problem.lead && sums[1] <= problem.rest;
        fits.then_some(Self { chunks, last_lead, last, fixed, least })
    }

    /// Most MoE layers that a bin has room for beside some lead ones; `None` where these alone, or
    /// the least that it must hold, are too long.
    fn room(&self, problem: &Problem, bin: usize, lead: usize, longest: f64) -> Option<usize> {
        let [least_lead, least_moe] = self.least[bin];
        if lead > 0 && least_lead.is_none() || lead < least_lead.unwrap_or(0) {
            return None;
        }
        let fixed = self.fixed[bin];
        let fits = |rest: usize| problem.length(fixed, lead, rest) <= longest;
        let least = least_moe.unwrap_or(0);
        if !fits(least) {
            return None;
        }
        if least_moe.is_none() {
            return Some(0);
        }
        // The quotient is off by at most a few units in the last place.
        let left = longest - problem.length(fixed, lead, 0);
        let rest = problem.lengths.rest;
        let quotient = if rest > 0.0 { left / rest } else { f64::INFINITY };
        let mut room = (quotient as usize).clamp(least, problem.rest.max(least));
        while room > least && !fits(room) {
            room -= 1;
        }
        while room < problem.rest && fits(room + 1) {
            room += 1;
        }
        Some(room)
    }

    /// Dense layers of each bin that leave most room for MoE layers, and that room.
    fn share_lead(&self, problem: &Problem, longest: f64) -> Option<(Vec<usize>, usize)> {
        let lead = problem.lead;
        // best[d]: most room so far beside d lead layers; taken[bin][d]: how many the bin took.
        let mut best: Vec<Option<usize>> = vec![None; lead + 1];
        best[0] = Some(0);
        let mut taken = vec![vec![0; lead + 1]; problem.bins];
        for (bin, taken) in taken.iter_mut().enumerate() {
            let rooms: Vec<Option<usize>> =
                (0..=lead).map(|own| self.room(problem, bin, own, longest)).collect();
            let mut next: Vec<Option<usize>> = vec![None; lead + 1];
            for (before, sum) in best.iter().enumerate() {
                let Some(sum) = sum else { continue };
                for (own, room) in rooms.iter().enumerate().take(lead + 1 - before) {
                    let Some(room) = room else { continue };
                    let all = &mut next[before + own];
                    if all.is_none_or(|all| all < sum + room) {
                        *all = Some(sum + room);
                        taken[before + own] = own;
                    }
                }
            }
            best = next;
        }
        let room = best[lead]?;
        let mut shares = vec![0; problem.bins];
        let mut left = lead;
        for bin in (0..problem.bins).rev() {
            shares[bin] = taken[bin][left];
            left -= shares[bin];
        }
        Some((shares, room))
    }

    fn fits(&self, problem: &Problem, longest: f64) -> bool {
        if problem.lead == 0 {
            let mut rooms = (0..problem.bins).map(|bin| self.room(problem, bin, 0, longest));
            let room = rooms.try_fold(0, |sum, room| Some(sum + room?));
            return room.is_some_and(|room| room >= problem.rest);
        }
        self.share_lead(problem, longest).is_some_and(|(_, room)| room >= problem.rest)
    }

    /// The longest bin of a layout of this frame that stays below a bound, close to the least.
    fn shorter_than(&self, problem: &Problem, bound: f64) -> Option<f64> {
        let mut high = bound.min(problem.total() * 2.0).next_down();
        if !self.fits(problem, high) {
            return None;
        }
        let mut low = problem.bound().min(high);
        for _ in 0..40 {
            let middle = low + (high - low) / 2.0;
            if self.fits(problem, middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        // What is reached lies at or below what was allowed.
        let chunks = self.layout(problem, high)?;
        Some(problem.bin_lengths(&chunks).into_iter().fold(0.0, f64::max))
    }

    /// A layout whose bins are within a bound.
    fn layout(&self, problem: &Problem, longest: f64) -> Option<Vec<Chunk>> {
        let (lead, room) = self.share_lead(problem, longest)?;
        let mut excess = room.checked_sub(problem.rest)?;
        let mut rest: Vec<usize> = (0..problem.bins)
            .map(|bin| self.room(problem, bin, lead[bin], longest).unwrap_or(0))
            .collect();
        // What is too much leaves the bins with most layers, the last of them first.
        while excess > 0 {
            let movable = |bin: &usize| rest[*bin] > self.least[*bin][1].unwrap_or(0);
            let bins = (0..problem.bins).filter(movable);
            let fullest = bins.max_by_key(|bin| (rest[*bin] + lead[*bin], *bin))?;
            rest[fullest] -= 1;
            excess -= 1;
        }
        let mut chunks = self.chunks.clone();
        let first = self.last_lead.unwrap_or(0);
        let kinds = [(lead, 0..first + 1, 0), (rest, first..self.last + 1, 1)];
        for (counts, range, kind) in kinds {
            if kind == 0 && self.last_lead.is_none() {
                continue;
            }
            for (bin, count) in counts.into_iter().enumerate() {
                let own: Vec<usize> =
                    range.clone().filter(|chunk| problem.bin_of[*chunk] == bin).collect();
                self.spread(&mut chunks, &own, count, kind);
            }
        }
        Some(chunks)
    }

    /// Gives a bin's layers of one kind to its chunks, those that need one first, then the empty.
    fn spread(&self, chunks: &mut [Chunk], own: &[usize], mut count: usize, kind: usize) {
        for chunk in own {
            let starts = match self.last_lead {
                Some(end) if kind == 0 => *chunk > 0 || *chunk == end,
                Some(end) => *chunk > end,
                None => *chunk > 0 || *chunk == self.last,
            };
            if starts && count > 0 {
                chunks[*chunk].layers += 1;
                count -= 1;
            }
        }
        for _ in 0..count {
            let emptiest = own.iter().min_by_key(|chunk| (chunks[**chunk].layers, **chunk));
            if let Some(chunk) = emptiest {
                chunks[*chunk].layers += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
