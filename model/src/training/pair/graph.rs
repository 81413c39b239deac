//! List scheduling: operators with dependencies on resources that each run one at a time.

use alloc::vec::Vec;

use crate::training::stage::PerAxis;

use super::{Operator, Resource};

/// Lanes that work at the same time: those of [`Resource`], host copies one for each direction.
const LANES: usize = 5;

/// Number of lanes on which a graph without host copies works: the first.
const WITHOUT_COPIES: usize = 3;

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

/// Operators that the next one of a chain waits for: at most [`Tail::MAX_PREDECESSORS`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    nodes: [u32; Tail::MAX_PREDECESSORS],
    count: usize,
}

impl Tail {
    const MAX_PREDECESSORS: usize = 6;

    /// Both of them; what would be the seventh is left out, which no chain here reaches.
    pub(super) fn and(mut self, other: &Self) -> Self {
        for node in &other.nodes[..other.count] {
            if self.count < Self::MAX_PREDECESSORS && !self.nodes[..self.count].contains(node) {
                self.nodes[self.count] = *node;
                self.count += 1;
            }
        }
        self
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    seconds: f64,
    /// The longest way from its start to the end: the urgent ones have most behind them.
    priority: f64,
    lane: Lane,
    /// Index of the axis of an exchange, or [`NO_AXIS`].
    axis: u8,
    /// Operators that it still waits for.
    waits_for: u8,
    /// Index of the first edge to an operator that waits for this one.
    first_edge: u32,
    /// The next operator that is ready for the same lane and less urgent.
    next_ready: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    next: u32,
}

const NO_EDGE: u32 = u32::MAX;
const NO_NODE: u32 = u32::MAX;
const NO_AXIS: u8 = u8::MAX;

/// Operators in an order in which each comes after all that it waits for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Does anything in it go to or from the host?
    copies: bool,
    /// Operator of each node, where a timeline is wanted.
    operators: Option<Vec<Operator>>,
}

/// Result of a graph's run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Run {
    /// From the first start to the last end.
    pub(super) seconds: f64,
    /// Time in which compute waits, by the axis that it waits for.
    pub(super) exposed: PerAxis,
    /// Start of each operator, where somebody will look.
    pub(super) starts: Vec<f64>,
}

/// One operator on each lane, at most, and the moment when it ends; never, on an idle lane.
struct Lanes<const N: usize> {
    ends: [f64; N],
    nodes: [u32; N],
    /// The most urgent operator that is ready for each lane, the first of a list.
    ready: [u32; N],
}

impl Graph {
    /// Begins a graph anew, in the place of the one before, with room for pairs of this many
    /// layers: one that remembers what its operators are, or their times alone.
    pub(super) fn begin(&mut self, layers: usize, remember: bool) {
        self.nodes.clear();
        self.nodes.reserve(32 * layers + 64);
        self.edges.clear();
        self.edges.reserve(48 * layers + 80);
        self.copies = false;
        self.operators = remember.then(Vec::new);
    }

    /// Adds an operator behind `after`. One that takes no time adds nothing.
    #[inline]
    pub(super) fn add(&mut self, lane: Lane, operator: Operator, after: Tail) -> Tail {
        if operator.seconds <= 0.0 {
            return after;
        }
        self.push(lane, operator, &after)
    }

    #[inline(never)]
    fn push(&mut self, lane: Lane, operator: Operator, after: &Tail) -> Tail {
        self.copies |= lane as usize >= WITHOUT_COPIES;
        let index = self.nodes.len() as u32;
        for from in &after.nodes[..after.count] {
            let from = &mut self.nodes[*from as usize];
            self.edges.push(Edge { to: index, next: from.first_edge });
            from.first_edge = self.edges.len() as u32 - 1;
        }
        self.nodes.push(Node {
            seconds: operator.seconds,
            priority: 0.0,
            lane,
            axis: operator.axis.map_or(NO_AXIS, |axis| axis as u8),
            waits_for: after.count as u8,
            first_edge: NO_EDGE,
            next_ready: NO_NODE,
        });
        if let Some(operators) = &mut self.operators {
            operators.push(operator);
        }
        let mut nodes = [0; Tail::MAX_PREDECESSORS];
        nodes[0] = index;
        Tail { nodes, count: 1 }
    }

