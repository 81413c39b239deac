//! How long one design takes: checking, estimating, and the legal values of a slider.
//!
//! `cargo bench -p model`; under `valgrind --tool=callgrind` the instruction counts repeat.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::hint::black_box;
use std::time::Instant;

use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::routing::{Generator, MoveCost, Planner, Predictor, Size, Trace, Trigger};
use model::search::find::{LayoutFront, OneThread};
use model::serving::{ServingPlan, infer};
use model::{Estimator, Plan, estimate, legal_values, make_it_fit, timeline};

/// Median time of a call in microseconds, over batches.
fn micros(calls: u32, mut call: impl FnMut()) -> f64 {
    let mut batches: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    batches[10]
}

fn main() {
    let recipe = Design::from_preset("pangu-ultra-moe-6k").expect("the first preset opens");
    // Even loads: what they cost when they aren't has lines of its own.
    let mut simulated = recipe.clone();
    simulated.set_text(KnobId::balance, "uniform").expect("a balance");
    simulated.set_text(KnobId::planner, "none").expect("a planner");
    let mut design = simulated.clone();
    design.set_text(KnobId::timing, "closed_form").expect("a timing");
    let plan = Plan::new(&design).expect("a preset is legal");
    let stepped = Plan::new(&simulated).expect("a preset is legal");
    let quick = std::env::args().any(|argument| argument == "--once");
    // Before anything else: what is known is known for the whole program.
    first_time(if quick { 1 } else { 400 });
    let calls = if quick { 1 } else { 400 };
    println!(
        "Plan::new and estimate  {:8.2} µs",
        micros(calls, || {
            let plan = Plan::new(black_box(&design)).expect("legal");
            black_box(estimate(&plan));
        })
    );
    println!(
        "Plan::new               {:8.2} µs",
        micros(calls, || {
            let _ = black_box(Plan::new(black_box(&design)));
        })
    );
    println!(
        "estimate                {:8.2} µs",
        micros(calls, || {
            black_box(estimate(black_box(&plan)));
        })
    );
    mixed(calls);
    serving(calls);
    neighbours(&design, calls);
    println!(
        "estimate, simulated     {:8.2} µs",
        micros(calls.min(100), || {
            black_box(estimate(black_box(&stepped)));
        })
    );
    println!(
        "timeline                {:8.2} µs",
        micros(calls.min(100), || {
            black_box(timeline(black_box(&stepped)));
        })
    );
    let mut plain = simulated.clone();
    plain.set_text(KnobId::recompute_granularity, "none").expect("a granularity");
    plain.set_text(KnobId::recompute_modules, "none").expect("no modules");
    plain.set_text(KnobId::swap_modules, "none").expect("no modules");
    let plain = Plan::new(&plain).expect("a design that doesn't fit is legal");
    println!(
        "make it fit             {:8.2} ms",
        micros(1, || {
            black_box(make_it_fit(black_box(&plain)));
        }) / 1e3
    );
    println!(
        "legal_values, ten knobs {:8.2} µs",
        micros(calls.min(40), || {
            for id in KnobId::ALL.iter().filter(|id| id.knob().primary).take(10) {
                black_box(legal_values(black_box(&design), *id));
            }
        })
    );
    let mut illegal = design.clone();
    illegal.set_text(KnobId::pipeline_model_parallel_size, "12").expect("in bounds");
    println!(
        "violations of PP 12     {:8.2} µs",
        micros(calls.min(40), || {
            let _ = black_box(Plan::new(black_box(&illegal)));
        })
    );
    many_micro_batches(&simulated, calls.min(10));
    uneven(&recipe, calls.min(20));
    routing(if quick { [20, 58, 256] } else { [1_000, 58, 256] });
}

/// A hybrid of 108 sub-layers of three kinds, by its closed form.
fn mixed(calls: u32) {
    let mut hybrid = Design::from_preset("nemotron-3-ultra-550b-a55b").expect("a preset opens");
    hybrid.set_text(KnobId::timing, "closed_form").expect("a timing");
    println!(
        "a hybrid of 108 layers  {:8.2} µs",
        micros(calls, || {
            let plan = Plan::new(black_box(&hybrid)).expect("legal");
            black_box(estimate(&plan));
        })
    );
}

