//! `GET …/report.md` and `…/report.html`: what a session came to.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::review_access::{Holder, broken, unknown};
use crate::http::endpoint::{endpoints, text};
use crate::jobs::reviews::report::{self, Content};
use crate::net::problem::Problem;
use crate::net::public_url;
use crate::net::work::off_thread;
use crate::state::AppState;

/// Content security policy of the page: it may load nothing but the style inside it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

endpoints! {
    /// Report of a session, as Markdown
    ///
    /// Decisions and whether they stand, candidates, proposals, open questions, comments, with
    /// numbers and units.
    get "/report.md" => markdown as reportOfReviewAsMd {
        .answers_as("text/markdown", text, "The report.")
    }

    /// Report of a session, as a page of its own
    ///
    /// Decisions and whether they stand, candidates, proposals, open questions, comments, with
    /// numbers and units.
    get "/report.html" => html as reportOfReviewAsHtml {
        .answers_as("text/html", text, "The report.")
    }
}

pub(super) async fn markdown(
    State(state): State<AppState>,
    holder: Holder,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let text = made(&state, &holder, &headers, report::markdown).await?;
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], private(text)).into_response())
}

pub(super) async fn html(
    State(state): State<AppState>,
    holder: Holder,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let text = made(&state, &holder, &headers, report::html).await?;
    let policy = HeaderValue::from_static(POLICY);
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, policy)];
    Ok((headers, private(text)).into_response())
}

fn private(text: String) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], text).into_response()
}

async fn made(
    state: &AppState,
    holder: &Holder,
    headers: &HeaderMap,
    write: impl FnOnce(&Content) -> String + Send + 'static,
) -> Result<String, Problem> {
    let events = state.reviews.events(&holder.grant.review, 0, u32::MAX).await.map_err(broken)?;
    if events.is_empty() {
        return Err(unknown());
    }
    let origin = public_url::of_request(state.public_url.as_deref(), headers);
    let origin = origin.as_ref().map(|url| url.as_str().to_owned()).unwrap_or_default();
    // Estimates of every design that the session knows.
    off_thread(move || {
        let room = review::Room::of(&events);
        write(&report::content(&room, &events, origin))
    })
    .await
}
