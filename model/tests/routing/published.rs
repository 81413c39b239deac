//! What runs and planners are published to do, beside what this model says. Nothing is fitted to
//! these figures: they are checks. `cargo test -p model --test routing published -- --nocapture`.

use model::design::{Design, KnobId};
use model::estimate::StepPart;
use model::routing::{Generator, MoveCost, Planner, Predictor, Trigger};
use model::{Plan, estimate};

use super::{generated, size};

fn with(design: &Design, settings: &[(&str, &str)]) -> Design {
    let mut design = design.clone();
    for (knob, value) in settings {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    design
}

/// Qwen3-235B-A22B on 256 H100, natural and force-balanced routing at four sequence lengths.
///
/// Source: Megatron-MoE-ModelZoo, `best_practice/qwen3/readme.md`.
const NATURAL: [(&str, &str, f64, f64); 4] = [
    ("16384", "1", 237.0, 295.0),
    ("32768", "2", 277.0, 335.0),
    ("65536", "4", 320.0, 368.0),
    ("131072", "8", 357.0, 389.0),
];

#[test]
fn natural_routing_costs_more_the_shorter_sequences_are() {
    let base = with(
        &Design::from_preset("qwen3-235b-a22b").unwrap(),
        &[
            ("accelerator", "h100-sxm-80gb"),
            ("num_devices", "256"),
            ("pipeline_model_parallel_layout", "Ett|(ttt|)*30ttL"),
            ("noop_layers", "none"),
            ("tp", "4"),
            ("sequence_parallel", "true"),
            ("pp", "8"),
            ("vpp", "4"),
            ("method", "interleaved"),
            ("ep", "8"),
            ("mbs", "1"),
            ("gbs", "256"),
            ("overlap_moe_expert_parallel_comm", "false"),
            ("delay_wgrad_compute", "false"),
            ("recompute_granularity", "selective"),
            ("recompute_modules", "layernorm,moe"),
        ],
    );
    let mut ratios = Vec::new();
    for (seq, cp, natural, balanced) in NATURAL {
        let even = with(&base, &[("seq_length", seq), ("cp", cp)]);
        let uneven = with(&even, &[("balance", "skewed")]);
        let plan = Plan::new(&uneven).unwrap();
        let speed = |plan: &Plan| estimate(plan).metrics.tokens_per_second;
        let ratio = speed(&plan) / speed(&Plan::new(&even).unwrap());
        println!(
            "Qwen3-235B at {seq:>6}: imbalance {:.2}, {ratio:.3} of balanced speed, measured {:.3}",
            plan.effect().imbalance,
            natural / balanced
        );
        ratios.push(ratio);
    }
    assert!(ratios.windows(2).all(|pair| pair[0] < pair[1]), "{ratios:?}");
    assert!(ratios.iter().all(|ratio| (0.8..1.0).contains(ratio)), "{ratios:?}");
}

const COST: MoveCost = MoveCost { bytes_per_expert: 1.0, bytes_per_second: 1.0 };

fn planner(trigger: Trigger, window: usize, interval: usize) -> Planner {
    let predictor = Predictor::SlidingWindow(window);
    Planner { predictor, interval, trigger, devices: 32, redundant: 0 }
}

/// Share of the device imbalance that is removed; published are 0.8 to 0.9.
///
/// Source: Pangu Ultra MoE, arXiv 2505.04519.
#[test]
fn the_share_of_imbalance_removed_grows_with_locality_and_falls_after_a_shift() {
    let triggers = [("threshold", Trigger::Threshold(0.08)), ("on increase", Trigger::OnIncrease)];
    for skew in [0.1, Generator::SKEW, 0.43] {
        for (name, trigger) in triggers {
            let removed: Vec<f64> = [0.9, 0.99, 0.999, 0.9999, Generator::LOCALITY]
                .into_iter()
                .map(|locality| {
                    let generator = Generator { skew, locality, ..Generator::default() };
                    let trace = generated(&generator, &size(400, 6));
                    planner(trigger, 16, 50).run(&trace, &COST).removed(50)
                })
                .collect();
            println!("removed at skew {skew}, {name}, locality .9 to default: {removed:.2?}");
            if trigger == Trigger::OnIncrease {
                assert!(removed.windows(2).all(|pair| pair[0] < pair[1]), "{removed:?}");
                assert!(removed[4] > 0.8, "{removed:?}");
            }
        }
    }
    let removed = |shift| {
        let trace = generated(&Generator { shift, ..Generator::default() }, &size(400, 6));
        planner(Trigger::OnIncrease, 16, 50).run(&trace, &COST).removed(50)
    };
    let (stable, shifted) = (removed(None), removed(Some(225)));
    println!("removed without {stable:.2} and with {shifted:.2} a shift at step 225 of 400");
    assert!(shifted < stable);
}

#[test]
fn a_longer_interval_or_window_removes_less() {
    let generator = Generator { locality: 0.999, ..Generator::default() };
    let trace = generated(&generator, &size(400, 6));
    let removed = |window, interval| {
        planner(Trigger::OnIncrease, window, interval).run(&trace, &COST).removed(200)
    };
    let intervals = [10, 50, 200].map(|interval| removed(10, interval));
    let windows = [10, 50, 200].map(|window| removed(window, 50));
    println!("removed at locality 0.999, intervals 10, 50, 200: {intervals:.2?}");
    println!("removed at locality 0.999, windows 10, 50, 200: {windows:.2?}");
    assert!(intervals[0] > intervals[1] && intervals[1] > intervals[2], "{intervals:?}");
    assert!(windows[0] > windows[1] && windows[1] > windows[2], "{windows:?}");
}

/// Published is +10 % MFU.
///
/// Source: Pangu Ultra MoE, arXiv 2505.04519.
#[test]
fn a_planner_pays_for_its_moves() {
    let paper = Design::from_preset("pangu-ultra-moe-6k").unwrap();
    let skewed = |skew: &str| with(&paper, &[("balance", "skewed"), ("skew", skew)]);
    for skew in ["0.1", "0.21", "0.43"] {
        let none = skewed(skew);
        let before = estimate(&Plan::new(&none).unwrap()).metrics;
        for trigger in ["threshold", "on_increase"] {
            let planned =
                with(&none, &[("planner", "sliding_window"), ("planner_trigger", trigger)]);
            let after = estimate(&Plan::new(&planned).unwrap());
            let moves = after.step.part(StepPart::Migration).get();
            let gain = after.metrics.mfu / before.mfu - 1.0;
            println!(
                "skew {skew}, {trigger}: imbalance {:.3} to {:.3}, MFU {:+.1} %, moves {:.1} ms",
                before.imbalance_ratio,
                after.metrics.imbalance_ratio,
                100.0 * gain,
                1e3 * moves
            );
            assert!(gain > -0.001, "{skew} {trigger}: {gain}");
        }
    }
}
