//! Exchanges of a model's ends: embedding, heads, and the projections of MTP layers.

use crate::device::collective::Call;
use crate::device::exchange::{Calls, Exchanges, Hop, HopSeconds};
use crate::device::operator::Again;
use crate::device::rows::Rows;
use crate::ground::axis::{Axis, Collective};
use crate::layer::deployment::Deployment;

/// One end's exchanges.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct End {
    pub(crate) exchanges: Exchanges,
    /// Their seconds, forward and backward.
    pub(crate) hops: [HopSeconds; 2],
}

/// The ends of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ends {
    pub(crate) embedding: End,
    pub(crate) mtp_extra: End,
    pub(crate) head: End,
}

impl Ends {
    /// TP: the embedding's sums are scattered, the head's and a projection's inputs gathered;
    /// backward the mirror image. Without SP sums are all-reduced.
    ///
    /// # Source
    /// Korthikanti et al. 2022, section 4.2.2; Megatron-Core `layers.py`.
    pub(crate) fn new(on: &Deployment, rows: &Rows) -> Self {
        let mut ends = Self::default();
        if on.ranks.tp == 1 {
            return ends;
        }
        let (machine, group) = (&on.machine, on.tp_group());
        let hidden = rows.group * on.backbone.hidden as f64 * on.element_bytes();
        if on.ranks.sp == 1 {
            let call = machine.all_reduce_call(&group, hidden);
            ends.push(Collective::AllReduce, &call, [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        } else {
            let call = machine.gather_call(&group, hidden);
            // Inputs are gathered again for the gradients of weights, where these are trained.
            let [read, mtp] = [on.trains_head(), on.tuning.trains_norms()]
                .map(|is_trained| if is_trained { 1.0 } else { 0.0 });
            let gathers = [[0.0, 1.0], [2.0, 2.0 * mtp], [1.0, read]];
            ends.push(Collective::AllGather, &call, gathers);
            ends.push(Collective::ReduceScatter, &call, [[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]]);
        }
        ends
    }

    /// Adds a call that embedding, projection and head make so often forward and backward.
    fn push(&mut self, collective: Collective, call: &Call, calls: [[f64; 2]; 3]) {
        let ends = [&mut self.embedding, &mut self.mtp_extra, &mut self.head];
        for (end, [forward, backward]) in ends.into_iter().zip(calls) {
            let passes = [(Hop::MlpIn, forward), (Hop::MlpOut, backward)];
            let calls = Calls { passes, again: Again::LAYER };
            end.exchanges.push(Axis::Tp, collective, call, calls);
            for (seconds, calls) in end.hops.iter_mut().zip([forward, backward]) {
                seconds[0] += call.intra[1] * calls;
                seconds[1] += call.inter[1] * calls;
            }
        }
    }
}
