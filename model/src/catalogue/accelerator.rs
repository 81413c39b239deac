//! The accelerators: one row each, one source each. All rates are dense and per device (one rank).

use crate::catalogue::calibration::{self, AMPERE, ASCEND, BLACKWELL, HOPPER, Kernels};
use crate::catalogue::fabric::{Fabric, HCCS, NVLINK_3, NVLINK_4, NVLINK_5, PCI_EXPRESS};
use crate::catalogue::names;
use crate::catalogue::processors::{
    FOUR_KUNPENG, Processors, TWO_EPYC_7742, TWO_GRACE, TWO_KUNPENG, TWO_XEON_8480C, TWO_XEON_8570,
};
use crate::ground::axis::Collective;
use crate::ground::choice::{Choice, Precision};
use crate::ground::source::{CANN, CLOUDMATRIX, FLAGPERF, MSMODELING, NVIDIA, Source, TORCHTITAN};
use crate::ground::units::{BytesPerSecond, Seconds};

/// Wiring between the devices of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntraNode {
    /// A link to every other device: a subgroup of g gets (g-1)/(n-1) of the bandwidth.
    FullMesh,
    /// A switch: any subgroup gets all of it.
    Switch,
}

/// One device, as one rank sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accelerator {
    /// The name that people use.
    pub title: &'static str,
    /// Dense BF16 peak; `None` where the part has no BF16.
    pub bf16_tflops: Option<f64>,
    /// Dense FP16 peak.
    pub fp16_tflops: f64,
    /// Dense FP32 (or TF32) matrix peak.
    pub fp32_tflops: f64,
    /// Dense FP8 peak, where the part has FP8.
    pub fp8_tflops: Option<f64>,
    /// Dense FP4 peak, where the part has FP4.
    pub fp4_tflops: Option<f64>,
    /// Dense FP32 peak of the vector unit (CUDA cores), a fused multiplication and addition counted
    /// as two: lanes x multiprocessors x clock x 2, as data sheets count it; `None` where lanes or
    /// clock aren't published. Rooflines show it; no time rests on it.
    pub vector_tflops: Option<f64>,
    /// Clock that the power limit sustains in long matmuls, against the levels of `kernels` and
    /// relative to the peaks above; one where the levels are the part's own.
    pub sustained_clock: f64,
    /// Exponentials a second, in units of 10^12: the softmax of flash attention needs one a score
    /// forward.
    pub tera_exponentials: f64,
    /// Cube cores or streaming multiprocessors: tiles of a matmul run in waves of this many.
    pub num_cores: u32,
    /// Device memory as sold.
    pub hbm_gib: f64,
    /// Device memory that a program gets.
    pub hbm_usable_gib: f64,
    /// Peak bandwidth of device memory.
    pub hbm_gb_per_sec: f64,
    /// Devices of a node.
    pub devices_per_node: u64,
    /// Devices that reach each other at node speed.
    pub scale_up_domain_size: u64,
    /// Wiring inside a node.
    pub intra_node: IntraNode,
    /// Per device, one direction, all links.
    pub intra_node_gb_per_sec: f64,
    /// Per NIC, one direction; a node has one NIC per device unless the design says otherwise.
    pub inter_node_gb_per_sec: f64,
    /// Device to host memory, one direction, as measured.
    pub host_gb_per_sec: f64,
    /// Memory of a node's host.
    pub host_memory_gib: f64,
    /// Processors that a node usually has.
    pub processors: &'static Processors,
    /// Rated power in watts, and who states it; `None` if nobody does for one device as it is
    /// counted here.
    pub rated_watts: Option<(f64, Source)>,
    /// Share of the BF16 peak that the best measured GEMM reaches: no matmul is faster.
    pub best_gemm_fraction: f64,
    /// Share of the FP8 peak that the best measured GEMM reaches.
    pub best_fp8_gemm_fraction: f64,
    /// Rates that kernels reach in microbenchmarks, and their share of them inside a training step.
    pub kernels: Kernels,
    /// Links inside a domain: what collectives take beside their bytes.
    pub fabric: Fabric,
    /// Share of the intra-node bandwidth that gathers, scatters and all-reduces of many bytes
    /// reach.
    pub intra_node_fraction: f64,
    /// Share of a NIC's bandwidth that collectives reach.
    pub inter_node_fraction: f64,
    /// Share of the intra-node bandwidth that all-to-alls of many bytes reach.
    pub intra_all_to_all_fraction: f64,
    /// Share of a NIC's bandwidth that all-to-alls reach.
    pub inter_all_to_all_fraction: f64,
    /// Share of its time that a hidden collective still costs: it occupies cores and memory.
    pub communication_core_share: f64,
    /// Whether every design is also shown on it: one part of each kind that people choose among.
    pub is_platform: bool,
    /// Where the row comes from.
    pub source: Source,
}

