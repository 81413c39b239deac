//! Solving for one knob: what is found is what trying every value by hand finds.

use model::design::{Design, KnobId};
use model::ground::knob::Value;
use model::metric::MetricId;
use model::search::solve::{Target, Wish};
use model::training::estimate::Metrics;
use model::{Plan, estimate, legal_values, solve};

const PRESETS: [&str; 3] = ["pangu-ultra-moe-6k", "deepseek-v3", "qwen3-30b-a3b"];

const KNOBS: [KnobId; 5] = [
    KnobId::micro_batch_size,
    KnobId::num_devices,
    KnobId::expert_model_parallel_size,
    KnobId::recompute_granularity,
    KnobId::virtual_pipeline_model_parallel_size,
];

fn plan(preset: &str) -> Plan {
    let mut design = Design::from_preset(preset).expect("a preset");
    design.set_text(KnobId::timing, "closed_form").expect("a timing");
    Plan::new(&design).expect("legal")
}

/// The metrics of a plan with another value of a knob; `None` if that breaks a rule.
fn with(plan: &Plan, knob: KnobId, value: &Value) -> Option<Metrics> {
    let mut design = plan.design().clone();
    design.set(knob, value).ok()?;
    Plan::new(&design).ok().map(|plan| estimate(&plan).metrics)
}

fn targets(metrics: &Metrics) -> Vec<Target> {
    let mut targets = vec![Target::Fits, Target::AtLeast(MetricId::mfu, 0.99)];
    for factor in [0.9, 1.0, 1.02] {
        targets.push(Target::AtLeast(MetricId::mfu, metrics.mfu * factor));
        let step = metrics.step_time.get() * factor;
        targets.push(Target::AtMost(MetricId::step_time_seconds, step));
    }
    targets
}

#[test]
fn what_is_found_is_what_brute_force_finds() {
    let (mut found, mut none) = (0, 0);
    for preset in PRESETS {
        let plan = plan(preset);
        for knob in KNOBS {
            let every = solve(&plan, knob, Target::Fits, Wish::Fastest).tried;
            let fresh = |value: &Value| with(&plan, knob, value).expect("a legal value");
            let all: Vec<(Value, Metrics)> =
                every.iter().map(|it| (it.value.clone(), fresh(&it.value))).collect();
            for target in targets(&estimate(&plan).metrics) {
                for wish in [Wish::Largest, Wish::Smallest, Wish::Fastest] {
                    let solution = solve(&plan, knob, target, wish);
                    assert_eq!(solution.tried.len(), all.len());
                    for (tried, (value, metrics)) in solution.tried.iter().zip(&all) {
                        assert_eq!((&tried.value, &tried.metrics), (value, metrics), "{preset}");
                    }
                    let reaching = all.iter().filter(|(_, metrics)| {
                        target.is_reached(metrics, target.number(plan.design(), metrics))
                    });
                    let size = |value: &Value| {
                        if let Value::Integer(number) = value { *number as f64 } else { 0.0 }
                    };
                    let merit = |(value, metrics): &(Value, Metrics)| match wish {
                        Wish::Largest => size(value),
                        Wish::Smallest => -size(value),
                        Wish::Fastest => metrics.tokens_per_second_per_device,
                    };
                    let most = reaching.map(merit).reduce(f64::max);
                    let own =
                        solution.found().map(|tried| merit(&(tried.value.clone(), tried.metrics)));
                    assert_eq!(own, most, "{preset} {knob:?} {target:?} {wish:?}");
                    if own.is_some() {
                        found += 1;
                    } else {
                        none += 1;
                    }
                    // Without one the nearest is as good as any that fits.
                    if own.is_none()
                        && let Target::AtLeast(metric, _) = target
                    {
                        assert_eq!(metric, MetricId::mfu);
                        let fitting = all.iter().filter(|(_, metrics)| metrics.fits);
                        let best = fitting.map(|(_, metrics)| metrics.mfu).reduce(f64::max);
                        let nearest = solution.nearest().expect("some value").metrics;
                        assert!(best.is_none_or(|best| nearest.mfu >= best));
                    }
                }
            }
        }
    }
    assert!(found > 20 && none > 20, "{found} found, {none} not");
}

#[test]
fn no_legal_micro_batch_and_no_legal_number_of_devices_is_left_out() {
    for preset in PRESETS {
        let plan = plan(preset);
        for (knob, most, step) in
            [(KnobId::micro_batch_size, 256, 1), (KnobId::num_devices, 8_192, 8)]
        {
            let solution = solve(&plan, knob, Target::Fits, Wish::Largest);
            let tried: Vec<&Value> = solution.tried.iter().map(|tried| &tried.value).collect();
            for number in (1..=most / step).map(|number| Value::Integer(number * step)) {
                let legal = with(&plan, knob, &number).is_some();
                assert_eq!(legal, tried.contains(&&number), "{preset} {knob:?} {number}");
            }
            // A slider also offers what breaks only rules that don't name its knob.
            let offered = legal_values(plan.design(), knob).into_iter();
            for value in offered.filter(|value| with(&plan, knob, value).is_some()) {
                assert!(tried.contains(&&value), "{preset} {knob:?} {value}");
            }
        }
    }
}
