//! No reader panics or hangs on texts that are almost right. `examples/fuzz.rs` runs more of them.

mod mutations;

use std::time::{Duration, Instant};

use interchange::{Format, MAX_BYTES, import};

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

/// Some ten thousand keys, in each way in which they are written: what takes a second here takes
/// minutes where it goes by the square.
#[test]
fn no_text_takes_long_for_having_many_keys() {
    type Line = fn(usize) -> String;
    let shapes: [(&str, &str, Line); 10] = [
        ("TOML keys", "[a]\n", |n| format!("k{n}=1\n")),
        ("TOML heads", "", |n| format!("[a{n}.b.c.d.e.f]\n")),
        ("TOML dotted keys", "[a]\n", |n| format!("k{n}.b.c=1\n")),
        ("TOML arrays of tables", "", |_| "[[a.b]]\nc=1\n".to_owned()),
        ("keys of a design file", "schema = 1\n[parallel]\n", |n| format!("k{n}=1\n")),
        ("keys of a config.json", "{\"hidden_size\": 64", |n| format!(",\n\"k{n}\": 1")),
        ("YAML keys", "model:\n", |n| format!("  k{n}: 1\n")),
        ("known arguments", "python pretrain_gpt.py", |_| " --num-layers 2".to_owned()),
        ("unknown arguments", "python pretrain_gpt.py", |n| format!(" --k{n} 1")),
        ("variables", "", |n| format!("K{n}=$K{}\n", n.saturating_sub(1))),
    ];
    for (name, head, line) in shapes {
        let mut text = head.to_owned();
        let lines = (0..).map(line).take_while(|line| {
            text.push_str(line);
            text.len() < MAX_BYTES / 4
        });
        let count = lines.count();
        if text.starts_with('{') {
            text.push('}');
        }
        let started = Instant::now();
        let _ = import(Format::detect(&text), &text, None);
        let taken = started.elapsed();
        assert!(taken < SLOWEST, "{count} {name}: {taken:?}");
    }
}
