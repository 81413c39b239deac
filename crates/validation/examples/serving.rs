//! Scores published runs of serving: `cargo run --release -p validation --features runs --example
//! serving -- FILE`.
//!
//! `--rows` shows every run, `--source S` keeps one source.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::BTreeMap;

use validation::serving::expression::express;
use validation::serving::{Measured, read};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = words.first() else { return println!("which file?") };
    let after = |name: &str| {
        words.iter().position(|word| word == name).and_then(|place| words.get(place + 1))
    };
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let rows = match read(&text) {
        Ok(rows) => rows,
        Err(message) => return println!("{message}"),
    };
    let mut fitted: BTreeMap<(String, &str), _> = BTreeMap::new();
    if words.iter().any(|word| word == "--fit") {
        let runs: Vec<_> =
            rows.iter().filter(|row| row.tier != "C").filter_map(|row| express(row).ok()).collect();
        for group in validation::serving::overheads::fit(&runs) {
            let it = group.overheads;
            println!(
                "{:?} {:20} kernel {:.2} dense {:.1} moe {:.1} step {:.2} prefill {:.2} {:.2} \
                 experts {:.2} lockstep {:.2}: {} \
                 rows, {:.1} % {:.1} % {:?}",
                group.engine,
                group.family,
                it.kernel_micros,
                it.dense_layer_micros,
                it.moe_layer_micros,
                it.step_millis,
                it.prefill[0],
                it.prefill[1],
                it.experts,
                it.lockstep,
                group.rows,
                group.median * 100.0,
                group.p90 * 100.0,
                group.sources
            );
            fitted.insert((format!("{:?}", group.engine), group.family), it);
        }
    }
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut errors: BTreeMap<(String, Measured), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.tier != "C") {
        if after("--source").is_some_and(|source| *source != row.source_id) {
            continue;
        }
        let run = match express(row) {
            Ok(run) => run,
            Err(reason) => {
                *refused.entry(format!("{} {reason}", row.source_id)).or_default() += 1;
                continue;
            }
        };
        let predicted =
            match run.predicted(fitted.get(&(format!("{:?}", run.engine), run.family)).copied()) {
                Ok(predicted) => predicted,
                Err(reason) => {
                    *refused.entry(reason).or_default() += 1;
                    continue;
                }
            };
        let error = predicted / run.value - 1.0;
        let is_rate = matches!(run.measured, Measured::Output | Measured::Total | Measured::Input);
        // Of the time, so that all signs mean the same.
        let error = if is_rate { run.value / predicted - 1.0 } else { error };
        if words.iter().any(|word| word == "--rows") {
            println!(
                "{:16} {:24.24} {:10} {:18.18} {:5} tp{} dp{} ep{} pp{} b{:6} {:>6}/{:<5} {:?} \
                 {:.4} {:.4} {:+.1}%",
                run.row.id,
                run.row.model,
                run.row.accelerator,
                run.row.framework,
                run.row.precision_weights.chars().take(5).collect::<String>(),
                run.design.serving.tensor_parallel_size,
                run.design.serving.data_parallel_size,
                run.design.serving.moe_expert_parallel_size,
                run.design.serving.pipeline_parallel_size,
                run.row.concurrency,
                run.row.input_len,
                run.row.output_len,
                run.measured,
                run.value,
                predicted,
                error * 100.0
            );
        }
        let name = format!("{} {:?} {}", run.row.source_id, run.engine, run.family);
        for key in [name, "all".into()] {
            errors.entry((key, run.measured)).or_default().push(error);
        }
    }
    for (reason, count) in refused {
        println!("{count:5} refused: {reason}");
    }
    for ((name, measured), mut errors) in errors {
        let signed = middle(&mut errors, 0.5);
        let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let (median, p90) = (middle(&mut sizes, 0.5), middle(&mut sizes, 0.9));
        println!(
            "{name:60} {:10} {:4} median {:5.1}% ({:+5.1}) p90 {:5.1}%",
            format!("{measured:?}"),
            errors.len(),
            median * 100.0,
            signed * 100.0,
            p90 * 100.0
        );
    }
}

fn middle(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}
