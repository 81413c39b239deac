//! `moescape calibrate`.

use serde_json::Value;

use crate::{refused, succeeds};

/// A log as Megatron-LM prints it, with invented times.
const LOG: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/validation/tests/own/llama-8b-tp1.log");
const ON: &str = "cluster.accelerator=h100-sxm-80gb";

#[test]
fn a_profile_is_knobs_that_other_commands_take() {
    let json = succeeds(&["calibrate", LOG, "--set", ON, "--name", "ours", "--json"]);
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["name"], "ours");
    let knob = found["knobs"][0].as_str().unwrap();
    let set = ["--set", ON, "--set", "num_devices=16", "--set", knob];
    succeeds(&[&["predict", "--preset", "llama-3-8b"][..], &set].concat());
    let text = succeeds(&["calibrate", LOG, "--set", ON]);
    for part in [format!("Set --set {knob}"), "llama-8b-tp1.log".into(), "Profile: h100".into()] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    let toml = found["toml"].as_str().unwrap();
    assert!(toml.starts_with("# ours\n[kernel]\nin_run_rate = "), "{toml}");
}

#[test]
fn what_can_t_be_used_is_said_with_its_file_and_line() {
    let why = refused(&["calibrate", LOG]);
    assert!(why.contains("llama-8b-tp1.log") && why.contains("cluster.accelerator"), "{why}");
    let why = refused(&["calibrate", LOG, "--set", "tq=3"]);
    assert!(why.contains("tq"), "{why}");
    let why = refused(&["calibrate", "no-such-file"]);
    assert!(why.contains("can't read no-such-file"), "{why}");
    let mut cut = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut cut, b"id,hardware\na,H100\n").unwrap();
    let why = refused(&["calibrate", cut.path().to_str().unwrap()]);
    assert!(why.contains("line 1: there is no column `model`"), "{why}");
}
