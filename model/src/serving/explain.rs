//! A metric of serving as a tree of named terms, from what the inference is made of.

use alloc::vec;
use alloc::vec::Vec;

use super::inference::{Inference, Part, accepted_tokens};
use super::load::{Power, QUEUE};
use super::plan::ServingPlan;
use crate::ground::source::{AICONFIGURATOR, DERIVED, VLLM};
use crate::metric::breakdown::{Breakdown, How, Terms};
use crate::metric::{MetricId, ServingMetrics, Unit};

/// A metric of an inference, opened down to its terms; none of a metric that isn't of serving.
pub(crate) fn explain(
    plan: &ServingPlan,
    inference: &Inference,
    metric: MetricId,
) -> Option<Breakdown> {
    Opened { plan, inference }.opened(metric)
}

/// Plan and inference that terms are made of.
struct Opened<'a> {
    plan: &'a ServingPlan,
    inference: &'a Inference,
}

/// Terms of each metric.
const TERMS: ServingMetrics<fn(&Opened<'_>) -> Terms> = ServingMetrics {
    output_tokens_per_second_per_device: |of| of.rate("output", of.output()),
    total_tokens_per_second_per_device: |of| {
        of.rate("input and output", of.plan.design().serving.input_length as f64 + of.output())
    },
    tokens_per_second_per_user: |of| {
        let one = Breakdown::given("one token", 1.0, Unit::Count);
        (How::Quotient, vec![one, of.metric(MetricId::tpot_seconds)])
    },
    tpot_seconds: |of| {
        let accepted = accepted_tokens(of.plan);
        let accepted = Breakdown::given("tokens of a step", accepted, Unit::Count)
            .by("acceptance length; 1 without drafts", VLLM);
        (How::Quotient, vec![of.metric(MetricId::itl_seconds), accepted])
    },
    itl_seconds: |of| of.step(),
    ttft_unloaded_seconds: |of| of.first_token(),
    ttft_seconds: |of| {
        let alone = of.metric(MetricId::ttft_unloaded_seconds);
        let factor = of.inference.metrics.ttft_seconds / alone.value;
        let Power { factor: times, exponent } = QUEUE.get();
        let formula = alloc::format!(
            "{times} x requests of a group ^ {exponent}, as measured, at least those in front"
        );
        let queue = Breakdown::given("queue", factor, Unit::Factor).by(&formula, AICONFIGURATOR);
        (How::Product, vec![alone, queue])
    },
    e2e_latency_seconds: |of| {
        let further = (of.output() - 1.0).max(0.0);
        let further = Breakdown::given("further tokens", further, Unit::Count)
            .by("output length - 1", DERIVED);
        let terms = vec![further, of.metric(MetricId::tpot_seconds)];
        let decode = Breakdown::product("further tokens' time", Unit::Seconds, terms)
            .by("further tokens x TPOT", DERIVED);
        (How::Sum, vec![of.metric(MetricId::ttft_seconds), decode])
    },
    requests_per_second: |of| {
        let in_flight = of.metric(MetricId::requests_in_flight);
        (How::Quotient, vec![in_flight, of.metric(MetricId::e2e_latency_seconds)])
    },
    requests_in_flight: |of| (How::Given, of.bounds()),
    kv_limited_concurrency: |of| of.held(),
    weights_bytes: |_| (How::Given, Vec::new()),
    kv_cache_bytes: |of| of.cache(),
    kv_bytes_per_token: |_| (How::Given, Vec::new()),
};

