//! The registry of metrics, in the order in which tables show them.

use super::regime::Regime;
use super::unit::Unit::{
    self, Count, Days, DeviceHours, Factor, Flop, KilowattHours, Likelihood, MemoryBytes, Money,
    Nats, Parameters, PerSecond, Ratio, Seconds, Tflops, TokenBytes, TokenSeconds, TokensPerSecond,
    TrafficBytes, Verdict,
};
use crate::ground::source::{
    AICONFIGURATOR, BYTECHECKPOINT, DALY_2006, DERIVED, KORTHIKANTI_2022, LING_LEVERAGE, MEGATRON,
    NARAYANAN_2021, PANGU_ULTRA_MOE, RESEARCH_CLUSTERS, Source, VLLM,
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
    /// Regime of the metric.
    pub regime: Regime,
    /// The unit of its values.
    pub unit: Unit,
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

impl MetricValue {
    /// A metric's value of its number.
    #[must_use]
    pub fn of(id: MetricId, number: f64) -> Self {
        if id.metric().unit == Verdict { Self::Flag(number > 0.5) } else { Self::Number(number) }
    }

    /// The value as a number: a verdict is one where it holds, else zero.
    #[must_use]
    pub const fn number(self) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Flag(true) => 1.0,
            Self::Flag(false) => 0.0,
        }
    }
}

macro_rules! metrics {
    ($([$Values:ident] $(
        $name:ident: $Regime:ident, $label:literal, $unit:expr, $better:expr, $basis:ident,
            $definition:literal, $formula:literal, $source:expr;
    )+)+) => {
        /// Every metric, by its public id.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(non_camel_case_types, missing_docs, reason = "the variants are the public names")]
        pub enum MetricId { $($($name,)+)+ }

        impl MetricId {
            /// Every metric, in registry order.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)+)+];
        }

        static METRICS: &[Metric] = &[$($(Metric {
            name: stringify!($name),
            label: $label,
            regime: Regime::$Regime,
            unit: $unit,
            better: $better,
            basis: Basis::$basis,
        },)+)+];

        $(
            /// Something for each metric of a table.
            #[derive(Clone, Copy, Debug, PartialEq)]
            #[allow(missing_docs, reason = "the registry defines the metrics")]
            pub struct $Values<T> { $(pub $name: T,)+ }

            impl<T> $Values<T> {
                /// Value of a metric; `None` for one of another table.
                #[must_use]
                pub const fn get(&self, id: MetricId) -> Option<&T> {
                    #[allow(clippy::wildcard_enum_match_arm, reason = "all other tables")]
                    match id {
                        $(MetricId::$name => Some(&self.$name),)+
                        _ => None,
                    }
                }
            }

            impl $Values<Words> {
                /// Words of the table alone: a program that says no other carries no other.
                pub(crate) const WORDS: &'static Self = &Self {
                    $($name: Words {
                        definition: $definition,
                        formula: $formula,
                        source: $source,
                    },)+
                };
            }
        )+

        impl MetricId {
            /// Definition, formula and source.
            #[must_use]
            pub fn words(self) -> &'static Words {
                const NONE: &Words = &Words { definition: "", formula: "", source: DERIVED };
                let known = None$(.or_else(|| $Values::WORDS.get(self)))+;
                known.unwrap_or(NONE)
            }

            /// Definition, formula and source of a metric of training: a program that says no other
            /// carries no other.
            #[must_use]
            pub fn words_of_training(self) -> Option<&'static Words> {
                TrainingMetrics::WORDS.get(self)
            }
        }
    };
}

impl MetricId {
    /// The registry's row.
    #[must_use]
    pub fn metric(self) -> &'static Metric {
        &METRICS[self as usize]
    }

    /// The regime that it is of.
    #[must_use]
    pub fn regime(self) -> Regime {
        self.metric().regime
    }

    /// The metrics that tables of a regime list, in registry order.
    pub fn of(regime: Regime) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(move |id| id.regime().table() == regime)
    }

    /// Whether designs of a regime have it.
    #[must_use]
    pub fn is_of(self, regime: Regime) -> bool {
        self.regime() == Regime::Model || self.regime().base() == regime.base()
    }

    /// The metric of that id.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|id| id.metric().name == name)
    }

    /// The metric of that id, where tables of a regime list it.
    #[must_use]
    pub fn find_of(regime: Regime, name: &str) -> Option<Self> {
        Self::find(name).filter(|id| id.regime().table() == regime)
    }
}

