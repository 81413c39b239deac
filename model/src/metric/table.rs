//! The registry of metrics, in the order in which tables show them.

use crate::ground::source::{
    DERIVED, KORTHIKANTI_2022, MEGATRON, NARAYANAN_2021, PANGU_ULTRA_MOE, Source,
};

/// Which way of a metric is better, all else equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Better {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }
}

/// The errors of published runs that a metric's own error follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Errors of the step time.
    Time,
    /// Errors of the step time, which a rate follows inversely.
    Rate,
    /// Errors of the peak memory.
    Memory,
    /// A verdict on the peak memory.
    Verdict,
    /// None: a count or a formula, exact by its definition.
    Exact,
    /// None: it follows from the model's parts, and too few runs publish it to compare.
    Derived,
}

/// Neither way is better by itself: a size, a limit, or time that is well or badly spent.
const NEITHER: Option<Better> = None;
const HIGHER: Option<Better> = Some(Better::Higher);
const LOWER: Option<Better> = Some(Better::Lower);

/// One metric of the registry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// The public id.
    pub name: &'static str,
    /// A short name for people.
    pub label: &'static str,
    /// Unit of the value; empty for counts, ratios and verdicts.
    pub unit: &'static str,
    /// Which way is better; `None` if neither is by itself.
    pub better: Option<Better>,
    /// The errors of published runs that say how far it may be off.
    pub basis: Basis,
}

/// Definition and source of a metric, kept apart from it: a program that never shows them doesn't
/// carry them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Words {
    /// Definition, in a sentence.
    pub definition: &'static str,
    /// Formula of the value.
    pub formula: &'static str,
    /// Source that defines it so.
    pub source: Source,
}

/// The value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricValue {
    /// A finite number in the metric's unit.
    Number(f64),
    /// A verdict.
    Flag(bool),
}

macro_rules! metrics {
    ($Id:ident: $(
        $name:ident: $label:literal, $unit:literal, $better:expr, $basis:ident, $definition:literal,
            $formula:literal, $source:expr;
    )+) => {
        /// Every metric, by its public id.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(non_camel_case_types, missing_docs, reason = "the variants are the public names")]
        pub enum $Id { $($name,)+ }

        impl $Id {
            /// Every metric, in registry order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The registry's row.
            #[must_use]
            pub fn metric(self) -> &'static Metric {
                &METRICS[self as usize]
            }

            /// Definition, formula and source of the metric.
            #[must_use]
            pub fn words(self) -> &'static Words {
                &WORDS[self as usize]
            }

            /// The metric of that id.
            #[must_use]
            pub fn find(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|id| id.metric().name == name)
            }
        }

        static METRICS: &[Metric] = &[$(Metric {
            name: stringify!($name),
            label: $label,
            unit: $unit,
            better: $better,
            basis: Basis::$basis,
        },)+];

        static WORDS: &[Words] = &[$(Words {
            definition: $definition,
            formula: $formula,
            source: $source,
        },)+];
    };
}

pub(crate) use metrics;

