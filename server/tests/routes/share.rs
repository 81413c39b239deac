//! Links that are passed on: stored designs, previews, cards, panels in other pages, the sheet.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::json;
use server::EmbedFrom;
use testing::page::Page;

use crate::api_v1_designs::stored;
use crate::{Answer, TestApp};

const QUERY: &str = "v=1&preset=pangu-ultra-moe-6k&training.micro_batch_size=4";

#[tokio::test]
async fn a_short_link_shows_what_the_long_one_does() {
    let app = TestApp::new();
    let (id, _) = stored(&app, json!({"link": format!("?{QUERY}")})).await;
    let [short, long] = [format!("/d/{id}"), format!("/?{QUERY}")];
    let (short, long) = (app.page(&short).await, app.page(&long).await);
    assert!(short.count(".number") >= 6);
    assert_eq!(short.texts(".number"), long.texts(".number"));
    // The browser reads the design from the document.
    assert_eq!(short.attribute("meta[name=stored-link]", "content"), QUERY);
    assert!(!long.has("meta[name=stored-link]"));
    assert!(short.says("Stored on") && !long.says("Stored on"));
}

#[tokio::test]
async fn a_changed_design_is_called_what_it_is_wherever_it_is_passed_on() {
    const CHANGED: &str = "v=1&preset=pangu-ultra-moe-6k&cluster.num_devices=4096\
                           &parallel.tensor_model_parallel_size=4\
                           &parallel.pipeline_model_parallel_size=8\
                           &parallel.virtual_pipeline_model_parallel_size=4\
                           &training.global_batch_size=4096";
    const NAME: &str = "Pangu Ultra MoE · 4,096 x 910B3 · TP4 PP8 VPP4 EP32";
    let app = TestApp::new();
    let (id, _) = stored(&app, json!({"link": format!("?{CHANGED}"), "name": "Ours"})).await;
    let short = app.page(&format!("/d/{id}")).await;
    assert_eq!(short.text("head title"), format!("{NAME} · Moescape"));
    for address in ["/", "/embed"] {
        let title = app.page(&format!("{address}?{CHANGED}")).await.text("h1");
        assert!(title.starts_with(NAME), "{address}: {title}");
    }
    let sheet = app.page(&format!("/share?{CHANGED}")).await;
    let panel = Page::new(&sheet.attribute("#share-embed", "value"));
    assert_eq!(panel.attribute("iframe", "title"), NAME);
    let review = app.page(&format!("/r/new?{CHANGED}")).await;
    assert_eq!(review.attribute("form #name", "value"), NAME);
    let file = app.get(&format!("/export/design.toml?{CHANGED}")).await;
    let name = "moescape-pangu-ultra-moe-4096-x-910b3-tp4-pp8-vpp4-ep32-";
    let disposition = file.header("content-disposition");
    assert!(disposition.starts_with(&format!("attachment; filename=\"{name}")), "{disposition}");
    let compared = app.page(&format!("/compare?a=v%3D1&b={}", CHANGED.replace('&', "%26"))).await;
    assert_eq!(compared.text("#design-B"), format!("B {NAME}"));
}

