//! Who sends what to whom: every exchange of a layer with its volume and time on each link.
//!
//! Letters: T tokens of a TP group, T' tokens of a rank, S bytes that everyone ends up with,
//! g ranks of a group in one domain, d domains, n = g d. Bytes are what one device sends.

mod experts;
mod repeats;

use alloc::vec::Vec;

use crate::axis::{Axis, Collective, LinkLevel};
use crate::choice::ContextParallelAlgo;
use crate::layout::Stage;
use crate::plan::Plan;
use crate::topology::{Group, ulysses_ranks};
use crate::units::{BytesPerSecond, Seconds};

pub(crate) use repeats::Repeats;

/// Set-up of a send between two ranks. Source: msmodeling's static cost of communication.
const SEND_SECONDS: f64 = 10e-6;

/// How often a pass of each kind of work makes a call: forward, backward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Calls {
    pub(crate) dense: [f64; 2],
    pub(crate) moe: [f64; 2],
    pub(crate) mtp_extra: [f64; 2],
    pub(crate) embedding: [f64; 2],
    pub(crate) head: [f64; 2],
    /// Of the MoE calls, those that recomputing the permutation repeats.
    pub(crate) dispatch: f64,
    /// Of a dense layer's forward calls, those of its MLP.
    pub(crate) mlp: f64,
    /// Of a MoE layer's forward calls, those of its shared experts.
    pub(crate) shared: f64,
    /// Of a layer's forward calls, those that bring MLA's latents together.
    pub(crate) latents: f64,
}

/// One exchange on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) axis: Axis,
    pub(crate) link: LinkLevel,
    pub(crate) collective: Collective,
    /// What one device sends in a call.
    pub(crate) bytes: f64,
    /// Time of a call.
    pub(crate) seconds: f64,
    pub(crate) calls: Calls,
    pub(crate) repeats: Repeats,
}

impl Exchange {
    /// Calls of one micro-batch on a stage: forward, backward; recomputation not counted.
    pub(crate) fn calls_on(&self, stage: &Stage, mtp_is_moe: bool) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for (pass, sum) in sum.iter_mut().enumerate() {
            *sum = self.calls.dense[pass] * stage.dense
                + self.calls.moe[pass] * stage.moe
                + (self.layer_calls(mtp_is_moe, pass) + self.calls.mtp_extra[pass]) * stage.mtp
                + self.calls.embedding[pass] * stage.embedding
                + self.calls.head[pass] * (stage.head + stage.mtp_head);
        }
        sum
    }

    /// Calls of one layer of this kind in a pass.
    pub(crate) fn layer_calls(&self, is_moe: bool, pass: usize) -> f64 {
        if is_moe { self.calls.moe[pass] } else { self.calls.dense[pass] }
    }
}

