//! The timeline as the server sends it: its numbers are the model's, without any script.

use model::ground::units::Seconds;
use model::{Plan, design::link};
use present::format;
use present::site::Page;

use super::document;

/// The timeline's figure on the page of a query string.
fn figure(query: &str) -> String {
    let page = document(Page::Explorer, query);
    let (_, after) = page.split_once("id=\"timeline\"").expect("the figure is on the page");
    after.split_once("</figure>").unwrap().0.to_owned()
}

#[track_caller]
fn check_numbers(query: &str) {
    let plan = Plan::new(&link::decode(query).unwrap()).unwrap();
    let timeline = model::training::timeline::timeline(&plan).unwrap().timeline;
    let figure = figure(query);
    for expected in [
        format::duration(Seconds::new(timeline.seconds)).to_string(),
        format!("{} of it bubble", format::percent(timeline.bubble_ratio(), 2)),
    ] {
        assert!(figure.contains(&expected), "{query}: {expected} is not in {figure}");
    }
    for stage in 0..timeline.lists.stages() {
        let busy = format::duration(Seconds::new(timeline.busy[stage]));
        let bubble = format::percent(timeline.bubble_ratio_of(stage), 2);
        let row = format!("<th scope=\"row\">{stage}</th><td>{busy}</td><td>{bubble}</td>");
        assert!(figure.contains(&row), "{query}: {row} is not in {figure}");
    }
}

#[test]
fn the_first_paint_has_a_row_for_each_stage_with_the_models_numbers() {
    check_numbers("");
    check_numbers("?v=1&preset=deepseek-v3-2k-h800");
    check_numbers("?parallel.virtual_pipeline_model_parallel_size=1&kernel.framework=ideal");
}

#[test]
fn the_legend_has_the_kinds_of_tasks_that_there_are() {
    let pairs = figure("");
    assert!(pairs.contains("both as one"), "{pairs}");
    assert!(!pairs.contains("<details class=\"timeline-pair\" hidden>"), "{pairs}");
    let query = "?schedule.method=interleaved&schedule.delay_wgrad_compute=false";
    let alone = figure(query);
    assert!(!alone.contains("both as one"), "{alone}");
    assert!(alone.contains("<details class=\"timeline-pair\" hidden>"), "{alone}");
}

#[test]
fn a_design_that_breaks_a_rule_has_a_reason_in_place_of_a_timeline() {
    let figure = figure("?parallel.pipeline_model_parallel_size=12");
    assert!(!figure.contains("data-plan"), "{figure}");
    assert!(figure.contains("This design breaks a rule"), "{figure}");
    assert!(!figure.contains("Simulated task by task"), "{figure}");
}

#[test]
fn the_figure_names_the_plan_that_another_module_draws() {
    let query = "v=1&amp;preset=deepseek-v3-2k-h800";
    let figure = figure(&query.replace("&amp;", "&"));
    assert!(figure.contains(&format!("data-plan=\"{query}\"")), "{figure}");
}

#[test]
fn the_picture_can_be_reached_by_keyboard_and_says_its_keys() {
    let figure = figure("");
    assert!(figure.contains("tabindex=\"0\" role=\"application\""));
    assert!(figure.contains("aria-label=\"Pipeline timeline\""));
    assert!(figure.contains("aria-describedby=\"timeline-keys\""));
    assert!(figure.contains("id=\"timeline-keys\""));
    assert!(figure.contains("class=\"timeline-details\" aria-live=\"polite\""));
}
