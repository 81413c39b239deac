//! The search for a layout against sweeps that simulate every design of a space.
//!
//! `cargo bench -p sweep --bench find` prints, for each space, the best of all of its designs that
//! keep 3 % of the memory free, the fastest that `model::search::find` names with the same knobs
//! freed, and the ratio of both. A ratio below 0.99 is an error, and ends it with status 1.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use model::design::{KnobId, KnobSet};
use model::search::find::{OneThread, Query, STRATEGY, Search, StrategySearch};
use model::{Plan, estimate};
use sweep::{Progress, Space, Spec, evaluate, run};

/// Least throughput of the fastest design found, as a share of the best of all.
const MIN_RATIO: f64 = 0.99;

/// A space: its name, the design that all start from, and the knobs that vary.
struct Case {
    name: &'static str,
    design: &'static str,
    space: &'static str,
}

/// Degrees, micro-batch and recomputation of dense models.
const DENSE: &str = r#"
[space.parallel]
tensor_model_parallel_size = [1, 2, 4, 8]
sequence_parallel = [false, true]
pipeline_model_parallel_size = [1, 2, 4, 8, 16]
virtual_pipeline_model_parallel_size = [1, 2, 4, 5]
context_parallel_size = [1, 2]
noop_layers = { fill = "chunks" }
[space.schedule]
method = ["1f1b", "interleaved"]
[space.training]
micro_batch_size = [1, 2, 4, 8]
[space.memory]
recompute_granularity = ["none", "selective", "full"]
recompute_modules = ["none", ["core_attn"], ["mlp"], ["layernorm", "mlp"]]
"#;

/// Degrees, micro-batch and recomputation of MoE models, with the overlap of their exchanges.
const EXPERTS: &str = r#"
[space.parallel]
tensor_model_parallel_size = [1, 2, 4, 8]
sequence_parallel = [false, true]
pipeline_model_parallel_size = [1, 2, 4, 8, 16]
virtual_pipeline_model_parallel_size = [1, 2, 3, 4]
expert_model_parallel_size = [4, 8, 16, 32, 64]
noop_layers = { fill = "chunks" }
[space.schedule]
method = ["1f1b", "interleaved"]
overlap_moe_expert_parallel_comm = [false, true]
delay_wgrad_compute = [false, true]
[space.training]
micro_batch_size = [1, 2, 4]
[space.memory]
recompute_granularity = ["none", "selective", "full"]
recompute_modules = ["none", ["moe_act"], ["layernorm", "moe_act"], ["moe"]]
"#;

/// Experts behind latent attention, parked and computed again, under every kind of schedule.
const LATENT: &str = r#"
[space.parallel]
tensor_model_parallel_size = [1, 2, 4, 8]
sequence_parallel = [false, true]
pipeline_model_parallel_size = [4, 8, 16]
virtual_pipeline_model_parallel_size = [1, 2, 4]
expert_model_parallel_size = [8, 16, 32, 64]
noop_layers = { fill = "chunks" }
[space.schedule]
method = ["1f1b", "interleaved", "1f1b_overlap", "zb_h1", "zb_v", "dualpipev"]
[space.training]
micro_batch_size = [1, 2]
[space.memory]
recompute_granularity = ["none", "selective", "full"]
recompute_modules = [
    "none",
    ["moe_act"],
    ["mla_up_proj", "moe_act"],
    ["mla_qkv", "layernorm", "moe_act"],
]
swap_modules = ["none", ["activations"]]
"#;

const fn case(name: &'static str, design: &'static str, space: &'static str) -> Case {
    Case { name, design, space }
}

const CASES: &[Case] = &[
    case("llama-3-8b, 8 H100", "llama-3-8b h100-sxm-80gb 8 128", DENSE),
    case("llama-3-8b, 16 910B3", "llama-3-8b ascend-910b3 16 256", DENSE),
    case("qwen3-32b, 32 B200", "qwen3-32b b200 32 512", DENSE),
    case("llama-3-70b, 64 A100", "llama-3-70b a100-sxm-80gb 64 512", DENSE),
    case("llama-3-70b, 128 910B3", "llama-3-70b ascend-910b3 128 1024", DENSE),
    case("gpt3-175b, 256 A100", "gpt3-175b a100-sxm-80gb 256 1024", DENSE),
    case("llama-3.1-405b, 512 H100", "llama-3.1-405b h100-sxm-80gb 512 512", DENSE),
    case("mixtral-8x7b, 32 A100", "mixtral-8x7b a100-sxm-80gb 32 256", EXPERTS),
    case("mixtral-8x22b, 64 H100", "mixtral-8x22b h100-sxm-80gb 64 512", EXPERTS),
    case("qwen3-30b-a3b, 16 H100", "qwen3-30b-a3b h100-sxm-80gb 16 256", EXPERTS),
    case("qwen3-235b-a22b, 256 H100", "qwen3-235b-a22b h100-sxm-80gb 256 1024", EXPERTS),
    case("qwen3-235b-a22b, 128 B200", "qwen3-235b-a22b b200 128 1024", EXPERTS),
    case("pangu-pro-moe-72b, 64 910B3", "pangu-pro-moe-72b ascend-910b3 64 512", EXPERTS),
    case("deepseek-v3, 256 B200", "deepseek-v3 b200 256 2048", LATENT),
    case("deepseek-v3, 512 H100", "deepseek-v3 h100-sxm-80gb 512 4096", LATENT),
    case("pangu-ultra-moe, 512 910B3", "pangu-ultra-moe-718b ascend-910b3 512 1536", LATENT),
    case("kimi-k2, 512 H100", "kimi-k2 h100-sxm-80gb 512 4096", LATENT),
];

