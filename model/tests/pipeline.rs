//! The pipeline of a plan: what simulation and closed form say of it, what pairs hide, what stages
//! hold.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::ground::axis::{Axis, Phase};
use model::ground::choice::{Method, Timing};
use model::schedule::TaskKind;
use model::training::estimate::Estimate;
use model::training::pair::{PairOperator, Pass, Resource};
use model::{Plan, estimate, layout_overflow, layout_proposal, timeline};
use proptest::prelude::*;
use testing::design::{estimated, from_preset, plan};

const RECIPE: &str = "pangu-ultra-moe-6k@2";

fn predict(settings: &[(&str, &str)]) -> Estimate {
    estimated(&from_preset(RECIPE, settings))
}

fn step(settings: &[(&str, &str)]) -> f64 {
    predict(settings).metrics.step_time.get()
}

/// Hidden share of the layers' TP, EP and PP communication in one phase, or in all.
fn hidden(estimate: &Estimate, phase: Option<Phase>) -> f64 {
    let (mut time, mut exposed) = (0.0, 0.0);
    for part in &estimate.overlap {
        let counted = matches!(part.axis, Axis::Tp | Axis::Ep | Axis::Pp);
        if counted && phase.is_none_or(|phase| part.phase == phase) {
            time += part.time.get();
            exposed += part.exposed.get();
        }
    }
    1.0 - exposed / time
}

/// No framework: MindSpeed's pairs need two chunks on each stage.
const IDEAL: (&str, &str) = ("framework", "ideal");

const PLAIN: [(&str, &str); 5] = [
    IDEAL,
    ("method", "1f1b"),
    ("virtual_pipeline_model_parallel_size", "1"),
    ("moe_hierarchical_alltoallv", "false"),
    ("delay_wgrad_compute", "false"),
];

fn plain_with(changes: &[(&'static str, &'static str)]) -> f64 {
    step(&[PLAIN.as_slice(), changes].concat())
}

const VPP: (&str, &str) = ("virtual_pipeline_model_parallel_size", "2");
const HIERARCHICAL: (&str, &str) = ("moe_hierarchical_alltoallv", "true");
const SPLIT: (&str, &str) = ("delay_wgrad_compute", "true");
const OVERLAP: (&str, &str) = ("method", "1f1b_overlap");

/// The paper hides 95 % of EP, TP and PP communication; its pairs do, warm-up and cool-down less.
#[test]
fn pairs_of_the_recipe_hide_what_the_paper_says_and_its_ramps_less() {
    let recipe = predict(&[]);
    let steady = hidden(&recipe, Some(Phase::Steady));
    assert!(steady >= 0.95, "{steady}");
    for ramp in [Phase::WarmUp, Phase::CoolDown] {
        let share = hidden(&recipe, Some(ramp));
        assert!(share < 0.7, "{ramp:?} {share}");
    }
    let whole = hidden(&recipe, None);
    assert!((0.80..steady).contains(&whole), "{whole}");
}

#[test]
fn each_part_of_the_recipe_gains_alone_and_all_gain_more_together() {
    let plain = plain_with(&[]);
    let alone = [
        plain_with(&[VPP, ("method", "interleaved")]),
        plain_with(&[HIERARCHICAL]),
        plain_with(&[OVERLAP]),
        plain_with(&[OVERLAP, SPLIT]),
    ];
    for step in alone {
        assert!(step < plain * 0.95, "{step} {plain}");
    }
    assert!(alone[3] < alone[2], "splitting dX and dW lets more hide: {alone:?}");
    let together = plain_with(&[VPP, HIERARCHICAL, OVERLAP, SPLIT]);
    let best_alone = alone.into_iter().fold(f64::INFINITY, f64::min);
    assert!(together < best_alone * 0.95, "{together} {best_alone}");
}

