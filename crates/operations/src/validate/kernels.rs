//! Measured times of single kernels beside the model's, for people.

use present::format;
use present::page::trust::words;
use validation::report::kernels::{KernelGroup, KernelValidation, PartRatio};

use super::text;
use crate::columns::table_below;

/// Groups, ratios of parts and targets, as tables.
pub(super) fn text(report: &KernelValidation) -> String {
    let mut said = groups(&report.groups);
    said.push_str(&ratios(&report.ratios));
    said.push_str(&text::targets(&report.targets));
    said
}

fn groups(groups: &[KernelGroup]) -> String {
    let header = ["kind", "part", "precision", "shapes", "level", "held out", "median", "p90"];
    let line = |group: &KernelGroup| {
        vec![
            group.kind.clone(),
            group.part.clone(),
            group.precision.clone(),
            format::whole(group.shapes as u64),
            format!("{:.3}", group.level),
            format::whole(group.held_out as u64),
            words::share(group.median),
            words::share(group.p90),
        ]
    };
    format!(
        "Kernels (level: measured over predicted time; errors of shapes held out)\n{}",
        table_below(header, "lllrrrrr", groups.iter().map(line))
    )
}

fn ratios(ratios: &[PartRatio]) -> String {
    if ratios.is_empty() {
        return String::new();
    }
    let line = |ratio: &PartRatio| {
        vec![
            ratio.parts.join(" / "),
            ratio.precision.clone(),
            format::whole(ratio.shapes as u64),
            format!("{:.3}", ratio.measured),
            format!("{:.3}", ratio.predicted),
        ]
    };
    let header = ["", "precision", "shapes", "measured", "predicted"];
    let table = table_below(header, "llrrr", ratios.iter().map(line));
    format!("\nRates of large matrix products\n{table}")
}
