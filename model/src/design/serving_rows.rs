//! The rows of the knobs of serving, under the names of vLLM, SGLang and TensorRT-LLM.

use crate::ground::choice::{Choice as _, Disaggregation, Engine, GraphMode, KvDtype, WeightDtype};
use crate::ground::knob::Kind::*;
use crate::ground::knob::Row;
use crate::ground::source::{DEEPSEEK_V3, KTRANSFORMERS, PREMOE, SGLANG, TENSORRT_LLM};

pub(super) const ENGINE: Row = Row::serving(
    "Engine",
    Choice(Engine::NAMES),
    "Whose overheads, buffers and schedule of requests count; ideal has no overhead",
);
pub(super) const TENSOR_PARALLEL_SIZE: Row = Row::serving(
    "Tensor parallel in serving",
    Integer(1, 1_024),
    "Devices that split attention and dense matrices",
)
.by_factor();
pub(super) const PIPELINE_PARALLEL_SIZE: Row =
    Row::serving("Pipeline parallel in serving", Integer(1, 1_024), "Stages that split the layers")
        .by_factor();
pub(super) const DATA_PARALLEL_SIZE: Row = Row::serving(
    "Attention data parallel",
    Integer(1, 1_024),
    "Groups with requests and a cache of their own that share one set of experts",
)
.by_factor();
pub(super) const MOE_EXPERT_PARALLEL_SIZE: Row = Row::serving(
    "Expert parallel in serving",
    Integer(1, 4_096),
    "Devices that whole experts are spread over",
)
.source(TENSORRT_LLM)
.by_factor();
pub(super) const MOE_TENSOR_PARALLEL_SIZE: Row = Row::serving(
    "Expert tensor parallel in serving",
    OptionalInteger(1, 1_024),
    "Devices that split one expert; none is what expert parallelism leaves of tensor x data \
     parallel",
)
.source(TENSORRT_LLM)
.by_factor();
pub(super) const DISAGGREGATION: Row = Row::serving(
    "Disaggregation",
    Choice(Disaggregation::NAMES),
    "Whether prefill and decode run on devices of their own",
);
pub(super) const PREFILL_DEVICES: Row = Row::serving(
    "Prefill devices",
    OptionalInteger(1, 65_536),
    "Devices of the prefill pool; none is what the decode pool leaves",
)
.by_factor();
pub(super) const DECODE_DEVICES: Row = Row::serving(
    "Decode devices",
    OptionalInteger(1, 65_536),
    "Devices of the decode pool; none is what the prefill pool leaves",
)
.by_factor();
pub(super) const PREFILL_TENSOR_PARALLEL_SIZE: Row = Row::serving(
    "Prefill tensor parallel",
    OptionalInteger(1, 1_024),
    "The same of a prefill instance; none is as in decode",
)
.by_factor();
pub(super) const PREFILL_DATA_PARALLEL_SIZE: Row = Row::serving(
    "Prefill attention data parallel",
    OptionalInteger(1, 1_024),
    "The same of a prefill instance; none is as in decode",
)
.by_factor();
pub(super) const PREFILL_PIPELINE_PARALLEL_SIZE: Row = Row::serving(
    "Prefill pipeline parallel",
    OptionalInteger(1, 1_024),
    "The same of a prefill instance; none is as in decode",
)
.by_factor();
pub(super) const PREFILL_MOE_EXPERT_PARALLEL_SIZE: Row = Row::serving(
    "Prefill expert parallel",
    OptionalInteger(1, 4_096),
    "The same of a prefill instance; none is as in decode",
)
.by_factor();
pub(super) const PREFILL_MOE_TENSOR_PARALLEL_SIZE: Row = Row::serving(
    "Prefill expert tensor parallel",
    OptionalInteger(1, 1_024),
    "The same of a prefill instance; none is what its expert parallelism leaves",
)
.by_factor();
pub(super) const MAX_NUM_SEQS: Row = Row::serving(
    "Most requests at once",
    Integer(1, 65_536),
    "Requests that one attention group decodes together, at most",
)
.by_factor();
pub(super) const MAX_NUM_BATCHED_TOKENS: Row = Row::serving(
    "Token budget",
    Integer(16, 1_048_576),
    "Tokens of one step of an attention group, prefill and decode together, at most",
)
.unit("tokens")
.by_factor();
pub(super) const ENABLE_CHUNKED_PREFILL: Row = Row::serving(
    "Chunked prefill",
    Flag,
    "Prompts are cut to the token budget and run beside decode; else whole prompts run alone",
);
pub(super) const GPU_MEMORY_UTILIZATION: Row = Row::serving(
    "Memory share",
    Real(0.05, 1.0),
    "Share of the device's memory that the engine takes, the cache of keys and values last",
);
pub(super) const PREFIX_CACHE_HIT_RATE: Row = Row::serving(
    "Prefix cache hits",
    Real(0.0, 0.999),
    "Share of the input whose keys and values are cached already",
);
pub(super) const TWO_BATCH_OVERLAP: Row = Row::serving(
    "Two-batch overlap",
    Flag,
    "A batch runs as two halves, each one's exchanges beside the other's compute",
)
.source(SGLANG);
pub(super) const GRAPH_MODE: Row = Row::serving(
    "Graphs in decode",
    Choice(GraphMode::NAMES),
    "Whether the kernels of a decode step are replayed, or launched one by one by the host",
);
pub(super) const NUM_SPECULATIVE_TOKENS: Row = Row::serving(
    "Drafted tokens",
    Integer(0, 16),
    "Tokens that MTP layers draft for each step and the model verifies",
)
.source(DEEPSEEK_V3);
pub(super) const ACCEPTANCE_LENGTH: Row = Row::serving(
    "Acceptance length",
    OptionalReal(1.0, 17.0),
    "Tokens that a step yields in the mean, the model's own among them; none is the published mean \
     of this many drafts",
)
.unit("tokens");
pub(super) const WEIGHT_DTYPE: Row = Row::serving(
    "Weights",
    Choice(WeightDtype::NAMES),
    "Number format of linear layers; embedding, head, router and norms stay in 16 bits",
);
pub(super) const KV_CACHE_DTYPE: Row =
    Row::serving("Cache", Choice(KvDtype::NAMES), "Number format of cached keys and values");
