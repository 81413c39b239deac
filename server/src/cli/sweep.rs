//! `moescape sweep`: every design of a space, on this machine's cores or by workers elsewhere.

mod progress;
pub(super) mod text;
mod output;
pub(super) mod stop;
mod workers;

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::design::file::json;
use model::run::quality::CAVEAT;
use operations::Refusal;
use operations::sweep::Input;
use present::format;
use reports::typed::Said;
use sweep::{FinalSimulation, Progress, Rounds, Space};

use super::terminal::{Terminal, failure};
use super::{Failure, output as output_of};
use crate::jobs::nats::Address;
use crate::jobs::sweeps::rows::Writer;
pub(super) use output::MAX_RESULT_LEN;
use output::{Output, Target};
use progress::Meter;

/// Places of a chunk, at least.
const MIN_CHUNK: u64 = 4_096;

/// Places of a chunk, at most.
const MAX_CHUNK: u64 = 1 << 20;

/// Chunks that a sweep is cut into, about.
const CHUNKS: u64 = 20_000;

/// What to sweep and where to put it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    of: Input,
    /// File for the feasible designs, one row each (.csv, .jsonl or .parquet), or for the result
    /// (.json) in place of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Evaluate the K-th of N equal parts alone; `moescape merge` puts results together
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Go on where an interrupted sweep with the same --out ended
    #[arg(long, requires = "out")]
    resume: bool,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", conflicts_with = "engine")]
    threads: Option<NonZeroUsize>,
    /// Let workers do it that `moescape worker` started at the same NATS, with JetStream
    #[arg(long, value_name = "nats://HOST:PORT")]
    engine: Option<Address>,
}

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    part: u64,
    parts: u64,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MAX_SHARDS: u64 = 1_000_000;
        let numbers = text.split_once('/').and_then(|(part, parts)| {
            Some((part.trim().parse().ok()?, parts.trim().parse().ok()?))
        });
        match numbers {
            Some((part, parts)) if (1..=parts).contains(&part) && parts <= MAX_SHARDS => {
                Ok(Self { part, parts })
            }
            _ => Err(format!(
                "takes a part and their number, from 1/N to N/N, N at most {MAX_SHARDS}"
            )),
        }
    }
}

impl Shard {
    /// The places of this part of a sweep of `count`.
    fn places(self, count: u64) -> Range<u64> {
        let edge =
            |part: u64| (u128::from(count) * u128::from(part) / u128::from(self.parts)) as u64;
        edge(self.part - 1)..edge(self.part)
    }
}

/// Runs the sweep and prints its result.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let space = arguments.of.space(&Terminal::new()).map_err(unreadable)?;
    let shard = arguments.shard.unwrap_or(Shard { part: 1, parts: 1 });
    if shard.parts > 1 && space.spec().sampling.is_refined() {
        return Err(Failure::user(
            "a sweep that refines has no shards, as each round follows from all of the one \
             before: run it whole, or let workers do it by --engine",
        ));
    }
    let places = shard.places(space.num_points());
    let target = arguments.out.as_deref().map(Target::from_path).transpose()?;
    if space.spec().find.is_some() && target.as_ref().is_some_and(Target::is_table) {
        return Err(Failure::user(
            "a table has no place for the strategies that are found: write .csv or .jsonl",
        ));
    }
    let mut output = Output::open(target, &space, &places, arguments.resume)?;
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let stop = Arc::new(AtomicBool::new(false));
    stop::on_signal(&stop);
    match &arguments.engine {
        Some(address) => {
            tracing_subscriber::fmt()
                .with_writer(std::io::stderr)
                .with_ansi(false)
                .with_max_level(tracing::Level::WARN)
                .init();
            workers::sweep_places(address, &space, &places, &stop, &mut output)?;
        }
        None => {
            let threads = threads.unwrap_or(NonZeroUsize::MIN);
            sweep_places(&space, places.clone(), threads, &stop, &mut output)?;
        }
    }
    if output.progress().first_open(&places).is_some() {
        return Err(Failure::Internal(output.interrupted(&space, &places)?));
    }
    let result = finished(&space, output.progress());
    output.finish(&space, &result)
}

