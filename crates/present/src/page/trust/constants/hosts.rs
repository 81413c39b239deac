//! What a framework costs.

use maud::{Markup, html};
use model::catalogue::calibration::{FSDP, Host, IDEAL, MEGATRON, MINDSPEED};
use validation::report::Row;

use super::number;
use super::origin::{self, Origin};
use crate::format;
use crate::page::trust::sheet::{Cell, table};

/// Frameworks: what people read, the public id, the constants.
const FRAMEWORKS: [(&str, &str, &Host); 4] = [
    ("Megatron-Core", "megatron", &MEGATRON),
    ("MindSpeed", "mindspeed", &MINDSPEED),
    ("PyTorch FSDP", "fsdp", &FSDP),
    ("Ideal", "ideal", &IDEAL),
];

/// Frameworks whose values come from runs.
const MEASURED: &[&str] = &["megatron", "mindspeed", "fsdp"];

/// A constant of each framework.
struct Constant {
    name: &'static str,
    meaning: &'static str,
    text: fn(&Host) -> String,
    /// `None` for a constant that is a choice.
    fit: Option<Fit>,
}

/// Fit of a constant. Frameworks and ranges are those of `validation::calibrate`.
struct Fit {
    value: fn(&Host) -> f64,
    range: [f64; 2],
    /// The frameworks for which it may move.
    frameworks: &'static [&'static str],
    /// Whether a run of the framework depends on it.
    depends: fn(&Row) -> bool,
}

const CONSTANTS: [Constant; 6] = [
    Constant {
        name: "Host time of a kernel",
        meaning: "to launch it",
        text: |host| micros(host.dispatch_micros),
        fit: Some(Fit {
            value: |host| host.dispatch_micros,
            range: [1.0, 100.0],
            frameworks: MEASURED,
            depends: |_| true,
        }),
    },
    Constant {
        name: "Read-back",
        meaning: "what the device waits when the host reads back the rows of each expert",
        text: |host| micros(host.sync_micros),
        fit: Some(Fit {
            value: |host| host.sync_micros,
            range: [1.0, 2_100.0],
            frameworks: &["megatron", "fsdp"],
            depends: origin::has_experts,
        }),
    },
    Constant {
        name: "Read-backs of an MoE layer",
        meaning: "in forward, recomputation and backward of a micro-batch",
        text: |host| host.syncs.map(|times| format::decimals(times, 0)).join(" + "),
        fit: None,
    },
    Constant {
        name: "Extra launches per expert",
        meaning: "host time in a grouped product that loops over experts, in launches",
        text: |host| format::decimals(host.launches_per_expert, 1),
        fit: Some(Fit {
            value: |host| host.launches_per_expert,
            range: [0.01, 1.0],
            frameworks: &["megatron"],
            depends: origin::has_experts,
        }),
    },
    Constant {
        name: "Element-wise traffic",
        meaning: "memory traffic of element-wise kernels over that of fused ones",
        text: |host| format!("{} ×", format::decimals(host.element_passes, 2)),
        fit: Some(Fit {
            value: |host| host.element_passes,
            range: [1.0, 3.0],
            frameworks: &["fsdp"],
            depends: |_| true,
        }),
    },
    Constant {
        name: "Spread of step times",
        meaning: "standard deviation of a rank's step time, of the step time",
        text: |host| format::percent(host.straggler_sigma, 2).to_string(),
        fit: Some(Fit {
            value: |host| host.straggler_sigma,
            range: [0.001, 0.05],
            frameworks: &["megatron", "fsdp"],
            depends: |_| true,
        }),
    },
];

/// The table, with what it was fitted on. `rows` are the runs that count.
pub(super) fn html(rows: &[&Row]) -> Markup {
    let mut columns = vec!["What a framework costs"];
    columns.extend(FRAMEWORKS.map(|(label, _, _)| label));
    let lines = CONSTANTS.iter().map(|constant| line(constant, rows));
    let sets = FRAMEWORKS.map(|(label, _, host)| (label, host.fitted_on));
    html! {
        (table("What a framework costs", &columns, lines))
        (origin::fitted_on("What the frameworks' constants are fitted on", &sets))
    }
}

fn line(constant: &Constant, rows: &[&Row]) -> Vec<Cell> {
    let cell = |(_, id, host): (&str, &str, &Host)| {
        // Of no framework all is known by definition.
        let fit = constant.fit.as_ref().filter(|_| MEASURED.contains(&id));
        let origin = fit.map_or(Origin::Fitted, |fit| {
            let of_it = |row: &&Row| row.framework.as_deref() == Some(id) && (fit.depends)(row);
            let has_runs =
                fit.frameworks.contains(&id) && rows.iter().copied().any(|row| of_it(&row));
            Origin::of((fit.value)(host), fit.range, has_runs)
        });
        let text = (constant.text)(host);
        // A choice is a word, which may be broken; a number may not.
        let cell = if constant.fit.is_none() { Cell::narrow(&text) } else { Cell::text(&text) };
        Cell { note: origin.mark().to_owned(), ..cell }
    };
    let first = origin::name(constant.name, constant.meaning);
    std::iter::once(first).chain(FRAMEWORKS.map(cell)).collect()
}

fn micros(micros: f64) -> String {
    format!("{} µs", number(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framework_without_models_with_experts_has_no_fitted_cost_of_them() {
        let row = |framework: &str, design: &str| Row {
            framework: Some(framework.to_owned()),
            design: Some(design.to_owned()),
            ..Row::default()
        };
        let moe = row("megatron", "?v=1&preset=deepseek-v3");
        let dense = row("fsdp", "?v=1&preset=llama-3-8b");
        let sync = &CONSTANTS[1];
        let marks: Vec<_> =
            line(sync, &[&moe, &dense]).into_iter().skip(1).map(|cell| cell.note).collect();
        assert_eq!(marks, ["", "set", "set", ""]);
    }
}
