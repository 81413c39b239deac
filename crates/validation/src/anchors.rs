//! The table of measured runs in which a design finds its nearest: `model::training::anchor`.

use std::collections::BTreeMap;

use model::ground::choice::Choice;
use model::{Plan, design::link, estimate, training::anchor};

use crate::calibrate::Case;
use crate::left_out::LeftOut;
use crate::report::Row;

/// The model's table of measured runs, one of each source, model, accelerator and number format.
#[must_use]
pub fn table(errors: &[(&Case<'_>, LeftOut)]) -> String {
    let mut like: BTreeMap<[&str; 4], Vec<&(&Case<'_>, LeftOut)>> = BTreeMap::new();
    for entry in errors {
        let (case, error) = entry;
        let design = case.plan().design();
        let key = [
            error.source.as_str(),
            case.run.model.as_str(),
            design.cluster.accelerator.name(),
            design.training.precision.name(),
        ];
        like.entry(key).or_default().push(entry);
    }
    let lines = like.values_mut().map(|entries| {
        entries.sort_by(|one, other| one.1.log_ratio.total_cmp(&other.1.log_ratio));
        let (case, error) = entries[(entries.len() - 1) / 2];
        line(case, error)
    });
    lines.collect()
}

fn line(case: &Case<'_>, error: &LeftOut) -> String {
    let plan = case.plan();
    let design = plan.design();
    let billions = |count: u128| count as f64 / 1e9;
    format!(
        "{}\t{}\t{}\t{}\t{}\t{:.2}\t{:.2}\t{}\t{}\t{:.3}\n",
        error.id,
        case.run.model,
        design.cluster.accelerator.name(),
        design.cluster.num_devices,
        design.training.seq_length,
        billions(plan.params_active()),
        billions(plan.params_total()),
        design.training.precision.name(),
        design.kernel.framework.name(),
        error.log_ratio,
    )
}

/// Head of the module with the table of the best runs.
const BEST_HEAD: &str = "\
//! The published runs with the highest MFU of each family of accelerators, kind of model and width
//! of operands. Written by `cargo xtask calibrate`.

use super::published::Best;
use crate::catalogue::calibration::ModelKind;

/// The runs.
#[rustfmt::skip]
pub static BEST: &[Best] = &[
";

/// The module of the model that holds the best published run of each kind.
///
/// A run's MFU is the predicted one times predicted over measured step time: in that constants
/// cancel, and FLOPs count alike. Weak rows, tier C, are no witness.
#[must_use]
pub fn best(rows: &[Row]) -> String {
    let mut best: BTreeMap<(&str, &str, u8), (f64, String)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.tier != "C") {
        let (Some(design), Some(error)) = (&row.design, row.time_error) else { continue };
        let Some(plan) = link::decode(design).ok().and_then(|it| Plan::new(&it).ok()) else {
            continue;
        };
        let mfu = anchor::comparable_mfu(&plan, &estimate(&plan).metrics) * (1.0 + error);
        let family = plan.design().cluster.accelerator.row().kernels.family;
        let (kind, bits) =
            (plan.model_kind(), anchor::operand_bits(plan.design().training.precision));
        let known = best.entry((family, kind.name(), bits)).or_default();
        if mfu > known.0 {
            let of = format!("    Best::new(({family:?}, ModelKind::{kind:?}, {bits}),");
            *known = (mfu, format!("{of}\n        [{:?}, {:?}], {mfu:.3}),\n", row.id, row.model));
        }
    }
    let entries: String = best.into_values().map(|(_, entry)| entry).collect();
    format!("{BEST_HEAD}{entries}];\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_module_begins_as_the_models_does() {
        let best = include_str!("../../../model/src/training/anchor/best.rs");
        assert!(best.starts_with(BEST_HEAD));
    }
}