/// Failure of a spec that can't be read: its errors, each with the place that it is about.
fn unreadable(mut refusal: Refusal) -> Failure {
    for wrong in &mut refusal.errors {
        if !wrong.detail.contains(&wrong.at) {
            wrong.detail = format!("{}: {}", wrong.at, wrong.detail);
        }
    }
    failure(&refusal)
}

/// The result, JSON. A sweep of which all is done is looked at once more, and what that found is
/// said in a few words as well.
pub(super) fn finished(space: &Space, progress: &Progress) -> String {
    let is_whole = progress.num_points() == space.num_points();
    let closing = is_whole.then(|| sweep::final_simulation(space, progress));
    if space.spec().asks_quality() {
        output_of::message(CAVEAT);
    }
    if let Some(closing) = &closing {
        closing_lines(closing).iter().for_each(|line| output_of::message(line));
    }
    json::print(&sweep::result(space, progress, closing.as_ref()).said())
}

/// Lines on what the closing of a sweep found.
fn closing_lines(closing: &FinalSimulation) -> Vec<String> {
    let mut lines = Vec::new();
    if !closing.simulated.is_empty() {
        let rejected = closing.rejected().count() as u64;
        let left_out = match closing.left_out {
            0 => String::new(),
            more => format!(", {} of the front left out", format::whole(more)),
        };
        lines.push(format!(
            "simulated the front and the best, {}{left_out}: {} not kept",
            format::counted(closing.simulated.len() as u64, "design", "designs"),
            format::whole(rejected),
        ));
    }
    for freed in &closing.relaxations {
        lines.push(format!(
            "no design is feasible; with {} varied: {} legal, {} feasible, of {} looked at",
            freed.knobs.join(" and "),
            format::whole(freed.legal),
            format::whole(freed.feasible),
            format::whole(freed.tried),
        ));
    }
    lines
}

/// Evaluates what is open of these places, round by round; most sweeps have one.
fn sweep_places(
    space: &Space,
    places: Range<u64>,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut rounds = output.rounds(space)?;
    let Some(open) = output.progress().first_open(&places) else { return Ok(()) };
    let mut meter = Meter::new(&places, open);
    while let Some(open) = output.progress().first_open(&places) {
        let round = open..places.end.min(rounds.known());
        sweep_round(space, &rounds, round, threads, stop, (output, &mut meter))?;
        if !output.next_round(space, &mut rounds)? {
            break;
        }
    }
    meter.end(output.progress());
    Ok(())
}

/// Evaluates these places, chunk by chunk and in order.
fn sweep_round(
    space: &Space,
    rounds: &Rounds,
    places: Range<u64>,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    (output, meter): (&mut Output, &mut Meter),
) -> Result<(), Failure> {
    let writer = output.format().map(|format| Writer::new(format, space));
    let count = places.end.saturating_sub(places.start);
    let size = if space.spec().find.is_some() {
        // A search for each design is long by itself.
        1
    } else if space.spec().sampling.is_refined() {
        (count / (8 * threads.get() as u64)).clamp(16, MIN_CHUNK)
    } else {
        (count / CHUNKS).clamp(MIN_CHUNK, MAX_CHUNK)
    };
    let mut failure = None;
    let work = |chunk: Range<u64>| -> Option<(Progress, Vec<u8>)> {
        let mut rows = Vec::new();
        let batch = rounds.batch(chunk.clone())?;
        let summary = sweep::evaluate_with(space, batch, stop, |outcome| {
            writer.iter().for_each(|writer| writer.add(outcome, &mut rows));
        });
        summary.map(|summary| (Progress::with_part(space, chunk, summary), rows))
    };
    sweep::run(places, size, threads, stop, work, |chunk, (part, rows)| {
        meter.show(&chunk, output.progress());
        match output.add(space, &chunk, part, &rows) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    failure.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_parts_of_the_whole() {
        let shard = |text: &str| text.parse::<Shard>().unwrap();
        assert_eq!(shard("1/3").places(10), 0..3);
        assert_eq!(shard("2/3").places(10), 3..6);
        assert_eq!(shard("3/3").places(10), 6..10);
        assert_eq!(shard("5/8").places(3), 1..1);
        for text in ["", "3", "0/3", "4/3", "1/0", "a/b", "1/9999999"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
