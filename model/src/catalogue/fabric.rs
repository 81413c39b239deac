//! The links inside a domain: what collectives and the kernels of expert parallelism take on them.
//!
//! Letters: n ranks, S bytes that every rank ends up with (a gather), that it starts with (a
//! scatter, an exchange) or both (an all-reduce). Bytes are nccl-tests' `size`.
//!
//! The constants of NVLink are fitted by `cargo xtask calibrate --collectives` on one half of the
//! measured tables of ai-dynamo/aiconfigurator (`crates/validation/kernels`), and checked on the
//! other half.

mod experts;
mod small;

use crate::ground::fitted::Evidence;
use crate::ground::units::{BytesPerSecond, Seconds};

pub(crate) use experts::DEEP_EP_MULTIPROCESSORS;
pub use experts::{HYBRID_EP, HybridEp, TokenKernel, TokenKernels, TokenRows, parts_visited};
pub use small::{LowLatency, OneShot, SmallKernels};

/// Cost of a collective beyond its bytes over the bandwidth, and the share of its own bytes that
/// counts.
///
/// Of S bytes over n ranks in p passes (two for an all-reduce):
/// t = start + p hop (n - 1) + moved / rate + ramp sqrt(moved), moved = S / n (p (n - 1) + own).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectiveCost {
    /// Launch and synchronisation, in microseconds.
    pub start_micros: f64,
    /// A step to the next rank, in microseconds.
    pub hop_micros: f64,
    /// Time that a rank's own share of the bytes takes, which is copied and not sent, over that of
    /// a share that is sent: why small groups get less than the whole link.
    pub own_share: f64,
    /// Ramp of a collective to full bandwidth, in microseconds for the root of a kilobyte.
    pub ramp_micros: f64,
}

impl CollectiveCost {
    /// A collective that takes this long beyond its bytes, whatever their number.
    pub(crate) const fn fixed(start_micros: f64) -> Self {
        Self { start_micros, hop_micros: 0.0, own_share: 0.0, ramp_micros: 0.0 }
    }

    /// Time of a collective of `ranks` on `whole_bytes` in this many passes; see the type's
    /// formula.
    fn seconds(&self, rate: BytesPerSecond, ranks: u64, whole_bytes: f64, passes: f64) -> Seconds {
        if ranks < 2 || whole_bytes <= 0.0 {
            return Seconds::ZERO;
        }
        let others = (ranks - 1) as f64;
        let moved = whole_bytes / ranks as f64 * (passes * others + self.own_share);
        let latency = self.start_micros + passes * self.hop_micros * others;
        let ramp = self.ramp_micros * libm::sqrt(moved / 1e3);
        Seconds::new(moved / rate.get()) + Seconds::micros(latency + ramp)
    }
}

/// All-reduce in the switch (NVLS): it adds up what the ranks hold and sends the sum to all, so
/// that a rank moves S (1 + 1 / n) bytes instead of 2 S (n - 1) / n.
///
/// t = start + S (1 + 1 / n) / rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchReduction {
    /// Launch and synchronisation, in microseconds.
    pub start_micros: f64,
    /// Its rate over that of a ring.
    pub relative_rate: f64,
}

/// The links inside a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Its name.
    pub name: &'static str,
    /// Gathers, scatters and all-reduces in a ring.
    pub ring: CollectiveCost,
    /// All-to-alls and sends.
    pub all_to_all: CollectiveCost,
    /// All-reduces in the switch, where it can.
    pub switch: Option<SwitchReduction>,
    /// Latency of a hop of a ring over the network, in microseconds; `None` where the library
    /// gathers by doubling instead.
    pub network_hop_micros: Option<f64>,
    /// The kernels of DeepEP; `None` where it doesn't run.
    pub token_kernels: Option<TokenKernels>,
    /// Kernels that serving uses for few bytes.
    pub small: SmallKernels,
    /// Measurements that the costs, the switch and the shares of the link that accelerators' rows
    /// have were fitted on.
    pub fitted_on: Evidence,
}

