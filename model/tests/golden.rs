//! One estimate per preset, number for number: a change of any of them is a new model version.
//!
//! `UPDATE_GOLDEN=1 cargo test -p model --test golden` writes the file anew; it refuses to replace
//! other numbers under the same version.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use model::catalogue::preset::Preset;
use model::metric::{MetricId, MetricValue, Regime};
use model::{MODEL_VERSION, Plan, estimate};

fn current() -> String {
    let mut text = format!("model_version {MODEL_VERSION}\n");
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let plan = Plan::new(&preset.design()).expect("a preset is legal");
        let estimate = estimate(&plan);
        writeln!(text, "\n{}", preset.id).unwrap();
        for id in MetricId::of(Regime::Training) {
            match estimate.metrics.get(id).unwrap() {
                MetricValue::Number(number) => {
                    writeln!(text, "  {} {number:e}", id.metric().name).unwrap();
                }
                MetricValue::Flag(flag) => {
                    writeln!(text, "  {} {flag}", id.metric().name).unwrap();
                }
            }
        }
        for (part, time) in estimate.step.parts() {
            writeln!(text, "  step {} {:e}", part.label(), time.get()).unwrap();
        }
        for stage in &estimate.stages {
            writeln!(text, "  stage {} {:e}", stage.stage, stage.memory.peak().get()).unwrap();
        }
    }
    text
}

#[test]
fn every_preset_predicts_what_this_model_version_predicted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/presets.txt");
    let current = current();
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    if recorded == current {
        return;
    }
    let same_version = recorded.lines().next() == current.lines().next();
    assert!(
        !same_version,
        "numbers changed: raise the version of crate model and write the reason into CHANGELOG.md"
    );
    assert!(
        std::env::var_os("UPDATE_GOLDEN").is_some(),
        "a new model version: run with UPDATE_GOLDEN=1 and review the differences"
    );
    fs::create_dir_all(path.parent().expect("a folder")).unwrap();
    fs::write(path, current).unwrap();
}
