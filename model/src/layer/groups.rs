//! Groups of ranks that exchange something, and how they lie on the machine.

use crate::device::topology::Group;
use crate::ground::choice::RankOrder;
use crate::layer::deployment::Deployment;

impl Deployment {
    /// The tensor-parallel group.
    pub(crate) fn tp_group(&self) -> Group {
        Group::strided(&self.machine, self.ranks.tp, 1)
    }

    /// The context-parallel group.
    pub(crate) fn cp_group(&self) -> Group {
        Group::strided(&self.machine, self.ranks.cp, self.ranks.tp)
    }

    /// The expert-parallel group: contiguous over TP, CP and then DP. Where stages are next to each
    /// other, the rule `pipeline_is_outermost_unless_edp_is_dp` keeps it inside TP x CP.
    pub(crate) fn ep_group(&self) -> Group {
        Group::strided(&self.machine, self.ranks.ep, self.ranks.etp)
    }

    /// The ranks that split one expert.
    pub(crate) fn etp_group(&self) -> Group {
        Group::strided(&self.machine, self.ranks.etp, 1)
    }

    /// The data-parallel group of what every rank shares, CP included.
    pub(crate) fn dp_group(&self) -> Group {
        let size = self.ranks.dp * self.ranks.cp;
        if self.ranks.pp == 1 || self.ranks.order == RankOrder::TpCpEpDpPp {
            return Group::strided(&self.machine, size, self.ranks.tp);
        }
        // CP ranks are neighbours; the next data-parallel rank is a whole pipeline away.
        let near = self.cp_group();
        let pipeline = self.ranks.tp * self.ranks.cp * self.ranks.pp;
        let far = Group::strided(&self.machine, self.ranks.dp, pipeline);
        let close = if near.close == near.size { near.close * far.close } else { near.close };
        Group { size, close, domains: size / close }
    }

    /// The data-parallel group of experts.
    pub(crate) fn edp_group(&self) -> Group {
        let stride = match self.ranks.order {
            RankOrder::TpCpEpDpPp => self.ranks.ep * self.ranks.etp,
            RankOrder::TpCpEpPpDp => self.ranks.ep * self.ranks.etp * self.ranks.pp,
        };
        Group::strided(&self.machine, self.ranks.edp, stride)
    }

    /// Whether the next pipeline stage is in the same domain. At least every second one has to be,
    /// the same for all ranks of a stage: two blocks of ranks must fit.
    pub(crate) fn pp_is_close(&self) -> bool {
        let stride = match self.ranks.order {
            RankOrder::TpCpEpDpPp => self.ranks.world / self.ranks.pp,
            RankOrder::TpCpEpPpDp => self.ranks.tp * self.ranks.cp,
        };
        2 * stride <= self.machine.domain
    }
}
