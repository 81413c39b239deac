//! The page `/ladder` as the server sends it.

use model::design::ladder::TO_PAPER;
use present::format;
use present::page::ladder::numbers::{layouts, steps};
use present::site::Page;

use super::document;

#[test]
fn the_page_has_its_title_and_its_place_in_the_menu() {
    let html = document(Page::Ladder, "");
    assert!(html.contains("<title>From 18.9 % over 30.0 % to 41 % MFU · Moescape</title>"));
    assert!(html.contains("href=\"/ladder\" aria-current=\"page\""), "{html}");
    assert_eq!(html.matches("<h1").count(), 1);
}

#[test]
fn every_step_has_its_numbers_its_link_and_what_is_known() {
    let html = document(Page::Ladder, "");
    let steps = steps();
    for step in &steps {
        let metrics = &step.predicted.metrics;
        for expected in [
            step.title().to_owned(),
            format::percent(metrics.mfu, 1).to_string(),
            format::token_rate(metrics.tokens_per_second_per_device).to_string(),
            format::percent(metrics.bubble_ratio, 2).to_string(),
            format::memory(metrics.memory_peak).to_string(),
            model::design::link::encode(&step.predicted.design).replace('&', "&amp;"),
            step.rung.map_or("", |rung| rung.known).to_owned(),
        ] {
            assert!(html.contains(&expected), "{}: no {expected}", step.title());
        }
    }
    for pair in steps.windows(2) {
        let [before, now] = [&pair[0], &pair[1]].map(|step| step.predicted.metrics.mfu);
        assert!(html.contains(&format::points(now, before)));
        assert!(html.contains(&format::relative(now, before)));
    }
}

#[test]
fn both_published_runs_stand_beside_their_predictions_with_the_error() {
    let html = document(Page::Ladder, "");
    let steps = steps();
    for (step, mfu, rate) in [(0, 0.189, 148.9), (TO_PAPER, 0.300, 237.6)] {
        let metrics = &steps[step].predicted.metrics;
        for expected in [
            format::percent(mfu, 1).to_string(),
            format::token_rate(rate).to_string(),
            format::relative(metrics.mfu, mfu),
            format::relative(metrics.tokens_per_second_per_device, rate),
        ] {
            assert!(html.contains(&expected), "{expected}");
        }
    }
}

#[test]
fn the_range_over_plausible_layouts_is_said_and_every_one_opens() {
    let html = document(Page::Ladder, "");
    let layouts = layouts();
    let (low, high) = layouts.mfu_range().unwrap();
    let range = format!("goes from {} to {}", format::percent(low, 1), format::percent(high, 1));
    assert!(html.contains(&range), "{range}");
    for layout in &layouts.fitting {
        let link = model::design::link::encode(&layout.design).replace('&', "&amp;");
        assert!(html.contains(&link), "{link}");
    }
}

#[test]
fn ids_are_unique_and_nothing_needs_an_inline_style() {
    let html = document(Page::Ladder, "");
    assert!(!html.contains(" style="));
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).collect();
    for id in &mut ids {
        *id = id.split('"').next().unwrap();
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice");
    for label in html.split(" aria-labelledby=\"").skip(1) {
        assert!(ids.contains(&label.split('"').next().unwrap()));
    }
}

#[test]
fn the_page_is_found_by_its_path() {
    assert_eq!(Page::at(Page::Ladder.path()), Page::Ladder);
    assert_eq!(Page::at("/ladder/"), Page::Ladder);
    assert_eq!(Page::at("/ladders"), Page::Explorer);
}
