//! What is kept between designs changes no bit, and rules read what they say: random walks over
//! all knobs.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use model::design::{Design, KnobId, KnobSet};
use model::ground::knob::Kind;
use model::metric::{MetricId, MetricValue, Regime};
use model::rules::rules;
use model::{Estimator, Plan, estimate, is_near_limit};
use testing::design::estimated;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// A value of a knob: often near the current one, sometimes anywhere.
fn value(random: &mut Random, design: &Design, knob: KnobId) -> String {
    let current = design.get(knob).to_string();
    let whole = |random: &mut Random, low: u64, high: u64| {
        let near = current.parse::<u64>().unwrap_or(8);
        let value = match random.below(6) {
            0 => near * 2,
            1 => near / 2,
            2 => near + 1,
            3 => 1 << random.below(9),
            4 => near * 3 / 2,
            _ => random.of(&[1, 2, 3, 4, 61, 64, 256, 6_144]),
        };
        value.clamp(low, high.min(200_000)).to_string()
    };
    let real = |random: &mut Random, low: f64, high: f64| {
        let share = random.of(&[0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0]);
        (low + (high.min(low + 400.0) - low) * share).to_string()
    };
    let rarely = random.below(3) == 0;
    match knob.knob().kind {
        Kind::Integer(low, high) => whole(random, low, high),
        Kind::OptionalInteger(..) | Kind::OptionalReal(..) if rarely => "none".into(),
        Kind::OptionalInteger(low, high) => whole(random, low, high),
        Kind::Real(low, high) | Kind::OptionalReal(low, high) => real(random, low, high),
        Kind::Flag => random.of(&["true", "false"]).into(),
        Kind::Choice(names) => random.of(names).into(),
        Kind::Subset(names) => {
            let some: Vec<&str> = names.iter().copied().filter(|_| random.below(3) == 0).collect();
            if some.is_empty() { "none".into() } else { some.join(",") }
        }
        Kind::LayerFreq => random.of(&["1", "2", "([0]*3+[1]*58)", "([0]*1+[1]*31)"]).into(),
        Kind::PerStage(_) => {
            let stages = design.parallel.pipeline_model_parallel_size as usize;
            let each = (0..stages).map(|_| random.of(&["0", "1", "2"])).collect::<Vec<_>>();
            let all = [String::from("none"), "1".into(), "2".into(), each.join(",")];
            all[random.below(all.len())].clone()
        }
        Kind::PositionList(_) => random.of(&["none", "61,63", "3", "0,1,2"]).into(),
        Kind::LayerPattern(text) => random.of(&["none", text.example()]).into(),
        Kind::Layout => random.of(&["none", "Ett|(tt|)*29t|mL", "Ett|(tt|)*29tL|m"]).into(),
        Kind::Hash => "none".into(),
        Kind::Name => random.of(&["none", "ours, July"]).into(),
        Kind::Arguments => random.of(&["none", "rotary-base 10000 --swa"]).into(),
    }
}

/// Changes some knobs of a design, so that it may break rules; with these knobs.
fn changed(random: &mut Random, design: &Design, knobs: &[KnobId]) -> (Design, KnobSet) {
    let (mut other, mut moved) = (design.clone(), KnobSet::EMPTY);
    for _ in 0..=random.below(3) {
        let knob = random.of(knobs);
        let value = value(random, &other, knob);
        let _ = other.set_text(knob, &value);
        moved = moved.and(&[knob]);
    }
    (other, moved)
}

fn bits(value: MetricValue) -> u64 {
    match value {
        MetricValue::Number(number) => number.to_bits(),
        MetricValue::Flag(flag) => u64::from(flag),
    }
}

