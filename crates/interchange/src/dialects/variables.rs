//! Variables that launchers hand on to a script or recipe which isn't in the text: `TP=2 PP=8 bash
//! ./sbatch_benchmarking.sh`.

use crate::arguments::Argument;

/// Variables, in capitals, and the argument that each is.
#[rustfmt::skip]
const ROWS: &[(&[&str], &str)] = &[
    (&["TP", "TP_SIZE", "TENSOR_MODEL_PARALLEL", "TENSOR_MODEL_PARALLEL_SIZE", "PRIMUS_TP"],
        "tensor-model-parallel-size"),
    (&["PP", "PP_SIZE", "PIPELINE_MODEL_PARALLEL", "PIPELINE_MODEL_PARALLEL_SIZE", "PRIMUS_PP"],
        "pipeline-model-parallel-size"),
    (&["VPP", "INTERLEAVED_PIPELINE", "PRIMUS_VPP"], "virtual-pipeline-model-parallel-size"),
    (&["CP", "CP_SIZE", "CONTEXT_PARALLEL", "CONTEXT_PARALLEL_SIZE"], "context-parallel-size"),
    (&["EP", "EP_SIZE", "EXPERT_PARALLEL", "EXPERT_MODEL_PARALLEL", "PRIMUS_EP"],
        "expert-model-parallel-size"),
    (&["ETP", "ETP_SIZE", "EXPERT_TENSOR_PARALLEL"], "expert-tensor-parallel-size"),
    (&["GBS", "GLOBAL_BATCH_SIZE"], "global-batch-size"),
    (&["MBS", "MICRO_BATCH_SIZE"], "micro-batch-size"),
    (&["SEQ_LEN", "SEQ_LENGTH", "SEQLEN", "PRIMUS_SEQ_LENGTH"], "seq-length"),
    (&["PR", "PRECISION"], "precision"),
    (&["NNODES", "DGXNNODES", "NUM_NODES"], "nnodes"),
    (&["NPROC_PER_NODE", "GPUS_PER_NODE", "NPUS_PER_NODE", "DGXNGPU", "NUM_GPUS_PER_NODE",
        "NGPU"],
        "nproc-per-node"),
    (&["MODEL", "MODEL_NAME", "MODEL_SIZE", "PRIMUS_MODEL", "HF_MODEL_CKPT", "CONFIG_FILE", "EXP"],
        "model-name"),
];

/// The arguments that variables are, of those that aren't given.
pub(crate) fn of_variables(
    arguments: &[Argument],
    mut value: impl FnMut(&str) -> Option<(String, u64)>,
) -> Vec<Argument> {
    let is_given = |name: &str| {
        arguments.iter().any(|argument| argument.name.rsplit('.').next() == Some(name))
    };
    let missing = ROWS.iter().filter(|(_, name)| !is_given(name));
    let made = missing.filter_map(|(variables, name)| {
        let mut found = variables.iter().filter_map(|variable| value(variable));
        // How many nodes there are is the scheduler's matter, and asked for.
        let cluster = matches!(*name, "nnodes" | "nproc-per-node");
        let is_one = |text: &str| !text.is_empty() && (cluster || !text.contains('$'));
        let (text, line) = found.find(|(text, _)| is_one(text))?;
        Some(Argument { name: (*name).to_owned(), values: vec![text], line })
    });
    made.collect()
}
