//! Designs per second of the two searches of the Pangu Ultra MoE paper, on all cores.
//!
//! `cargo bench -p sweep`. Every legal design gets a full estimate; designs that a rule skips
//! aren't counted.
#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use sweep::{Progress, Space, Spec, evaluate, published, run};

/// Legal designs after which a measurement ends.
const ENOUGH: u64 = 1_000_000;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--once");
    let enough = if quick { 1_000 } else { ENOUGH };
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    for spec in published() {
        let read = Spec::from_toml(spec.text).expect("a published spec is right");
        let space = Space::new(read).expect("its designs can be numbered");
        let mut progress = Progress::new(&space);
        let stop = AtomicBool::new(false);
        let start = Instant::now();
        let work = |places| evaluate(&space, places, &stop);
        run(0..space.places(), 50_000, cores, &stop, work, |places, summary| {
            progress.add(&space, places, summary).expect("each chunk comes once");
            if progress.summary().legal >= enough {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let seconds = start.elapsed().as_secs_f64();
        let (legal, points) = (progress.summary().legal, progress.places());
        println!(
            "{:20} {seconds:6.2} s on {cores} cores: {legal} legal of {points} points of {}, \
             {} feasible; {:.2} µs per legal design and core",
            spec.name,
            space.places(),
            progress.summary().feasible,
            seconds * 1e6 * cores.get() as f64 / legal.max(1) as f64,
        );
    }
}
