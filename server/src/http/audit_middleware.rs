//! Notes on every request for something that is kept: whether its user may make it, that it was
//! opened, and for the audit log who did what.

use axum::RequestExt;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::net::client::identify;
use crate::net::problem::Problem;
use crate::people::audit::Line;
use crate::people::audit_events::{Act, Deed, Kind, deed};
use crate::people::owner::Owner;
use crate::state::AppState;
use crate::{
    ground::calendar, ground::log_fields, net::proxies, people::groups, people::storage_usage,
};

/// Digits of an owner's hash that stand for it.
const OWNER_DIGITS: usize = 8;

/// Sees a request through.
pub(crate) async fn noted(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let template = request.extensions().get::<MatchedPath>().cloned();
    let query = request.uri().query().is_some();
    let found = template.and_then(|path| deed(request.method(), path.as_str(), query));
    let told = groups::check_told(state.told(), request.headers());
    let Some(found) = found else { return beside(&state, told, request, next).await };
    let id = id(&mut request).await;
    let allowed = told.and_then(|()| {
        let makes = found.act == Act::Create;
        if makes { state.groups.check(found.kind, request.headers()) } else { Ok(()) }
    });
    let line = (found.act != Act::Open || state.audit.is_some()).then(|| about(&state, &request));
    let is_read = request.method() == Method::GET;
    let response = match allowed {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let status = response.status();
    let is_done = status.is_success() || status.is_redirection() || status.as_u16() == 101;
    if is_done
        && is_read
        && let Some(id) = &id
    {
        opened(&state, found.kind, id);
    }
    if let (Some(audit), Some(line)) = (&state.audit, line)
        && is_told(found, status)
    {
        let made = response.headers().get(header::LOCATION);
        let made = made.and_then(|value| value.to_str().ok()).map(id_in);
        let of = id.or(made.filter(|_| found.act == Act::Create));
        audit.record(Line {
            act: format!("{}.{}", found.kind.name(), found.act.name()),
            of: of.map(|id| log_fields::key(&id)),
            status: Some(status.as_u16()),
            refused: !is_done,
            ..line
        });
    }
    response
}

/// A request for nothing that is kept: it is told where another site made it, or asked for another
/// name.
async fn beside(
    state: &AppState,
    told: Result<(), Problem>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(problem) = told {
        return problem.into_response();
    }
    let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    let line = state.audit.as_ref().filter(|_| !is_read).map(|_| about(state, &request));
    let response = next.run(request).await;
    let status = response.status();
    if let (Some(audit), Some(line)) = (&state.audit, line)
        && [StatusCode::FORBIDDEN, StatusCode::MISDIRECTED_REQUEST].contains(&status)
    {
        let (act, status) = ("other.send".to_owned(), Some(status.as_u16()));
        audit.record(Line { act, status, refused: true, ..line });
    }
    response
}

/// Reading isn't told, but that somebody was kept from it: a session's link that opens nothing.
fn is_told(found: Deed, status: StatusCode) -> bool {
    match found.act {
        Act::Open | Act::ListLinks => {
            let is_unknown = found.kind == Kind::Session && status == StatusCode::NOT_FOUND;
            let kept_out =
                [StatusCode::FORBIDDEN, StatusCode::UNAUTHORIZED, StatusCode::MISDIRECTED_REQUEST];
            is_unknown || kept_out.contains(&status)
        }
        // Its own log has every change of a session, with who asked for it.
        Act::Change => !status.is_success(),
        Act::Create
        | Act::Share
        | Act::Join
        | Act::Pause
        | Act::Resume
        | Act::Delete
        | Act::MakeLink
        | Act::WithdrawLink => true,
    }
}

fn about(state: &AppState, request: &Request) -> Line {
    let headers = request.headers();
    let owner = Owner::of(state.user_header.as_ref(), headers);
    Line {
        user: proxies::user(state.user_header.as_ref(), headers),
        owner: owner.map(|owner| owner.as_str().chars().take(OWNER_DIGITS).collect()),
        address: Some(identify(request.extensions()).0),
        ..Line::default()
    }
}

/// Id or hash in the path of a request.
async fn id(request: &mut Request) -> Option<String> {
    let parameters = request.extract_parts::<RawPathParams>().await.ok()?;
    let mut named = parameters.iter().filter(|(name, _)| ["id", "hash"].contains(name));
    named.next().map(|(_, value)| value.to_owned())
}

/// The id in the address of something new: `/api/v1/reviews/ID/state`, `/r/ID?key=…`.
fn id_in(address: &str) -> String {
    let path = address.split('?').next().unwrap_or_default();
    let mut parts = path.trim_start_matches("/api/v1").split('/').skip(2);
    parts.next().unwrap_or_default().to_owned()
}

/// Notes, once a day, that something was opened. Traces have a file, whose time it is.
fn opened(state: &AppState, kind: Kind, id: &str) {
    let now = calendar::now_secs();
    if !state.opened.is_first(kind, id, now) {
        return;
    }
    let (state, id) = (state.clone(), id.to_owned());
    tokio::task::spawn_blocking(move || {
        if kind == Kind::Trace {
            state.traces.store.touch(&id);
            return;
        }
        if !state.store.exists() {
            return;
        }
        let noted =
            state.store.open().and_then(|store| storage_usage::note(&store, kind, &id, now));
        if let Err(error) = noted {
            tracing::debug!(%error, "it isn't noted that something was opened");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_named_by_where_it_is() {
        for (address, id) in [
            ("/api/v1/reviews/abc/state", "abc"),
            ("/r/abc?key=secret", "abc"),
            ("/api/v1/sweeps/abc", "abc"),
        ] {
            assert_eq!(id_in(address), id);
        }
    }
}
