//! Each source of published runs in the place of a user: the rates are fitted on one half of its
//! runs, the other half is predicted.
//!
//! `cargo run -p validation --features runs --example own -- [SOURCE]...`

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::collections::BTreeMap;

use validation::own::{Case, cases, fit};
use validation::runs::{self, Run};

fn median(errors: impl Iterator<Item = f64>) -> f64 {
    let mut errors: Vec<f64> = errors.map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    if errors.is_empty() {
        return f64::NAN;
    }
    (errors[(errors.len() - 1) / 2] + errors[errors.len() / 2]) / 2.0
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let mut sources: BTreeMap<(String, String), Vec<Case>> = BTreeMap::new();
    let published = runs::published();
    let mut by_source: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
    for run in published.iter().filter(|run| run.tier != "C" && run.kind != "memory") {
        by_source.entry(&run.source_id).or_default().push(run.clone());
    }
    for (source, runs) in by_source {
        if !asked.is_empty() && !asked.iter().any(|name| name == source) {
            continue;
        }
        for case in cases(&runs, &[]).0 {
            let part = format!("{:?}", case.plan().design().cluster.accelerator);
            sources.entry((source.to_owned(), part)).or_default().push(case);
        }
    }
    println!("source  part  fitted  predicted  before  after  knobs");
    for ((source, part), cases) in sources.into_iter().filter(|(_, cases)| cases.len() >= 6) {
        let (even, odd): (Vec<_>, Vec<_>) =
            cases.into_iter().take(120).enumerate().partition(|(index, _)| index % 2 == 0);
        let own: Vec<Case> = even.into_iter().map(|it| it.1).collect();
        let others: Vec<Case> = odd.into_iter().map(|it| it.1).collect();
        let found = fit(&own);
        let none = fit(&[]);
        let before = median(others.iter().map(|case| none.log_ratio(case)));
        let after = median(others.iter().map(|case| found.log_ratio(case)));
        println!(
            "{source}  {part}  {}  {}  {:.1} %  {:.1} %  {}",
            own.len(),
            others.len(),
            100.0 * before,
            100.0 * after,
            found.knobs().join(" "),
        );
    }
}
