//! The page as the server sends it: right before anything runs in the browser.

use app::document::{ModuleFiles, SiteFiles, ThemeCookie};
use model::catalogue::preset::Preset;
use model::metric::MetricId;
use model::{Plan, design::link, estimate};
use present::format;
use present::insight::parity;
use present::site::{Module, Page};
use present::words::range;
use testing::page::Page as Html;

/// The document of the explorer, with something else that the server knows.
fn document_with(context: impl Send + Sync + 'static) -> Html {
    super::document_with(Page::Explorer, "", context)
}

fn document(query: &str) -> Html {
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
        let page = document(&format!("cluster.hbm_usable_gib={gib}"));
        let fit = "p[data-metric=fit_probability]";
        assert_eq!(page.attribute(fit, "class"), state, "{gib} GiB");
        assert!(page.text(fit).starts_with(words), "{gib} GiB: {}", page.text(fit));
        let over = page.says("+8.3 GiB") || page.says("+18.3 GiB");
        assert_eq!(over, words.contains("over"), "{gib} GiB");
    }
}

#[track_caller]
fn check_numbers(query: &str) {
    let plan = Plan::new(&link::decode(query).unwrap()).unwrap();
    let metrics = estimate(&plan).metrics;
    let page = document(query);
    for (metric, expected) in [
        (MetricId::mfu, format::percent(metrics.mfu, 1)),
        (
            MetricId::tokens_per_second_per_device,
            format::token_rate(metrics.tokens_per_second_per_device),
        ),
        (MetricId::step_time_seconds, format::duration(metrics.step_time)),
        (MetricId::memory_peak_bytes, format::memory(metrics.memory_peak)),
        (MetricId::bubble_ratio, format::percent(metrics.bubble_ratio, 2)),
        (MetricId::comm_exposed_seconds, format::duration(metrics.comm_exposed)),
    ] {
        let name = metric.metric().name;
        let shown = page.text(&format!("article[data-metric={name}] .card-value"));
        assert_eq!(shown, expected.to_string(), "{query}: {name}");
    }
    let formula = format!("formula {}", format::percent(metrics.bubble_ratio_closed_form, 2));
    assert!(page.text("article[data-metric=bubble_ratio]").contains(&formula), "{query}");
    let parameters = format::count(metrics.params_total as f64).to_string();
    assert_eq!(page.text(".fact-value[data-metric=params_total]"), parameters, "{query}");
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
    assert!(document(plain).says("formula 18.99 %"));
    assert!(document("").says("formula 10.49 %"));
}

#[test]
fn every_card_that_says_a_fact_of_its_own_says_how_far_it_may_be_off() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let page = document(&format!("?v=1&preset={}", preset.id));
        let plan = Plan::new(&preset.design()).unwrap();
        let metrics = model::estimate(&plan).metrics;
        for metric in [
            MetricId::mfu,
            MetricId::memory_peak_bytes,
            MetricId::bubble_ratio,
            MetricId::comm_exposed_seconds,
        ] {
            let button = format!("button[data-band={}]", metric.metric().name);
            let expected = range::expected(&plan, metric);
            assert_eq!(page.text(&button), expected.short(metric, &metrics), "{}", preset.id);
            let sentence = expected.sentence(metric, &metrics);
            assert!(page.attribute(&button, "title").starts_with(&sentence), "{}", preset.id);
        }
    }
    let bands = document("").texts(".fact-band");
    assert!(bands.iter().any(|band| band == "exact count"), "counts are exact: {bands:?}");
}

/// The design of the review: no longer on 6,144 devices.
const OTHER: &str = "?cluster.num_devices=4096&parallel.tensor_model_parallel_size=4\
                     &parallel.pipeline_model_parallel_size=8\
                     &parallel.virtual_pipeline_model_parallel_size=4\
                     &training.global_batch_size=4096";

