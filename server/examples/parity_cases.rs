//! Prints 200 designs with their estimates, and some searches with their answers, for the
//! comparison with the shipped WASM modules.
//!
//! Each design goes through its file and its link before it is estimated, so what is compared has
//! been through JSON and through a link on this side; the numbers go through JSON once more on
//! their way to the other side. Designs are random walks over legal values from every preset, from
//! a fixed seed.

#![expect(clippy::print_stdout, reason = "it prints the cases for another program")]

use std::collections::BTreeSet;
use std::process::ExitCode;

use model::catalogue::preset::Preset;
use model::design::file::{Extent, json};
use model::design::{Design, KnobId};
use model::{Plan, design::link, legal_values};
use present::insight::parity::estimate_numbers;
use present::page::find::run::Finder;

const DESIGNS: usize = 200;
const MAX_WALKS: u64 = 20_000;
const MAX_STEPS: u64 = 12;

fn main() -> ExitCode {
    let cases: Vec<serde_json::Value> = links()
        .iter()
        .map(|link| {
            let numbers = estimate_numbers(link);
            let bits = numbers.iter().map(|number| format!("{:016x}", number.to_bits()));
            let bits: Vec<String> = bits.collect();
            serde_json::json!({ "link": link, "numbers": numbers, "bits": bits })
        })
        .collect();
    if cases.len() < DESIGNS {
        eprintln!("only {} of {DESIGNS} legal designs found", cases.len());
        return ExitCode::FAILURE;
    }
    let searches: Vec<serde_json::Value> = SEARCHES
        .iter()
        .map(|address| serde_json::json!({ "address": address, "answer": answer(address) }))
        .collect();
    println!("{}", serde_json::json!({ "designs": cases, "searches": searches }));
    ExitCode::SUCCESS
}

/// Addresses of searches: dense, experts and latent attention; one of a size, one that misses.
const SEARCHES: [&str; 6] = [
    "?v=1&preset=llama-3-8b&cluster.num_devices=16",
    "?v=1&preset=qwen3-30b-a3b&cluster.num_devices=16&find.goal=safest",
    "?v=1&preset=pangu-ultra-moe-6k@2",
    "?v=1&preset=deepseek-v3&cluster.num_devices=256&find.goal=simplest",
    "?v=1&preset=llama-3-8b&find.question=longest_sequence",
    "?v=1&preset=glm-4.5&cluster.num_devices=16",
];

/// The answer to a search, as it is printed.
fn answer(address: &str) -> Option<String> {
    let mut finder = Finder::of_address(address).expect("an address without errors");
    while !finder.is_done() {
        finder.step_alone();
    }
    finder.json()
}

/// Links of different legal designs.
fn links() -> BTreeSet<String> {
    let starts: Vec<&'static Preset> =
        Preset::all().filter(|preset| preset.refused.is_none()).collect();
    let mut random = Random(1);
    let mut links = BTreeSet::new();
    for walk in 0..MAX_WALKS {
        if links.len() == DESIGNS {
            break;
        }
        let start = starts[(walk % starts.len() as u64) as usize];
        let mut design = start.design();
        // The first walk from each preset stays at the preset.
        if walk >= starts.len() as u64 {
            for _ in 0..=random.below(MAX_STEPS) {
                step(&mut design, &mut random);
            }
        }
        if Plan::new(&design).is_ok() {
            links.insert(link_of_file(&json::write(&design, Extent::Changed)));
        }
    }
    links
}

/// Sets a random knob to a random value that the others allow.
fn step(design: &mut Design, random: &mut Random) {
    let knob = KnobId::ALL[random.below(KnobId::ALL.len() as u64) as usize];
    let values = legal_values(design, knob);
    if values.is_empty() {
        return;
    }
    let value = &values[random.below(values.len() as u64) as usize];
    let before = design.clone();
    if design.set(knob, value).is_err() || Plan::new(design).is_err() {
        *design = before;
    }
}

/// The link of the design in a file.
fn link_of_file(file: &str) -> String {
    link::encode(&json::read(file).expect("a file that was written can be read"))
}

/// Knuth's MMIX generator: small, seeded and the same everywhere.
struct Random(u64);

impl Random {
    /// A number below the bound.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