/// The parts that a row of the table doesn't name.
const BASE: Accelerator = Accelerator {
    title: "",
    bf16_tflops: None,
    fp16_tflops: 0.0,
    fp32_tflops: 0.0,
    fp8_tflops: None,
    fp4_tflops: None,
    vector_tflops: None,
    sustained_clock: 1.0,
    tera_exponentials: 4.0,
    num_cores: 1,
    hbm_gib: 0.0,
    hbm_usable_gib: 0.0,
    hbm_gb_per_sec: 0.0,
    devices_per_node: 8,
    scale_up_domain_size: 8,
    intra_node: IntraNode::Switch,
    intra_node_gb_per_sec: 0.0,
    inter_node_gb_per_sec: 50.0,
    host_gb_per_sec: 25.0,
    host_memory_gib: 2_048.0,
    processors: &TWO_XEON_8480C,
    rated_watts: None,
    best_gemm_fraction: 0.8,
    best_fp8_gemm_fraction: 0.709,
    kernels: HOPPER,
    fabric: NVLINK_4,
    // Fitted with the fabric's constants.
    intra_node_fraction: 0.864,
    // NCCL all-reduce on 32 H100: 370 of 8 x 50 GB/s a node.
    inter_node_fraction: 0.92,
    intra_all_to_all_fraction: 0.784,
    // NCCL all-to-all over 32 GPUs: bus bandwidth of 24 and 48 GB/s on NICs of 25 and 50, of which
    // 24 in 31 bytes leave the node.
    inter_all_to_all_fraction: 0.74,
    // DeepSeek-V3, section 3.2: 20 of 132 streaming multiprocessors.
    communication_core_share: 0.15,
    is_platform: false,
    source: NVIDIA,
};

/// An A2 node: eight NPUs, HCCS full mesh of 7 x 28 GB/s, one 200 Gb/s RoCE port each.
/// Host link and host memory as measured on Atlas 800T A2 (HIXL, FlagPerf).
const A2: Accelerator = Accelerator {
    // 40 vector cores x 64 FP32 lanes x 1.8 GHz, about one in one.
    tera_exponentials: 4.6,
    // 48 vector cores at 22 TFLOPS in FP16, half of it in FP32. Source: msmodeling.
    vector_tflops: Some(11.0),
    intra_node: IntraNode::FullMesh,
    intra_node_gb_per_sec: 196.0,
    inter_node_gb_per_sec: 25.0,
    host_gb_per_sec: 18.0,
    host_memory_gib: 1_024.0,
    processors: &FOUR_KUNPENG,
    rated_watts: Some((350.0, FLAGPERF)),
    hbm_gib: 64.0,
    hbm_usable_gib: 60.3,
    hbm_gb_per_sec: 1_638.0,
    // 328 of 353.9 TFLOPS BF16 (limulidae, 24-core part).
    best_gemm_fraction: 0.927,
    kernels: ASCEND,
    fabric: HCCS,
    // limulidae: all-gather over 8 NPUs at 149 of 196 GB/s.
    intra_node_fraction: 0.76,
    // HIXL: RoCE at 22.5 of 25 GB/s.
    inter_node_fraction: 0.9,
    intra_all_to_all_fraction: 0.71,
    inter_all_to_all_fraction: 0.74,
    // No figure is published for Ascend. In DeepSeek-V3's trace of an overlapped pair, hiding
    // 80.4 ms of communication makes 118.2 ms of compute take 129.0 ms.
    communication_core_share: 0.134,
    source: MSMODELING,
    ..BASE
};

