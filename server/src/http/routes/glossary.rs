//! `GET /glossary.json`: the meanings of the trade's words that are labels on the pages.
//!
//! Not a part of the API. Metrics and knobs are explained in the registry's words, so that a label
//! says what the guide says.

use std::sync::OnceLock;

use axum::response::Response;
use model::design::KnobId;
use model::design::file::Tree;
use model::metric::MetricId;

use super::json::json_response;

/// Origin of an explanation.
enum About {
    Metric(MetricId),
    Knob(KnobId),
    Words(&'static str),
}

use About::{Knob, Metric, Words};

/// The names of a term, between bars, and what it means. A name in capitals is only found in
/// capitals.
static TERMS: [(&str, About); 52] = [
    ("MFU", Metric(MetricId::mfu)),
    ("HFU", Metric(MetricId::hfu)),
    ("Exposed communication|exposed", Metric(MetricId::comm_exposed_seconds)),
    ("Hidden communication", Metric(MetricId::overlap_ratio)),
    ("Pipeline bubble|bubble", Metric(MetricId::bubble_ratio)),
    ("Peak memory", Metric(MetricId::memory_peak_bytes)),
    ("Step time", Metric(MetricId::step_time_seconds)),
    ("FLOPs per token", Metric(MetricId::flops_per_token)),
    ("Active parameters", Metric(MetricId::params_active)),
    ("Tensor parallel|tensor parallelism|TP", Knob(KnobId::tensor_model_parallel_size)),
    ("Sequence parallel|sequence parallelism|SP", Knob(KnobId::sequence_parallel)),
    ("Pipeline parallel|pipeline parallelism|PP", Knob(KnobId::pipeline_model_parallel_size)),
    ("Virtual stages|VPP", Knob(KnobId::virtual_pipeline_model_parallel_size)),
    ("Context parallel|context parallelism|CP", Knob(KnobId::context_parallel_size)),
    ("Expert parallel|expert parallelism|EP", Knob(KnobId::expert_model_parallel_size)),
    ("Expert tensor parallel|ETP", Knob(KnobId::expert_tensor_parallel_size)),
    ("Micro-batch|MBS", Knob(KnobId::micro_batch_size)),
    ("Global batch|GBS", Knob(KnobId::global_batch_size)),
    ("Recompute granularity", Knob(KnobId::recompute_granularity)),
    (
        "Expert data parallel|EDP",
        Words(
            "Replicas of each expert: the ranks that hold the same experts and add up their \
             gradients.",
        ),
    ),
    (
        "Data parallel|data parallelism|DP",
        Words(
            "Replicas of the model: each trains on its own sequences, and gradients are added up.",
        ),
    ),
    (
        "Recompute|recomputation",
        Words(
            "Activations are dropped in the forward and computed again for the backward: less \
             memory for more work.",
        ),
    ),
    (
        "Swap|swapping",
        Words(
            "Tensors are copied to the host's memory and back in time: less device memory, more \
         traffic to the host.",
        ),
    ),
    (
        "All-to-all",
        Words(
            "Every rank sends another part of its data to every other one: how tokens reach their \
         experts and come back.",
        ),
    ),
    ("All-reduce", Words("Every rank gets the sum of what all ranks have.")),
    ("All-gather", Words("Every rank gets the parts of all ranks, put together.")),
    ("Reduce-scatter", Words("Each rank gets its part of the sum of what all ranks have.")),
    ("Collective", Words("An exchange in which all ranks of a group take part.")),
    ("Dispatch", Words("Tokens are sent to the ranks of the experts that the router chose.")),
    ("Router", Words("The small layer that chooses the experts of each token.")),
    (
        "Roofline",
        Words(
            "What an operator can reach at most: bound by memory bandwidth up to the ridge, by the \
         peak of the compute units beyond it.",
        ),
    ),
    (
        "Arithmetic intensity",
        Words(
            "Operations for each byte that is moved: what decides between bound by memory and \
             bound by compute.",
        ),
    ),
    (
        "Pareto front|Pareto line",
        Words("The designs that no other one beats in every objective at once."),
    ),
    (
        "Waterfall",
        Words("From the accelerator's peak down to MFU: each bar is one loss, and they add up."),
    ),
    (
        "Straggler|stragglers",
        Words("Ranks that take longer than the others by chance; all wait for the slowest."),
    ),
    (
        "Contention",
        Words("Kernels are slower while a collective beside them uses the same memory and cores."),
    ),
    ("Host", Words("The CPU: it launches kernels, and the device waits where it comes too late.")),
    ("Kernels", Words("Programs of the device, such as matrix products and attention.")),
    (
        "Vector",
        Words("Element-wise work, such as norms and activations: bound by memory bandwidth."),
    ),
    ("GEMM|matmul", Words("A product of two matrices, the work that a peak is made for.")),
    (
        "1F1B",
        Words(
            "One forward, one backward: a stage alternates between them, so that few micro-batches \
         are in flight.",
        ),
    ),
    (
        "Interleaved",
        Words("Each stage holds several chunks of layers, so that the pipeline fills sooner."),
    ),
    (
        "DualPipe",
        Words(
            "A schedule that feeds micro-batches from both ends and pairs forwards with backwards.",
        ),
    ),
    (
        "ZeRO",
        Words("Optimizer states, gradients or parameters are split over the data-parallel ranks."),
    ),
    (
        "MTP",
        Words("Multi-token prediction: further layers that predict the tokens after the next one."),
    ),
    ("MLA", Words("Multi-head latent attention: keys and values are kept as one small latent.")),
    (
        "MoE",
        Words("Mixture of experts: each token goes through a few of many feed-forward networks."),
    ),
    ("LM head", Words("The last layer, which gives a score to each word of the vocabulary.")),
    ("Optimizer", Words("States of the optimizer, such as Adam's two averages.")),
    ("Activations", Words("What the forward keeps for the backward.")),
    (
        "Micro-batches in flight|in flight",
        Words(
            "Micro-batches whose forward is done and whose backward isn't: their activations are \
             kept.",
        ),
    ),
    (
        "dW",
        Words("The half of a backward that makes the gradients of weights; nobody waits for it."),
    ),
];

/// `{"terms":[{"names":[NAME],"about"}]}`.
pub(super) async fn glossary() -> Response {
    static GLOSSARY: OnceLock<Tree> = OnceLock::new();
    json_response(
        GLOSSARY
            .get_or_init(|| Tree::map([("terms", Tree::List(TERMS.iter().map(term).collect()))])),
    )
}

fn term((names, about): &(&'static str, About)) -> Tree {
    Tree::map([("names", Tree::list(names.split('|'))), ("about", said(about).into())])
}

fn said(about: &About) -> &'static str {
    match about {
        Metric(id) => id.words().definition,
        Knob(id) => id.words().meaning,
        Words(words) => words,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_means_one_thing_and_every_term_says_something() {
        let mut names = BTreeSet::new();
        for (all, about) in &TERMS {
            assert!(said(about).len() > 10, "{all}");
            for name in all.split('|') {
                assert!(names.insert(name.to_lowercase()), "{name} twice");
            }
        }
    }
}
