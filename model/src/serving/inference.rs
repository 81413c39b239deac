//! What serving gives: latencies, throughput, memory, and the bottleneck.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::engine::is_known;
use super::host::HostExperts;
use super::instance::{Instance, expert_params};
use super::load::{Flow, QUEUE_BAND, Steps, closed, open};
use super::memory::ServingMemory;
use super::pass::{Batch, Pass, Runner};
use super::plan::ServingPlan;
use super::resident::Resident;
use super::speculation::accepted;
use crate::ground::choice::Choice;
use crate::ground::units::Seconds;
use crate::metric::ServingMetrics;
use crate::routing::Effect;

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Time of the part.
    pub time: Seconds,
}

/// When the first tokens of four of five requests come that are sent at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstTokens {
    /// The soonest.
    pub soonest: Seconds,
    /// The latest.
    pub latest: Seconds,
}

/// Bottleneck of the throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// The requests that are sent.
    Concurrency,
    /// Memory for keys and values.
    Memory,
    /// The limit of requests.
    Requests,
    /// The rate at which requests arrive.
    Arrivals,
    /// The pool that prefills.
    Prefill,
    /// The pool that decodes.
    Decode,
}

impl Bottleneck {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Memory => "kv_memory",
            Self::Requests => "max_num_seqs",
            Self::Arrivals => "request_rate",
            Self::Prefill => "prefill_pool",
            Self::Decode => "decode_pool",
        }
    }
}

impl Bottleneck {
    /// Name of the bottleneck, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Memory => "memory for the KV cache",
            Self::Requests => "the limit of requests at once",
            Self::Arrivals => "the arrival rate",
            Self::Prefill => "the prefill pool",
            Self::Decode => "the decode pool",
        }
    }
}

/// The prediction for one design that serves.
#[derive(Clone, Debug, PartialEq)]
pub struct Inference {
    /// The value of each metric, in its registered unit.
    pub metrics: ServingMetrics<f64>,
    /// Between when first tokens come.
    pub first_tokens: FirstTokens,
    /// Bottleneck of the throughput.
    pub bottleneck: Bottleneck,
    /// A step of decode by part.
    pub decode: Vec<Part>,
    /// A prompt by part.
    pub prefill: Vec<Part>,
    /// Memory of the fullest device that decodes.
    pub memory: ServingMemory,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// Tokens of a prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prompt {
    /// Tokens that are computed.
    new: f64,
    /// Tokens that are cached.
    cached: f64,
}

/// A step of decode.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DecodeStep {
    /// The model's pass.
    pass: Pass,
    /// The drafts.
    draft: Pass,
}

impl DecodeStep {
    fn time(&self) -> Seconds {
        self.pass.time() + self.draft.time()
    }
}

/// One pool as a group of it sees its steps.
struct Pool<'a> {
    plan: &'a ServingPlan,
    runner: Runner<'a>,
    stages: f64,
}

impl<'a> Pool<'a> {
    fn new(plan: &'a ServingPlan, instance: &'a Instance) -> Self {
        let runner = Runner {
            design: &plan.design,
            architecture: &plan.architecture,
            instance,
            overheads: &plan.overheads,
            skew: plan.skew(instance),
            resident: Resident::new(&plan.served),
            host: plan.host_experts(instance),
        };
        Self { plan, runner, stages: instance.deployment.ranks.pp as f64 }
    }

    fn prompt(&self) -> Prompt {
        let serving = &self.plan.design.serving;
        let input = serving.input_length as f64;
        let new = libm::ceil(input * (1.0 - serving.prefix_cache_hit_rate)).max(1.0);
        Prompt { new, cached: input - new }
    }

    /// The pass of one prompt: chunk after chunk of the budget.
    fn prefill(&self) -> Pass {
        let Prompt { new, cached } = self.prompt();
        let budget = self.plan.design.serving.max_num_batched_tokens as f64;
        let chunks = if self.plan.design.serving.enable_chunked_prefill {
            libm::ceil(new / budget)
        } else {
            1.0
        };
        let each = libm::ceil(new / chunks);
        // In the mean half of the chunks are cached in front of one.
        let in_front = cached + (new - each) / 2.0;
        let batch = Batch { sequences: 1.0, new: each as u64, cached: in_front };
        self.runner.pass(&batch).times(chunks)
    }