const A100: Accelerator = Accelerator {
    // 16 lanes x 108 multiprocessors x 1.41 GHz.
    tera_exponentials: 2.4,
    // 64 lanes x 108 multiprocessors x 1.41 GHz x 2.
    vector_tflops: Some(19.5),
    bf16_tflops: Some(312.0),
    fp16_tflops: 312.0,
    fp32_tflops: 156.0,
    num_cores: 108,
    hbm_gib: 80.0,
    hbm_usable_gib: 79.1,
    hbm_gb_per_sec: 2_039.0,
    intra_node_gb_per_sec: 300.0,
    processors: &TWO_EPYC_7742,
    rated_watts: Some((400.0, NVIDIA)),
    inter_node_gb_per_sec: 25.0,
    // 271 of 312.
    best_gemm_fraction: 0.869,
    kernels: AMPERE,
    fabric: NVLINK_3,
    // Fitted with the fabric's constants.
    intra_node_fraction: 0.796,
    intra_all_to_all_fraction: 0.788,
    ..BASE
};

const H100: Accelerator = Accelerator {
    // 16 lanes x 132 multiprocessors x 1.98 GHz.
    tera_exponentials: 4.2,
    // 128 lanes x 132 multiprocessors x 1.98 GHz x 2.
    vector_tflops: Some(66.9),
    bf16_tflops: Some(989.0),
    fp16_tflops: 989.0,
    fp32_tflops: 494.5,
    fp8_tflops: Some(1_979.0),
    num_cores: 132,
    hbm_gib: 80.0,
    hbm_usable_gib: 79.1,
    hbm_gb_per_sec: 3_350.0,
    intra_node_gb_per_sec: 450.0,
    rated_watts: Some((700.0, NVIDIA)),
    host_gb_per_sec: 50.0,
    // 794 of 989, 1403 of 1979.
    best_gemm_fraction: 0.803,
    best_fp8_gemm_fraction: 0.709,
    ..BASE
};

/// Exponentials of Blackwell Ultra: 10.7 x 10^12 a second where Blackwell has 5.
///
/// Source: NVIDIA, "Inside NVIDIA Blackwell Ultra".
const ULTRA_EXPONENTIALS: f64 = B200.tera_exponentials * 10.7 / 5.0;

const B200: Accelerator = Accelerator {
    // 16 lanes x 148 multiprocessors x 1.85 GHz.
    tera_exponentials: 4.4,
    // 128 lanes x 148 multiprocessors x 1.85 GHz x 2.
    vector_tflops: Some(70.1),
    bf16_tflops: Some(2_250.0),
    fp16_tflops: 2_250.0,
    fp32_tflops: 1_125.0,
    fp8_tflops: Some(4_500.0),
    fp4_tflops: Some(9_000.0),
    num_cores: 148,
    hbm_gib: 180.0,
    hbm_usable_gib: 178.0,
    hbm_gb_per_sec: 8_000.0,
    intra_node_gb_per_sec: 900.0,
    processors: &TWO_XEON_8570,
    rated_watts: Some((1_000.0, NVIDIA)),
    host_gb_per_sec: 50.0,
    // 1745 of 2250, 3433 of 4500.
    best_gemm_fraction: 0.776,
    best_fp8_gemm_fraction: 0.763,
    kernels: BLACKWELL,
    fabric: NVLINK_5,
    // Fitted with the fabric's constants.
    intra_node_fraction: 0.834,
    intra_all_to_all_fraction: 0.799,
    ..BASE
};

