//! Fits the levels of kernels to the half of the measured ones that isn't held out.
//!
//! Each kind has its own constants, so that they follow one another: matrix products, attention,
//! that of unequal heads, element-wise kernels, and layers of experts, which have all of these. A
//! family's constants are shared by its parts, levels are a part's own. The loss is the mean of
//! |ln(predicted / measured)|, each part and precision counting alike.

use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::catalogue::calibration::{AMPERE, BLACKWELL, HOPPER, Kernels, Levels, Overlap};
use model::ground::choice::Precision;

use crate::kernels::{self, Case, LARGE_US};
use crate::statistics;

/// A family: its parts, the first one first, and its constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The parts whose kernels were measured.
    pub parts: &'static [AcceleratorId],
    /// Its constants, with the first part's levels.
    pub kernels: Kernels,
    /// The levels of all parts, in their order.
    pub levels: Vec<Levels>,
    /// Measured kernels that they were fitted on, by kind.
    pub fitted_on: Vec<(&'static str, usize)>,
}

const PARTS: [&[AcceleratorId]; 3] = [
    &[AcceleratorId::A100Sxm80gb],
    &[AcceleratorId::H100Sxm80gb, AcceleratorId::H200Sxm141gb],
    &[AcceleratorId::B200, AcceleratorId::B300, AcceleratorId::Gb200, AcceleratorId::Gb300],
];

/// A level of a part.
type Level = fn(&mut Levels) -> &mut f64;

/// The levels by precision.
const PRECISIONS: [(Precision, Level); 4] = [
    (Precision::Bf16, |levels| &mut levels.gemm),
    (Precision::Fp8Tensorwise, |levels| &mut levels.fp8_gemm),
    (Precision::Fp8Blockwise, |levels| &mut levels.block_fp8_gemm),
    (Precision::Nvfp4, |levels| &mut levels.fp4_gemm),
];

/// A constant that the fit moves: of the family, or of each part.
enum Free {
    Family(fn(&mut Kernels) -> &mut f64),
    Part(fn(&mut Levels) -> &mut f64),
    /// Softmax level of each part, where heads of several widths were measured: one width alone
    /// doesn't separate it from the products.
    Softmax,
}

/// The kinds in their order, with the constants that are fitted to them.
const STEPS: [(&str, &[Free]); 7] = [
    (
        "gemm",
        &[
            Free::Part(|levels| &mut levels.gemm),
            Free::Part(|levels| &mut levels.fp8_gemm),
            Free::Part(|levels| &mut levels.block_fp8_gemm),
            Free::Part(|levels| &mut levels.fp4_gemm),
            Free::Family(|kernels| &mut kernels.matmul_bandwidth),
            Free::Family(|kernels| &mut kernels.half_depth_bytes),
        ],
    ),
    (
        "attention",
        &[
            Free::Part(|levels| &mut levels.attention_forward),
            Free::Softmax,
            Free::Family(|kernels| &mut kernels.attention_ramp_keys),
            Free::Family(|kernels| &mut kernels.attention_micros),
        ],
    ),
    ("cast", &[Free::Family(|kernels| &mut kernels.vector_bandwidth)]),
    ("convolution", &[Free::Family(|kernels| &mut kernels.convolution)]),
    ("scan", &[Free::Family(|kernels| &mut kernels.scan)]),
    ("mla", &[Free::Family(|kernels| &mut kernels.mla_attention)]),
    (
        "grouped",
        &[
            Free::Family(|kernels| &mut kernels.grouped_gemm),
            Free::Family(|kernels| &mut kernels.gather_bandwidth),
        ],
    ),
];

/// The best streams of element-wise kernels on A100, of which no table has any. Source: limulidae,
/// 43 % on A800 in PyTorch, whose fused kernels do better.
const AMPERE_VECTOR: f64 = 0.85;

/// Start of every fit, so that it doesn't depend on the one before: round numbers.
///
/// Attention's backward stays: no table has it.
fn start(kernels: Kernels) -> Kernels {
    let is_ampere = kernels.family == AMPERE.family;
    Kernels {
        gemm: 0.8,
        fp8_gemm: 0.7,
        block_fp8_gemm: 0.7,
        fp4_gemm: 0.5,
        matmul_bandwidth: 0.8,
        half_depth_bytes: 320.0,
        attention_forward: 0.8,
        // Heads of one width alone don't tell it from the products.
        softmax: if is_ampere { 1.0 } else { 0.6 },
        attention_ramp_keys: 400.0,
        attention_micros: 10.0,
        mla_attention: 0.8,
        vector_bandwidth: AMPERE_VECTOR,
        grouped_gemm: 1.0,
        gather_bandwidth: 0.5,
        convolution: 1.0,
        scan: 1.0,
        ..kernels
    }
}

/// The constants of all families.
#[must_use]
pub fn fit() -> Vec<Family> {
    let cases: Vec<Case> =
        kernels::cases().into_iter().filter(|case| !case.is_held_out()).collect();
    let families = [AMPERE, HOPPER, BLACKWELL].into_iter().zip(PARTS);
    families.map(|(kernels, parts)| family(start(kernels), parts, &cases)).collect()
}

