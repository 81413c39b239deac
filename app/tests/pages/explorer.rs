//! The page as the server sends it: right before anything runs in the browser.

use app::document::{ModuleFiles, SiteFiles, ThemeCookie, shell};
use leptos::prelude::*;
use model::catalogue::preset::Preset;
use model::metric::MetricId;
use model::{Plan, design::link, estimate};
use present::format;
use present::insight::parity;
use present::site::Page;
use present::words::range;

use super::{check_ids, text};

/// The document of the explorer, with something else that the server knows.
fn document_with(context: impl Send + Sync + 'static) -> String {
    Owner::new().with(|| {
        provide_context(context);
        shell().to_html()
    })
}

fn document(query: &str) -> String {
    super::document(Page::Explorer, query)
}

/// Usable memory, and what the page says of the recipe's 58.3 GiB then.
#[test]
fn the_card_of_memory_says_which_of_four_states_it_is() {
    for (gib, state, words) in [
        ("80", "fits", "Fits: 21.7 GiB free, 94 % likely to fit"),
        ("60.3", "fits tight", "Tight: 58.3 of 60.3 GiB, 61 % likely to fit"),
        ("50", "fits unlikely", "Unlikely: predicted over the limit by 8.3 GiB, "),
        ("40", "fits over", "Does not fit: 18.3 GiB over the limit, "),
    ] {
        let html = document(&format!("cluster.hbm_usable_gib={gib}"));
        let said = format!("<p data-metric=\"fit_probability\" class=\"{state}\">");
        assert!(html.contains(&said), "{gib} GiB: no {said}");
        assert!(text(&html).contains(words), "{gib} GiB: {words} is not on the page");
        let over = text(&html).contains("+8.3 GiB") || text(&html).contains("+18.3 GiB");
        assert_eq!(over, words.contains("over"), "{gib} GiB");
    }
}

#[track_caller]
fn check_numbers(query: &str) {
    let plan = Plan::new(&link::decode(query).unwrap()).unwrap();
    let metrics = estimate(&plan).metrics;
    let text = text(&document(query));
    for expected in [
        format::percent(metrics.mfu, 1).to_string(),
        format::token_rate(metrics.tokens_per_second_per_device).to_string(),
        format::duration(metrics.step_time).to_string(),
        format::memory(metrics.memory_peak).to_string(),
        format!("formula {}", format::percent(metrics.bubble_ratio_closed_form, 2)),
        format::percent(metrics.bubble_ratio, 2).to_string(),
        format::duration(metrics.comm_exposed).to_string(),
        format::count(metrics.params_total as f64).to_string(),
    ] {
        assert!(text.contains(&expected), "{query}: {expected} is not on the page");
    }
}

#[test]
fn the_first_paint_has_the_numbers_of_every_preset() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        check_numbers(&format!("?v=1&preset={}", preset.id));
    }
}

#[test]
fn the_first_paint_has_the_numbers_of_the_link() {
    check_numbers("");
    let plain = "?parallel.virtual_pipeline_model_parallel_size=1&kernel.framework=ideal";
    check_numbers(plain);
    let page = text(&document(plain));
    assert!(page.contains("formula 18.99 %"));
    assert!(text(&document("")).contains("formula 10.49 %"));
}

#[test]
fn every_card_that_says_a_fact_of_its_own_says_how_far_it_may_be_off() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let html = document(&format!("?v=1&preset={}", preset.id));
        let plan = Plan::new(&preset.design()).unwrap();
        let metrics = model::estimate(&plan).metrics;
        for metric in [
            MetricId::mfu,
            MetricId::memory_peak_bytes,
            MetricId::bubble_ratio,
            MetricId::comm_exposed_seconds,
        ] {
            let name = metric.metric().name;
            let button = html.split(&format!("data-band=\"{name}\"")).nth(1).unwrap();
            let button = button.split("</button>").next().unwrap();
            let expected = range::expected(&plan, metric);
            assert!(button.contains(&expected.short(metric, &metrics)), "{}: {button}", preset.id);
            assert!(
                button.contains(&expected.sentence(metric, &metrics)),
                "{}: {button}",
                preset.id
            );
        }
    }
    assert!(text(&document("")).contains("exact count"), "counts are exact");
}

