//! Attention: as one kernel, or with its score matrix in memory.

use super::{Block, Cost, Device, ceil, joined};
use crate::catalogue::calibration::Overlap;
use crate::device::rows::Rows;
use crate::ground::tally::Tally;

/// The attention of a device's heads: `rows` queries of each head meet `keys` keys on average, in
/// so many kernels one after the other that share the keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attention {
    pub(crate) heads: f64,
    pub(crate) rows: f64,
    pub(crate) keys: f64,
    /// Widths of queries and keys, and of values.
    pub(crate) widths: [f64; 2],
    /// Kernels that share the keys: the steps of a ring of context parallelism.
    pub(crate) kernels: f64,
}

/// Attention over cached keys: heads of a rank, keys of a query in the mean, widths of queries and
/// keys and of values, and bytes of the cache that are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cached {
    pub(crate) heads: f64,
    pub(crate) keys: f64,
    pub(crate) widths: [f64; 2],
    pub(crate) read: f64,
}

impl Overlap {
    /// Time of products and softmax together.
    fn joined(self, products: f64, softmax: f64) -> f64 {
        match self {
            Self::Sequential => products + softmax,
            Self::PingPong => libm::sqrt(products * products + softmax * softmax),
            Self::Pipelined => joined(products, softmax),
        }
    }
}

impl Device {
    /// Flash attention.
    ///
    /// Forward two products, of scores (as deep as queries are wide) and of values. Backward five:
    /// three are as deep or as wide as queries, since scores are computed again, two as values;
    /// where both are as wide, 2.5 times the forward. The softmax takes one exponential a score
    /// forward; backward it is computed again, and its gradient waits too
    /// ([`Kernels::softmaxes_backward`]). How much of it runs beside the products is the family's
    /// ([`Kernels::softmax_overlap`]). Each block of queries costs some keys more than it meets,
    /// and blocks run in waves over the cores:
    ///
    /// `join(products / rate, scores x softmaxes / exponentials) x (1 + ramp / keys) x waves + t0`
    ///
    /// Source: FlashAttention-2 and -3; measured causal forwards of 256 to 16,384 tokens (see
    /// `calibration`), which leave 4 to 12 %. The backward has the same form by analogy; on Hopper
    /// its rate is that of cuDNN, 516 TFLOPS at 16,384 tokens and heads of 128 and 440 at heads of
    /// 64, without a mask (Shah et al. 2024, figure 6).
    ///
    /// [`Kernels::softmaxes_backward`]: crate::catalogue::calibration::Kernels::softmaxes_backward
    /// [`Kernels::softmax_overlap`]: crate::catalogue::calibration::Kernels::softmax_overlap
    pub(crate) fn flash_attention<T: Tally>(&self, attention: Attention) -> Block<T> {
        let Attention { heads, rows, keys, widths: [qk, v], kernels } = attention;
        let scores = heads * rows * keys;
        let flops = |qk_times: f64, v_times: f64| 2.0 * scores * (qk * qk_times + v * v_times);
        let unequal = if qk > v { self.mla_attention } else { 1.0 };
        let losses = self.attention_losses(&attention);
        let launches = self.attention_launch + (kernels - 1.0) * self.launch;
        let pass = |flops: f64, rate: f64, softmaxes: f64, tally: T| {
            let (products, softmax) =
                (flops / (rate * unequal), scores * softmaxes / self.softmaxes);
            Cost {
                tensor: self.softmax_overlap.joined(products, softmax) * losses + launches,
                vector: 0.0,
                flops,
                launches: 1.0,
                tally,
            }
        };
        let products = |qk_times: f64, v_times: f64| {
            T::product([rows, qk, keys], heads * qk_times)
                + T::product([rows, keys, v], heads * v_times)
        };
        Block {
            forward: pass(flops(1.0, 1.0), self.attention_forward, 1.0, products(1.0, 1.0)),
            input_grad: pass(
                flops(3.0, 2.0),
                self.attention_backward,
                self.softmaxes_backward,
                products(3.0, 2.0),
            ),
            weight_grad: Cost::ZERO,
        }
    }