metrics! {
    [TrainingMetrics]
    mfu: Training, "MFU", Ratio(1), HIGHER, Rate,
        "Model FLOPs per second over the peak of all devices; recomputation doesn't count",
        "model FLOPs / (step time x devices x peak for MFU)", PANGU_ULTRA_MOE;
    hfu: Training, "HFU", Ratio(1), NEITHER, Rate,
        "FLOPs that matrix units execute per second, over the peak; recomputation counts, and \
         attention as it runs (causal, scores again in the backward)",
        "executed FLOPs / (step time x devices x peak for MFU)",
        KORTHIKANTI_2022;
    tokens_per_second: Training, "Throughput", TokensPerSecond, HIGHER, Rate,
        "Tokens that the whole cluster trains on per second",
        "global batch x sequence length / step time", DERIVED;
    tokens_per_second_per_device: Training, "Throughput per device", TokensPerSecond, HIGHER, Rate,
        "Tokens per second of one device", "tokens per second / devices", DERIVED;
    step_time_seconds: Training, "Step time", Seconds, LOWER, Time,
        "From the first forward to the end of the optimizer",
        "pipeline + exposed gradient and parameter exchange + optimizer + stragglers", DERIVED;
    model_tflops_per_device: Training, "Model TFLOPS per device", Tflops, HIGHER, Rate,
        "Model FLOPs per second of one device", "MFU x peak for MFU", DERIVED;
    params_total: Model, "Parameters", Parameters, NEITHER, Exact,
        "All parameters with both embeddings, without MTP layers",
        "embedding + layers + final norm + head", MEGATRON;
    params_active: Model, "Active parameters", Parameters, NEITHER, Exact,
        "Parameters that one token meets, with both embeddings, without MTP layers",
        "total - (experts - top-k) x expert x MoE layers", MEGATRON;
    params_total_no_input_embedding: Model, "Parameters without input embedding", Parameters,
        NEITHER, Exact,
        "All parameters but the input embedding and MTP layers",
        "parameters - vocabulary x hidden size", PANGU_ULTRA_MOE;
    params_active_no_input_embedding: Model, "Active parameters without input embedding",
        Parameters, NEITHER, Exact,
        "Parameters that one token meets, but the input embedding and MTP layers",
        "active parameters - vocabulary x hidden size", PANGU_ULTRA_MOE;
    flops_per_token: Training, "FLOPs per token", Flop, NEITHER, Exact,
        "Model FLOPs of one token, forward and backward, as MFU counts them",
        "3 x (2 x active matrix parameters + attention scores and values)", MEGATRON;
    memory_peak_bytes: Training, "Peak memory", MemoryBytes, LOWER, Memory,
        "Device memory of the fullest stage at its fullest moment",
        "weights + gradients + optimizer + activations + buffers + reserve", KORTHIKANTI_2022;
    memory_limit_bytes: Training, "Memory limit", MemoryBytes, NEITHER, Exact,
        "Device memory that a program gets", "usable GiB x 2^30", DERIVED;
    fits: Training, "Fits", Verdict, HIGHER, Verdict,
        "Peak memory is within the limit, and swapped tensors within the host's memory",
        "peak memory <= memory limit and swapped bytes <= host memory per device", DERIVED;
    fit_probability: Training, "Likely to fit", Likelihood, HIGHER, Verdict,
        "Probability that the true peak memory is within the limit, by how far the published peaks \
         were off",
        "share of published peaks with measured / predicted <= memory limit / peak memory, each \
         source counted once", DERIVED;
    bubble_ratio: Training, "Bubble", Ratio(2), LOWER, Derived,
        "Device time with no task resident, over all device time between the first forward and the \
         last backward; exposed communication inside a task is busy",
        "1 - mean busy time of the stages / pipeline time", NARAYANAN_2021;
    bubble_ratio_closed_form: Training, "Bubble, closed form", Ratio(2), LOWER, Exact,
        "The schedule's published formula for equal stages: counts only",
        "(p - 1) / (v m + p - 1) for 1F1B and its interleaved forms", NARAYANAN_2021;
    comm_volume_bytes: Training, "Communication volume", TrafficBytes, LOWER, Derived,
        "Bytes that one device sends in a step, mean over all devices",
        "sum over axes and links", DERIVED;
    comm_exposed_seconds: Training, "Exposed communication", Seconds, LOWER, Derived,
        "Time of a step in which a device waits for communication, mean over all devices",
        "sum over axes of time not hidden by compute", DERIVED;
    overlap_ratio: Training, "Hidden communication", Ratio(1), HIGHER, Derived,
        "Share of communication time that compute hides",
        "1 - exposed communication / communication time", PANGU_ULTRA_MOE;
    imbalance_ratio: Training, "Expert imbalance", Factor, LOWER, Derived,
        "Tokens of the fullest expert-parallel rank over the mean, mean over steps and layers",
        "max / mean tokens per rank, behind planner and capacity", PANGU_ULTRA_MOE;
    token_drop_ratio: Training, "Dropped tokens", Ratio(2), LOWER, Derived,
        "Share of token copies over their expert's capacity",
        "sum of max(0, load - capacity) / sum of loads; max(0, 1 - capacity factor) of even ones",
        MEGATRON;

    [ServingMetrics]
    output_tokens_per_second_per_device: Serving, "Output per device", TokensPerSecond,
        HIGHER, Rate,
        "Tokens of answers a second over all devices of the instance, those that prefill among \
         them",
        "requests per second x output length / devices", VLLM;
    total_tokens_per_second_per_device: Serving, "Input and output per device", TokensPerSecond,
        HIGHER, Rate,
        "Tokens of prompts and answers a second over all devices",
        "requests per second x (input + output length) / devices", AICONFIGURATOR;
    tokens_per_second_per_user: Serving, "Speed of an answer", TokensPerSecond, HIGHER, Rate,
        "Tokens a second that one request gets once its first token has come", "1 / TPOT", VLLM;
    tpot_seconds: Serving, "TPOT", TokenSeconds, LOWER, Time,
        "Time of each output token but the first, mean over a request",
        "(E2E - TTFT) / (output length - 1)", VLLM;
    itl_seconds: Serving, "Step of decode", TokenSeconds, LOWER, Time,
        "Time between two tokens, or with drafts between two groups of tokens, that arrive \
         together",
        "TPOT x acceptance length", VLLM;
    ttft_unloaded_seconds: Serving, "TTFT, unloaded", Seconds, LOWER, Time,
        "Time to the first token of a request that is alone",
        "prefill of the input, and the transfer of its cache where pools are apart", VLLM;
    ttft_seconds: Serving, "TTFT", Seconds, LOWER, Time,
        "Time to the first token, the median at this load", "unloaded TTFT x queue", VLLM;
    e2e_latency_seconds: Serving, "Request latency", Seconds, LOWER, Time,
        "From sending a request to its last token", "TTFT + (output length - 1) x TPOT", VLLM;
    requests_per_second: Serving, "Requests", PerSecond, HIGHER, Rate,
        "Requests that all devices answer a second", "requests in flight / request latency",
        DERIVED;
    requests_in_flight: Serving, "Requests in flight", Count, NEITHER, Derived,
        "Requests that all devices hold at once: as many as are asked for, at most as memory and \
         the limit of requests allow", "concurrency, memory and limit of requests", DERIVED;
    kv_limited_concurrency: Serving, "Requests that memory holds", Count, HIGHER, Memory,
        "Requests of the mean length whose keys and values fit on all devices",
        "attention groups x cache / cached bytes of input + half of the output", VLLM;
    weights_bytes: Serving, "Weights per device", MemoryBytes, LOWER, Memory,
        "Weights of the fullest device", "parameters x bytes of their format", VLLM;
    kv_cache_bytes: Serving, "Cache per device", MemoryBytes, NEITHER, Memory,
        "Memory of a device that is left for keys and values",
        "memory x share - weights - activations - reserve", VLLM;
    kv_bytes_per_token: Serving, "Cache per token", TokenBytes, LOWER, Exact,
        "Bytes of one further token of a request in the caches of one device",
        "sum over layers of keys and values, latents or compressed keys", VLLM;

    [BudgetMetrics]
    days_to_train: Budget, "Days to train", Days, LOWER, Time,
        "Days from the first step to the last; without a known goodput the days of training alone, \
         which are a floor",
        "tokens / tokens per second / goodput", DERIVED;
    training_days: Budget, "Days of training alone", Days, LOWER, Time,
        "Days of the steps themselves, as if nothing failed and nothing was saved",
        "sum over the batch's warm-up and the rest of tokens / tokens per second", DERIVED;
    device_hours: Budget, "Device-hours", DeviceHours, LOWER, Time,
        "Hours of all devices, spare ones among them", "days x 24 x (devices + spare devices)",
        DERIVED;
    cost: Budget, "Cost", Money, LOWER, Time,
        "Price of the device-hours, in the price's own currency", "device-hours x price", DERIVED;
    energy_kwh: Budget, "Energy", KilowattHours, LOWER, Time,
        "Energy of the devices, and with a PUE that of the facility",
        "device-hours x power of a device x PUE / 1000", DERIVED;
    goodput_ratio: Budget, "Goodput", Ratio(1), HIGHER, Derived,
        "Share of the wall clock that advances the training",
        "t e^(-(t + d + w)/M) / ((1 - e^(-(t + d)/M)) M e^(R/M)): t interval, d stall, w write \
         behind the training, R restart, M time between failures", DALY_2006;
    checkpoint_stall_ratio: Budget, "Stalled by checkpoints", Ratio(1), LOWER, Derived,
        "Share of the wall clock in which training waits for a checkpoint that is kept",
        "goodput x stall / interval", DERIVED;
    lost_work_ratio: Budget, "Lost work", Ratio(1), LOWER, Derived,
        "Share of the wall clock spent on training that a failure undoes",
        "1 - goodput - stalled - restarting", DERIVED;
    restart_ratio: Budget, "Restarting", Ratio(1), LOWER, Derived,
        "Share of the wall clock between a failure and training again", "1 - e^(-R/M)", DALY_2006;
    failures_expected: Budget, "Failures", Count, LOWER, Derived,
        "Failures that stop the run, the mean", "days x 24 x devices / device-hours between \
         failures",
        RESEARCH_CLUSTERS;
    checkpoint_bytes: Budget, "Checkpoint", MemoryBytes, LOWER, Exact,
        "Bytes of weights and optimizer states of the whole model",
        "parameters x (weight + main copy + moments)", BYTECHECKPOINT;
    checkpoint_seconds: Budget, "Writing a checkpoint", Seconds, LOWER, Derived,
        "Time until a checkpoint is on storage", "bytes / rate", DERIVED;
    optimal_checkpoint_interval_seconds: Budget, "Best checkpoint interval", Seconds,
        NEITHER, Derived,
        "Training between two checkpoints at which goodput is highest",
        "1 - t/M = e^(-(t + d)/M); Young: sqrt(2 d M)", DALY_2006;

    [QualityMetrics]
    loss_difference: Quality, "Loss beside the baseline", Nats, LOWER, Derived,
        "Loss less that of the baseline, each after its own tokens, as published laws expect it: \
         the median of four members; below zero is better",
        "median of L(design) - L(baseline)", LING_LEVERAGE;
    loss_difference_min: Quality, "Loss difference, lowest law", Nats, LOWER, Derived,
        "The least difference of the four members", "min of L(design) - L(baseline)",
        LING_LEVERAGE;
    loss_difference_max: Quality, "Loss difference, highest law", Nats, LOWER, Derived,
        "The largest difference of the four members", "max of L(design) - L(baseline)",
        LING_LEVERAGE;
    loss_difference_is_tie: Quality, "Loss not told apart", Verdict, NEITHER, Derived,
        "1 where laws call neither better: the median is below 0.005 nats, signs differ, or the \
         models differ by depth or width alone; else 0",
        "|median| < 0.005 or min < 0 < max or depth or width alone", DERIVED;
    tokens_to_equal_loss: Quality, "Tokens to equal loss", Factor, LOWER, Derived,
        "Tokens for the baseline's loss over the baseline's own, the median of three members",
        "D(L baseline) / D baseline", LING_LEVERAGE;
    tokens_to_equal_loss_min: Quality, "Tokens to equal loss, lowest law", Factor, LOWER, Derived,
        "The least of the three members", "min of D(L baseline) / D baseline", LING_LEVERAGE;
    tokens_to_equal_loss_max: Quality, "Tokens to equal loss, highest law", Factor, LOWER, Derived,
        "The largest of the three members", "max of D(L baseline) / D baseline", LING_LEVERAGE;
    time_to_equal_loss: Quality, "Time to equal loss", Factor, LOWER, Derived,
        "Time to the baseline's loss over the baseline's own time, goodput among it where it is \
         known",
        "tokens to equal loss x tokens per second of the baseline / of the design", DERIVED;
    cost_to_equal_loss: Quality, "Cost to equal loss", Factor, LOWER, Derived,
        "Money to the baseline's loss over the baseline's own: device-hours where a price isn't \
         known",
        "time to equal loss x devices x price / those of the baseline", DERIVED;
    loss_difference_at_equal_time: Quality, "Loss in the same days", Nats, LOWER, Derived,
        "Loss less that of the baseline where the design trains as long as the baseline",
        "median of L(design, D x tokens per second / of the baseline) - L(baseline, D)", DERIVED;
    loss_difference_at_equal_cost: Quality, "Loss for the same money", Nats, LOWER, Derived,
        "Loss less that of the baseline where the design trains for the baseline's money",
        "median of L(design, D x tokens per unit of money / of the baseline) - L(baseline, D)",
        DERIVED;
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn no_two_metrics_have_the_same_name() {
        let mut names: Vec<&str> = MetricId::ALL.iter().map(|id| id.metric().name).collect();
        assert!(MetricId::ALL.iter().all(|id| MetricId::find(id.metric().name) == Some(*id)));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn each_metric_is_listed_by_one_regime_in_registry_order() {
        let tables = [Regime::Training, Regime::Serving, Regime::Budget, Regime::Quality];
        let listed: Vec<MetricId> = tables.into_iter().flat_map(MetricId::of).collect();
        assert_eq!(listed, MetricId::ALL);
    }
}