    /// Time of a prompt where a step takes as many as the budget has.
    fn filled_prefill(&self) -> Seconds {
        let Prompt { new, .. } = self.prompt();
        let budget = self.plan.design.serving.max_num_batched_tokens as f64;
        let prompts = libm::floor(budget / new).max(1.0);
        self.prompts(prompts) / prompts
    }

    /// Time of so many prompts in one step, chunks of one that is longer than the budget.
    fn prompts(&self, prompts: f64) -> Seconds {
        if prompts < 2.0 {
            return self.prefill().time();
        }
        let Prompt { new, cached } = self.prompt();
        let batch = Batch { sequences: prompts, new: new as u64, cached };
        self.runner.pass(&batch).time()
    }

    /// A step of decode of so many requests of a group, in the middle of their answers. Stages work
    /// on a share of the requests each.
    fn decode(&self, requests: f64) -> DecodeStep {
        let serving = &self.plan.design.serving;
        let drafts = serving.num_speculative_tokens;
        let cached = serving.input_length as f64 + serving.output_length as f64 / 2.0;
        let sequences = (requests / self.stages).max(1.0);
        let batch = Batch { sequences, new: 1 + drafts, cached };
        let pass = self.runner.pass(&batch);
        let mut draft = Pass::default();
        if drafts > 0 {
            draft.ends = self.runner.draft(&batch) * drafts as f64;
        }
        DecodeStep { pass, draft }
    }

    fn step(&self, requests: f64) -> Seconds {
        self.decode(requests).time()
    }
}

impl ServingPlan {
    /// Mean load of the busiest expert rank over that of all, by section `routing`.
    pub(super) fn skew(&self, instance: &Instance) -> f64 {
        if self.architecture.moe().is_none() || instance.deployment.ranks.ep == 1 {
            return 1.0;
        }
        let mut design = self.served.clone();
        design.parallel.expert_model_parallel_size = instance.deployment.ranks.ep;
        Effect::of(&design).steps.imbalance
    }
}

/// The limits of a design's times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    ttft: Option<Seconds>,
    tpot: Option<Seconds>,
}

impl Limits {
    pub(crate) fn of(plan: &ServingPlan) -> Self {
        let serving = &plan.design.serving;
        Self {
            ttft: serving.ttft_limit_milliseconds.map(Seconds::millis),
            tpot: serving.tpot_limit_milliseconds.map(Seconds::millis),
        }
    }

    /// Whether both times are within them.
    pub(crate) fn hold(self, ttft: Seconds, tpot: Seconds) -> bool {
        self.ttft.is_none_or(|limit| ttft <= limit) && self.tpot.is_none_or(|limit| tpot <= limit)
    }
}

/// Summary of a load in few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quick {
    /// Requests of a group that memory and the limit of requests let through.
    pub(crate) in_flight: f64,
    pub(crate) per_device: f64,
    pub(crate) ttft: Seconds,
    pub(crate) tpot: Seconds,
}

/// A plan of one pool at this many requests of each group.
pub(crate) fn quick(plan: &ServingPlan, requests: f64) -> Quick {
    let memory = ServingMemory::new(&plan.design, &plan.architecture, &plan.decode);
    let limit = plan.design.serving.max_num_seqs as f64;
    let in_flight = requests.min(memory.sequences()).min(limit).max(1.0);
    let pools = Pools::new(plan);
    let flow = pools.flow(in_flight, None).0;
    let output = plan.design.serving.output_length as f64;
    Quick {
        in_flight,
        per_device: flow.rate * plan.groups() * output / plan.devices() as f64,
        ttft: flow.ttft,
        tpot: flow.tpot,
    }
}

/// Both pools of a plan; the same one where they aren't apart.
struct Pools<'a> {
    plan: &'a ServingPlan,
    decode: Pool<'a>,
    prefill: Pool<'a>,
}

impl<'a> Pools<'a> {
    fn new(plan: &'a ServingPlan) -> Self {
        let prefill = plan.prefill.as_ref().unwrap_or(&plan.decode);
        Self { plan, decode: Pool::new(plan, &plan.decode), prefill: Pool::new(plan, prefill) }
    }

