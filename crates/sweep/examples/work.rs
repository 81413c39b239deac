//! Fixed amounts of the work that is done most, to be counted in instructions.
//!
//! `work PART` does one part and prints a digest of its result, so that none of it can be left
//! out. What it takes to begin is the part `start`.
#![expect(clippy::print_stdout, reason = "its result is a digest")]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::search::find::{OneThread, Query, Search, StrategySearch};
use model::{Plan, estimate};
use sweep::{Space, Spec, Summary, digest, evaluate, published};

/// Stretches of the grid, spread over all of it, and the places of each.
const STRETCHES: u64 = 16;
const STRETCH: u64 = 8_192;

/// Places of a random sample that are taken at once, as a sweep takes them.
const CHUNK: u64 = 4_096;

/// Estimates of one design that is known.
const KNOWN: usize = 100;

/// Preset whose strategy is searched for.
const SEARCHED: &str = "llama-3-8b";

fn main() -> ExitCode {
    let part = std::env::args().nth(1).unwrap_or_default();
    let result = match part.as_str() {
        "start" => by_default().map(|design| format!("{:?}", design.schedule.timing)),
        "grid" => grid(),
        "random" => random("closed_form", 10_000),
        "simulated" => random("simulated", 1_000),
        "find" => find(),
        "estimate-cold" => estimates(1),
        "estimate-known" => estimates(1 + KNOWN),
        _ => None,
    };
    let Some(result) = result else {
        println!("work start | grid | random | simulated | find | estimate-cold | estimate-known");
        return ExitCode::FAILURE;
    };
    println!("{part} {}", digest(result.as_bytes()));
    ExitCode::SUCCESS
}

/// The default design, by its closed form.
fn by_default() -> Option<Design> {
    let mut design = Design::from_preset(Preset::DEFAULT_ID).ok()?;
    design.set_text(KnobId::timing, "closed_form").ok()?;
    Some(design)
}

/// The default design, checked and estimated this many times.
fn estimates(times: usize) -> Option<String> {
    let design = by_default()?;
    let mut metrics = String::new();
    for _ in 0..times {
        let plan = Plan::new(black_box(&design)).ok()?;
        metrics = format!("{:?}", estimate(&plan).metrics.step_time.get().to_bits());
    }
    Some(metrics)
}

/// The space of the published search for a strategy, changed so.
fn strategies(change: impl Fn(&str) -> String) -> Option<Space> {
    let spec = published().iter().find(|spec| spec.name == "pangu-strategy")?;
    Space::new(Spec::from_toml(&change(spec.text)).ok()?).ok()
}

/// Stretches of the grid that are alike far from each other.
fn grid() -> Option<String> {
    let space = strategies(str::to_owned)?;
    let starts = (0..STRETCHES).map(|stretch| space.num_points() / STRETCHES * stretch);
    evaluated(&space, starts.map(|start| start..start + STRETCH))
}

/// Random points, of which hardly two neighbours share more than a few knobs.
fn random(timing: &str, count: u64) -> Option<String> {
    let timing = format!("timing = \"{timing}\"");
    let sampling = format!("[sampling]\nmethod = \"random\"\ncount = {count}\nseed = 1\n");
    let space = strategies(|spec| {
        format!("{}\n{sampling}", spec.replace("timing = \"closed_form\"", &timing))
    })?;
    evaluated(&space, sweep::chunks(0..space.num_points(), CHUNK))
}

/// Summaries of these places; prints how many designs of them are legal.
fn evaluated(space: &Space, chunks: impl Iterator<Item = std::ops::Range<u64>>) -> Option<String> {
    let stop = AtomicBool::new(false);
    let summaries: Option<Vec<Summary>> =
        chunks.map(|places| evaluate(space, places, &stop)).collect();
    let summaries = summaries?;
    let legal: u64 = summaries.iter().map(|summary| summary.legal).sum();
    println!("{legal} legal designs");
    serde_json::to_string(&summaries).ok()
}

/// The strategy of a small model, searched for on its own devices.
fn find() -> Option<String> {
    let query = Query::new(Design::from_preset(SEARCHED).ok()?);
    let answer = StrategySearch::find(query, &OneThread).ok()?;
    let found = answer.designs.iter();
    let found = found.map(|found| model::design::link::encode(&found.design));
    Some(found.collect::<Vec<_>>().join("\n"))
}
