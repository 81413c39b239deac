//! What one operator costs on one device: a roofline whose ceiling depends on the shape.
//!
//! Matrix products and attention run on the cube unit (tensor cores), everything else on the vector
//! unit and is bound by memory bandwidth. Computing and moving overlap, but not to the end: matmuls
//! take the fourth root of the sum of their times' fourth powers, 19 % more than the longer one
//! where both are equal.
//! Source: Williams et al. 2009 for the roofline; the power by measured matmuls (see
//! `calibration`).

mod attention;
mod scan;

use core::ops::{Add, AddAssign, Mul};

use crate::catalogue::accelerator::Accelerator;
use crate::catalogue::calibration::{ASCEND, BLACKWELL, Host, Kernels, Overlap};
use crate::design::Design;
use crate::ground::choice::{Framework, Precision};
use crate::ground::tally::{Tally, Untallied};

pub(crate) use attention::{Attention, Cached};
pub(crate) use scan::{Scan, ScanPass};

/// Cost of some operators on one device. Times are in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost<T: Tally = Untallied> {
    /// Time on the cube unit.
    pub(crate) tensor: f64,
    /// Time on the vector unit.
    pub(crate) vector: f64,
    /// FLOPs of matrix products and attention that are executed.
    pub(crate) flops: f64,
    /// Kernels launched.
    pub(crate) launches: f64,
    /// Record of what the kernels move and compute, where the caller wants one.
    pub(crate) tally: T,
}

impl<T: Tally> Cost<T> {
    pub(crate) const ZERO: Self =
        Self { tensor: 0.0, vector: 0.0, flops: 0.0, launches: 0.0, tally: T::NOTHING };

    /// Device time.
    pub(crate) fn seconds(&self) -> f64 {
        self.tensor + self.vector
    }

    /// The cost with this number of operations of the vector unit added to the tally.
    pub(crate) fn doing(self, operations: f64) -> Self {
        Self { tally: self.tally.doing(operations), ..self }
    }

    /// The cost with this number of bytes of the cube's operands and results added to the tally.
    pub(crate) fn moving(self, bytes: f64) -> Self {
        Self { tally: self.tally.moving(bytes), ..self }
    }
}

/// Adds and scales a struct field by field.
macro_rules! termwise {
    ($Type:ident { $($field:ident),+ }) => {
        impl<T: Tally> Add for $Type<T> {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self { $($field: self.$field + other.$field),+ }
            }
        }

        impl<T: Tally> AddAssign for $Type<T> {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl<T: Tally> Mul<f64> for $Type<T> {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self { $($field: self.$field * factor),+ }
            }
        }
    };
}

termwise!(Cost { tensor, vector, flops, launches, tally });
termwise!(Block { forward, input_grad, weight_grad });

/// Cost of a block's three passes: forward, gradient of its input, gradient of its weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Block<T: Tally = Untallied> {
    pub(crate) forward: Cost<T>,
    pub(crate) input_grad: Cost<T>,
    pub(crate) weight_grad: Cost<T>,
}