    /// The flow of a closed loop of so many requests of each group, or of requests that arrive at a
    /// rate; the prompt's pass, and its time to the first token.
    fn flow(&self, in_flight: f64, rate: Option<f64>) -> (Flow, Pass, Seconds) {
        let (plan, decode) = (self.plan, &self.decode);
        let alone = self.prefill.prefill();
        let is_apart = plan.prefill.is_some();
        let filled = self.prefill.filled_prefill();
        let most = decode.decode(in_flight);
        let last = most.time();
        let [first, middle] = [1.0, (in_flight / 2.0).max(1.0)].map(|it| decode.step(it));
        let step = |requests: f64| interpolated([first, middle, last], in_flight, requests);
        // What a step of decode has anyway is paid once where prompts run in it.
        let shared = most.pass.time() - most.pass.core - most.pass.host;
        let stages = decode.stages;
        let delay = |_: f64| {
            if is_apart {
                return Seconds::ZERO;
            }
            let own = alone.time() / stages;
            let others = (plan.decode.layout.data - 1) as f64 * plan.overheads.lockstep;
            let delay = if plan.overheads.mixes {
                (own - shared / stages).max(own * 0.3)
            } else {
                filled / stages
            };
            delay * (1.0 + others)
        };
        // Apart, the cache is sent and the first step of decode follows.
        let sent = if is_apart { plan.transfer() + last } else { Seconds::ZERO };
        let prompt = alone.time() + sent;
        let steps = Steps {
            step: &step,
            delay: &delay,
            prompt,
            output: plan.design.serving.output_length as f64,
            accepted: accepted(&plan.design),
            queue: plan.overheads.queue,
        };
        let flow = match rate {
            Some(rate) => open(&steps, rate, in_flight),
            None => closed(&steps, in_flight),
        };
        let flow = if is_apart { fed_by(&steps, flow, self.fed(filled)) } else { flow };
        (flow, alone, prompt)
    }

    /// Requests a second of a decoding group that the prefill pool feeds, at so long a prompt.
    fn fed(&self, filled: Seconds) -> f64 {
        let layout = self.prefill.runner.instance.layout;
        let prompts = (self.plan.replicas.prefill * layout.data) as f64;
        prompts * self.prefill.stages / filled.get() / self.plan.groups()
    }
}

/// Serves a plan.
#[must_use]
pub fn infer(plan: &ServingPlan) -> Inference {
    let (design, serving) = (&plan.design, &plan.design.serving);
    let memory = ServingMemory::new(design, &plan.architecture, &plan.decode);
    let groups = plan.groups();
    let fitting = memory.sequences();
    let asked = serving.concurrency.map_or(f64::INFINITY, |all| all as f64 / groups);
    let limit = serving.max_num_seqs as f64;
    let in_flight = asked.min(fitting).min(limit).max(1.0);
    let mut bottleneck = if asked <= fitting.min(limit) {
        Bottleneck::Concurrency
    } else if fitting <= limit {
        Bottleneck::Memory
    } else {
        Bottleneck::Requests
    };
    let pools = Pools::new(plan);
    let (flow, alone, prompt) = pools.flow(in_flight, serving.request_rate.map(|it| it / groups));
    if serving.request_rate.is_some() && flow.in_flight < in_flight * 0.999 {
        bottleneck = Bottleneck::Arrivals;
    }
    if plan.prefill.is_some() {
        let fed = pools.fed(pools.prefill.filled_prefill());
        bottleneck = if flow.rate >= fed * 0.99 { Bottleneck::Prefill } else { Bottleneck::Decode };
    }
    let shown = pools.decode.decode(flow.decoding.max(1.0));
    gathered(plan, &flow, &Found { memory, bottleneck, alone, prompt, shown, fitting })
}

/// A flow that gets no more requests than this a second.
fn fed_by(steps: &Steps<'_>, flow: Flow, fed: f64) -> Flow {
    if flow.rate <= fed { flow } else { open(steps, fed, flow.in_flight) }
}

