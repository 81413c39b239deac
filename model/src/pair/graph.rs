//! List scheduling: operators with dependencies on resources that each run one at a time.

use alloc::vec::Vec;

use crate::stage::{AXES, PerAxis};

use super::{Operator, Resource};

/// Lanes that work at the same time: those of [`Resource`], host copies one for each direction.
const LANES: usize = 5;

/// Where an operator works: one of the [`LANES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Compute,
    IntraNode,
    InterNode,
    ToHost,
    FromHost,
}

impl Lane {
    pub(super) const fn resource(self) -> Resource {
        match self {
            Self::Compute => Resource::Compute,
            Self::IntraNode => Resource::IntraNode,
            Self::InterNode => Resource::InterNode,
            Self::ToHost | Self::FromHost => Resource::HostCopy,
        }
    }
}

/// What the next operator of a chain waits for: at most [`Tail::MOST`] operators.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    nodes: [u32; Tail::MOST],
    count: usize,
}

impl Tail {
    const MOST: usize = 6;

    /// Both of them; what would be the seventh is left out, which no chain here reaches.
    pub(super) fn and(mut self, other: &Self) -> Self {
        for node in &other.nodes[..other.count] {
            if self.count < Self::MOST && !self.nodes[..self.count].contains(node) {
                self.nodes[self.count] = *node;
                self.count += 1;
            }
        }
        self
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    operator: Operator,
    lane: Lane,
    /// Index of the first edge to an operator that waits for this one.
    first_edge: u32,
    waits_for: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    next: u32,
}

const NO_EDGE: u32 = u32::MAX;

/// Operators in an order in which each stands behind all that it waits for.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// What came of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Run {
    /// From the first start to the last end.
    pub(super) seconds: f64,
    /// Time in which compute waits, by the axis that it waits for.
    pub(super) exposed: PerAxis,
    /// Start of each operator, where asked for.
    pub(super) starts: Vec<f64>,
}

impl Graph {
    /// Adds an operator behind `after`. One that takes no time adds nothing.
    pub(super) fn add(&mut self, lane: Lane, operator: Operator, after: Tail) -> Tail {
        // The comparison also leaves out what is not a number.
        if !(operator.seconds > 0.0) {
            return after;
        }
        let index = self.nodes.len() as u32;
        for from in &after.nodes[..after.count] {
            let next = self.nodes[*from as usize].first_edge;
            self.nodes[*from as usize].first_edge = self.edges.len() as u32;
            self.edges.push(Edge { to: index, next });
        }
        let waits_for = after.count as u32;
        self.nodes.push(Node { operator, lane, first_edge: NO_EDGE, waits_for });
        let mut nodes = [0; Tail::MOST];
        nodes[0] = index;
        Tail { nodes, count: 1 }
    }

    pub(super) fn operators(&self) -> impl Iterator<Item = (Operator, Lane)> + '_ {
        self.nodes.iter().map(|node| (node.operator, node.lane))
    }

    fn successors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let mut edge = self.nodes[node].first_edge;
        core::iter::from_fn(move || {
            let found = self.edges.get(edge as usize)?;
            edge = found.next;
            Some(found.to as usize)
        })
    }

    /// The longest way from each operator's start to the end: the urgent ones have most behind
    /// them.
    fn priorities(&self) -> Vec<f64> {
        let mut priority = alloc::vec![0.0_f64; self.nodes.len()];
        for node in (0..self.nodes.len()).rev() {
            let behind = self.successors(node).map(|to| priority[to]).fold(0.0, f64::max);
            priority[node] = self.nodes[node].operator.seconds + behind;
        }
        priority
    }

    /// Starts on each free lane the most urgent operator that is ready, until all are done.
    ///
    /// Never idles a lane that has something to do, and never stops what runs. The result is a
    /// time that can be reached; a faster operator may, rarely, make it a little longer.
    ///
    /// Source: Graham 1969, list scheduling.
    pub(super) fn run(&self, keep_starts: bool) -> Run {
        let priority = self.priorities();
        let mut waits: Vec<u32> = self.nodes.iter().map(|node| node.waits_for).collect();
        let mut ready: [Vec<usize>; LANES] = Default::default();
        let mut running: [Option<(f64, usize)>; LANES] = [None; LANES];
        let starts = if keep_starts { self.nodes.len() } else { 0 };
        let mut run = Run { starts: alloc::vec![0.0; starts], ..Run::default() };
        let mut now = 0.0_f64;
        for (index, node) in self.nodes.iter().enumerate() {
            if node.waits_for == 0 {
                ready[node.lane as usize].push(index);
            }
        }
        loop {
            for (lane, slot) in running.iter_mut().enumerate() {
                if slot.is_none()
                    && let Some(node) = take_most_urgent(&mut ready[lane], &priority)
                {
                    *slot = Some((now + self.nodes[node].operator.seconds, node));
                    self.note_start(&mut run, node, now);
                }
            }
            let Some(next) = running.iter().flatten().map(|(end, _)| *end).reduce(f64::min) else {
                run.seconds = now;
                return run;
            };
            if running[Lane::Compute as usize].is_none() {
                self.note_wait(&mut run, &running, next - now);
            }
            now = next;
            for slot in &mut running {
                if let Some((end, node)) = *slot
                    && end <= now
                {
                    *slot = None;
                    for to in self.successors(node) {
                        waits[to] -= 1;
                        if waits[to] == 0 {
                            ready[self.nodes[to].lane as usize].push(to);
                        }
                    }
                }
            }
        }
    }

    /// An exchange that occupies the compute lane hides nothing.
    fn note_start(&self, run: &mut Run, node: usize, now: f64) {
        if let Some(start) = run.starts.get_mut(node) {
            *start = now;
        }
        let Node { operator, lane, .. } = &self.nodes[node];
        if let (Some(axis), Lane::Compute) = (operator.axis, lane) {
            run.exposed[axis] += operator.seconds;
        }
    }

    /// Compute waits: for the exchanges that run, in equal parts.
    fn note_wait(&self, run: &mut Run, running: &[Option<(f64, usize)>; LANES], seconds: f64) {
        let axes =
            || running.iter().flatten().filter_map(|(_, node)| self.nodes[*node].operator.axis);
        let count = axes().count() as f64;
        for axis in axes() {
            run.exposed[axis] += seconds / count;
        }
    }
}

fn take_most_urgent(ready: &mut Vec<usize>, priority: &[f64]) -> Option<usize> {
    let mut best = 0;
    for slot in 1..ready.len() {
        let (node, other) = (ready[slot], ready[best]);
        if priority[node] > priority[other] || (priority[node] >= priority[other] && node < other) {
            best = slot;
        }
    }
    (!ready.is_empty()).then(|| ready.swap_remove(best))
}

/// One axis's index in [`AXES`].
pub(super) const fn axis_index(axis: crate::estimate::Axis) -> usize {
    let mut index = 0;
    while index + 1 < AXES.len() && AXES[index] as u8 != axis as u8 {
        index += 1;
    }
    index
}
