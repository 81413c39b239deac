//! Studies are text made of a design's link: well-formed, finite, and every link in them opens.

use model::catalogue::preset::Preset;
use model::{Plan, design::link};
use present::insight::numbers::Numbers;
use present::insight::recorded;
use present::study::options::Options;
use present::study::{Study, Width, answer};
use roxmltree::Document;
use testing::page::Page as Html;

const SKEWED: &str = "?routing.balance=skewed&routing.skew=0.4&routing.planner=sliding_window";
const PLAIN: &str =
    "?memory.recompute_granularity=none&memory.recompute_modules=none&memory.swap_modules=none";

fn study(study: Study, query: &str) -> String {
    answer::of_link(study.id(), query, 480, "", "").expect("a study of a legal design")
}

/// The links of a study to other designs.
fn links(html: &str) -> Vec<String> {
    let starts = html.match_indices("<a href=\"/?").map(|(at, start)| at + start.len());
    let queries = starts.map(|at| html[at..].split('"').next().unwrap_or_default());
    queries.map(|query| query.replace("&amp;", "&")).collect()
}

#[test]
fn the_operators_panel_has_whole_numbers_whole() {
    let html = study(Study::Roofline, "");
    let operators: Vec<&str> = html.split("<dt>Shapes</dt><dd>").skip(1).collect();
    assert!(!operators.is_empty(), "{html}");
    for shapes in operators.iter().filter_map(|rest| rest.split("</dd>").next()) {
        assert!(!(shapes.contains(".0") || shapes.contains(".00")), "{shapes}");
    }
    assert!(html.contains(" calls = ") && !html.contains(".00 calls"), "{html}");
}

#[test]
fn the_shares_of_a_step_add_up_as_they_are_written() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let html = study(Study::Step, &format!("?v=1&preset={}", preset.id));
        let table = html.split("<tbody>").nth(1).expect("a table").split("</tbody>").next();
        let shares = table.expect("its rows").split("<tr>").filter_map(|row| {
            let share = row.rsplit("<td>").next()?.strip_suffix("</td></tr>")?;
            share.strip_suffix(" %")?.replace('−', "-").parse::<f64>().ok()
        });
        let shares: Vec<f64> = shares.collect();
        let (whole, parts) = shares.split_last().expect("rows");
        let sum: f64 = parts.iter().sum();
        let is_hundred = |number: f64| (number - 100.0).abs() < 1e-9;
        assert!(is_hundred(sum) && is_hundred(*whole), "{}: {parts:?}", preset.id);
    }
}

#[test]
fn the_balance_of_the_stages_says_what_would_better_it() {
    let balance = |query: &str| Html::new(&study(Study::Balance, query));
    let balanced = balance("?v=1&preset=gpt3-175b").text(".balance-proposal");
    assert_eq!(balanced, "No layout balances the stages better.");
    let better = balance("?parallel.noop_layers=62,63").part(".balance-proposal");
    assert!(better.says("over the mean, not"), "{}", better.words());
    assert_eq!(better.text("a.way"), "Balance the stages");
    let one = "?parallel.pipeline_model_parallel_size=1\
               &parallel.virtual_pipeline_model_parallel_size=1&parallel.noop_layers=none";
    assert!(balance(one).says("One stage holds the whole model"));
}

#[test]
fn every_study_of_every_preset_is_well_formed_and_finite() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let query = format!("?v=1&preset={}", preset.id);
        for one in Study::ALL {
            let html = study(one, &query);
            for banned in ["NaN", "style=", ">inf<", "-0<"] {
                assert!(!html.contains(banned), "`{banned}` in {one:?} of {}", preset.id);
            }
            let wrapped = format!("<div>{html}</div>");
            let parsed = Document::parse(&wrapped);
            assert!(parsed.is_ok(), "{one:?} of {}: {:?}", preset.id, parsed.err());
        }
    }
}

