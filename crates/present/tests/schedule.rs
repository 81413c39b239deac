//! The page `/schedule`: its address, and what comes of it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use model::ground::choice::{Choice, Method};
use model::{Plan, design::link, estimate};
use present::page::schedule::input::{Field, Input};
use present::page::schedule::of_design;
use present::page::schedule::query::{address, decode, encode};
use present::page::schedule::run::{MAX_TASKS, compare, first_good, run};

fn input(query: &str) -> Input {
    decode(query).unwrap()
}

#[test]
fn the_example_needs_no_query() {
    assert_eq!(address(&Input::default()), "/schedule");
    assert_eq!(input(""), Input::default());
    let all = "?method=zb_v&stages=8&chunks=2&micro_batches=32&forward=1&backward_input=1\
               &backward_weight=1&forward_backward=&p2p=0";
    assert_eq!(encode(&input(all)), "method=zb_v");
}

#[test]
fn every_state_comes_back_from_its_address() {
    for query in [
        "method=zb_v",
        "method=interleaved&stages=16&chunks=4&micro_batches=48&group=24",
        "forward=0.5&backward_input=0.7&backward_weight=0&p2p=0.125",
        "method=dualpipe&forward_backward=2.25",
        "stages=4&slow_stage=3&slow_factor=1.5",
        "slow_stage=0",
        "stages=0&micro_batches=1000000",
        "forward=0.000000001&backward_input=1000000000",
    ] {
        let state = input(query);
        assert_eq!(encode(&state), query);
        assert_eq!(input(&format!("?{query}")), state);
    }
}

#[test]
fn every_way_out_leads_to_a_schedule_that_runs() {
    for sizes in [
        "",
        "stages=7&micro_batches=9",
        "stages=0&micro_batches=0&chunks=0",
        "stages=1000000",
        "stages=1024&micro_batches=16777216&chunks=256",
        "stages=1",
        "micro_batches=3&group=2&chunks=3",
        "stages=4&slow_stage=9",
        "micro_batches=18446744073709551615",
    ] {
        for method in Method::ALL {
            let asked = input(&format!("method={}&{sizes}", method.name()));
            assert!(first_good(&asked).is_some());
            let Err(refusal) = run(&asked) else { continue };
            assert!(!refusal.problems.is_empty());
            if let Some(mended) = refusal.mended {
                assert!(run(&mended).is_ok(), "{asked:?} to {mended:?}");
            }
        }
    }
}

#[test]
fn too_many_tasks_are_named_with_the_most_micro_batches_that_run() {
    let asked = input("micro_batches=1000000");
    let refusal = run(&asked).unwrap_err();
    assert!(refusal.problems[0].message.contains("16,000,000 tasks"), "{refusal:?}");
    let mended = run(&refusal.mended.unwrap()).unwrap();
    let tasks = mended.timeline.lists.tasks.len() as u64;
    assert!(tasks <= MAX_TASKS && tasks > MAX_TASKS * 9 / 10, "{tasks}");
}

#[test]
fn a_slow_stage_is_slow_in_its_pairs_too() {
    for method in ["1f1b", "1f1b_overlap&chunks=2", "dualpipe", "dualpipev", "zb_v"] {
        let query = format!("method={method}&forward_backward=2.5");
        let even = run(&input(&query)).unwrap();
        let slow = run(&input(&format!("{query}&slow_stage=2&slow_factor=3"))).unwrap();
        for (stage, (one, other)) in even.stages().iter().zip(slow.stages()).enumerate() {
            let times = if stage == 2 { 3.0 } else { 1.0 };
            assert!((one.busy * times - other.busy).abs() < 1e-9, "{method}, stage {stage}");
        }
        assert!(slow.seconds() > even.seconds());
    }
}

#[test]
fn a_comparison_has_every_method_and_the_pages_own_numbers() {
    for query in ["", "method=zb_v&forward=2", "method=interleaved&chunks=4", "stages=7"] {
        let asked = input(query);
        let rows = compare(&asked);
        let methods: Vec<Method> = rows.iter().map(|row| row.input.method).collect();
        assert_eq!(methods, Method::ALL);
        let own = rows.iter().find(|row| row.input.method == asked.method).unwrap();
        assert_eq!(own.input, asked);
        let [step, ..] = *own.outcome.as_ref().unwrap();
        assert!((step - run(&asked).unwrap().seconds()).abs() < 1e-12);
    }
}

#[test]
fn arrow_keys_go_to_the_next_number_that_reads_well() {
    let state = input("forward=0.3&backward_weight=0&micro_batches=1");
    let step = |field, up| state.stepped(field, up);
    assert_eq!(step(Field::Stages, true).as_deref(), Some("9"));
    assert_eq!(step(Field::MicroBatches, false), None);
    assert_eq!(step(Field::Chunks, true).as_deref(), Some("2"));
    assert_eq!(step(Field::Forward, true).as_deref(), Some("0.31"));
    assert_eq!(step(Field::BackwardInput, false).as_deref(), Some("0.9"));
    assert_eq!(step(Field::BackwardWeight, false), None);
    assert_eq!(step(Field::BackwardWeight, true).as_deref(), Some("0.1"));
    assert_eq!(step(Field::SlowStage, true).as_deref(), Some("0"));
}

#[test]
fn a_designs_schedule_alone_takes_about_as_long_as_in_the_design() {
    for query in ["", "?v=1&preset=deepseek-v3-2k-h800", "?v=1&preset=pangu-pro-moe-4k"] {
        let design = link::decode(query).unwrap();
        let alone = of_design(&design).unwrap();
        assert_eq!(alone.method, design.schedule.method);
        assert_eq!(
            input(&encode(&alone)),
            Input { chunks: input(&encode(&alone)).chunks, ..alone }
        );
        let step = estimate(&Plan::new(&design).unwrap()).metrics.step_time.get();
        let ratio = run(&alone).unwrap().seconds() / step;
        assert!((0.7..1.05).contains(&ratio), "{query}: {ratio}, {}", address(&alone));
    }
    assert_eq!(of_design(&link::decode("?parallel.tensor_model_parallel_size=7").unwrap()), None);
}
