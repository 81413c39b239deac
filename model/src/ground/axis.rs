//! What travels between devices: along which axis, over which level of links, in which form, and in
//! which phase of the pipeline.

/// A parallel axis that carries traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Tensor (and sequence) parallelism.
    Tp,
    /// Context parallelism.
    Cp,
    /// Expert parallelism, expert tensor parallelism included.
    Ep,
    /// Pipeline parallelism.
    Pp,
    /// Data parallelism of what all ranks share.
    Dp,
    /// Data parallelism of experts.
    Edp,
    /// Swapping to host memory.
    Host,
}

impl Axis {
    /// Every axis.
    pub const ALL: [Self; 7] =
        [Self::Tp, Self::Cp, Self::Ep, Self::Pp, Self::Dp, Self::Edp, Self::Host];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tp => "tp",
            Self::Cp => "cp",
            Self::Ep => "ep",
            Self::Pp => "pp",
            Self::Dp => "dp",
            Self::Edp => "edp",
            Self::Host => "host",
        }
    }
}

/// A level of the interconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLevel {
    /// Inside a node or scale-up domain.
    IntraNode,
    /// Between nodes.
    InterNode,
    /// Between device and host memory.
    Host,
}

impl LinkLevel {
    /// Every level.
    pub const ALL: [Self; 3] = [Self::IntraNode, Self::InterNode, Self::Host];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntraNode => "intra_node",
            Self::InterNode => "inter_node",
            Self::Host => "host",
        }
    }
}

/// The form of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Everyone ends with the sum.
    AllReduce,
    /// Everyone ends with everything.
    AllGather,
    /// Everyone ends with its piece of the sum.
    ReduceScatter,
    /// Everyone sends a different piece to everyone.
    AllToAll,
    /// From one rank to another.
    P2p,
    /// Between device and host memory.
    Copy,
}

impl Collective {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllToAll => "all_to_all",
            Self::P2p => "p2p",
            Self::Copy => "copy",
        }
    }
}

/// A part of the step in which a stage's passes hide more or less of their communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before a stage's first backward.
    WarmUp,
    /// Forwards and backwards take turns, or run as pairs.
    Steady,
    /// Behind a stage's last forward.
    CoolDown,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 3] = [Self::WarmUp, Self::Steady, Self::CoolDown];

    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Steady => "steady state",
            Self::CoolDown => "cool-down",
        }
    }

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm_up",
            Self::Steady => "steady",
            Self::CoolDown => "cool_down",
        }
    }
}