/// One estimate of a design that serves, and all layouts of a model on many devices.
fn serving(calls: u32) {
    let design = Design::from_preset("deepseek-v3").expect("a preset opens");
    let mut design = design;
    design.serving.tensor_parallel_size = 1;
    design.set_text(KnobId::weight_dtype, "fp8").expect("a format");
    design.serving.data_parallel_size = 32;
    design.serving.moe_expert_parallel_size = 32;
    design.cluster.num_devices = 32;
    println!(
        "serving, one estimate   {:8.2} µs",
        micros(calls.min(100), || {
            let plan = ServingPlan::new(black_box(&design)).expect("legal");
            black_box(infer(&plan));
        })
    );
    design.cluster.num_devices = 4_096;
    let tried = LayoutFront::new(&design, &OneThread).tried;
    let millis = micros(1, || {
        black_box(LayoutFront::new(black_box(&design), &OneThread));
    }) / 1e3;
    println!("serving, {tried} layouts {millis:8.2} ms");
}

/// Designs that differ from the one before in what they swap, or in their micro-batch.
fn neighbours(design: &Design, calls: u32) {
    for (title, knob, value) in [
        ("neighbour, swapping     ", KnobId::swap_modules, "probs"),
        ("neighbour, micro-batch  ", KnobId::micro_batch_size, "4"),
    ] {
        let mut other = design.clone();
        other.set_text(knob, value).expect("in bounds");
        let mut estimator = Estimator::new();
        let two = micros(calls, || {
            black_box(estimator.metrics(black_box(design)).expect("legal"));
            black_box(estimator.metrics(black_box(&other)).expect("legal"));
        });
        println!("{title}{:8.2} µs", two / 2.0);
    }
}

/// The default preset, whose loads are generated: nothing of it known, its loads known, and with
/// loads that nobody asked for before. Each design is asked for once.
fn first_time(calls: u32) {
    let design = Design::from_preset(Preset::DEFAULT_ID).expect("the default preset opens");
    let mut design = design;
    design.set_text(KnobId::timing, "closed_form").expect("a timing");
    let whole = |design: &Design| {
        let plan = Plan::new(black_box(design)).expect("a preset is legal");
        black_box(estimate(&plan));
    };
    let start = Instant::now();
    whole(&design);
    println!("default preset, cold    {:8.2} µs", start.elapsed().as_secs_f64() * 1e6);
    println!("default preset, known   {:8.2} µs", micros(calls, || whole(&design)));
    let mut other = design.clone();
    println!(
        "its loads, others' skew {:8.2} µs",
        micros(calls.min(20), || {
            other.routing.skew += 1e-6;
            whole(&other);
        })
    );
}

/// Simulated steps of more and more micro-batches, beyond what is simulated whole.
fn many_micro_batches(simulated: &Design, calls: u32) {
    for micro_batches in [512, 1_024, 2_048, 4_096] {
        let mut design = simulated.clone();
        let ranks = [8, 16].iter().product::<u64>();
        design.training.global_batch_size =
            micro_batches * design.training.micro_batch_size * design.cluster.num_devices / ranks;
        let mut estimator = Estimator::new();
        println!(
            "{micro_batches:5} micro-batches     {:8.2} µs",
            micros(calls, || {
                design.memory.swap_prefetch = !design.memory.swap_prefetch;
                black_box(estimator.metrics(black_box(&design)).expect("legal"));
            })
        );
    }
}

/// The recipe as it was run, with load imbalance and a planner; and a design that keeps its loads.
fn uneven(recipe: &Design, calls: u32) {
    let mut design = recipe.clone();
    design.set_text(KnobId::timing, "closed_form").expect("a timing");
    println!(
        "Plan::new, uneven       {:8.2} µs",
        micros(calls, || {
            let _ = black_box(Plan::new(black_box(&design)));
        })
    );
    let plan = Plan::new(&design).expect("a preset is legal");
    println!(
        "variant and estimate    {:8.2} µs",
        micros(calls, || {
            let variant = plan.variant(black_box(&design)).expect("legal");
            black_box(estimate(&variant));
        })
    );
}

/// A planner over a trace of this size, and what comes before it.
fn routing([steps, layers, experts]: [usize; 3]) {
    let size = Size { steps, stride: 1, layers, experts, tokens: 1 << 20, topk: 8 };
    let start = Instant::now();
    let trace: Trace = Generator::default().trace(&size).expect("the size is in bounds");
    println!("trace of {steps} steps     {:8.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    black_box(trace.content_hash());
    println!("its hash                {:8.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let planner = Planner {
        predictor: Predictor::SlidingWindow(10),
        interval: 50,
        trigger: Trigger::Threshold(0.08),
        devices: 32,
        redundant: 0,
    };
    let cost = MoveCost { bytes_per_expert: 1e8, bytes_per_second: 1e11 };
    println!(
        "planner over it         {:8.2} ms",
        micros(1, || {
            black_box(planner.run(black_box(&trace), &cost));
        }) / 1e3
    );
}
