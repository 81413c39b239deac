//! The routes, without a socket: one file for each, named after its address.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

#[path = "routes/api_v1_designs.rs"]
mod api_v1_designs;
#[path = "routes/api_v1_find.rs"]
mod api_v1_find;
#[path = "routes/api_v1_import.rs"]
mod api_v1_import;
#[path = "routes/api_v1_predict.rs"]
mod api_v1_predict;
#[path = "routes/api_v1_registry.rs"]
mod api_v1_registry;
#[path = "routes/api_v1_validation.rs"]
mod api_v1_validation;
#[path = "routes/compare.rs"]
mod compare;
#[path = "routes/downloads.rs"]
mod downloads;
#[path = "routes/export.rs"]
mod export;
#[path = "routes/fallback.rs"]
mod fallback;
#[path = "routes/find_page.rs"]
mod find_page;
#[path = "routes/health.rs"]
mod health;
#[path = "routes/import_page.rs"]
mod import_page;
#[path = "routes/ladder.rs"]
mod ladder;
#[path = "routes/openapi.rs"]
mod openapi;
#[path = "routes/page.rs"]
mod page;
#[path = "routes/pkg.rs"]
mod pkg;
#[path = "routes/reading.rs"]
mod reading;
#[path = "routes/review.rs"]
mod review;
#[path = "routes/schedule.rs"]
mod schedule;
#[path = "routes/settings.rs"]
mod settings;
#[path = "routes/share.rs"]
mod share;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use server::{AppState, Site, router};
use tempfile::TempDir;
use tower::ServiceExt;

/// A server with a data directory of its own and a small site.
struct TestApp {
    data: TempDir,
    site: TempDir,
}

/// An answer, read to its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl TestApp {
    fn new() -> Self {
        let site = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| std::fs::write(site.path().join(path), text).unwrap();
        std::fs::create_dir(site.path().join("pkg")).unwrap();
        write("pkg/app.0123.js", "js");
        write("pkg/app.0123.js.br", "js in brotli");
        write("pkg/app_bg.4567.wasm", "wasm");
        write("pkg/app.89ab.css", "css");
        write("pkg/pages.0123.js", "js");
        write("pkg/worker.0123.js", "js");
        write("pkg/share.0123.js", "js");
        write("pkg/import.0123.js", "js");
        write("pkg/save.0123.js", "js");
        write("pkg/find.0123.js", "js");
        write("pkg/finder.0123.js", "js");
        write("pkg/habits.0123.js", "js");
        write("pkg/pages_bg.4567.wasm", "wasm");
        write("favicon.svg", "<svg/>");
        write(
            "site.json",
            r#"{"js":"/pkg/app.0123.js","wasm":"/pkg/app_bg.4567.wasm",
                "sweeps_js":"/pkg/pages.0123.js","sweeps_wasm":"/pkg/pages_bg.4567.wasm",
                "reviews_js":"/pkg/pages.0123.js","reviews_wasm":"/pkg/pages_bg.4567.wasm",
                "pages_js":"/pkg/pages.0123.js","pages_wasm":"/pkg/pages_bg.4567.wasm",
                "worker":"/pkg/worker.0123.js","share":"/pkg/share.0123.js",
                "import":"/pkg/import.0123.js","save":"/pkg/save.0123.js",
                "find":"/pkg/find.0123.js","finder":"/pkg/finder.0123.js",
                "habits":"/pkg/habits.0123.js",
                "css":"/pkg/app.89ab.css"}"#,
        );
        Self { data: tempfile::tempdir().unwrap(), site }
    }

    /// Has the server made its file?
    fn has_store(&self) -> bool {
        self.data.path().join("moescape.sqlite").exists()
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let site = Site::from_directory(self.site.path()).unwrap();
        let state = AppState::new(site, self.data.path().to_owned());
        let names = ["moe.example", "a.example"].map(|name| name.parse().unwrap());
        send(state.named(names), request).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    async fn get_with(&self, path: &str, header: &str, value: &str) -> Answer {
        self.send(Request::get(path).header(header, value).body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        self.send(Request::post(path).body(body.into()).unwrap()).await
    }
}

async fn send(state: AppState, request: Request<Body>) -> Answer {
    let response = router(state).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes().to_vec();
    Answer { status: parts.status, headers: parts.headers, bytes }
}

impl Answer {
    #[track_caller]
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
    }

    #[track_caller]
    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// Checks that it is problem JSON of this status, and gives it.
    #[track_caller]
    fn problem(&self, status: StatusCode) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status.as_u16());
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        problem
    }
}