/// Between three points at 1, b / 2 and b requests.
fn interpolated([first, middle, last]: [Seconds; 3], most: f64, requests: f64) -> Seconds {
    let half = most / 2.0;
    if half <= 1.0 {
        let share = if most > 1.0 { (requests - 1.0) / (most - 1.0) } else { 1.0 };
        return first + (last - first) * share.clamp(0.0, 1.0);
    }
    if requests >= half {
        middle + (last - middle) * ((requests - half) / half).min(1.0)
    } else {
        first + (middle - first) * ((requests - 1.0) / (half - 1.0)).max(0.0)
    }
}

/// Parts of which an inference is put together.
struct Found {
    memory: ServingMemory,
    bottleneck: Bottleneck,
    alone: Pass,
    prompt: Seconds,
    shown: DecodeStep,
    fitting: f64,
}

fn gathered(plan: &ServingPlan, flow: &Flow, found: &Found) -> Inference {
    let serving = &plan.design.serving;
    let groups = plan.groups();
    let (input, output) = (serving.input_length as f64, serving.output_length as f64);
    let devices = plan.devices() as f64;
    let rate = flow.rate * plan.busy_groups();
    let Found { memory, bottleneck, alone, prompt, shown, fitting } = *found;
    let metrics = ServingMetrics {
        output_tokens_per_second_per_device: rate * output / devices,
        total_tokens_per_second_per_device: rate * (input + output) / devices,
        tokens_per_second_per_user: 1.0 / flow.tpot.get(),
        tpot_seconds: flow.tpot.get(),
        itl_seconds: flow.tpot.get() * accepted(&plan.design),
        ttft_unloaded_seconds: prompt.get(),
        ttft_seconds: flow.ttft.get(),
        e2e_latency_seconds: flow.latency(output).get(),
        requests_per_second: rate,
        requests_in_flight: flow.in_flight * plan.busy_groups(),
        kv_limited_concurrency: fitting.min(1e9) * groups,
        weights_bytes: memory.weights.get(),
        kv_cache_bytes: memory.cache.get(),
        kv_bytes_per_token: memory.token.get(),
    };
    let parts = |pass: &Pass| {
        pass.parts().into_iter().map(|(name, time)| Part { name, time }).collect::<Vec<_>>()
    };
    let mut decode = parts(&shown.pass);
    if shown.draft.time() > Seconds::ZERO {
        decode.push(Part { name: "Drafts", time: shown.draft.time() });
    }
    Inference {
        metrics,
        first_tokens: first_tokens(flow),
        bottleneck,
        decode,
        prefill: parts(&alone),
        memory,
        warnings: warnings(plan, flow, fitting * groups),
    }
}

/// Between when first tokens come: those of one request at its own time.
fn first_tokens(flow: &Flow) -> FirstTokens {
    let [soonest, latest] = if flow.in_flight > 1.0 { QUEUE_BAND.get() } else { [1.0; 2] };
    FirstTokens { soonest: flow.ttft * soonest, latest: flow.ttft * latest }
}

/// Warnings for the reader of an inference.
fn warnings(plan: &ServingPlan, flow: &Flow, fitting: f64) -> Vec<String> {
    let (design, serving) = (&plan.design, &plan.design.serving);
    let mut said = Vec::new();
    if !is_known(serving.engine, design.cluster.accelerator) {
        said.push(format!(
            "no published run of {} on {} is known: its overheads are those of the nearest one",
            serving.engine.name(),
            design.cluster.accelerator.row().title
        ));
    }
    if let Some(asked) = serving.concurrency.filter(|asked| *asked as f64 > fitting) {
        said.push(format!(
            "memory holds {fitting:.0} of the {asked} requests; the others wait, which TTFT \
             doesn't count"
        ));
    }
    let own = design.transformer.moe_router_topk;
    if let Some(topk) = serving.experts_kept_topk.filter(|topk| *topk > own) {
        said.push(format!("tokens visit {topk} experts, the model was trained with {own}"));
    }
    if serving.num_speculative_tokens > 0 && serving.acceptance_length.is_none() {
        said.push(format!(
            "{:.2} tokens a step are those of DeepSeek-R1 with as many drafts; set \
             serving.acceptance_length for another model or text",
            accepted(design)
        ));
    }
    let limits = [
        ("TTFT", flow.ttft, serving.ttft_limit_milliseconds),
        ("TPOT", flow.tpot, serving.tpot_limit_milliseconds),
    ];
    for (name, time, limit) in limits {
        if let Some(limit) = limit.filter(|limit| time.get() * 1e3 > *limit) {
            let millis = libm::round(time.get() * 1e4) / 10.0;
            said.push(format!("{name} of {millis} ms is above the limit of {limit} ms"));
        }
    }
    if serving.request_rate.is_some_and(|rate| flow.rate * 1.001 < rate / plan.groups()) {
        said.push("requests arrive faster than they are answered: the queue grows".into());
    }
    said
}

