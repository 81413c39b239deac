//! Sweeps that find each design's strategy, and those that ask for numbers of a run or of a loss.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::sync::atomic::AtomicBool;

use model::design::{Design, KnobId};
use model::ground::knob::KnobError;
use model::metric::{MetricId, Regime};
use model::run::budget::{Contest, plain};
use model::run::quality::CAVEAT;
use model::search::find::{MIN_SPARE, STRATEGY, spare};
use model::{Plan, design::link, estimate};
use sweep::{Progress, Space, Spec, Summary, evaluate, published};

fn space(text: &str) -> Space {
    Space::new(Spec::from_toml(text).unwrap()).unwrap()
}

fn summary(space: &Space) -> Summary {
    evaluate(space, 0..space.num_points(), &AtomicBool::new(false)).unwrap()
}

fn refused(text: &str) -> Vec<KnobError> {
    Spec::from_toml(text).unwrap_err()
}

/// Small models on two nodes, of which the degrees and the micro-batch are found.
fn small(find: &str, space: &str) -> String {
    format!(
        "schema = 1\nobjectives = [\"tokens_per_second max\"]\n{find}\n\
         columns = [\"memory_peak_bytes\"]\n[design]\npreset = \"qwen3-30b-a3b\"\n\
         [design.cluster]\naccelerator = \"h100-sxm-80gb\"\nnum_devices = 16\n\
         [design.kernel]\nsoftware = \"calibrated\"\n[design.training]\nglobal_batch_size = 64\n\
         [design.parallel]\ntensor_model_parallel_size = 1\nexpert_model_parallel_size = 8\n\
         pipeline_model_parallel_size = 1\nvirtual_pipeline_model_parallel_size = 1\n\
         [design.schedule]\nmethod = \"1f1b\"\n{space}"
    )
}

const FREE: [KnobId; 4] = [
    KnobId::tensor_model_parallel_size,
    KnobId::pipeline_model_parallel_size,
    KnobId::expert_model_parallel_size,
    KnobId::micro_batch_size,
];

/// All that a search frees, but the degrees and the micro-batch.
fn kept() -> String {
    let kept = STRATEGY.iter().filter(|knob| !FREE.contains(knob));
    let kept: Vec<String> = kept.map(|knob| format!("\"{}\"", knob.id())).collect();
    format!("find = {{ keep = [{}] }}", kept.join(", "))
}

