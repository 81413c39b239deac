//! Collectives on the machine: what one device sends over each link, and how long it takes.
//!
//! Letters: S bytes that everyone ends up with, B bytes of a rank, g ranks of a group in one
//! domain, d domains, n = g d.

use crate::device::topology::{Group, Machine};
use crate::ground::axis::Collective;
use crate::ground::units::{BytesPerSecond, Seconds};

/// Bytes and seconds of one call, inside domains and between them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) intra: [f64; 2],
    pub(crate) inter: [f64; 2],
}

impl Call {
    /// Seconds inside domains and between them.
    pub(crate) fn seconds(&self) -> f64 {
        self.intra[1] + self.inter[1]
    }

    /// The call when the others wait for the rank that gets `imbalance` times the mean.
    pub(crate) fn awaited(self, imbalance: f64) -> Self {
        let longer = |[bytes, seconds]: [f64; 2]| [bytes, seconds * imbalance];
        Self { intra: longer(self.intra), inter: longer(self.inter) }
    }
}

impl Machine {
    /// Bytes between domains and their time.
    pub(crate) fn between(
        &self,
        group: &Group,
        bytes: f64,
        rate: BytesPerSecond,
        start_micros: f64,
    ) -> [f64; 2] {
        let latency = Seconds::micros(start_micros) + group.tree_latency();
        [bytes, if bytes > 0.0 { bytes / rate.get() + latency.get() } else { 0.0 }]
    }

    /// All-gather of S bytes, or reduce-scatter of S: first each rank's share between domains,
    /// S (d - 1) / (d g), then inside, S (g - 1) / g; together S (n - 1) / n.
    ///
    /// A ring passes every rank of a domain; between domains a tree is as fast for a layer's calls.
    ///
    /// # Source
    /// Thakur et al. 2005, ring and hierarchical forms.
    pub(crate) fn gather_call(&self, group: &Group, whole_bytes: f64) -> Call {
        let [hops, _] = group.ring_latency(&self.fabric);
        let [inside, between] = gathered_bytes(group, whole_bytes);
        let seconds = self.gather(group.close, whole_bytes).get();
        let further = if inside > 0.0 { hops.get() } else { 0.0 };
        Call {
            intra: [inside, seconds + further],
            inter: self.between(group, between, self.ring.inter, self.fabric.ring.start_micros),
        }
    }

    /// Tokens of a rank to their experts and the sums back, by kernels of low latency that send
    /// each row straight to its expert; rows so wide there and back. `None` if there are no such
    /// kernels.
    pub(crate) fn token_calls(
        &self,
        group: &Group,
        tokens: f64,
        experts: f64,
        row_bytes: [f64; 2],
    ) -> Option<[Call; 2]> {
        let kernels = self.small.as_ref()?.tokens?;
        let (close, size) = (group.close as f64, group.size as f64);
        let starts = if group.domains > 1 { kernels.far_micros } else { kernels.near_micros };
        let [there, back] = [0, 1].map(|way| {
            let bytes = tokens * experts * row_bytes[way];
            let [inside, between] =
                [(close - 1.0) / size, (size - close) / size].map(|x| x * bytes);
            let start = Seconds::micros(starts[way]).get();
            let seconds = inside / (self.link.get() * kernels.link_share);
            let far = between / self.all_to_all.inter.get().max(self.ring.inter.get());
            Call { intra: [inside, start + seconds.max(far)], inter: [between, 0.0] }
        });
        Some([there, back])
    }

    /// All-reduce of S bytes: a scatter and a gather, or one reduction in a switch; in serving also
    /// one kernel in which every rank reads what all others hold.
    pub(crate) fn all_reduce_call(&self, group: &Group, whole_bytes: f64) -> Call {
        let call = self.library_all_reduce(group, whole_bytes);
        let one_shot = self.small.as_ref().and_then(|small| small.one_shot);
        match one_shot.filter(|_| group.domains == 1 && group.size > 1) {
            Some(kernel) => {
                let rate = self.mesh(self.link, group.close).get() * kernel.link_share;
                let read = (group.size - 1) as f64 * whole_bytes / rate;
                let seconds = Seconds::micros(kernel.start_micros).get() + read;
                let [bytes, library] = call.intra;
                Call { intra: [bytes, library.min(seconds)], ..call }
            }
            None => call,
        }
    }

    fn library_all_reduce(&self, group: &Group, whole_bytes: f64) -> Call {
        let [inside, between] = gathered_bytes(group, 2.0 * whole_bytes);
        let start = self.fabric.ring.start_micros;
        let once = self.between(group, between / 2.0, self.ring.inter, start);
        Call {
            intra: [inside, self.all_reduce(group, whole_bytes).get()],
            inter: once.map(|x| 2.0 * x),
        }
    }

    /// All-to-all of B bytes of each rank, an n-th to each other: (g - 1) / n inside, (n - g) / n
    /// between.
    pub(crate) fn all_to_all_call(&self, group: &Group, bytes: f64) -> Call {
        let (g, n) = (group.close as f64, group.size as f64);
        let between = bytes * (n - g) / n;
        let start = self.fabric.all_to_all.start_micros;
        Call {
            intra: self.all_to_all_inside(group, bytes * g / n),
            inter: self.between(group, between, self.all_to_all.inter, start),
        }
    }

    /// All-to-all of B bytes of each rank among the ranks of a domain: bytes sent and their time.
    pub(crate) fn all_to_all_inside(&self, group: &Group, bytes: f64) -> [f64; 2] {
        let g = group.close as f64;
        [bytes * (g - 1.0) / g, self.all_to_all(group.close, bytes).get()]
    }

    /// Reduce-scatter or all-gather of S bytes over a data-parallel group in this many calls one
    /// after the other, or one of the two halves of an all-reduce: bytes and seconds inside domains
    /// and between them.
    pub(crate) fn data_calls(
        &self,
        group: &Group,
        collective: Collective,
        whole_bytes: f64,
        calls: f64,
    ) -> [[f64; 2]; 2] {
        if collective == Collective::AllReduce {
            let whole = self.all_reduce_call(group, whole_bytes);
            return [whole.intra, whole.inter].map(|row| row.map(|x| x / 2.0));
        }
        let [inside, between] = gathered_bytes(group, whole_bytes);
        let [near, far] = group.ring_latency(&self.fabric);
        let seconds = self.gather(group.close, whole_bytes / calls) + near;
        let far = Seconds::micros(self.fabric.ring.start_micros) + far;
        let later =
            if between > 0.0 { between / self.ring.inter.get() + far.get() * calls } else { 0.0 };
        let sooner = if inside > 0.0 { seconds.get() * calls } else { 0.0 };
        [[inside, sooner], [between, later]]
    }
}

/// Bytes that a rank sends inside its domain and between domains so that all have S bytes.
fn gathered_bytes(group: &Group, whole_bytes: f64) -> [f64; 2] {
    let (g, d) = (group.close as f64, group.domains as f64);
    [whole_bytes * (g - 1.0) / g, whole_bytes * (d - 1.0) / (d * g)]
}