impl Accelerator {
    /// Dense peak of matrix products in this number format; `None` where the part has none.
    #[must_use]
    pub const fn peak_tflops(&self, precision: Precision) -> Option<f64> {
        match precision {
            Precision::Bf16 => self.bf16_tflops,
            Precision::Fp16 => Some(self.fp16_tflops),
            Precision::Fp32 => Some(self.fp32_tflops),
            Precision::Fp8Delayed
            | Precision::Fp8Tensorwise
            | Precision::Fp8Blockwise
            | Precision::Mxfp8 => self.fp8_tflops,
            Precision::Nvfp4 => self.fp4_tflops,
        }
    }

    /// Time of a collective of this many ranks of one domain, on S bytes as nccl-tests counts them.
    #[must_use]
    pub fn collective(&self, collective: Collective, ranks: u64, whole_bytes: f64) -> Seconds {
        let link = |fraction: f64| BytesPerSecond::gb(self.intra_node_gb_per_sec * fraction);
        let ring = link(self.intra_node_fraction);
        let all_to_all = link(self.intra_all_to_all_fraction);
        match collective {
            Collective::AllGather | Collective::ReduceScatter => {
                self.fabric.gather(ring, ranks, whole_bytes)
            }
            Collective::AllReduce => self.fabric.all_reduce(ring, ranks, whole_bytes),
            Collective::AllToAll => self.fabric.all_to_all(all_to_all, ranks, whole_bytes),
            Collective::P2p => self.fabric.send(ring, whole_bytes),
            Collective::Copy => {
                let host = BytesPerSecond::gb(self.host_gb_per_sec);
                Seconds::new(whole_bytes / host.get())
            }
        }
    }
}

macro_rules! accelerators {
    ($($Id:ident = $name:literal, [$($alias:literal),*], $row:expr;)+) => {
        /// The accelerators, by their public ids.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AcceleratorId { $(#[doc = $name] $Id,)+ }

        impl Choice for AcceleratorId {
            const NAMES: &'static [&'static str] = &[$($name,)+];
            const ALL: &'static [Self] = &[$(Self::$Id,)+];
            fn index(self) -> usize {
                self as usize
            }
        }

        static ACCELERATORS: &[Accelerator] = &[$($row,)+];

        /// Other names, apart from the rows so that programs without a look-up don't carry them.
        static ALIASES: &[&[&str]] = &[$(&[$($alias),*],)+];
    };
}

impl AcceleratorId {
    /// The table's row.
    #[must_use]
    pub fn row(self) -> &'static Accelerator {
        &ACCELERATORS[self as usize]
    }

    /// Names in texts, in parts with spaces between.
    #[must_use]
    pub fn aliases(self) -> &'static [&'static str] {
        ALIASES[self as usize]
    }

    /// The accelerator that a text names.
    #[must_use]
    pub fn named_in(text: &str) -> Option<Self> {
        names::find(text, Self::ALL.iter().map(|id| (*id, id.aliases())))
    }
}

