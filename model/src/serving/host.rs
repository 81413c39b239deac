//! Experts in host memory: computed by the host's cores, or sent to the devices.
//!
//! Letters: T tokens of a step, m visits of a token to experts on the host, D distinct experts of
//! a layer that these visits touch, w bytes of one, n nodes of an instance.

use super::instance::Instance;
use super::resident::touched_experts;
use crate::design::Design;
use crate::device::topology::devices_per_node;
use crate::ground::fitted::{Evidence, Fitted};
use crate::ground::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};

pub use crate::catalogue::processors::{HOSTS, Processors};

/// Share of the nominal bandwidth of host memory at which cores read experts.
///
/// # Source
/// KTransformers, `DeepseekR1_V3_tutorial.md`, V0.2: of eight and of six experts a token, two more
/// take 8.9 ms on two Xeon Gold 6454S of 614 GB/s and 17.5 ms on one of 307 GB/s; they are 3.08 GB
/// in `Q4_K_M`: 0.56 and 0.57 of the nominal bandwidth, less what cards take for them. Hence 0.53.
const READ_SHARE: f64 = 0.53;

/// Time of a layer whose experts the host computes beside what they take: the hidden state there
/// and back, waking threads, quantising activations, adding up.
///
/// # Source
/// KTransformers, `experts-sched-Tutorial.md`: Qwen3-Next takes 8.93 ms a token with all experts on
/// the cards; of the 11.2 ms on which its steps with fewer there end, straight down from 18.9 ms
/// with none, 2.3 ms are 48 layers' of 48 us.
pub(super) const LAYER_TIME: Seconds = Seconds::new(48e-6);

/// Time of such a layer in versions 0.2 and 0.3.
///
/// # Source
/// Fitted on the ten answers of DeepSeek-V3 in [`HOST_RUNS`]; two with six experts have no row in
/// the file.
///
/// [`HOST_RUNS`]: crate::metric::published::HOST_RUNS
pub(crate) const FIRST_LAYER_TIME: Fitted<Seconds> = Fitted::provisional(
    Seconds::new(240e-6),
    Evidence::Rows(&[
        "ktransformers-0001",
        "ktransformers-0003",
        "ktransformers-0005",
        "ktransformers-0007",
        "ktransformers-0011",
        "ktransformers-0014",
        "ktransformers-0017",
        "ktransformers-0020",
    ]),
    "one model, as its authors measured it",
);

/// Share of a link's rate at which the experts of one layer after the other come to a device.
///
/// # Source
/// Fitted on one row of [`HOST_RUNS`], MiniMax-M2.1 on one RTX 4090 with 8,192 tokens: 12.2 s. The
/// seven other prompts whose experts are sent are then met 18 % too fast in the median.
///
/// [`HOST_RUNS`]: crate::metric::published::HOST_RUNS
pub(crate) const SENT_SHARE: Fitted = Fitted::provisional(
    0.82,
    Evidence::Rows(&["ktransformers-0027"]),
    "the other prompts of its source differ from it by 18 %",
);

/// Tokens from which on an engine sends experts to the devices.
///
/// # Source
/// KTransformers, `Native-Precision-Tutorial.md`: `--kt-gpu-prefill-token-threshold`, 4,096 unless
/// it is set.
const SENT_FROM_TOKENS: f64 = 4_096.0;

/// Format of experts in host memory, and the overhead of a layer that calls on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OnHost {
    /// Bytes of a parameter there.
    pub(super) bytes_per_parameter: f64,
    /// Time of a layer beside what its experts take.
    pub(super) layer_time: Seconds,
}

/// The host of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// Nominal bandwidth of its memory, in GB/s.
    pub memory_gb_per_sec: f64,
    /// Rate of its cores in products of experts, in TFLOPS.
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
        let usual = cluster.accelerator.row().processors;
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

/// Work of a host for one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostLayer {
    /// Time in which its cores compute the visits.
    pub(super) computed: Seconds,
    /// Seconds in which the experts that are visited reach the devices; `None` if there are too
    /// few tokens for that.
    pub(super) sent: Option<Seconds>,
}

/// An instance's share of its hosts, and what lies there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostExperts {
    /// Experts of a layer in host memory.
    pub(super) experts: f64,
    /// m.
    pub(super) visits: f64,
    /// w.
    pub(super) expert_bytes: Bytes,
    /// Parameters of an expert.
    pub(super) expert_params: f64,
    layer_time: Seconds,
    memory: BytesPerSecond,
    compute: FlopsPerSecond,
    link: BytesPerSecond,
}

impl HostExperts {
    /// Host experts of an instance that has this many experts of a layer in host memory.
    pub(super) fn new(
        design: &Design,
        instance: &Instance,
        [experts, visits]: [f64; 2],
        expert_params: f64,
        on_host: OnHost,
    ) -> Self {
        let host = Host::new(design);
        let devices = instance.layout.devices();
        // Stages take turns: each has its share.
        let nodes = nodes(design, devices) / instance.layout.pipeline as f64;
        let senders = (devices / instance.layout.pipeline) as f64;
        Self {
            experts,
            visits,
            expert_bytes: Bytes::new(expert_params * on_host.bytes_per_parameter),
            expert_params,
            layer_time: on_host.layer_time,
            memory: BytesPerSecond::gb(host.memory_gb_per_sec) * nodes * READ_SHARE,
            compute: FlopsPerSecond::tera(host.tflops) * nodes,
            link: BytesPerSecond::gb(host.link_gb_per_sec) * senders,
        }
    }

    /// One layer of this many tokens.
    ///
    /// The cores read each expert once and multiply each visit's row: max(D w / rate, 2 T m params
    /// / FLOPS), and what a layer takes anyway. Devices get D w over their links, each its part, at
    /// most as fast as memory is read, where there are tokens enough.
    pub(super) fn layer(&self, tokens: f64) -> HostLayer {
        let bytes = self.expert_bytes * touched_experts(self.experts, self.visits, tokens);
        let flops = Flops::new(2.0 * tokens * self.visits * self.expert_params);
        let read = bytes / self.memory;
        HostLayer {
            computed: read.max(flops / self.compute) + self.layer_time,
            sent: (tokens >= SENT_FROM_TOKENS)
                .then(|| (bytes / (self.link * SENT_SHARE.get())).max(read)),
        }
    }
}
