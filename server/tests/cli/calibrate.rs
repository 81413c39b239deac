//! `moescape calibrate`.

use serde_json::Value;

use testing::text::{assert_text, expect};

use crate::{has_line, refused, succeeds};

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
    for line in [&format!("Set --set {knob}"), "Profile: h100"] {
        assert!(has_line(&text, line), "{line}: {text}");
    }
    assert!(text.lines().any(|line| line.trim_start().starts_with("llama-8b-tp1.log ")), "{text}");
    let toml = found["toml"].as_str().unwrap();
    assert!(toml.starts_with("[kernel]\nin_run_rate = "), "{toml}");
    assert!(toml.ends_with("profile = \"ours\"\n"), "{toml}");
}

/// The name goes with the knobs into links, files and summaries, and moves no number.
#[test]
fn a_profile_s_name_travels_with_its_knobs() {
    let name = "ours & \"theirs\", it's July";
    let json = succeeds(&["calibrate", LOG, "--set", ON, "--name", name, "--json"]);
    let found: Value = serde_json::from_str(&json).unwrap();
    let knobs: Vec<&str> =
        found["knobs"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(knobs.last(), Some(&format!("kernel.profile={name}").as_str()));
    let [link, query] = ["link", "query"].map(|part| found[part].as_str().unwrap());
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let text = format!("schema = 1\npreset = \"llama-3-8b\"\n{}", found["toml"].as_str().unwrap());
    std::fs::write(file.path(), text).unwrap();
    let read = succeeds(&["predict", file.path().to_str().unwrap()]);
    let of_file = read.lines().find_map(|line| line.trim().strip_prefix("link /?")).unwrap();
    for place in [link.trim_start_matches("/?"), query, of_file] {
        let design = model::design::link::decode(place).unwrap();
        assert_eq!(design.kernel.profile.as_deref(), Some(name), "{place}");
        assert!(design.kernel.in_run_rate.is_some(), "{place}");
    }
    let text = succeeds(&["calibrate", LOG, "--set", ON, "--name", name]);
    assert!(text.contains(r#"--set 'kernel.profile=ours & "theirs", it'\''s July'"#), "{text}");
    let set = |knob: &str| succeeds(&["predict", "--preset", "llama-3-8b", "--set", knob]);
    let named = set("kernel.profile=ours");
    let line = "  Profile: ours. The ranges are of designs without one.";
    assert!(named.lines().any(|known| known == line), "{named}");
    let long = refused(&["calibrate", LOG, "--set", ON, "--name", &"a".repeat(101)]);
    assert_text(
        &long.replace(&"a".repeat(100), "NAME"),
        expect![[r#"
            error: kernel.profile takes up to 100 characters, not 101 (nearest: NAME)
        "#]],
    );
}

#[test]
fn what_can_t_be_used_is_said_with_its_file_and_line() {
    let mut cut = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut cut, b"id,hardware\na,H100\n").unwrap();
    let cut = cut.path().to_str().unwrap();
    let commands = [&[LOG][..], &[LOG, "--set", "tq=3"], &["no-such-file"], &[cut]];
    let said = commands.map(|more| refused(&[&["calibrate"], more].concat()));
    assert_text(
        &said.concat().replace(LOG, "LOG").replace(cut, "TABLE"),
        expect![[r#"
            error: no run can be predicted
            error: llama-8b-tp1.log: a log doesn't name its accelerator: choose one
                (cluster.accelerator=ID), or a preset with the cluster
            error: there is no knob `tq` (nearest: run.pue)
            error: can't read no-such-file: No such file or directory (os error 2)
            error: TABLE: line 1: there is no column `model`
            error: TABLE: line 1: there is no column `n_devices`
        "#]],
    );
}
