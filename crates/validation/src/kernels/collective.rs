//! Collectives inside a node: NCCL's measured times beside the model's, and the fit of the model's
//! constants to one half of them.

mod descent;

use std::fmt::Write as _;
use std::sync::LazyLock;

use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::catalogue::fabric::{CollectiveCost, SwitchReduction};
use model::ground::axis::Collective;
use model::ground::choice::Choice;

pub(crate) use descent::{descend, off};

use super::is_held_out;
use super::table::{Row, rows};
use crate::report::kernels::Measured;

/// One measured call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Accelerator that it was measured on.
    pub accelerator: AcceleratorId,
    /// The collective.
    pub collective: Collective,
    /// Ranks that took part.
    pub ranks: u64,
    /// nccl-tests' `size`.
    pub bytes: f64,
    /// Its time, in microseconds.
    pub micros: f64,
    /// Whether it is kept from the fit.
    pub is_held_out: bool,
}

/// Bytes from which on the targets count: smaller calls are latency alone.
pub const COUNTED_BYTES: f64 = 65_536.0;

static CALLS: LazyLock<Vec<Call>> =
    LazyLock::new(|| rows(include_str!("../../kernels/nccl_intra_node_bf16.csv"), parsed));

/// The measured calls, in the order of the table.
#[must_use]
pub fn calls() -> &'static [Call] {
    &CALLS
}

impl Call {
    /// Time by the model, in microseconds, on an accelerator with this row.
    #[must_use]
    pub fn predicted_micros(&self, row: &Accelerator) -> f64 {
        row.collective(self.collective, self.ranks, self.bytes).get() * 1e6
    }

    /// Predicted over measured time, less one, on an accelerator with this row.
    #[must_use]
    pub fn error_on(&self, row: &Accelerator) -> f64 {
        self.predicted_micros(row) / self.micros - 1.0
    }
}

/// The measured calls from [`COUNTED_BYTES`] on beside what the model says of them.
pub(crate) fn measured() -> Vec<Measured> {
    let row = |call: &Call| Measured {
        table: "nccl_intra_node_bf16".to_owned(),
        kind: "collective".to_owned(),
        part: call.accelerator.name().to_owned(),
        precision: "bf16".to_owned(),
        shape: format!("{}, {} ranks, {} bytes", call.collective.name(), call.ranks, call.bytes),
        measured_us: call.micros,
        predicted_us: call.predicted_micros(call.accelerator.row()),
        is_held_out: call.is_held_out,
    };
    calls().iter().filter(|call| call.bytes >= COUNTED_BYTES).map(row).collect()
}

fn parsed(row: &Row<'_>) -> Option<Call> {
    let collective = match row.text("collective") {
        "all_gather" => Collective::AllGather,
        "reduce_scatter" => Collective::ReduceScatter,
        "all_reduce" => Collective::AllReduce,
        "alltoall" => Collective::AllToAll,
        _ => return None,
    };
    let (ranks, bytes) = (row.whole("ranks")?, row.number("message_bytes")?);
    Some(Call {
        accelerator: row.part()?,
        collective,
        ranks,
        bytes,
        micros: row.number("median_us")?,
        is_held_out: is_held_out(&format!("{} {ranks} {bytes}", collective.name())),
    })
}

/// The calls that a fabric's constants are fitted to.
fn seen(fabric: &str) -> Vec<&'static Call> {
    let is_of = |call: &&Call| call.accelerator.row().fabric.name == fabric && !call.is_held_out;
    calls().iter().filter(is_of).collect()
}

/// Loss of an accelerator with this row over the calls that its fabric is fitted to.
#[must_use]
pub fn loss_of_fit(row: &Accelerator) -> f64 {
    loss(&seen(row.fabric.name), row)
}

/// Accelerator of a fabric with fitted constants.
#[must_use]
pub fn fitted(first: AcceleratorId) -> Accelerator {
    let seen = seen(first.row().fabric.name);
    let loss = |constants: &[f64]| loss(&seen, &with(first, constants));
    let ring_and_all_to_all = [6.0, 1.0, 0.8, 0.5, 0.2, 10.0, 0.2, 0.8, 0.5, 0.2];
    let starts: Vec<Vec<f64>> = if first.row().fabric.switch.is_some() {
        // Where a switch is far too slow at first, no small step shows that it is of use.
        let of = |relative: &f64| [&ring_and_all_to_all[..], &[40.0, *relative]].concat();
        [0.6, 0.75, 0.9].iter().map(of).collect()
    } else {
        vec![ring_and_all_to_all.to_vec()]
    };
    let found = starts.iter().map(|start| descend(start, loss));
    let best = found.min_by(|left, right| loss(left).total_cmp(&loss(right)));
    with(first, &best.unwrap_or_default())
}

/// Loss of an accelerator with this row over these calls; small ones count less.
fn loss(seen: &[&Call], row: &Accelerator) -> f64 {
    let of = |call: &&Call| {
        let weight = if call.bytes >= COUNTED_BYTES { 1.0 } else { 0.3 };
        weight * off(call.predicted_micros(row), call.micros)
    };
    seen.iter().map(of).sum()
}

/// A row with these constants: the ring's start, time per hop, fraction, own share and ramp, those
/// of all-to-alls, and the start and relative rate of the switch.
fn with(first: AcceleratorId, constants: &[f64]) -> Accelerator {
    let mut row = *first.row();
    let cost = |c: &[f64]| CollectiveCost {
        start_micros: c[0],
        hop_micros: c[1],
        own_share: c[3],
        ramp_micros: c[4],
    };
    (row.fabric.ring, row.intra_node_fraction) = (cost(&constants[..5]), constants[2]);
    (row.fabric.all_to_all, row.intra_all_to_all_fraction) =
        (cost(&constants[5..10]), constants[7]);
    row.fabric.switch =
        constants.get(10..12).map(|c| SwitchReduction { start_micros: c[0], relative_rate: c[1] });
    row
}

/// The first accelerator of each fabric that is fitted.
pub const FITTED: [AcceleratorId; 3] =
    [AcceleratorId::A100Sxm80gb, AcceleratorId::H100Sxm80gb, AcceleratorId::B200];

/// The constants of every fabric, fitted to the half that is not held out, as text.
#[must_use]
pub fn fit() -> String {
    let mut text = String::new();
    for first in FITTED {
        let row = fitted(first);
        let _ = writeln!(
            text,
            "{}\n  ring       {:.3} of the link, {:?}\n  all_to_all {:.3} of the link, {:?}\n  \
             switch     {:?}",
            row.fabric.name,
            row.intra_node_fraction,
            row.fabric.ring,
            row.intra_all_to_all_fraction,
            row.fabric.all_to_all,
            row.fabric.switch
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read_and_about_half_is_held_out() {
        let rows = include_str!("../../kernels/nccl_intra_node_bf16.csv").lines().count() - 1;
        assert_eq!(calls().len(), rows);
        let held_out = calls().iter().filter(|call| call.is_held_out).count();
        let share = held_out as f64 / rows as f64;
        assert!((0.4..0.6).contains(&share), "{share}");
    }
}