impl Opened<'_> {
    fn opened(&self, metric: MetricId) -> Option<Breakdown> {
        let (value, terms) = (self.inference.metrics.get(metric)?, TERMS.get(metric)?);
        let words = ServingMetrics::WORDS.get(metric)?;
        Some(Breakdown::of_metric(metric, words, *value, terms(self)))
    }

    /// A metric as a term of another.
    fn metric(&self, metric: MetricId) -> Breakdown {
        Breakdown::or_unknown(metric, self.opened(metric))
    }

    fn output(&self) -> f64 {
        self.plan.design().serving.output_length as f64
    }

    fn rate(&self, name: &str, tokens: f64) -> Terms {
        let length =
            Breakdown::given(&alloc::format!("{name} tokens of a request"), tokens, Unit::Count);
        let requests = self.metric(MetricId::requests_per_second);
        let all =
            Breakdown::product("tokens a second", Unit::TokensPerSecond, vec![requests, length])
                .by("requests per second x tokens of a request", DERIVED);
        let devices = Breakdown::given("devices", self.plan.devices() as f64, Unit::Count);
        (How::Quotient, vec![all, devices])
    }

    fn parts(name: &str, parts: &[Part]) -> Breakdown {
        let terms =
            parts.iter().map(|part| Breakdown::given(part.name, part.time.get(), Unit::Seconds));
        Breakdown::sum(name, Unit::Seconds, terms.collect()).by("sum of its parts", DERIVED)
    }

    fn step(&self) -> Terms {
        let step = Self::parts("a step of decode by itself", &self.inference.decode);
        let value = self.inference.metrics.itl_seconds;
        let factor =
            Breakdown::given("time that prompts take from it", value / step.value, Unit::Count).by(
                "1 / (1 - prompts a second x time by which each delays the others), and what is \
             rounded between the steps that are computed",
                AICONFIGURATOR,
            );
        (How::Product, vec![step, factor])
    }

    fn first_token(&self) -> Terms {
        let prompt = Self::parts("prefill of the prompt", &self.inference.prefill);
        let value = self.inference.metrics.ttft_unloaded_seconds;
        let sent = value - prompt.value;
        let mut terms = vec![prompt];
        if sent > 0.0 && self.plan.prefill_layout().is_some() {
            terms.push(
                Breakdown::given(
                    "sending the cache, and the first step of decode",
                    sent,
                    Unit::Seconds,
                )
                .by("cached bytes of a prompt / bandwidth between nodes + a step", DERIVED),
            );
        }
        (How::Sum, terms)
    }

    /// Bounds on the requests in flight.
    fn bounds(&self) -> Vec<Breakdown> {
        let serving = &self.plan.design().serving;
        let groups = (self.plan.replicas().decode * self.plan.layout().data) as f64;
        let asked = serving.concurrency.map(|asked| asked as f64);
        let asked =
            asked.map(|asked| Breakdown::given("requests that are sent", asked, Unit::Count));
        let limit = Breakdown::given(
            "limit of requests",
            groups * serving.max_num_seqs as f64,
            Unit::Count,
        )
        .by("max_num_seqs x attention groups", VLLM);
        let held = self.metric(MetricId::kv_limited_concurrency);
        asked.into_iter().chain([held, limit]).collect()
    }

    fn held(&self) -> Terms {
        let memory = &self.inference.memory;
        let groups = (self.plan.replicas().decode * self.plan.layout().data) as f64;
        let all = self.inference.metrics.kv_limited_concurrency;
        let cache = self.metric(MetricId::kv_cache_bytes);
        let each = Breakdown::given("cache of a request", memory.sequence.get(), Unit::MemoryBytes)
            .by("bytes of input + half of the output, in the mean", VLLM);
        let held = Breakdown::given("requests of a group", all / groups, Unit::Count)
            .by("cache / cache of a request, whole ones", VLLM)
            .beside(vec![cache, each]);
        (How::Product, vec![Breakdown::given("attention groups", groups, Unit::Count), held])
    }

    fn cache(&self) -> Terms {
        let memory = &self.inference.memory;
        let limit =
            Breakdown::given("what the engine takes", memory.limit.get(), Unit::MemoryBytes)
                .by("memory x gpu_memory_utilization", VLLM);
        let activations =
            Breakdown::given("activations of a step", memory.activations.get(), Unit::MemoryBytes)
                .by("max_num_batched_tokens x widths of a layer x 2 bytes", VLLM);
        let reserve =
            Breakdown::given("graphs and buffers", memory.reserve.get(), Unit::MemoryBytes)
                .by("a reserve of the engine", AICONFIGURATOR);
        let weights = self.metric(MetricId::weights_bytes);
        (How::Difference, vec![limit, weights, activations, reserve])
    }
}