    /// Attention over what is cached and what comes, forward alone.
    ///
    /// Of a prompt as [`Self::flash_attention`]; of a step of decode, whose kernels split the keys
    /// over the cores and are bound by the cache that they read or, with latents, by their
    /// products: `t0 + join(products / rate, bytes / bandwidth)`.
    pub(crate) fn cached_attention<T: Tally>(&self, rows: &Rows, cached: Cached) -> Block<T> {
        let Cached { heads, keys, widths, read } = cached;
        let [qk, v] = widths;
        let tokens = rows.group;
        let reading = read / self.decode.cache_bytes;
        let forward = if rows.is_decode() {
            let flops = 2.0 * heads * tokens * keys * (qk + v);
            Cost {
                tensor: joined(flops / self.decode.attention, reading) + self.attention_launch,
                vector: 0.0,
                flops,
                launches: 1.0,
                tally: T::product([tokens, qk, keys], heads) + T::product([tokens, keys, v], heads),
            }
        } else {
            let work = Attention { heads, rows: tokens, keys, widths, kernels: 1.0 };
            let cost: Cost<T> = self.flash_attention(work).forward;
            Cost { tensor: joined(cost.tensor, reading), ..cost }
        };
        let moved = read + tokens * heads * (qk + v) * 2.0;
        Block { forward: forward.moving(moved), ..Block::default() }
    }

    /// Scores of an indexer over cached keys of 8 bits with a scale each, and the choice of the
    /// best.
    pub(crate) fn cached_choice<T: Tally>(
        &self,
        rows: &Rows,
        [heads, width]: [f64; 2],
        keys: f64,
        kept: f64,
    ) -> Cost<T> {
        let pairs = rows.group * keys;
        let flops = 2.0 * heads * width * pairs;
        let read = rows.sequences as f64 * keys * (width + 4.0);
        let scores = Cost {
            tensor: joined(flops / self.decode.attention, read / self.decode.cache_bytes)
                + self.launch,
            vector: 0.0,
            flops,
            launches: 1.0,
            tally: T::product([rows.group, width, keys], heads).moving(read),
        };
        scores + self.elementwise(3.0 * 4.0 * pairs * kept, 3.0).doing(3.0 * pairs * kept)
    }

    /// Time of attention over its work at the cores' full rate: the ramp of each block of queries,
    /// and blocks that leave cores idle in the last wave.
    fn attention_losses(&self, attention: &Attention) -> f64 {
        let Attention { heads, rows, keys, kernels, .. } = *attention;
        let ramp = 1.0 + self.attention_ramp_keys * kernels / keys;
        if self.attention_block <= 0.0 {
            return ramp;
        }
        let blocks = heads * ceil(rows / self.attention_block);
        ramp * ceil(blocks / self.cores) * self.cores / blocks
    }

    /// Attention with its score matrix in memory, all `keys` of the sequence computed.
    ///
    /// Two products forward, four backward; the softmax, mask and dropout pass over the scores
    /// about five times forward and four times backward.
    pub(crate) fn plain_attention<T: Tally>(
        &self,
        heads: f64,
        rows: f64,
        keys: f64,
        qk: f64,
        v: f64,
    ) -> Block<T> {
        let scores = heads * rows * keys;
        let product = |shape, width| self.product(shape, heads, self.aligned(width), 2.0);
        let products: Cost<T> = product([rows, qk, keys], qk) + product([rows, keys, v], v);
        // One operation a score and pass.
        let passes = |count: f64| self.elementwise(scores * 2.0 * count, 3.0).doing(scores * count);
        Block {
            forward: products + passes(5.0),
            input_grad: products * 2.0 + passes(4.0),
            weight_grad: Cost::ZERO,
        }
    }
}
