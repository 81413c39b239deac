//! Operator times of a profile: which kernels ran how long, and on what shapes.
//!
//! Kernels are classified by their names, as their libraries call them, and counted by class. Where
//! the profiler has recorded shapes, kernels of one shape are counted together, so that what is
//! kept doesn't grow with the length of the profile.

pub(crate) mod ascend;
pub(crate) mod chrome;
pub(crate) mod rates;

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of distinct shapes.
const MAX_SHAPES: usize = 20_000;

/// Maximum number of distinct steps.
const MAX_STEPS: usize = 10_000;

/// Class of a kernel's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// A matrix product.
    Product,
    /// Matrix products of all local experts, as one kernel.
    Grouped,
    /// Flash attention.
    AttentionForward,
    /// Its gradient.
    AttentionBackward,
    /// Everything else that moves device memory: element-wise, norms, copies.
    Vector,
    /// An exchange between devices; it waits for others, so that its time says little.
    Exchange,
}

/// Names of kernels in lower case, by what they have; the first row that fits counts.
///
/// Sources: NCCL's and HCCL's kernels; cuDNN's `..._sdpa_..._fprop` and `bprop`, FlashAttention's
/// `flash_fwd_kernel`, CANN's `FlashAttentionScoreGrad`; CUTLASS's `GroupProblemShape`, CANN's
/// `GroupedMatmul`; cuBLAS's `nvjet` and `gemm`, CANN's `MatMulV2`.
const NAMES: [(&[&str], Class); 6] = [
    (
        &[
            "nccl",
            "hccl",
            "hcom",
            "allreduce",
            "all_reduce",
            "allgather",
            "all_gather",
            "reducescatter",
            "reduce_scatter",
            "alltoall",
            "all_to_all",
            "deep_ep",
            "internode",
            "intranode",
            "sendrecv",
        ],
        Class::Exchange,
    ),
    (
        &["scoregrad", "flash_bwd", "bprop", "attention_backward", "fmha_bwd"],
        Class::AttentionBackward,
    ),
    (
        &["flash", "fmha", "sdpa", "attentionscore", "fusedattention", "attention_forward"],
        Class::AttentionForward,
    ),
    (
        &["groupproblemshape", "groupedmatmul", "grouped_gemm", "group_gemm", "moe_gemm"],
        Class::Grouped,
    ),
    (
        &["gemm", "nvjet", "matmul", "wgmma", "xmma_", "cublas", "cutlass_80_tensorop"],
        Class::Product,
    ),
    (&[""], Class::Vector),
];

impl Class {
    /// The class of a kernel by its name.
    pub(crate) fn of(name: &str) -> Self {
        // Templates spell out everything that they are made of.
        let name: String = name.chars().take(2_000).collect::<String>().to_lowercase();
        let is = |(words, _): &&(&[&str], Self)| words.iter().any(|word| name.contains(word));
        let class = NAMES.iter().find(is).map_or(Self::Vector, |(_, class)| *class);
        let is_backward = ["bwd", "backward", "grad"].iter().any(|word| name.contains(word));
        if class == Self::AttentionForward && is_backward { Self::AttentionBackward } else { class }
    }
}

/// The shape of a kernel's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// `count` times y [m, n] = x [m, k] w [k, n].
    Product { m: u64, k: u64, n: u64, count: u64 },
    /// A product of each of `experts` experts, with `rows` rows together.
    Grouped { rows: u64, k: u64, n: u64, experts: u64 },
    /// Attention with a known number of heads.
    Attention { sequences: u64, tokens: u64, heads: u64, width: u64, is_backward: bool },
    /// Attention whose queries are `[tokens, sequences, all heads]` or `[sequences, tokens, ...]`.
    Flat { first: u64, second: u64, width: u64, is_backward: bool },
    /// Element-wise: bytes read and written.
    Moved { bytes: u64 },
}

/// Calls and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) calls: f64,
    pub(crate) micros: f64,
}

