//! `GET /presets`, `/tour`, `/about` and `/palette.json`: pages that only the server writes, and
//! what the palette finds by name.

use axum::http::StatusCode;
use model::catalogue::preset::Preset;
use model::design::KnobId;
use model::design::ladder;
use model::design::link;
use testing::page::Page;

use crate::TestApp;

#[tokio::test]
async fn the_gallery_has_every_preset_with_story_and_numbers() {
    let page = TestApp::new().page("/presets").await;
    let links = page.links();
    let opens = |link: String| links.contains(&link);
    for preset in Preset::all() {
        assert_eq!(page.count(&format!("[data-preset='{}']", preset.id)), 1, "{}", preset.id);
        let link = format!("/?v=1&preset={}", preset.id);
        assert_eq!(opens(link), preset.refused.is_none(), "{}", preset.id);
    }
    for preset in Preset::served() {
        assert!(opens(format!("/serving?v=1&preset={}", preset.id)), "{}", preset.id);
    }
    let card = page.part("[data-preset='pangu-ultra-moe-6k@2']");
    for part in ["719.1 B parameters", "6,144 ×", "MFU 30.0 % (estimate"] {
        assert!(card.says(part), "{part}: {}", card.words());
    }
    assert!(page.has("script[src='/pkg/habits.0123.js']"));
}

