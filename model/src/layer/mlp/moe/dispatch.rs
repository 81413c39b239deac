//! Expert parallelism: how tokens reach their experts, and how sums come back.

use super::super::dense::Dense;
use super::Moe;
use crate::catalogue::fabric::{DEEP_EP_MULTIPROCESSORS, HYBRID_EP, TokenRows, parts_visited};
use crate::device::collective::Call;
use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::operator::Again;
use crate::device::rows::Rows;
use crate::device::topology::Group;
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{
    AuxLoss, Dispatcher, FlexBackend, ModelPart, Precision, RecomputeModule,
};
use crate::ground::units::Seconds;
use crate::layer::deployment::Deployment;
use crate::routing::aux_loss::{self, Scope};

/// The way of rows that go once to each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenExchange {
    /// Rows to experts.
    Dispatch,
    /// Sums back.
    Combine,
}

/// Calls on the way to experts; backward `at` is where gradients take it.
const fn outward(at: Hop) -> Calls {
    Calls::new((Hop::Dispatch, 1.0), (at, 1.0), Again::with(RecomputeModule::MoePermute))
}

/// Calls on the way back; backward `at` is where gradients take it.
const fn homeward(at: Hop) -> Calls {
    Calls::new((Hop::Combine, 1.0), (at, 1.0), Again::with(RecomputeModule::Moe))
}