impl Sum {
    fn add(&mut self, calls: f64, micros: f64) {
        self.calls += calls;
        self.micros += micros;
    }
}

/// Kernel times of a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Profile {
    /// All kernels.
    pub(crate) classes: BTreeMap<Class, Sum>,
    /// Kernels whose shape is recorded.
    pub(crate) shapes: BTreeMap<Shape, Sum>,
    /// Distinct steps.
    pub(crate) steps: BTreeSet<u64>,
    /// The device by its name, where the file has it.
    pub(crate) device: Option<String>,
}

/// A time that a kernel may take, in microseconds.
fn is_time(micros: f64) -> bool {
    micros.is_finite() && micros > 0.0 && micros < 1e9
}

impl Profile {
    /// Adds this many calls of a kernel that took `micros` together.
    pub(crate) fn add(&mut self, name: &str, calls: f64, micros: f64) {
        if is_time(micros) {
            self.classes.entry(Class::of(name)).or_default().add(calls, micros);
        }
    }

    /// Counts a call whose shape is known.
    pub(crate) fn add_shape(&mut self, shape: Shape, micros: f64) {
        let has_room = self.shapes.len() < MAX_SHAPES || self.shapes.contains_key(&shape);
        if is_time(micros) && has_room {
            self.shapes.entry(shape).or_default().add(1.0, micros);
        }
    }

    /// Takes over what another profile of the same cluster says, the file's place telling its steps
    /// from others'.
    pub(crate) fn merge(&mut self, other: &Self, place: u64) {
        for (class, sum) in &other.classes {
            self.classes.entry(*class).or_default().add(sum.calls, sum.micros);
        }
        for (shape, sum) in &other.shapes {
            if self.shapes.len() < MAX_SHAPES || self.shapes.contains_key(shape) {
                self.shapes.entry(*shape).or_default().add(sum.calls, sum.micros);
            }
        }
        other.steps.iter().for_each(|step| self.add_step(step.rotate_right(16) ^ place));
        self.device = self.device.take().or_else(|| other.device.clone());
    }

    /// Notes a step.
    pub(crate) fn add_step(&mut self, step: u64) {
        if self.steps.len() < MAX_STEPS {
            self.steps.insert(step);
        }
    }
}

/// Number of elements of a shape; `None` if it isn't one.
pub(crate) fn elements(shape: &[u64]) -> Option<u64> {
    if shape.is_empty() {
        return None;
    }
    shape.iter().try_fold(1_u64, |all, side| all.checked_mul(*side)).filter(|it| *it > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_known_by_their_names() {
        for (name, class) in [
            ("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", Class::Product),
            ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", Class::Product),
            ("void cutlass::device_kernel<cutlass::gemm::GroupProblemShape<int>>", Class::Grouped),
            ("void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", Class::AttentionForward),
            ("void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<x>", Class::AttentionBackward),
            ("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma", Class::AttentionBackward),
            ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma", Class::AttentionForward),
            ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", Class::Exchange),
            ("void at::native::vectorized_elementwise_kernel<4>", Class::Vector),
            ("FlashAttentionScoreGrad", Class::AttentionBackward),
            ("FlashAttentionScore", Class::AttentionForward),
            ("GroupedMatmul", Class::Grouped),
            ("MatMulV3", Class::Product),
            ("hcom_allGather_", Class::Exchange),
            ("RmsNormGrad", Class::Vector),
        ] {
            assert_eq!(Class::of(name), class, "{name}");
        }
    }

    #[test]
    fn what_is_kept_doesn_t_grow_with_the_profile() {
        let mut profile = Profile::default();
        for bytes in 1..=(2 * MAX_SHAPES as u64) {
            profile.add_shape(Shape::Moved { bytes }, 1.0);
            profile.add_step(bytes);
        }
        assert_eq!((profile.shapes.len(), profile.steps.len()), (MAX_SHAPES, MAX_STEPS));
        profile.add("gemm", 1.0, f64::NAN);
        assert!(profile.classes.is_empty());
    }
}
