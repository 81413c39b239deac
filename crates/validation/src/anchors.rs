//! The table of measured runs in which a design finds its nearest: `model::training::anchor`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::ground::choice::Choice;
use model::{Plan, design::link, estimate, training::anchor};

use crate::calibrate::Case;
use crate::left_out::LeftOut;
use crate::report::Row;

/// Head of the module with the table of measured runs.
const HEAD: &str = "//! Measured runs, one of each source, model, accelerator and number format. \
                    Written by\n//! `cargo xtask calibrate`.\n\nuse super::run::Anchor;\nuse \
                    crate::accelerator::AcceleratorId;\nuse crate::choice::{Framework, \
                    Precision};\n\n/// The runs, each the one whose error is in the middle of its \
                    like.\n#[rustfmt::skip]\npub static ANCHORS: &[Anchor] = &[\n";

/// The module of the model that holds the table.
#[must_use]
pub fn module(errors: &[(&Case<'_>, LeftOut)]) -> String {
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
    let mut text = String::from(HEAD);
    for entries in like.values_mut() {
        entries.sort_by(|one, other| one.1.log_ratio.total_cmp(&other.1.log_ratio));
        let (case, error) = entries[(entries.len() - 1) / 2];
        write(&mut text, case, error);
    }
    text + "];\n"
}

fn write(text: &mut String, case: &Case<'_>, error: &LeftOut) {
    let plan = case.plan();
    let design = plan.design();
    let billions = |count: u128| count as f64 / 1e9;
    let name = format!("    Anchor::new([{:?}, {:?}],", error.id, case.run.model);
    let part = format!(
        "AcceleratorId::{:?}, [{}, {}],",
        design.cluster.accelerator, design.cluster.num_devices, design.training.seq_length,
    );
    let rest = format!(
        "[{:.2}, {:.2}], (Precision::{:?}, Framework::{:?}), {:.3}),",
        billions(plan.params_active()),
        billions(plan.params_total()),
        design.training.precision,
        design.kernel.framework,
        error.log_ratio,
    );
    // What is too long for a line takes another one.
    let name = if name.len() > 100 { name.replacen(", ", ",\n        ", 1) } else { name };
    let last = name.len() - name.rfind('\n').map_or(0, |at| at + 1);
    let between = if last + 1 + part.len() > 100 { "\n        " } else { " " };
    // Writing to a string can't fail.
    let _ = writeln!(text, "{name}{between}{part}\n        {rest}");
}

/// Head of the module with the table of the best runs.
const BEST_HEAD: &str = "//! The published runs with the highest MFU of each family of \
                         accelerators, kind of model and width\n//! of operands. Written by \
                         `cargo xtask calibrate`.\n\nuse super::published::Best;\nuse \
                         crate::calibration::ModelKind;\n\n/// The runs.\n#[rustfmt::skip]\npub \
                         static BEST: &[Best] = &[\n";

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
