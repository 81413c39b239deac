//! `/export?…`: a design for other programs. The explorer shows the sheet as a dialog; where no
//! script runs it is a page. `/export/{name}?…` is one file of it.
//!
//! Nothing is stored: all that a file is made of stands in the link.

mod sheet;

use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::file::Extent;
use model::link;

use super::page::off_thread;
use super::reading::Reading;
use crate::AppState;
use crate::choices;
use crate::exports::{self, Export};
use crate::problem::Problem;

/// The sheet of a design.
pub(super) async fn sheet(
    State(state): State<AppState>,
    request: Request,
) -> Result<Response, Problem> {
    let design = link::decode(request.uri().query().unwrap_or_default());
    let design = design.map_err(Problem::unreadable_design)?;
    let theme = choices::theme(request.headers());
    off_thread(move || {
        let page = Reading {
            title: "Export a design",
            script: state.site.names().map(|names| names.share.as_str()),
            class: "share",
            body: &sheet::html(&design),
            ..Reading::default()
        };
        page.answer(&state, theme.as_deref(), StatusCode::OK)
    })
    .await
}

/// One file, to be saved.
pub(super) async fn file(
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let export = Export::of(&name).ok_or_else(|| {
        let known = Export::ALL.map(Export::name).join(", ");
        Problem::new(StatusCode::NOT_FOUND, format!("there is no such file; known are {known}"))
    })?;
    let design = link::decode(&query.unwrap_or_default()).map_err(Problem::unreadable_design)?;
    let name = format!("attachment; filename=\"{}\"", export.file_name(&design));
    let name = HeaderValue::try_from(name);
    let name = name.map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "no file has this name"))?;
    let bytes = off_thread(move || exports::file(export, &design, Extent::Changed)).await?;
    let bytes = bytes.map_err(|why| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, why))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(export.media_type())),
        (header::CONTENT_DISPOSITION, name),
        // The day stands in it.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, bytes).into_response())
}