impl Fabric {
    /// Time of an all-gather or a reduce-scatter of S bytes at this rate of a link.
    #[must_use]
    pub fn gather(&self, rate: BytesPerSecond, ranks: u64, whole_bytes: f64) -> Seconds {
        self.ring.seconds(rate, ranks, whole_bytes, 1.0)
    }

    /// Time of an all-reduce of S bytes in a ring.
    #[must_use]
    pub fn ring_all_reduce(&self, rate: BytesPerSecond, ranks: u64, whole_bytes: f64) -> Seconds {
        self.ring.seconds(rate, ranks, whole_bytes, 2.0)
    }

    /// Time of an all-reduce of S bytes: in a ring or, from three ranks on, in the switch. The
    /// faster one counts, as the library chooses.
    #[must_use]
    pub fn all_reduce(&self, rate: BytesPerSecond, ranks: u64, whole_bytes: f64) -> Seconds {
        let ring = self.ring_all_reduce(rate, ranks, whole_bytes);
        match self.switch {
            Some(switch) if ranks > 2 && whole_bytes > 0.0 => {
                let moved = whole_bytes * (1.0 + 1.0 / ranks as f64);
                let bytes = Seconds::new(moved / (rate.get() * switch.relative_rate));
                ring.min(bytes + Seconds::micros(switch.start_micros))
            }
            _ => ring,
        }
    }

    /// Time of an all-to-all in which each rank has S bytes, an n-th for each.
    #[must_use]
    pub fn all_to_all(&self, rate: BytesPerSecond, ranks: u64, whole_bytes: f64) -> Seconds {
        self.all_to_all.seconds(rate, ranks, whole_bytes, 1.0)
    }

    /// Time of a send of these bytes to a neighbour.
    #[must_use]
    pub fn send(&self, rate: BytesPerSecond, bytes: f64) -> Seconds {
        // Half of what two ranks exchange goes to the other; nothing stays.
        CollectiveCost { own_share: 0.0, ..self.all_to_all }.seconds(rate, 2, 2.0 * bytes, 1.0)
    }
}

/// Further time of a collective for each doubling of the domains that take part.
///
/// Source: NCCL all-reduces on H100, which are two such calls: over 32, 256, 1,024 and 8,192 GPUs
/// they take 0.2, 0.4, 0.6 and 0.9 ms longer than their bytes at 370 GB/s.
const DOUBLING_SECONDS: f64 = 45e-6;

/// Time that a gather or a scatter between domains takes beyond one inside: a tree adds a step for
/// each of its levels, log2(domains) rounded up.
#[must_use]
pub fn tree_latency(domains: u64) -> Seconds {
    let levels = u64::BITS - (domains.max(1) - 1).leading_zeros();
    Seconds::new(DOUBLING_SECONDS * f64::from(levels))
}

/// NVLink 3 and NVSwitch of A100 and A800.
#[rustfmt::skip]
pub const NVLINK_3: Fabric = Fabric {
    name: "NVLink 3",
    ring: CollectiveCost {
        start_micros: 8.07, hop_micros: 0.882, own_share: 0.253, ramp_micros: 0.337,
    },
    all_to_all: CollectiveCost {
        start_micros: 10.7, hop_micros: 0.202, own_share: 0.210, ramp_micros: 0.339,
    },
    switch: None,
    // NCCL tuning.cc: hops of a ring under LL128, the protocol between NVLink machines.
    network_hop_micros: Some(4.0),
    // Not measured; as on NVLink 4.
    token_kernels: NVLINK_4.token_kernels,
    small: SmallKernels::nvlink(8.4),
    fitted_on: Evidence::Kernels("aiconfigurator 095f58a", &[("nccl", 139)]),
};

