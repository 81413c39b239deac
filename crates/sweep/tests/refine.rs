//! What holds for sweeps that refine: what they take follows from the spec alone, and it is near
//! the best there is.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

mod fixture;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use fixture::space;
use model::Plan;
use model::design::file::json;
use proptest::prelude::*;
use reports::typed::Said;
use sweep::{Outcome, Progress, Rounds, Space, evaluate, evaluate_with, part, result};

fn small() -> String {
    fixture::small("objectives = [\"mfu max\", \"memory_peak_bytes min\"]", 24)
}

fn sampled(text: &str, method: &str, count: u64, seed: u64) -> Space {
    space(&format!("{text}\n[sampling]\nmethod = \"{method}\"\ncount = {count}\nseed = {seed}\n"))
}

fn strategy() -> &'static str {
    sweep::published().iter().find(|spec| spec.name == "pangu-strategy").unwrap().text
}

/// Runs a sweep round by round, and hears of every legal design.
fn whole(space: &Space, mut hear: impl FnMut(u64)) -> Progress {
    let stop = AtomicBool::new(false);
    let (mut progress, mut rounds) = (Progress::new(space), Rounds::new(space));
    loop {
        let places = progress.first_open(&(0..space.num_points())).unwrap()..rounds.known();
        let batch = rounds.batch(places.clone()).unwrap();
        let summary = evaluate_with(space, batch, &stop, |outcome| {
            if let Outcome::Legal { index, .. } = outcome {
                hear(*index);
            }
        });
        progress.add(space, places, summary.unwrap()).unwrap();
        if !rounds.advance(space, &mut progress) {
            return progress;
        }
    }
}

/// The best of the first objective.
fn best(progress: &Progress) -> f64 {
    progress.summary().top().next().unwrap().first().map_or(0.0, |row| row.values[0])
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn a_result_depends_on_neither_chunks_nor_order_nor_crashes(
        count in 1_u64..600,
        seed in any::<u64>(),
        size in 1_u64..90,
        backwards in any::<bool>(),
        crashes in prop::collection::vec(any::<bool>(), 40),
    ) {
        let space = sampled(&small(), "refine", count, seed);
        let stop = AtomicBool::new(false);
        let (mut progress, mut rounds) = (Progress::new(&space), Rounds::new(&space));
        let mut crashes = crashes.iter().cycle();
        while let Some(open) = progress.first_open(&(0..space.num_points())) {
            let mut chunks: Vec<_> = sweep::chunks(open..rounds.known(), size).collect();
            if backwards {
                chunks.reverse();
            }
            for chunk in chunks {
                let summary = evaluate(&space, rounds.batch(chunk.clone()).unwrap(), &stop);
                progress.add(&space, chunk, summary.unwrap()).unwrap();
                prop_assert!(progress.num_points() <= count, "the budget is kept");
                if *crashes.next().unwrap() {
                    let text = json::print(&result(&space, &progress, None).said());
                    progress = part(&text).unwrap().progress;
                    rounds = Rounds::resume(&space, &progress).unwrap();
                }
            }
            rounds.advance(&space, &mut progress);
        }
        prop_assert_eq!(progress, whole(&space, |_| ()));
    }

    #[test]
    fn no_design_is_taken_twice_and_none_beyond_the_budget(
        count in 1_u64..6_000,
        seed in any::<u64>(),
    ) {
        let space = sampled(&small(), "refine", count, seed);
        let mut seen = BTreeSet::new();
        let mut rounds = Rounds::new(&space);
        let stop = AtomicBool::new(false);
        let mut progress = Progress::new(&space);
        while let Some(open) = progress.first_open(&(0..space.num_points())) {
            let batch = rounds.batch(open..rounds.known()).unwrap();
            for index in batch.picked.clone().unwrap() {
                prop_assert!(index < space.size());
                prop_assert!(seen.insert(index), "{} comes twice", index);
            }
            let summary = evaluate(&space, batch, &stop).unwrap();
            progress.add(&space, open..rounds.known(), summary).unwrap();
            rounds.advance(&space, &mut progress);
        }
        prop_assert_eq!(seen.len() as u64, count.min(space.size()));
    }
}