/// Prints the figures of the recipe's parts and its layout with `--nocapture`.
#[test]
fn the_figures_of_the_recipe_are_all_there() {
    let plain = plain_with(&[]);
    let parts = [
        ("1F1B without any", plain),
        ("VPP 2 alone", plain_with(&[VPP, ("method", "interleaved")])),
        ("hierarchical EP alone", plain_with(&[HIERARCHICAL])),
        ("overlap alone", plain_with(&[OVERLAP])),
        ("overlap with dX and dW split", plain_with(&[OVERLAP, SPLIT])),
        ("ZB-H1: dX and dW split without overlap", plain_with(&[("method", "zb_h1")])),
        ("all together", step(&[IDEAL])),
    ];
    for (name, seconds) in parts {
        println!("{name}: {seconds:.3} s, {:+.1} %", (seconds / plain - 1.0) * 100.0);
    }
    let recipe = predict(&[]);
    for part in &recipe.overlap {
        let (phase, axis) = (part.phase.label(), part.axis.name());
        let (time, hidden) = (part.time.get(), part.ratio() * 100.0);
        println!("{phase}, {axis}: {time:.3} s, {hidden:.1} % hidden");
        assert!((0.0..=100.0).contains(&hidden), "{part:?}");
    }
    for phase in Phase::ALL {
        let share = hidden(&recipe, Some(phase)) * 100.0;
        println!("{}, TP, EP and PP together: {share:.1} % hidden", phase.label());
    }
    println!("step, TP, EP and PP together: {:.1} % hidden", hidden(&recipe, None) * 100.0);
    let naive = from_preset(RECIPE, &[IDEAL, ("noop_layers", "62,63")]);
    let best = layout_proposal(&plan(&naive)).unwrap();
    let own = layout_overflow(&plan(&from_preset(RECIPE, &[IDEAL])));
    for (name, overflow) in
        [("no-op slots at the end", best.current), ("the recipe", own), ("optimum", best.overflow)]
    {
        println!("layout overflow, {name}: {:.2} %", overflow * 100.0);
        assert!(overflow >= best.lower_bound - 1e-12, "{name}");
    }
}

/// Two levels on two links hide each other: with both in one pair, time goes to the longer one.
#[test]
fn levels_of_the_hierarchical_exchange_run_at_the_same_time_in_a_pair() {
    let timeline = timeline(&plan(&from_preset(RECIPE, &[]))).unwrap();
    let pair = timeline.pair(8, 0, 1).unwrap();
    let on = |resource| {
        move |operator: &&PairOperator| {
            operator.resource == resource && ["dispatch", "combine"].contains(&operator.name)
        }
    };
    let mut both = 0.0_f64;
    for intra in pair.operators.iter().filter(on(Resource::IntraNode)) {
        for inter in pair.operators.iter().filter(on(Resource::InterNode)) {
            both += (intra.end.min(inter.end) - intra.start.max(inter.start)).max(0.0);
        }
    }
    assert!(both > 0.0, "{pair:#?}");
}

#[test]
fn operators_of_a_pair_take_turns_on_each_resource_and_keep_their_order() {
    for preset in [RECIPE, "deepseek-v3-2k-h800"] {
        let design = from_preset(preset, &[]);
        let timeline = timeline(&plan(&design)).unwrap();
        let chunks = timeline.timeline.schedule.chunks_per_stage();
        for (forward, backward) in [(0, 0), (0, chunks - 1), (chunks - 1, 0)] {
            let pair = timeline.pair(1, forward, backward).unwrap();
            // Host copies go both ways at once.
            for resource in [Resource::Compute, Resource::IntraNode, Resource::InterNode] {
                let mut spans: Vec<(f64, f64)> = pair
                    .operators
                    .iter()
                    .filter(|operator| operator.resource == resource)
                    .map(|operator| (operator.start, operator.end))
                    .collect();
                spans.sort_by(|one, other| one.0.total_cmp(&other.0));
                for two in spans.windows(2) {
                    assert!(two[1].0 >= two[0].1 - 1e-12, "{preset} {resource:?} {two:?}");
                }
            }
            for pass in [Pass::Forward, Pass::InputGrad] {
                let starts: Vec<f64> = pair
                    .operators
                    .iter()
                    .filter(|operator| {
                        operator.pass == pass && operator.resource == Resource::Compute
                    })
                    .filter(|operator| !["shared experts", "MLP"].contains(&operator.name))
                    .map(|operator| operator.start)
                    .collect();
                assert!(starts.is_sorted(), "{preset} {pass:?} {starts:?}");
            }
            let last = pair.operators.iter().map(|operator| operator.end).fold(0.0, f64::max);
            assert!((last - pair.seconds).abs() <= 1e-12 * last);
        }
    }
}

