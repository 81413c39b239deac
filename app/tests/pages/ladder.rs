//! The page `/ladder` as the server sends it.

use model::design::ladder::TO_PAPER;
use model::design::link;
use present::format;
use present::page::ladder::numbers::{layouts, steps};
use present::site::Page;

use super::document;

#[test]
fn the_page_has_its_title_and_its_place_in_the_menu() {
    let page = document(Page::Ladder, "");
    let title = "From 18.9 % over 30.0 % to 41 % MFU";
    assert_eq!(
        (page.text("h1"), page.text("head title")),
        (title.into(), format!("{title} · Moescape"))
    );
    assert_eq!(page.text(".pages [aria-current=page]"), "Ladder");
}

#[test]
fn every_step_has_its_numbers_its_link_and_what_is_known() {
    let page = document(Page::Ladder, "");
    let rows = page.parts("tr:has(.rung)");
    let steps = steps();
    assert_eq!(rows.len(), steps.len());
    for (step, row) in steps.iter().zip(&rows) {
        let metrics = &step.predicted.metrics;
        assert!(row.has_link(&format!("/?{}", link::encode(&step.predicted.design))));
        for expected in [
            step.title().to_owned(),
            format::percent(metrics.mfu, 1).to_string(),
            format::token_rate(metrics.tokens_per_second_per_device).to_string(),
            format::percent(metrics.bubble_ratio, 2).to_string(),
            format::memory(metrics.memory_peak).to_string(),
            step.rung.map_or("", |rung| rung.known).to_owned(),
        ] {
            assert!(row.says(&expected), "no {expected} in {}", row.words());
        }
    }
    for (pair, row) in steps.windows(2).zip(&rows[1..]) {
        let [before, now] = [&pair[0], &pair[1]].map(|step| step.predicted.metrics.mfu);
        let cells = row.texts("td");
        assert_eq!(cells[1..3], [format::points(now, before), format::relative(now, before)]);
    }
}

#[test]
fn both_published_runs_stand_beside_their_predictions_with_the_error() {
    let page = document(Page::Ladder, "");
    let rows = page.parts("tr.ends");
    let steps = steps();
    for (row, (step, mfu, rate)) in [(0, 0.189, 148.9), (TO_PAPER, 0.300, 237.6)].iter().enumerate()
    {
        let metrics = &steps[*step].predicted.metrics;
        let own = metrics.tokens_per_second_per_device;
        for (row, published, error) in [
            (2 * row, format::percent(*mfu, 1).to_string(), format::relative(metrics.mfu, *mfu)),
            (2 * row + 1, format::token_rate(*rate).to_string(), format::relative(own, *rate)),
        ] {
            let cells = rows[row].texts("td");
            assert_eq!((&cells[0], &cells[2]), (&published, &error));
        }
    }
}

#[test]
fn the_range_over_plausible_layouts_is_said_and_every_one_opens() {
    let page = document(Page::Ladder, "");
    let layouts = layouts();
    let (low, high) = layouts.mfu_range().unwrap();
    let range = format!("goes from {} to {}", format::percent(low, 1), format::percent(high, 1));
    assert!(page.says(&range), "{range}");
    let links = page.links();
    for layout in &layouts.fitting {
        let link = format!("/?{}", link::encode(&layout.design));
        assert!(links.contains(&link), "{link}");
    }
}

#[test]
fn the_page_is_found_by_its_path() {
    assert_eq!(Page::at(Page::Ladder.path()), Page::Ladder);
    assert_eq!(Page::at("/ladder/"), Page::Ladder);
    assert_eq!(Page::at("/ladders"), Page::Explorer);
}
