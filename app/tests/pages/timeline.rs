//! The timeline as the server sends it: its numbers are the model's, without any script.

use model::ground::units::Seconds;
use model::{Plan, design::link};
use present::format;
use present::site::Page;
use testing::page::Page as Html;

use super::document;

/// The timeline's figure on the page of a query string.
fn figure(query: &str) -> Html {
    document(Page::Explorer, query).part("figure#timeline")
}

#[track_caller]
fn check_numbers(query: &str) {
    let plan = Plan::new(&link::decode(query).unwrap()).unwrap();
    let timeline = model::training::timeline::timeline(&plan).unwrap().timeline;
    let figure = figure(query);
    let whole = format::duration(Seconds::new(timeline.seconds));
    let bubble = format::percent(timeline.bubble_ratio(), 2);
    assert_eq!(
        figure.text(".timeline-summary"),
        format!(
            "Simulated task by task: {whole} from the first forward to the last backward, \
             {bubble} of it bubble."
        ),
        "{query}"
    );
    for stage in 0..timeline.lists.stages() {
        let busy = format::duration(Seconds::new(timeline.busy[stage])).to_string();
        let bubble = format::percent(timeline.bubble_ratio_of(stage), 2).to_string();
        assert_eq!(figure.row(&stage.to_string())[..2], [busy, bubble], "{query}: {stage}");
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
    let alone = "?schedule.method=interleaved&schedule.delay_wgrad_compute=false";
    for (query, has_pairs) in [("", true), (alone, false)] {
        let figure = figure(query);
        let kinds = figure.texts(".timeline-legend li");
        assert_eq!(kinds.iter().any(|kind| kind == "F B both as one"), has_pairs, "{kinds:?}");
        assert_eq!(figure.has("details.timeline-pair[hidden]"), !has_pairs, "{query}");
    }
}

#[test]
fn a_design_that_breaks_a_rule_has_a_reason_in_place_of_a_timeline() {
    let figure = figure("?parallel.pipeline_model_parallel_size=12");
    assert!(!figure.has("[data-plan]"));
    let reason = "This design breaks a rule, so it has no timeline.";
    assert_eq!(figure.text(".timeline-nothing"), reason);
    assert!(!figure.says("Simulated task by task"), "{}", figure.words());
}

#[test]
fn the_figure_names_the_plan_that_another_module_draws() {
    let query = "v=1&preset=deepseek-v3-2k-h800";
    assert_eq!(figure(query).attribute("figure", "data-plan"), query);
}

#[test]
fn the_picture_can_be_reached_by_keyboard_and_says_its_keys() {
    let figure = figure("");
    let picture = "[tabindex='0'][role=application][aria-label='Pipeline timeline']";
    let keys = figure.attribute(picture, "aria-describedby");
    assert!(figure.text(&format!("#{keys}")).starts_with("Shortcuts: "));
    assert_eq!(figure.attribute(".timeline-details", "aria-live"), "polite");
}
