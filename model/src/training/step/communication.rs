//! The traffic of a step: one row for each axis, link and collective.

use alloc::vec::Vec;

use crate::device::exchange::Exchange;
use crate::ground::axis::{Axis, Collective, LinkLevel};
use crate::ground::units::{Bytes, BytesPerSecond, Seconds};
use crate::layer::embedding_head::Ends;
use crate::training::estimate::Communication;
use crate::training::plan::Plan;
use crate::training::stage::{AXES, CP, DP, EP, HOST, PP, Parts, PerAxis, TP};

use super::spans::{Frame, SpanSplit, Spans, mean_repeated};
use super::{Step, most};

/// The rows of a plan's stages, copies to host memory and what is exposed not counted: those that
/// come before the copies, then those behind them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Traffic {
    rows: [Vec<Communication>; 2],
    /// Sums over the first of both.
    ahead: Totals,
    /// Seconds of each axis, over both.
    all: PerAxis,
}

impl Traffic {
    pub(super) fn new(plan: &Plan, parts: &Parts, frame: &Frame, splits: &[SpanSplit]) -> Self {
        let m = plan.batch.micro_batches as f64;
        let mut rows: Vec<Communication> = Vec::with_capacity(16);
        let mean = plan.mean_stage();
        let mtp = plan.architecture.mtp.kind;
        let repeated = mean_repeated(&plan.spans, splits, mtp);
        let layers = parts.layers.iter().zip(mean.with_mtp(mtp)).zip(repeated);
        for ((layer, count), repeated) in layers {
            for exchange in layer.exchanges.iter() {
                let [(_, forward), (_, backward)] = exchange.calls.passes;
                let again = plan.recomputation.calls(&exchange.calls, count, repeated);
                let calls = (forward + backward) * count + again;
                add_row(&mut rows, kind(exchange), m * calls, exchange.bytes, exchange.seconds);
            }
        }
        let Ends { embedding, mtp_extra, head } = &*parts.ends;
        for (end, count) in
            [(embedding, mean.embedding), (mtp_extra, mean.mtp), (head, mean.heads())]
        {
            for exchange in end.exchanges.iter().filter(|_| count > 0.0) {
                let [(_, forward), (_, backward)] = exchange.calls.passes;
                let calls = m * (forward + backward) * count;
                add_row(&mut rows, kind(exchange), calls, exchange.bytes, exchange.seconds);
            }
        }
        if plan.deployment.ranks.pp > 1 {
            let calls = 2.0 * m * plan.schedule.boundaries_per_stage();
            for leg in parts.boundary.legs() {
                let row = (Axis::Pp, leg.link, leg.collective);
                add_row(&mut rows, row, calls, leg.bytes, leg.seconds);
            }
        }
        let mut data = Vec::with_capacity(frame.data.rows.len());
        for row in &frame.data.rows {
            let kind = (row.axis, row.link, row.collective);
            let calls = row.calls_of_step(m);
            add_row(&mut data, kind, calls, row.bytes_per_call, row.seconds_per_call);
        }
        let mut all = [0.0; AXES.len()];
        rows.iter().chain(&data).for_each(|row| all[place(row.axis)] += row.time.get());
        let ahead = Totals {
            bytes: rows.iter().map(|row| row.bytes).sum(),
            time: rows.iter().map(|row| row.time).sum(),
            exposed: Seconds::ZERO,
        };
        Self { rows: [rows, data], ahead, all }
    }
}

/// The row that an exchange belongs to.
const fn kind(exchange: &Exchange) -> (Axis, LinkLevel, Collective) {
    (exchange.axis, exchange.link, exchange.collective)
}

/// Sums over the traffic of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) bytes: Bytes,
    pub(super) time: Seconds,
    pub(super) exposed: Seconds,
}

/// The traffic of one step: its rows, and how its exposed time is shared among them.
pub(super) struct StepTraffic<'a> {
    traffic: &'a Traffic,
    copies: Option<Communication>,
    /// Seconds of each axis that are exposed, and that all of its rows take.
    exposed: PerAxis,
    all: PerAxis,
}

