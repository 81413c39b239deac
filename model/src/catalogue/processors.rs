//! Processors of nodes: those of machines that were measured, and those that accelerators usually
//! stand beside.

use crate::ground::source::{ATLAS, KTRANSFORMERS, NVIDIA, Source};

/// All processors of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processors {
    /// Their name and number.
    pub title: &'static str,
    /// Nominal bandwidth of their memory: sockets x channels x transfers a second x 8 bytes, in
    /// GB/s.
    pub memory_gb_per_sec: f64,
    /// Cores, and threads of experts: one each.
    pub cores: u64,
    /// Rate of the experts' products, in TFLOPS.
    pub tflops: f64,
    /// Where the row comes from.
    pub source: Source,
}

/// Rate of a core without matrix units, in TFLOPS.
///
/// # Source
/// KTransformers V0.2 on two Xeon Gold 6454S: 82.94 prompt tokens/s of DeepSeek-V3 x 58 layers x 8
/// experts x 44.04M x 2 = 3.39 TFLOPS by 64 cores.
const CORE_TFLOPS: f64 = 0.053;

const fn row(
    title: &'static str,
    [sockets, channels, mega_transfers]: [u64; 3],
    cores: u64,
    tflops: f64,
    source: Source,
) -> Processors {
    let memory_gb_per_sec = (sockets * channels * mega_transfers * 8) as f64 * 1e-3;
    Processors { title, memory_gb_per_sec, cores, tflops, source }
}

/// One socket of the first machine of KTransformers; 54.21 prompt tokens/s.
pub const XEON_6454S: Processors = row("Xeon Gold 6454S", [1, 8, 4_800], 32, 2.22, KTRANSFORMERS);
/// Two Xeon Gold 6454S; 82.94 prompt tokens/s without AMX.
pub const TWO_XEON_6454S: Processors =
    row("2 x Xeon Gold 6454S", [2, 8, 4_800], 64, 3.39, KTRANSFORMERS);
/// Two Xeon Gold 6454S with AMX: 252.6 prompt tokens/s.
pub const TWO_XEON_6454S_AMX: Processors =
    row("2 x Xeon Gold 6454S, AMX", [2, 8, 4_800], 64, 10.3, KTRANSFORMERS);
/// MiniMax-M2.1 in FP8: 129 prompt tokens/s of 62 layers x 8 experts x 14.16M x 2.
pub const TWO_XEON_8488C: Processors =
    row("2 x Xeon Platinum 8488C", [2, 8, 4_800], 96, 1.81, KTRANSFORMERS);
/// MiniMax-M2.1 in FP8, as on the 8488C: 408 prompt tokens/s.
pub const TWO_EPYC_9355: Processors = row("2 x EPYC 9355", [2, 12, 5_600], 64, 5.73, KTRANSFORMERS);
/// Processors of DGX H100.
pub const TWO_XEON_8480C: Processors =
    row("2 x Xeon Platinum 8480C", [2, 8, 4_800], 112, 112.0 * CORE_TFLOPS, NVIDIA);
/// Processors of DGX B200.
pub const TWO_XEON_8570: Processors =
    row("2 x Xeon Platinum 8570", [2, 8, 5_600], 112, 112.0 * CORE_TFLOPS, NVIDIA);
/// Processors of DGX A100.
pub const TWO_EPYC_7742: Processors =
    row("2 x EPYC 7742", [2, 8, 3_200], 128, 128.0 * CORE_TFLOPS, NVIDIA);
/// Processors of GB200 NVL72: 512 GB/s each. 32 channels of 16 bits at 8,533 megatransfers a second
/// are 546, less ECC.
pub const TWO_GRACE: Processors = Processors {
    title: "2 x Grace",
    memory_gb_per_sec: 1_024.0,
    cores: 144,
    tflops: 144.0 * CORE_TFLOPS,
    source: NVIDIA,
};
/// Processors of Atlas 800T A2 and `CloudMatrix384`.
pub const FOUR_KUNPENG: Processors =
    row("4 x Kunpeng 920", [4, 8, 2_933], 192, 192.0 * CORE_TFLOPS, ATLAS);
/// Processors of a server with Atlas 300I Duo.
pub const TWO_KUNPENG: Processors =
    row("2 x Kunpeng 920", [2, 8, 2_933], 96, 96.0 * CORE_TFLOPS, ATLAS);

/// Every row, those that were measured first.
pub const HOSTS: &[Processors] = &[
    XEON_6454S,
    TWO_XEON_6454S,
    TWO_XEON_6454S_AMX,
    TWO_XEON_8488C,
    TWO_EPYC_9355,
    TWO_EPYC_7742,
    TWO_XEON_8480C,
    TWO_XEON_8570,
    TWO_GRACE,
    FOUR_KUNPENG,
    TWO_KUNPENG,
];