impl Moe {
    /// EP: dispatch and combine, forward and backward, and what an auxiliary loss adds up.
    pub(super) fn expert_exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        let group = on.ep_group();
        if on.ranks.ep > 1 {
            match on.dispatch.dispatcher {
                Dispatcher::Allgather => self.gathered_dispatch(on, rows, &group, to),
                Dispatcher::Flex => self.deduplicated_dispatch(on, rows, &group, to),
                Dispatcher::Alltoall if on.dispatch.is_hierarchical && group.domains > 1 => {
                    self.hierarchical_dispatch(on, rows, &group, to);
                }
                Dispatcher::Alltoall => {
                    let bytes = self.dispatched_bytes(on, rows);
                    let call = on.machine.all_to_all_call(&group, bytes);
                    push_both_ways(&call.awaited(rows.routed.imbalance), to);
                }
            }
        }
        if on.ranks.etp > 1 {
            // The ranks that share an expert gather its rows and scatter its sums.
            let bytes = self.rows(on, rows) * self.row_bytes(on);
            let call = on.machine.gather_call(&on.etp_group(), bytes);
            push_gather_and_scatter(&call.awaited(rows.routed.imbalance), to);
        }
        self.aux_loss_exchange(on, rows, to);
    }

    /// In serving, whose TP ranks hold the same tokens: where experts lie on these ranks alone,
    /// each works on its own and one all-reduce adds up what they and the shared experts give.
    ///
    /// Else tokens come from groups with requests of their own. They are sent to their experts and
    /// back, each row straight or once to each domain, or gathered by all and their sums scattered,
    /// whichever is fastest; a TP group then gathers what its ranks sent apart.
    ///
    /// # Source
    /// vLLM `all2all.py`, `allgather_reducescatter` and `deepep_low_latency`; TensorRT-LLM,
    /// attention data parallelism.
    pub(super) fn served_exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        let ranks = &on.ranks;
        if ranks.ep * ranks.etp <= ranks.tp {
            let again = [Again::LAYER; 2];
            return Dense::tensor_exchanges(on, rows, ModelPart::SharedExperts, again, to);
        }
        let machine = &on.machine;
        let group = Group::strided(machine, ranks.ep * ranks.etp, 1);
        let hidden = rows.own * self.row_bytes(on);
        let gathered = machine.gather_call(&group, hidden * (group.size / ranks.tp) as f64);
        let mut fastest = ([Collective::AllGather, Collective::ReduceScatter], [gathered; 2]);
        let seconds = |calls: &[Call; 2]| calls[0].seconds() + calls[1].seconds();
        // The rank that gets most is waited for; what starts a call takes no longer for it.
        let tokens = self.copies_per_rank(on, rows) / self.visited() * rows.routed.imbalance;
        let widths = [self.dispatched_row_bytes(on), self.row_bytes(on)];
        let straight = machine.token_calls(&group, tokens, self.visited(), widths);
        // Where a token crosses once to each domain.
        let combined = TokenRows { tokens, ..self.token_rows(on, rows, &group) };
        let dispatched = TokenRows { row_bytes: widths[0], ..combined };
        let once = [
            token_exchange(on, &group, &dispatched, TokenExchange::Dispatch),
            token_exchange(on, &group, &combined, TokenExchange::Combine),
        ];
        for calls in straight.into_iter().chain([once]) {
            if seconds(&calls) < seconds(&fastest.1) {
                fastest = ([Collective::AllToAll; 2], calls);
            }
        }
        let (collectives, calls) = fastest;
        let ways = [outward(Hop::Combine), homeward(Hop::Dispatch)];
        for ((collective, call), calls) in collectives.into_iter().zip(calls).zip(ways) {
            to.push(Axis::Ep, collective, &call, calls);
        }
        if ranks.tp > 1 {
            let call = machine.gather_call(&on.tp_group(), hidden);
            let calls = Calls::new((Hop::MlpOut, 1.0), (Hop::MlpIn, 0.0), Again::LAYER);
            to.push(Axis::Tp, Collective::AllGather, &call, calls);
        }
    }

    /// Bytes that a rank sends to experts, itself counted: T' k h, after capacity.
    pub(crate) fn dispatched_bytes(&self, on: &Deployment, rows: &Rows) -> f64 {
        self.copies_per_rank(on, rows) * self.row_bytes(on)
    }

    /// Between domains every rank gathers the tokens of its peers, (d - 1) T' h; inside, each copy
    /// goes to its expert's rank, T' k h (g - 1) / g. Combine takes the same way back.
    ///
    /// Flat, T' k h (n - g) / n crosses: k / d times as much.
    ///
    /// # Source
    /// Pangu Ultra MoE, hierarchical EP; MindSpeed `moe-hierarchical-alltoallv`.
    fn hierarchical_dispatch(
        &self,
        on: &Deployment,
        rows: &Rows,
        group: &Group,
        to: &mut Exchanges,
    ) {
        let further = (group.domains - 1) as f64;
        let between = rows.own * further * self.row_bytes(on);
        let machine = &on.machine;
        let start = machine.fabric.ring.start_micros;
        let inter = machine.between(group, between, machine.ring.inter, start);
        push_gather_and_scatter(&Call { inter, ..Call::default() }, to);
        let intra = machine.all_to_all_inside(group, self.dispatched_bytes(on, rows));
        let intra = Call { intra, ..Call::default() };
        push_both_ways(&intra.awaited(rows.routed.imbalance), to);
    }

    /// A token crosses once to each domain that has one of its experts, then goes once to each rank
    /// inside that has some; sums take the same way back.
    ///
    /// Dispatch and combine are different kernels. Backward, gradients of sums are dispatched and
    /// those of rows combined.
    ///
    /// # Source
    /// DeepEP and HybridEP, whose kernels send a token to ranks, not to experts.
    fn deduplicated_dispatch(
        &self,
        on: &Deployment,
        rows: &Rows,
        group: &Group,
        to: &mut Exchanges,
    ) {
        let combined = self.token_rows(on, rows, group);
        let dispatched = TokenRows { row_bytes: self.dispatched_row_bytes(on), ..combined };
        for (sent, exchange, calls) in [
            (dispatched, TokenExchange::Dispatch, outward(Hop::Combine)),
            (combined, TokenExchange::Combine, homeward(Hop::Dispatch)),
        ] {
            let call = token_exchange(on, group, &sent, exchange);
            let call = call.awaited(rows.routed.imbalance);
            to.push(Axis::Ep, Collective::AllToAll, &call, calls);
        }
    }

    /// The rows that a rank sends where a token goes once to each rank.
    fn token_rows(&self, on: &Deployment, rows: &Rows, group: &Group) -> TokenRows {
        let topk = self.visited();
        let (ranks, domains) = (group.size as f64, group.domains as f64);
        TokenRows {
            tokens: self.copies_per_rank(on, rows) / topk,
            row_bytes: self.row_bytes(on),
            ..TokenRows::spread(topk, ranks, domains, self.domains_visited(group))
        }
    }

    /// Domains that a token's experts lie in, its own counted: d (1 - (1 - 1/d)^k) for even
    /// routing, at most those of the router groups that it keeps.
    ///
    /// # Source
    /// DeepSeek-V3, section 2.1.2 (node-limited routing); the expectation is derived.
    fn domains_visited(&self, group: &Group) -> f64 {
        let d = group.domains as f64;
        let spread = parts_visited(d, self.visited());
        if self.is_group_balanced {
            // Every group is visited, and groups lie evenly on the domains.
            return self.groups.map_or(spread, |groups| d.min(groups as f64));
        }
        match (self.groups, self.group_topk) {
            (Some(groups), Some(kept)) => {
                spread.min(kept as f64 * libm::ceil(d / groups as f64)).max(1.0)
            }
            _ => spread.max(1.0),
        }
    }

    /// All tokens to every rank of the group; combine scatters the sums.
    fn gathered_dispatch(&self, on: &Deployment, rows: &Rows, group: &Group, to: &mut Exchanges) {
        let whole = rows.own * group.size as f64 * self.row_bytes(on);
        push_gather_and_scatter(&on.machine.gather_call(group, whole), to);
    }

    /// Bytes of a row on its way to experts: 8 bits an element with a scale of 32 bits for each 128
    /// under `fp8_blockwise`, as DeepSeek-V3 does; 16 bits under every other format.
    ///
    /// # Source
    /// DeepSeek-V3, section 3.3.3; Megatron-Core, `fused_a2a.py`, which sends 16 bits whatever the
    /// format of its products.
    fn dispatched_row_bytes(&self, on: &Deployment) -> f64 {
        if on.precision == Precision::Fp8Blockwise {
            self.row_width(on) as f64 * (1.0 + 4.0 / 128.0)
        } else {
            self.row_bytes(on)
        }
    }

    /// Tokens that an auxiliary loss looks at, and the ranks and bytes of its exchange.
    pub(crate) fn scope(&self, loss: AuxLoss, on: &Deployment, rows: &Rows) -> Scope {
        let ranks = &on.ranks;
        let ranks = aux_loss::Ranks {
            seq_length: rows.whole as f64,
            micro_batch_size: rows.sequences as f64,
            sequence: (ranks.tp * ranks.cp) as f64,
            expert: (ranks.ep * ranks.etp) as f64,
            data: ranks.dp as f64,
            experts: self.experts as f64,
        };
        aux_loss::scope(loss, &ranks)
    }

    /// Counts that an auxiliary loss adds up over ranks, once a forward: an all-reduce, which is a
    /// reduce-scatter and an all-gather. Its row is among those of the experts.
    fn aux_loss_exchange(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        let scope = self.scope(self.aux_loss, on, rows);
        if scope.ranks <= 1.0 {
            return;
        }
        let size = scope.ranks as u64;
        let close = size.min(on.machine.domain).max(1);
        let group = Group { size, close, domains: size.div_ceil(close) };
        let call = on.machine.all_reduce_call(&group, scope.bytes);
        let again = Again::with(RecomputeModule::Moe);
        let calls = Calls::new((Hop::Combine, 1.0), (Hop::Combine, 0.0), again);
        to.push(Axis::Ep, Collective::AllReduce, &call, calls);
    }
}

