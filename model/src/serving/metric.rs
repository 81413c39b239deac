//! The metrics of serving, in the order in which tables show them.

use crate::ground::source::{AICONFIGURATOR, DERIVED, VLLM};
use crate::metric::{Basis, Better, Metric, Words, metrics};

const NEITHER: Option<Better> = None;
const HIGHER: Option<Better> = Some(Better::Higher);
const LOWER: Option<Better> = Some(Better::Lower);

metrics! {
    ServingMetric:
    output_tokens_per_second_per_device: "Output per device", "tokens/s", HIGHER, Rate,
        "Tokens of answers a second over all devices of the instance, those that prefill among \
         them",
        "requests per second x output length / devices", VLLM;
    total_tokens_per_second_per_device: "Input and output per device", "tokens/s", HIGHER, Rate,
        "Tokens of prompts and answers a second over all devices",
        "requests per second x (input + output length) / devices", AICONFIGURATOR;
    tokens_per_second_per_user: "Speed of an answer", "tokens/s", HIGHER, Rate,
        "Tokens a second that one request gets once its first token has come", "1 / TPOT", VLLM;
    tpot_seconds: "TPOT", "s", LOWER, Time,
        "Time of each output token but the first, mean over a request",
        "(E2E - TTFT) / (output length - 1)", VLLM;
    itl_seconds: "Step of decode", "s", LOWER, Time,
        "Time between two tokens, or with drafts between two groups of tokens, that arrive \
         together",
        "TPOT x acceptance length", VLLM;
    ttft_unloaded_seconds: "TTFT, unloaded", "s", LOWER, Time,
        "Time to the first token of a request that is alone",
        "prefill of the input, and the transfer of its cache where pools are apart", VLLM;
    ttft_seconds: "TTFT", "s", LOWER, Time,
        "Time to the first token, the median at this load", "unloaded TTFT x queue", VLLM;
    e2e_latency_seconds: "Request latency", "s", LOWER, Time,
        "From sending a request to its last token", "TTFT + (output length - 1) x TPOT", VLLM;
    requests_per_second: "Requests", "1/s", HIGHER, Rate,
        "Requests that all devices answer a second", "requests in flight / request latency",
        DERIVED;
    requests_in_flight: "Requests in flight", "", NEITHER, Derived,
        "Requests that all devices hold at once: as many as are asked for, at most as memory and \
         the limit of requests allow", "concurrency, memory and limit of requests", DERIVED;
    kv_limited_concurrency: "Requests that memory holds", "", HIGHER, Memory,
        "Requests of the mean length whose keys and values fit on all devices",
        "attention groups x cache / cached bytes of input + half of the output", VLLM;
    weights_bytes: "Weights per device", "bytes", LOWER, Memory,
        "Weights of the fullest device", "parameters x bytes of their format", VLLM;
    kv_cache_bytes: "Cache per device", "bytes", NEITHER, Memory,
        "Memory of a device that is left for keys and values",
        "memory x share - weights - activations - reserve", VLLM;
    kv_bytes_per_token: "Cache per token", "bytes", LOWER, Exact,
        "Bytes of one further token of a request in the caches of one device",
        "sum over layers of keys and values, latents or compressed keys", VLLM;
}
