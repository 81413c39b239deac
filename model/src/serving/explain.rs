//! A metric of serving as a tree of named terms, from what the inference is made of.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::inference::{Inference, Part, accepted_tokens};
use super::load::{Power, QUEUE};
use super::metric::ServingMetric;
use super::plan::ServingPlan;
use crate::ground::source::{AICONFIGURATOR, DERIVED, VLLM};
use crate::metric::breakdown::{Breakdown, How};

/// A metric of an inference, opened down to its terms.
#[must_use]
pub fn explain(plan: &ServingPlan, inference: &Inference, metric: ServingMetric) -> Breakdown {
    let (row, words) = (metric.metric(), metric.words());
    let (how, children) = Terms { plan, inference }.of(metric);
    Breakdown {
        formula: words.formula.to_string(),
        source: words.source,
        how,
        children,
        ..Breakdown::given(row.label, inference.get(metric), row.unit)
    }
}

/// Plan and inference that terms are made of.
struct Terms<'a> {
    plan: &'a ServingPlan,
    inference: &'a Inference,
}

impl Terms<'_> {
    fn of(&self, metric: ServingMetric) -> (How, Vec<Breakdown>) {
        use ServingMetric as Metric;
        let serving = &self.plan.design().serving;
        let (input, output) = (serving.input_length as f64, serving.output_length as f64);
        match metric {
            Metric::output_tokens_per_second_per_device => self.rate("output", output),
            Metric::total_tokens_per_second_per_device => {
                self.rate("input and output", input + output)
            }
            Metric::tokens_per_second_per_user => {
                let one = Breakdown::given("one token", 1.0, "");
                (How::Quotient, vec![one, self.metric(Metric::tpot_seconds)])
            }
            Metric::tpot_seconds => {
                let accepted = Breakdown::given("tokens of a step", accepted_tokens(self.plan), "")
                    .by("acceptance length; 1 without drafts", VLLM);
                (How::Quotient, vec![self.metric(Metric::itl_seconds), accepted])
            }
            Metric::itl_seconds => self.step(),
            Metric::ttft_unloaded_seconds => self.first_token(),
            Metric::ttft_seconds => {
                let alone = self.metric(Metric::ttft_unloaded_seconds);
                let factor = self.inference.get(metric) / alone.value;
                let Power { factor: times, exponent } = QUEUE.get();
                let formula = alloc::format!(
                    "{times} x requests of a group ^ {exponent}, as measured, at least those in \
                     front"
                );
                let queue = Breakdown::given("queue", factor, "").by(&formula, AICONFIGURATOR);
                (How::Product, vec![alone, queue])
            }
            Metric::e2e_latency_seconds => {
                let further = Breakdown::given("further tokens", (output - 1.0).max(0.0), "")
                    .by("output length - 1", DERIVED);
                let terms = vec![further, self.metric(Metric::tpot_seconds)];
                let decode = Breakdown::product("further tokens' time", "s", terms)
                    .by("further tokens x TPOT", DERIVED);
                (How::Sum, vec![self.metric(Metric::ttft_seconds), decode])
            }
            Metric::requests_per_second => {
                let in_flight = self.metric(Metric::requests_in_flight);
                (How::Quotient, vec![in_flight, self.metric(Metric::e2e_latency_seconds)])
            }
            Metric::requests_in_flight => (How::Given, self.bounds()),
            Metric::kv_limited_concurrency => self.held(),
            Metric::weights_bytes => (How::Given, Vec::new()),
            Metric::kv_cache_bytes => self.cache(),
            Metric::kv_bytes_per_token => (How::Given, Vec::new()),
        }
    }

    fn metric(&self, metric: ServingMetric) -> Breakdown {
        explain(self.plan, self.inference, metric)
    }

    fn rate(&self, name: &str, tokens: f64) -> (How, Vec<Breakdown>) {
        let length = Breakdown::given(&alloc::format!("{name} tokens of a request"), tokens, "");
        let requests = self.metric(ServingMetric::requests_per_second);
        let all = Breakdown::product("tokens a second", "tokens/s", vec![requests, length])
            .by("requests per second x tokens of a request", DERIVED);
        let devices = Breakdown::given("devices", self.plan.devices() as f64, "");
        (How::Quotient, vec![all, devices])
    }

    fn parts(name: &str, parts: &[Part]) -> Breakdown {
        let terms = parts.iter().map(|part| Breakdown::given(part.name, part.seconds, "s"));
        Breakdown::sum(name, "s", terms.collect()).by("sum of its parts", DERIVED)
    }

    fn step(&self) -> (How, Vec<Breakdown>) {
        let step = Self::parts("a step of decode by itself", &self.inference.decode);
        let value = self.inference.get(ServingMetric::itl_seconds);
        let factor = Breakdown::given("time that prompts take from it", value / step.value, "").by(
            "1 / (1 - prompts a second x time by which each delays the others), and what is \
             rounded between the steps that are computed",
            AICONFIGURATOR,
        );
        (How::Product, vec![step, factor])
    }

    fn first_token(&self) -> (How, Vec<Breakdown>) {
        let prompt = Self::parts("prefill of the prompt", &self.inference.prefill);
        let value = self.inference.get(ServingMetric::ttft_unloaded_seconds);
        let sent = value - prompt.value;
        let mut terms = vec![prompt];
        if sent > 0.0 && self.plan.prefill_layout().is_some() {
            terms.push(
                Breakdown::given("sending the cache, and the first step of decode", sent, "s")
                    .by("cached bytes of a prompt / bandwidth between nodes + a step", DERIVED),
            );
        }
        (How::Sum, terms)
    }

    /// Bounds on the requests in flight.
    fn bounds(&self) -> Vec<Breakdown> {
        let serving = &self.plan.design().serving;
        let groups = (self.plan.replicas()[1] * self.plan.layout().data) as f64;
        let asked = serving.concurrency.map(|asked| asked as f64);
        let asked = asked.map(|asked| Breakdown::given("requests that are sent", asked, ""));
        let limit = Breakdown::given("limit of requests", groups * serving.max_num_seqs as f64, "")
            .by("max_num_seqs x attention groups", VLLM);
        let held = self.metric(ServingMetric::kv_limited_concurrency);
        asked.into_iter().chain([held, limit]).collect()
    }

    fn held(&self) -> (How, Vec<Breakdown>) {
        let memory = &self.inference.memory;
        let groups = (self.plan.replicas()[1] * self.plan.layout().data) as f64;
        let all = self.inference.get(ServingMetric::kv_limited_concurrency);
        let cache = self.metric(ServingMetric::kv_cache_bytes);
        let each = Breakdown::given("cache of a request", memory.sequence, "bytes")
            .by("bytes of input + half of the output, in the mean", VLLM);
        let held = Breakdown::given("requests of a group", all / groups, "")
            .by("cache / cache of a request, whole ones", VLLM)
            .beside(vec![cache, each]);
        (How::Product, vec![Breakdown::given("attention groups", groups, ""), held])
    }

    fn cache(&self) -> (How, Vec<Breakdown>) {
        let memory = &self.inference.memory;
        let limit = Breakdown::given("what the engine takes", memory.limit, "bytes")
            .by("memory x gpu_memory_utilization", VLLM);
        let activations = Breakdown::given("activations of a step", memory.activations, "bytes")
            .by("max_num_batched_tokens x widths of a layer x 2 bytes", VLLM);
        let reserve = Breakdown::given("graphs and buffers", memory.reserve, "bytes")
            .by("a reserve of the engine", AICONFIGURATOR);
        let weights = self.metric(ServingMetric::weights_bytes);
        (How::Difference, vec![limit, weights, activations, reserve])
    }
}
