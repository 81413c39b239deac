//! The generated lists: metrics, short names, presets, accelerators, columns of runs, routes.

use model::Plan;
use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::calibration::{MEMORY_SPREAD, ModelKind, PAIR_SPREAD, SPREADS, Spread};
use model::catalogue::preset::{Preset, PresetKind};
use model::design::{Design, KnobId};
use model::ground::choice::Choice;
use model::metric::{Better, MetricId, Regime, Unit};
use present::words::range::{Expected, expected, family};
use serde_json::Value;

use crate::{keep_part, read, row, source, table};

#[test]
fn every_metric_is_in_the_guide_as_the_registry_has_it() {
    let plan = Plan::new(&Design::from_preset(Preset::DEFAULT_ID).unwrap()).unwrap();
    let mut text = String::new();
    for id in MetricId::of(Regime::Training) {
        let error = error(expected(&plan, id));
        text.push_str(&format!("{}- Expected error: {error}\n\n", described(id)));
    }
    keep_part("docs/guide/metrics.md", "metrics", &text);
    for (regime, part) in [
        (Regime::Serving, "serving metrics"),
        (Regime::Budget, "budget metrics"),
        (Regime::Quality, "quality metrics"),
    ] {
        let all: String = MetricId::of(regime).map(|id| described(id) + "\n").collect();
        keep_part("docs/guide/metrics.md", part, &all);
    }
}

/// A metric as the registry has it.
fn described(id: MetricId) -> String {
    let (metric, words) = (id.metric(), id.words());
    format!(
        "### {}\n\n**{}.** {}.\n\n- Formula: {}\n- Unit: {}; better: {}\n- Source: {}\n",
        metric.name,
        metric.label,
        words.definition,
        words.formula,
        unit(metric.unit),
        better(metric.better),
        source(words.source),
    )
}

/// A unit as people read of it.
fn unit(unit: Unit) -> &'static str {
    match (unit.name(), unit) {
        ("", Unit::Verdict) => "yes or no",
        ("", Unit::Ratio(_) | Unit::Likelihood) => "a ratio, where 1 is 100 %",
        ("", Unit::Factor) => "a factor",
        ("", Unit::Money) => "an amount of money",
        ("", _) => "a count",
        (name, _) => name,
    }
}

const fn better(better: Option<Better>) -> &'static str {
    match better {
        Some(Better::Higher) => "higher",
        Some(Better::Lower) => "lower",
        None => "neither by itself",
    }
}

/// Text on a metric's error, whatever the design.
fn error(expected: Expected) -> String {
    match expected {
        Expected::Range(range) if !range.basis.is_of_time => {
            "that of [peak memory](trust.md#ranges)".to_owned()
        }
        Expected::Range(_) => {
            "that of [the step time](trust.md#ranges) for the design's family".to_owned()
        }
        Expected::AsPeakMemory => "that of the peak memory, which it follows from".to_owned(),
        Expected::ByToken(_) | Expected::Exact => "none: an exact count or formula".to_owned(),
        Expected::Derived => {
            "not validated by itself: hardly any published run states it".to_owned()
        }
    }
}

#[test]
fn the_guide_has_todays_ranges() {
    let mut rows = vec![row([
        "Accelerators",
        "Models",
        "Half between",
        "Nine of ten between",
        "Found inside",
        "Runs",
        "Sources",
    ])];
    let percent = |share: f64| present::format::relative(1.0 + share, 1.0);
    let range = |spread: &Spread, name: String, models: &str| {
        let ends = |ends: [f64; 2]| {
            let [low, high] = ends.map(|end| percent(end.exp_m1()));
            format!("{low} to {high}")
        };
        let [half, most] = spread.coverage.map(|share| present::format::percent(share, 0));
        vec![
            name,
            models.to_owned(),
            ends(spread.half),
            ends(spread.most),
            format!("{half}, {most}"),
            spread.rows.to_string(),
            spread.sources.to_string(),
        ]
    };
    for of in SPREADS {
        let models = match of.kind {
            ModelKind::Dense => "dense",
            ModelKind::Experts => "mixture of experts",
            ModelKind::Mixed => "layers that differ",
        };
        rows.push(range(of, family(of.family).to_owned(), models));
    }
    rows.push(range(&PAIR_SPREAD, "ratio of two alike designs".to_owned(), "all"));
    rows.push(range(&MEMORY_SPREAD, "peak memory, all accelerators".to_owned(), "all"));
    keep_part("docs/guide/trust.md", "ranges", &table(&rows));
}

#[test]
fn every_short_name_is_listed() {
    let mut rows = vec![row(["Short name", "Is"])];
    for knob in KnobId::ALL.iter().map(|id| id.knob()) {
        let link = format!("[{}](guide/knobs.md#{})", knob.id(), knob.name);
        rows.extend(knob.aliases.iter().map(|alias| row([format!("`{alias}`"), link.clone()])));
    }
    keep_part("docs/designs.md", "aliases", &table(&rows));
}

#[test]
fn every_preset_is_listed() {
    let mut rows = vec![row(["Id", "Kind", "Is", "Source"])];
    for preset in Preset::all().chain(Preset::served()) {
        let kind = match preset.kind {
            PresetKind::Recipe => "recipe",
            PresetKind::Model => "model",
            PresetKind::Serving => "serving",
        };
        let story = match preset.refused {
            Some(reason) => format!("{}: can't be opened, {reason}", preset.title),
            None => format!("{}: {}", preset.title, preset.story),
        };
        let cells = [format!("`{}`", preset.id), kind.to_owned(), story, source(preset.source)];
        rows.push(row(cells));
    }
    keep_part("docs/designs.md", "presets", &table(&rows));
}