#[test]
fn every_link_in_a_study_opens_a_design() {
    let mut count = 0;
    // No pairs in two rounds, and so rows that are refused with a way out.
    let few = "?training.global_batch_size=1536&schedule.method=interleaved\
               &schedule.delay_wgrad_compute=false";
    for query in ["", SKEWED, PLAIN, few] {
        for one in Study::ALL {
            for link in links(&study(one, query)) {
                let design = link::decode(&link).unwrap_or_else(|_| panic!("{one:?}: {link}"));
                // A comparison's rows are of schedules that run, advice's of changes that help.
                assert!(Plan::new(&design).is_ok(), "{one:?}: {link}");
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn a_worker_says_what_the_server_does() {
    let design = link::decode(SKEWED).expect("a link");
    let numbers = Numbers::of(&design).expect("a legal design");
    for one in Study::ALL {
        let html = answer::html(one, &numbers, Width::Of(480), Options::default(), &[]);
        assert_eq!(study(one, SKEWED), html, "{one:?}");
    }
}

#[test]
fn what_is_no_study_has_no_answer() {
    assert_eq!(answer::of_link("x", "", 480, "", ""), None);
    assert_eq!(answer::of_link("memory", "?v=1&no_such_knob=1", 480, "", ""), None);
    assert_eq!(
        answer::of_link("memory", "?parallel.pipeline_model_parallel_size=12", 480, "", ""),
        None
    );
}

#[test]
fn a_design_that_does_not_fit_is_told_why_and_what_helps() {
    let html = study(Study::Advice, PLAIN);
    for part in ["over the limit", "Other ways"] {
        assert!(html.contains(part), "`{part}` in {html}");
    }
    let (_, ways) = html.split_once("Find layouts that fit</a>").expect("ways");
    let (ways, _) = ways.split_once("Not enough alone").expect("what helps, but not alone");
    let points = |rest: &str| {
        let number = rest.split(" pt").next().expect("points").replace('\u{2212}', "-");
        number.parse::<f64>().unwrap_or_else(|_| panic!("{number}"))
    };
    let costs: Vec<f64> = ways.split(">MFU ").skip(1).map(points).collect();
    assert!(costs.len() > 4, "{ways}");
    assert!(costs.is_sorted_by(|one, next| one >= next), "what costs least first: {costs:?}");
}

#[test]
fn a_trace_at_hand_decides_loads_and_goes_through_the_page_unchanged() {
    let mut csv = String::from("step,layer,expert,tokens\n");
    for expert in 0..256 {
        let tokens = if expert == 0 { 9_000 } else { 1_000 };
        csv.push_str(&format!("0,0,{expert},{tokens}\n"));
    }
    let hash = answer::take_trace(csv.as_bytes()).expect("a trace");
    let query = format!("?routing.balance=trace&routing.planner=none&routing.trace={hash}");
    let effect = answer::effect(&query).expect("an effect");
    assert!(effect.imbalance > 1.5, "{effect:?}");
    // The page gets the numbers, and makes the same of them.
    let design = link::decode(&query).expect("a link");
    let again = recorded::effect(&recorded::numbers(&effect), &design);
    assert_eq!(again, Some(effect));
    assert!(study(Study::Loads, &query).contains("chart-heat"));
    // Another hash, other experts: nothing.
    let other = query.replace(&hash, &"0".repeat(hash.len()));
    assert_eq!(answer::effect(&other), None);
    assert!(answer::take_trace(b"step,layer,expert,tokens\n0,0,0,-1\n").is_err());
}

#[test]
fn a_pinned_design_stands_as_a_ghost_in_charts_of_another_and_on_the_map() {
    let pins = "a=v%3D1%26preset%3Dpangu-ultra-moe-6k%402\
                %26parallel.tensor_model_parallel_size%3D4&a.name=Four%20ways";
    let drawn = |study: Study, query: &str, pins: &str| {
        answer::of_link(study.id(), query, 900, "", pins).expect("a study of a legal design")
    };
    for study in [Study::Step, Study::Memory, Study::Communication, Study::Bubble] {
        let [alone, beside] = ["", pins].map(|pins| drawn(study, "?v=1", pins));
        assert!(!alone.contains("A: Four ways"), "{study:?}");
        assert!(beside.contains("A: Four ways"), "{study:?}: {beside}");
        assert!(beside.contains("chart-design-a"), "{study:?}");
        let own = drawn(
            study,
            "?v=1&preset=pangu-ultra-moe-6k@2&parallel.tensor_model_parallel_size=4",
            pins,
        );
        assert!(!own.contains("A: Four ways"), "{study:?} is its own ghost");
    }
    let map = drawn(Study::Map, "?v=1", pins);
    assert_eq!(map.matches("Pinned as A").count(), 1, "{map}");
}

#[test]
fn a_pin_that_breaks_a_rule_is_no_ghost() {
    let pins = "a=v%3D1%26parallel.pipeline_model_parallel_size%3D12";
    let html = answer::of_link("step", "?v=1", 900, "", pins).expect("a study");
    assert!(!html.contains("chart-design-a"), "{html}");
}
