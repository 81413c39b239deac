//! What is found out when all of a sweep is done: closed forms that don't hold, and what would help
//! where nothing is feasible.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::sync::atomic::AtomicBool;

use model::ground::choice::Timing;
use model::{Plan, estimate};
use reports::typed::Said;
use sweep::{
    FinalSimulation, Progress, Space, Spec, Standing, evaluate, final_simulation, part, result,
};

/// Space that the builder of sweeps varies around a design.
const AROUND: &str = "[space]\ntp = { powers_of_two = [1, 16] }\npp = { powers_of_two = [1, 64] }\n\
                      vpp = [1, 2, 4]\nep = { powers_of_two = [1, 64] }\nmbs = [1, 2, 4]\n\
                      noop_layers = { fill = \"chunks\" }\n";

fn space(text: &str) -> Space {
    Space::new(Spec::from_toml(text).unwrap()).unwrap()
}

/// The sweep of the builder around the paper's design on 4,096 devices.
fn on_4096() -> Space {
    space(&format!(
        "schema = 1\n[design]\npreset = \"pangu-ultra-moe-6k\"\ncluster.num_devices = 4096\n\
         schedule.timing = \"closed_form\"\n{AROUND}"
    ))
}

/// GLM-4.5 as its `config.json` makes it, on 256 devices: what the file doesn't say is neutral.
fn imported() -> Space {
    space(&format!(
        "schema = 1\n[design]\npreset = \"glm-4.5\"\ncluster.num_devices = 256\n\
         training.global_batch_size = 256\nparallel.sequence_parallel = false\n\
         memory.recompute_granularity = \"none\"\nschedule.timing = \"closed_form\"\n{AROUND}"
    ))
}

fn done(space: &Space) -> (Progress, FinalSimulation) {
    let places = 0..space.num_points();
    let summary = evaluate(space, places.clone(), &AtomicBool::new(false)).unwrap();
    let progress = Progress::with_part(space, places, summary);
    let closing = final_simulation(space, &progress);
    (progress, closing)
}

#[test]
fn a_design_that_fits_only_by_its_closed_form_is_in_no_list() {
    const DESIGN: u64 = 1_489;
    let space = on_4096();
    let (progress, closing) = done(&space);
    let top = progress.summary().top().next().unwrap().to_vec();
    let found = top.iter().find(|row| row.index == DESIGN).unwrap();
    assert!(found.near_limit, "by its closed form it fits by less than that may be off");
    let one = closing.find(DESIGN).unwrap();
    assert_eq!(one.standing, Standing::Breaks("constraint: fits".to_owned()));
    assert!(!closing.front(&space).contains(&one) && !closing.best(&space, 0).contains(&one));
    let tree = result(&space, &progress, Some(&closing)).said();
    let text = model::design::file::json::print(&tree);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rejected = json["simulated"]["rejected"].as_array().unwrap();
    let told = rejected.iter().find(|row| row["index"] == DESIGN).unwrap();
    assert_eq!(told["breaks"], "constraint: fits");
    let [closed, simulated] = ["closed_form", "metrics"]
        .map(|timing| told[timing]["memory_peak_bytes"].as_f64().unwrap() / f64::from(1 << 30));
    assert!(simulated > 60.3 && closed < 60.3, "{closed} {simulated}");
    assert_eq!(part(&text).unwrap().closing, Some(closing));
}

#[test]
fn what_is_shown_is_simulated_and_ranked_by_it() {
    let space = on_4096();
    let (progress, closing) = done(&space);
    assert_eq!(
        final_simulation(&space, &progress),
        closing,
        "it is the same however often it is made"
    );
    let best = closing.best(&space, 0);
    assert_eq!(best.len() as u64, space.spec().top);
    assert!(best.windows(2).all(|pair| pair[0].values[0] >= pair[1].values[0]));
    for one in closing.front(&space).into_iter().chain(best) {
        let mut design = space.design(one.index);
        design.schedule.timing = Timing::Simulated;
        let metrics = estimate(&Plan::new(&design).unwrap()).metrics;
        assert!(metrics.fits, "{}", one.index);
        for (id, value) in space.spec().columns.iter().zip(&one.values) {
            let Some(number) = metrics.number(*id) else { continue };
            assert_eq!(number.to_bits(), value.to_bits(), "{} {id:?}", one.index);
        }
    }
    // Of all that fit for certain none turns out not to.
    let near = |index: u64| {
        let summary = progress.summary();
        let rows = summary.top().flatten().chain(summary.front());
        rows.into_iter().any(|row| row.index == index && row.near_limit)
    };
    assert!(closing.rejected().all(|one| near(one.index)));
}

#[test]
fn a_sweep_that_is_simulated_already_is_not_simulated_again() {
    let text = "schema = 1\n[design]\npreset = \"pangu-ultra-moe-6k\"\n[space]\ntp = [4, 8]\n";
    let (progress, closing) = done(&space(text));
    assert_eq!((closing, progress.summary().near_limit), (FinalSimulation::default(), 0));
}

#[test]
fn fixed_knobs_that_rule_out_everything_are_named_with_what_they_would_let_through() {
    let space = imported();
    let (progress, closing) = done(&space);
    assert_eq!(progress.summary().feasible, 0);
    let first = closing.relaxations.first().unwrap();
    assert!(first.feasible > 0, "{:?}", closing.relaxations);
    assert_eq!(first.knobs, ["parallel.sequence_parallel"], "TP needs it where there are experts");
    assert!(closing.relaxations.windows(2).all(|pair| pair[0].feasible >= pair[1].feasible));
    // What was counted is what a sweep with these knobs varied finds.
    if first.tried == first.designs {
        let mut text = model::design::file::json::print(space.spec().source());
        for id in &first.knobs {
            let knob = model::design::KnobId::find(id).unwrap();
            let values = sweep::usual_values(&space, knob);
            let values = model::design::file::Tree::List(values.iter().map(Into::into).collect());
            let values = model::design::file::json::print(&values);
            text = text.replacen("\"space\": {", &format!("\"space\": {{\"{id}\": {values},"), 1);
        }
        let freed = Space::new(Spec::from_json(&text).unwrap()).unwrap();
        let (progress, closing) = done(&freed);
        let summary = progress.summary();
        assert_eq!((summary.legal, summary.feasible), (first.legal, first.feasible));
        assert!(closing.relaxations.is_empty());
    }
}