/// The units of one device, at the run's precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Device {
    /// FLOP/s that a large, aligned matmul reaches.
    gemm: f64,
    /// Rate of a grouped matmul over it.
    grouped_gemm: f64,
    /// FLOP/s that a large, aligned matmul reaches in 16 bits, whatever the run's precision.
    wide_gemm: f64,
    /// FLOP/s of attention, forward and backward.
    attention_forward: f64,
    attention_backward: f64,
    /// Rate of attention with keys wider than values over that.
    mla_attention: f64,
    /// Softmaxes of a score a second, and how much of them runs beside the products.
    softmaxes: f64,
    softmax_overlap: Overlap,
    /// Exponentials a score that flash attention's backward waits for.
    softmaxes_backward: f64,
    /// Keys that each block of queries costs more than it meets, and queries of a block.
    attention_ramp_keys: f64,
    attention_block: f64,
    /// Time of attention beyond its work.
    attention_launch: f64,
    /// Bytes/s that matmuls draw from memory.
    stream: f64,
    /// Bytes/s that element-wise kernels reach.
    pub(crate) vector_bytes: f64,
    /// Rates of causal convolutions and of chunked scans, over those of what they are made of.
    convolution: f64,
    scan: f64,
    /// Bytes/s that copies of rows by an index reach.
    gather_bytes: f64,
    cores: f64,
    /// Share of a core's rate that tiles reach, by size.
    tile_rates: [f64; 3],
    /// Share of the rate that is left where rows don't start at 16 bytes.
    unaligned: f64,
    /// Depth at which a tile's loading and draining take as long as its product.
    half_depth: f64,
    operand_bytes: f64,
    /// Traffic of making one narrow element, and kernels; none in 16 bits.
    quantised: Option<[f64; 2]>,
    /// Time between two kernels on the device.
    launch: f64,
    /// Are an expert's matrix products one kernel for all experts?
    grouped: bool,
    /// Do grouped products add into the accumulated gradients themselves?
    fused_accumulation: bool,
    /// Bytes of one accumulated gradient.
    gradient_bytes: f64,
    /// Host time of each further expert of a grouped product, in launches.
    launches_per_expert: f64,
    /// Bytes of a weight over those of an operand, of all linear layers and of experts' alone.
    weights: [f64; 2],
    /// Rates of attention over a KV cache.
    decode: DecodeRates,
    /// Kernels that element-wise work of one operator takes, at most: in serving it is fused.
    most_kernels: f64,
    /// Are edges shorter than a tile padded to one?
    pads_edges: bool,
}

/// Rates of attention over a KV cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DecodeRates {
    /// FLOP/s of its products.
    pub(crate) attention: f64,
    /// Bytes/s at which it reads the cache.
    pub(crate) cache_bytes: f64,
}

/// Share of the core's rate that tiles of a matmul reach, 128 x 256, 128 x 128 and 64 x 64: small
/// ones reload operands more often than the caches can deliver.
const TILE_RATES: [f64; 3] = [1.0, 0.92, 0.6];

/// Edge of the smallest of these tiles.
const SMALLEST_TILE: f64 = 64.0;

/// The last of these with 4-bit operands, whose smallest tile of tensor cores is 128 rows high:
/// half as much, by measured products with few tiles.
const SMALL_TILE_RATE_4_BIT: f64 = 0.3;

/// Share of the rate that tiles cut along the depth keep: partial sums meet in memory.
///
/// Source: Osama et al. 2023 (Stream-K) for the method; measured matmuls of all three families for
/// the share, which is between whole waves and none lost.
const STREAM_RATE: f64 = 0.85;

/// Share of the rate that tiles of 16 x 128 reach, which kernels for few rows have in serving: half
/// of a tensor core's rows are idle.
const FEW_ROWS_RATE: f64 = 0.5;

/// Time between two kernels on the device: msmodeling's static cost of a vector kernel. Measured
/// matmuls leave 1.8 to 1.9 us on Hopper, Blackwell and A100.
const LAUNCH_SECONDS: f64 = 2e-6;

/// Share of the core's rate that tiles reach at a precision.
fn tile_rates(precision: Precision) -> [f64; 3] {
    let [large, square, small] = TILE_RATES;
    let is_narrow = precision == Precision::Nvfp4;
    [large, square, if is_narrow { SMALL_TILE_RATE_4_BIT } else { small }]
}

/// Share of the rate that a product keeps whose rows don't start at 16 bytes, so that tensor cores
/// can't load them: that of CUDA cores, whose peak the data sheets have, a sixteenth on A100.
///
/// BLOOM's heads of 108 make a step 30 to 42 % longer. On Ascend, which copies rows into fractals,
/// none is published.
fn unaligned_rate(row: &Accelerator, peak: f64) -> f64 {
    let has_cuda_cores = row.kernels.family != ASCEND.family;
    let vector = row.vector_tflops.filter(|_| has_cuda_cores);
    vector.map_or(UNALIGNED_RATE, |tflops| tflops * 1e12 / peak)
}