impl<'a> StepTraffic<'a> {
    /// The traffic of a step of this many micro-batches, whose copies go to the host at this rate.
    pub(super) fn new(
        micro_batches: f64,
        host: BytesPerSecond,
        spans: &'a Spans,
        step: &Step,
    ) -> Self {
        let traffic = &spans.traffic;
        let copies = host_row(step, micro_batches, host);
        let states = most(&step.occupancy, |stage| stage.swapped_states);
        let (mut exposed, mut all) = (step.waiting.exposed, traffic.all);
        exposed[HOST] += 2.0 * states / host.get();
        exposed[DP] += spans.once_a_step[0];
        copies.iter().for_each(|row| all[HOST] += row.time.get());
        Self { traffic, copies, exposed, all }
    }

    /// The rows, nothing of them exposed yet.
    fn unshared(&self) -> impl Iterator<Item = &Communication> {
        let [ahead, behind] = &self.traffic.rows;
        ahead.iter().chain(&self.copies).chain(behind)
    }

    /// A row's share of its axis's exposed time, by its time; data parallelism of experts has its
    /// share of that of all.
    fn exposed(&self, row: &Communication) -> Seconds {
        let place = place(row.axis);
        if self.all[place] > 0.0 {
            Seconds::new(self.exposed[place] * row.time.get() / self.all[place])
        } else {
            row.exposed
        }
    }

    /// Every row.
    pub(super) fn rows(&self) -> Vec<Communication> {
        let rows = self.unshared();
        rows.map(|row| Communication { exposed: self.exposed(row), ..*row }).collect()
    }

    pub(super) fn totals(&self) -> Totals {
        let mut totals = self.traffic.ahead;
        for row in self.copies.iter().chain(&self.traffic.rows[1]) {
            totals.bytes += row.bytes;
            totals.time += row.time;
        }
        totals.exposed = self.unshared().map(|row| self.exposed(row)).sum();
        totals
    }
}

/// Place of an axis in [`AXES`], data parallelism of experts counted with that of all.
const fn place(axis: Axis) -> usize {
    match axis {
        Axis::Tp => TP,
        Axis::Cp => CP,
        Axis::Ep => EP,
        Axis::Pp => PP,
        Axis::Host => HOST,
        Axis::Dp | Axis::Edp => DP,
    }
}

/// Copies to host memory and back: bytes of the mean stage; the step waits for the slowest one's
/// optimizer states.
fn host_row(step: &Step, m: f64, host: BytesPerSecond) -> Option<Communication> {
    let largest = most(&step.occupancy, |stage| stage.swapped.max(stage.swapped_states));
    if largest <= 0.0 {
        return None;
    }
    let activations = 2.0 * m * step.mean_occupancy(|stage| stage.swapped);
    let states = 2.0 * step.mean_occupancy(|stage| stage.swapped_states);
    let slowest_states = 2.0 * most(&step.occupancy, |stage| stage.swapped_states);
    Some(Communication {
        axis: Axis::Host,
        link: LinkLevel::Host,
        collective: Collective::Copy,
        bytes_per_call: Bytes::new(largest),
        bytes: Bytes::new(activations + states),
        time: Seconds::new((activations + slowest_states) / host.get()),
        exposed: Seconds::ZERO,
    })
}

/// Adds calls to the row of their kind; its bytes per call are those of the largest call.
fn add_row(
    rows: &mut Vec<Communication>,
    (axis, link, collective): (Axis, LinkLevel, Collective),
    calls: f64,
    bytes_per_call: f64,
    seconds_per_call: f64,
) {
    let (bytes, time) =
        (Bytes::new(calls * bytes_per_call), Seconds::new(calls * seconds_per_call));
    let per_call = Bytes::new(bytes_per_call);
    let known = rows
        .iter_mut()
        .find(|row| (row.axis, row.link, row.collective) == (axis, link, collective));
    match known {
        Some(row) => {
            row.bytes += bytes;
            row.time += time;
            row.bytes_per_call = row.bytes_per_call.max(per_call);
        }
        None => rows.push(Communication {
            axis,
            link,
            collective,
            bytes_per_call: per_call,
            bytes,
            time,
            exposed: Seconds::ZERO,
        }),
    }
}
