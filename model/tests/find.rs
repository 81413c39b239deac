//! The search for a layout: what it proposes is legal, fits and is what the model says of it,
//! whatever the question and on however many threads.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "find/layouts.rs"]
mod layouts;

use model::catalogue::calibration::PAIR_SPREAD;
use model::catalogue::preset::Preset;
use model::design::{Design, KnobId, KnobSet};
use model::metric::MetricId;
use model::rules::vocabulary::Vocabulary;
use model::search::find::{
    Answer, Domain, Goal, LayoutFront, LayoutSearch, MAX_DESIGNS, MIN_SPARE, OneThread, Phase,
    Pool, Query, Question, Recommendation, STRATEGY, Search, StrategySearch, Target, advice, spare,
};
use model::serving::{Inference, ServingPlan, infer};
use model::{Estimator, Plan, estimate};
use proptest::prelude::*;

fn design(preset: &str, changes: &[(KnobId, &str)]) -> Design {
    let mut design = Design::from_preset(preset).unwrap();
    for (knob, text) in changes {
        design.set_text(*knob, text).unwrap();
    }
    design
}

/// A small machine of this kind.
fn on(preset: &str, accelerator: &str, devices: &str, batch: &str) -> Design {
    design(
        preset,
        &[
            (KnobId::software, "calibrated"),
            (KnobId::accelerator, accelerator),
            (KnobId::num_devices, devices),
            (KnobId::devices_per_node, "none"),
            (KnobId::scale_up_domain_size, "none"),
            (KnobId::hbm_usable_gib, "none"),
            (KnobId::global_batch_size, batch),
            (KnobId::balance, "uniform"),
            (KnobId::planner, "none"),
        ],
    )
}

/// Two threads that take every second item.
struct TwoThreads;

impl Pool for TwoThreads {
    fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Estimator, &T) -> R + Sync,
    ) -> Vec<R> {
        let half = |odd: usize| {
            let mut estimator = Estimator::new();
            let own = items.iter().enumerate().filter(move |(place, _)| place % 2 == odd);
            own.map(|(place, item)| (place, work(&mut estimator, item))).collect::<Vec<_>>()
        };
        let mut all = std::thread::scope(|scope| {
            let other = scope.spawn(|| half(1));
            let mut all = half(0);
            all.extend(other.join().unwrap());
            all
        });
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, result)| result).collect()
    }
}

/// Knobs that say one thing together.
const TOGETHER: [&[KnobId]; 2] = [
    &[
        KnobId::recompute_granularity,
        KnobId::recompute_method,
        KnobId::recompute_num_layers,
        KnobId::recompute_modules,
    ],
    &[KnobId::pipeline_model_parallel_layout, KnobId::noop_layers],
];

/// Number of doubts about a design: its unusual knobs, each module that is swapped apart.
fn doubts(query: &Query, found: &Recommendation) -> usize {
    let own = query.design.memory.swap_modules;
    let swapped = found.design.memory.swap_modules;
    let modules = swapped.iter().filter(|module| !own.has(*module)).count();
    let knobs = found.unusual.iter();
    knobs.map(|knob| if *knob == KnobId::swap_modules { modules } else { 1 }).sum()
}