#[test]
fn a_changed_design_is_nowhere_called_what_its_preset_is() {
    let page = document(OTHER);
    let name = "Pangu Ultra MoE · 4,096 x 910B3 · TP4 PP8 VPP4 EP32";
    assert_eq!(page.text("head title"), format!("{name} · Moescape"));
    assert!(page.text("h1").starts_with(name), "{}", page.text("h1"));
    let titles = page.attributes("head meta[property='og:title']", "content");
    assert_eq!(titles, [format!("{name} · Moescape")]);
    assert!(!page.markup("head").contains("6,144"));
    let story = page.text("#preset-story");
    assert!(story.contains(name) && !story.contains("237.6"), "{story}");
    assert_eq!(page.text("#preset-label"), "Based on preset");
}

#[test]
fn an_unchanged_preset_keeps_its_title_and_its_story() {
    let page = document("");
    assert_eq!(page.text("head title"), "Pangu Ultra MoE on 6,144 NPUs · Moescape");
    let story = page.text("#preset-story");
    assert!(story.starts_with("The paper's final run: 237.6 tokens/s"), "{story}");
}

/// Text of the bar at the bottom of a phone.
fn bottom_line(query: &str) -> String {
    document(query).text(".bottom-headline")
}

#[test]
fn the_bar_at_the_bottom_has_no_number_of_another_design() {
    assert!(bottom_line("").starts_with("MFU 29.9 %"), "{}", bottom_line(""));
    let broken = bottom_line("?parallel.tensor_model_parallel_size=6");
    assert!(broken.starts_with("Can't run: "), "{broken}");
    assert!(!broken.contains("MFU") && !broken.contains("GiB"), "{broken}");
}

/// The classes of a card's difference from the preset.
fn delta_class(query: &str, metric: &str) -> String {
    let delta = format!("article[data-metric={metric}] .delta");
    let class = document(query).attribute(&delta, "class");
    class.trim_start_matches("delta").trim().to_owned()
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
    let page = document("");
    assert!(page.has("dialog#conventions"));
    assert!(!page.says("MFU as set in this design"));
}

#[test]
fn an_illegal_design_shows_its_rules_and_ways_out() {
    let page = document("?parallel.pipeline_model_parallel_size=12");
    let verdict = page.part(".verdict.broken");
    let said = "This design can't run. Showing the numbers of the unchanged preset";
    assert!(verdict.says(said), "{}", verdict.words());
    assert!(verdict.texts("button.way").contains(&"Set PP to 16".to_owned()), "no way out");
    assert!(page.has("#knob-pipeline_model_parallel_size[aria-invalid=true]"));
}

#[test]
fn a_broken_link_names_every_mistake_and_opens_the_rest() {
    let page = document(
        "?parallel.nope=1&training.micro_batch_size=-1&parallel.pipeline_model_parallel_size=8",
    );
    let named = page.texts(".link-errors strong");
    assert_eq!(named, ["parallel.nope", "training.micro_batch_size"]);
    let rest = "/?v=1&preset=pangu-ultra-moe-6k&parallel.pipeline_model_parallel_size=8";
    assert!(page.has_link(rest), "{:?}", page.links());
}

#[test]
fn what_a_link_says_never_becomes_markup() {
    let page = document("?%3Cscript%3Ealert(1)%3C/script%3E=1&preset=%22%3E%3Cimg%20src=x%3E");
    assert!(!page.has("script") && !page.has("img[src=x]"));
    assert!(page.texts(".link-errors strong").contains(&"<script>alert(1)</script>".to_owned()));
}

#[test]
fn no_knob_is_shown_that_the_estimate_does_not_use() {
    let page = document("");
    for id in model::design::KnobId::ALL {
        let shown = page.has(&format!("[data-knob='{}']", id.id()));
        let is_of_training = model::design::KnobId::of_training().any(|it| it == *id);
        assert_eq!(shown, is_of_training && id.knob().not_offered.is_none(), "{}", id.id());
    }
}

#[test]
fn what_is_folded_away_is_read_without_a_script_and_has_no_controls_yet() {
    let page = document("memory.recompute_granularity=none");
    let folded = "details.fold [data-knob='memory.recompute_granularity']";
    assert_eq!(page.text(&format!("{folded} dt")), "Recompute");
    assert_eq!(page.text(&format!("{folded} dd")), "none");
    assert!(!page.has("details.fold input") && page.has("#knobs > section > .knob input"));
}