#[test]
fn every_accelerator_is_listed() {
    let mut rows = vec![row([
        "Id",
        "Is",
        "BF16, TFLOPS",
        "FP8, TFLOPS",
        "Memory, GiB",
        "Usable, GiB",
        "Memory, GB/s",
        "In the node, GB/s",
        "Between nodes, GB/s",
        "Per node",
    ])];
    for accelerator in AcceleratorId::ALL {
        let (name, part) = (accelerator.name(), accelerator.row());
        let peak = |peak: Option<f64>| peak.map_or_else(|| "none".to_owned(), one_decimal);
        rows.push(row([
            format!("`{name}`"),
            part.title.to_owned(),
            peak(part.bf16_tflops),
            peak(part.fp8_tflops),
            one_decimal(part.hbm_gib),
            one_decimal(part.hbm_usable_gib),
            one_decimal(part.hbm_gb_per_sec),
            one_decimal(part.intra_node_gb_per_sec),
            one_decimal(part.inter_node_gb_per_sec),
            part.devices_per_node.to_string(),
        ]));
    }
    keep_part("docs/designs.md", "accelerators", &table(&rows));
}

fn one_decimal(number: f64) -> String {
    present::format::decimals(number, 1).to_string()
}

/// Content of each column of a file of runs.
const COLUMNS: &[(&str, &str)] = &[
    ("tier", "`A` metric exact and layout complete, `B` something missing, `C` weak; B if absent"),
    ("id", "needed; unique"),
    ("kind", "`train_step`, if absent; other kinds are not predicted"),
    ("source_id", "short name of where it is from; `--source` takes it"),
    ("model", "needed; a known name, or any with `arch`"),
    ("params_B", "parameters in billions, to check the architecture"),
    ("arch", "such as `L48 h2048 heads32 kv4 hd128 E128 top8 moe_ffn768 V151936`"),
    ("hardware", "needed; such as `Atlas 800T A2`, `910C`, `DGX-H100`"),
    ("hw_peak_TFLOPs", "what the source's MFU divides by"),
    ("n_devices", "needed"),
    ("TP", "tensor parallel"),
    ("SP", "`on`, `off`, `on if TP>1`"),
    ("CP", "context parallel"),
    ("PP", "pipeline parallel"),
    ("VPP", "chunks a stage"),
    ("EP", "expert parallel, as the framework counts it"),
    ("ETP", "expert tensor parallel"),
    ("DP", "data parallel, to check"),
    ("zero_fsdp", "`ZeRO-1`, `FSDP`, `none`"),
    ("seq_len", "tokens of a sequence"),
    ("MBS", "sequences of a micro-batch"),
    ("GBS", "sequences of a step"),
    ("precision", "such as `BF16`, `FP8`"),
    ("recompute", "what is computed again, in words"),
    ("overlap_flags", "what overlaps, dispatcher, schedule, routing, in words or as flags"),
    ("step_time_s", "a metric: seconds"),
    ("tokens_per_s_total", "a metric"),
    ("tokens_per_s_per_device", "a metric"),
    ("TFLOPs_per_device", "a metric, counted as `flops_def` says"),
    ("MFU_pct", "a metric, per cent"),
    ("HFU_pct", "a metric, per cent"),
    ("mem_GB_per_device", "peak memory; GiB where the notes say so"),
    ("other_metric", "anything else; not compared"),
    ("flops_def", "what the FLOPs count: causal or full attention, MTP, recomputation"),
    ("implied_fwdbwd_FLOPs_per_token", "FLOPs per token that the numbers imply"),
    ("measured_fields", "the metric columns that were measured, by spaces; others are derived"),
    ("source", "where it is published"),
    ("locator", "where in it"),
    ("confidence", "how sure the copy is"),
    ("notes", "remarks"),
    ("settings", "knobs that no other column has: `name=value`, with spaces between"),
    ("settings_remark", "how they are known; stands among the assumptions"),
    ("role", "of published runs, which of the model's targets count the row; leave it out"),
];

#[test]
fn every_column_of_a_file_of_runs_is_explained() {
    let file = read("crates/validation/runs/published_runs.csv");
    let header: Vec<&str> = file.lines().next().unwrap().split(',').collect();
    let known: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, header);
    let mut rows = vec![row(["Column", "Holds"])];
    let columns = COLUMNS.iter();
    rows.extend(columns.map(|(name, holds)| row([format!("`{name}`"), (*holds).to_owned()])));
    keep_part("docs/guide/calibrate.md", "run-columns", &table(&rows));
}

#[test]
fn every_route_is_in_the_reference_of_the_api() {
    let document: Value = serde_json::from_str(server::api_document()).unwrap();
    let mut rows = vec![row(["Route", "Does"])];
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let route = format!("`{} {path}`", method.to_uppercase());
            rows.push(row([route, operation["summary"].as_str().unwrap().to_owned()]));
        }
    }
    assert!(rows.len() > 30);
    keep_part("docs/api.md", "routes", &table(&rows));
}

#[test]
fn every_field_of_a_spec_is_explained() {
    let keys = sweep::SpecKeys::NAMES;
    assert!(keys.contains(&"sampling"), "{keys:?}");
    let guide = read("docs/guide/sweeps.md");
    for key in keys {
        assert!(guide.contains(&format!("\n| `{key}` |")), "{key}");
    }
}
