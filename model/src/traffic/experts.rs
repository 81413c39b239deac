//! Expert parallelism: how tokens reach their experts, and how sums come back.

use alloc::vec::Vec;

use super::{Call, Calls, Exchange, push};
use crate::axis::{Axis, Collective};
use crate::choice::{Dispatcher, FlexBackend, Precision};
use crate::fabric::{DEEP_EP_MULTIPROCESSORS, HYBRID_EP, TokenRows, parts_visited};
use crate::plan::Plan;
use crate::topology::Group;
use crate::units::Seconds;

/// The way of rows that go once to each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenExchange {
    /// Rows to experts.
    Dispatch,
    /// Sums back.
    Combine,
}

impl Plan {
    /// EP: dispatch and combine, forward and backward.
    pub(super) fn expert_exchanges(&self, list: &mut Vec<Exchange>) {
        if self.shape.moe_layers == 0 {
            return;
        }
        let schedule = &self.design().schedule;
        let group = self.ep_group();
        if self.sizes.ep > 1 {
            match schedule.moe_token_dispatcher_type {
                Dispatcher::Allgather => self.gathered_dispatch(list, &group),
                Dispatcher::Flex => self.deduplicated_dispatch(list, &group),
                Dispatcher::Alltoall
                    if schedule.moe_hierarchical_alltoallv && group.domains > 1 =>
                {
                    self.hierarchical_dispatch(list, &group);
                }
                Dispatcher::Alltoall => {
                    let call = self.awaited(self.all_to_all(&group, self.dispatched_bytes()));
                    push(list, Axis::Ep, Collective::AllToAll, &call, both_ways(1.0));
                }
            }
        }
        if self.sizes.etp > 1 {
            // The ranks that share an expert gather its rows and scatter its sums.
            let rows = self.expert_rows() * self.row_bytes();
            let call = self.awaited(self.gather(&self.etp_group(), rows));
            let gathers = Calls { moe: [1.0, 1.0], dispatch: 1.0, ..Calls::default() };
            let scatters = Calls { moe: [1.0, 1.0], ..Calls::default() };
            push(list, Axis::Ep, Collective::AllGather, &call, gathers);
            push(list, Axis::Ep, Collective::ReduceScatter, &call, scatters);
        }
    }

    /// The same call when the rank that gets the most of it is waited for.
    fn awaited(&self, call: Call) -> Call {
        let longer = |[bytes, seconds]: [f64; 2]| [bytes, seconds * self.effect.imbalance];
        Call { intra: longer(call.intra), inter: longer(call.inter) }
    }

    /// Time in which each rank of an expert-parallel group sends these bytes to its others.
    pub(crate) fn expert_exchange_seconds(&self, bytes: f64) -> f64 {
        let call = self.all_to_all(&self.ep_group(), bytes);
        call.intra[1].max(call.inter[1])
    }

    /// What a rank sends to experts, itself counted: T' k h, after capacity.
    pub(crate) fn dispatched_bytes(&self) -> f64 {
        self.copies_per_rank() * self.row_bytes()
    }

    /// All tokens to every rank of the group; combine scatters the sums.
    fn gathered_dispatch(&self, list: &mut Vec<Exchange>, group: &Group) {
        let whole = self.tokens_per_rank() * group.size as f64 * self.row_bytes();
        let call = self.gather(group, whole);
        let gathers = Calls { moe: [1.0, 1.0], dispatch: 1.0, ..Calls::default() };
        let scatters = Calls { moe: [1.0, 1.0], ..Calls::default() };
        push(list, Axis::Ep, Collective::AllGather, &call, gathers);
        push(list, Axis::Ep, Collective::ReduceScatter, &call, scatters);
    }

    /// Between domains every rank gathers the tokens of its peers, (d - 1) T' h; inside, each copy
    /// goes to its expert's rank, T' k h (g - 1) / g. Combine takes the same way back.
    ///
    /// Flat, T' k h (n - g) / n crosses: k / d times as much.
    /// Source: Pangu Ultra MoE, hierarchical EP; MindSpeed `moe-hierarchical-alltoallv`.
    fn hierarchical_dispatch(&self, list: &mut Vec<Exchange>, group: &Group) {
        let further = (group.domains - 1) as f64;
        let between = self.tokens_per_rank() * further * self.row_bytes();
        let gathers = Calls { moe: [1.0, 1.0], dispatch: 1.0, ..Calls::default() };
        let scatters = Calls { moe: [1.0, 1.0], ..Calls::default() };
        let start = self.machine.fabric.ring.start_micros;
        let inter = self.between(group, between, self.machine.ring.inter, start);
        let inter = Call { inter, ..Call::default() };
        let intra = self.all_to_all_inside(group, self.dispatched_bytes());
        let intra = self.awaited(Call { intra, ..Call::default() });
        push(list, Axis::Ep, Collective::AllGather, &inter, gathers);
        push(list, Axis::Ep, Collective::ReduceScatter, &inter, scatters);
        push(list, Axis::Ep, Collective::AllToAll, &intra, both_ways(1.0));
    }