#[test]
fn the_theme_is_the_visitors_choice_and_nothing_else() {
    let themed = |theme: &str| document_with(ThemeCookie(Some(theme.to_owned())));
    assert_eq!(themed("dark").attribute("html", "data-theme"), "dark");
    assert!(!themed("\"><script>").has("[data-theme]"));
    assert!(!document("").has("[data-theme]"));
}

#[test]
fn a_line_that_stays_as_it_is_asks_what_the_explorers_asks() {
    let design = model::design::link::decode("preset=glm-4.5&cluster.num_devices=256").unwrap();
    let still = Html::new(&present::form::find_bar::still(&design).into_string());
    let live = document("?preset=glm-4.5&cluster.num_devices=256");
    let bar = ".find-bar";
    for page in [&still, &live] {
        assert_eq!(page.attribute(&format!("{bar} [name='find.devices']"), "value"), "256");
        let own = format!("{bar} [name='find.model'] option[value='']");
        assert_eq!(page.text(&own), "GLM-4.5 355B");
    }
    for name in ["from", "model", "devices", "accelerator", "step_tokens"] {
        let control = format!("{bar} [name='find.{name}']");
        let options = |page: &Html| page.texts(&format!("{control} option"));
        assert_eq!(options(&still), options(&live), "{name}");
        for attribute in ["placeholder", "aria-label", "inputmode"] {
            let is_same = |page: &Html| page.has(&format!("{control}[{attribute}]"));
            assert_eq!(is_same(&still), is_same(&live), "{name} {attribute}");
        }
    }
}

#[test]
fn scripts_are_there_only_when_the_site_is_built() {
    let module = |module: &Module| {
        let (js, wasm) = (format!("/pkg/{}.1.js", module.name()), module.name());
        (*module, ModuleFiles { js, wasm: format!("/pkg/{wasm}_bg.2.wasm") })
    };
    let files = SiteFiles {
        modules: Module::ALL.iter().map(module).collect(),
        share: "/pkg/share.1.js".to_owned(),
        import: "/pkg/import.1.js".to_owned(),
        save: "/pkg/save.1.js".to_owned(),
        find: "/pkg/find.1.js".to_owned(),
        finder: "/pkg/finder.1.js".to_owned(),
        habits: "/pkg/habits.1.js".to_owned(),
        early: "/pkg/early.1.js".to_owned(),
        folder: "/pkg/folder.1.js".to_owned(),
        worker: "/pkg/worker.1.js".to_owned(),
        css: "/pkg/app.3.css".to_owned(),
        font: "/pkg/inter.4.woff2".to_owned(),
    };
    let page = document_with(files);
    for element in [
        "link[rel=stylesheet][href='/pkg/app.3.css']",
        "link[rel=preload][href='/pkg/inter.4.woff2'][as=font]",
        "link[rel=modulepreload][href='/pkg/explorer.1.js']",
        "meta[name=study-worker][content='/pkg/worker.1.js']",
        "script[src='/pkg/habits.1.js']",
        "script[src='/pkg/share.1.js']",
        "script[src='/pkg/import.1.js']",
        "script[src='/pkg/save.1.js']",
    ] {
        assert_eq!(page.count(element), 1, "{element}");
    }
    let start = page.texts("script:not([src])").concat();
    for part in [
        "import init, { hydrate } from \"/pkg/explorer.1.js\"",
        "const module = new Promise(",
        ".then(() => fetch(\"/pkg/explorer_bg.2.wasm\"));",
    ] {
        assert!(start.contains(part), "no {part} in {start}");
    }
    assert!(!document("").has("script"));
}

#[test]
fn the_numbers_for_the_parity_test_are_those_on_the_page() {
    let metrics = estimate(&Plan::new(&link::decode("").unwrap()).unwrap()).metrics;
    let numbers = parity::estimate_numbers("");
    assert!(numbers.iter().any(|number| number.to_bits() == metrics.mfu.to_bits()));
}

#[test]
fn what_takes_long_is_left_to_the_browser() {
    let page = document("");
    for study in ["roofline", "balance"] {
        let place = page.part(&format!("[data-study={study}]"));
        assert!(place.says("Computed when scrolled into view"), "{study}");
    }
    assert!(!page.has(".schedule-table") && !page.has(".chart-heat"));
}
