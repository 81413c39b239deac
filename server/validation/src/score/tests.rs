use super::*;
use crate::runs;

#[test]
fn implied_probe() {
    let mut by: std::collections::BTreeMap<String, Vec<(f64, String)>> = Default::default();
    for run in runs::published() {
        let Some(implied) = run.implied_flops_per_token else { continue };
        let Ok(Expressed { plan, .. }) = expressed(run) else { continue };
        let estimate = estimate(&plan);
        let ratio = convention::flops_per_token(run, &plan, &estimate) / implied;
        by.entry(format!("{} {}", run.source_id, run.model))
            .or_default()
            .push((ratio, run.id.clone()));
    }
    for (name, ratios) in by {
        let low = ratios.iter().map(|r| r.0).fold(f64::MAX, f64::min);
        let high = ratios.iter().map(|r| r.0).fold(0.0, f64::max);
        println!(
            "{low:.3} {high:.3} {} {name} {:?}",
            ratios.len(),
            if (low - 1.0).abs() > 0.02 || (high - 1.0).abs() > 0.02 {
                ratios
                    .iter()
                    .filter(|r| (r.0 - 1.0).abs() > 0.02)
                    .map(|r| format!("{} {:.3}", r.1, r.0))
                    .take(6)
                    .collect::<Vec<_>>()
            } else {
                vec![]
            }
        );
    }
}