#[test]
fn the_papers_search_is_answered_by_a_ten_thousandth_of_it() {
    // The best of all 37 million designs, by `moescape sweep pangu-strategy`.
    const EXHAUSTIVE: f64 = 0.457_126_971;
    let mut refined = Vec::new();
    for seed in 0..3 {
        let space = sampled(strategy(), "refine", 3_000, seed);
        let mut legal = 0;
        let found = best(&whole(&space, |_| legal += 1));
        let random = best(&whole(&sampled(strategy(), "random", 3_000, seed), |_| ()));
        assert!(found > random + 0.03, "{found} by refinement, {random} at random");
        assert!(legal > 2_000, "{legal} of 3,000: rules are asked before a design is taken");
        refined.push(found);
    }
    assert!(refined.iter().all(|found| *found > 0.985 * EXHAUSTIVE), "{refined:?}");
    assert!(refined.iter().any(|found| *found > EXHAUSTIVE), "{refined:?}");
}

#[test]
fn a_small_space_is_taken_whole() {
    let grid = whole(&space(&small()), |_| ());
    let refined = whole(&sampled(&small(), "refine", 1_000_000, 3), |_| ());
    assert_eq!(refined.num_points(), grid.num_points());
    assert_eq!(refined.summary(), grid.summary());
}

#[test]
fn without_a_feasible_design_rounds_are_random() {
    let none = small().replace("[design]", "constraints = [\"mfu >= 0.99\"]\n[design]");
    let refined = whole(&sampled(&none, "refine", 400, 5), |_| ());
    let random = whole(&sampled(&none, "random", 400, 5), |_| ());
    assert_eq!(refined.summary(), random.summary());
    assert!(refined.summary().legal > 0 && refined.summary().feasible == 0);
}

#[test]
fn what_later_rounds_take_is_one_or_two_knobs_from_something_known() {
    // Every legal design is feasible, so that the first round finds some.
    let space =
        sampled(&small().replace("[design]", "constraints = []\n[design]"), "refine", 300, 1);
    let stop = AtomicBool::new(false);
    let (mut progress, mut rounds) = (Progress::new(&space), Rounds::new(&space));
    let mut known: Vec<u64> = Vec::new();
    let knobs = |index: u64| {
        let design = space.design(index);
        space.axes().iter().map(|axis| design.get(axis.knob)).collect::<Vec<_>>()
    };
    let mut near = 0;
    while let Some(open) = progress.first_open(&(0..space.num_points())) {
        let batch = rounds.batch(open..rounds.known()).unwrap();
        let taken = batch.picked.clone().unwrap();
        for index in taken.iter().filter(|_| open > 0) {
            let values = knobs(*index);
            let differs = |other: &u64| {
                knobs(*other).iter().zip(&values).filter(|(one, other)| one != other).count()
            };
            if known.iter().any(|other| differs(other) <= 2)
                && Plan::new(&space.design(*index)).is_ok()
            {
                near += 1;
            }
        }
        known.extend(taken);
        let summary = evaluate(&space, batch, &stop).unwrap();
        progress.add(&space, open..rounds.known(), summary).unwrap();
        rounds.advance(&space, &mut progress);
    }
    assert_eq!(near, 300 - 75, "all behind the first round are legal and near");
}

#[test]
fn rounds_of_another_sweep_are_refused() {
    let (one, other) = (sampled(&small(), "refine", 300, 1), sampled(&small(), "random", 300, 1));
    let done = whole(&one, |_| ());
    assert!(Rounds::resume(&one, &done).is_some());
    assert!(Rounds::resume(&other, &done).is_none());
    let rounds = Rounds::new(&one);
    assert_eq!(rounds.batch(rounds.known()..rounds.known() + 1), None);
    let mut foreign = serde_json::to_value(&done).unwrap();
    foreign["rounds"][0] = serde_json::json!([99_999_999_999_u64]);
    let foreign: Progress = serde_json::from_value(foreign).unwrap();
    assert!(Rounds::resume(&one, &foreign).is_none());
}
