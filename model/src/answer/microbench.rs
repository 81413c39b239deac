//! Single kernels in a microbenchmark: what a table of measured kernels is compared with.
//!
//! The same functions as an estimate's, with the levels of microbenchmarks as they stand in
//! [`crate::catalogue::calibration`]: without a framework, a host and the factor of a step; or with
//! the rates of a plan's steps, for what a profile of them measures.

use crate::catalogue::accelerator::Accelerator;
use crate::device::kernel::{Attention, Block, Cost, Device, Scan};
use crate::ground::choice::Precision;
use crate::ground::tally::Untallied;
use crate::ground::units::Seconds;
use crate::layer::mixer::{DELTA_CHUNK, MAMBA_CHUNK, delta_passes, mamba_passes};
use crate::training::plan::Plan;

/// The kernels of an accelerator at a precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    device: Device,
}

/// The attention of a table or a profile: causal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CausalAttention {
    /// Sequences.
    pub sequences: f64,
    /// Tokens of each.
    pub tokens: f64,
    /// Query heads.
    pub heads: f64,
    /// Width of a head's query and key.
    pub qk_dim: f64,
    /// Width of a head's value.
    pub v_dim: f64,
}

/// The rule by which a scan's state is carried on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScanRule {
    /// Gated delta net: one decay for each head.
    GatedDelta,
    /// Kimi Delta Attention: one for each channel of its keys.
    KimiDelta,
    /// Mamba-2, with this many groups of heads that share what they write and read.
    Mamba {
        /// Groups of all heads.
        groups: f64,
    },
}

/// The chunked scan of a table: the forward alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChunkedScan {
    /// Update rule of the state between chunks.
    pub rule: ScanRule,
    /// Sequences.
    pub sequences: f64,
    /// Tokens of each.
    pub tokens: f64,
    /// Heads with a state.
    pub heads: f64,
    /// Widths of a head's keys and values.
    pub widths: [f64; 2],
}

impl Burst {
    /// The kernels of this accelerator; `None` if it has no peak at this precision.
    #[must_use]
    pub fn new(accelerator: &Accelerator, precision: Precision) -> Option<Self> {
        let tflops = match precision {
            Precision::Bf16 => accelerator.bf16_tflops,
            Precision::Fp16 => Some(accelerator.fp16_tflops),
            Precision::Fp32 => Some(accelerator.fp32_tflops),
            Precision::Fp8Delayed
            | Precision::Fp8Tensorwise
            | Precision::Fp8Blockwise
            | Precision::Mxfp8 => accelerator.fp8_tflops,
            Precision::Nvfp4 => accelerator.fp4_tflops,
        }?;
        Some(Self { device: Device::of(accelerator, precision, tflops * 1e12) })
    }

    /// The kernels of a plan's steps.
    #[must_use]
    pub const fn in_step(plan: &Plan) -> Self {
        Self { device: plan.deployment.device }
    }

    /// y [m, n] = x [m, k] w [k, n] of operands that are there, y in 16 bits.
    #[must_use]
    pub fn product(&self, [m, k, n]: [f64; 3]) -> Seconds {
        seconds(&self.device.bare_product([m, k, n]))
    }

    /// Time of `count` experts' products with `m` rows each, as one kernel, see [`Self::product`].
    #[must_use]
    pub fn grouped_product(&self, [m, k, n]: [f64; 3], count: f64) -> Seconds {
        seconds(&self.device.bare_grouped_product([m, k, n], count))
    }

    /// Flash attention, causal, forward.
    #[must_use]
    pub fn attention(&self, attention: &CausalAttention) -> Seconds {
        seconds(&self.flash_attention(attention).forward)
    }

    /// Flash attention, causal, backward.
    #[must_use]
    pub fn attention_backward(&self, attention: &CausalAttention) -> Seconds {
        let block = self.flash_attention(attention);
        seconds(&(block.input_grad + block.weight_grad))
    }

    fn flash_attention(&self, attention: &CausalAttention) -> Block<Untallied> {
        let CausalAttention { sequences, tokens, heads, qk_dim, v_dim } = *attention;
        self.device.flash_attention(Attention {
            heads,
            rows: sequences * tokens,
            keys: tokens / 2.0,
            widths: [qk_dim, v_dim],
            kernels: 1.0,
        })
    }

    /// A chunked scan, forward.
    #[must_use]
    pub fn scan(&self, scan: &ChunkedScan) -> Seconds {
        let ChunkedScan { rule, sequences, tokens, heads, widths } = *scan;
        let (chunk, [forward, _]) = match rule {
            ScanRule::GatedDelta => (DELTA_CHUNK, delta_passes(widths, 1.0)),
            ScanRule::KimiDelta => (DELTA_CHUNK, delta_passes(widths, widths[0])),
            ScanRule::Mamba { groups } => (MAMBA_CHUNK, mamba_passes(widths, groups / heads)),
        };
        let chunks = heads * sequences * libm::ceil(tokens / chunk);
        let scan = Scan { chunks, chains: heads * sequences, chunk, widths };
        seconds(&self.device.scan(&scan, &forward))
    }

    /// A causal convolution over time that moves this many bytes.
    #[must_use]
    pub fn convolution(&self, bytes: f64) -> Seconds {
        seconds(&self.device.convolution(bytes))
    }

    /// Element-wise kernels that move this many bytes.
    #[must_use]
    pub fn elementwise(&self, bytes: f64, kernels: f64) -> Seconds {
        seconds(&self.device.elementwise(bytes, kernels))
    }

    /// Copies of rows by an index that move this many bytes.
    #[must_use]
    pub fn gather(&self, bytes: f64, kernels: f64) -> Seconds {
        seconds(&self.device.gather(bytes, kernels))
    }
}

fn seconds(cost: &Cost<Untallied>) -> Seconds {
    Seconds::new(cost.seconds())
}
