//! `GET /card.png?…` and `GET /d/{id}/card.png`: the picture of a link's preview.
//!
//! Whoever shows a preview asks for it again and again, so that it may be kept, and its tag is
//! known before anything is computed.

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::{MODEL_VERSION, design::link};

use super::designs;
use crate::designs::card::{self, Card};
use crate::designs::exports;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::in_turn;
use crate::state::AppState;

/// Counts up when cards look different, so that those that are kept elsewhere are asked for anew.
const LOOK: &str = "1";

/// The card of a link, which nothing is stored of.
pub(super) async fn of_link(
    State(state): State<AppState>,
    Client(client): Client,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    respond(&state, &client, query.unwrap_or_default(), &headers).await
}

/// The card of a stored design.
pub(super) async fn of_stored(
    State(state): State<AppState>,
    Client(client): Client,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (stored, _) = designs::find(&state, &id, None, None).await?.ok_or_else(designs::unknown)?;
    respond(&state, &client, stored.link, &headers).await
}

async fn respond(
    state: &AppState,
    client: &str,
    query: String,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let design = link::decode(&query).map_err(Problem::unreadable_design)?;
    let tag = tag(&link::encode(&design));
    let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|known| {
        let known = known.to_str().unwrap_or_default().split(',').map(str::trim);
        known.map(|known| known.trim_start_matches("W/")).any(|known| known == tag || known == "*")
    });
    let kept = [
        (header::ETAG, HeaderValue::try_from(tag.as_str()).map_err(|_| broken(&"its tag"))?),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400")),
        // Previews and other pages show it.
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        ),
    ];
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, kept).into_response());
    }
    let from = exports::provenance(&design);
    let draw = move || card::draw(&Card::from_design(&design), &from);
    let file = in_turn(&state.drawers, client, draw).await?.map_err(|error| broken(&error))?;
    Ok((kept, [(header::CONTENT_TYPE, "image/png")], file).into_response())
}

/// The tag of a design's card: it changes with the design, the model and the look.
fn tag(link: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in [LOOK, MODEL_VERSION, link] {
        hasher.update(text.as_bytes());
        hasher.update(b"\n");
    }
    format!("\"{}\"", &hasher.finalize().to_hex()[..32])
}

fn broken(error: &dyn std::fmt::Display) -> Problem {
    tracing::error!(%error, "a card can't be drawn");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the card can't be drawn; the log says why")
}