metrics! {
    MetricId:
    mfu: "MFU", "", HIGHER, Rate,
        "Model FLOPs per second over the peak of all devices; recomputation doesn't count",
        "model FLOPs / (step time x devices x peak for MFU)", PANGU_ULTRA_MOE;
    hfu: "HFU", "", NEITHER, Rate,
        "FLOPs that matrix units execute per second, over the peak; recomputation counts, and \
         attention as it runs (causal, scores again in the backward)",
        "executed FLOPs / (step time x devices x peak for MFU)",
        KORTHIKANTI_2022;
    tokens_per_second: "Throughput", "tokens/s", HIGHER, Rate,
        "Tokens that the whole cluster trains on per second",
        "global batch x sequence length / step time", DERIVED;
    tokens_per_second_per_device: "Throughput per device", "tokens/s", HIGHER, Rate,
        "Tokens per second of one device", "tokens per second / devices", DERIVED;
    step_time_seconds: "Step time", "s", LOWER, Time,
        "From the first forward to the end of the optimizer",
        "pipeline + exposed gradient and parameter exchange + optimizer + stragglers", DERIVED;
    model_tflops_per_device: "Model TFLOPS per device", "TFLOPS", HIGHER, Rate,
        "Model FLOPs per second of one device", "MFU x peak for MFU", DERIVED;
    params_total: "Parameters", "", NEITHER, Exact,
        "All parameters with both embeddings, without MTP layers",
        "embedding + layers + final norm + head", MEGATRON;
    params_active: "Active parameters", "", NEITHER, Exact,
        "Parameters that one token meets, with both embeddings, without MTP layers",
        "total - (experts - top-k) x expert x MoE layers", MEGATRON;
    params_total_no_input_embedding: "Parameters without input embedding", "", NEITHER, Exact,
        "All parameters but the input embedding and MTP layers",
        "parameters - vocabulary x hidden size", PANGU_ULTRA_MOE;
    params_active_no_input_embedding: "Active parameters without input embedding", "", NEITHER,
        Exact,
        "Parameters that one token meets, but the input embedding and MTP layers",
        "active parameters - vocabulary x hidden size", PANGU_ULTRA_MOE;
    flops_per_token: "FLOPs per token", "FLOP", NEITHER, Exact,
        "Model FLOPs of one token, forward and backward, as MFU counts them",
        "3 x (2 x active matrix parameters + attention scores and values)", MEGATRON;
    memory_peak_bytes: "Peak memory", "bytes", LOWER, Memory,
        "Device memory of the fullest stage at its fullest moment",
        "weights + gradients + optimizer + activations + buffers + reserve", KORTHIKANTI_2022;
    memory_limit_bytes: "Memory limit", "bytes", NEITHER, Exact,
        "Device memory that a program gets", "usable GiB x 2^30", DERIVED;
    fits: "Fits", "", HIGHER, Verdict,
        "Peak memory is within the limit, and swapped tensors within the host's memory",
        "peak memory <= memory limit and swapped bytes <= host memory per device", DERIVED;
    fit_probability: "Likely to fit", "", HIGHER, Verdict,
        "Probability that the true peak memory is within the limit, by how far the published peaks \
         were off",
        "share of published peaks with measured / predicted <= memory limit / peak memory, each \
         source counted once", DERIVED;
    bubble_ratio: "Bubble", "", LOWER, Derived,
        "Device time with no task resident, over all device time between the first forward and the \
         last backward; exposed communication inside a task is busy",
        "1 - mean busy time of the stages / pipeline time", NARAYANAN_2021;
    bubble_ratio_closed_form: "Bubble, closed form", "", LOWER, Exact,
        "The schedule's published formula for equal stages: counts only",
        "(p - 1) / (v m + p - 1) for 1F1B and its interleaved forms", NARAYANAN_2021;
    comm_volume_bytes: "Communication volume", "bytes", LOWER, Derived,
        "Bytes that one device sends in a step, mean over all devices",
        "sum over axes and links", DERIVED;
    comm_exposed_seconds: "Exposed communication", "s", LOWER, Derived,
        "Time of a step in which a device waits for communication, mean over all devices",
        "sum over axes of time not hidden by compute", DERIVED;
    overlap_ratio: "Hidden communication", "", HIGHER, Derived,
        "Share of communication time that compute hides",
        "1 - exposed communication / communication time", PANGU_ULTRA_MOE;
    imbalance_ratio: "Expert imbalance", "", LOWER, Derived,
        "Tokens of the fullest expert-parallel rank over the mean, mean over steps and layers",
        "max / mean tokens per rank, behind planner and capacity", PANGU_ULTRA_MOE;
    token_drop_ratio: "Dropped tokens", "", LOWER, Derived,
        "Share of token copies over their expert's capacity",
        "sum of max(0, load - capacity) / sum of loads; max(0, 1 - capacity factor) of even ones",
        MEGATRON;
}