/// Dispatch and combine by the same call; recomputing the permutation dispatches again.
fn push_both_ways(call: &Call, to: &mut Exchanges) {
    to.push(Axis::Ep, Collective::AllToAll, call, outward(Hop::Dispatch));
    to.push(Axis::Ep, Collective::AllToAll, call, homeward(Hop::Combine));
}

/// Rows gathered on their way to experts and sums scattered on their way back; backward the mirror
/// image.
fn push_gather_and_scatter(call: &Call, to: &mut Exchanges) {
    to.push(Axis::Ep, Collective::AllGather, call, outward(Hop::Combine));
    to.push(Axis::Ep, Collective::ReduceScatter, call, homeward(Hop::Dispatch));
}

/// Time of one kernel inside the domain and between domains.
fn token_exchange(
    on: &Deployment,
    group: &Group,
    rows: &TokenRows,
    exchange: TokenExchange,
) -> Call {
    let machine = &on.machine;
    let (inside, start) = match (machine.fabric.token_kernels, on.dispatch.backend) {
        (Some(kernels), FlexBackend::Deepep) => {
            let kernel = match exchange {
                TokenExchange::Dispatch => kernels.dispatch,
                TokenExchange::Combine => kernels.combine,
            };
            let multiprocessors = f64::from(DEEP_EP_MULTIPROCESSORS);
            (kernel.seconds(machine.link, rows, multiprocessors), kernel.start_micros)
        }
        (Some(_), FlexBackend::Hybridep) => {
            let kernel = HYBRID_EP.get();
            (kernel.seconds(machine.link, rows), kernel.start_micros)
        }
        // Not measured elsewhere: as a gather of as many bytes.
        (None, _) => {
            let start = machine.fabric.ring.start_micros;
            let rate = machine.mesh(machine.ring.intra, group.close);
            (Seconds::new(rows.bytes_inside() / rate.get()) + Seconds::micros(start), start)
        }
    };
    let bytes = rows.bytes_inside();
    Call {
        intra: [bytes, if bytes > 0.0 { inside.get() } else { 0.0 }],
        inter: machine.between(group, rows.bytes_between(), machine.ring.inter, start),
    }
}

impl Deployment {
    /// Time in which each rank of an expert-parallel group sends these bytes to its others.
    pub(crate) fn expert_exchange_seconds(&self, bytes: f64) -> f64 {
        let call = self.machine.all_to_all_call(&self.ep_group(), bytes);
        call.intra[1].max(call.inter[1])
    }

    /// Share of the cores that exchanges of experts occupy while they run.
    ///
    /// Products run on the others: over many shapes, their waves are longer by this share.
    pub(crate) fn expert_exchange_core_share(&self) -> f64 {
        let is_measured = self.machine.fabric.token_kernels.is_some();
        if self.dispatch.dispatcher != Dispatcher::Flex || !is_measured {
            return self.accelerator.communication_core_share;
        }
        let occupied = match self.dispatch.backend {
            FlexBackend::Deepep => DEEP_EP_MULTIPROCESSORS,
            FlexBackend::Hybridep => HYBRID_EP.get().multiprocessors,
        };
        f64::from(occupied) / f64::from(self.accelerator.num_cores)
    }
}
