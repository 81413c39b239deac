//! `/import`: the form, and its answer; `present` writes both. `import.js` takes files that are
//! dropped and texts that are pasted. Nothing is stored: the design is in the link that the page
//! leads on to.

use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::Markup;
use present::draw::text::sentence;
use present::page::import::{Form, Outcome, decoded, empty};

use crate::http::file_form::{self, FileFields};
use crate::http::static_page::Reading;
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::site::choices;
use crate::state::AppState;

/// Bytes of a form, at most: of a text, and of what the form puts around it.
pub(super) const MAX_BYTES: usize = interchange::MAX_CONFIG_BYTES + (64 << 10);

/// The empty form; `?large` says that a file was too large to be sent.
pub(super) async fn form(State(state): State<AppState>, request: Request) -> Response {
    let is_large = request.uri().query() == Some("large");
    let (status, why) = match is_large {
        true => (StatusCode::PAYLOAD_TOO_LARGE, Some(too_large())),
        false => (StatusCode::OK, None),
    };
    shown(&state, request.headers(), status, empty(why.as_deref()))
}

/// Answers the form: the import of its text or files.
pub(super) async fn import_form(
    State(state): State<AppState>,
    headers: HeaderMap,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let form = match read(form).await {
        Ok(form) => form,
        Err((status, why)) => return Ok(shown(&state, &headers, status, empty(Some(&why)))),
    };
    off_thread(move || {
        let (outcome, page) = form.page();
        let status = match outcome {
            Outcome::Design => StatusCode::OK,
            Outcome::NoDesign => StatusCode::UNPROCESSABLE_ENTITY,
            Outcome::Refused => StatusCode::BAD_REQUEST,
        };
        shown(&state, &headers, status, page)
    })
    .await
}

/// Reads a form to its end; fields that it doesn't know are passed over.
async fn read(
    multipart: Result<Multipart, MultipartRejection>,
) -> Result<Form, (StatusCode, String)> {
    let sent = file_form::read(multipart, too_large).await;
    let FileFields { files, texts } = sent.map_err(|(status, why)| (status, sentence(&why)))?;
    let mut form = Form { files, ..Form::default() };
    for (name, bytes) in texts {
        let text = decoded(&bytes).map(str::to_owned);
        let text = text.map_err(|why| (StatusCode::BAD_REQUEST, format!("The text: {why}")))?;
        form.set(&name, text);
    }
    Ok(form)
}

fn too_large() -> String {
    format!(
        "A text has at most {} bytes; real ones have a few thousand.",
        present::format::whole(interchange::MAX_CONFIG_BYTES as u64)
    )
}

/// The page with the form, and with the answer above it where there is one.
fn shown(state: &AppState, headers: &HeaderMap, status: StatusCode, body: Markup) -> Response {
    let page = Reading {
        title: "Import a design",
        script: state.site.names().map(|names| names.import.as_str()),
        class: "import",
        body,
        ..Reading::default()
    };
    page.answer(state, choices::theme(headers).as_deref(), status)
}
