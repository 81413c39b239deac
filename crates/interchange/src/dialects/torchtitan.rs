//! The table of torchtitan.

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing};
use super::words::{CHECKPOINT, DEFAULTED, DTYPE};

/// The dialect whose experts TP splits where EP is 1.
pub(super) const TITLE: &str = "torchtitan";

/// Every dialect, the most particular first.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // torchtitan and its NPU fork. Source: torchtitan/config/configs.py, job_config.py before.
    Dialect {
        title: TITLE,
        markers: &[&["[parallelism]"], &["tensor_parallel_degree"], &["torchtitan"]],
        strict: true,
        rows: &[
            ("model.name", Is("model-name")), ("model.flavor", Is("model-flavor")),
            ("model.hf-assets-path", Is("tokenizer-name-or-path")),
            ("model.tokenizer-path", Is("tokenizer-name-or-path")),
            ("job.config-file", Is("model-name")), ("job.description", Is("run-name")),
            // Primus hands its own file on.
            ("pre-trainer.framework", Nothing("which trainer runs")),
            ("pre-trainer.model", Is("model-name")), ("exp-name", Is("run-name")),
            ("nnodes", Is("nnodes")), ("nproc-per-node", Is("nproc-per-node")),
            ("training.local-batch-size", Is("micro-batch-size")),
            ("training.batch-size", Is("micro-batch-size")),
            ("training.global-batch-size", Is("global-batch-size")),
            ("training.seq-len", Is("seq-length")),
            ("training.mixed-precision-param", Choice(DTYPE)),
            ("quantize.linear.float8.recipe-name", Choice(&[
                ("tensorwise", "mixed-precision-recipe", "fp8_tensorwise"),
            ])),
            ("quantize.linear.mx.recipe-name", Choice(&[
                ("mxfp8_cublas", "mixed-precision-recipe", "mxfp8"),
            ])),
            ("model.converters", Nothing("the converter's own section says more")),
            ("parallelism.data-parallel-shard-degree", Is("data-parallel-size")),
            ("parallelism.data-parallel-replicate-degree",
                Is("num-distributed-optimizer-instances")),
            ("parallelism.fsdp-reshard-after-forward", Choice(&[
                ("always", "data-parallel-sharding-strategy", "optim_grads_params"),
                ("never", "data-parallel-sharding-strategy", "optim_grads"),
                ("default", "", DEFAULTED),
            ])),
            ("parallelism.tensor-parallel-degree", Is("tensor-model-parallel-size")),
            ("parallelism.pipeline-parallel-degree", Is("pipeline-model-parallel-size")),
            ("parallelism.pipeline-parallel-layers-per-stage",
                Is("num-layers-per-virtual-pipeline-stage")),
            ("parallelism.pipeline-parallel-module-fqns-per-model-part",
                Is("pipeline-model-parallel-layout")),
            ("parallelism.module-fqns-per-model-part", Is("pipeline-model-parallel-layout")),
            ("parallelism.pipeline-parallel-first-stage-less-layers",
                Is("first-stage-less-layers")),
            ("parallelism.pipeline-parallel-last-stage-less-layers",
                Is("last-stage-less-layers")),
            // The registry of configurations: `--module llama3 --config llama3_70b`.
            ("config", Is("model-name")), ("module", Nothing("the folder of the configuration")),
            ("parallelism.pipeline-parallel-microbatch-size",
                Nothing("read with the local batch, which is the whole pipeline's")),
            ("parallelism.context-parallel-degree", Is("context-parallel-size")),
            ("parallelism.context-parallel-rotate-method", Choice(&[
                ("alltoall", "cp-comm-type", "p2p"), ("allgather", "cp-comm-type", "allgather"),
            ])),
            ("parallelism.expert-parallel-degree", Is("expert-model-parallel-size")),
            ("parallelism.expert-tensor-parallel-degree", Is("expert-tensor-parallel-size")),
            ("parallelism.pipeline-parallel-schedule", Choice(&[
                ("1F1B", "", DEFAULTED),
                ("Interleaved1F1B", "virtual-pipeline-model-parallel-size", "2"),
                ("GPipe", "schedules-method", "gpipe"),
                ("ZBVZeroBubble", "schedules-method", "zbv"),
                ("DualPipeV", "schedules-method", "dualpipev"),
            ])),
            ("activation-checkpoint.mode", Choice(CHECKPOINT)),
            ("activation-checkpoint.selective-ac-option", Is("selective-ac-option")),
            ("optimizer.name", Is("optimizer")),
            ("training.steps", Nothing("how the model learns, not how long a step takes")),
        ],
        defaults: &[
            // None of its models has MTP layers.
            ("mtp-num-layers", "0"), ("bf16", ""),
            ("data-parallel-sharding-strategy", "optim_grads_params"),
            // Its experts: `torchtitan/models/common/moe.py` and `token_dispatcher.py`.
            ("moe-grouped-gemm", ""), ("moe-token-dispatcher-type", "alltoall"),
            ("overlap-grad-reduce", ""), ("overlap-param-gather", ""),
        ],
    },
];
