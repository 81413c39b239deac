//! Key and value heads that are fewer than the ranks among which attention is shared out.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::answer::ledger::Tensor;
use model::design::{Design, KnobId};
use model::ground::axis::{Axis, Collective};
use model::training::estimate::Estimate;
use model::{Plan, estimate, ledger};
use testing::design::{estimated, from_preset};

/// A dense model with this many groups of keys, on eight devices of one stage.
fn dense(framework: &str, [groups, tp, cp]: [&str; 3], algo: &str) -> Design {
    from_preset(
        "llama-3-8b",
        &[
            ("num_devices", "8"),
            ("num_query_groups", groups),
            ("tensor_model_parallel_size", tp),
            ("sequence_parallel", if tp == "1" { "false" } else { "true" }),
            ("tp_comm_overlap", "false"),
            ("pipeline_model_parallel_size", "1"),
            ("virtual_pipeline_model_parallel_size", "1"),
            ("method", "1f1b"),
            ("context_parallel_size", cp),
            ("context_parallel_algo", algo),
            ("recompute_granularity", "none"),
            ("global_batch_size", "8"),
            ("micro_batch_size", "1"),
            ("seq_length", "8192"),
            ("framework", framework),
        ],
    )
}

fn broken(design: &Design) -> Vec<&'static str> {
    let broken = Plan::new(design).err().unwrap_or_default();
    broken.iter().map(|violation| violation.rule).collect()
}

fn saved(design: &Design, name: Tensor) -> f64 {
    let ledger = ledger(&Plan::new(design).unwrap());
    let tensors = ledger[0].tensors.iter().filter(|saved| saved.tensor == name);
    tensors.map(|saved| saved.bytes.get()).sum()
}

fn volume(estimate: &Estimate, axis: Axis, collective: Collective) -> f64 {
    let rows = estimate.communication.iter();
    let rows = rows.filter(|row| (row.axis, row.collective) == (axis, collective));
    rows.map(|row| row.bytes.get()).sum()
}

const SHARED: &str = "query_groups_are_a_multiple_of_tp";
const ULYSSES: &str = "heads_are_a_multiple_of_ulysses_ranks";

#[test]
fn qwen_3_5_trains_with_more_tensor_ranks_than_key_heads() {
    let knobs = [
        ("num_devices", "16"),
        ("tp", "4"),
        ("pp", "1"),
        ("ep", "8"),
        ("sequence_parallel", "true"),
        ("gbs", "32"),
        ("mbs", "1"),
        ("seq", "4096"),
    ];
    assert_eq!(broken(&from_preset("qwen3.5-35b-a3b", &knobs)), Vec::<&str>::new());
}

/// Megatron-Core, `transformer_config.py`: `num_query_groups` must be a multiple or a divisor of
/// the ranks; MindSpeed and others divide the groups.
#[test]
fn ranks_share_a_group_where_the_framework_lets_them() {
    for (groups, tp, is_legal) in
        [("8", "4", true), ("2", "4", true), ("1", "8", true), ("16", "8", true)]
    {
        let is = |framework| broken(&dense(framework, [groups, tp, "1"], "p2p"));
        assert_eq!(!is("megatron").contains(&SHARED), is_legal, "{groups} {tp}");
        let divides = groups.len() == 2 || groups == "8";
        for framework in ["mindspeed", "fsdp", "deepspeed"] {
            assert_eq!(!is(framework).contains(&SHARED), divides, "{framework} {groups} {tp}");
        }
    }
    let mut six = dense("megatron", ["6", "4", "1"], "p2p");
    six.set_text(KnobId::find("num_attention_heads").unwrap(), "24").unwrap();
    assert!(broken(&six).contains(&SHARED));
}

#[test]
fn a_shared_group_is_whole_on_each_rank_and_its_weights_are_not() {
    let of = |tp| dense("megatron", ["2", tp, "1"], "p2p");
    // A key and a value of 128 in 16 bits for each of 8,192 tokens, whether shared or not.
    let one = 8192.0 * 2.0 * 128.0 * 2.0;
    assert!((saved(&of("2"), Tensor::KeyValue) - one).abs() < 1.0);
    assert!((saved(&of("4"), Tensor::KeyValue) - one).abs() < 1.0);
    assert!((saved(&of("1"), Tensor::KeyValue) - 2.0 * one).abs() < 1.0);
    let params = |tp| estimated(&of(tp)).stages[0].params as f64;
    // Norms alone are on every rank.
    let norms = 65.0 * 4096.0;
    assert!((params("4") - norms - (params("2") - norms) / 2.0).abs() < 2.0);
}

/// Each rank gathers the columns of all ranks forward, and scatters their gradients backward:
/// (32 + 2 x 2) heads of 128 in 16 bits for each token, three quarters of them from others, in each
/// of four micro-batches.
#[test]
fn ranks_that_share_a_group_gather_the_projection() {
    let of = |groups, collective| {
        let plan = Plan::new(&dense("megatron", [groups, "4", "1"], "p2p")).unwrap();
        volume(&estimate(&plan), Axis::Tp, collective)
    };
    let more = 4.0 * 32.0 * 8192.0 * 36.0 * 128.0 * 2.0 * 3.0 / 4.0;
    for collective in [Collective::AllGather, Collective::ReduceScatter] {
        let found = of("2", collective) - of("4", collective);
        assert!((found / more - 1.0).abs() < 1e-9, "{collective:?}: {found} of {more}");
    }
}

#[test]
fn mindspeed_repeats_heads_for_ulysses_and_sends_them() {
    let of = |framework, groups| dense(framework, [groups, "2", "4"], "a2a");
    assert!(broken(&of("megatron", "4")).contains(&ULYSSES));
    assert!(!broken(&of("mindspeed", "4")).contains(&ULYSSES));
    let sent = |groups| {
        let plan = Plan::new(&of("mindspeed", groups)).unwrap();
        volume(&estimate(&plan), Axis::Cp, Collective::AllToAll)
    };
    // Two of a rank for four that exchange become as many as queries; four of a rank stay four.
    assert!((sent("4") - sent("32")).abs() < 1.0);
    let heads = |groups: f64| 2.0 * (32.0 + groups);
    assert!((sent("8") / sent("4") - heads(8.0) / heads(32.0)).abs() < 1e-9);
    let kept = |groups| saved(&of("mindspeed", groups), Tensor::KeyValue);
    assert!((kept("4") - kept("32")).abs() < 1.0 && kept("8") < kept("4") / 3.0);
    let mut many = of("mindspeed", "4");
    many.set_text(KnobId::find("num_attention_heads").unwrap(), "12").unwrap();
    assert!(broken(&many).contains(&ULYSSES));
}