/// Share of the rate that a product with unaligned rows keeps where no figure is known.
const UNALIGNED_RATE: f64 = 0.15;

/// The level of matrix products in a number format.
pub(crate) const fn level(kernels: &Kernels, precision: Precision) -> f64 {
    match precision {
        Precision::Bf16 | Precision::Fp16 | Precision::Fp32 => kernels.gemm,
        Precision::Fp8Delayed | Precision::Fp8Tensorwise => kernels.fp8_gemm,
        Precision::Fp8Blockwise | Precision::Mxfp8 => kernels.block_fp8_gemm,
        Precision::Nvfp4 => kernels.fp4_gemm,
    }
}

impl Device {
    /// The kernels of a design's run on an accelerator whose matrix products have this peak, under
    /// a framework's host.
    pub(crate) fn new(design: &Design, row: &Accelerator, host: &Host, peak: f64) -> Self {
        let kernels = Self::of(row, design.training.precision, peak);
        let ideal = design.kernel.framework == Framework::Ideal;
        Self {
            launch: if ideal { 0.0 } else { LAUNCH_SECONDS },
            attention_launch: if ideal { 0.0 } else { kernels.attention_launch },
            grouped: design.kernel.moe_grouped_gemm,
            // MindSpeed has a switch for it, Transformer Engine always does.
            fused_accumulation: design.kernel.gmm_add
                || design.kernel.framework == Framework::Megatron,
            gradient_bytes: design.memory.gradient_dtype.bytes(),
            launches_per_expert: host.launches_per_expert,
            ..kernels
        }
    }

    /// The kernels of an accelerator at this precision, whose matrix products have this peak, as
    /// they are without a plan.
    pub(crate) fn of(row: &Accelerator, precision: Precision, peak: f64) -> Self {
        let peak = peak * row.sustained_clock;
        let kernels = &row.kernels;
        let gemm = level(kernels, precision);
        // Attention stays in 16 bits when matrix products are narrower.
        let wide_peak = row.bf16_tflops.unwrap_or(row.fp16_tflops) * 1e12 * row.sustained_clock;
        let attention_peak = peak.min(wide_peak);
        let hbm = row.hbm_gb_per_sec * 1e9;
        Self {
            gemm: peak * gemm,
            grouped_gemm: kernels.grouped_gemm,
            wide_gemm: attention_peak * kernels.gemm,
            attention_forward: attention_peak * kernels.attention_forward,
            attention_backward: attention_peak * kernels.attention_backward,
            mla_attention: kernels.mla_attention,
            softmaxes: row.tera_exponentials * 1e12 * kernels.softmax,
            softmax_overlap: kernels.softmax_overlap,
            softmaxes_backward: kernels.softmaxes_backward,
            attention_ramp_keys: kernels.attention_ramp_keys,
            attention_block: kernels.attention_block,
            attention_launch: kernels.attention_micros * 1e-6,
            stream: hbm * kernels.matmul_bandwidth,
            vector_bytes: hbm * kernels.vector_bandwidth,
            convolution: kernels.convolution,
            scan: kernels.scan,
            gather_bytes: hbm * kernels.gather_bandwidth,
            cores: f64::from(row.num_cores),
            tile_rates: tile_rates(precision),
            unaligned: unaligned_rate(row, peak / row.sustained_clock),
            half_depth: kernels.half_depth_bytes / precision.operand_bytes(),
            operand_bytes: precision.operand_bytes(),
            quantised: quantised(precision, kernels.family == BLACKWELL.family),
            launch: LAUNCH_SECONDS,
            grouped: true,
            fused_accumulation: true,
            gradient_bytes: 4.0,
            launches_per_expert: 0.0,
            weights: [1.0; 2],
            decode: DecodeRates {
                attention: attention_peak * kernels.attention_forward,
                cache_bytes: hbm * kernels.matmul_bandwidth,
            },
            most_kernels: f64::INFINITY,
            pads_edges: false,
        }
    }

