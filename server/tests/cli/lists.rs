//! `moescape presets`, `moescape knobs` and `moescape licences`.

use model::catalogue::preset::Preset;
use model::design::KnobId;
use serde_json::Value;

use crate::{refused, succeeds};

#[test]
fn every_preset_is_listed_and_every_open_one_predicts() {
    let text = succeeds(&["presets"]);
    let json: Value = serde_json::from_str(&succeeds(&["presets", "--json"])).unwrap();
    let presets = json["presets"].as_array().unwrap();
    assert_eq!(presets.len(), Preset::all().chain(Preset::served()).count());
    for preset in presets {
        let id = preset["id"].as_str().unwrap();
        assert!(text.contains(id), "{id}");
        if preset["refused"].is_null() {
            let asks = if preset["kind"] == "serving" { "infer" } else { "predict" };
            succeeds(&[asks, "--preset", id]);
        }
    }
}

#[test]
fn every_knob_is_listed() {
    let text = succeeds(&["knobs"]);
    let json: Value = serde_json::from_str(&succeeds(&["knobs", "--json"])).unwrap();
    assert_eq!(json["knobs"].as_array().unwrap().len(), KnobId::ALL.len());
    for id in KnobId::ALL {
        assert!(text.contains(&id.id()), "{}", id.id());
    }
}

#[test]
fn help_and_version_are_results() {
    assert!(succeeds(&["--help"]).contains("predict"));
    assert!(succeeds(&["predict", "--help"]).contains("--explain <METRIC[@PART]>"));
    assert!(succeeds(&["--version"]).starts_with("moescape "));
}

#[test]
fn licences_are_those_of_the_site_and_a_binary_without_one_says_so() {
    let site = tempfile::tempdir().unwrap();
    let directory = site.path().to_str().unwrap();
    assert!(refused(&["licences", "--site", directory]).contains("licences.txt"));
    std::fs::write(site.path().join("licences.txt"), "axum 0.8.9: MIT\n").unwrap();
    assert_eq!(succeeds(&["licences", "--site", directory]), "axum 0.8.9: MIT\n");
    if !cfg!(feature = "embed-site") {
        assert!(refused(&["licences"]).contains("--site"));
    }
}