#[test]
fn what_a_task_is_made_of_sums_to_its_time() {
    for method in ["1f1b_overlap", "interleaved", "zb_v", "v_half", "dualpipev"] {
        let changes = [("method", method), ("delay_wgrad_compute", "false")];
        let timeline = timeline(&plan(&from_preset(RECIPE, &changes))).unwrap();
        for stage in 0..16 {
            for (task, start, end) in timeline.timeline.stage(stage) {
                let detail = timeline.explain(stage, task);
                let sum: f64 = detail.parts.iter().map(|(_, _, seconds)| seconds.get()).sum();
                let time = end - start;
                assert!((sum - time).abs() <= 1e-9 * end, "{method} {task:?} {sum} {time}");
            }
        }
    }
}

/// Every method's own count, from the formulas that are published for equal stages.
#[test]
fn stages_hold_as_many_micro_batches_as_their_schedule_is_published_with() {
    let (p, m) = (16.0, 64.0);
    type Published<'a> = (&'a str, &'a str, &'a dyn Fn(f64) -> f64);
    let cases: [Published<'_>; 9] = [
        ("gpipe", "1", &|_| m),
        ("1f1b", "1", &|stage| p - stage),
        ("interleaved", "2", &|stage| (2.0 * (p - stage - 1.0) + p + 1.0) / 2.0),
        ("1f1b_overlap", "2", &|stage| (2.0 * (p - stage - 1.0) + p + 2.0) / 2.0),
        ("zb_h1", "1", &|_| p),
        ("zb_2p", "1", &|_| 2.0 * p - 1.0),
        ("zb_v", "2", &|_| p),
        ("dualpipe", "1", &|_| p + 1.0),
        // 2 p + 1 chunks of half a stage each.
        ("dualpipev", "2", &|_| p + 0.5),
    ];
    for (method, chunks, published) in cases {
        let changes = [
            ("method", method),
            ("virtual_pipeline_model_parallel_size", chunks),
            ("delay_wgrad_compute", "false"),
        ];
        for (index, stage) in predict(&changes).stages.iter().enumerate() {
            let most = published(index as f64);
            assert!(stage.peak_in_flight <= most, "{method} {index} {}", stage.peak_in_flight);
            if index == 0 {
                assert!(stage.peak_in_flight >= most, "{method} {}", stage.peak_in_flight);
            }
        }
    }
}

/// A step of too many tasks grows by what its steady state repeats; where two stages are nearly the
/// slowest, it takes long to settle.
#[test]
fn a_long_step_is_extended_to_what_all_its_tasks_give() {
    for (method, chunks) in [
        ("1f1b", "1"),
        ("interleaved", "2"),
        ("1f1b_overlap", "2"),
        ("zb_v", "2"),
        ("dualpipe", "1"),
    ] {
        let design = from_preset(
            RECIPE,
            &[
                ("method", method),
                ("virtual_pipeline_model_parallel_size", chunks),
                ("delay_wgrad_compute", "false"),
                ("global_batch_size", "393216"),
                // The timeline is of the fullest rank, the estimate's stages are of the mean one.
                ("balance", "uniform"),
                ("planner", "none"),
            ],
        );
        let plan = plan(&design);
        let whole = timeline(&plan).unwrap().timeline;
        assert!(whole.schedule.num_tasks() > 50_000, "{method}");
        let estimate = estimate(&plan);
        assert_eq!(estimate.timing, Timing::Simulated);
        let bubble = estimate.metrics.bubble_ratio;
        let simulated = whole.bubble_ratio();
        assert!((bubble - simulated).abs() <= 1e-4, "{method} {bubble} {simulated}");
        let stage = &estimate.stages[0];
        let seconds = (stage.compute + stage.exposed + stage.idle).get();
        assert!((seconds / whole.seconds - 1.0).abs() <= 1e-4, "{method} {seconds}");
    }
}