    /// The device in serving: with this time between two kernels of a graph, bytes of a weight over
    /// those of an operand, and rates over a cache.
    pub(crate) fn serving(self, launch: f64, weights: f64, decode: DecodeRates) -> Self {
        let attention_launch = (self.attention_launch - LAUNCH_SECONDS).max(0.0) + launch;
        Self { launch, attention_launch, weights: [weights; 2], decode, most_kernels: 1.0, ..self }
    }

    /// The device for adapters of low rank: all operands in 16 bits, and edges narrower than the
    /// smallest tile lose only what the tile has more.
    pub(crate) fn for_adapters(&self) -> Self {
        let half_depth = self.half_depth * self.operand_bytes / 2.0;
        let (gemm, pads_edges) = (self.wide_gemm, true);
        Self { gemm, half_depth, operand_bytes: 2.0, quantised: None, pads_edges, ..*self }
    }

    /// The device, in 16-bit operands, with experts in the format of `other`.
    pub(crate) fn with_experts(self, other: &Self) -> Self {
        let bytes = other.weights[1] * other.operand_bytes / self.operand_bytes;
        let rate = self.grouped_gemm * (other.gemm / self.gemm);
        Self { weights: [self.weights[0], bytes], grouped_gemm: rate, ..self }
    }

    /// Share of the rate that a shape reaches: tiles, waves over the cores, depth.
    ///
    /// `count` equal products share the waves.
    fn shape_efficiency(&self, m: f64, k: f64, n: f64, count: f64) -> f64 {
        let tiles = |across: f64, along: f64| ceil(m / across) * ceil(n / along) * count;
        let (long, wide) = (tiles(256.0, 128.0), tiles(128.0, 256.0));
        let choices = [
            (if long < wide { long } else { wide }, 128.0 * 256.0),
            (tiles(128.0, 128.0), 128.0 * 128.0),
            (tiles(64.0, 64.0), 64.0 * 64.0),
        ];
        let mut best = 0.0_f64;
        for ((tiles, area), rate) in choices.into_iter().zip(self.tile_rates) {
            // Whole waves, or tiles cut along the depth so that every core works to the end.
            let whole = ceil(tiles / self.cores) * self.cores;
            let streamed = tiles.max(self.cores) * (1.0 / STREAM_RATE);
            let taken = if whole < streamed { whole } else { streamed };
            let share = rate / (area * taken);
            if share > best {
                best = share;
            }
        }
        if self.most_kernels < 2.0 {
            // Kernels for few rows keep every core busy, whatever the tiles.
            let taken = tiles(16.0, 128.0).max(self.cores);
            best = best.max(FEW_ROWS_RATE / (16.0 * 128.0 * taken));
        }
        best * (m * n * count) * (k / (k + self.half_depth))
    }

    /// Share of the rate that an edge of this length leaves: fractals of 16, lines of 128 elements.
    fn aligned(&self, length: f64) -> f64 {
        if self.pads_edges && length < SMALLEST_TILE {
            return 1.0;
        }
        let fractals = ceil(length / 16.0) * 16.0;
        let multiple = |of: f64| length - floor(length / of) * of < 0.5;
        let lines = if multiple(128.0) {
            1.0
        } else if multiple(64.0) {
            0.97
        } else if multiple(16.0) {
            0.9
        } else if multiple(8.0) {
            0.8
        } else {
            self.unaligned
        };
        length / fractals * lines
    }

    /// `count` equal products of [m, k] and [k, n]: one kernel, at this share of the rate and with
    /// an output that costs this many bytes an element.
    fn product<T: Tally>(
        &self,
        [m, k, n]: [f64; 3],
        count: f64,
        loading: f64,
        output_bytes: f64,
    ) -> Cost<T> {
        if m * count <= 0.0 {
            return Cost::ZERO;
        }
        // With fewer rows than experts, some experts have one row and the others none.
        let (m, count) = if m < 1.0 { (1.0, (m * count).max(1.0)) } else { (m, count.max(1.0)) };
        let flops = 2.0 * m * k * n * count;
        let compute = flops / (self.gemm * self.shape_efficiency(m, k, n, count) * loading);
        let bytes =
            count * ((m * k + k * n * self.weights[0]) * self.operand_bytes + m * n * output_bytes);
        let tensor = joined(compute, bytes / self.stream) + self.launch;
        let tally = T::product([m, k, n], count).moving(bytes);
        Cost { tensor, vector: 0.0, flops, launches: 1.0, tally }
    }