fn main() -> ExitCode {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    println!(
        "space                          designs  feasible  best    found   ratio  sweep  find"
    );
    let mut is_good = true;
    for case in CASES {
        if only.as_ref().is_none_or(|only| case.name.contains(only.as_str())) {
            is_good &= measured(case);
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The spec of a case.
fn spec(case: &Case) -> Spec {
    let words: Vec<&str> = case.design.split(' ').collect();
    let [preset, accelerator, devices, batch] = words[..] else { unreachable!("four words") };
    let mut design = model::design::Design::from_preset(preset).expect("a preset");
    let mut set = |knob, text: &str| design.set_text(knob, text).expect("in bounds");
    set(KnobId::accelerator, accelerator);
    set(KnobId::software, "calibrated");
    let limit = design.cluster.accelerator.row().hbm_usable_gib * f64::from(1 << 30) * 0.97;
    let base = format!(
        "schema = 1\nname = \"case\"\nobjectives = [\"tokens_per_second max\"]\n\
         constraints = [\"fits\", \"memory_peak_bytes <= {limit}\"]\ntop = 1\n\
         [design]\npreset = \"{preset}\"\n\
         [design.cluster]\naccelerator = \"{accelerator}\"\nnum_devices = {devices}\n\
         devices_per_node = \"none\"\nscale_up_domain_size = \"none\"\nhbm_usable_gib = \"none\"\n\
         [design.kernel]\nsoftware = \"calibrated\"\n\
         [design.training]\nglobal_batch_size = {batch}\nprecision = \"bf16\"\n\
         [design.parallel]\npipeline_model_parallel_layout = \"none\"\nnoop_layers = \"none\"\n\
         [design.routing]\nbalance = \"uniform\"\nplanner = \"none\"\n\
         [design.memory]\nswap_modules = \"none\"\nrecompute_num_layers = \"none\"\n\
         moe_zero_memory = \"disable\"\n\
         [design.schedule]\ntiming = \"simulated\"\noverlap_grad_reduce = true\n\
         overlap_param_gather = true\ntp_comm_overlap = false\nmoe_shared_expert_overlap = false\n\
         moe_alltoall_overlap_comm = false\ndelay_wgrad_compute = false\n\
         overlap_moe_expert_parallel_comm = false\nmoe_hierarchical_alltoallv = false\n{}",
        case.space
    );
    Spec::from_toml(&base).unwrap_or_else(|errors| panic!("{}: {errors:?}", case.name))
}

/// Sweeps a space and searches it; says whether the search is good enough.
fn measured(case: &Case) -> bool {
    let spec = spec(case);
    let varies: Vec<KnobId> = spec.axes.iter().map(|axis| axis.knob).collect();
    let mut query = Query::new(spec.base.clone());
    // What goes together is freed together.
    let free = KnobSet::of(&varies).and(&[
        KnobId::noop_layers,
        KnobId::pipeline_model_parallel_layout,
        KnobId::recompute_method,
        KnobId::recompute_num_layers,
    ]);
    query.keep = STRATEGY.without(&free);
    query.any_schedule = true;
    let start = Instant::now();
    let answer =
        StrategySearch::find(query, &OneThread).unwrap_or_else(|broken| panic!("{broken:?}"));
    let searched = start.elapsed().as_secs_f64();
    let found = answer.designs.first().map_or(0.0, |it| it.metrics.tokens_per_second_per_device);

    let space = Space::new(spec).expect("designs that can be numbered");
    let mut progress = Progress::new(&space);
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let work = |places| evaluate(&space, places, &stop);
    run(0..space.num_points(), 2_000, cores, &stop, work, |places, summary| {
        progress.add(&space, places, summary).expect("each chunk comes once");
        ControlFlow::Continue(())
    });
    let swept = start.elapsed().as_secs_f64();
    let summary = progress.summary();
    let first = summary.top().next().and_then(|top| top.first());
    let best = first.map(|row| space.design(row.index));
    let plan = best.as_ref().map(|design| Plan::new(design).expect("a feasible design is legal"));
    let best =
        plan.as_ref().map_or(0.0, |plan| estimate(plan).metrics.tokens_per_second_per_device);
    // A space without a feasible design says nothing, and is no success.
    let ratio = if best > 0.0 { found / best } else { 0.0 };
    println!(
        "{:30} {:8} {:8} {best:8.1} {found:8.1} {ratio:7.4} {swept:5.1} s {searched:5.2} s",
        case.name,
        space.num_points(),
        summary.feasible,
    );
    if let (true, Some(plan)) = (ratio < MIN_RATIO, &plan) {
        println!("  best:  {}", model::design::link::encode(plan.design()));
        if let Some(first) = answer.designs.first() {
            println!("  found: {}", model::design::link::encode(&first.design));
        }
    }
    ratio >= MIN_RATIO
}
