//! Experts in host memory: computed by the host's cores, or sent to the devices.
//!
//! Letters: T tokens of a step, m visits of a token to experts on the host, D distinct experts of
//! a layer that these visits touch, w bytes of one, n nodes of an instance.

mod table;

use super::instance::Instance;
use super::resident::touched_experts;
use crate::design::Design;
use crate::topology::devices_per_node;

pub use table::{
    HOSTS, Processors, TWO_EPYC_9355, TWO_XEON_6454S, TWO_XEON_8488C, XEON_6454S, usual,
};

/// Share of the nominal bandwidth of host memory at which cores read experts.
///
/// # Source
/// KTransformers, `DeepseekR1_V3_tutorial.md`, V0.2: of eight and of six experts a token, two more
/// take 8.9 ms on two Xeon Gold 6454S of 614 GB/s and 17.5 ms on one of 307 GB/s; they are 3.08 GB
/// in `Q4_K_M`: 0.56 and 0.57 of the nominal bandwidth, less what cards take for them. Hence 0.53.
const READ_SHARE: f64 = 0.53;

/// Time of a layer whose experts the host computes beside what they take: the hidden state there
/// and back, waking threads, quantising activations, adding up. In seconds.
///
/// # Source
/// Fitted on the ten rows of DeepSeek-V3 in [`super::runs::RUNS`]: with it their median error is 4
/// %, and that of the others, of other models, machines and versions, 19 %, most of them faster
/// than predicted.
const LAYER_SECONDS: f64 = 240e-6;

/// The host of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// Nominal bandwidth of its memory, in GB/s.
    pub memory_gb_per_sec: f64,
    /// What its cores reach in products of experts, in TFLOPS.
    pub tflops: f64,
    /// Its memory, in GiB.
    pub memory_gib: f64,
    /// To one device, one direction, in GB/s.
    pub link_gb_per_sec: f64,
}

impl Host {
    /// The host of a design's nodes.
    #[must_use]
    pub fn new(design: &Design) -> Self {
        let (cluster, serving) = (&design.cluster, &design.serving);
        let row = cluster.accelerator.row();
        let usual = usual(cluster.accelerator);
        Self {
            memory_gb_per_sec: serving.host_memory_gb_per_sec.unwrap_or(usual.memory_gb_per_sec),
            tflops: serving.host_tflops.unwrap_or(usual.tflops),
            memory_gib: cluster.host_memory_gib.unwrap_or(row.host_memory_gib),
            link_gb_per_sec: cluster.host_gb_per_sec.unwrap_or(row.host_gb_per_sec),
        }
    }
}

/// Nodes whose hosts an instance has: all of the machine, shared by its instances.
pub(super) fn nodes(design: &Design, instance_devices: u64) -> f64 {
    let nodes = design.cluster.num_devices.div_ceil(devices_per_node(design)) as f64;
    let instances = (design.cluster.num_devices / instance_devices.max(1)).max(1) as f64;
    nodes / instances
}

/// What a host does for one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostLayer {
    /// Seconds in which its cores compute the visits.
    pub(super) computed: f64,
    /// Seconds in which the experts that are visited reach the devices.
    pub(super) sent: f64,
}

/// An instance's share of its hosts, and what lies there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostExperts {
    /// Experts of a layer in host memory.
    pub(super) experts: f64,
    /// m.
    pub(super) visits: f64,
    /// w.
    pub(super) expert_bytes: f64,
    /// Parameters of an expert.
    pub(super) expert_params: f64,
    bytes_per_second: f64,
    flops: f64,
    link: f64,
}

impl HostExperts {
    /// Of an instance that has so many experts of a layer in host memory.
    pub(super) fn new(
        design: &Design,
        instance: &Instance,
        [experts, visits]: [f64; 2],
        [params, bytes]: [f64; 2],
    ) -> Self {
        let host = Host::new(design);
        let devices = instance.layout.devices();
        // Stages take turns: each has its share.
        let nodes = nodes(design, devices) / instance.layout.pipeline as f64;
        let senders = (devices / instance.layout.pipeline) as f64;
        Self {
            experts,
            visits,
            expert_bytes: bytes,
            expert_params: params,
            bytes_per_second: host.memory_gb_per_sec * 1e9 * nodes * READ_SHARE,
            flops: host.tflops * 1e12 * nodes,
            link: host.link_gb_per_sec * 1e9 * senders,
        }
    }

    /// One layer of so many tokens.
    ///
    /// The cores read each expert once and multiply each visit's row: max(D w / rate, 2 T m params
    /// / FLOPS), and what a layer takes anyway. Devices get D w over their links, each its part, at
    /// most as fast as memory is read.
    pub(super) fn layer(&self, tokens: f64) -> HostLayer {
        let bytes = touched_experts(self.experts, self.visits, tokens) * self.expert_bytes;
        let flops = 2.0 * tokens * self.visits * self.expert_params;
        let read = bytes / self.bytes_per_second;
        HostLayer {
            computed: read.max(flops / self.flops) + LAYER_SECONDS,
            sent: (bytes / self.link).max(read),
        }
    }
}
