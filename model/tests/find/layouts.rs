//! The search for layouts that serve: limits, targets, names and the nearest miss.

use super::*;

/// A model with experts that serves within a time per token.
fn serving() -> Query {
    let mut design = Design::from_preset("qwen3-235b-a22b").unwrap();
    for (knob, value) in [
        ("accelerator", "h100-sxm-80gb"),
        ("num_devices", "16"),
        ("weight_dtype", "fp8"),
        ("input_length", "2000"),
        ("output_length", "500"),
        ("ttft_limit_milliseconds", "2000"),
    ] {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    let targets = vec![Domain::Serving.target("tpot_seconds<=0.04").unwrap()];
    Query { domain: Domain::Serving, targets, ..Query::new(design) }
}

#[test]
fn layouts_that_serve_reach_limits_and_targets_and_are_named_as_strategies_are() {
    let query = serving();
    let answer = LayoutSearch::find(query.clone(), &OneThread).unwrap();
    assert!(answer.miss.is_none() && answer.evaluated > 100, "{answer:?}");
    let named = |goal| answer.designs.iter().find(|it| it.label == Some(goal)).unwrap();
    let speed =
        |it: &Recommendation<Inference>| it.metrics.metrics.output_tokens_per_second_per_device;
    let fastest = named(Goal::Fastest);
    for one in &answer.designs {
        assert!(one.metrics.metrics.tpot_seconds <= 0.04, "{one:?}");
        assert!(one.metrics.metrics.ttft_seconds <= 2.0, "{one:?}");
        assert!(query.targets[0].is_reached(&one.design, &one.metrics));
        assert!(speed(one) <= speed(fastest) * 1.0005);
        let plan = ServingPlan::new(&one.design).unwrap();
        assert_eq!(infer(&plan), one.metrics, "an answer's numbers are those of its design");
    }
    assert!(speed(named(Goal::Safest)) >= 0.95 * speed(fastest));
    let room = |it: &Recommendation<Inference>| {
        let part = |number: f64, limit: f64| 1.0 - number / limit;
        let ttft = part(it.metrics.metrics.ttft_seconds, 2.0);
        it.margin.min(part(it.metrics.metrics.tpot_seconds, 0.04)).min(ttft)
    };
    assert!(room(named(Goal::Safest)) >= room(fastest));
    assert!(speed(named(Goal::Simplest)) >= 0.9 * speed(fastest));
    let chosen = LayoutFront::new(&query.design, &OneThread).chosen.unwrap();
    assert!(chosen.per_device >= speed(fastest) * 0.98, "a target never makes it faster");
}

#[test]
fn layouts_are_those_of_one_thread_and_their_progress_never_goes_back() {
    let query = serving();
    let mut search = LayoutSearch::new(query.clone()).unwrap();
    let mut share = 0.0;
    loop {
        let progress = search.step(&TwoThreads);
        assert!((share..=1.0).contains(&progress.share), "{progress:?} after {share}");
        share = progress.share;
        if progress.phase == Phase::Done {
            break;
        }
    }
    assert_eq!(search.answer(), LayoutSearch::find(query, &OneThread).unwrap());
}

#[test]
fn what_is_kept_of_a_layout_stays_and_a_kept_load_is_the_only_one() {
    let mut query = serving();
    query.design.serving.tensor_parallel_size = 4;
    query.design.serving.concurrency = Some(64);
    query.keep = KnobSet::of(&[KnobId::tensor_parallel_size, KnobId::concurrency]);
    let answer = LayoutSearch::find(query, &OneThread).unwrap();
    assert!(!answer.designs.is_empty());
    for one in &answer.designs {
        let serving = &one.design.serving;
        assert_eq!((serving.tensor_parallel_size, serving.concurrency), (4, Some(64)));
    }
}

#[test]
fn a_target_that_no_layout_reaches_has_a_nearest_miss() {
    let mut query = serving();
    query.targets = vec![Domain::Serving.target("tpot_seconds<=0.0001").unwrap()];
    let answer = LayoutSearch::find(query, &OneThread).unwrap();
    assert!(answer.designs.is_empty());
    let miss = answer.miss.unwrap();
    assert!(miss.misses.iter().any(|line| line.starts_with("TPOT 0.0")), "{:?}", miss.misses);
    assert!(answer.ruled_out.iter().any(|it| it.reason == "targets"), "{:?}", answer.ruled_out);
}

#[test]
fn a_model_that_no_layout_serves_is_refused_with_the_rule() {
    let mut query = serving();
    query.design.set_text(KnobId::find("accelerator").unwrap(), "ascend-910b3").unwrap();
    let violations = LayoutSearch::new(query).err().unwrap();
    assert!(violations.iter().all(|it| !it.message.is_empty()), "{violations:?}");
}
