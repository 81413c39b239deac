//! The page `/schedule`: its address, what comes of it, and the page as the server sends it.

use app::page::schedule::input::{Field, Input};
use app::page::schedule::of_design;
use app::page::schedule::query::{address, decode, encode, salvage};
use app::page::schedule::run::{MAX_TASKS, compare, first_good, run};
use model::choice::{Choice, Method};
use model::{Plan, estimate, link};
use present::site::Page;

use super::{check_ids, document, text};

fn input(query: &str) -> Input {
    decode(query).unwrap()
}

#[test]
fn the_example_needs_no_query() {
    assert_eq!(address(&Input::default()), "/schedule");
    assert_eq!(input(""), Input::default());
    let all = "?method=zb_v&stages=8&chunks=2&micro_batches=32&forward=1&backward_input=1\
               &backward_weight=1&forward_backward=&p2p=0";
    assert_eq!(encode(&input(all)), "method=zb_v");
}

#[test]
fn every_state_comes_back_from_its_address() {
    for query in [
        "method=zb_v",
        "method=interleaved&stages=16&chunks=4&micro_batches=48&group=24",
        "forward=0.5&backward_input=0.7&backward_weight=0&p2p=0.125",
        "method=dualpipe&forward_backward=2.25",
        "stages=4&slow_stage=3&slow_factor=1.5",
        "slow_stage=0",
        "stages=0&micro_batches=1000000",
        "forward=0.000000001&backward_input=1000000000",
    ] {
        let state = input(query);
        assert_eq!(encode(&state), query);
        assert_eq!(input(&format!("?{query}")), state);
    }
}

#[test]
fn every_bad_part_of_a_link_is_named_and_the_rest_is_kept() {
    for part in [
        "method=zbv",
        "method",
        "stages=-1",
        "stages=1.5",
        "stages=",
        "micro_batches=99999999999999999999999",
        "forward=0",
        "forward=-1",
        "forward=NaN",
        "forward=inf",
        "forward=1e308",
        "backward_weight=-0.5",
        "p2p=1e10",
        "slow_factor=0",
        "slow_stage=last",
        "nope=1",
        "forward=%zz",
        "forward=%ff",
        "%=1",
        "=",
    ] {
        let (rest, errors) = salvage(&format!("?{part}&chunks=3"));
        assert_eq!(errors.len(), 1, "{part}: {errors:?}");
        assert_eq!(errors[0].part, part);
        assert_eq!(rest.chunks, Some(3), "{part}");
        let page = document(Page::Schedule, &format!("?{part}&chunks=3"));
        assert!(text(&page).contains("This link can't be opened as it is"), "{part}");
        assert!(page.contains("href=\"/schedule?chunks=3\""), "{part}");
    }
    let (_, errors) = salvage("stages=2&stages=2&forward=x&nope=1");
    assert_eq!(errors.len(), 3);
    assert_eq!(salvage(&"a=1&".repeat(1_000)).1.len(), 1, "a long link is one mistake");
}

#[test]
fn what_a_link_says_never_becomes_markup() {
    let html = document(
        Page::Schedule,
        "?%3Cscript%3Ealert(1)%3C/script%3E=1&method=%22%3E%3Cimg%20src=x%3E",
    );
    assert!(!html.contains("<script>alert"));
    assert!(!html.contains("<img src=x"));
}

#[test]
fn the_page_has_the_numbers_of_the_published_example() {
    for (query, step) in [
        ("", "117 s"),
        ("method=interleaved", "106.5 s"),
        ("method=interleaved&chunks=4", "101.25 s"),
        ("method=zb_h1", "103 s"),
        ("method=zb_2p", "96 s"),
        ("method=zb_v", "99.5 s"),
        ("method=v_half", "104.5 s"),
        ("method=dualpipe", "102 s"),
        ("method=dualpipev", "103 s"),
    ] {
        let html = document(Page::Schedule, query);
        let page = text(&html);
        assert!(page.contains(&format!("Step time{step}")), "{query}: {step} is not on the page");
        let joint = if query.is_empty() { "" } else { "?" };
        let link = format!("href=\"/schedule{joint}{}\"", query.replace('&', "&amp;"));
        assert!(html.contains(&link), "{query}: no link to it");
        assert!(
            page.contains(&format!("moescape schedule --method {}", input(query).method.name()))
        );
    }
    let page = text(&document(Page::Schedule, "method=zb_v"));
    assert!(page.contains("closed form 99.5 s"));
    assert!(page.contains("m (F + B) + (p − 1) F / 2"));
    assert!(page.contains("The formula gives 99.5 s, the same as the simulation."));
}

#[test]
fn the_page_says_why_a_formula_and_the_simulation_differ() {
    for (query, why) in [
        ("p2p=0.5", "sends take 0.5 s"),
        ("slow_stage=3", "stage 3 takes 2 times as long as the others"),
        ("method=zb_v&backward_weight=2", "outside of that (F = dX = dW, m ≥ 2p − 1)"),
        ("method=v_min", "There is no closed form for V-Min"),
    ] {
        let page = text(&document(Page::Schedule, query));
        assert!(page.contains(why), "{query}: {why}");
    }
}

#[test]
fn sizes_that_break_rules_say_so_with_links_and_keep_numbers_on_the_page() {
    let html = document(Page::Schedule, "?method=dualpipe&stages=7&micro_batches=9");
    let page = text(&html);
    assert!(page.contains("This schedule can't run."));
    assert!(page.contains("The numbers below are those of DualPipe, 8 stages"), "{page}");
    assert!(html.contains("href=\"/schedule?method=dualpipe&amp;micro_batches=16\""));
    assert!(html.contains("aria-invalid=\"true\""));
    assert!(html.contains("schedule-results stale"));
    // The other methods run, and one that doesn't says what is near.
    assert!(page.contains("Can't run: dualpipe pairs the stages (PP) from both ends"));
}