/// NVLink 4 and NVSwitch of H100, H200, H800 and H20.
#[rustfmt::skip]
pub const NVLINK_4: Fabric = Fabric {
    name: "NVLink 4",
    ring: CollectiveCost {
        start_micros: 4.25, hop_micros: 0.882, own_share: 0.462, ramp_micros: 0.143,
    },
    all_to_all: CollectiveCost {
        start_micros: 8.29, hop_micros: 0.222, own_share: 0.0963, ramp_micros: 0.131,
    },
    switch: Some(SwitchReduction { start_micros: 69.9, relative_rate: 0.777 }),
    network_hop_micros: Some(4.0),
    token_kernels: Some(TokenKernels {
        dispatch: TokenKernel {
            start_micros: 32.3, copy_micros: 0.125, kilobyte_micros: 0.0766,
            copied_kilobyte_micros: 0.0206, forwarded_kilobyte_micros: 0.149, fraction: 0.768,
        },
        combine: TokenKernel {
            start_micros: 43.3, copy_micros: 0.0137, kilobyte_micros: 0.116,
            copied_kilobyte_micros: 0.0287, forwarded_kilobyte_micros: 0.273, fraction: 0.715,
        },
    }),
    small: SmallKernels::nvlink(3.6),
    fitted_on: Evidence::Kernels("aiconfigurator 095f58a", &[("nccl", 278), ("deepep", 1214)]),
};

/// NVLink 5 of B200, B300, GB200 and GB300.
///
/// Domains of 72 have no constants of their own: two and four ranks are measured there, which can't
/// tell hops over 72, and they lie within 15 % of these by median. What DeepEP takes to forward
/// rows between domains isn't measured here; it is that of NVLink 4.
#[rustfmt::skip]
pub const NVLINK_5: Fabric = Fabric {
    name: "NVLink 5",
    ring: CollectiveCost {
        start_micros: 6.81, hop_micros: 1.33, own_share: 0.218, ramp_micros: 0.155,
    },
    all_to_all: CollectiveCost {
        start_micros: 11.7, hop_micros: 0.109, own_share: 0.833, ramp_micros: 0.0984,
    },
    switch: Some(SwitchReduction { start_micros: 79.3, relative_rate: 0.634 }),
    network_hop_micros: Some(4.0),
    token_kernels: Some(TokenKernels {
        dispatch: TokenKernel {
            start_micros: 38.7, copy_micros: 0.239, kilobyte_micros: 0.0876,
            copied_kilobyte_micros: 0.00705, forwarded_kilobyte_micros: 0.149, fraction: 0.462,
        },
        combine: TokenKernel {
            start_micros: 46.8, copy_micros: 0.213, kilobyte_micros: 0.0975,
            copied_kilobyte_micros: 0.0140, forwarded_kilobyte_micros: 0.273, fraction: 0.456,
        },
    }),
    small: SmallKernels::nvlink(5.5),
    fitted_on: Evidence::Kernels("aiconfigurator 095f58a", &[("nccl", 460), ("deepep", 2364)]),
};

/// HCCS, the full mesh of an A2 node and the switched super-node.
pub const HCCS: Fabric = Fabric {
    name: "HCCS",
    // 8 x 910B3: an all-gather of 3.1 MB takes 62 us on the device, of which 20 for its bytes. HCCL
    // chooses halving and doubling or a mesh where a ring's hops would count.
    ring: CollectiveCost::fixed(45.0),
    // The same run: an all-to-all of 98 KB takes 62 us on the device.
    all_to_all: CollectiveCost::fixed(62.0),
    switch: None,
    network_hop_micros: None,
    token_kernels: None,
    small: SmallKernels::HCCS,
    fitted_on: Evidence::Unfitted("two published times"),
};

/// PCI Express: no collective on it is measured; the latencies are those that an eager framework
/// sees on eight A100.
///
/// Source: stas00/ml-engineering, all-reduces of 64 to 256 MB take 0.2 to 0.4 ms longer than their
/// bytes, two calls of 120 us with seven hops of 1.9.
pub const PCI_EXPRESS: Fabric = Fabric {
    name: "PCI Express",
    ring: CollectiveCost { hop_micros: 1.9, ..CollectiveCost::fixed(107.0) },
    all_to_all: CollectiveCost::fixed(120.0),
    switch: None,
    network_hop_micros: Some(4.0),
    token_kernels: None,
    small: SmallKernels::NONE,
    fitted_on: Evidence::Unfitted("published times of all-reduces"),
};
