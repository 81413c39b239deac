//! Exported launch scripts: a shell reads them, they stop where something isn't set, they say what
//! they really do, and what to check.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use interchange::{Export, Launcher, Provenance, Target, export, export_for, import};
use model::catalogue::preset::Preset;
use model::design::Design;
use testing::design::from_preset;

const DATE: Provenance<'_> = Provenance { date: "2026-01-31" };
const SCRIPTS: [Target; 2] = [Target::Megatron, Target::Mindspeed];

fn shell(arguments: &[&str], script: &str) -> Output {
    let mut shell = Command::new("bash")
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    shell.wait_with_output().unwrap()
}

fn megatron(design: &Design) -> Export {
    export(Target::Megatron, design, &DATE)
}

#[test]
fn every_script_is_one_that_a_shell_reads_and_comes_back_from() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let design = preset.design();
        for target in SCRIPTS {
            for launcher in Launcher::ALL {
                let text = export_for(target, launcher, &design, &DATE).text;
                let read = shell(&["-n"], &text);
                let why = String::from_utf8_lossy(&read.stderr).into_owned();
                assert!(read.status.success() && why.is_empty(), "{}: {why}\n{text}", preset.id);
                let back = import(target.format(), &text, None).design;
                assert_eq!(back.as_ref(), Some(&design), "{launcher:?} {}\n{text}", preset.id);
            }
        }
    }
}

#[test]
fn what_isn_t_set_stops_the_script_before_anything_starts() {
    for launcher in Launcher::ALL {
        let text =
            export_for(Target::Megatron, launcher, &from_preset("deepseek-v3", &[]), &DATE).text;
        let run =
            shell(&[], &format!("torchrun() {{ echo started; }}\nsrun() {{ echo x; }}\n{text}"));
        let why = String::from_utf8_lossy(&run.stderr);
        assert!(!run.status.success() && run.stdout.is_empty(), "{why}");
        assert!(why.contains("set CHECKOUT_PATH to the checkout"), "{why}");
    }
}

#[test]
fn several_nodes_find_each_other_and_one_needs_nobody() {
    let many = from_preset("deepseek-v3", &[("num_devices", "2048")]);
    let by_hand = export_for(Target::Megatron, Launcher::Torchrun, &many, &DATE).text;
    for part in
        ["--node_rank \"$NODE_RANK\"", "--master_addr \"$MASTER_ADDR\"", "set -euo pipefail"]
    {
        assert!(by_hand.contains(part), "{part} isn't in {by_hand}");
    }
    let batch = export_for(Target::Megatron, Launcher::Slurm, &many, &DATE).text;
    for part in ["#SBATCH --nodes=256", "--rdzv_backend c10d", "srun torchrun", "--rdzv_endpoint"] {
        assert!(batch.contains(part), "{part} isn't in {batch}");
    }
    let one = megatron(&from_preset("llama-3-8b", &[])).text;
    assert!(!one.contains("NODE_RANK") && !one.contains("MASTER_ADDR"), "{one}");
}

#[test]
fn the_environment_is_what_the_framework_asserts() {
    let connections = |settings: &[(&str, &str)]| {
        let text = megatron(&from_preset("qwen3-235b-a22b", settings)).text;
        let line = text.lines().find(|line| {
            line.ends_with("CUDA_DEVICE_MAX_CONNECTIONS") || line.contains("CONNECTIONS=")
        });
        line.unwrap_or_default().to_owned()
    };
    let tp = ("tensor_model_parallel_size", "4");
    assert!(connections(&[tp]).ends_with("CONNECTIONS=1"));
    let overlap = ("overlap_moe_expert_parallel_comm", "true");
    assert!(connections(&[tp, overlap]).ends_with("CONNECTIONS=32"));
    let fsdp = ("data_parallel_sharding_strategy", "optim_grads_params");
    assert!(connections(&[tp, fsdp]).starts_with("unset "));
}

#[test]
fn what_a_file_has_no_word_for_is_predicted_and_named() {
    let settings = [
        ("num_devices", "64"),
        ("tensor_model_parallel_size", "2"),
        ("expert_model_parallel_size", "8"),
        ("micro_batch_size", "4"),
        ("recompute_granularity", "selective"),
        ("recompute_modules", "moe_permute,moe_act,layernorm"),
    ];
    let made = megatron(&from_preset("qwen3-235b-a22b", &settings));
    let reading = made.reading.unwrap();
    let (own, file) = (reading.design.unwrap(), reading.file.unwrap());
    assert!(reading.differs() && file.peak_bytes > own.peak_bytes, "{reading:?}");
    let named: Vec<String> = reading.lost.iter().map(|one| one.knob.id()).collect();
    assert!(named.contains(&"memory.recompute_modules".to_owned()), "{named:?}");
    let head = made.text.split("set -euo").next().unwrap();
    assert!(head.contains("at its peak") && head.contains("It has no word for"), "{head}");
}

#[test]
fn a_file_that_says_it_all_says_so_with_its_figures_and_checks() {
    let made = megatron(&from_preset("llama-3-8b", &[]));
    assert!(!made.reading.as_ref().unwrap().differs(), "{:?}", made.reading);
    assert!(made.text.contains("# Read back, this file is the design:"), "{}", made.text);
    for check in &made.checks {
        assert!(made.text.contains(&format!("# - {check}")), "{check}");
    }
    let all = made.checks.join("\n");
    for part in ["padded vocabulary is 128256", "to spare", "tokens a second on each device"] {
        assert!(all.contains(part), "{part} isn't in {all}");
    }
}

#[test]
fn a_design_that_breaks_rules_has_no_figures() {
    let made = megatron(&from_preset("llama-3-8b", &[("pipeline_model_parallel_size", "5")]));
    let reading = made.reading.unwrap();
    assert!(reading.design.is_none() && !reading.differs());
    assert!(made.text.contains("# The design breaks rules"), "{}", made.text);
}