/// The design of the review: no longer on 6,144 devices.
const OTHER: &str = "?cluster.num_devices=4096&parallel.tensor_model_parallel_size=4\
                     &parallel.pipeline_model_parallel_size=8\
                     &parallel.virtual_pipeline_model_parallel_size=4\
                     &training.global_batch_size=4096";

#[test]
fn a_changed_design_is_nowhere_called_what_its_preset_is() {
    let html = document(OTHER);
    let name = "Pangu Ultra MoE · 4,096 x 910B3 · TP4 PP8 VPP4 EP32";
    assert!(html.contains(&format!("<title>{name} · Moescape</title>")));
    assert!(text(&html).contains(name));
    let head = html.split("</head>").next().unwrap();
    assert!(head.contains(&format!("content=\"{name} · Moescape\"")) && !head.contains("6,144"));
    let story = html.split("id=\"preset-story\"").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(story.contains(name) && !story.contains("237.6"), "{story}");
    assert!(text(&html).contains("Based on preset"));
}

#[test]
fn an_unchanged_preset_keeps_its_title_and_its_story() {
    let html = document("");
    assert!(html.contains("<title>Pangu Ultra MoE on 6,144 NPUs · Moescape</title>"));
    let story = html.split("id=\"preset-story\"").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(story.contains("The paper&#39;s final run: 237.6 tokens/s") || story.contains("237.6"));
}

/// Text of the bar at the bottom of a phone.
fn bottom_line(query: &str) -> String {
    let html = document(query);
    let bar = html.split("class=\"bottom-headline").nth(1).unwrap().split("</p>").next().unwrap();
    text(&format!("<p{bar}"))
}

#[test]
fn the_bar_at_the_bottom_has_no_number_of_another_design() {
    assert!(bottom_line("").contains("MFU 29.9 %"), "{}", bottom_line(""));
    let broken = bottom_line("?parallel.tensor_model_parallel_size=6");
    assert!(broken.contains("Can't run: ") || broken.contains("Can&#39;t run: "), "{broken}");
    assert!(!broken.contains("MFU") && !broken.contains("GiB"), "{broken}");
}

/// The classes of a card's difference from the preset.
fn delta_class(query: &str, metric: &str) -> String {
    let html = document(query);
    let card = html.split(&format!("data-metric=\"{metric}\" aria-labelledby")).nth(1).unwrap();
    let delta = card.split("</article>").next().unwrap().split("<p class=\"delta").nth(1).unwrap();
    delta.split('"').next().unwrap().trim().to_owned()
}

#[test]
fn what_follows_from_another_machine_or_batch_is_neither_green_nor_red() {
    let h100 = "?cluster.accelerator=h100-sxm-80gb";
    for metric in ["mfu", "tokens_per_second_per_device", "step_time_seconds"] {
        assert_eq!(delta_class(h100, metric), "", "{metric}");
    }
    assert_eq!(delta_class(OTHER, "step_time_seconds"), "");
    assert_eq!(delta_class("?training.global_batch_size=12288", "step_time_seconds"), "");
    let vpp = "?parallel.virtual_pipeline_model_parallel_size=1&schedule.method=1f1b\
               &schedule.delay_wgrad_compute=false";
    assert_eq!(delta_class(vpp, "bubble_ratio"), "worse");
    assert!(!delta_class(vpp, "step_time_seconds").is_empty());
}

#[test]
fn the_ways_to_count_are_computed_only_on_request() {
    let html = document("");
    assert!(html.contains("id=\"conventions\""));
    assert!(!html.contains("MFU as set in this design"));
}

#[test]
fn an_illegal_design_shows_its_rules_and_ways_out() {
    let html = document("?parallel.pipeline_model_parallel_size=12");
    let page = text(&html);
    assert!(page.contains("This design can't run."));
    assert!(page.contains("Set PP to 16"), "a way out is offered");
    assert!(page.contains("numbers of the unchanged preset"));
    assert!(html.contains("aria-invalid=\"true\""));
}

#[test]
fn a_broken_link_names_every_mistake_and_opens_the_rest() {
    let html = document(
        "?parallel.nope=1&training.micro_batch_size=-1&parallel.pipeline_model_parallel_size=8",
    );
    let page = text(&html);
    assert!(page.contains("parallel.nope"));
    assert!(page.contains("micro_batch_size"));
    let rest = "/?v=1&amp;preset=pangu-ultra-moe-6k&amp;parallel.pipeline_model_parallel_size=8";
    assert!(html.contains(rest), "{html}");
}

