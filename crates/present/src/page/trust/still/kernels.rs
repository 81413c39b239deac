//! Measured kernels and collectives beside the model's times for them.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use validation::report::kernels::{KernelGroup, KernelValidation, Measured, PartRatio};

use crate::charts::family_class;
use crate::format;
use crate::page::trust::sheet::{Cell, card, table};
use crate::page::trust::words;
use crate::words::family::Family;

/// A kind of kernels: its name, the formula of its time and its constants.
struct Kind {
    /// As in [`Measured::kind`].
    name: &'static str,
    label: &'static str,
    formula: &'static str,
    constants: &'static str,
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "gemm",
        label: "Matrix products",
        formula: "FLOPs over peak, level, whole tiles, whole waves and depth, joined with the \
                  operands' bytes over the bandwidth",
        constants: "Level of the part and number format, half depth, bandwidth of products",
    },
    Kind {
        name: "attention",
        label: "Attention, forward",
        formula: "Products and softmax beside each other, a ramp of keys for each block of \
                  queries, whole waves, a launch",
        constants: "Level of the part, softmax, ramp, launch",
    },
    Kind {
        name: "mla",
        label: "Latent attention, forward",
        formula: "As attention, with keys wider than values",
        constants: "Rate over that of attention",
    },
    Kind {
        name: "grouped",
        label: "Layers of experts",
        formula: "Two grouped products, with the copies of rows, the activation and the casts \
                  between them",
        constants: "Rate over that of one product, bandwidths of copies and element-wise kernels",
    },
    Kind {
        name: "cast",
        label: "Casts",
        formula: "Bytes over the bandwidth of element-wise kernels",
        constants: "Bandwidth of element-wise kernels",
    },
    Kind {
        name: "collective",
        label: "Collectives in a node",
        formula: "Latency, a hop for each further rank, bytes over the bandwidth, a root of the \
                  bytes",
        constants: "Those of the fabric and the size of the group",
    },
    Kind {
        name: "deepep",
        label: "Exchanges of experts",
        formula: "Bytes to each rank and node over the rate of the multiprocessors that send",
        constants: "Those of DeepEP and HybridEP, dispatch and combine apart",
    },
];

/// The card: what was aimed at, charts, formulas, scores.
pub(super) fn html(report: &KernelValidation) -> Markup {
    if report.measured.is_empty() {
        return Markup::default();
    }
    let held_out = report.measured.iter().filter(|kernel| kernel.is_held_out).count();
    let intro = format!(
        "What parts reach at each number format comes from {} measured kernels and collectives, \
         not from runs. Half of their shapes were left out of that fit: charts and errors are of \
         these {}. Inside a training step everything is slower by one factor for each family, \
         which comes from runs.",
        format::whole(report.measured.len() as u64),
        format::whole(held_out as u64),
    );
    let targets = report.targets.iter().map(super::target_row);
    let formulas = table("Formulas", &FORMULA_COLUMNS, KINDS.iter().map(formula));
    let content = html! {
        (table("Targets of kernels", &super::TARGET_COLUMNS, targets))
        (charts(&report.measured))
        (details("Formulas and constants", &formulas))
        (details("Errors by part and number format", &groups(&report.groups)))
        (details("Parts beside each other", &ratios(&report.ratios)))
    };
    card("Kernels and collectives", &intro, &content)
}

const FORMULA_COLUMNS: [&str; 3] = ["Kernels", "Time", "Constants"];

fn formula(kind: &Kind) -> Vec<Cell> {
    vec![Cell::text(kind.label), Cell::words(kind.formula), Cell::words(kind.constants)]
}

fn details(title: &str, content: &Markup) -> Markup {
    html! { details { summary { (title) } (content) } }
}

fn label(name: &str) -> &str {
    KINDS.iter().find(|kind| kind.name == name).map_or(name, |kind| kind.label)
}

/// Name of a number format of the tables for people.
fn precision(name: &str) -> &'static str {
    match name {
        "fp8" => "FP8",
        "fp8_block" => "FP8 by block",
        "nvfp4" => "NVFP4",
        _ => "BF16",
    }
}

fn groups(groups: &[KernelGroup]) -> Markup {
    let row = |group: &KernelGroup| {
        vec![
            Cell { note: precision(&group.precision).to_owned(), ..Cell::text(label(&group.kind)) },
            Cell::text(words::accelerator_label(&group.part)),
            Cell::text(&format::whole(group.shapes as u64)),
            Cell::text(&format::decimals(group.level, 2)),
            Cell::text(&format::whole(group.held_out as u64)),
            Cell::text(&words::share(group.median)),
            Cell::text(&words::share(group.p90)),
        ]
    };
    let columns = [
        "Kernels",
        "Accelerator",
        "Shapes",
        "Measured / predicted",
        "Left out",
        "Median error",
        "90th percentile",
    ];
    table("Kernels by part", &columns, groups.iter().map(row))
}

