//! Prints how far the model is off on measured kernels.
//!
//! `cargo run --release -p validation --features runs --example kernels`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use validation::kernels;

fn main() {
    let validation = kernels::validate();
    println!(
        "{:<10} {:<16} {:<10} {:>6} {:>6} {:>9} {:>7} {:>7}",
        "kind", "part", "precision", "shapes", "level", "held out", "median", "p90"
    );
    for group in &validation.groups {
        println!(
            "{:<10} {:<16} {:<10} {:>6} {:>6.3} {:>9} {:>6.1}% {:>6.1}%",
            group.kind,
            group.part,
            group.precision,
            group.shapes,
            group.level,
            group.held_out,
            100.0 * group.median,
            100.0 * group.p90
        );
    }
    for ratio in &validation.ratios {
        println!(
            "{} / {} {}: measured {:.3}, predicted {:.3} ({} shapes)",
            ratio.parts[0],
            ratio.parts[1],
            ratio.precision,
            ratio.measured,
            ratio.predicted,
            ratio.shapes
        );
    }
    for target in &validation.targets {
        let verdict = if target.met { "met" } else { "missed" };
        println!("{verdict} {}: {:.3} of {:.3}", target.asked, target.reached, target.limit);
    }
}
