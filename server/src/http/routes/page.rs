//! Pages that a module takes over, rendered for what their query string asks: the explorer, the
//! published runs, serving, and those that need nothing of the server.
//!
//! The query string goes to the app raw, as it must be unescaped exactly once. A link that doesn't
//! decode still gets the app's page, which names its errors, with status 400.

use app::document::{Preview, ThemeCookie};
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use leptos::nonce::{provide_nonce, use_nonce};
use leptos::prelude::{Owner, RenderHtml, provide_context};
use model::design::Design;
use model::design::link;
use present::page::is_understood;
use present::site::{Page, Place};

use super::validation;
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::state::AppState;
use crate::{answers::measured, ground::calendar, net::public_url, site::choices};

/// The page of a design. Nothing of it is stored.
pub(super) async fn explorer(State(state): State<AppState>, request: Request) -> Response {
    let (status, preview) = match link::decode(request.uri().query().unwrap_or_default()) {
        Ok(design) => (StatusCode::OK, preview(&state, &request, &design)),
        Err(_) => (StatusCode::BAD_REQUEST, None),
    };
    let contexts = move || preview.iter().cloned().for_each(provide_context);
    render(state, request, Page::Explorer, status, contexts).await
}

/// The preview of a link, which has the whole design in it.
fn preview(state: &AppState, request: &Request, design: &Design) -> Option<Preview> {
    let url = public_url::of_request(state.public_url.as_deref(), request.headers())?;
    let (url, query) = (url.as_str(), link::encode(design));
    let (page, picture) = (format!("{url}/?{query}"), format!("{url}/card.png?{query}"));
    Some(Preview { page, picture })
}

/// Leads from a place's own name to its first page; a design goes along where that takes one.
pub(super) async fn of_place(place: Place, raw: Option<String>) -> Redirect {
    let page = place.first();
    match raw.filter(|_| page.takes_design()) {
        Some(query) => Redirect::to(&format!("{}?{query}", page.entrance())),
        None => Redirect::to(page.entrance()),
    }
}

/// The page of the published runs.
pub(super) async fn trust(
    State(state): State<AppState>,
    request: Request,
) -> Result<Response, Problem> {
    let served = validation::report().await?.served.clone();
    let contexts = move || provide_context(served.clone());
    Ok(render(state, request, Page::Trust, StatusCode::OK, contexts).await)
}

/// The page of how a design answers.
pub(super) async fn serving(State(state): State<AppState>, request: Request) -> Response {
    let design = present::page::serving::design(request.uri().query().unwrap_or_default()).ok();
    let status = if design.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let contexts = move || provide_context(design.as_ref().map(measured::of).unwrap_or_default());
    render(state, request, Page::Serving, status, contexts).await
}

/// A page that follows from its query string alone; it is written whatever is wrong with that.
pub(super) async fn plain(page: Page, state: AppState, request: Request) -> Response {
    let is_understood = is_understood(page, request.uri().query().unwrap_or_default());
    let status = if is_understood { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    render(state, request, page, status, || ()).await
}

/// Comparison as a table for other programs.
pub(super) async fn comparison(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let csv = off_thread(move || present::page::compare::csv(&query, &calendar::today())).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"moescape-comparison.csv\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, csv).into_response())
}

/// Writes a page; `more` provides what only this page knows.
pub(super) async fn render(
    state: AppState,
    request: Request,
    page: Page,
    status: StatusCode,
    more: impl FnOnce() + Send + 'static,
) -> Response {
    let query = request.uri().query().unwrap_or_default().to_owned();
    render_link(state, request, query, page, status, more).await
}

/// Renders the page for a design that isn't the address's own.
pub(super) async fn render_link(
    state: AppState,
    request: Request,
    query: String,
    page: Page,
    status: StatusCode,
    more: impl FnOnce() + Send + 'static,
) -> Response {
    let theme = choices::theme(request.headers());
    let write = move || {
        let owner = Owner::new();
        let written = owner.with(|| {
            provide_nonce();
            provide_context(page);
            more();
            provide_context(app::document::RawQuery(query));
            provide_context(ThemeCookie(theme));
            if let Some(names) = state.site.names() {
                provide_context(names.clone());
            }
            (status, headers(), Html(app::document::shell().to_html())).into_response()
        });
        // Also when a clone of it is still held: what a page was made of goes with it.
        owner.unset_with_forced_cleanup();
        written
    };
    off_thread(write).await.unwrap_or_else(Problem::into_response)
}

/// The page's own headers; scripts run only with this response's nonce or from this server.
fn headers() -> HeaderMap {
    let nonce = use_nonce().map(|nonce| format!(" 'nonce-{nonce}'")).unwrap_or_default();
    let policy = format!(
        "default-src 'self'; script-src 'self'{nonce} 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data:; worker-src 'self'; object-src 'none'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'"
    );
    let policy = HeaderValue::try_from(policy).ok();
    let policy = policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy));
    let cache = HeaderValue::from_static("private, no-cache");
    policy.into_iter().chain([(header::CACHE_CONTROL, cache)]).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use axum::body::Body;

    use super::*;
    use crate::Site;

    /// A runtime with one thread: whoever keeps it, keeps it from all others.
    #[tokio::test(flavor = "current_thread")]
    async fn a_large_schedule_holds_up_no_other_request() {
        let state = AppState::new(Site::none(), std::path::PathBuf::new());
        let query = "/schedule?method=v_min&stages=256&micro_batches=16";
        let request = Request::get(query).body(Body::empty()).unwrap();
        let answered = Cell::new(false);
        let page = async {
            let page = plain(Page::Schedule, state, request).await;
            assert!(answered.get(), "the page had the thread until it was done");
            page
        };
        let (page, ()) = tokio::join!(page, async { answered.set(true) });
        assert_eq!(page.status(), StatusCode::OK);
    }
}
