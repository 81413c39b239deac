//! The page `/schedule`: what of its links opens, and the page as the server sends it.

use model::ground::choice::Choice;
use present::page::schedule::input::Input;
use present::page::schedule::query::{decode, salvage};
use present::site::Page;

use super::document;

fn input(query: &str) -> Input {
    decode(query).unwrap()
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
        assert_eq!(page.text("h1"), "This link can't be opened as it is", "{part}");
        assert!(page.part("main").has_link("/schedule?chunks=3"), "{part}");
    }
    let (_, errors) = salvage("stages=2&stages=2&forward=x&nope=1");
    assert_eq!(errors.len(), 3);
    assert_eq!(salvage(&"a=1&".repeat(1_000)).1.len(), 1, "a long link is one mistake");
}

#[test]
fn what_a_link_says_never_becomes_markup() {
    let query = "?%3Cscript%3Ealert(1)%3C/script%3E=1&method=%22%3E%3Cimg%20src=x%3E";
    let page = document(Page::Schedule, query);
    assert!(!page.has("script") && !page.has("img[src=x]"));
    assert!(page.says("<script>alert(1)</script>"), "{}", page.words());
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
        let page = document(Page::Schedule, query);
        assert_eq!(page.text("[aria-labelledby=step-title] .card-value"), step, "{query}");
        let joint = if query.is_empty() { "" } else { "?" };
        assert!(page.has_link(&format!("/schedule{joint}{query}")), "{query}: no link to it");
        let command = page.text(".schedule-command code");
        let start = format!("moescape schedule --method {}", input(query).method.name());
        assert!(command.starts_with(&start), "{command}");
    }
    let page = document(Page::Schedule, "method=zb_v");
    assert_eq!(page.text("[aria-labelledby=step-title] .card-line"), "closed form 99.5 s");
    assert_eq!(page.texts(".schedule-facts code")[0], "m (F + B) + (p − 1) F / 2");
    assert!(page.says("The formula gives 99.5 s, the same as the simulation."));
}

#[test]
fn the_page_says_why_a_formula_and_the_simulation_differ() {
    for (query, why) in [
        ("p2p=0.5", "sends take 0.5 s"),
        ("slow_stage=3", "stage 3 takes 2 times as long as the others"),
        ("method=zb_v&backward_weight=2", "outside of that (F = dX = dW, m ≥ 2p − 1)"),
        ("method=v_min", "There is no closed form for V-Min"),
    ] {
        let facts = document(Page::Schedule, query).text(".schedule-facts");
        assert!(facts.contains(why), "{query}: no {why} in {facts}");
    }
}

#[test]
fn sizes_that_break_rules_say_so_with_links_and_keep_numbers_on_the_page() {
    let page = document(Page::Schedule, "?method=dualpipe&stages=7&micro_batches=9");
    let said = page.texts(".verdict.broken p").swap_remove(0);
    let start = "This schedule can't run. The numbers below are those of DualPipe, 8 stages";
    assert!(said.starts_with(start), "{said}");
    assert!(page.has_link("/schedule?method=dualpipe&micro_batches=16"));
    assert!(page.has("#stages[aria-invalid=true]") && page.has(".schedule-results.stale"));
    // The other methods run, and one that doesn't says what is near.
    let refused = page.text("[data-schedule=dualpipe] .refused");
    let start = "Can't run: dualpipe pairs the stages (PP) from both ends";
    assert!(refused.starts_with(start), "{refused}");
}

#[test]
fn the_page_is_found_by_its_path() {
    assert_eq!(Page::at(Page::Schedule.path()), Page::Schedule);
    assert_eq!(Page::at("/schedule/"), Page::Schedule);
    let place = document(Page::Schedule, "").attribute(".pages [aria-current=page]", "href");
    assert_eq!(place, "/schedule");
}
