//! What holds for every sweep: the result is that of the model, and doesn't depend on who
//! evaluated what, when and how often.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

mod fixture;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use fixture::space;
use model::Plan;
use proptest::prelude::*;
use reports::typed::Said;
use sweep::{Outcome, Progress, Space, Summary, evaluate, outcomes, part, result, run};

fn small() -> String {
    let head = r#"objectives = ["mfu max", "memory_peak_bytes min", "comm_exposed_seconds min"]
constraints = ["fits", "bubble_ratio < 0.3", "tensor_model_parallel_size >= 2"]
sample = 20
top = 5"#;
    fixture::small(head, 4)
}

fn whole(space: &Space) -> Summary {
    evaluate(space, 0..space.num_points(), &AtomicBool::new(false)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn a_result_depends_on_neither_chunks_nor_order_nor_retries(
        cuts in prop::collection::vec(0_u64..4_000, 0..12),
        order in prop::collection::vec(any::<u32>(), 13),
        again in 0_usize..13,
    ) {
        let space = space(&small());
        let mut edges: Vec<u64> = cuts.into_iter().map(|cut| cut.min(space.num_points())).collect();
        edges.extend([0, space.num_points()]);
        edges.sort_unstable();
        edges.dedup();
        let mut chunks: Vec<_> = edges.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let repeated = chunks[again % chunks.len()].clone();
        chunks.push(repeated);
        let mut keyed: Vec<_> = chunks.into_iter().zip(order.iter().cycle()).collect();
        keyed.sort_by_key(|(_, key)| **key);
        let stop = AtomicBool::new(false);
        let mut progress = Progress::new(&space);
        for (chunk, _) in keyed {
            let summary = evaluate(&space, chunk.clone(), &stop).unwrap();
            progress.add(&space, chunk, summary).unwrap();
        }
        prop_assert_eq!(progress.num_points(), space.num_points());
        prop_assert_eq!(progress.summary(), &whole(&space));
    }

    #[test]
    fn parts_add_up_through_files(cut in 1_u64..4_000, swap in any::<bool>()) {
        let space = space(&small());
        let cut = cut.min(space.num_points() - 1);
        let stop = AtomicBool::new(false);
        let of = |places: std::ops::Range<u64>| {
            let mut progress = Progress::new(&space);
            let summary = evaluate(&space, places.clone(), &stop).unwrap();
            progress.add(&space, places, summary).unwrap();
            let text = model::design::file::json::print(&result(&space, &progress, None).said());
            part(&text).unwrap().progress
        };
        let (mut one, mut other) = (of(0..cut), of(cut..space.num_points()));
        if swap {
            std::mem::swap(&mut one, &mut other);
        }
        prop_assert!(one.clone().join(&space, one.clone()).is_err(), "a part counts once");
        one.join(&space, other).unwrap();
        prop_assert_eq!(one.summary(), &whole(&space));
        prop_assert_eq!(one.num_points(), space.num_points());
    }
}

#[test]
fn every_design_gets_what_the_model_says_of_it() {
    for sampling in ["", "[sampling]\nmethod = \"random\"\ncount = 700\nseed = 4\n"] {
        let space = space(&format!("{}{sampling}", small()));
        let mut legal = Vec::new();
        let (mut points, mut ruled_out) = (0, 0);
        outcomes(&space, 0..space.num_points(), &AtomicBool::new(false), |outcome| match outcome {
            Outcome::RuledOut { points: count, .. } => {
                points += count;
                ruled_out += count;
            }
            Outcome::Legal { index, values, .. } => {
                points += 1;
                legal.push((index, values.to_vec()));
            }
        });
        assert_eq!(points, space.num_points());
        assert!(legal.len() > 50 && ruled_out > 50, "{} {ruled_out}", legal.len());
        for (index, values) in &legal {
            let plan = Plan::new(&space.design(*index)).unwrap();
            let metrics = model::estimate(&plan).metrics;
            for (id, value) in space.spec().columns.iter().zip(values) {
                let Some(number) = metrics.number(*id) else { continue };
                assert_eq!(number.to_bits(), value.to_bits(), "{index} {id:?}");
            }
        }
        let places: std::collections::HashSet<u64> =
            legal.iter().map(|(index, _)| *index).collect();
        assert_eq!(places.len(), legal.len(), "no design comes twice");
        for place in 0..space.num_points() {
            let index = space.index(place);
            let tp = space.design(index).parallel.tensor_model_parallel_size;
            let is_legal = tp >= 2 && Plan::new(&space.design(index)).is_ok();
            assert_eq!(places.contains(&index), is_legal, "{index}");
        }
    }
}

#[test]
fn uneven_loads_are_generated_once_and_are_those_of_the_design() {
    let text = "schema = 1\nconstraints = []\n[design]\npreset = \"pangu-ultra-moe-6k\"\n\
                schedule.timing = \"closed_form\"\n[space]\nbalance = [\"uniform\", \"skewed\"]\n\
                planner = [\"none\", \"ema\"]\nmbs = [1, 2]\nep = [16, 32]\n";
    let space = space(text);
    let mut seen = 0;
    outcomes(&space, 0..space.num_points(), &AtomicBool::new(false), |outcome| {
        let Outcome::Legal { index, values, .. } = outcome else { return };
        let plan = Plan::new(&space.design(index)).unwrap();
        assert_eq!(model::estimate(&plan).metrics.mfu.to_bits(), values[0].to_bits());
        seen += 1;
    });
    assert_eq!(seen, 16);
}

#[test]
fn nothing_beats_the_front_and_the_top_is_the_best() {
    let space = space(&small().replace("sample = 20", "sample = 50000\nresolution = 0"));
    let summary = whole(&space);
    let all = summary.sample();
    assert_eq!(all.len() as u64, summary.feasible);
    let beats =
        |a: &[f64], b: &[f64]| (a[0] >= b[0] && a[1] <= b[1] && a[2] <= b[2]) && a[..3] != b[..3];
    for row in all {
        let on_front = summary.front().iter().any(|front| front.values[..3] == row.values[..3]);
        let beaten = all.iter().any(|other| beats(&other.values, &row.values));
        assert_ne!(on_front, beaten, "{row:?}");
    }
    let best = all.iter().map(|row| row.values[0]).fold(0.0, f64::max);
    let top: Vec<_> = summary.top().collect();
    assert_eq!(top[0][0].values[0].to_bits(), best.to_bits());
    assert!(top[0].windows(2).all(|pair| pair[0].values[0] >= pair[1].values[0]));
    let median = summary.quantile(0, 0.5).unwrap();
    let below = all.iter().filter(|row| row.values[0] < median).count() as f64;
    assert!((below / all.len() as f64) < 0.5 + 0.07, "{below} of {}", all.len());
}

#[test]
fn a_coarse_front_holds_a_design_near_each_of_the_exact_one() {
    let exact = whole(&space(&small().replace("sample = 20", "resolution = 0")));
    let space = space(&small().replace("sample = 20", "resolution = 0.1"));
    let coarse = whole(&space);
    assert!(coarse.front().len() < exact.front().len());
    for row in exact.front() {
        let near = |other: &sweep::Row| {
            other.values[0] >= row.values[0] * 0.9
                && other.values[1] <= row.values[1] * 1.1
                && other.values[2] <= row.values[2] * 1.1
        };
        assert!(coarse.front().iter().any(near), "{row:?}");
    }
}

#[test]
fn threads_hand_chunks_over_in_order_and_stop_when_told() {
    let stop = AtomicBool::new(false);
    let mut heard = Vec::new();
    let threads = NonZeroUsize::new(3).unwrap();
    run(
        5..105,
        7,
        threads,
        &stop,
        |places| Some(places.start),
        |places, start| {
            assert_eq!(places.start, start);
            heard.push(places);
            if heard.len() == 9 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert_eq!(heard.len(), 9);
    assert_eq!(heard[0], 5..12);
    assert!(heard.windows(2).all(|pair| pair[0].end == pair[1].start));
    let chunks: Vec<_> = sweep::chunks(5..105, 7).collect();
    assert_eq!((chunks.len(), chunks[0].clone(), chunks[14].clone()), (15, 5..12, 103..105));
    assert_eq!(evaluate(&space(&small()), 0..10, &AtomicBool::new(true)), None);
}

#[test]
fn a_hundred_million_points_take_no_memory_of_their_own() {
    let wide = "schema = 1\n[design]\npreset = \"pangu-ultra-moe-6k\"\n\
                parallel.tensor_model_parallel_size = 5\n\
                [space]\nhidden_size = { from = 1024, to = 11023 }\n\
                vocab_size = { from = 1000, to = 10999 }\n";
    let space = space(wide);
    assert_eq!(space.num_points(), 100_000_000);
    // TP 5 divides no 128 heads: one rule skips it all.
    let summary = whole(&space);
    assert_eq!((summary.points, summary.legal), (100_000_000, 0));
    assert_eq!(summary.reasons.len(), 1);
}