/// Bytes and seconds of one call, inside domains and between them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Call {
    intra: [f64; 2],
    inter: [f64; 2],
}

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
    /// Bytes between domains and their time.
    fn between(
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
    /// Source: Thakur et al. 2005, ring and hierarchical forms.
    ///
    /// A ring passes every rank of a domain; between domains a tree is as fast for a layer's calls.
    fn gather(&self, group: &Group, whole_bytes: f64) -> Call {
        let machine = &self.machine;
        let [hops, _] = group.ring_latency(&machine.fabric);
        let [inside, between] = gathered_bytes(group, whole_bytes);
        let seconds = machine.gather(group.close, whole_bytes).get();
        let further = if inside > 0.0 { hops.get() } else { 0.0 };
        let start = machine.fabric.ring.start_micros;
        Call {
            intra: [inside, seconds + further],
            inter: self.between(group, between, machine.ring.inter, start),
        }
    }

    /// All-reduce of S bytes: a scatter and a gather, or one reduction in a switch.
    fn all_reduce(&self, group: &Group, whole_bytes: f64) -> Call {
        let machine = &self.machine;
        let [inside, between] = gathered_bytes(group, 2.0 * whole_bytes);
        let start = machine.fabric.ring.start_micros;
        let once = self.between(group, between / 2.0, machine.ring.inter, start);
        Call {
            intra: [inside, machine.all_reduce(group, whole_bytes).get()],
            inter: once.map(|x| 2.0 * x),
        }
    }

    /// All-to-all of B bytes per rank, an n-th to each: (g - 1) / n inside, (n - g) / n between.
    fn all_to_all(&self, group: &Group, bytes: f64) -> Call {
        let (g, n) = (group.close as f64, group.size as f64);
        let machine = &self.machine;
        let start = machine.fabric.all_to_all.start_micros;
        let between = bytes * (n - g) / n;
        Call {
            intra: self.all_to_all_inside(group, bytes * g / n),
            inter: self.between(group, between, machine.all_to_all.inter, start),
        }
    }

    /// All-to-all of B bytes per rank among the ranks of a domain: bytes sent and their time.
    fn all_to_all_inside(&self, group: &Group, bytes: f64) -> [f64; 2] {
        let g = group.close as f64;
        [bytes * (g - 1.0) / g, self.machine.all_to_all(group.close, bytes).get()]
    }

    /// Every exchange of the layers, without pipeline and data parallelism.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        let mut list = Vec::with_capacity(16);
        self.tensor_exchanges(&mut list);
        self.context_exchanges(&mut list);
        self.expert_exchanges(&mut list);
        self.aux_loss_exchange(&mut list);
        for exchange in &mut list {
            exchange.repeats = self.repeats(exchange);
        }
        list
    }

    /// TP, Megatron's sequence parallelism: gather in front of a split matrix, scatter the sum
    /// behind it; backward the mirror image, and the input is gathered again for the weight's
    /// gradient. MLA gathers its latents instead of the hidden state. Without SP the sums are
    /// all-reduced, twice a layer and pass.
    ///
    /// Source: Korthikanti et al. 2022, section 4.2.2; Megatron-Core `layers.py` and
    /// `multi_latent_attention.py`.
    fn tensor_exchanges(&self, list: &mut Vec<Exchange>) {
        if self.sizes.tp == 1 {
            return;
        }
        let group = self.tp_group();
        let hidden = self.tokens() * self.shape.hidden as f64 * self.activation_bytes();
        let shared = if self.shape.shared_ffn > 0 { 1.0 } else { 0.0 };
        if self.sizes.sp == 1 {
            let calls = Calls {
                dense: [2.0, 2.0],
                moe: [1.0 + shared, 1.0 + shared],
                mtp_extra: [1.0, 1.0],
                embedding: [1.0, 0.0],
                head: [0.0, 1.0],
                mlp: 1.0,
                shared,
                ..Calls::default()
            };
            let call = self.all_reduce(&group, hidden);
            push(list, Axis::Tp, Collective::AllReduce, &call, calls);
            return;
        }
        let (attention_hidden, latent_width) = match self.shape.mla {
            Some(mla) if mla.q_rank > 0 => (0.0, mla.q_rank + mla.kv_rank + mla.rope_dim),
            Some(mla) => (1.0, mla.kv_rank + mla.rope_dim),
            None => (1.0, 0),
        };
        let gathers = Calls {
            dense: [attention_hidden + 1.0, 2.0 + attention_hidden + 1.0],
            moe: [attention_hidden + shared, 1.0 + attention_hidden + 2.0 * shared],
            mtp_extra: [2.0, 2.0],
            embedding: [0.0, 1.0],
            head: [1.0, 1.0],
            mlp: 1.0,
            shared,
            ..Calls::default()
        };
        let scatters = Calls {
            dense: [2.0, attention_hidden + 1.0],
            moe: [1.0 + shared, attention_hidden + shared],
            mtp_extra: [0.0, 2.0],
            embedding: [1.0, 0.0],
            head: [0.0, 1.0],
            mlp: 1.0,
            shared,
            ..Calls::default()
        };
        let call = self.gather(&group, hidden);
        push(list, Axis::Tp, Collective::AllGather, &call, gathers);
        push(list, Axis::Tp, Collective::ReduceScatter, &call, scatters);
        if latent_width > 0 {
            let latents = self.tokens() * latent_width as f64 * self.activation_bytes();
            let call = self.gather(&group, latents);
            let once = |calls: [f64; 2]| Calls { dense: calls, moe: calls, ..Calls::default() };
            let gathers = Calls { latents: 1.0, ..once([1.0, 1.0]) };
            push(list, Axis::Tp, Collective::AllGather, &call, gathers);
            push(list, Axis::Tp, Collective::ReduceScatter, &call, once([0.0, 1.0]));
        }
    }

    /// CP: keys and values go round a ring (and their gradients, backward), are gathered, or heads
    /// are exchanged for sequence before and behind attention.
    ///
    /// Source: Liu et al. 2023 (ring), Jacobs et al. 2023 (Ulysses).
    fn context_exchanges(&self, list: &mut Vec<Exchange>) {
        let cp = self.sizes.cp;
        if cp == 1 {
            return;
        }
        let (shape, tp) = (&self.shape, self.sizes.tp as f64);
        let element = self.tokens() * self.activation_bytes() / tp;
        let [qk, v] = shape.kernel_dims.map(|width| width as f64);
        let key_value = element * shape.groups as f64 * (qk + v);
        let query_output = element * shape.heads as f64 * (qk + v);
        let group = self.cp_group();
        let algo = self.design().parallel.context_parallel_algo;
        let layers = |calls: [f64; 2]| Calls { dense: calls, moe: calls, ..Calls::default() };
        let ulysses = match algo {
            ContextParallelAlgo::A2a => cp,
            ContextParallelAlgo::Hybrid => ulysses_ranks(self.design()),
            ContextParallelAlgo::P2p | ContextParallelAlgo::Allgather => 1,
        };
        if ulysses > 1 {
            let part = Group {
                size: ulysses,
                close: ulysses.min(group.close),
                domains: ulysses / ulysses.min(group.close),
            };
            let call = self.all_to_all(&part, key_value + query_output);
            push(list, Axis::Cp, Collective::AllToAll, &call, layers([1.0, 1.0]));
        }
        let ring = cp / ulysses;
        if ring == 1 {
            return;
        }
        if algo == ContextParallelAlgo::Allgather {
            let call = self.gather(&group, key_value * cp as f64);
            push(list, Axis::Cp, Collective::AllGather, &call, layers([1.0, 1.0]));
            push(list, Axis::Cp, Collective::ReduceScatter, &call, layers([0.0, 1.0]));
            return;
        }
        // A ring that leaves the domain is as slow as its slowest link.
        let crosses = group.domains > 1;
        let steps = (ring - 1) as f64;
        let machine = &self.machine;
        let call = if crosses {
            let start = machine.fabric.ring.start_micros;
            let inter = self.between(&group, key_value, machine.ring.inter, start);
            Call { inter, ..Call::default() }
        } else {
            Call { intra: [key_value, machine.send(key_value).get()], ..Call::default() }
        };
        push(list, Axis::Cp, Collective::P2p, &call, layers([steps, 2.0 * steps]));
    }

    /// Counts that an auxiliary loss adds up over ranks, once a forward: an all-reduce, which is a
    /// reduce-scatter and an all-gather. Its row is among those of the experts.
    fn aux_loss_exchange(&self, list: &mut Vec<Exchange>) {
        let scope = self.aux_loss_scope();
        if scope.ranks <= 1.0 || self.shape.moe_layers == 0 {
            return;
        }
        let size = scope.ranks as u64;
        let close = size.min(self.machine.domain).max(1);
        let group = Group { size, close, domains: size.div_ceil(close) };
        let call = self.all_reduce(&group, scope.bytes);
        let calls = Calls { moe: [1.0, 0.0], ..Calls::default() };
        push(list, Axis::Ep, Collective::AllReduce, &call, calls);
    }

    fn row_bytes(&self) -> f64 {
        self.shape.hidden as f64 * self.activation_bytes()
    }

    /// What one stage sends to the next for one chunk of a micro-batch, T' h, and how it gets
    /// there: a send, and with scatter and gather (a TP-th is sent) an all-gather of the TP ranks.
    ///
    /// Source: Narayanan et al. 2021, section 4.1; Megatron-LM 2021 to 2023,
    /// `p2p_communication.py:_communicate`. Megatron-Core sends the whole.
    pub(crate) fn boundary(&self) -> Boundary {
        let whole_bytes = self.tokens_per_rank() * self.row_bytes();
        let share = if self.scatters_sends() { self.sizes.tp as f64 } else { 1.0 };
        let (link, rate) = if self.pp_is_close() {
            (LinkLevel::IntraNode, self.machine.mesh(self.machine.ring.intra, 2))
        } else {
            (LinkLevel::InterNode, self.machine.ring.inter)
        };
        let bytes = whole_bytes / share;
        let send = Leg {
            link,
            collective: Collective::P2p,
            bytes,
            seconds: bytes / rate.get() + SEND_SECONDS,
        };
        let gather =
            if share > 1.0 { self.gather(&self.tp_group(), whole_bytes) } else { Call::default() };
        let collective = Collective::AllGather;
        let leg = |link, [bytes, seconds]: [f64; 2]| Leg { link, collective, bytes, seconds };
        Boundary([
            send,
            leg(LinkLevel::IntraNode, gather.intra),
            leg(LinkLevel::InterNode, gather.inter),
        ])
    }

    /// Does each TP rank send its share between stages? With SP it has no more than that.
    pub(crate) fn scatters_sends(&self) -> bool {
        let schedule = &self.design().schedule;
        schedule.scatter_gather_tensors_in_pipeline && self.sizes.tp > 1 && self.sizes.sp == 1
    }

    /// Reduce-scatter or all-gather of `whole_bytes` over a data-parallel group in so many calls
    /// one after the other, or one of the two halves of an all-reduce: intra, inter.
    pub(crate) fn data_calls(
        &self,
        group: &Group,
        collective: Collective,
        whole_bytes: f64,
        calls: f64,
    ) -> [[f64; 2]; 2] {
        let machine = &self.machine;
        let start = machine.fabric.ring.start_micros;
        if collective == Collective::AllReduce {
            let whole = self.all_reduce(group, whole_bytes);
            return [whole.intra, whole.inter].map(|row| row.map(|x| x / 2.0));
        }
        let [inside, between] = gathered_bytes(group, whole_bytes);
        let [near, far] = group.ring_latency(&machine.fabric);
        let seconds = machine.gather(group.close, whole_bytes / calls) + near;
        let far = Seconds::micros(start) + far;
        let later = if between > 0.0 {
            between / machine.ring.inter.get() + far.get() * calls
        } else {
            0.0
        };
        let sooner = if inside > 0.0 { seconds.get() * calls } else { 0.0 };
        [[inside, sooner], [between, later]]
    }
}

/// What a rank sends inside its domain and between domains so that all have S bytes.
fn gathered_bytes(group: &Group, whole_bytes: f64) -> [f64; 2] {
    let (g, d) = (group.close as f64, group.domains as f64);
    [whole_bytes * (g - 1.0) / g, whole_bytes * (d - 1.0) / (d * g)]
}

fn push(list: &mut Vec<Exchange>, axis: Axis, collective: Collective, call: &Call, calls: Calls) {
    let links = [(LinkLevel::IntraNode, call.intra), (LinkLevel::InterNode, call.inter)];
    for (link, [bytes, seconds]) in links {
        if bytes > 0.0 {
            let repeats = Repeats::default();
            list.push(Exchange { axis, link, collective, bytes, seconds, calls, repeats });
        }
    }
}
