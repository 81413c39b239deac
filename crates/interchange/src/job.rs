//! How many devices a run has, as schedulers and what starts its processes are told: beside the
//! arguments of the training, which win.

/// A number, what said it, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourcedNumber {
    pub(crate) value: u64,
    pub(crate) key: String,
    pub(crate) line: u64,
}

/// Size of a job, as given to its scheduler and launchers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JobSize {
    pub(crate) nodes: Option<SourcedNumber>,
    /// Devices of a node.
    pub(crate) per_node: Option<SourcedNumber>,
    /// Devices that processes run on which nothing but the scheduler or MPI starts.
    pub(crate) world: Option<SourcedNumber>,
}