accelerators! {
    Ascend910b1 = "ascend-910b1", ["910b1"], Accelerator {
        is_platform: true,
        title: "Ascend 910B1",
        bf16_tflops: Some(353.9), fp16_tflops: 376.0, fp32_tflops: 99.5,
        num_cores: 24,
        ..A2
    };
    // The same script runs 1.15 to 1.20 times as fast on Atlas 900 A2 as on Atlas 800T A2: that
    // is the 24-core part.
    Ascend910b2 = "ascend-910b2", ["910b2", "900 a2"], Accelerator {
        is_platform: true,
        title: "Ascend 910B2",
        bf16_tflops: Some(353.9), fp16_tflops: 376.0, fp32_tflops: 99.5,
        num_cores: 24,
        source: CANN,
        ..A2
    };
    Ascend910b3 = "ascend-910b3", ["910b3", "800t a2", "800i a2", "a2-npu"], Accelerator {
        is_platform: true,
        title: "Ascend 910B3 (Atlas 800T A2)",
        bf16_tflops: Some(294.9), fp16_tflops: 313.0, fp32_tflops: 83.0,
        num_cores: 20,
        // 40 vector cores; msmodeling has 18 TFLOPS in FP16.
        vector_tflops: Some(9.0),
        source: FLAGPERF,
        ..A2
    };
    Ascend910b4 = "ascend-910b4", ["910b4"], Accelerator {
        is_platform: true,
        title: "Ascend 910B4",
        bf16_tflops: Some(245.8), fp16_tflops: 280.0, fp32_tflops: 75.0,
        num_cores: 20,
        // 40 vector cores at a lower clock; msmodeling has 16 TFLOPS in FP16.
        vector_tflops: Some(8.0),
        hbm_gib: 32.0, hbm_usable_gib: 30.1, hbm_gb_per_sec: 819.0,
        source: CANN,
        ..A2
    };
    Ascend910c = "ascend-910c",
        ["910c", "cloudmatrix", "ascend a3", "atlas a3", "npu a3"], Accelerator {
        is_platform: true,
        title: "Ascend 910C die (CloudMatrix384)",
        rated_watts: None,
        bf16_tflops: Some(353.9), fp16_tflops: 376.0, fp32_tflops: 99.5,
        num_cores: 24,
        devices_per_node: 16, scale_up_domain_size: 768,
        intra_node: IntraNode::Switch,
        host_gb_per_sec: 33.0,
        source: CLOUDMATRIX,
        ..A2
    };
    Ascend300iDuo = "ascend-300i-duo", ["300i duo"], Accelerator {
        title: "Atlas 300I Duo, one 310P chip (no BF16)",
        processors: &TWO_KUNPENG, rated_watts: None,
        bf16_tflops: None, fp16_tflops: 70.0, fp32_tflops: 17.5,
        num_cores: 8,
        vector_tflops: None,
        hbm_gib: 48.0, hbm_usable_gib: 45.2, hbm_gb_per_sec: 204.0,
        intra_node: IntraNode::Switch, intra_node_gb_per_sec: 16.0,
        inter_node_gb_per_sec: 3.1,
        source: MSMODELING,
        ..A2
    };
    A100Sxm40gb = "a100-sxm-40gb", ["a100 40g"], Accelerator {
        title: "NVIDIA A100 SXM 40 GB",
        hbm_gib: 40.0, hbm_usable_gib: 39.5, hbm_gb_per_sec: 1_555.0,
        ..A100
    };
    A100Sxm80gb = "a100-sxm-80gb", ["a100"], Accelerator {
        is_platform: true,
        title: "NVIDIA A100 SXM 80 GB",
        ..A100
    };
    A100Pcie80gb = "a100-pcie-80gb", ["a100 pcie"], Accelerator {
        title: "NVIDIA A100 PCIe 80 GB",
        rated_watts: Some((300.0, NVIDIA)),
        hbm_gb_per_sec: 1_935.0, intra_node_gb_per_sec: 32.0,
        fabric: PCI_EXPRESS,
        // The shares of NVLink that NCCL is published with; none is of PCI Express.
        intra_node_fraction: 0.77, intra_all_to_all_fraction: 0.71,
        ..A100
    };
    A800Sxm80gb = "a800-sxm-80gb", ["a800"], Accelerator {
        title: "NVIDIA A800 SXM 80 GB",
        intra_node_gb_per_sec: 200.0,
        ..A100
    };
    H100Sxm80gb = "h100-sxm-80gb", ["h100"], Accelerator {
        is_platform: true,
        title: "NVIDIA H100 SXM 80 GB",
        ..H100
    };
    // HBM2e and a power limit of 500 W: the part that torchtitan measured on.
    H100With96gb = "h100-96gb", ["h100 96g"], Accelerator {
        title: "NVIDIA H100 96 GB (HBM2e, 500 W)",
        rated_watts: None,
        hbm_gib: 96.0, hbm_usable_gib: 94.9, hbm_gb_per_sec: 2_400.0,
        source: TORCHTITAN,
        ..H100
    };
    H800Sxm80gb = "h800-sxm-80gb", ["h800"], Accelerator {
        is_platform: true,
        title: "NVIDIA H800 SXM 80 GB",
        intra_node_gb_per_sec: 200.0,
        ..H100
    };
    H20 = "h20", ["h20"], Accelerator {
        is_platform: true,
        title: "NVIDIA H20",
        rated_watts: Some((400.0, NVIDIA)),
        bf16_tflops: Some(148.0), fp16_tflops: 148.0, fp32_tflops: 74.0, fp8_tflops: Some(296.0),
        num_cores: 78,
        // 128 lanes x 78 multiprocessors x 1.98 GHz x 2.
        vector_tflops: Some(39.5),
        hbm_gib: 96.0, hbm_usable_gib: 94.9, hbm_gb_per_sec: 4_000.0,
        ..H100
    };
    H200Sxm141gb = "h200-sxm-141gb", ["h200"], Accelerator {
        is_platform: true,
        title: "NVIDIA H200 SXM 141 GB",
        hbm_gib: 141.0, hbm_usable_gib: 139.8, hbm_gb_per_sec: 4_800.0,
        kernels: HOPPER.on(calibration::H200),
        ..H100
    };
    B200 = "b200", ["b200"], Accelerator { is_platform: true, title: "NVIDIA B200", ..B200 };
    B300 = "b300", ["b300"], Accelerator {
        title: "NVIDIA B300",
        rated_watts: None,
        // HGX B300, eight devices: 36 PFLOPS of BF16 and 72 of FP8 with sparsity, half of it
        // dense, and 108 of FP4 dense. Those of GB300, 2,500 and 15,000, have another power limit.
        fp4_tflops: Some(13_500.0),
        hbm_gib: 268.0, hbm_usable_gib: 265.0, inter_node_gb_per_sec: 100.0,
        // 1769 of 2250, 3353 of 4500.
        best_gemm_fraction: 0.786,
        best_fp8_gemm_fraction: 0.745,
        kernels: BLACKWELL.on(calibration::B300),
        tera_exponentials: ULTRA_EXPONENTIALS,
        ..B200
    };
    Gb200 = "gb200", ["gb200"], Accelerator {
        title: "NVIDIA GB200 NVL72",
        processors: &TWO_GRACE, rated_watts: None,
        bf16_tflops: Some(2_500.0), fp16_tflops: 2_500.0, fp32_tflops: 1_250.0,
        fp8_tflops: Some(5_000.0), fp4_tflops: Some(10_000.0),
        devices_per_node: 4, scale_up_domain_size: 72,
        hbm_gib: 186.0, hbm_usable_gib: 184.0, host_gb_per_sec: 200.0,
        kernels: BLACKWELL.on(calibration::GB200),
        // 1822 of 2500.
        best_gemm_fraction: 0.729,
        ..B200
    };
    Gb300 = "gb300", ["gb300"], Accelerator {
        title: "NVIDIA GB300 NVL72",
        processors: &TWO_GRACE, rated_watts: None,
        bf16_tflops: Some(2_500.0), fp16_tflops: 2_500.0, fp32_tflops: 1_250.0,
        fp8_tflops: Some(5_000.0), fp4_tflops: Some(15_000.0),
        devices_per_node: 4, scale_up_domain_size: 72,
        hbm_gib: 279.0, hbm_usable_gib: 276.0, inter_node_gb_per_sec: 100.0,
        host_gb_per_sec: 200.0, best_gemm_fraction: 0.729,
        kernels: BLACKWELL.on(calibration::GB300),
        tera_exponentials: ULTRA_EXPONENTIALS,
        ..B200
    };
}