#[tokio::test]
async fn a_long_link_stores_nothing() {
    let app = TestApp::new();
    for path in ["/", "/share", "/card.png", "/embed", "/sweep"] {
        let answer = app.get(&format!("{path}?{QUERY}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(answer.headers.get("set-cookie").is_none(), "{path}");
    }
    assert!(!app.has_store());
    let (_, cookie) = stored(&app, json!({"link": "?mbs=1"})).await;
    for path in ["/", "/share", "/card.png", "/embed"] {
        app.get_with(&format!("{path}?{QUERY}"), "cookie", &cookie).await;
    }
    let store = rusqlite::Connection::open(app.data.path().join("moescape.sqlite")).unwrap();
    let count = |table: &str| -> u32 {
        let select = format!("SELECT count(*) FROM {table}");
        store.query_row(&select, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("design"), count("design_entry")), (1, 1));
}

#[tokio::test]
async fn a_link_to_nothing_says_so() {
    let app = TestApp::new();
    let page = app.get_with("/d/0123456789abcdef", "accept", "text/html").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    assert_eq!(page.page().text("h1"), "There is no design at this link");
    app.get("/d/0123456789abcdef").await.problem(StatusCode::NOT_FOUND);
    app.get("/d/0123456789abcdef/card.png").await.problem(StatusCode::NOT_FOUND);
    assert_eq!(app.get("/embed/d/0123456789abcdef").await.status, StatusCode::NOT_FOUND);
    let request = Request::post("/d/0123456789abcdef/recompute").body(Body::empty()).unwrap();
    app.send(request).await.problem(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_older_model_is_told_and_computed_anew_on_wish() {
    let app = TestApp::new();
    let (id, cookie) = stored(&app, json!({"link": format!("?{QUERY}"), "name": "Old"})).await;
    let store = rusqlite::Connection::open(app.data.path().join("moescape.sqlite")).unwrap();
    store.pragma_update(None, "foreign_keys", false).unwrap();
    let old = "0ldVersion012345";
    store
        .execute_batch(&format!(
            "UPDATE design SET id = '{old}', model_version = '0.0.1', \
             result = json_set(result, '$.mfu', 0.123); \
             UPDATE design_entry SET design = '{old}';"
        ))
        .unwrap();
    let page = app.get_with(&format!("/d/{old}"), "cookie", &cookie).await.page();
    assert!(page.says("Computed with model 0.0.1, now "), "{}", page.words());
    assert_eq!(page.texts(".then")[0], "12.3 %");
    assert!(page.says("Old"), "{}", page.words());
    let kept = app.page(&format!("/d/{old}?numbers=stored")).await;
    assert!(kept.says("Stored numbers, model 0.0.1"), "{}", kept.words());
    let request = Request::post(format!("/d/{old}/recompute")).header("cookie", &cookie);
    let answer = app.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let address = answer.header("location").to_owned();
    assert!(address.starts_with(&format!("/d/{id}?note=")), "{address}");
    let new = app.page(&address).await;
    assert!(!new.says("Computed with model") && new.says("Old"), "{}", new.words());
    assert_eq!(app.get(&format!("/d/{old}")).await.status, StatusCode::OK, "the old one stays");
}

#[tokio::test]
async fn previews_have_the_whole_address_of_a_picture() {
    let app = TestApp::new();
    let pictures = |answer: Answer| -> Vec<String> {
        let page = answer.page();
        let kinds = ["meta[property='og:image']", "meta[name='twitter:image']"];
        kinds.iter().flat_map(|kind| page.attributes(kind, "content")).collect()
    };
    let page = app.get_with(&format!("/?{QUERY}"), "host", "moe.example:8080").await;
    let picture = format!("http://moe.example:8080/card.png?{QUERY}");
    assert_eq!(pictures(page), [picture.as_str(); 2]);
    let (id, _) = stored(&app, json!({"link": format!("?{QUERY}")})).await;
    let page = app.get_with(&format!("/d/{id}"), "host", "moe.example").await;
    assert_eq!(pictures(page), [format!("http://moe.example/d/{id}/card.png").as_str(); 2]);
    let state = app.state().at("https://public.example".parse().unwrap());
    let state = state.named(["inner".parse().unwrap()]);
    let request = Request::get("/").header("host", "inner").body(Body::empty()).unwrap();
    let answer = crate::send(state, request).await;
    assert!(!answer.text().contains("inner/"));
    for picture in pictures(answer) {
        assert!(picture.starts_with("https://public.example/card.png?v=1&preset="), "{picture}");
    }
}

#[tokio::test]
async fn no_header_gets_into_a_preview() {
    let app = TestApp::new();
    for host in ["evil\"><script>alert(1)</script>", "a b", "user@evil.example"] {
        let answer = app.get_with("/", "host", host).await;
        assert!(!answer.text().contains("alert(1)"), "{host}");
        assert!(!Page::new(answer.text()).has("meta[property='og:image']"), "{host}");
    }
    let request = Request::get("/").header("host", "a.example");
    let request = request.header("x-forwarded-host", "evil.example").body(Body::empty()).unwrap();
    assert!(!app.send(request).await.text().contains("evil.example"));
}

#[tokio::test]
async fn a_card_is_a_picture_that_may_be_kept() {
    let app = TestApp::new();
    let (id, _) = stored(&app, json!({"link": format!("?{QUERY}")})).await;
    let card = app.get(&format!("/card.png?{QUERY}")).await;
    assert_eq!((card.status, card.header("content-type")), (StatusCode::OK, "image/png"));
    assert_eq!(&card.bytes[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(card.bytes[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (1_200, 630));
    let of_stored = app.get(&format!("/d/{id}/card.png")).await;
    assert!(of_stored.bytes == card.bytes && of_stored.header("etag") == card.header("etag"));
    let path = format!("/d/{id}/card.png");
    let again = app.get_with(&path, "if-none-match", card.header("etag")).await;
    assert_eq!((again.status, again.bytes.len()), (StatusCode::NOT_MODIFIED, 0));
    let other = app.get("/card.png?mbs=1").await;
    assert_ne!(other.header("etag"), card.header("etag"));
    app.get("/card.png?nonsense=1").await.problem(StatusCode::BAD_REQUEST);
    assert_eq!(app.get("/card.png?pp=12").await.status, StatusCode::OK);
}

#[tokio::test]
async fn only_panels_may_be_framed_and_only_by_whom_the_server_lets() {
    let app = TestApp::new();
    let (id, _) = stored(&app, json!({"link": format!("?{QUERY}")})).await;
    let policy = |answer: &Answer| answer.header("content-security-policy").to_owned();
    let has_rule = |answer: &Answer, rule: &str| policy(answer).split("; ").any(|it| it == rule);
    for panel in ["headline", "memory", "step", "communication", "bubble", "balance", "timeline"] {
        let answer = app.get(&format!("/embed/d/{id}?panel={panel}&theme=dark")).await;
        assert_eq!(answer.status, StatusCode::OK, "{panel}");
        assert!(has_rule(&answer, "default-src 'none'"), "{panel}");
        assert!(has_rule(&answer, "frame-ancestors *"), "{panel}");
        let page = answer.page();
        assert_eq!(page.attribute("html", "data-theme"), "dark", "{panel}");
        assert_eq!(page.attribute("script", "src"), "/embed.js", "{panel}");
        assert!(page.has_link(&format!("/d/{id}")), "{panel}");
    }
    for path in [format!("/?{QUERY}"), format!("/d/{id}"), format!("/share?{QUERY}")] {
        assert!(has_rule(&app.get(&path).await, "frame-ancestors 'none'"), "{path}");
    }
    let state = app.state();
    let sites: EmbedFrom = "https://wiki.example".parse().unwrap();
    let request = Request::get(format!("/embed?panel=memory&{QUERY}")).body(Body::empty()).unwrap();
    let answer = crate::send(state.embedded_from(sites), request).await;
    assert!(policy(&answer).ends_with("frame-ancestors 'self' https://wiki.example"));
    for bad in ["panel=x", "theme=x", "nonsense=1"] {
        assert_eq!(
            app.get(&format!("/embed?{bad}")).await.status,
            StatusCode::BAD_REQUEST,
            "{bad}"
        );
    }
}

async fn act(app: &TestApp, cookie: &str, form: &str) -> Answer {
    let request = Request::post("/share").header("cookie", cookie);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    app.send(request.body(form.to_owned().into()).unwrap()).await
}

#[tokio::test]
async fn the_sheet_stores_and_deletes_without_a_script() {
    let app = TestApp::new();
    let link = QUERY.replace('&', "%26").replace('=', "%3D");
    let form = format!("action=store&link={link}&name=%3Cb%3E&note=one%0D%0Atwo");
    let answer = act(&app, "", &form).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), format!("/share?{QUERY}"));
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    let sheet = app.get_with(&format!("/share?{QUERY}"), "cookie", &cookie).await.page();
    assert_eq!(sheet.attribute("input[name=name]", "value"), "<b>");
    assert_eq!(sheet.text("textarea[name=note]"), "one two");
    assert!(!sheet.has("b"));
    let short = sheet.attributes("input[readonly]", "value");
    let id = short.iter().find_map(|link| link.split_once("/d/")).unwrap().1[..16].to_owned();
    let others = app.page(&format!("/share?{QUERY}")).await;
    assert_eq!(others.text("button[value=store]"), "Store and make a short link");
    let form = format!("action=delete&link={link}&id={id}");
    let other = act(&app, "owner=0123456789abcdef0123456789abcdef", &form).await;
    assert_eq!(other.status, StatusCode::FORBIDDEN);
    assert!(other.page().has("[role=alert]"));
    assert_eq!(act(&app, &cookie, &form).await.status, StatusCode::SEE_OTHER);
    assert_eq!(app.get(&format!("/d/{id}")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_was_typed_stays_when_it_is_refused() {
    let app = TestApp::new();
    let link = QUERY.replace('&', "%26").replace('=', "%3D");
    let form = format!("action=store&link={link}&name={}&note=kept", "x".repeat(121));
    let answer = act(&app, "", &form).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let page = answer.page();
    assert!(page.text("[role=alert]").contains("at most 120"), "{}", page.words());
    assert_eq!(page.text("textarea[name=note]"), "kept");
    assert!(answer.headers.get("set-cookie").is_none());
    assert!(!app.has_store());
}
