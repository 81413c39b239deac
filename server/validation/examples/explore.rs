#![allow(clippy::all, missing_docs)]
use std::collections::BTreeMap;
use validation::calibrate::{self, Case, Constants};
use validation::runs;
fn q(v: &mut Vec<f64>, s: f64) -> f64 { v.sort_by(f64::total_cmp); v[((v.len() - 1) as f64 * s).round() as usize] }
fn main() {
    let mut cases = calibrate::cases(runs::published());
    let skip: Vec<String> = std::env::args().skip(1).collect();
    let mut constants = Constants::start();
    for _ in 0..2 {
        calibrate::settle(&mut cases, &constants);
        let all: Vec<&Case<'_>> = cases.iter().filter(|c| !skip.iter().any(|s| s == c.source)).collect();
        constants = calibrate::fit(&all, &Constants::start(), 60);
    }
    for c in constants.in_run { println!("in_run {:.3} fa2 {:.3}", c.rate, c.flash_attention_2); }
    for h in constants.hosts { println!("dispatch {:.1} sync {:.1} lpe {:.3} passes {:.3} sigma {:.4}", h.dispatch_micros, h.sync_micros, h.launches_per_expert, h.element_passes, h.straggler_sigma); }
    println!("h96 {:.3}", constants.h100_96gb);
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for case in &cases {
        let e = constants.time_error(case);
        for key in ["all".to_owned(), format!("family {}", case.family), format!("family {} {}", case.family, case.precision()), format!("source {} {}", case.source, case.precision()), format!("part {}", case.part()), format!("part {} {} {}", case.part(), case.precision(), if case.experts {"moe"} else {"dense"})] {
            groups.entry(key).or_default().push(e);
        }
    }
    for (k, mut v) in groups {
        let mut a: Vec<f64> = v.iter().map(|e| e.abs()).collect();
        println!("{k:<48} {:>4} med {:>5.1} p90 {:>5.1} bias {:>+5.1}", v.len(), 100. * q(&mut a, 0.5), 100. * q(&mut a, 0.9), 100. * q(&mut v, 0.5));
    }
}