    pub(super) fn operators(&self) -> impl Iterator<Item = (Operator, Lane)> + '_ {
        let lanes = self.nodes.iter().map(|node| node.lane);
        self.operators.iter().flatten().copied().zip(lanes)
    }

    /// Starts on each free lane the most urgent operator that is ready, until all are done; of two
    /// that are as urgent, the earlier one.
    ///
    /// Never idles a lane that has something to do, and never stops what runs. The result is a
    /// time that can be reached; a faster operator may, rarely, make it a little longer.
    ///
    /// Source: Graham 1969, list scheduling.
    pub(super) fn run(&mut self) -> Run {
        if self.copies { self.run_on::<LANES>() } else { self.run_on::<WITHOUT_COPIES>() }
    }

    #[inline(never)]
    fn run_on<const N: usize>(&mut self) -> Run {
        let (nodes, edges) = (&mut self.nodes[..], &self.edges[..]);
        let starts = if self.operators.is_some() { nodes.len() } else { 0 };
        let mut run = Run { starts: alloc::vec![0.0; starts], ..Run::default() };
        let mut lanes =
            Lanes::<N> { ends: [f64::INFINITY; N], nodes: [NO_NODE; N], ready: [NO_NODE; N] };
        prioritise(nodes, edges);
        for node in 0..nodes.len() {
            if nodes[node].waits_for == 0 {
                lanes.make_ready(nodes, node as u32);
            }
        }
        let mut now = 0.0_f64;
        loop {
            let mut next = f64::INFINITY;
            for lane in 0..N {
                let node = lanes.ready[lane];
                if lanes.ends[lane] == f64::INFINITY
                    && let Some(starting) = nodes.get(node as usize)
                {
                    lanes.ready[lane] = starting.next_ready;
                    lanes.nodes[lane] = node;
                    lanes.ends[lane] = now + starting.seconds;
                    run.note_start(starting, node as usize, now);
                }
                if lanes.ends[lane] < next {
                    next = lanes.ends[lane];
                }
            }
            if next == f64::INFINITY {
                run.seconds = now;
                return run;
            }
            if lanes.ends[Lane::Compute as usize] == f64::INFINITY {
                run.note_wait(nodes, &lanes, next - now);
            }
            now = next;
            for lane in 0..N {
                if lanes.ends[lane] <= now {
                    lanes.ends[lane] = f64::INFINITY;
                    let ended = lanes.nodes[lane];
                    lanes.release(nodes, edges, ended);
                }
            }
        }
    }
}

/// Sets every operator's priority: all that waits for one comes after it.
fn prioritise(nodes: &mut [Node], edges: &[Edge]) {
    for node in (0..nodes.len()).rev() {
        let mut behind = 0.0;
        let mut edge = nodes[node].first_edge;
        while let Some(Edge { to, next }) = edges.get(edge as usize) {
            let priority = nodes[*to as usize].priority;
            if priority > behind {
                behind = priority;
            }
            edge = *next;
        }
        let node = &mut nodes[node];
        node.priority = node.seconds + behind;
    }
}

impl<const N: usize> Lanes<N> {
    /// Makes the operators ready that waited for this one alone.
    #[inline]
    fn release(&mut self, nodes: &mut [Node], edges: &[Edge], node: u32) {
        let mut edge = nodes[node as usize].first_edge;
        while let Some(Edge { to, next }) = edges.get(edge as usize) {
            let waits_for = &mut nodes[*to as usize].waits_for;
            *waits_for -= 1;
            if *waits_for == 0 {
                self.make_ready(nodes, *to);
            }
            edge = *next;
        }
    }

    /// Puts an operator into its lane's list, behind those that go first.
    #[inline]
    fn make_ready(&mut self, nodes: &mut [Node], node: u32) {
        let Node { priority, lane, .. } = nodes[node as usize];
        let (mut before, mut behind) = (NO_NODE, self.ready[lane as usize]);
        while let Some(other) = nodes.get(behind as usize) {
            if priority > other.priority || (priority >= other.priority && node < behind) {
                break;
            }
            (before, behind) = (behind, other.next_ready);
        }
        nodes[node as usize].next_ready = behind;
        match nodes.get_mut(before as usize) {
            Some(before) => before.next_ready = node,
            None => self.ready[lane as usize] = node,
        }
    }
}

impl Run {
    /// An exchange that occupies the compute lane hides nothing.
    #[inline]
    fn note_start(&mut self, node: &Node, place: usize, now: f64) {
        if let Some(start) = self.starts.get_mut(place) {
            *start = now;
        }
        if node.lane == Lane::Compute
            && let Some(exposed) = self.exposed.get_mut(usize::from(node.axis))
        {
            *exposed += node.seconds;
        }
    }

    /// Compute waits: for the exchanges that run, in equal parts.
    #[inline]
    fn note_wait<const N: usize>(&mut self, nodes: &[Node], lanes: &Lanes<N>, seconds: f64) {
        let works = |lane: &usize| lanes.ends[*lane] < f64::INFINITY;
        let count = (0..N).filter(works).count() as f64;
        for lane in (0..N).filter(works) {
            let axis = nodes[lanes.nodes[lane] as usize].axis;
            if let Some(exposed) = self.exposed.get_mut(usize::from(axis)) {
                *exposed += seconds / count;
            }
        }
    }
}
