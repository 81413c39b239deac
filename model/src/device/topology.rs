//! The machine: who is close to whom, and how fast they talk.

use crate::catalogue::accelerator::{Accelerator, IntraNode};
use crate::catalogue::fabric::{self, Fabric, SmallKernels};
use crate::catalogue::processors::usual;
use crate::design::Design;
use crate::ground::units::{Bytes, BytesPerSecond, Seconds};

/// The cluster, overrides resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Machine {
    /// Devices that reach each other at node speed.
    pub(crate) domain: u64,
    /// Devices of a node.
    pub(crate) node: u64,
    /// Wiring inside a node.
    pub(crate) wiring: IntraNode,
    /// Links as their data sheets or the design have them.
    pub(crate) nominal: Links,
    /// Links for gathers, scatters and sends.
    pub(crate) ring: Links,
    /// Links for all-to-alls.
    pub(crate) all_to_all: Links,
    /// Links of a domain.
    pub(crate) fabric: Fabric,
    /// Bandwidth of one device to its domain, all of it.
    pub(crate) link: BytesPerSecond,
    /// Per device to host memory, one direction, with all devices of the node at it.
    pub(crate) host: BytesPerSecond,
    /// Bandwidth per device to host memory where each device sends and fetches at once.
    pub(crate) host_both_ways: BytesPerSecond,
    /// Host memory for each device.
    pub(crate) host_memory: Bytes,
    /// Kernels for few bytes, which serving has beside the library's collectives.
    pub(crate) small: Option<SmallKernels>,
}

/// Bandwidth of one device, one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Links {
    /// To its domain.
    pub(crate) intra: BytesPerSecond,
    /// To the network, the node's NICs shared evenly.
    pub(crate) inter: BytesPerSecond,
}

/// Devices of a node.
pub(crate) fn devices_per_node(design: &Design) -> u64 {
    design.cluster.devices_per_node.unwrap_or(design.cluster.accelerator.row().devices_per_node)
}

/// Devices that reach each other at node speed.
fn domain(design: &Design) -> u64 {
    let row = design.cluster.accelerator.row();
    let node = devices_per_node(design);
    // A node larger than usual is a larger domain too.
    let usual = row.scale_up_domain_size.max(node);
    let usual = if row.scale_up_domain_size == row.devices_per_node { node } else { usual };
    design.cluster.scale_up_domain_size.unwrap_or(usual).min(design.cluster.num_devices).max(1)
}

/// Context-parallel ranks of one domain: those that exchange heads under `hybrid`.
pub(crate) fn ulysses_ranks(design: &Design) -> u64 {
    let tp = design.parallel.tensor_model_parallel_size;
    let close = (domain(design) / tp).max(1);
    greatest_divisor(design.parallel.context_parallel_size, close)
}

/// The greatest divisor of `whole` that is at most `most`.
fn greatest_divisor(whole: u64, most: u64) -> u64 {
    (1..=most.min(whole)).rev().find(|part| whole.is_multiple_of(*part)).unwrap_or(1)
}

impl Machine {
    pub(crate) fn new(design: &Design, row: &Accelerator) -> Self {
        let cluster = &design.cluster;
        let node = devices_per_node(design);
        let nics = cluster.nics_per_node.unwrap_or(node) as f64 / node as f64;
        let intra = cluster.intra_node_gb_per_sec.unwrap_or(row.intra_node_gb_per_sec);
        let inter = cluster.inter_node_gb_per_sec.unwrap_or(row.inter_node_gb_per_sec);
        let links = |intra_fraction: f64, inter_fraction: f64| Links {
            intra: BytesPerSecond::gb(intra * intra_fraction),
            inter: BytesPerSecond::gb(inter * nics * inter_fraction),
        };
        let host_memory = cluster.host_memory_gib.unwrap_or(row.host_memory_gib);
        // All devices of a node copy at once, and share the memory of its processors: no copy is
        // faster than its part of their nominal bandwidth.
        let memory = usual(cluster.accelerator).memory_gb_per_sec;
        let link = cluster.host_gb_per_sec.unwrap_or(row.host_gb_per_sec);
        let at_once = node.min(cluster.num_devices).max(1) as f64;
        let host = |ways: f64| BytesPerSecond::gb(link.min(memory / (at_once * ways)));
        Self {
            domain: domain(design),
            node,
            wiring: cluster.accelerator.row().intra_node,
            nominal: links(1.0, 1.0),
            ring: links(row.intra_node_fraction, row.inter_node_fraction),
            all_to_all: links(row.intra_all_to_all_fraction, row.inter_all_to_all_fraction),
            fabric: row.fabric,
            link: BytesPerSecond::gb(intra),
            host: host(1.0),
            host_both_ways: host(2.0),
            host_memory: Bytes::gib(host_memory / node as f64),
            small: None,
        }
    }