#[tokio::test]
async fn the_gallery_is_searched_without_a_script() {
    let app = TestApp::new();
    let shown = |page: &Page| page.count("article:not([hidden])");
    let all = app.page("/presets").await;
    let some = app.page("/presets?q=Pangu+ultra").await;
    let none = app.page("/presets?q=%22%3E%3Cscript%3E").await;
    assert_eq!(shown(&all), Preset::all().chain(Preset::served()).count());
    assert!((1..shown(&all)).contains(&shown(&some)), "{}", shown(&some));
    assert_eq!((shown(&none), none.text("#gallery-count").as_str()), (0, "0 presets"));
    assert_eq!(none.attribute("#gallery-q", "value"), "\"><script>");
    app.get("/presets?nope=1").await.problem(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_tour_goes_through_every_design_of_the_ladder() {
    let app = TestApp::new();
    let designs = ladder::designs().unwrap();
    for (step, design) in designs.iter().enumerate() {
        let page = app.page(&format!("/tour?step={step}")).await;
        assert!(page.has_link(&format!("/?{}", link::encode(design))), "{step}");
        let turns = [("prev", step > 0), ("next", step + 1 < designs.len())];
        for (turn, there) in turns {
            assert_eq!(page.has(&format!("a[rel={turn}]")), there, "{step}: {turn}");
        }
    }
    let last = designs.len() - 1;
    for (step, reported) in [(0, "18.9 %"), (ladder::TO_PAPER, "30.0 %"), (last, "41.0 %")] {
        let page = app.page(&format!("/tour?step={step}")).await;
        assert!(page.says(&format!("published is {reported}")), "{step}: {}", page.words());
    }
}

#[tokio::test]
async fn a_step_that_there_is_not_says_which_there_are() {
    let app = TestApp::new();
    for (query, status) in [
        ("step=99", StatusCode::NOT_FOUND),
        ("step=-1", StatusCode::BAD_REQUEST),
        ("step=x%3Cscript%3E", StatusCode::BAD_REQUEST),
        ("nope=1", StatusCode::BAD_REQUEST),
    ] {
        let answer = app.get(&format!("/tour?{query}")).await;
        assert_eq!(answer.status, status, "{query}");
        let said = answer.page().text("[role=alert]");
        assert!(said.ends_with("the tour has steps 0 to 11."), "{query}: {said}");
    }
}

#[tokio::test]
async fn the_palette_knows_every_knob_metric_and_preset_that_can_be_used() {
    let answer = TestApp::new().get("/palette.json").await;
    assert_eq!(answer.status, StatusCode::OK);
    let known = answer.json();
    let names = |key: &str| {
        let entries = known[key].as_array().unwrap();
        entries.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let offered = KnobId::of_training().filter(|id| id.knob().not_offered.is_none());
    assert_eq!(names("knobs"), offered.map(|id| id.id().to_owned()).collect::<Vec<_>>());
    assert_eq!(
        names("metrics").len(),
        model::metric::MetricId::of(model::metric::Regime::Training).count()
    );
    assert!(names("presets").contains(&"pangu-ultra-moe-6k".to_owned()));
    let tp = known["knobs"].as_array().unwrap().iter().find(|it| it["aliases"][0] == "tp");
    assert_eq!(tp.unwrap()["id"], "parallel.tensor_model_parallel_size");
    let values = known["values"].as_array().unwrap();
    let h100 = values.iter().find(|it| it["value"] == "h100-sxm-80gb").unwrap();
    assert_eq!(h100["title"], "H100 SXM 80 GB");
    assert_eq!(h100["knob"], "cluster.accelerator");
    let has = |target: &str, word: &str| {
        known["words"][target].as_array().unwrap().iter().any(|it| it == word)
    };
    assert!(has("view:sensitivity", "tornado") && has("view:step", "waterfall"));
    let chapters = known["chapters"].as_array().unwrap();
    assert!(chapters.iter().any(|it| it["address"] == "/guide/views#roofline"));
}

#[tokio::test]
async fn every_page_has_the_four_places_and_marks_its_own() {
    let app = TestApp::new();
    for (address, place, page) in [
        ("/", "/?v=1", None),
        ("/?bad", "/", None),
        ("/presets", "/", None),
        ("/find", "/find", Some("/find")),
        ("/sweep", "/find", Some("/sweep")),
        ("/serving", "/find", Some("/serving")),
        ("/compare", "/compare", Some("/compare")),
        ("/r/new", "/compare", Some("/r/new")),
        ("/tour", "/learn", Some("/tour")),
        ("/ladder", "/learn", Some("/ladder")),
        ("/trust", "/learn", Some("/trust")),
        ("/schedule", "/learn", Some("/schedule")),
        ("/guide/views", "/learn", Some("/guide")),
        ("/about", "/learn", Some("/about")),
    ] {
        let shown = app.get_with(address, "accept", "text/html").await.page();
        assert_eq!(shown.count(".places a"), 4, "{address}");
        let marked = shown.attribute(".places a[aria-current]", "href");
        assert!(marked.starts_with(place), "{address}: {marked}");
        let marked = shown.attributes(".pages a[aria-current=page]", "href");
        assert_eq!(marked, Vec::from_iter(page), "{address}");
    }
    let settings = app.page("/settings").await;
    assert!(!settings.has(".places a[aria-current]"));
}

#[tokio::test]
async fn a_place_s_own_name_leads_to_its_first_page() {
    let app = TestApp::new();
    for (typed, led) in [
        ("/search", "/find"),
        ("/search?v=1&preset=glm-4.5", "/find?v=1&preset=glm-4.5"),
        ("/review", "/compare"),
        ("/explore?v=1", "/?v=1"),
    ] {
        let answer = app.get(typed).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{typed}");
        assert_eq!(answer.header("location"), led);
    }
}

#[tokio::test]
async fn the_page_on_the_numbers_leads_to_every_source_and_to_what_rests_on_it() {
    let app = TestApp::new();
    let page = app.page("/about").await;
    assert_eq!(page.texts(".about-facts dd")[0], model::MODEL_VERSION);
    let linked =
        page.attributes("main a[href]", "href").into_iter().zip(page.texts("main a[href]"));
    let linked: Vec<(String, String)> = linked.collect();
    for source in model::ground::source::ALL.iter().filter(|source| !source.url.is_empty()) {
        let is_it = |(to, text): &&(String, String)| to == source.url && text == source.title;
        assert_eq!(linked.iter().filter(is_it).count(), 1, "{}", source.title);
    }
    for id in KnobId::ALL {
        let address = format!("/guide/knobs#{}", id.knob().name);
        assert_eq!(linked.iter().filter(|(to, _)| *to == address).count(), 1, "{address}");
    }
    let chinese = app.get_with("/about", "cookie", "language=zh").await.page();
    assert_eq!(chinese.text("h1"), "关于这些数字");
    assert!(chinese.texts("th").contains(&"以它为依据的内容".to_owned()));
    assert!(chinese.texts("a").contains(&"微批次大小（MBS）".to_owned()));
}

#[tokio::test]
async fn the_page_to_learn_from_has_the_run_the_errors_every_schedule_and_every_chapter() {
    let page = TestApp::new().page("/learn").await;
    let [run, errors, schedules, guide] =
        ["#ladder", "#trust", "#schedules", "#guide"].map(|part| page.part(part));
    assert!(run.says("The model predicts ") && errors.says("Half of "), "{}", page.words());
    let methods = <model::ground::choice::Method as model::ground::choice::Choice>::ALL;
    let names = methods.iter().map(|it| present::page::schedule::methods::about(*it).name);
    assert_eq!(schedules.texts("th a"), names.collect::<Vec<_>>());
    for chapter in ["/guide/start", "/guide/trust", "/guide/views"] {
        assert!(guide.has_link(chapter), "{chapter}");
    }
}