fn family(kernels: Kernels, parts: &'static [AcceleratorId], cases: &[Case]) -> Family {
    let levels = parts.iter().map(|_| kernels.levels()).collect();
    let mut family = Family { parts, kernels, levels, fitted_on: vec![] };
    for (kind, free) in STEPS {
        let of = |part: &AcceleratorId| -> Vec<&Case> {
            let tells = |case: &&Case| kind != "grouped" || case.precision == Precision::Bf16;
            let of_part = cases.iter().filter(|case| case.kind == kind && case.part == *part);
            of_part.filter(tells).collect()
        };
        let measured: Vec<Vec<&Case>> = parts.iter().map(of).collect();
        let rows = measured.iter().map(Vec::len).sum();
        if rows > 0 {
            descend(&mut family, &measured, free);
            if kind == "gemm" {
                family.level(&measured);
            }
            family.fitted_on.push((kind, rows));
        }
    }
    family.kernels = family.kernels.on(family.levels[0]);
    let [rate, softmaxes] = backward(&family.kernels, parts[0].row());
    family.kernels.attention_backward = rate;
    family.kernels.softmaxes_backward = softmaxes;
    family
}

/// A backward of attention without a mask: tokens, and TFLOPS at heads of 128 and of 64.
struct Backward {
    tokens: f64,
    tflops: [f64; 2],
}

/// The backward of a family's first part, which no table has. On Hopper that of cuDNN (Shah et al.
/// 2024, figure 6); on Ampere and Blackwell FlashAttention's own figures, as far as they follow
/// the forward's.
fn published_backward(kernels: &Kernels) -> Backward {
    match kernels.softmax_overlap {
        Overlap::Sequential => Backward { tokens: 16_384.0, tflops: [172.0, 147.0] },
        Overlap::PingPong => Backward { tokens: 16_384.0, tflops: [516.0, 440.0] },
        Overlap::Pipelined => Backward { tokens: 8_192.0, tflops: [993.0, 785.0] },
    }
}

/// The rate of products as a share of the peak, and the softmaxes a score, that give a published
/// backward: heads of 128 have twice the products of heads of 64 and the same softmax.
fn backward(kernels: &Kernels, part: &Accelerator) -> [f64; 2] {
    let Backward { tokens, tflops } = published_backward(kernels);
    let power = match kernels.softmax_overlap {
        Overlap::Sequential => 1.0,
        Overlap::PingPong => 2.0,
        Overlap::Pipelined => 4.0,
    };
    // Five products of 2 x width operations a score.
    let flops = [1_280.0, 640.0];
    let ramp = 1.0 + kernels.attention_ramp_keys / tokens;
    let [wide, narrow] =
        [0, 1].map(|index| (flops[index] / (tflops[index] * 1e12) / ramp).powf(power));
    let product = (wide - narrow) / (power.exp2() - 1.0);
    let softmax = (narrow - product).powf(1.0 / power);
    let peak = part.bf16_tflops.unwrap_or(part.fp16_tflops) * 1e12;
    let rate = flops[1] / product.powf(1.0 / power) / peak;
    [rate, softmax * part.tera_exponentials * 1e12 * kernels.softmax]
}

/// Moves one constant at a time, up or down, with steps that shrink.
fn descend(family: &mut Family, measured: &[Vec<&Case>], free: &[Free]) {
    let mut loss = family.loss(measured);
    let mut step: f64 = 1.2;
    while step > 1.002 {
        let before = loss;
        for constant in free {
            let count = match constant {
                Free::Family(_) => 1,
                Free::Softmax if family.kernels.family == AMPERE.family => 0,
                Free::Part(_) | Free::Softmax => family.parts.len(),
            };
            for index in 0..count {
                for factor in [step, 1.0 / step] {
                    let mut next = family.clone();
                    *next.constant(constant, index) *= factor;
                    let tried = next.loss(measured);
                    if tried < loss {
                        (*family, loss) = (next, tried);
                    }
                }
            }
        }
        if before - loss < 1e-3 * before {
            step = step.sqrt();
        }
    }
}

impl Family {
    fn constant(&mut self, free: &Free, index: usize) -> &mut f64 {
        match free {
            Free::Family(of) => of(&mut self.kernels),
            Free::Part(of) => of(&mut self.levels[index]),
            Free::Softmax => &mut self.levels[index].softmax,
        }
    }

    /// Brings the median of large products to the measured one, of each part and precision: by the
    /// forms alone small products, which are many, have a say in levels.
    fn level(&mut self, measured: &[Vec<&Case>]) {
        for (index, cases) in measured.iter().enumerate() {
            for (precision, of) in PRECISIONS {
                // Products wait for memory as well, so that the first step is short.
                for _ in 0..4 {
                    let accelerator = self.accelerator(index);
                    let large = cases.iter().filter(|case| case.measured_us >= LARGE_US);
                    let off: Vec<f64> = large
                        .filter(|case| case.precision == precision)
                        .map(|case| case.micros(&accelerator) / case.measured_us)
                        .collect();
                    if !off.is_empty() {
                        *of(&mut self.levels[index]) *= statistics::percentile(&off, 0.5);
                    }
                }
            }
        }
    }

    /// A part with these constants.
    fn accelerator(&self, index: usize) -> Accelerator {
        let kernels = self.kernels.on(self.levels[index]);
        Accelerator { kernels, ..*self.parts[index].row() }
    }

    fn loss(&self, measured: &[Vec<&Case>]) -> f64 {
        let of = |(index, cases): (usize, &Vec<&Case>)| {
            let accelerator = self.accelerator(index);
            let off = |case: &&Case| (case.micros(&accelerator) / case.measured_us).ln().abs();
            let all: f64 = cases.iter().map(off).sum();
            all / cases.len().max(1) as f64
        };
        measured.iter().enumerate().map(of).sum()
    }
}