    /// A linear layer: y [m, n] = x [m, k] w [k, n]; backward dx = dy w', dw = x' dy.
    ///
    /// Narrower formats than 16 bits quantise x forward and dy backward first.
    pub(crate) fn linear<T: Tally>(&self, m: f64, k: f64, n: f64) -> Block<T> {
        self.linears([m, k, n], 1.0, 1.0, true)
    }

    fn forward_product<T: Tally>(&self, shape: [f64; 3], count: f64, loading: f64) -> Cost<T> {
        let [m, k, _] = shape;
        self.product(shape, count, loading, 2.0) + self.quantise(m * k * count)
    }

    /// One product of operands that are there, its output in 16 bits.
    pub(crate) fn bare_product<T: Tally>(&self, [m, k, n]: [f64; 3]) -> Cost<T> {
        self.product([m, k, n], 1.0, self.aligned(k) * self.aligned(n), 2.0)
    }

    /// Products of `count` experts with m rows each, as one kernel, of operands that are there.
    pub(crate) fn bare_grouped_product<T: Tally>(
        &self,
        [m, k, n]: [f64; 3],
        count: f64,
    ) -> Cost<T> {
        let loading = self.aligned(k) * self.aligned(n) * self.grouped_gemm;
        self.product([m, k, n], count, loading, 2.0)
    }

    /// `count` linear layers, m rows each, at this share of the rate. The widths k and n are
    /// contiguous in memory.
    ///
    /// dw is added into the accumulated gradients: by the matmul itself, which reads and writes
    /// them, or by a kernel of its own, which reads the product as well.
    fn linears<T: Tally>(
        &self,
        [m, k, n]: [f64; 3],
        count: f64,
        rate: f64,
        fused: bool,
    ) -> Block<T> {
        let loading = self.aligned(k) * self.aligned(n) * rate;
        let product = |shape, output_bytes| self.product(shape, count, loading, output_bytes);
        let accumulate = 2.0 * self.gradient_bytes;
        let weight_grad = if fused {
            product([k, m, n], accumulate)
        } else {
            let elements = k * n * count;
            let add = self.elementwise(elements * (accumulate + 2.0), 1.0).doing(elements);
            product([k, m, n], 2.0) + add
        };
        Block {
            forward: self.forward_product([m, k, n], count, loading),
            input_grad: product([m, n, k], 2.0) + self.quantise(m * n * count),
            weight_grad,
        }
    }

    /// Making narrower elements of 16-bit ones: rows for this product, columns for the weight's
    /// gradient. The kernel in front writes 16 bits.
    ///
    /// With the scale of steps before (delayed) one kernel reads them, writes rows and, but for
    /// Blackwell, whose tensor cores take 8-bit operands either way round, columns. A scale of the
    /// tensor itself takes a kernel for the largest element first; what the second one reads is
    /// taken to be in the cache still. Scales of blocks are found by the kernel that converts,
    /// rows' and columns' apart; on Blackwell another one brings them into the tensor cores'
    /// layout. 4-bit elements pass a Hadamard transform first.
    ///
    /// Source: Transformer Engine, `recipe` and `is_non_tn_fp8_gemm_supported`.
    fn quantise<T: Tally>(&self, elements: f64) -> Cost<T> {
        match self.quantised {
            None => Cost::ZERO,
            // The largest size of a block, and a multiplication.
            Some([bytes, kernels]) => {
                self.elementwise(elements * bytes, kernels).doing(2.0 * elements)
            }
        }
    }