#[test]
fn what_a_link_says_never_becomes_markup() {
    let html = document("?%3Cscript%3Ealert(1)%3C/script%3E=1&preset=%22%3E%3Cimg%20src=x%3E");
    assert!(!html.contains("<script>alert"));
    assert!(!html.contains("<img src=x"));
}

#[test]
fn no_knob_is_shown_that_the_estimate_does_not_use() {
    let html = document("");
    for id in model::design::KnobId::ALL {
        let shown = html.contains(&format!("data-knob=\"{}\"", id.id()));
        let is_of_training = model::design::KnobId::of_training().any(|it| it == *id);
        assert_eq!(shown, is_of_training && id.knob().not_offered.is_none(), "{}", id.id());
    }
}

#[test]
fn ids_are_unique_and_labels_refer_to_them() {
    check_ids(&document(""));
}

#[test]
fn the_theme_is_the_visitors_choice_and_nothing_else() {
    let themed = |theme: &str| document_with(ThemeCookie(Some(theme.to_owned())));
    assert!(themed("dark").contains("data-theme=\"dark\""));
    assert!(!themed("\"><script>").contains("data-theme"));
    assert!(!document("").contains("data-theme"));
}

#[test]
fn scripts_are_there_only_when_the_site_is_built() {
    let module = |name: &str| ModuleFiles {
        js: format!("/pkg/{name}.1.js"),
        wasm: format!("/pkg/{name}_bg.2.wasm"),
    };
    let files = SiteFiles {
        explorer: module("app"),
        pages: module("pages"),
        sweeps: module("sweeps"),
        serving: module("serving"),
        budget: module("budget"),
        reviews: module("reviews"),
        share: "/pkg/share.1.js".to_owned(),
        import: "/pkg/import.1.js".to_owned(),
        save: "/pkg/save.1.js".to_owned(),
        find: "/pkg/find.1.js".to_owned(),
        finder: "/pkg/finder.1.js".to_owned(),
        habits: "/pkg/habits.1.js".to_owned(),
        worker: "/pkg/worker.1.js".to_owned(),
        css: "/pkg/app.3.css".to_owned(),
        font: "/pkg/inter.4.woff2".to_owned(),
    };
    let html = document_with(files);
    for part in [
        "<link rel=\"stylesheet\" href=\"/pkg/app.3.css\"",
        "<link rel=\"preload\" href=\"/pkg/inter.4.woff2\" as=\"font\"",
        "<link rel=\"modulepreload\" href=\"/pkg/app.1.js\"",
        "import init, { hydrate } from \"/pkg/app.1.js\"",
        "const module = new Promise(",
        ".then(() => fetch(\"/pkg/app_bg.2.wasm\"));",
        "src=\"/pkg/habits.1.js\"",
        "<meta name=\"study-worker\" content=\"/pkg/worker.1.js\"",
        "src=\"/pkg/share.1.js\"",
        "src=\"/pkg/import.1.js\"",
        "src=\"/pkg/save.1.js\"",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!document("").contains("<script"));
}

#[test]
fn no_mark_needs_an_inline_style() {
    assert!(!document("").contains(" style="));
}

#[test]
fn the_numbers_for_the_parity_test_are_those_on_the_page() {
    let metrics = estimate(&Plan::new(&link::decode("").unwrap()).unwrap()).metrics;
    let numbers = parity::estimate_numbers("");
    assert!(numbers.iter().any(|number| number.to_bits() == metrics.mfu.to_bits()));
}

#[test]
fn the_balance_of_the_stages_and_what_would_better_it_are_on_the_page() {
    let balanced = text(&document("?v=1&preset=gpt3-175b"));
    assert!(balanced.contains("No layout balances the stages better."));
    let page = text(&document("?parallel.noop_layers=62,63"));
    assert!(page.contains("over the mean, not"));
    assert!(page.contains("Balance the stages"));
    let one = "?parallel.pipeline_model_parallel_size=1\
               &parallel.virtual_pipeline_model_parallel_size=1&parallel.noop_layers=none";
    let one = text(&document(one));
    assert!(one.contains("One stage holds the whole model"));
}

#[test]
fn what_takes_long_is_left_to_the_browser() {
    let page = document("");
    assert!(text(&page).contains("when scrolled into view"));
    assert!(!page.contains("schedule-table") && !page.contains("chart-heat"));
}
