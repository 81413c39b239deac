//! Checks on what an owner keeps: whether there is room for more, and whose it is then.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::people::audit_events::Kind;
use crate::people::owner::{Owner, Storing};
use crate::state::AppState;
use crate::store::StoreError;
use crate::{ground::calendar, people::storage_usage};

/// Checks that there is room for one thing more.
pub(super) async fn check(
    state: &AppState,
    kind: Kind,
    storing: Storing,
    client: &str,
) -> Result<Storing, Problem> {
    if !state.quotas.is_there(kind) {
        return Ok(storing);
    }
    let (state, client) = (state.clone(), client.to_owned());
    let checked = off_thread(move || {
        let store = state.store.open().map_err(broken)?;
        state.quotas.check(&store, kind, &storing, &client, calendar::now_secs())?;
        Ok(storing)
    });
    checked.await?
}

/// Notes whose something new is.
pub(super) async fn own(
    state: &AppState,
    kind: Kind,
    id: &str,
    owner: Owner,
    bytes: u64,
) -> Result<(), Problem> {
    let (state, id) = (state.clone(), id.to_owned());
    let noted =
        off_thread(move || storage_usage::own(&state.store.open()?, kind, &id, &owner, bytes));
    noted.await?.map_err(broken)
}

/// Checks that something that has an owner is theirs who ask. Only where the server knows its
/// users; elsewhere its id is all that it takes.
pub(super) async fn check_maker(
    state: &AppState,
    kind: Kind,
    id: &str,
    headers: &HeaderMap,
) -> Result<(), Problem> {
    if state.user_header.is_none() || !state.store.exists() {
        return Ok(());
    }
    let asking = Owner::of(state.user_header.as_ref(), headers);
    let (state, id) = (state.clone(), id.to_owned());
    let find = off_thread(move || storage_usage::makers(&state.store.open()?, kind, &id));
    let makers = find.await?.map_err(broken)?;
    let is_theirs =
        |asking: Owner| makers.iter().any(|it| it == asking.as_str() || it == asking.browser());
    if makers.is_empty() || asking.is_some_and(is_theirs) {
        return Ok(());
    }
    let detail = format!(
        "this {0} is somebody else's: only who began it can pause, resume or remove it, or whoever \
         runs the server, by `moescape admin`",
        kind.name()
    );
    Err(Problem::new(StatusCode::FORBIDDEN, detail))
}

/// An answer that makes whoever asked an owner.
pub(super) fn with_cookie(mut response: Response, cookie: HeaderValue) -> Response {
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn broken(error: StoreError) -> Problem {
    Problem::unusable_store(&error, "whose something is")
}