#[test]
fn a_step_that_cannot_be_simulated_says_so_and_takes_the_closed_form() {
    let changes = [
        ("num_layers", "1000"),
        ("pipeline_model_parallel_size", "1000"),
        ("noop_layers", "none"),
        ("mtp_num_layers", "0"),
        ("moe_layer_freq", "1"),
        ("virtual_pipeline_model_parallel_size", "1"),
        ("method", "1f1b"),
        ("delay_wgrad_compute", "false"),
        ("num_devices", "384000"),
        ("global_batch_size", "960000"),
        ("recompute_num_layers", "none"),
    ];
    let estimate = estimated(&from_preset(RECIPE, &changes));
    assert_eq!(estimate.timing, Timing::ClosedForm);
    assert!(estimate.warnings.iter().any(|warning| warning.contains("closed form")));
}

#[test]
fn expert_overlap_hides_less_than_pairs_that_hide_everything() {
    let overlapped = [("method", "interleaved"), ("overlap_moe_expert_parallel_comm", "true")];
    let some = step(&overlapped);
    assert!(some < step(&[("method", "interleaved"), ("delay_wgrad_compute", "false")]));
    assert!(step(&[]) < some);
}

fn any_method() -> impl Strategy<Value = (Method, u64)> {
    prop_oneof![
        Just((Method::Gpipe, 1)),
        Just((Method::OneForwardOneBackward, 1)),
        (2_u64..4).prop_map(|chunks| (Method::Interleaved, chunks)),
        (1_u64..4).prop_map(|chunks| (Method::OneForwardOneBackwardOverlap, chunks)),
        Just((Method::ZbH1, 1)),
        Just((Method::Zb2p, 1)),
        Just((Method::ZbV, 2)),
        Just((Method::VHalf, 2)),
        Just((Method::VMin, 2)),
        Just((Method::DualPipe, 1)),
        Just((Method::DualPipeV, 2)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Unequal chunks, any method: all tasks end, no stage works on two at once, and the estimate
    /// is the timeline's.
    #[test]
    fn no_schedule_stops_on_stages_of_any_size(
        (method, chunks) in any_method(),
        stages in prop::sample::select(vec![1_u64, 2, 4, 8]),
        rounds in 2_u64..5,
        sizes in prop::collection::vec(0_usize..4, 32),
        overlapped in any::<bool>(),
    ) {
        let count = (stages * chunks) as usize;
        let letters: Vec<String> = (0..count).map(|chunk| {
            let first = if chunk == 0 { "E" } else { "" };
            let last = if chunk + 1 == count { "L" } else { "" };
            format!("{first}{}{last}", "t".repeat(sizes[chunk].max(1)))
        }).collect();
        let layers: usize = sizes[..count].iter().map(|size| (*size).max(1)).sum();
        let method = model::ground::choice::Choice::name(method);
        let changes = [
            ("num_layers", layers.to_string()),
            ("num_devices", (stages * 8).to_string()),
            ("tensor_model_parallel_size", "1".to_owned()),
            ("sequence_parallel", "false".to_owned()),
            ("pipeline_model_parallel_size", stages.to_string()),
            ("virtual_pipeline_model_parallel_size", chunks.to_string()),
            ("pipeline_model_parallel_layout", letters.join("|")),
            ("global_batch_size", (stages * rounds * 8).to_string()),
            ("overlap_p2p_comm", overlapped.to_string()),
            ("method", method.to_owned()),
        ];
        let changes = changes.each_ref().map(|(knob, value)| (*knob, value.as_str()));
        let design = from_preset("llama-3-8b", &changes);
        // Some of these are illegal: VPP without PP.
        let Ok(plan) = Plan::new(&design) else { return Ok(()) };
        let timeline = timeline(&plan).unwrap().timeline;
        for stage in 0..stages as usize {
            let mut before = 0.0;
            let mut forwards = 0;
            for (task, start, end) in timeline.stage(stage) {
                prop_assert!(start >= before && end >= start, "{task:?} {start} {end}");
                before = end;
                forwards += u64::from(matches!(task.kind, TaskKind::Forward | TaskKind::Pair));
            }
            let per_stage = if method == "dualpipe" { 1 } else { chunks };
            prop_assert_eq!(forwards, plan.num_microbatches() * per_stage);
        }
        let estimate = estimate(&plan);
        prop_assert!((estimate.metrics.bubble_ratio - timeline.bubble_ratio()).abs() < 1e-9);
    }
}
