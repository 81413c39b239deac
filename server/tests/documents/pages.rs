//! The guide as pages of the site: every chapter, link and anchor of it answers.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use model::design::KnobId;
use model::metric::{MetricId, Regime};
use server::site::guide::CHAPTERS;
use server::{AppState, Site, router};
use testing::page::Page as Html;
use tower::ServiceExt;

struct Page {
    status: StatusCode,
    kind: String,
    policy: String,
    html: Html,
}

async fn get_with(address: &str, cookie: &str) -> Page {
    let data = tempfile::tempdir().unwrap();
    let state = AppState::new(Site::none(), data.path().to_owned());
    let request = Request::get(address).header("accept", "text/html").header("cookie", cookie);
    let response = router(state).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let header = |name: &str| {
        parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let bytes = body.collect().await.unwrap().to_bytes();
    Page {
        status: parts.status,
        kind: header("content-type"),
        policy: header("content-security-policy"),
        html: Html::new(&String::from_utf8_lossy(&bytes)),
    }
}

async fn get(address: &str) -> Page {
    get_with(address, "").await
}

/// Cookies that ask for each language.
const LANGUAGES: [&str; 2] = ["language=en", "language=zh"];

#[tokio::test]
async fn every_chapter_reads_without_a_script() {
    for (chapter, cookie) in CHAPTERS.iter().flat_map(|it| LANGUAGES.map(|cookie| (it, cookie))) {
        let page = get_with(&chapter.address(), cookie).await;
        assert_eq!(page.status, StatusCode::OK, "{}", chapter.address());
        let is_chinese = cookie == "language=zh" && chapter.chinese.is_some();
        let lang = if is_chinese { "zh-CN" } else { "en" };
        let main = format!(".reading[lang={lang}][translate=no]");
        assert_eq!(page.html.count(&main), 1, "{} lacks {main}", chapter.address());
        assert_eq!(page.kind, "text/html; charset=utf-8");
        assert!(!page.html.has("script") && !page.html.has("[style]"));
        assert_eq!(page.html.count("h1"), 1, "{}", chapter.address());
        assert!(page.policy.contains("default-src 'none'; script-src 'self';"));
        assert!(!page.policy.contains("unsafe"), "{}", page.policy);
        for other in CHAPTERS {
            assert!(page.html.has_link(&other.address()), "{} lacks {other:?}", chapter.address());
        }
    }
}

#[tokio::test]
async fn the_first_page_names_every_chapter() {
    let first = CHAPTERS[0];
    for chapter in &CHAPTERS[1..] {
        let path = chapter.english.file.strip_prefix("docs/guide/");
        let path = path.map_or_else(|| chapter.english.file.replace("docs/", "../"), str::to_owned);
        assert!(first.english.markdown.contains(&format!("]({path})")), "{path}");
    }
}

#[tokio::test]
async fn every_link_and_anchor_of_the_guide_is_there() {
    for cookie in LANGUAGES {
        check_links(cookie).await;
    }
}

async fn check_links(cookie: &str) {
    let mut pages = BTreeMap::new();
    for chapter in CHAPTERS {
        pages.insert(chapter.address(), get_with(&chapter.address(), cookie).await.html);
    }
    let mut others = BTreeSet::new();
    let mut anchors = 0;
    for (address, html) in &pages {
        assert_eq!(html.wrong_ids(), [""; 0], "{address}");
        let links = ["href", "src"].map(|name| html.attributes(&format!("[{name}]"), name));
        for link in links.concat() {
            // That a design opens is tested where its numbers are.
            if link.contains("://") || link == "/favicon.svg" || link.starts_with("/?") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { address.as_str() } else { path };
            match pages.get(target) {
                // The skip link leads to the text itself.
                Some(html) if !anchor.is_empty() => {
                    anchors += 1;
                    assert!(html.has(&format!("[id='{anchor}']")), "{address}: {link}");
                }
                Some(_) => {}
                None => drop(others.insert(link)),
            }
        }
    }
    assert!(anchors > 200, "{anchors}");
    assert!(others.len() > 6, "{others:?}");
    for address in others {
        assert_eq!(get_with(&address, cookie).await.status, StatusCode::OK, "{address}");
    }
}

#[tokio::test]
async fn a_chapter_can_be_read_in_the_other_language() {
    let english = get_with("/guide/find", "language=en").await.html;
    assert!(english.has("a[hreflang=zh-CN][href='/guide/find?language=zh']"));
    assert!(english.says("On this page"), "{}", english.words());
    let other = get_with("/guide/find?language=zh", "language=en").await.html;
    assert_eq!(other.attribute("html", "lang"), "en");
    assert!(other.says("本页内容"), "{}", other.words());
    let chinese = get_with("/guide/find", "language=zh").await.html;
    assert!(chinese.has_link("/guide/find?language=en"));
    let title = chinese.text("head title");
    assert!(title.ends_with("· 指南 · Moescape"), "{title}");
    // What is generated is said, too, and its anchors are those of the ids.
    let knobs = get_with("/guide/knobs", "language=zh").await.html;
    assert!(knobs.text("h3#num_layers").starts_with("num_layers") && knobs.says("取值："));
    assert!(!get_with("/guide/cli", "language=zh").await.html.has(".guide-other"));
}

#[tokio::test]
async fn every_metric_and_knob_has_its_place() {
    let metrics = get("/guide/metrics").await.html;
    for id in MetricId::of(Regime::Training) {
        assert_eq!(metrics.count(&format!("h3#{}", id.metric().name)), 1, "{id:?}");
    }
    let knobs = get("/guide/knobs").await.html;
    for id in KnobId::ALL {
        assert_eq!(knobs.count(&format!("h3#{}", id.knob().name)), 1, "{id:?}");
    }
}

#[tokio::test]
async fn the_bar_leads_to_the_pages_that_the_others_lead_to() {
    let links = |page: Page| page.html.attributes("header nav a, .actions a", "href");
    let guide = links(get("/guide").await);
    assert_eq!(guide, links(get("/ladder").await));
    assert!(guide.contains(&"/guide".to_owned()));
}

#[tokio::test]
async fn the_theme_follows_the_cookie_and_nothing_else() {
    let dark = get_with("/guide", "theme=dark").await.html;
    assert_eq!(dark.attribute("html", "data-theme"), "dark");
    assert!(!get_with("/guide", "theme=x\"y").await.html.has("[data-theme]"));
}

#[tokio::test]
async fn what_is_no_chapter_is_not_found() {
    for address in ["/guide/nothing", "/guide/", "/guide/..", "/guide/images/nothing.png"] {
        let page = get(address).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{address}");
        assert_eq!(page.html.text("h1"), "There is nothing at this address", "{address}");
    }
}
