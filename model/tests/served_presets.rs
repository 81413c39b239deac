//! Presets of serving: each opens, serves, and gives what its source published as far as said.

use model::catalogue::preset::{Preset, PresetKind};
use model::design::{Design, link};
use model::metric::MetricId as Metric;
use model::serving::{ServingPlan, infer};

fn plan(preset: &Preset) -> ServingPlan {
    let design = Design::from_preset(preset.id).expect("it opens");
    ServingPlan::new(&design).unwrap_or_else(|broken| panic!("{}: {broken:?}", preset.id))
}

#[test]
fn every_preset_of_serving_serves_its_load_and_travels_in_a_link() {
    for preset in Preset::served() {
        assert_eq!(preset.kind, PresetKind::Serving);
        assert!(preset.title.contains(" on "), "{}", preset.id);
        let plan = plan(preset);
        let design = plan.design();
        assert_eq!(link::decode(&link::encode(design)).as_ref(), Ok(design), "{}", preset.id);
        let asked = design.serving.concurrency.expect("a preset has a load") as f64;
        let inference = infer(&plan);
        let held = inference.metrics.kv_limited_concurrency;
        assert!(held >= 0.95 * asked, "{}: {held} of {asked}", preset.id);
    }
}

#[test]
fn no_id_is_taken_twice_and_training_s_presets_are_not_among_them() {
    let trained: Vec<&str> = Preset::all().map(|preset| preset.id).collect();
    let mut served: Vec<&str> = Preset::served().map(|preset| preset.id).collect();
    assert!(served.iter().all(|id| !trained.contains(id)));
    let count = served.len();
    served.sort_unstable();
    served.dedup();
    assert_eq!(served.len(), count);
}

#[test]
fn presets_of_serving_give_what_was_published() {
    let devices_of_a_card = 2.0;
    // Metric, published value by device, error that is known.
    let published = [
        ("pangu-pro-moe-800i-a2", Metric::tpot_seconds, 18.44e-3, 0.05),
        ("pangu-pro-moe-800i-a2-batch-456", Metric::tpot_seconds, 99.31e-3, 0.2),
        (
            "pangu-pro-moe-800i-a2-batch-456",
            Metric::output_tokens_per_second_per_device,
            1_148.0,
            0.2,
        ),
        ("pangu-pro-moe-300i-duo", Metric::tpot_seconds, 99.5e-3, 0.35),
        (
            "pangu-pro-moe-300i-duo",
            Metric::output_tokens_per_second_per_device,
            201.0 / devices_of_a_card,
            0.3,
        ),
        ("llama-3.3-70b-2-h100", Metric::kv_limited_concurrency, 85.0, 0.1),
        ("llama-3.3-70b-2-h100", Metric::tpot_seconds, 59.73e-3, 0.1),
        ("qwen3-235b-8-h100", Metric::tpot_seconds, 36.41e-3, 0.1),
    ];
    let mut off = Vec::new();
    for (id, metric, value, known) in published {
        let preset = Preset::find(id).expect("it is known");
        let error = infer(&plan(preset)).metrics.get(metric).unwrap() / value - 1.0;
        if error.abs() > known {
            off.push(format!("{id}, {metric:?}: {:+.1} %", error * 100.0));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}