#[track_caller]
fn check(query: &Query, answer: &Answer) {
    assert!(answer.designs.len() <= MAX_DESIGNS);
    let kept: Vec<KnobId> = query.keep.iter().collect();
    for found in &answer.designs {
        let plan = Plan::new(&found.design).expect("what is proposed is legal");
        let metrics = estimate(&plan).metrics;
        assert_eq!(metrics, found.metrics, "its numbers are those of the model");
        assert!(metrics.fits && spare(&metrics) >= MIN_SPARE, "{}", spare(&metrics));
        for target in &query.targets {
            assert!(target.is_reached(&found.design, &metrics), "{target}");
        }
        if !query.any_schedule {
            let unsaid: Vec<KnobId> = Vocabulary::of(&query.design).unsaid(&found.design).collect();
            let is_kept = |knob: KnobId| {
                // Who keeps one of what says one thing together keeps all of it.
                let together: Vec<KnobId> = TOGETHER
                    .iter()
                    .filter(|group| group.contains(&knob))
                    .flat_map(|group| group.iter().copied())
                    .collect();
                kept.contains(&knob) || together.iter().any(|other| kept.contains(other))
            };
            assert!(unsaid.iter().all(|knob| is_kept(*knob)), "{unsaid:?} can't be said");
        }
        for knob in &kept {
            assert_eq!(found.design.get(*knob), query.design.get(*knob), "{knob:?} is kept");
        }
        let of_size = [KnobId::num_devices, KnobId::seq_length, KnobId::global_batch_size];
        for knob in KnobId::ALL {
            let asked = query.question != Question::Layout && of_size.contains(knob);
            if !STRATEGY.has(*knob) && !asked && *knob != KnobId::timing {
                assert_eq!(found.design.get(*knob), query.design.get(*knob), "{knob:?}");
            }
        }
    }
    let ruled_out: u64 = answer.ruled_out.iter().map(|it| it.designs).sum();
    assert!(ruled_out <= answer.space, "{ruled_out} of {}", answer.space);
    if answer.designs.is_empty() {
        return;
    }
    assert_eq!(answer.designs[0].label, Some(query.goal));
    let named = |goal: Goal| answer.designs.iter().find(|it| it.label == Some(goal)).unwrap();
    let speed = named(Goal::Fastest).metrics.tokens_per_second;
    let least = doubts(query, named(Goal::Fastest));
    for found in &answer.designs {
        // What few runs have wins by more than the error of a pair, or not at all.
        let more = doubts(query, found).saturating_sub(least);
        let most = speed * (PAIR_SPREAD.half[1] * more as f64).exp() * 1.000_3;
        assert!(found.metrics.tokens_per_second <= most, "the fastest is the fastest");
    }
    assert!(named(Goal::Safest).metrics.tokens_per_second >= speed * 0.95);
    assert!(named(Goal::Simplest).metrics.tokens_per_second >= speed * 0.90);
    assert!(named(Goal::Safest).margin >= named(Goal::Fastest).margin - 0.08);
}

#[test]
fn a_design_that_is_found_is_never_slower_than_the_one_at_hand_that_fits_as_well() {
    for preset in ["llama-3-8b", "qwen3-30b-a3b", "mixtral-8x7b"] {
        let query = Query::new(Design::from_preset(preset).unwrap());
        let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
        check(&query, &answer);
        let own = answer.at_hand.unwrap();
        if own.fits && spare(&own) >= MIN_SPARE {
            let best = answer.designs[0].metrics.tokens_per_second;
            assert!(best >= own.tokens_per_second, "{preset}");
        }
    }
}

#[test]
fn threads_and_steps_change_no_bit_of_an_answer() {
    let query = Query::new(on("qwen3-30b-a3b", "h100-sxm-80gb", "16", "256"));
    let one = StrategySearch::find(query.clone(), &OneThread).unwrap();
    let two = StrategySearch::find(query.clone(), &TwoThreads).unwrap();
    assert_eq!(one, two);
    let mut search = StrategySearch::new(query).unwrap();
    let (mut shares, mut early) = (vec![], 0);
    loop {
        let progress = search.step(&OneThread);
        shares.push(progress.share);
        early += usize::from(!search.answer().designs.is_empty());
        if progress.phase == Phase::Done {
            break;
        }
    }
    assert_eq!(search.answer(), one);
    assert!(shares.is_sorted() && *shares.last().unwrap() >= 1.0, "{shares:?}");
    assert!(early > 2, "something is told before the end");
}

