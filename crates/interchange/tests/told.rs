//! What a search proposes can be written in its framework's words: an export leaves nothing of a
//! strategy to a comment, and is the design when it is read back.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use interchange::{Export, Provenance, Target, export};
use model::design::{Design, KnobId, link};
use model::ground::choice::Framework;
use model::rules::vocabulary::TOLD;
use model::search::find::{OneThread, Query, Search, StrategySearch};

/// Questions of both families, dense and with experts, small enough to be asked in a test.
const ASKS: [&str; 6] = [
    "preset=llama-3-70b&num_devices=64&seq=8192&gbs=512",
    "preset=qwen3-30b-a3b&num_devices=32&seq=8192&gbs=256",
    "preset=deepseek-v3&num_devices=512&accelerator=h800-sxm-80gb&seq=4096&gbs=4096",
    "preset=qwen3-32b&num_devices=128&accelerator=ascend-910b3&seq=8192&gbs=512",
    "preset=deepseek-v3&num_devices=512&accelerator=ascend-910c&seq=4096&gbs=4096",
    "preset=pangu-pro-moe-72b&num_devices=256&seq=4096&gbs=1024",
];

fn target(design: &Design) -> Target {
    if design.kernel.framework == Framework::Mindspeed {
        Target::Mindspeed
    } else {
        Target::Megatron
    }
}

/// Whether layers are placed by other words that mean the same: the file's figures are the
/// design's.
fn is_spelled(export: &Export, knob: KnobId) -> bool {
    let same = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
    let reading = export.reading.as_ref().unwrap();
    let (Some(design), Some(file)) = (&reading.design, &reading.file) else { return false };
    matches!(knob, KnobId::pipeline_model_parallel_layout | KnobId::noop_layers)
        && same(file.step_seconds, design.step_seconds)
        && same(file.peak_bytes, design.peak_bytes)
}

#[test]
fn what_is_found_is_said_by_arguments_and_never_by_a_comment() {
    for ask in ASKS {
        let design = link::decode(ask).unwrap();
        let answer = StrategySearch::find(Query::new(design), &OneThread).unwrap();
        assert!(!answer.designs.is_empty(), "{ask}");
        for found in &answer.designs {
            let export =
                export(target(&found.design), &found.design, &Provenance { date: "2026-01-31" });
            let unsaid: Vec<(KnobId, &str)> = export
                .unsaid
                .iter()
                .filter(|one| TOLD.has(one.knob) && !is_spelled(&export, one.knob))
                .map(|one| (one.knob, one.value.as_str()))
                .collect();
            assert!(unsaid.is_empty(), "{unsaid:?} of {}", link::encode(&found.design));
            let reading = export.reading.as_ref().unwrap();
            // What the model itself has and no argument says, the file's head tells.
            let is_told =
                !reading.lost.is_empty() && !reading.lost.iter().any(|it| TOLD.has(it.knob));
            let is_same = !reading.differs() || is_told;
            assert!(is_same, "{reading:?} of {}", link::encode(&found.design));
        }
    }
}
