//! `/share?…`: everything with which a design is passed on. The explorer shows it as a dialog;
//! where no script runs it is a page that does the same.
//!
//! Opening it stores nothing. `POST /share` stores the design under a short link, or deletes one of
//! the visitor's, and leads back.

mod sheet;

use std::collections::HashMap;

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::design::Design;
use model::{MODEL_VERSION, design::link};

use super::{designs, kept};
use crate::designs::{Entry, StoredDesign, Words, id};
use crate::http::static_page::Reading;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::people::audit_events::Kind;
use crate::people::owner::{Owner, Storing, Visitor};
use crate::state::AppState;
use crate::{net::public_url, site::choices};
use sheet::{Sheet, Typed};

/// The visitor's short links that are listed; the API has all of them.
const LISTED: u32 = 20;

/// The sheet of a design.
pub(super) async fn open(
    State(state): State<AppState>,
    Visitor(owner): Visitor,
    request: Request,
) -> Result<Response, Problem> {
    let design = link::decode(request.uri().query().unwrap_or_default());
    let design = design.map_err(Problem::unreadable_design)?;
    let asker = Asker::new(&state, request.headers());
    sheet(&state, asker, design, None, owner).await
}

/// Visitor of the sheet, as far as it looks different for them.
struct Asker {
    /// Prefix of every address on the sheet.
    base: String,
    theme: Option<String>,
}

impl Asker {
    fn new(state: &AppState, headers: &HeaderMap) -> Self {
        let url = public_url::of_request(state.public_url.as_deref(), headers);
        let base = url.map_or_else(String::new, |url| url.as_str().to_owned());
        Self { base, theme: choices::theme(headers) }
    }
}

/// Reason why a request wasn't done, and what was typed.
struct Refused {
    problem: Problem,
    typed: Typed,
}

/// `POST /share`: `action=store` with `link`, `name` and `note`, or `action=delete` with `id`.
pub(super) async fn act(
    State(state): State<AppState>,
    Client(client): Client,
    storing: Storing,
    Visitor(visitor): Visitor,
    headers: HeaderMap,
    form: Result<Form<HashMap<String, String>>, FormRejection>,
) -> Result<Response, Problem> {
    let Form(form) = form.map_err(|error| Problem::new(error.status(), error.body_text()))?;
    let field = |name: &str| form.get(name).map(String::as_str);
    let design = link::decode(field("link").unwrap_or_default());
    let design = design.map_err(Problem::unreadable_design)?;
    let checked = match field("action") {
        Some("store") => match state.groups.check(Kind::Design, &headers) {
            Ok(()) => kept::check(&state, Kind::Design, storing.clone(), &client).await,
            Err(problem) => Err(problem),
        },
        _ => Ok(storing.clone()),
    };
    let Storing { owner, cookie, .. } = storing;
    let done = match field("action") {
        Some("store") => {
            let words = Words::new(field("name"), field("note")).map_err(|(field, why)| {
                let detail = format!("The {field} can't be kept: {why}.");
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
            });
            match checked.and(words) {
                Ok(words) => {
                    let (owner, design) = (owner.clone(), design.clone());
                    designs::keep(&state, &client, owner, design, words).await.map(|_| ())
                }
                Err(problem) => Err(problem),
            }
        }
        Some("delete") => {
            let id = field("id").unwrap_or_default();
            designs::remove(&state, id, Some(owner.clone())).await
        }
        _ => Err(Problem::new(StatusCode::BAD_REQUEST, "`action` is store or delete")),
    };
    if let Err(problem) = done {
        let text = |name: &str| field(name).unwrap_or_default().to_owned();
        let typed = Typed { name: text("name"), note: text("note") };
        let asker = Asker::new(&state, &headers);
        let refused = Some(Refused { problem, typed });
        // Who has stored nothing yet gets no key with a refusal.
        return sheet(&state, asker, design, refused, visitor).await;
    }
    let back = HeaderValue::try_from(format!("/share?{}", link::encode(&design)));
    let back = back.map_err(|_| designs::unknown())?;
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, back), (header::SET_COOKIE, cookie)])
        .into_response())
}

async fn sheet(
    state: &AppState,
    asker: Asker,
    design: Design,
    refused: Option<Refused>,
    owner: Option<Owner>,
) -> Result<Response, Problem> {
    let link = link::encode(&design);
    let short = id(&link, MODEL_VERSION);
    let found = match &owner {
        Some(_) => designs::find(state, &short, owner.clone(), None).await?,
        None => None,
    };
    let entry = found.and_then(|(_, entry)| entry);
    let listed: Vec<(StoredDesign, Entry)> = designs::of_owner(state, owner, None, LISTED).await?;
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| refused.problem.status());
    let state = state.clone();
    off_thread(move || {
        let (why, typed) = refused.map(|it| (it.problem.detail().to_owned(), it.typed)).unzip();
        let sheet = Sheet {
            design: &design,
            link: &link,
            short: &short,
            base: &asker.base,
            entry: entry.as_ref(),
            listed: &listed,
            why: why.as_deref(),
            typed: typed.as_ref(),
        };
        let page = Reading {
            title: "Share a design",
            script: state.site.names().map(|names| names.share.as_str()),
            class: "share",
            body: sheet.html(),
            ..Reading::default()
        };
        page.answer(&state, asker.theme.as_deref(), status)
    })
    .await
}
