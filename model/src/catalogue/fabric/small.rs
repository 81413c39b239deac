//! Collectives of few bytes: kernels that serving has beside the library's.

/// Kernels for few bytes inside a domain, and to experts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallKernels {
    /// All-reduces in one kernel.
    pub one_shot: Option<OneShot>,
    /// Tokens to experts and sums back.
    pub tokens: Option<LowLatency>,
}

/// An all-reduce in which every rank reads what all others hold:
/// t = start + (n - 1) S / (share x link).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneShot {
    /// Launch and synchronisation, in microseconds.
    pub start_micros: f64,
    /// Share of the link's bandwidth that it reaches.
    pub link_share: f64,
}

/// Kernels that send each row straight to its expert, there and back:
/// t = start + bytes / rate of the slower link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowLatency {
    /// Starts of both ways inside a domain.
    pub near_micros: [f64; 2],
    /// Starts of both ways across several domains.
    pub far_micros: [f64; 2],
    /// Share of the link's bandwidth that it reaches.
    pub link_share: f64,
}

/// DeepEP's low-latency kernels on H100: 14.4 + 0.204 T and 10.2 + 0.485 T microseconds for T
/// tokens of 7,168 to 8 experts inside a node, 28.1 + 1.072 T and 25.7 + 2.170 T over eight nodes:
/// 57 kB of 8 bits a token there, 115 kB of 16 bits back.
///
/// # Source
/// AIConfigurator, `deepep_ll`; DeepEP's own table on H800 has 77 to 194 and 114 to 360 for 128.
const DEEP_EP: LowLatency =
    LowLatency { near_micros: [14.4, 10.2], far_micros: [28.1, 25.7], link_share: 0.57 };

impl SmallKernels {
    /// None.
    pub(super) const NONE: Self = Self { one_shot: None, tokens: None };

    /// An all-reduce that starts in this many microseconds, and DeepEP's kernels.
    ///
    /// # Source
    /// AIConfigurator's all-reduces in a graph: 8.4 us for few bytes on eight A100, 3.4 to 4.2 on
    /// H100 (256 KB 10.2, 1 MB 26), 5 to 6 on B200 (1 MB 17.5).
    pub(super) const fn nvlink(start_micros: f64) -> Self {
        Self { one_shot: Some(OneShot { start_micros, link_share: 0.65 }), tokens: Some(DEEP_EP) }
    }

    /// HCCL has no all-reduce in one kernel that is published.
    ///
    /// # Source
    /// `CloudMatrix384`: 116 to 152 us there and 118 to 150 back for 128 tokens over 8 to 256 dies;
    /// sgl-kernel-npu on A3: 132 and 126 over 8.
    pub(super) const HCCS: Self = Self {
        one_shot: None,
        tokens: Some(LowLatency {
            near_micros: [85.0, 55.0],
            far_micros: [85.0, 55.0],
            link_share: 0.9,
        }),
    };
}
