//! The rows of the knobs of kernels.

use crate::ground::choice::{Choice as _, CudaGraph, Framework, Software};
use crate::ground::knob::Kind::*;
use crate::ground::knob::Row;
use crate::ground::source::*;

const fn knob(label: &'static str, kind: crate::ground::knob::Kind, meaning: &'static str) -> Row {
    Row::new(label, kind, meaning)
}

pub(super) const FRAMEWORK: Row = knob(
    "Framework",
    Choice(Framework::NAMES),
    "Whose host costs, kernels and buffers count; ideal has no overhead, fsdp overlaps its \
             gathers and reductions by itself and its recomputation leaves the last product of a \
             dense MLP out, and deepspeed keeps 16-bit gradients beside those in fp32 up to ZeRO-1",
)
.source(MSMODELING)
.no_lever();
pub(super) const SOFTWARE: Row = knob(
    "State of the software",
    Choice(Software::NAMES),
    "Whose rates of kernels and host count: the family's own as calibrated, or those that \
             were published at a date",
)
.source(HUAWEI_OPERATORS);
pub(super) const GEMM_EFFICIENCY: Row = knob(
    "Matmul rate",
    OptionalReal(0.01, 1.0),
    "Share of the peak that a large, aligned matmul reaches, 4,096 elements deep; none is \
             the state's",
);
pub(super) const GROUPED_GEMM_RELATIVE_EFFICIENCY: Row = knob(
    "Grouped matmul rate",
    OptionalReal(0.01, 2.0),
    "Rate of a grouped matmul over that of one matmul; none is the state's",
);
pub(super) const ATTENTION_FORWARD_EFFICIENCY: Row = knob(
    "Attention rate, forward",
    OptionalReal(0.01, 1.0),
    "Share of the 16-bit peak that flash attention's products reach, forward; none is the \
             state's",
);
pub(super) const ATTENTION_BACKWARD_EFFICIENCY: Row = knob(
    "Attention rate, backward",
    OptionalReal(0.01, 1.0),
    "Share of the 16-bit peak that flash attention's products reach, backward; none is the \
             state's",
);
pub(super) const VECTOR_BANDWIDTH_SHARE: Row = knob(
    "Element-wise rate",
    OptionalReal(0.01, 1.0),
    "Share of the memory bandwidth that element-wise kernels and copies of rows reach; \
             none is the state's",
);
pub(super) const SYNC_MICROSECONDS: Row = knob(
    "Read-back",
    OptionalReal(0.0, 100_000.0),
    "How long the device waits when the host reads back how many rows each expert gets; \
             none is the state's",
)
.unit("µs")
.source(HUAWEI_OPERATORS);
pub(super) const SYNCS_PER_LAYER: Row = knob(
    "Read-backs a layer",
    OptionalReal(0.0, 100.0),
    "How often the host reads sizes back in a MoE layer and micro-batch: forward, a \
             recomputation that dispatches again, and backward together; none is the state's",
)
.source(HUAWEI_OPERATORS);
pub(super) const IN_RUN_RATE: Row = knob(
    "Rate inside steps",
    OptionalReal(0.1, 1.5),
    "Rate of kernels inside a step over that of bursts on this cluster; rates that the design \
             sets are of steps already; none is the family's",
)
.source(DERIVED);
pub(super) const PROFILE: Row = knob(
    "Profile",
    Name,
    "What these rates are called where runs of one's own have told them, as moescape calibrate \
             does; for those who read it, no number follows from it",
)
.source(DERIVED)
.no_lever();
pub(super) const EXTRA_ARGUMENTS: Row = knob(
    "Extra arguments",
    Arguments,
    "Arguments handed to the framework that no knob reads, as they were imported: an export writes \
             them again, no number follows from them",
)
.source(MEGATRON)
.no_lever();
pub(super) const SUSTAINED_CLOCK: Row = knob(
    "Sustained clock",
    Real(0.1, 1.0),
    "Rate of matrix products and attention that these devices sustain under their power \
             and cooling, over that of others of their part",
)
.source(SIMUMAX);
pub(super) const FLASH_ATTENTION: Row =
    knob("Flash attention", Flag, "Attention without a score matrix in memory")
        .source(crate::ground::source::FLASH_ATTENTION);
pub(super) const FLASH_ATTENTION_VERSION: Row = knob(
    "FlashAttention's generation",
    OptionalInteger(2, 4),
    "Which FlashAttention runs: 2 as FSDP runs of 2023 and 2024 had it, on all parts alike, 3 is \
             written for Hopper, 4 for Hopper and Blackwell; none is the kernel written for the \
             family, cuDNN's or the newest",
)
.source(MEGATRON);
pub(super) const MLA_FA_WITHOUT_PAD: Row = knob(
    "Attention without padding",
    Flag,
    "Flash attention takes MLA's values narrower than its keys; otherwise all are padded \
             to one width",
)
.source(MINDSPEED_LLM);
pub(super) const PADDED_BASE_LENGTH: Row = knob(
    "Padding multiple",
    Integer(1, 8_192),
    "The width that MLA's queries, keys and values are padded to is a multiple of this; \
             with the keys' own width values alone are padded",
)
.unit("elements")
.source(MINDSPEED_LLM)
.by_multiples_of(64);
pub(super) const FUSED_RMS_NORM: Row =
    knob("Fused RMSNorm", Flag, "A norm is one kernel that reads its input once")
        .source(PANGU_ULTRA_MOE);
pub(super) const MOE_GROUPED_GEMM: Row =
    knob("Grouped matmul", Flag, "All local experts are one kernel");
pub(super) const GMM_ADD: Row =
    knob("GMMAdd", Flag, "Expert weight gradients are added inside the grouped matmul")
        .source(PANGU_ULTRA_MOE);
pub(super) const MOE_PERMUTE_FUSION: Row =
    knob("Fused permute", Flag, "Permute and unpermute are one kernel each")
        .source(PANGU_ULTRA_MOE);
pub(super) const CUDA_GRAPH_IMPL: Row = knob(
    "Graph replay",
    Choice(CudaGraph::NAMES),
    "Kernels of dense parts are replayed, a graph for each layer and micro-batch, whose \
             output stays in a buffer of its own; both forms count alike",
);
pub(super) const HOST_BINDING: Row =
    knob("CPU core binding", Flag, "Launching threads stay on their cores")
        .source(PANGU_ULTRA_MOE)
        .not_offered("no source gives its gain apart from the other host work");
pub(super) const DATA_LOADER_OFFLOAD: Row =
    knob("Shared data loading", Flag, "One rank of a TP group loads data for all")
        .source(PANGU_ULTRA_MOE)
        .not_offered("data loading is taken as free");
pub(super) const DISPATCH_MICROSECONDS: Row = knob(
    "Host dispatch",
    OptionalReal(0.0, 10_000.0),
    "Host time to launch one kernel; none is the framework's",
)
.unit("µs");
pub(super) const LAUNCH_BLOCKING: Row = knob(
    "Blocking launches",
    Flag,
    "The host waits for each kernel to end, as with CUDA_LAUNCH_BLOCKING=1 or \
                ASCEND_LAUNCH_BLOCKING=1",
)
.source(BIGSCIENCE);
pub(super) const STRAGGLER_SIGMA: Row = knob(
    "Straggler spread",
    OptionalReal(0.0, 1.0),
    "Standard deviation of a rank's step time, relative; none is the framework's",
)
.source(DERIVED);