#[test]
fn every_way_out_leads_to_a_schedule_that_runs() {
    for sizes in [
        "",
        "stages=7&micro_batches=9",
        "stages=0&micro_batches=0&chunks=0",
        "stages=1000000",
        "stages=1024&micro_batches=16777216&chunks=256",
        "stages=1",
        "micro_batches=3&group=2&chunks=3",
        "stages=4&slow_stage=9",
        "micro_batches=18446744073709551615",
    ] {
        for method in Method::ALL {
            let asked = input(&format!("method={}&{sizes}", method.name()));
            assert!(first_good(&asked).is_some());
            let Err(refusal) = run(&asked) else { continue };
            assert!(!refusal.problems.is_empty());
            if let Some(mended) = refusal.mended {
                assert!(run(&mended).is_ok(), "{asked:?} to {mended:?}");
            }
        }
    }
}

#[test]
fn too_many_tasks_are_named_with_the_most_micro_batches_that_run() {
    let asked = input("micro_batches=1000000");
    let refusal = run(&asked).unwrap_err();
    assert!(refusal.problems[0].message.contains("16,000,000 tasks"), "{refusal:?}");
    let mended = run(&refusal.mended.unwrap()).unwrap();
    let tasks = mended.timeline.lists.tasks.len() as u64;
    assert!(tasks <= MAX_TASKS && tasks > MAX_TASKS * 9 / 10, "{tasks}");
}

#[test]
fn a_slow_stage_is_slow_in_its_pairs_too() {
    for method in ["1f1b", "1f1b_overlap&chunks=2", "dualpipe", "dualpipev", "zb_v"] {
        let query = format!("method={method}&forward_backward=2.5");
        let even = run(&input(&query)).unwrap();
        let slow = run(&input(&format!("{query}&slow_stage=2&slow_factor=3"))).unwrap();
        for (stage, (one, other)) in even.stages().iter().zip(slow.stages()).enumerate() {
            let times = if stage == 2 { 3.0 } else { 1.0 };
            assert!((one.busy * times - other.busy).abs() < 1e-9, "{method}, stage {stage}");
        }
        assert!(slow.seconds() > even.seconds());
    }
}

#[test]
fn a_comparison_has_every_method_and_the_pages_own_numbers() {
    for query in ["", "method=zb_v&forward=2", "method=interleaved&chunks=4", "stages=7"] {
        let asked = input(query);
        let rows = compare(&asked);
        let methods: Vec<Method> = rows.iter().map(|row| row.input.method).collect();
        assert_eq!(methods, Method::ALL);
        let own = rows.iter().find(|row| row.input.method == asked.method).unwrap();
        assert_eq!(own.input, asked);
        let [step, ..] = *own.outcome.as_ref().unwrap();
        assert!((step - run(&asked).unwrap().seconds()).abs() < 1e-12);
    }
}

#[test]
fn arrow_keys_go_to_the_next_number_that_reads_well() {
    let state = input("forward=0.3&backward_weight=0&micro_batches=1");
    let step = |field, up| state.stepped(field, up);
    assert_eq!(step(Field::Stages, true).as_deref(), Some("9"));
    assert_eq!(step(Field::MicroBatches, false), None);
    assert_eq!(step(Field::Chunks, true).as_deref(), Some("2"));
    assert_eq!(step(Field::Forward, true).as_deref(), Some("0.31"));
    assert_eq!(step(Field::BackwardInput, false).as_deref(), Some("0.9"));
    assert_eq!(step(Field::BackwardWeight, false), None);
    assert_eq!(step(Field::BackwardWeight, true).as_deref(), Some("0.1"));
    assert_eq!(step(Field::SlowStage, true).as_deref(), Some("0"));
}

#[test]
fn a_designs_schedule_alone_takes_about_as_long_as_in_the_design() {
    for query in ["", "?v=1&preset=deepseek-v3-2k-h800", "?v=1&preset=pangu-pro-moe-4k"] {
        let design = link::decode(query).unwrap();
        let alone = of_design(&design).unwrap();
        assert_eq!(alone.method, design.schedule.method);
        assert_eq!(
            input(&encode(&alone)),
            Input { chunks: input(&encode(&alone)).chunks, ..alone }
        );
        let step = estimate(&Plan::new(&design).unwrap()).metrics.step_time.get();
        let ratio = run(&alone).unwrap().seconds() / step;
        assert!((0.7..1.05).contains(&ratio), "{query}: {ratio}, {}", address(&alone));
    }
    assert_eq!(of_design(&link::decode("?parallel.tensor_model_parallel_size=7").unwrap()), None);
}

#[test]
fn ids_are_unique_and_labels_refer_to_them() {
    for query in ["", "method=dualpipe&stages=7&micro_batches=9"] {
        let html = document(Page::Schedule, query);
        assert!(!html.contains(" style="));
        assert_eq!(html.matches("<h1").count(), 1);
        check_ids(&html);
    }
}

#[test]
fn the_page_is_found_by_its_path() {
    assert_eq!(Page::at(Page::Schedule.path()), Page::Schedule);
    assert_eq!(Page::at("/schedule/"), Page::Schedule);
    assert!(document(Page::Schedule, "").contains("href=\"/schedule\" aria-current=\"page\""));
}