/// Walks from a preset, and holds each design's metrics against those from scratch, of an estimator
/// that compares designs and of one that is told what moved. Returns how many designs were legal.
fn walk([estimator, knowing]: &mut [Estimator; 2], preset: &str, seed: u64, steps: usize) -> usize {
    let mut random = Random(seed);
    let mut here = Design::from_preset(preset).unwrap();
    here.set_text(KnobId::timing, "closed_form").unwrap();
    let layers = [
        KnobId::recompute_granularity,
        KnobId::recompute_modules,
        KnobId::recompute_method,
        KnobId::recompute_num_layers,
        KnobId::swap_modules,
        KnobId::swap_prefetch,
        KnobId::moe_hierarchical_alltoallv,
        KnobId::delay_wgrad_compute,
        KnobId::moe_zero_memory,
        KnobId::method,
    ];
    let (mut legal, mut since) = (0, KnobSet::of(KnobId::ALL));
    for _ in 0..steps {
        let all = random.below(2) == 0;
        let (there, moved) = changed(&mut random, &here, if all { KnobId::ALL } else { &layers });
        let broken = rules().iter().find(|rule| rule.is_broken(&there));
        match (estimator.metrics(&there), broken) {
            (Err(rule), Some(broken)) => assert_eq!(rule.name, broken.name),
            (Ok(metrics), None) => {
                let fresh = estimated(&there);
                since = since.with(&moved);
                assert_eq!(knowing.metrics_of_legal(&there, &since), metrics, "{there:?}");
                for id in MetricId::of(Regime::Training) {
                    let (kept, fresh) = (metrics.get(id).unwrap(), fresh.metrics.get(id).unwrap());
                    assert_eq!(bits(kept), bits(fresh), "{id:?}: {kept:?} {fresh:?} {there:?}");
                }
                let near = is_near_limit(&Plan::new(&there).unwrap(), &fresh);
                assert_eq!(knowing.is_near_limit(&metrics), near, "{there:?}");
                (legal, since) = (legal + 1, KnobSet::EMPTY);
                here = there;
            }
            (said, broken) => panic!("{said:?}, but {broken:?}: {there:?}"),
        }
    }
    legal
}

#[test]
fn an_estimate_does_not_depend_on_those_before_it() {
    let mut estimators = [Estimator::new(), Estimator::new()];
    let presets = ["pangu-ultra-moe-6k", "deepseek-v3", "qwen3-30b-a3b", "pangu-ultra-moe-718b"];
    let mut legal = 0;
    for round in 0..6 {
        for (place, preset) in presets.iter().enumerate() {
            legal += walk(&mut estimators, preset, round * 100 + place as u64, 250);
        }
    }
    assert!(legal > 2_000, "{legal}");
}

#[test]
fn a_whole_estimate_does_not_depend_on_those_before_it() {
    let mut estimator = Estimator::new();
    let (mut legal, mut random) = (0, Random(77));
    for preset in ["pangu-ultra-moe-6k", "qwen3-30b-a3b"] {
        let mut here = Design::from_preset(preset).unwrap();
        for _ in 0..120 {
            let (there, _) = changed(&mut random, &here, KnobId::ALL);
            match (estimator.estimate(&there), Plan::new(&there)) {
                (Ok((kept, said)), Ok(plan)) => {
                    assert_eq!(said, estimate(&plan), "{there:?}");
                    assert_eq!(kept, plan);
                    legal += 1;
                    here = there;
                }
                (Err(said), Err(broken)) => assert_eq!(said, broken),
                (said, fresh) => panic!("{said:?}, but {fresh:?}: {there:?}"),
            }
        }
    }
    assert!(legal > 20, "{legal}");
}

#[test]
fn a_rule_reads_the_knobs_that_it_says() {
    let mut random = Random(9);
    let mut seen = vec![false; rules().len()];
    let named: Vec<KnobId> = rules().iter().flat_map(|rule| rule.knobs).copied().collect();
    for preset in ["pangu-ultra-moe-6k", "deepseek-v3", "qwen3-30b-a3b"] {
        let mut here = Design::from_preset(preset).unwrap();
        for step in 0..60_000 {
            // Those that rules name half of the time, each as often as it is named.
            let knob = if step % 2 == 0 { random.of(&named) } else { random.of(KnobId::ALL) };
            let mut there = here.clone();
            let value = value(&mut random, &there, knob);
            if there.set_text(knob, &value).is_err() {
                continue;
            }
            if knob != KnobId::framework {
                // It follows the accelerator, and is a change of its own.
                there.set(KnobId::framework, &here.get(KnobId::framework)).unwrap();
            }
            for (rule, seen) in rules().iter().zip(&mut seen) {
                if rule.is_broken(&here) != rule.is_broken(&there) {
                    assert!(rule.reads.has(knob), "{} reads {knob:?}", rule.name);
                    *seen = true;
                }
            }
            // Far from legal, most rules are broken whatever changes.
            here = if step % 40 == 0 { Design::from_preset(preset).unwrap() } else { there };
        }
    }
    let unseen = rules().iter().zip(&seen).filter(|(_, seen)| !**seen);
    let unseen: Vec<_> = unseen.map(|(rule, _)| rule.name).collect();
    assert!(unseen.len() < 5, "not tried both ways: {unseen:?}");
}