    /// Linear layers of `count` experts with `m` rows each, as one kernel or as one kernel each.
    pub(crate) fn grouped_linear<T: Tally>(&self, m: f64, k: f64, n: f64, count: f64) -> Block<T> {
        let [all, experts] = self.weights;
        if (all - experts).abs() > 0.0 {
            let own = Self { weights: [experts; 2], ..*self };
            return own.grouped_linear(m, k, n, count);
        }
        if self.grouped {
            let shape = [m, k, n];
            let mut block: Block<T> =
                self.linears(shape, count, self.grouped_gemm, self.fused_accumulation);
            for pass in [&mut block.forward, &mut block.input_grad, &mut block.weight_grad] {
                pass.launches *= 1.0 + (count - 1.0) * self.launches_per_expert;
            }
            return block;
        }
        // One by one they are no faster than at once.
        self.linears([m, k, n], 1.0, self.grouped_gemm.min(1.0), true) * count
    }

    /// Copies of rows by an index that move this many bytes in this many kernels.
    pub(crate) fn gather<T: Tally>(&self, bytes: f64, kernels: f64) -> Cost<T> {
        self.passing(bytes, self.gather_bytes, kernels)
    }

    /// A causal convolution over time that moves this many bytes.
    pub(crate) fn convolution<T: Tally>(&self, bytes: f64) -> Cost<T> {
        self.passing(bytes, self.vector_bytes * self.convolution, 1.0)
    }

    /// Element-wise work that moves this many bytes in this many kernels.
    pub(crate) fn elementwise<T: Tally>(&self, bytes: f64, kernels: f64) -> Cost<T> {
        self.passing(bytes, self.vector_bytes, kernels)
    }

    /// Kernels of the vector unit that move this many bytes at this rate.
    fn passing<T: Tally>(&self, bytes: f64, rate: f64, kernels: f64) -> Cost<T> {
        let kernels = kernels.min(self.most_kernels);
        Cost {
            tensor: 0.0,
            vector: bytes / rate + kernels * self.launch,
            flops: 0.0,
            launches: kernels,
            tally: T::passing(bytes),
        }
    }
}

/// Traffic of making one narrow element of a 16-bit one, both ways round, and its kernels; none in
/// 16 bits. See [`Device::quantise`].
fn quantised(precision: Precision, is_blackwell: bool) -> Option<[f64; 2]> {
    // Rows alone where tensor cores take 8-bit operands either way round.
    let written = if is_blackwell { 1.0 } else { 1.0 + 1.0 };
    match precision {
        Precision::Bf16 | Precision::Fp16 | Precision::Fp32 => None,
        Precision::Fp8Delayed => Some([2.0 + written, 1.0]),
        Precision::Fp8Tensorwise => Some([2.0 + written, 2.0]),
        Precision::Fp8Blockwise => Some([2.0 + 1.0 + 1.0 + 2.0 * 4.0 / 128.0, 1.0]),
        Precision::Mxfp8 => Some([2.0 + 1.0 + 1.0 + 2.0 / 32.0, 2.0]),
        Precision::Nvfp4 => Some([2.0 + 4.0 + 1.125, 1.0]),
    }
}

/// Time of two things that run beside each other, but not to the end.
fn joined(one: f64, other: f64) -> f64 {
    let (one, other) = (one * one, other * other);
    libm::sqrt(libm::sqrt(one * one + other * other))
}

/// From here on every `f64` is whole, so that a count below it, added, is rounded to one.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The nearest whole number of a count below 2^51.
fn nearest(count: f64) -> f64 {
    (count + WHOLE) - WHOLE
}

/// The next whole number of a count: the same as `libm::ceil` below 2^51, in fewer instructions.
fn ceil(count: f64) -> f64 {
    let nearest = nearest(count);
    if nearest < count { nearest + 1.0 } else { nearest }
}

/// The whole number below a count, as `ceil` has the next.
fn floor(count: f64) -> f64 {
    let nearest = nearest(count);
    if nearest > count { nearest - 1.0 } else { nearest }
}
