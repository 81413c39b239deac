//! `GET /presets`, `/tour`, `/about` and `/palette.json`: pages that only the server writes, and
//! what the palette finds by name.

use axum::http::StatusCode;
use model::catalogue::preset::Preset;
use model::design::{KnobId, ladder, link};

use crate::TestApp;

#[tokio::test]
async fn the_gallery_has_every_preset_with_story_and_numbers() {
    let answer = TestApp::new().get("/presets").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    for preset in Preset::all() {
        let card = format!("data-preset=\"{}\"", preset.id);
        assert!(answer.text().contains(&card), "{}", preset.id);
        let opens = format!("href=\"/?v=1&amp;preset={}\"", preset.id);
        assert_eq!(answer.text().contains(&opens), preset.refused.is_none(), "{}", preset.id);
    }
    for preset in Preset::served() {
        let opens = format!("href=\"/serving?v=1&amp;preset={}\"", preset.id);
        assert!(answer.text().contains(&opens), "{}", preset.id);
    }
    for part in ["719.1 B parameters", "6,144 ×", "MFU 30.0 % (estimate", "habits.0123.js"] {
        assert!(answer.text().contains(part), "{part}");
    }
    assert!(!answer.text().contains(" style=\""), "inline style is against the policy");
}

#[tokio::test]
async fn the_gallery_is_searched_without_a_script() {
    let app = TestApp::new();
    let shown = |text: &str| {
        let cards = text.matches("<article").count();
        cards - text.matches("\" hidden><h3").count()
    };
    let all = app.get("/presets").await;
    let some = app.get("/presets?q=Pangu+ultra").await;
    let none = app.get("/presets?q=%22%3E%3Cscript%3E").await;
    assert_eq!(shown(all.text()), Preset::all().chain(Preset::served()).count());
    assert!((1..shown(all.text())).contains(&shown(some.text())), "{}", shown(some.text()));
    assert_eq!(shown(none.text()), 0);
    assert!(none.text().contains("0 presets") && !none.text().contains("<script>"));
    app.get("/presets?nope=1").await.problem(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_tour_goes_through_every_design_of_the_ladder() {
    let app = TestApp::new();
    let designs = ladder::designs().unwrap();
    for (step, design) in designs.iter().enumerate() {
        let answer = app.get(&format!("/tour?step={step}")).await;
        assert_eq!(answer.status, StatusCode::OK);
        let opens = link::encode(design).replace('&', "&amp;");
        assert!(answer.text().contains(&format!("href=\"/?{opens}\"")), "{step}");
        let turns = [("rel=\"prev\"", step > 0), ("rel=\"next\"", step + 1 < designs.len())];
        for (turn, there) in turns {
            assert_eq!(answer.text().contains(turn), there, "{step}: {turn}");
        }
    }
    let first = app.get("/tour").await;
    assert!(first.text().contains("published is 18.9 %"));
    for (step, reported) in [(ladder::TO_PAPER, "30.0 %"), (designs.len() - 1, "41.0 %")] {
        let answer = app.get(&format!("/tour?step={step}")).await;
        assert!(answer.text().contains(&format!("published is {reported}")), "{step}");
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
        assert!(answer.text().contains("the tour has steps 0 to 11"), "{query}");
        assert!(!answer.text().contains("<script>"));
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

/// Links of the places, and of the pages of the one at hand.
fn links<'a>(html: &'a str, nav: &str) -> Vec<&'a str> {
    let Some((_, rest)) = html.split_once(&format!("class=\"{nav}\"")) else { return vec![] };
    let nav = rest.split("</nav>").next().unwrap();
    nav.split("<a ").skip(1).collect()
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
        let answer = app.get_with(address, "accept", "text/html").await;
        let places = links(answer.text(), "places");
        assert_eq!(places.len(), 4, "{address}");
        let marked: Vec<_> = places.iter().filter(|it| it.contains("aria-current")).collect();
        assert_eq!(marked.len(), 1, "{address}");
        assert!(marked[0].contains(&format!("href=\"{place}")), "{address}: {}", marked[0]);
        let pages = links(answer.text(), "pages");
        let marked: Vec<_> =
            pages.iter().filter(|it| it.contains("aria-current=\"page\"")).collect();
        assert_eq!(marked.len(), usize::from(page.is_some()), "{address}");
        if let Some(page) = page {
            assert!(marked[0].starts_with(&format!("href=\"{page}\"")), "{address}: {}", marked[0]);
        }
    }
    let settings = app.get("/settings").await;
    assert!(links(settings.text(), "places").iter().all(|it| !it.contains("aria-current")));
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
    let answer = app.get("/about").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.text().contains(&format!("<dd>{}</dd>", model::MODEL_VERSION)));
    for source in model::ground::source::ALL.iter().filter(|source| !source.url.is_empty()) {
        let link = format!("<a href=\"{}\">{}</a>", source.url, source.title);
        assert_eq!(answer.text().matches(&link).count(), 1, "{}", source.title);
    }
    for id in KnobId::ALL {
        let link = format!("href=\"/guide/knobs#{}\"", id.knob().name);
        assert_eq!(answer.text().matches(&link).count(), 1, "{link}");
    }
    let chinese = app.get_with("/about", "cookie", "language=zh").await;
    for words in ["<h1>关于这些数字</h1>", ">以它为依据的内容<", ">微批次大小（MBS）<"]
    {
        assert!(chinese.text().contains(words), "{words}");
    }
}

#[tokio::test]
async fn the_page_to_learn_from_has_the_run_the_errors_every_schedule_and_every_chapter() {
    let page = TestApp::new().get("/learn").await;
    assert_eq!(page.status, StatusCode::OK);
    let text = page.text();
    for part in ["id=\"ladder\"", "id=\"trust\"", "id=\"schedules\"", "id=\"guide\""] {
        assert_eq!(text.matches(part).count(), 1, "{part}");
    }
    assert!(text.contains("The model predicts ") && text.contains("Half of "), "{text}");
    for method in <model::ground::choice::Method as model::ground::choice::Choice>::ALL {
        let name = present::page::schedule::methods::about(*method).name;
        assert!(text.contains(&format!(">{name}</a>")), "{name}");
    }
    for chapter in ["/guide/start", "/guide/trust", "/guide/views"] {
        assert!(text.contains(&format!("href=\"{chapter}\"")), "{chapter}");
    }
}