    /// A token crosses once to each domain that has one of its experts, then goes once to each rank
    /// inside that has some; sums take the same way back.
    ///
    /// Dispatch and combine are different kernels. Backward, gradients of sums are dispatched and
    /// those of rows combined.
    ///
    /// Source: DeepEP and HybridEP, whose kernels send a token to ranks, not to experts.
    fn deduplicated_dispatch(&self, list: &mut Vec<Exchange>, group: &Group) {
        let combined = self.token_rows(group, self.row_bytes());
        let dispatched = TokenRows { row_bytes: self.dispatched_row_bytes(), ..combined };
        for (rows, kernel, dispatch) in
            [(dispatched, TokenExchange::Dispatch, 1.0), (combined, TokenExchange::Combine, 0.0)]
        {
            let call = self.awaited(self.token_exchange(group, &rows, kernel));
            let calls = Calls { moe: [1.0, 1.0], dispatch, ..Calls::default() };
            push(list, Axis::Ep, Collective::AllToAll, &call, calls);
        }
    }

    /// Bytes of a row on its way to experts: 8 bits an element with a scale of 32 bits for each 128
    /// under `fp8_blockwise`, as DeepSeek-V3 does; 16 bits under every other format.
    ///
    /// Source: DeepSeek-V3, section 3.3.3; Megatron-Core, `fused_a2a.py`, which sends 16 bits
    /// whatever the format of its products.
    fn dispatched_row_bytes(&self) -> f64 {
        if self.design().training.precision == Precision::Fp8Blockwise {
            self.shape.hidden as f64 * (1.0 + 4.0 / 128.0)
        } else {
            self.row_bytes()
        }
    }

    /// The rows that a rank sends where a token goes once to each rank.
    fn token_rows(&self, group: &Group, row_bytes: f64) -> TokenRows {
        let topk = self.shape.topk.max(1) as f64;
        let (ranks, domains) = (group.size as f64, group.domains as f64);
        TokenRows {
            tokens: self.copies_per_rank() / topk,
            row_bytes,
            ..TokenRows::spread(topk, ranks, domains, self.domains_visited(group))
        }
    }

    /// Time of one kernel inside the domain and between domains.
    fn token_exchange(&self, group: &Group, rows: &TokenRows, exchange: TokenExchange) -> Call {
        let machine = &self.machine;
        let backend = self.design().schedule.moe_flex_dispatcher_backend;
        let (inside, start) = match (machine.fabric.token_kernels, backend) {
            (Some(kernels), FlexBackend::Deepep) => {
                let kernel = match exchange {
                    TokenExchange::Dispatch => kernels.dispatch,
                    TokenExchange::Combine => kernels.combine,
                };
                let multiprocessors = f64::from(DEEP_EP_MULTIPROCESSORS);
                (kernel.seconds(machine.link, rows, multiprocessors), kernel.start_micros)
            }
            (Some(_), FlexBackend::Hybridep) => {
                (HYBRID_EP.seconds(machine.link, rows), HYBRID_EP.start_micros)
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
            inter: self.between(group, rows.bytes_between(), machine.ring.inter, start),
        }
    }

    /// Share of the cores that exchanges of experts occupy while they run.
    ///
    /// Products run on the others: over many shapes, their waves are longer by this share.
    pub(crate) fn expert_exchange_core_share(&self) -> f64 {
        let schedule = &self.design().schedule;
        let is_measured = self.machine.fabric.token_kernels.is_some();
        if schedule.moe_token_dispatcher_type != Dispatcher::Flex || !is_measured {
            return self.accelerator().communication_core_share;
        }
        let occupied = match schedule.moe_flex_dispatcher_backend {
            FlexBackend::Deepep => DEEP_EP_MULTIPROCESSORS,
            FlexBackend::Hybridep => HYBRID_EP.multiprocessors,
        };
        f64::from(occupied) / f64::from(self.accelerator().num_cores)
    }

    /// Domains that a token's experts lie in, its own counted: d (1 - (1 - 1/d)^k) for even
    /// routing, at most those of the router groups that it keeps.
    ///
    /// Source: DeepSeek-V3, section 2.1.2 (node-limited routing); the expectation is derived.
    pub(crate) fn domains_visited(&self, group: &Group) -> f64 {
        let d = group.domains as f64;
        let topk = self.shape.topk as f64;
        let spread = parts_visited(d, topk);
        let transformer = &self.design().transformer;
        if transformer.moe_router_group_balanced {
            // Every group is visited, and groups lie evenly on the domains.
            return transformer.moe_router_num_groups.map_or(spread, |groups| d.min(groups as f64));
        }
        match (transformer.moe_router_num_groups, transformer.moe_router_group_topk) {
            (Some(groups), Some(kept)) => {
                spread.min(kept as f64 * libm::ceil(d / groups as f64)).max(1.0)
            }
            _ => spread.max(1.0),
        }
    }
}

/// Dispatch and combine in both passes; recomputing the permutation dispatches again.
fn both_ways(dispatch: f64) -> Calls {
    Calls { moe: [2.0, 2.0], dispatch, ..Calls::default() }
}
