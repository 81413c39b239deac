//! Calls that recomputation makes again.

use crate::axis::{Axis, Collective};
use crate::choice::{RecomputeGranularity, RecomputeModule};
use crate::plan::Plan;

use super::Exchange;

/// Calls of an exchange that the backward makes again, for a dense and for a MoE layer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Repeats {
    /// Of every layer: what selective recomputation repeats.
    pub(crate) chosen: [f64; 2],
    /// Of a layer that full recomputation takes as a whole.
    whole: [f64; 2],
}

impl Repeats {
    /// The calls of so many layers of both kinds, of which full recomputation takes `repeated`.
    pub(crate) fn on(&self, layers: [f64; 2], repeated: [f64; 2]) -> f64 {
        let of = |kind: usize| self.chosen[kind] * layers[kind] + self.whole[kind] * repeated[kind];
        of(0) + of(1)
    }
}

impl Plan {
    /// What this plan's recomputation repeats of an exchange.
    pub(super) fn repeats(&self, exchange: &Exchange) -> Repeats {
        let calls = &exchange.calls;
        let gathers = exchange.collective == Collective::AllGather;
        // Where recomputation ends in front of a dense MLP's last product, it doesn't add that up.
        let sums = exchange.axis == Axis::Tp && !gathers;
        let unneeded = if self.host.stops_early && sums { calls.mlp } else { 0.0 };
        if self.design().memory.recompute_granularity == RecomputeGranularity::Full {
            let whole = [calls.dense[0] - unneeded, calls.moe[0]];
            return Repeats { whole, ..Repeats::default() };
        }
        let when = |repeated: bool, calls: f64| if repeated { calls } else { 0.0 };
        let has = |module| self.recomputes(module);
        let whole_moe = has(RecomputeModule::Moe);
        let chosen = match exchange.axis {
            Axis::Ep if whole_moe => [0.0, calls.moe[0]],
            Axis::Ep => [0.0, when(has(RecomputeModule::MoePermute), calls.dispatch)],
            Axis::Cp => [when(has(RecomputeModule::CoreAttn), calls.dense[0]); 2],
            Axis::Tp => {
                // A zero-memory level doesn't run the shared experts' last product, which is
                // scattered.
                let shared = whole_moe
                    || has(RecomputeModule::SharedExperts)
                    || (gathers && self.recomputes_first_products());
                let up = has(RecomputeModule::MlaQkv)
                    || has(RecomputeModule::MlaUpProj)
                    || has(RecomputeModule::MlaKv);
                let mlp = when(has(RecomputeModule::Mlp), calls.mlp - unneeded);
                let latents = when(up, calls.latents);
                [mlp + latents, when(shared, calls.shared) + latents]
            }
            Axis::Pp | Axis::Dp | Axis::Edp | Axis::Host => [0.0; 2],
        };
        Repeats { chosen, ..Repeats::default() }
    }
}
