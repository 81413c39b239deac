//! Effects of the knobs of a run, found by moving them.

use std::collections::BTreeSet;

use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Value};
use model::metric::MetricId;
use model::metric::Regime;
use model::run::budget::Assessment;
use model::run::budget::Costed;
use testing::design::from_preset;

/// A run of which everything is known.
const START: &[(&str, &str)] = &[
    ("train_tokens", "2e12"),
    ("price_per_device_hour", "2"),
    ("device_watts", "500"),
    ("pue", "1.2"),
    ("mtbf_device_hours", "50000"),
    ("checkpoint_gb_per_sec", "50"),
    ("checkpoint_interval_seconds", "3600"),
    ("spare_devices", "64"),
    ("ramp", "1e11"),
    ("deadline_days", "20"),
];

/// Values to move a knob to.
fn values(id: KnobId, design: &Design) -> Vec<Value> {
    match (id.knob().kind, design.get(id)) {
        (Kind::Flag, _) => [true, false].map(Value::Flag).to_vec(),
        (_, Value::Integer(now)) => vec![Value::Integer(now * 2)],
        (_, Value::Real(now)) => [0.8, 1.5].map(|factor| Value::Real(now * factor)).to_vec(),
        _ => vec![],
    }
}

/// The numbers that a single step moves.
pub(super) fn touches(id: KnobId) -> String {
    let design = from_preset("pangu-ultra-moe-6k@2", START);
    let before = Costed::new(&design).unwrap().budget;
    let mut moved: BTreeSet<MetricId> = BTreeSet::new();
    for value in values(id, &design) {
        let mut other = design.clone();
        if other.set(id, &value).is_err() {
            continue;
        }
        let after = Costed::new(&other).unwrap().budget;
        moved.extend(MetricId::of(Regime::Budget).filter(|it| before.get(*it) != after.get(*it)));
    }
    let has = |metric: MetricId| moved.contains(&metric);
    let is_of_spread = id == KnobId::deadline_days;
    let parts = [
        (has(MetricId::training_days), "days of training"),
        (has(MetricId::goodput_ratio), "goodput"),
        (has(MetricId::device_hours), "device-hours"),
        (has(MetricId::cost), "cost"),
        (has(MetricId::energy_kwh), "energy"),
        (has(MetricId::optimal_checkpoint_interval_seconds), "best checkpoint interval"),
        (is_of_spread, "the share of runs that end in time"),
        (id == KnobId::unique_tokens, "what laws of loss say"),
    ];
    let parts: Vec<&str> = parts.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    parts.join(", ")
}

#[test]
fn a_baseline_that_repeats_its_tokens_is_judged_otherwise() {
    let mut design = Design::from_preset("pangu-ultra-moe-6k@2").unwrap();
    design.run.train_tokens = Some(4e12);
    let mut other = design.clone();
    other.transformer.num_moe_experts = Some(128);
    let loss = |other: &Design| {
        let judged = Assessment::new(other, Some(&design)).unwrap().judged.unwrap();
        judged.comparison.unwrap().loss_difference.median
    };
    let fresh = loss(&other);
    other.run.unique_tokens = Some(1e12);
    assert!((loss(&other) - fresh).abs() > 1e-6);
}
