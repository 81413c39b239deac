//! The guide as pages of the site: every chapter, link and anchor of it answers.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use model::design::KnobId;
use model::metric::{MetricId, Regime};
use server::site::guide::CHAPTERS;
use server::{AppState, Site, router};
use tower::ServiceExt;

struct Page {
    status: StatusCode,
    kind: String,
    policy: String,
    html: String,
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
        html: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

async fn get(address: &str) -> Page {
    get_with(address, "").await
}

/// Values of an attribute, unescaped.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = String> + 'a {
    let start = format!(" {name}=\"");
    let parts: Vec<&str> = html.split(start.as_str()).skip(1).collect();
    parts.into_iter().map(|part| part.split('"').next().unwrap().replace("&amp;", "&"))
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
        let main = format!("class=\"reading\" lang=\"{lang}\" translate=\"no\">");
        assert!(page.html.contains(&main), "{} lacks {main}", chapter.address());
        assert_eq!(page.kind, "text/html; charset=utf-8");
        assert!(!page.html.contains("<script") && !page.html.contains(" style=\""));
        assert_eq!(page.html.matches("<h1 ").count(), 1, "{}", chapter.address());
        assert!(page.policy.contains("default-src 'none'; script-src 'self';"));
        assert!(!page.policy.contains("unsafe"), "{}", page.policy);
        for other in CHAPTERS {
            let link = format!("href=\"{}\"", other.address());
            assert!(page.html.contains(&link), "{} lacks {link}", chapter.address());
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
        let ids: BTreeSet<String> = attributes(html, "id").collect();
        assert_eq!(ids.len(), attributes(html, "id").count(), "{address} has an id twice");
        for link in attributes(html, "href").chain(attributes(html, "src")) {
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
                    let id = format!(" id=\"{anchor}\"");
                    assert!(html.contains(&id), "{address}: {link}");
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
    assert!(english.contains("hreflang=\"zh-CN\"") && english.contains(">On this page<"));
    let link = "href=\"/guide/find?language=zh\"";
    assert!(english.contains(link), "{english}");
    let other = get_with("/guide/find?language=zh", "language=en").await.html;
    assert!(other.contains("<html lang=\"en\"") && other.contains("本页内容"));
    let chinese = get_with("/guide/find", "language=zh").await.html;
    assert!(chinese.contains("href=\"/guide/find?language=en\""));
    assert!(chinese.contains("· 指南 · Moescape</title>"), "{chinese}");
    // What is generated is said, too, and its anchors are those of the ids.
    let knobs = get_with("/guide/knobs", "language=zh").await.html;
    assert!(knobs.contains("<h3 id=\"num_layers\">num_layers") && knobs.contains("取值："));
    assert!(!get_with("/guide/cli", "language=zh").await.html.contains("guide-other"));
}

#[tokio::test]
async fn every_metric_and_knob_has_its_place() {
    let metrics = get("/guide/metrics").await.html;
    for id in MetricId::of(Regime::Training) {
        let anchor = format!("<h3 id=\"{}\">", id.metric().name);
        assert!(metrics.contains(&anchor), "{anchor}");
    }
    let knobs = get("/guide/knobs").await.html;
    for id in KnobId::ALL {
        let anchor = format!("<h3 id=\"{}\">", id.knob().name);
        assert!(knobs.contains(&anchor), "{anchor}");
    }
}

#[tokio::test]
async fn the_bar_leads_to_the_pages_that_the_others_lead_to() {
    let links = |html: &str| -> Vec<String> {
        let (_, rest) = html.split_once("class=\"places\"").unwrap();
        let (bar, _) = rest.split_once("</header>").unwrap();
        attributes(bar, "href").collect()
    };
    let guide = links(&get("/guide").await.html);
    assert_eq!(guide, links(&get("/ladder").await.html));
    assert!(guide.contains(&"/guide".to_owned()));
}

#[tokio::test]
async fn the_theme_follows_the_cookie_and_nothing_else() {
    assert!(
        get_with("/guide", "theme=dark")
            .await
            .html
            .contains("<html lang=\"en\" data-theme=\"dark\">")
    );
    assert!(get_with("/guide", "theme=x\"y").await.html.contains("<html lang=\"en\">"));
}

#[tokio::test]
async fn what_is_no_chapter_is_not_found() {
    for address in ["/guide/nothing", "/guide/", "/guide/..", "/guide/images/nothing.png"] {
        let page = get(address).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{address}");
        assert!(page.html.contains("There is nothing at this address"), "{address}");
    }
}
