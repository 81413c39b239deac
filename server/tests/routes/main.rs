//! The routes, without a socket: one file for each, named after its address.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

mod api_v1_budget;
mod api_v1_compare;
mod api_v1_designs;
mod api_v1_experts;
mod api_v1_find;
mod api_v1_import;
mod api_v1_infer;
mod api_v1_predict;
mod api_v1_registry;
mod api_v1_validation;
mod calibrate;
mod compare;
mod downloads;
mod export;
mod fallback;
mod find_page;
mod health;
mod import_page;
mod ladder;
mod multipart;
mod openapi;
mod page;
mod pkg;
#[path = "../process/postgres.rs"]
mod postgres;
mod reading;
mod review;
mod schedule;
mod settings;
mod share;
mod traces;
#[path = "../process/site.rs"]
mod site;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use server::{AppState, Site, router};
use tempfile::TempDir;
use testing::page::Page;
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
        Self { data: tempfile::tempdir().unwrap(), site: site::directory() }
    }

    /// Whether the server has made its file.
    fn has_store(&self) -> bool {
        self.data.path().join("moescape.sqlite").exists()
    }

    /// The server's state, for tests that ask one server several times or set it up otherwise.
    fn state(&self) -> AppState {
        let site = Site::from_directory(self.site.path()).unwrap();
        AppState::new(site, self.data.path().to_owned())
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let mut state = self.state();
        if let Some(address) = postgres::of(self.data.path()) {
            state = state.stored_at(&address).unwrap();
        }
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

    /// A page that is there, as a browser asks for it.
    async fn page(&self, path: &str) -> Page {
        let answer = self.get_with(path, "accept", "text/html").await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        answer.page()
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

    /// Checks that it is a page, without inline style, which is against the policy.
    #[track_caller]
    fn page(&self) -> Page {
        assert_eq!(self.header("content-type"), "text/html; charset=utf-8");
        let page = Page::new(self.text());
        assert!(!page.has("[style]"), "inline style");
        page
    }

    /// Checks that it is problem JSON of this status, and gives its detail.
    #[track_caller]
    fn detail(&self, status: StatusCode) -> String {
        self.problem(status)["detail"].as_str().unwrap().to_owned()
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
