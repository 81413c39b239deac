//! Many inputs for every reader: `CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true cargo run --release -p
//! interchange --example fuzz -- 1000000`, where a sum that overflows is a panic, too.
//!
//! Arguments: how many for each reader, the readers' names or `all`, and a seed. `-- 1 shell 7
//! 4242` writes input 4242 of a seed to the standard output, to look at.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

#[path = "../tests/mutations/mod.rs"]
mod mutations;

use std::io::Write as _;

use mutations::READERS;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, usual: u64| {
        arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (count, seed) = (number(0, 10_000), number(2, 1));
    let names = arguments.get(1).map_or("all", String::as_str);
    let chosen =
        READERS.iter().filter(|it| names == "all" || names.split(',').any(|n| n == it.name));
    if arguments.len() > 3 {
        for reader in chosen {
            let bytes = mutations::input(&(reader.fixtures)(), reader.name, seed, number(3, 0));
            let written = std::io::stdout().write_all(&bytes);
            assert!(written.is_ok(), "the input can't be written");
        }
        return;
    }
    // A panic is told by its number.
    std::panic::set_hook(Box::new(|_| {}));
    println!("reader           inputs  inputs/s  worst ms  (its number)  panics  peak MiB");
    let mut failed = false;
    for reader in chosen {
        let outcome = mutations::run(reader, seed, 0, count);
        let seconds = outcome.total.as_secs_f64();
        println!(
            "{:<14}  {:>7}  {:>8.0}  {:>8.1}  {:>12}  {:>6}  {:>8}",
            reader.name,
            outcome.count,
            outcome.count as f64 / seconds,
            outcome.worst.0.as_secs_f64() * 1e3,
            outcome.worst.1,
            outcome.panics.len(),
            peak_mib(),
        );
        if !outcome.panics.is_empty() || outcome.worst.0.as_millis() > 500 {
            failed = true;
            eprintln!("{}: panics on {:?}", reader.name, outcome.panics);
        }
    }
    assert!(!failed, "a reader panicked, or took more than half a second");
}

/// The most memory that the process has had, where the system tells it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().split(' ').next()?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}
