//! Designs per second of the two searches of the Pangu Ultra MoE paper, on all cores, of random
//! points of the second one, on one core, and the memory of a sweep of more than 10^8 designs.
//!
//! `cargo bench -p sweep`; `-- --random` for the random points alone. Every legal design gets a
//! full estimate; designs that a rule skips aren't counted.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use sweep::{Progress, Space, Spec, chunks, evaluate, prepare, published, run};

/// Legal designs after which a search of the paper ends.
const ENOUGH: u64 = 300_000;

/// Legal designs after which a sweep ends that searches for the strategy of each of them.
const ENOUGH_SEARCHED: u64 = 16;

/// Places that a thread takes at once, at most.
const CHUNK: u64 = 50_000;

/// Places of a random sample that are taken at once, as a sweep of the server takes them.
const RANDOM_CHUNK: u64 = 4_096;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--once");
    let enough = if quick { 1_000 } else { ENOUGH };
    let strategy = published().iter().find(|spec| spec.name == "pangu-strategy");
    let Some(strategy) = strategy else { return };
    random(strategy.text, "closed_form", if quick { 4_096 } else { 300_000 });
    random(strategy.text, "simulated", if quick { 512 } else { 30_000 });
    if std::env::args().any(|argument| argument == "--random") {
        return;
    }
    for spec in published() {
        report(spec.name, &measure(spec.text, enough));
    }
    // Three times as many designs as the search has: more than 10^8.
    let batches = "[space.training]\nglobal_batch_size = [6144, 12288, 24576]\n";
    let wide = strategy.text.replace("[space.training]\n", batches);
    report("its batches, too", &measure(&wide, if quick { enough } else { u64::MAX }));
    match peak_mebibytes() {
        Some(peak) => println!("{peak:.0} MiB of memory at most, all of this process"),
        None => println!("the system doesn't tell how much memory this process had at most"),
    }
}

/// Random points of a space, of which hardly two neighbours share more than a few knobs.
fn random(spec: &str, timing: &str, count: u64) {
    let spec = spec.replace("timing = \"closed_form\"", &format!("timing = \"{timing}\""));
    let sampling = format!("[sampling]\nmethod = \"random\"\ncount = {count}\nseed = 1\n");
    let read = Spec::from_toml(&format!("{spec}\n{sampling}")).expect("a published spec is right");
    let space = Space::new(read).expect("its designs can be numbered");
    let stop = AtomicBool::new(false);
    let (start, before) = (Instant::now(), busy_seconds());
    let legal: u64 = chunks(0..space.num_points(), RANDOM_CHUNK)
        .filter_map(|places| evaluate(&space, places, &stop))
        .map(|summary| summary.legal)
        .sum();
    let wall = start.elapsed().as_secs_f64();
    let busy = busy_seconds().zip(before).map_or(wall, |(now, before)| now - before);
    println!(
        "random, {timing:12} {busy:6.2} s of one core: {legal} legal of {count} points, {:.0} a \
         CPU-second",
        legal as f64 / busy.max(0.01),
    );
}

/// Result of a sweep, with the time that it took.
struct Measured {
    space: Space,
    progress: Progress,
    cores: NonZeroUsize,
    seconds: f64,
    /// CPU time of all cores, where the system reports it.
    busy: Option<f64>,
}

/// Sweeps until this many designs were legal.
fn measure(spec: &str, enough: u64) -> Measured {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let read = Spec::from_toml(spec).expect("a published spec is right");
    let space = Space::new(read).expect("its designs can be numbered");
    let mut progress = Progress::new(&space);
    let stop = AtomicBool::new(false);
    // What all searches are guided by takes seconds, however many there are.
    prepare(&space);
    let (start, before) = (Instant::now(), busy_seconds());
    let work = |places| evaluate(&space, places, &stop);
    // A small space is cut so that no core waits long for the last chunk.
    let chunk = (space.num_points() / (4 * cores.get() as u64)).clamp(100, CHUNK);
    let searches = space.spec().find.is_some();
    let (enough, chunk) = if searches { (enough.min(ENOUGH_SEARCHED), 1) } else { (enough, chunk) };
    run(0..space.num_points(), chunk, cores, &stop, work, |places, summary| {
        progress.add(&space, places, summary).expect("each chunk comes once");
        if progress.summary().legal >= enough {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let seconds = start.elapsed().as_secs_f64();
    let busy = busy_seconds().zip(before).map(|(now, before)| now - before);
    Measured { space, progress, cores, seconds, busy }
}

fn report(name: &str, measured: &Measured) {
    let Measured { space, progress, cores, seconds, busy } = measured;
    let legal = progress.summary().legal;
    let per_design = |seconds: f64| seconds * 1e6 / legal.max(1) as f64;
    let of_core = per_design(seconds * cores.get() as f64);
    println!(
        "{name:20} {seconds:6.2} s on {cores} cores: {legal} legal of {} points of {}, {} \
         feasible; {of_core:.2} µs per legal design and core, {:.0} of them a second and core",
        progress.num_points(),
        space.num_points(),
        progress.summary().feasible,
        1e6 / of_core,
    );
    if let Some(busy) = busy {
        // Others may use the cores, too.
        println!("{:20} {busy:6.2} s of a core at work: {:.2} µs each", "", per_design(*busy));
    }
}

/// Seconds that this process was at work on all cores together; Linux alone tells, to 0.01 s.
fn busy_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name in brackets: the 12th and 13th field are ticks of the program and of the
    // kernel for it.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.map(|field| field.parse::<f64>().ok()).sum::<Option<f64>>().map(|t| t / TICKS_PER_SECOND)
}

/// The most memory that this process had, in MiB; Linux alone tells.
fn peak_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}