#[test]
fn goals_put_their_own_design_first_and_targets_are_reached() {
    let base = on("qwen3-30b-a3b", "h100-sxm-80gb", "16", "256");
    for goal in Goal::ALL {
        let query = Query { goal, ..Query::new(base.clone()) };
        check(&query, &StrategySearch::find(query.clone(), &OneThread).unwrap());
    }
    let targets = ["spare>=0.2", "step_time_seconds<=60", "mfu>=0.1"];
    let targets: Vec<Target> =
        targets.iter().map(|text| Domain::Training.target(text).unwrap()).collect();
    let query = Query { targets, ..Query::new(base) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    assert!(!answer.designs.is_empty());
    check(&query, &answer);
}

#[test]
fn what_is_kept_stays() {
    let keep = KnobSet::of(&[
        KnobId::tensor_model_parallel_size,
        KnobId::micro_batch_size,
        KnobId::recompute_granularity,
    ]);
    let mut base = on("llama-3-8b", "h100-sxm-80gb", "16", "128");
    base.set_text(KnobId::tensor_model_parallel_size, "4").unwrap();
    base.set_text(KnobId::micro_batch_size, "2").unwrap();
    let query = Query { keep, ..Query::new(base) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    assert!(!answer.designs.is_empty());
    check(&query, &answer);
}

/// Does any layout of a small grid fit? All are simulated.
fn fits_anywhere(base: &Design) -> bool {
    fullest_share(base) <= 1.0 - MIN_SPARE
}

/// Fill of the memory with the layout of a small grid that needs least; all are simulated.
fn fullest_share(base: &Design) -> f64 {
    let mut least = f64::INFINITY;
    let mut estimator = Estimator::new();
    let mut design = base.clone();
    let devices = base.cluster.num_devices;
    let divisors = |number: u64| (1..=number).filter(move |it| number.is_multiple_of(*it));
    for tp in divisors(devices.min(64)) {
        for pp in divisors(devices / tp).filter(|pp| *pp <= base.transformer.num_layers) {
            for cp in [1, 2, 4] {
                design.parallel.tensor_model_parallel_size = tp;
                design.parallel.sequence_parallel = tp > 1;
                design.parallel.pipeline_model_parallel_size = pp;
                design.parallel.context_parallel_size = cp;
                design.training.micro_batch_size = 1;
                for text in ["none", "optimizer", "attention_output", "optimizer,attention_output"]
                {
                    design.set_text(KnobId::swap_modules, text).unwrap();
                    for group in 1..=4 {
                        design.set_text(KnobId::recompute_granularity, "full").unwrap();
                        design.set_text(KnobId::recompute_num_layers, &group.to_string()).unwrap();
                        let Ok(metrics) = estimator.metrics(&design) else { continue };
                        let full = 1.0 - spare(&metrics);
                        if metrics.fits || full > 1.0 {
                            least = least.min(full);
                        }
                    }
                }
            }
        }
    }
    least
}

#[test]
fn the_fewest_devices_are_those_of_an_exhaustive_check() {
    let keep = KnobSet::of(&[
        KnobId::cpu_offloading_num_layers,
        KnobId::data_parallel_sharding_strategy,
        KnobId::virtual_pipeline_model_parallel_size,
    ]);
    for (preset, accelerator) in [("llama-3-70b", "h100-sxm-80gb"), ("qwen3-32b", "a100-sxm-40gb")]
    {
        let mut base = on(preset, accelerator, "8", "128");
        for knob in [KnobId::cpu_offloading_num_layers, KnobId::noop_layers] {
            base.reset(knob);
        }
        base.set_text(KnobId::virtual_pipeline_model_parallel_size, "1").unwrap();
        base.set_text(KnobId::pipeline_model_parallel_layout, "none").unwrap();
        let query = Query { question: Question::FewestDevices, keep, ..Query::new(base.clone()) };
        let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
        check(&query, &answer);
        let (knob, fewest) = answer.size.expect("some number of devices is enough");
        assert_eq!(knob, KnobId::num_devices);
        let node = base.cluster.accelerator.row().devices_per_node;
        let smaller = (1..fewest).filter(|count| {
            if *count < node { node.is_multiple_of(*count) } else { count.is_multiple_of(node) }
        });
        for count in smaller {
            base.cluster.num_devices = count;
            assert!(!fits_anywhere(&base), "{preset} fits on {count} of {accelerator}");
        }
        base.cluster.num_devices = fewest;
        assert!(fits_anywhere(&base), "{preset} on {fewest} by the check itself");
    }
}

#[test]
fn where_nothing_fits_the_nearest_miss_and_enough_devices_are_told() {
    let query = Query::new(on("llama-3-70b", "a100-sxm-40gb", "8", "64"));
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    assert!(answer.designs.is_empty());
    let miss = answer.miss.expect("something comes near");
    assert!(!miss.misses.is_empty());
    let full = 1.0 - spare(&miss.metrics);
    assert!(full > 1.0 - MIN_SPARE);
    let least = fullest_share(&query.design);
    assert!(full <= least * 1.001, "{full} is not the nearest: {least} of a small grid is nearer");
    let enough = miss.fewest_devices.expect("more devices are enough");
    let mut more = query.design;
    more.cluster.num_devices = enough;
    assert!(!StrategySearch::find(Query::new(more), &OneThread).unwrap().designs.is_empty());
}

/// The fewest devices for this many days are enough, and every number of nodes below is too few.
#[test]
fn the_fewest_devices_for_a_deadline_are_found_with_their_layout() {
    let mut base = on("qwen3-30b-a3b", "h100-sxm-80gb", "64", "256");
    let days = Domain::Training.target("days_to_train<=30").unwrap();
    let query = |base: &Design| Query {
        question: Question::FewestDevices,
        targets: vec![days],
        ..Query::new(base.clone())
    };
    assert_eq!(query(&base).lacks(), [KnobId::train_tokens]);
    for (knob, value) in [
        ("train_tokens", "1e12"),
        ("mtbf_device_hours", "50676"),
        ("checkpoint_gb_per_sec", "10"),
        ("price_per_device_hour", "2"),
    ] {
        base.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    let query = query(&base);
    assert!(query.lacks().is_empty());
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    check(&query, &answer);
    let (knob, devices) = answer.size.unwrap();
    assert_eq!(knob, KnobId::num_devices);
    let of_run = |text: &str, found: &Recommendation| {
        let Target::Run(target) = Domain::Training.target(text).unwrap() else { panic!("{text}") };
        target.number(&found.design, &found.metrics).unwrap()
    };
    let best = &answer.designs[0];
    assert!(of_run("days_to_train<=30", best) <= 30.0);
    let fewer = Query {
        question: Question::Layout,
        design: {
            let mut fewer = base.clone();
            fewer.cluster.num_devices = devices - 8;
            fewer
        },
        ..query.clone()
    };
    let miss = StrategySearch::find(fewer, &OneThread).unwrap();
    assert!(miss.designs.is_empty(), "{devices} aren't the fewest");
    assert!(miss.miss.unwrap().misses.iter().any(|line| line.contains("Days to train")));
    // Money and energy are targets as well; what costs no more is asked of the same layouts.
    let cost = of_run("cost<=1", best);
    let mut cheap = Query { question: Question::Layout, ..query };
    cheap.design.cluster.num_devices = devices;
    cheap.targets = vec![Domain::Training.target(&format!("cost<={}", cost * 1.001)).unwrap()];
    let answer = StrategySearch::find(cheap.clone(), &OneThread).unwrap();
    check(&cheap, &answer);
    assert!(!answer.designs.is_empty());
    cheap.targets = vec![Domain::Training.target(&format!("cost<={}", cost * 0.5)).unwrap()];
    assert!(StrategySearch::find(cheap, &OneThread).unwrap().designs.is_empty());
}

#[test]
fn a_batch_without_bound_is_told_to_need_one_and_the_largest_fits_its_step() {
    let base = on("llama-3-8b", "h100-sxm-80gb", "8", "64");
    let mut query = Query { question: Question::LargestBatch, ..Query::new(base) };
    assert!(query.missing().is_some());
    query.targets = vec![Target::AtMost(MetricId::step_time_seconds, 5.0)];
    assert!(query.missing().is_none());
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    check(&query, &answer);
    let (knob, size) = answer.size.unwrap();
    assert_eq!(knob, KnobId::global_batch_size);
    let mut twice = query.design.clone();
    twice.training.global_batch_size = size * 2;
    let again = Query { question: Question::Layout, design: twice, ..query };
    assert!(
        StrategySearch::find(again, &OneThread).unwrap().designs.is_empty(),
        "twice {size} takes too long"
    );
}

#[test]
fn the_longest_sequence_fits_and_its_double_does_not() {
    let base = on("llama-3-8b", "a100-sxm-40gb", "8", "64");
    let query = Query { question: Question::LongestSequence, ..Query::new(base) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    check(&query, &answer);
    let (knob, size) = answer.size.unwrap();
    assert_eq!(knob, KnobId::seq_length);
    assert!(size > query.design.training.seq_length);
    let found = &answer.designs[0].design.training;
    let tokens = |it: &model::design::Training| it.seq_length * it.global_batch_size;
    assert!(tokens(found) <= tokens(&query.design.training));
}

#[test]
fn rules_that_no_layout_mends_are_told() {
    let broken = design("qwen3-30b-a3b", &[(KnobId::moe_router_topk, "500")]);
    let violations = StrategySearch::new(Query::new(broken)).err().unwrap();
    assert_eq!(violations[0].rule, "topk_is_at_most_the_experts");
    let traced = design("qwen3-30b-a3b", &[(KnobId::balance, "trace")]);
    assert!(StrategySearch::new(Query::new(traced)).is_err());
}

#[test]
fn targets_are_read_as_they_are_written() {
    for text in ["mfu>=0.4", "step_time_seconds<=20", "spare>=0.05", "num_devices<=512"] {
        assert_eq!(Domain::Training.target(text).unwrap().to_string(), text);
    }
    for text in ["mfu", "mfu>=x", "mfu>=-1", "x>=1", "spare<=0.1", "num_devices>=8", "spare>=2"] {
        assert!(Domain::Training.target(text).is_err(), "{text}");
    }
}

#[test]
fn advice_is_legal_fits_and_gains_with_every_further_change() {
    for preset in ["pangu-ultra-moe-6k@2", "deepseek-v3", "llama-3-70b"] {
        let plan = Plan::new(&Design::from_preset(preset).unwrap()).unwrap();
        let now = estimate(&plan);
        let advice = advice(&plan, &now);
        assert!(!advice.changes.is_empty(), "{preset}: nothing helps");
        let mut speed = now.metrics.tokens_per_second;
        for change in &advice.changes {
            let metrics = estimate(&Plan::new(&change.design).unwrap()).metrics;
            assert_eq!(metrics, change.metrics);
            assert!(metrics.fits && metrics.tokens_per_second > speed, "{preset}");
            assert!(!change.knobs(plan.design()).is_empty());
            speed = metrics.tokens_per_second;
        }
        assert!(!advice.losses.is_empty());
        for loss in &advice.losses {
            let left = now.step.total() - now.step.part(loss.part);
            let without = now.metrics.mfu * (now.step.total() / left);
            assert!((now.metrics.mfu + loss.worth - without).abs() < 1e-9);
            for mover in &loss.movers {
                let step = estimate(&Plan::new(&mover.design).unwrap()).step;
                assert!(step.part(loss.part) < now.step.part(loss.part));
            }
        }
    }
}

#[test]
fn a_schedule_without_a_closed_form_can_be_kept() {
    let mut base = on("llama-3-8b", "h100-sxm-80gb", "8", "64");
    base.set_text(KnobId::method, "v_half").unwrap();
    let query = Query { keep: KnobSet::of(&[KnobId::method]), ..Query::new(base) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    check(&query, &answer);
    assert!(!answer.designs.is_empty());
}

#[test]
fn a_bound_on_the_memory_steers_the_search_and_its_nearest_miss() {
    let base = on("llama-3-8b", "h100-sxm-80gb", "8", "64");
    let bytes = |bytes| Vec::from([Target::AtMost(MetricId::memory_peak_bytes, bytes)]);
    let query = Query { targets: bytes(4e10), ..Query::new(base.clone()) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    check(&query, &answer);
    assert!(!answer.designs.is_empty());
    let query = Query { targets: bytes(1e9), ..Query::new(base.clone()) };
    let nearest = StrategySearch::find(query, &OneThread).unwrap().miss.unwrap();
    let least = (fullest_share(&base) * nearest.metrics.memory_limit.get()).min(4e10);
    assert!(nearest.metrics.memory_peak.get() <= least * 1.001, "{least}");
}

#[test]
fn a_second_swapped_module_has_to_win_by_more_than_the_error_of_a_pair() {
    let mut base = on("pangu-ultra-moe-4k-baseline", "a100-sxm-40gb", "1", "48");
    base.training.seq_length = 4_096;
    base.transformer.num_layers = 5;
    base.transformer.moe_layer_freq = model::design::LayerFreq::Every(1);
    let query = Query { question: Question::FewestDevices, ..Query::new(base) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    assert!(answer.designs.iter().any(|it| it.design.memory.swap_modules.iter().count() > 1));
    check(&query, &answer);
}

#[test]
fn a_faster_design_on_the_way_to_the_simplest_is_the_fastest() {
    let mut base = on("qwen3-30b-a3b", "a100-sxm-40gb", "8", "48");
    base.training.seq_length = 512;
    base.transformer.num_layers = 4;
    base.set_text(KnobId::method, "interleaved").unwrap();
    let keep = KnobSet::of(&[KnobId::method]);
    let query = Query { question: Question::FewestDevices, keep, ..Query::new(base) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    check(&query, &answer);
    assert_eq!(answer.designs[0].design.memory.recompute_modules.iter().count(), 0);
}

#[test]
fn a_size_that_no_layout_mends_is_asked_for_all_the_same() {
    let base = on("llama-3-8b", "h100-sxm-80gb", "12", "64");
    assert!(
        StrategySearch::new(Query::new(base.clone())).is_err(),
        "12 devices fill no nodes of 8"
    );
    let query = Query { question: Question::FewestDevices, ..Query::new(base) };
    let answer = StrategySearch::find(query.clone(), &OneThread).unwrap();
    check(&query, &answer);
    assert!(answer.size.is_some());
}

fn presets() -> Vec<&'static Preset> {
    Preset::all().filter(|preset| preset.refused.is_none()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_asked_nothing_panics_and_nothing_illegal_or_too_large_is_proposed(
        preset in 0..presets().len(),
        accelerator in prop::sample::select(vec![
            "a100-sxm-40gb", "h100-sxm-80gb", "b200", "ascend-910b3", "ascend-910c",
        ]),
        devices in prop::sample::select(vec![1_u64, 3, 8, 16, 24, 48]),
        batch in prop::sample::select(vec![1_u64, 7, 48, 96]),
        length in prop::sample::select(vec![512_u64, 1_000, 4_096]),
        goal in 0..3_usize,
        keep in prop::collection::vec(0..STRATEGY.iter().count(), 0..4),
        layers in 1..24_u64,
        question in 0..8_usize,
        target in prop::sample::select(vec![
            "spare>=0.1", "mfu>=0.2", "step_time_seconds<=4", "memory_peak_bytes<=3e10",
        ]),
        asks_more in any::<bool>(),
        own in prop::sample::select(vec!["1f1b", "interleaved", "v_half", "zb_v", "dualpipev"]),
    ) {
        let mut design = on(presets()[preset].id, accelerator, "8", "8");
        design.cluster.num_devices = devices;
        design.training.global_batch_size = batch;
        design.training.seq_length = length;
        // Small, so that something fits now and then.
        design.transformer.num_layers = layers;
        design.transformer.moe_layer_freq = model::design::LayerFreq::Every(1);
        let strategy: Vec<KnobId> = STRATEGY.iter().collect();
        let kept: Vec<KnobId> = keep.iter().map(|place| strategy[*place]).collect();
        design.set_text(KnobId::method, own).unwrap();
        let query = Query {
            goal: Goal::ALL[goal],
            keep: KnobSet::of(&kept),
            question: *Question::ALL.get(question).unwrap_or(&Question::Layout),
            targets: Vec::from_iter(asks_more.then(|| Domain::Training.target(target).unwrap())),
            any_schedule: asks_more,
            ..Query::new(design)
        };
        if let Ok(answer) = StrategySearch::find(query.clone(), &OneThread) {
            check(&query, &answer);
        }
    }
}
