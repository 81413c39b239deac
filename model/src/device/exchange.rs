//! The exchanges of a layer: the place of each, how often a pass makes it, its volume and its time
//! on each link. Bytes are those that one device sends.

use alloc::vec::Vec;

use crate::device::collective::Call;
use crate::device::operator::Again;
use crate::ground::axis::{Axis, Collective, LinkLevel};

/// Place of an exchange in a pass of its layer, in the order of a forward. Backward, each
/// stands for the gradient of its namesake, and the pass runs from the last to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// In front of the mixer: its input or its latents come together.
    MixerIn,
    /// Exchanges of the mixer's core under CP.
    Context,
    /// Behind the mixer: sums are scattered.
    MixerOut,
    /// In front of the MLP or the shared experts.
    MlpIn,
    /// Behind them.
    MlpOut,
    /// To the experts.
    Dispatch,
    /// Back from them.
    Combine,
}

impl Hop {
    /// Number of places.
    pub(crate) const COUNT: usize = Self::Combine as usize + 1;
}

/// One exchange on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) axis: Axis,
    pub(crate) link: LinkLevel,
    pub(crate) collective: Collective,
    /// Bytes that one device sends in a call.
    pub(crate) bytes: f64,
    /// Time of a call.
    pub(crate) seconds: f64,
    pub(crate) calls: Calls,
}

/// Seconds inside the domain and between domains.
pub(crate) type HopSeconds = [f64; 2];

impl Exchange {
    /// Adds this many calls of it.
    pub(crate) fn add_to(&self, seconds: &mut HopSeconds, calls: f64) {
        seconds[usize::from(self.link == LinkLevel::InterNode)] += calls * self.seconds;
    }
}

/// The calls of an exchange in one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calls {
    /// Calls of a forward and of a backward, each at its place.
    pub(crate) passes: [(Hop, f64); 2],
    /// When the forward's calls are made again.
    pub(crate) again: Again,
}

impl Calls {
    /// As many calls at one place forward as at another one backward.
    pub(crate) const fn new(forward: (Hop, f64), backward: (Hop, f64), again: Again) -> Self {
        Self { passes: [forward, backward], again }
    }
}

/// The exchanges of one layer, or of an end of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Exchanges(Vec<Exchange>);

impl Exchanges {
    pub(crate) fn with_capacity(exchanges: usize) -> Self {
        Self(Vec::with_capacity(exchanges))
    }

    /// Adds a call on each link over which it sends something.
    pub(crate) fn push(&mut self, axis: Axis, collective: Collective, call: &Call, calls: Calls) {
        let links = [(LinkLevel::IntraNode, call.intra), (LinkLevel::InterNode, call.inter)];
        for (link, [bytes, seconds]) in links {
            if bytes > 0.0 {
                self.0.push(Exchange { axis, link, collective, bytes, seconds, calls });
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Exchange> {
        self.0.iter()
    }
}
