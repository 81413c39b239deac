//! One layer's exchanges by where they stand in it.

use crate::axis::{Axis, Collective, LinkLevel};
use crate::traffic::Exchange;

/// Seconds of an exchange inside the domain and between domains.
pub(crate) type Hop = [f64; 2];

/// The exchanges of one pass of a layer. Backward, each stands for the gradient of its namesake,
/// and the pass runs from the last to the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hops {
    /// In front of attention: its input or its latents come together.
    pub(crate) attention_in: Hop,
    /// Of core attention under CP.
    pub(crate) context: Hop,
    /// Behind attention: sums are scattered.
    pub(crate) attention_out: Hop,
    /// In front of the MLP or the shared experts.
    pub(crate) mlp_in: Hop,
    /// Behind them.
    pub(crate) mlp_out: Hop,
    /// To the experts.
    pub(crate) dispatch: Hop,
    /// Back from them.
    pub(crate) combine: Hop,
}

/// What one layer exchanges: forward, backward, and again when it is recomputed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerHops {
    pub(crate) passes: [Hops; 2],
    /// Repeated in front of the attention's backward.
    pub(crate) again_attention: Hop,
    /// Repeated in front of the MLP's or the experts' backward: TP and EP.
    pub(crate) again_mlp: [Hop; 2],
}

impl LayerHops {
    /// The bits of all of them.
    pub(crate) fn bits(&self) -> [u64; Self::SECONDS] {
        let passes = self.passes.iter().flat_map(|hops| {
            let Hops { attention_in, context, attention_out, .. } = *hops;
            let Hops { mlp_in, mlp_out, dispatch, combine, .. } = *hops;
            [attention_in, context, attention_out, mlp_in, mlp_out, dispatch, combine]
        });
        let again = [self.again_attention, self.again_mlp[0], self.again_mlp[1]];
        let mut bits = [0; Self::SECONDS];
        for (bits, seconds) in bits.iter_mut().zip(passes.chain(again).flatten()) {
            *bits = seconds.to_bits();
        }
        bits
    }

    pub(super) const SECONDS: usize = 2 * (2 * 7 + 3);

    /// The exchanges of a dense or a MoE layer.
    pub(crate) fn new(exchanges: &[Exchange], is_moe: bool) -> Self {
        let mut hops = Self::default();
        for exchange in exchanges {
            match exchange.axis {
                Axis::Tp => hops.add_tensor(exchange, is_moe),
                Axis::Cp => {
                    for (pass, hops) in hops.passes.iter_mut().enumerate() {
                        add(&mut hops.context, exchange, exchange.layer_calls(is_moe, pass));
                    }
                }
                Axis::Ep if is_moe => hops.add_expert(exchange),
                Axis::Ep | Axis::Pp | Axis::Dp | Axis::Edp | Axis::Host => {}
            }
            // Whole layers go through their forward's hops again, which the builder does itself.
            let again = exchange.repeats.chosen[usize::from(is_moe)];
            let mlp = match exchange.axis {
                Axis::Ep => again,
                Axis::Tp => again - exchange.calls.latents * latents_again(exchange, again),
                Axis::Cp | Axis::Pp | Axis::Dp | Axis::Edp | Axis::Host => 0.0,
            };
            add(&mut hops.again_mlp[usize::from(exchange.axis == Axis::Ep)], exchange, mlp);
            add(&mut hops.again_attention, exchange, again - mlp);
        }
        hops
    }

    /// TP: gathers stand in front of a split matrix, sums behind it; backward the mirror image,
    /// and the gathered input is needed again for the weight's gradient.
    fn add_tensor(&mut self, exchange: &Exchange, is_moe: bool) {
        let calls = &exchange.calls;
        let mlp = if is_moe { calls.shared } else { calls.mlp };
        let [forward, backward] = [0, 1].map(|pass| exchange.layer_calls(is_moe, pass));
        let gathers = exchange.collective == Collective::AllGather;
        let [ahead, back] = &mut self.passes;
        if gathers {
            add(&mut ahead.mlp_in, exchange, mlp);
            add(&mut ahead.attention_in, exchange, forward - mlp);
            let mlp_back = (2.0 * mlp).min(backward);
            add(&mut back.mlp_out, exchange, mlp_back);
            add(&mut back.attention_out, exchange, backward - mlp_back);
        } else {
            add(&mut ahead.mlp_out, exchange, mlp);
            add(&mut ahead.attention_out, exchange, forward - mlp);
            let mlp_back = mlp.min(backward);
            add(&mut back.mlp_in, exchange, mlp_back);
            add(&mut back.attention_in, exchange, backward - mlp_back);
        }
    }

    /// EP: an exchange that the forward uses for dispatch is the backward's way of combine.
    fn add_expert(&mut self, exchange: &Exchange) {
        let [forward, backward] = exchange.calls.moe;
        let dispatch = exchange.calls.dispatch.min(forward);
        let combine_back = (backward - (forward - dispatch)).clamp(0.0, backward);
        let [ahead, back] = &mut self.passes;
        add(&mut ahead.dispatch, exchange, dispatch);
        add(&mut ahead.combine, exchange, forward - dispatch);
        add(&mut back.combine, exchange, combine_back);
        add(&mut back.dispatch, exchange, backward - combine_back);
    }
}

/// Does recomputation gather MLA's latents again? One or none.
fn latents_again(exchange: &Exchange, again: f64) -> f64 {
    if exchange.calls.latents > 0.0 { (again / exchange.calls.latents).min(1.0) } else { 0.0 }
}

fn add(hop: &mut Hop, exchange: &Exchange, calls: f64) {
    hop[usize::from(exchange.link == LinkLevel::InterNode)] += calls * exchange.seconds;
}

/// The exchanges of a model's ends, forward and backward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EndHops {
    pub(crate) embedding: [Hop; 2],
    pub(crate) head: [Hop; 2],
    pub(crate) mtp_extra: [Hop; 2],
}

impl EndHops {
    pub(crate) fn new(exchanges: &[Exchange]) -> Self {
        let mut ends = Self::default();
        for exchange in exchanges {
            for pass in [0, 1] {
                add(&mut ends.embedding[pass], exchange, exchange.calls.embedding[pass]);
                add(&mut ends.head[pass], exchange, exchange.calls.head[pass]);
                add(&mut ends.mtp_extra[pass], exchange, exchange.calls.mtp_extra[pass]);
            }
        }
        ends
    }
}