/// Every layout of a small space is simulated; what is found for each model is within one per cent
/// of the best of them.
#[test]
fn what_is_found_for_each_model_is_as_good_as_the_best_of_all_its_layouts() {
    let models =
        "[space.transformer]\nnum_layers = [24, 36, 48]\nnum_moe_experts = [64, 96, 128]\n";
    let found = space(&small(&kept(), models));
    let found_rows = summary(&found);
    assert_eq!((found_rows.legal, found_rows.feasible), (9, 9), "{:?}", found_rows.reasons);
    let mut compared = 0;
    for row in found_rows.sample() {
        let model = &found.design(row.index).transformer;
        let (layers, experts) = (model.num_layers, model.num_moe_experts.unwrap());
        let all = "[space]\ntp = [1, 2, 4, 8, 16]\npp = [1, 2, 4, 8, 16]\n\
                   ep = { powers_of_two = [1, 128] }\nmbs = { powers_of_two = [1, 64] }\n";
        let all = space(&format!(
            "{}[design.transformer]\nnum_layers = {layers}\nnum_moe_experts = {experts}\n",
            small("sample = 100000", all)
        ));
        let all = summary(&all);
        let limit = estimate(&Plan::new(&found_rows.known_in(&found).design(row.index)).unwrap());
        let room = limit.metrics.memory_limit.get() * (1.0 - MIN_SPARE);
        let fits = all.sample().iter().filter(|other| other.values[1] <= room);
        let best = fits.map(|other| other.values[0]).fold(0.0, f64::max);
        assert!(row.values[0] >= best * 0.99, "{layers} {experts}: {} of {best}", row.values[0]);
        compared += all.legal;
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_design_that_is_found_is_what_the_model_says_of_it_and_the_same_in_any_order() {
    let spec = small("find = true", "[space.transformer]\nnum_moe_experts = [64, 96, 128]\n");
    let space = space(&spec);
    assert!(!space.spec().has_closed_forms());
    let whole = summary(&space);
    assert!(whole.feasible >= 2, "{:?}", whole.reasons);
    let known = whole.known_in(&space);
    for row in whole.sample() {
        let design = known.design(row.index);
        assert_eq!(Some(link::encode(&design)), row.found);
        let metrics = estimate(&Plan::new(&design).unwrap()).metrics;
        assert!(metrics.fits && spare(&metrics) >= MIN_SPARE);
        for (column, value) in space.spec().columns.iter().zip(&row.values) {
            let Some(number) = metrics.number(*column) else { continue };
            assert_eq!(number.to_bits(), value.to_bits(), "{column:?}");
        }
        // The model is the sweep's, the strategy another one.
        let plain = space.design(row.index);
        assert_eq!(design.transformer, plain.transformer);
        for knob in KnobId::ALL {
            let may = STRATEGY.has(*knob) || *knob == KnobId::timing;
            assert!(may || design.get(*knob) == plain.get(*knob), "{knob:?}");
        }
    }
    // Another order, by spaces that know nothing of each other.
    let mut parts = Progress::new(&space);
    for place in (0..space.num_points()).rev() {
        let fresh = Space::new(space.spec().clone()).unwrap();
        let part = evaluate(&fresh, place..place + 1, &AtomicBool::new(false)).unwrap();
        parts.add(&space, place..place + 1, part).unwrap();
    }
    assert_eq!(*parts.summary(), whole);
}

#[test]
fn a_knob_is_found_or_varies_and_what_no_layout_mends_is_told() {
    let both = small("find = true", "[space]\ntp = [1, 2]\n");
    let said: Vec<&str> = refused(&both).iter().map(|error| error.rule).collect();
    assert_eq!(said, ["found_and_varied"]);
    let kept = small("find = { keep = [\"tp\"] }", "[space]\ntp = [1, 2]\n");
    assert!(Spec::from_toml(&kept).is_ok());
    for wrong in ["find = 3", "find = { keeps = [] }", "find = { keep = [\"tpx\"] }"] {
        let text = small(wrong, "[space.transformer]\nnum_layers = [24]\n");
        assert!(!refused(&text).is_empty(), "{wrong}");
    }
    // More experts of a token than there are: no layout mends that.
    let space = space(&small("find = true", "[space]\nmoe_router_topk = [256]\n"));
    let summary = summary(&space);
    assert_eq!((summary.legal, summary.reasons.len()), (0, 1), "{:?}", summary.reasons);
}

const RUN: &str = "schema = 1\nobjectives = [\"days_to_train min\", \"loss_difference min\"]\n\
    constraints = [\"cost <= 1e9\", \"goodput_ratio >= 0.5\"]\n\
    columns = [\"energy_kwh\", \"loss_difference_min\", \"loss_difference_max\", \
    \"loss_difference_is_tie\", \"tokens_to_equal_loss\", \"time_to_equal_loss\", \
    \"cost_to_equal_loss\", \"loss_difference_at_equal_time\", \"loss_difference_at_equal_cost\"]\n\
    [design]\npreset = \"pangu-ultra-moe-6k@2\"\n[design.schedule]\ntiming = \"closed_form\"\n\
    [design.run]\ntrain_tokens = 19e12\nprice_per_device_hour = 2\n\
    mtbf_device_hours = 50676\ncheckpoint_gb_per_sec = 100\n\
    [space.transformer]\nnum_moe_experts = [64, 128, 256, 384, 512]\n";

#[test]
fn numbers_of_a_run_and_of_a_loss_are_those_of_its_budget() {
    let space = space(RUN);
    let summary = summary(&space);
    assert!(summary.feasible >= 3, "{:?}", summary.reasons);
    let planned = |design: &Design| {
        let plan = Plan::new(design).unwrap();
        let metrics = estimate(&plan).metrics;
        let budget = plain(&plan, &metrics);
        (plan, budget)
    };
    let base = planned(&space.spec().baseline);
    for row in summary.sample() {
        let own = planned(&space.design(row.index));
        let contest = Contest::new((&own.0, &own.1), (&base.0, &base.1));
        for (column, value) in space.spec().columns.iter().zip(&row.values) {
            let number = match column.regime() {
                Regime::Budget => own.1.get(*column).unwrap(),
                Regime::Quality => contest.number(*column).unwrap(),
                Regime::Model | Regime::Training | Regime::Serving => continue,
            };
            assert!((number - value).abs() <= 1e-9 * number.abs(), "{column:?}");
        }
    }
}

/// The differences that the laws' own reference values have for the paper's model at 19T tokens.
#[test]
fn the_losses_of_more_or_fewer_experts_are_the_published_ones() {
    let space = space(&RUN.replace("\"cost <= 1e9\", \"goodput_ratio >= 0.5\"", ""));
    let summary = summary(&space);
    let column =
        |name: &str| space.spec().columns.iter().position(|id| id.metric().name == name).unwrap();
    let known = [(64, 0.0269), (128, 0.0118), (256, 0.0), (384, -0.0057), (512, -0.0093)];
    let mut compared = 0;
    for row in summary.sample() {
        let experts = space.design(row.index).transformer.num_moe_experts.unwrap();
        let (_, loss) = known.into_iter().find(|(count, _)| *count == experts).unwrap();
        let found = row.values[column("loss_difference")];
        assert!((found - loss).abs() < 6e-5, "{experts}: {found}");
        let is_tie = row.values[column("loss_difference_is_tie")];
        assert_eq!(is_tie > 0.5, experts == 256, "{experts}");
        compared += 1;
    }
    assert!(compared >= 3, "{:?}", summary.reasons);
}

#[test]
fn a_result_with_a_loss_has_its_caveat_and_others_have_none() {
    let told = |text: &str| {
        let space = space(text);
        let mut progress = Progress::new(&space);
        let part = evaluate(&space, 0..space.num_points(), &AtomicBool::new(false)).unwrap();
        progress.add(&space, 0..space.num_points(), part).unwrap();
        sweep::overview(&space, &progress, None).caveat.0
    };
    assert_eq!(told(RUN), Some(CAVEAT));
    let plain = "schema = 1\n[design.schedule]\ntiming = \"closed_form\"\n[space]\nmbs = [1]\n";
    assert_eq!(told(plain), None);
}

#[test]
fn what_is_not_known_of_a_run_is_asked_for() {
    let text = RUN.replace("train_tokens = 19e12\nprice_per_device_hour = 2\n", "");
    let said: Vec<(&str, String)> =
        refused(&text).into_iter().map(|error| (error.rule, error.knob)).collect();
    let place = |knob: &str| ("unknown_run", format!("design.run.{knob}"));
    assert_eq!(said, [place("train_tokens"), place("price_per_device_hour")]);
    // What varies is known.
    let varied =
        format!("{text}\n[space.run]\ntrain_tokens = [1e12]\nprice_per_device_hour = [2.0]\n");
    assert!(Spec::from_toml(&varied).is_ok(), "{:?}", Spec::from_toml(&varied));
    for (baseline, is_right) in [("pangu-ultra-moe-718b", true), ("pangu", false)] {
        let text = RUN.replace("schema = 1\n", &format!("schema = 1\nbaseline = \"{baseline}\"\n"));
        assert_eq!(Spec::from_toml(&text).is_ok(), is_right, "{baseline}");
    }
}

#[test]
fn the_paper_architectures_come_as_a_sweep_that_finds_layouts() {
    let known = published().iter().find(|it| it.name == "pangu-architecture-found").unwrap();
    let space = space(known.text);
    assert!(space.spec().find.is_some() && space.spec().asks_quality());
    assert!(space.size() > 10_000, "{}", space.size());
    let shape = |design: &Design| {
        let model = &design.transformer;
        (model.num_layers, model.hidden_size, model.num_moe_experts, model.moe_router_topk)
    };
    assert_eq!(shape(&space.spec().baseline), (61, 7_680, Some(256), 8));
    let cubes = |index: u64| {
        let model = space.design(index * 97 % space.size()).transformer;
        model.hidden_size.is_multiple_of(256)
            && model.moe_ffn_hidden_size.unwrap().is_multiple_of(256)
    };
    assert!((0..500).all(cubes));
}

/// The guide's comparison of the paper's choice: 61 layers of 7,680 with 256 experts, each
/// alternative with the layout that is found for it. The paper says 15 % over 66 layers.
#[test]
fn the_paper_choice_stands_where_the_guide_says() {
    let text = published().iter().find(|it| it.name == "pangu-architecture-found").unwrap().text;
    let (head, _) = text.split_once("[space.transformer]").unwrap();
    let head = head.replace("find = true", "find = { keep = [\"cp\", \"etp\", \"mbs\"] }");
    let text = format!(
        "{head}[space.transformer]\nnum_layers = [61, 66]\nhidden_size = [7680, 8192]\n\
         num_moe_experts = [256, 512]\nmoe_layer_freq = {{ dense_layers = 3 }}\n"
    );
    let space = space(&text);
    let summary = summary(&space);
    assert_eq!(summary.feasible, 8, "{:?}", summary.reasons);
    let number = |layers: u64, hidden: u64, experts: u64, name: &str| {
        let is_asked = |index: u64| {
            let model = space.design(index).transformer;
            (model.num_layers, model.hidden_size) == (layers, hidden)
                && model.num_moe_experts == Some(experts)
        };
        let row = summary.sample().iter().find(|row| is_asked(row.index)).unwrap();
        let column = |id: &MetricId| id.metric().name == name;
        row.values[space.spec().columns.iter().position(column).unwrap()]
    };
    let speed =
        |layers, hidden, experts| number(layers, hidden, experts, "tokens_per_second_per_device");
    let paper = speed(61, 7_680, 256);
    let over_deeper = paper / speed(66, 7_680, 256);
    assert!((1.05..1.25).contains(&over_deeper), "{over_deeper}");
    let over_wider = paper / speed(61, 8_192, 256);
    assert!((1.0..1.15).contains(&over_wider), "{over_wider}");
    let over_more_experts = paper / speed(61, 7_680, 512);
    assert!((1.02..1.2).contains(&over_more_experts), "{over_more_experts}");
    // Depth and width are no law's; more experts lower the loss by all of them.
    for (layers, hidden) in [(66, 7_680), (61, 8_192)] {
        assert!(number(layers, hidden, 256, "loss_difference_is_tie") > 0.5);
    }
    assert!(number(61, 7_680, 512, "loss_difference_max") < 0.0);
    assert!(number(61, 7_680, 512, "time_to_equal_loss") < 0.9);
}
