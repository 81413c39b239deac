//! The way of a tensor from one pipeline stage to the next.

use crate::device::collective::Call;
use crate::ground::axis::{Collective, LinkLevel};
use crate::training::plan::Plan;

/// Set-up of a send between two ranks. Source: msmodeling's static cost of communication.
const SEND_SECONDS: f64 = 10e-6;

/// The way of a tensor from one stage to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Boundary([Leg; 3]);

/// A part of the way, over one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leg {
    pub(crate) link: LinkLevel,
    pub(crate) collective: Collective,
    pub(crate) bytes: f64,
    pub(crate) seconds: f64,
}

impl Boundary {
    /// Legs over which something goes, one after the other.
    pub(crate) fn legs(&self) -> impl Iterator<Item = &Leg> {
        self.0.iter().filter(|leg| leg.bytes > 0.0)
    }

    /// The whole way.
    pub(crate) fn seconds(&self) -> f64 {
        self.legs().map(|leg| leg.seconds).sum()
    }
}

impl Plan {
    /// Bytes that one stage sends to the next for one chunk of a micro-batch: T' h for each
    /// residual stream; with attention residuals the states of all blocks in front as well, in the
    /// mean over the boundaries.
    pub(crate) fn sent_bytes(&self) -> f64 {
        let Some((_, sending)) = self.chunks.split_last() else { return 0.0 };
        let states: f64 = sending.iter().map(|chunk| chunk.snapshots).sum();
        self.layer_input() * (1.0 + states / sending.len().max(1) as f64)
    }

    /// The way of what one stage sends to the next for one chunk of a micro-batch: a send, and with
    /// scatter and gather (a TP-th is sent) an all-gather of the TP ranks.
    ///
    /// Source: Narayanan et al. 2021, section 4.1; Megatron-LM 2021 to 2023,
    /// `p2p_communication.py:_communicate`. Megatron-Core sends the whole.
    pub(crate) fn boundary(&self) -> Boundary {
        let on = &self.deployment;
        let whole_bytes = self.sent_bytes();
        let share =
            if self.schedule.scatters_sends { self.deployment.ranks.tp as f64 } else { 1.0 };
        let (link, rate) = if on.pp_is_close() {
            (LinkLevel::IntraNode, on.machine.mesh(on.machine.ring.intra, 2))
        } else {
            (LinkLevel::InterNode, on.machine.ring.inter)
        };
        let bytes = whole_bytes / share;
        let send = Leg {
            link,
            collective: Collective::P2p,
            bytes,
            seconds: bytes / rate.get() + SEND_SECONDS,
        };
        let gather = if share > 1.0 {
            on.machine.gather_call(&on.tp_group(), whole_bytes)
        } else {
            Call::default()
        };
        let collective = Collective::AllGather;
        let leg = |link, [bytes, seconds]: [f64; 2]| Leg { link, collective, bytes, seconds };
        Boundary([
            send,
            leg(LinkLevel::IntraNode, gather.intra),
            leg(LinkLevel::InterNode, gather.inter),
        ])
    }
}