fn ratios(ratios: &[PartRatio]) -> Markup {
    let row = |ratio: &PartRatio| {
        let [first, second] = [0, 1].map(|part| words::accelerator_label(&ratio.parts[part]));
        let name = Cell::text(&format!("{first} / {second}"));
        vec![
            Cell { note: precision(&ratio.precision).to_owned(), ..name },
            Cell::text(&format::whole(ratio.shapes as u64)),
            Cell::text(&format::decimals(ratio.measured, 3)),
            Cell::text(&format::decimals(ratio.predicted, 3)),
        ]
    };
    let columns = ["Rate of large products", "Shapes", "Measured", "Predicted"];
    table("Parts beside each other", &columns, ratios.iter().map(row))
}

/// One chart for each kind and number format.
fn charts(measured: &[Measured]) -> Markup {
    let by_format = |kind: &Kind| {
        let mut formats: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
        for kernel in measured.iter().filter(|it| it.kind == kind.name && it.is_held_out) {
            formats.entry(precision(&kernel.precision)).or_default().push(kernel);
        }
        formats
    };
    let is_drawn = |family: &Family| measured.iter().any(|it| Family::of(&it.part) == *family);
    html! {
        p.muted {
            "Predicted over measured time, over the measured time: above the line the model is too "
            "slow, below it is too fast."
        }
        p.kernel-legend {
            @for family in Family::ALL.into_iter().filter(is_drawn) {
                span { i class=(family_class(family)) {} span { (family.label()) } }
            }
        }
        div.kernel-charts role="region" tabindex="0" aria-label="Kernels and collectives, charts" {
            @for kind in &KINDS {
                @for (format, kernels) in by_format(kind) { (chart(kind.label, format, &kernels)) }
            }
        }
    }
}

/// Width and height of a chart, and what its axes leave: left, right, top, bottom.
const SIZE: [f64; 2] = [320.0, 180.0];
const PLOT: [f64; 4] = [38.0, 300.0, 8.0, 156.0];

/// Predicted over measured of the highest line; kernels beyond are drawn on it.
const MAX_DRAWN_RATIO: f64 = 2.0;

/// Ratios with a line.
const LINES: [(f64, &str); 5] =
    [(2.0, "2 ×"), (1.25, "1.25"), (1.0, "1"), (0.8, "0.8"), (0.5, "0.5")];

fn height(ratio: f64) -> f64 {
    let [_, _, top, bottom] = PLOT;
    let share = (ratio.clamp(1.0 / MAX_DRAWN_RATIO, MAX_DRAWN_RATIO).ln() / MAX_DRAWN_RATIO.ln()
        + 1.0)
        / 2.0;
    bottom - share * (bottom - top)
}

/// Predicted over measured times, over the measured time, both in logarithms.
fn chart(kind: &str, format: &str, kernels: &[&Measured]) -> Markup {
    let [left, right, _, bottom] = PLOT;
    let [width, full] = SIZE;
    let times = || kernels.iter().map(|kernel| kernel.measured_us.log10());
    let least = times().fold(f64::INFINITY, f64::min).floor();
    let most = times().fold(f64::NEG_INFINITY, f64::max).ceil().max(least + 1.0);
    let across = |time: f64| left + (time - least) / (most - least) * (right - left);
    // Many are in one place.
    let mut places: BTreeMap<&str, BTreeSet<(i32, i32)>> = BTreeMap::new();
    for kernel in kernels {
        let x = across(kernel.measured_us.log10());
        let y = height(kernel.predicted_us / kernel.measured_us);
        let family = family_class(Family::of(&kernel.part));
        places.entry(family).or_default().insert((x.round() as i32, y.round() as i32));
    }
    let path = |places: &BTreeSet<(i32, i32)>| {
        places.iter().map(|(x, y)| format!("M{x} {y}h0")).collect::<String>()
    };
    html! {
        figure {
            figcaption { (kind) }
            p.muted { (format) ", " (format::whole(kernels.len() as u64)) " shapes" }
            svg viewBox={ "0 0 " (width) " " (full) } aria-hidden="true" {
                @for (ratio, name) in LINES {
                    @let y = height(ratio);
                    path.chart-grid.chart-stroke d=(format!("M{left} {y:.0}H{right}")) {}
                    (label_at((left - 5.0, y + 4.0), "end", name))
                }
                @for decade in least as i32..=most as i32 {
                    @let at = (across(f64::from(decade)), bottom + 16.0);
                    (label_at(at, "middle", &power(decade)))
                }
                @for (class, places) in &places {
                    path class={ (class) " kernel-points" } d=(path(places)) {}
                }
            }
        }
    }
}

/// A power of ten of microseconds.
fn power(decade: i32) -> String {
    let (unit, power) = match decade {
        ..3 => ("µs", decade),
        3..6 => ("ms", decade - 3),
        6.. => ("s", decade - 6),
    };
    format!("{} {unit}", 10_f64.powi(power))
}

fn label_at((x, y): (f64, f64), anchor: &str, text: &str) -> Markup {
    let [x, y] = [x, y].map(|number| format!("{number:.0}"));
    html! { text.chart-quiet x=(x) y=(y) text-anchor=(anchor) { (text) } }
}