pub(super) const EXPERTS_KEPT: Row = Row::serving(
    "Experts kept",
    OptionalInteger(1, 65_536),
    "Routed experts of a layer that are loaded, with their rows of the router; none is all",
)
.source(PREMOE)
.by_factor();
pub(super) const EXPERTS_KEPT_TOPK: Row = Row::serving(
    "Top-k of those kept",
    OptionalInteger(1, 1_024),
    "Experts that a token visits of those kept; none is the model's top-k",
)
.source(PREMOE);
pub(super) const EXPERTS_ON_HOST: Row = Row::serving(
    "Experts on the host",
    Integer(0, 65_536),
    "Routed experts of a layer in host memory, computed there or sent, whichever is faster",
)
.source(KTRANSFORMERS)
.by_factor();
pub(super) const EXPERT_CACHE_HIT_RATE: Row = Row::serving(
    "Expert hits",
    OptionalReal(0.0, 1.0),
    "Share of visits that go to experts on the device; none is their share of the experts",
)
.source(KTRANSFORMERS);
pub(super) const HOST_MEMORY_GB_PER_SEC: Row = Row::serving(
    "Host memory bandwidth",
    OptionalReal(1.0, 100_000.0),
    "Nominal, of a node's host; none is that of its usual processors",
)
.source(KTRANSFORMERS)
.unit("GB/s");
pub(super) const HOST_TFLOPS: Row = Row::serving(
    "Host compute",
    OptionalReal(0.01, 10_000.0),
    "What a node's host reaches in products of experts; none is its processors' measured rate",
)
.source(KTRANSFORMERS)
.unit("TFLOPS");
pub(super) const INPUT_LENGTH: Row =
    Row::serving("Input length", Integer(1, 16_777_216), "Tokens of a prompt")
        .unit("tokens")
        .by_factor();
pub(super) const OUTPUT_LENGTH: Row =
    Row::serving("Output length", Integer(1, 1_048_576), "Tokens of an answer")
        .unit("tokens")
        .by_factor();
pub(super) const CONCURRENCY: Row = Row::serving(
    "Concurrency",
    OptionalInteger(1, 1_048_576),
    "Requests in flight on all devices together; none is as many as memory and the limit of \
     requests hold",
)
.by_factor();
pub(super) const REQUEST_RATE: Row = Row::serving(
    "Request rate",
    OptionalReal(0.0001, 1_000_000.0),
    "Requests that arrive a second; none sends the next one when one is answered",
)
.unit("1/s");
pub(super) const TTFT_LIMIT: Row = Row::serving(
    "Limit of TTFT",
    OptionalReal(0.1, 10_000_000.0),
    "Time to the first token that is still good; none has no limit",
)
.unit("ms");
pub(super) const TPOT_LIMIT: Row = Row::serving(
    "Limit of TPOT",
    OptionalReal(0.01, 1_000_000.0),
    "Time of each further token that is still good; none has no limit",
)
.unit("ms");