impl ServingPlan {
    /// Attention groups of all instances that decode.
    fn groups(&self) -> f64 {
        (self.replicas.decode * self.decode.layout.data) as f64
    }

    /// Experts of an instance in host memory, if any.
    pub(super) fn host_experts(&self, instance: &Instance) -> Option<HostExperts> {
        let moe = self.architecture.moe()?;
        let on_host = self.design.serving.experts_on_host.min(moe.experts);
        if on_host == 0 {
            return None;
        }
        let visits = moe.visited() * (1.0 - Resident::new(&self.served).hits);
        let params = expert_params(moe, instance);
        let experts = [on_host as f64, visits];
        Some(HostExperts::new(&self.design, instance, experts, params, self.on_host))
    }

    /// Groups that have a request where fewer are sent than there are groups.
    fn busy_groups(&self) -> f64 {
        let asked = self.design.serving.concurrency;
        asked.map_or(self.groups(), |asked| self.groups().min(asked as f64))
    }

    /// Devices that serve: whole instances of both pools.
    #[must_use]
    pub fn devices(&self) -> u64 {
        let prefill = self.prefill.as_ref().map_or(0, |instance| instance.layout.devices());
        self.replicas.prefill * prefill + self.replicas.decode * self.decode.layout.devices()
    }

    /// Time in which a request's cache goes from a prefill instance to one that decodes, each
    /// device sending its part over the network.
    fn transfer(&self) -> Seconds {
        let Some(prefill) = &self.prefill else { return Seconds::ZERO };
        let serving = &self.design.serving;
        let element = serving.kv_cache_dtype.bytes();
        let input = serving.input_length as f64;
        let bytes = prefill.cached_bytes(&self.architecture, input, element);
        bytes / prefill.deployment.machine.ring.inter
    }
}

/// Time of a step of decode of so many requests of each attention group, drafts among them, with
/// as many cached tokens as in the middle of their answers: what a pool that only decodes takes.
#[must_use]
pub fn decode_step(plan: &ServingPlan, requests: f64) -> Seconds {
    Pool::new(plan, &plan.decode).step(requests)
}

/// Tokens of prompts a second that all instances which prefill take, at full budgets.
#[must_use]
pub fn prefill_rate(plan: &ServingPlan) -> f64 {
    let (instance, replicas) = match &plan.prefill {
        Some(instance) => (instance, plan.replicas.prefill),
        None => (&plan.decode, plan.replicas.decode),
    };
    let pool = Pool::new(plan, instance);
    let groups = (replicas * instance.layout.data) as f64;
    groups * pool.stages * plan.design.serving.input_length as f64 / pool.filled_prefill().get()
}

/// Time of so many prompts of each attention group together, at full budgets, to their first
/// tokens.
#[must_use]
pub fn prefill_time(plan: &ServingPlan, prompts: f64) -> Seconds {
    let pool = Pool::new(plan, plan.prefill.as_ref().unwrap_or(&plan.decode));
    let Prompt { new, .. } = pool.prompt();
    let budget = plan.design.serving.max_num_batched_tokens as f64;
    let together = libm::floor(budget / new).clamp(1.0, prompts.max(1.0));
    pool.prompts(together) * (prompts / together).max(1.0)
}

/// Tokens that a step of decode yields in the mean.
#[must_use]
pub fn accepted_tokens(plan: &ServingPlan) -> f64 {
    accepted(&plan.design)
}
