//! What each part of the model of serving brings: the error of published times and rates with the
//! parts added one by one.
//!
//! `cargo run --release -p validation --features runs --example serving_ladder`
#![expect(clippy::print_stdout, reason = "a program for people prints")]

use model::design::Design;
use model::serving::{Overheads, ServingPlan, decode_step, infer, overheads};
use validation::serving::{Measured, ServingRun, express, published};

/// A rung: its name, and the time of an output token by it.
type Rung = (&'static str, fn(&Design) -> Option<f64>);

const LADDER: [Rung; 4] = [
    ("a step of decode: kernels and exchanges", |design| step(design, Overheads::IDEAL)),
    ("+ the engine's kernels, layers and steps", |design| step(design, own(design))),
    ("+ prompts between steps, Little's law", |design| {
        let between = Overheads { lockstep: 0.0, mixes: true, ..own(design) };
        tpot(design, between)
    }),
    ("+ how the engine queues and mixes", |design| tpot(design, own(design))),
];

fn own(design: &Design) -> Overheads {
    overheads(design.serving.engine, design.cluster.accelerator)
}

fn plan(design: &Design, overheads: Overheads) -> Option<ServingPlan> {
    let legal = ServingPlan::new(design).ok()?;
    Some(ServingPlan::with_overheads(legal.design(), overheads))
}

fn step(design: &Design, overheads: Overheads) -> Option<f64> {
    let plan = plan(design, overheads)?;
    let groups = (plan.replicas()[1] * plan.layout().data) as f64;
    let inference = infer(&plan);
    Some(decode_step(&plan, inference.metrics.requests_in_flight / groups))
}

fn tpot(design: &Design, overheads: Overheads) -> Option<f64> {
    Some(infer(&plan(design, overheads)?).metrics.tpot_seconds)
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted
        .get(((sorted.len() as f64 * share) as usize).min(sorted.len() - 1))
        .copied()
        .unwrap_or(0.0)
}

fn main() {
    let is_asked = |run: &ServingRun| {
        run.measured == Measured::Tpot
            && run.decode_alone.is_none()
            && run.row.tier != "C"
            && run.design.serving.num_speculative_tokens == 0
    };
    let runs: Vec<ServingRun> =
        published().iter().filter_map(|row| express(row).ok()).filter(is_asked).collect();
    println!("{} published times of an output token under load", runs.len());
    println!("{:44} {:>7} {:>7} {:>7}", "", "median", "p90", "bias");
    for (name, of) in LADDER {
        let errors = runs.iter().filter_map(|run| Some(of(&run.design)? / run.value - 1.0));
        let mut signed: Vec<f64> = errors.collect();
        signed.sort_by(f64::total_cmp);
        let mut sizes: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        println!(
            "{name:44} {:6.1}% {:6.1}% {:+6.1}%",
            quantile(&sizes, 0.5) * 100.0,
            quantile(&sizes, 0.9) * 100.0,
            quantile(&signed, 0.5) * 100.0,
        );
    }
}