    /// Time of an all-gather or a reduce-scatter of these bytes among this many ranks of a domain.
    pub(crate) fn gather(&self, ranks: u64, whole_bytes: f64) -> Seconds {
        self.fabric.gather(self.mesh(self.ring.intra, ranks), ranks, whole_bytes)
    }

    /// Time that an all-reduce of these bytes takes inside domains. A switch adds up what its own
    /// ranks hold; between domains nothing is measured of it.
    pub(crate) fn all_reduce(&self, group: &Group, whole_bytes: f64) -> Seconds {
        let (rate, ranks) = (self.mesh(self.ring.intra, group.close), group.close);
        if group.domains == 1 {
            self.fabric.all_reduce(rate, ranks, whole_bytes)
        } else {
            self.fabric.ring_all_reduce(rate, ranks, whole_bytes)
        }
    }

    /// Time of an all-to-all among this many ranks of a domain, each with these bytes.
    pub(crate) fn all_to_all(&self, ranks: u64, whole_bytes: f64) -> Seconds {
        let rate = self.mesh(self.all_to_all.intra, ranks);
        self.fabric.all_to_all(rate, ranks, whole_bytes)
    }

    /// Time of a send of these bytes to a rank of the same domain.
    pub(crate) fn send(&self, bytes: f64) -> Seconds {
        self.fabric.send(self.mesh(self.ring.intra, 2), bytes)
    }

    /// Bandwidth of a domain that `members` of it, the device counted, get.
    ///
    /// A full mesh of n gives a subgroup of g the links to its g - 1 others:
    /// 196 (g - 1) / 7 GB/s on an A2 node. Source: msmodeling.
    pub(crate) fn mesh(&self, rate: BytesPerSecond, members: u64) -> BytesPerSecond {
        match self.wiring {
            IntraNode::Switch => rate,
            IntraNode::FullMesh if members >= self.node => rate,
            IntraNode::FullMesh => {
                rate * ((members.max(2) - 1) as f64 / (self.node.max(2) - 1) as f64)
            }
        }
    }
}

/// A group of ranks and how it lies on the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Group {
    /// Ranks of the group.
    pub(crate) size: u64,
    /// Ranks of the group in one domain.
    pub(crate) close: u64,
    /// Domains that the group spans.
    pub(crate) domains: u64,
}

impl Group {
    /// `size` ranks, each `stride` ranks from the next.
    pub(crate) fn strided(machine: &Machine, size: u64, stride: u64) -> Self {
        let close = (machine.domain / stride.max(1)).clamp(1, size.max(1));
        let close = greatest_divisor(size.max(1), close);
        Self { size, close, domains: size / close }
    }

    /// The ranks of one of `parts` equal parts, closest together, and the ranks of equal place in
    /// all parts.
    pub(crate) fn split(&self, parts: u64) -> (Self, Self) {
        let size = self.size / parts.max(1);
        let close = greatest_divisor(size.max(1), self.close);
        let inner = Self { size, close, domains: size / close };
        let between = greatest_divisor(parts.max(1), (self.close / close).max(1));
        (inner, Self { size: parts, close: between, domains: parts / between })
    }

    /// Time that an all-gather or a reduce-scatter between domains takes beyond one inside.
    pub(crate) fn tree_latency(&self) -> Seconds {
        fabric::tree_latency(self.domains)
    }

    /// Latencies of a gather or scatter in a ring beyond those of each domain's own: it passes all
    /// ranks, so of its n - d hops inside domains (d - 1) (g - 1) are left, and there are d - 1
    /// between.
    ///
    /// Source: NCCL `tuning.cc`, the latency of rings; trees are for all-reduces alone there.
    pub(crate) fn ring_latency(&self, fabric: &Fabric) -> [Seconds; 2] {
        let Some(far) = fabric.network_hop_micros else {
            return [Seconds::ZERO, self.tree_latency()];
        };
        let between = (self.domains.max(1) - 1) as f64;
        let inside = between * (self.close - 1) as f64;
        [fabric.ring.hop_micros * inside, far * between].map(Seconds::micros)
    }
}
