//! `moescape presets`, `moescape knobs` and `moescape licences`.

use model::catalogue::preset::Preset;
use model::design::KnobId;
use serde_json::Value;

use testing::text::{assert_text, expect};

use crate::{has_line, refused, succeeds};

#[test]
fn every_preset_is_listed_and_every_open_one_predicts() {
    let text = succeeds(&["presets"]);
    let json: Value = serde_json::from_str(&succeeds(&["presets", "--json"])).unwrap();
    let presets = json["presets"].as_array().unwrap();
    assert_eq!(presets.len(), Preset::all().chain(Preset::served()).count());
    for preset in presets {
        let id = preset["id"].as_str().unwrap();
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(id)), "{id}");
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
        let is_its = |line: &str| line.split_whitespace().next() == Some(&*id.id());
        assert!(text.lines().any(is_its), "{id:?}");
    }
}

#[test]
fn help_and_version_are_results() {
    assert!(has_line(&succeeds(&["--help"]), "predict "));
    let help = succeeds(&["predict", "--help"]);
    assert!(has_line(&help, "--explain <METRIC[@PART]> "), "{help}");
    assert!(succeeds(&["--version"]).starts_with("moescape "));
}

#[test]
fn licences_are_those_of_the_site_and_a_binary_without_one_says_so() {
    let site = tempfile::tempdir().unwrap();
    let directory = site.path().to_str().unwrap();
    let said = refused(&["licences", "--site", directory]).replace(directory, "SITE");
    assert_text(
        &said,
        expect![[r#"
            error: can't read SITE/licences.txt: No such file or directory (os error 2)
        "#]],
    );
    std::fs::write(site.path().join("licences.txt"), "axum 0.8.9: MIT\n").unwrap();
    assert_eq!(succeeds(&["licences", "--site", directory]), "axum 0.8.9: MIT\n");
    if !cfg!(feature = "embed-site") {
        assert_text(
            &refused(&["licences"]),
            expect![[r#"
                error: this binary has no site inside, and so no list of licences; give the
                    directory of one by --site, such as target/site
            "#]],
        );
    }
}
