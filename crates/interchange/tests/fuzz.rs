//! No reader panics or hangs on texts that are almost right. `examples/fuzz.rs` runs more of them.

mod mutations;

use std::time::Duration;

/// Inputs of each reader; a second or so of each, unoptimised.
const COUNT: u64 = 400;

/// The slowest input, at most, on a busy machine and without optimisation.
const SLOWEST: Duration = Duration::from_secs(8);

#[test]
fn no_reader_panics_or_hangs_on_what_is_almost_right() {
    for reader in &mutations::READERS {
        let outcome = mutations::run(reader, 1, 0, COUNT);
        let (panics, count) = (&outcome.panics, outcome.count);
        assert!(panics.is_empty(), "{}: {panics:?} of {count} inputs", reader.name);
        let (slowest, index) = outcome.worst;
        assert!(slowest < SLOWEST, "{} {index}: {slowest:?} of {:?}", reader.name, outcome.total);
    }
}
