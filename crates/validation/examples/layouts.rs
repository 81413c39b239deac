//! Whether the search for a layout finds what people ran: `cargo run --release -p validation
//! --features runs --example layouts`.
//!
//! Every preset and every published training step whose layout fits with 3 % of the memory to spare
//! loses its layout, and the search looks for another one on the same devices with the same batch.
//! It has to be predicted at least as fast. `--all` prints every row; without it those that are
//! slower, or more than a quarter faster. What doesn't fit is counted as an error of the memory.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::BTreeSet;
use std::process::ExitCode;

use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::search::find::{MIN_SPARE, OneThread, Query, STRATEGY, Search, StrategySearch, spare};
use model::{Plan, design::link, estimate};
use validation::{runs, validate};

/// Layouts that have to be compared for this to say something.
const MIN_LAYOUTS: usize = 40;

/// Largest throughput of a found layout, over the design's own, that isn't reported.
const MUCH: f64 = 1.25;

fn main() -> ExitCode {
    let all = std::env::args().any(|argument| argument == "--all");
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let presets = Preset::all()
        .filter(|preset| preset.refused.is_none())
        .map(|preset| (preset.id.to_owned(), preset.design()));
    let validation = validate(runs::published());
    let rows = validation.rows.iter().filter(|row| row.kind == "train_step").filter_map(|row| {
        let query = row.design.as_ref()?;
        Some((row.id.clone(), link::decode(query).ok()?))
    });
    let (mut known, mut counts) = (BTreeSet::new(), [0; 4]);
    for (name, design) in presets.chain(rows) {
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        if !known.insert(link::encode(&design)) {
            continue;
        }
        match compared(&name, &design, all) {
            Outcome::NoRoom => counts[0] += 1,
            Outcome::Slower => counts[1] += 1,
            Outcome::Faster => counts[2] += 1,
            Outcome::Refused => counts[3] += 1,
        }
    }
    let [no_room, slower, faster, refused] = counts;
    println!(
        "{faster} layouts at least as fast as the published one, {slower} slower; {no_room} \
         published layouts have less than 3 % to spare by the model, {refused} are no plan"
    );
    let enough = only.is_some() || faster >= MIN_LAYOUTS;
    if slower > 0 || !enough { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

enum Outcome {
    NoRoom,
    Slower,
    Faster,
    Refused,
}

fn compared(name: &str, design: &Design, all: bool) -> Outcome {
    let Ok(plan) = Plan::new(design) else { return Outcome::Refused };
    let own = estimate(&plan).metrics;
    if !own.fits || spare(&own) < MIN_SPARE {
        return Outcome::NoRoom;
    }
    let neutral = Design::neutral(design.preset);
    let mut stripped = design.clone();
    for knob in STRATEGY.iter() {
        stripped.set(knob, &neutral.get(knob)).expect("neutral values are in bounds");
    }
    let answer = StrategySearch::find(Query::new(stripped), &OneThread).unwrap_or_else(|broken| {
        panic!("{name}: {broken:?}");
    });
    let best = answer.designs.first();
    let found = best.map_or(0.0, |best| best.metrics.tokens_per_second);
    let ratio = found / own.tokens_per_second;
    let is_told = !(1.0..=MUCH).contains(&ratio);
    if all || is_told {
        println!("{ratio:7.3} {name} ({:.1} % MFU)", own.mfu * 100.0);
        if let Some(best) = best.filter(|_| is_told) {
            let differs =
                STRATEGY.iter().filter(|knob| design.get(*knob) != best.design.get(*knob));
            let changes: Vec<String> = differs
                .map(|knob: KnobId| {
                    format!(
                        "{} {} -> {}",
                        knob.knob().name,
                        design.get(knob),
                        best.design.get(knob)
                    )
                })
                .collect();
            println!("        {}", changes.join(", "));
        }
    }
    if ratio < 1.0 { Outcome::Slower } else { Outcome::Faster }
}
