//! `/export?…`: a design for other programs. The explorer shows the sheet as a dialog; where no
//! script runs it is a page. `/export/{name}?…` is one file of it.
//!
//! Nothing is stored: all that a file is made of is in the link.

mod sheet;

use std::io::Cursor;

use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use interchange::Launcher;
use model::design::Design;
use model::design::file::Extent;
use model::design::link;
use operations::export::{self, Format};
use reports::typed::Said as _;

use super::json::json_response;
use crate::designs::exports::file_name;
use crate::ground::calendar;
use crate::http::static_page::Reading;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query;
use crate::net::response_buffer::{self, Packed};
use crate::net::work::{in_turn, off_thread};
use crate::site::choices;
use crate::state::AppState;

/// A file from this size on is kept packed while it is sent: a timeline is ten times smaller then.
const MIN_PACKED_BYTES: usize = 256 << 10;

/// Request in an address: a design, and beside its knobs what starts the processes
/// (`launcher=slurm`) and whether the file is wanted as it is or with all that there is to say of
/// it (`report=json`).
struct Asked {
    design: Design,
    launcher: Launcher,
    is_report: bool,
}

impl Asked {
    fn read(query: &str) -> Result<Self, Problem> {
        let is_own = |pair: &&str| pair.starts_with("launcher=") || pair.starts_with("report=");
        let (own, rest): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_own);
        let own = own.join("&");
        let [launcher, report] = query::parameters(&own, ["launcher", "report"])?;
        let launchers = Launcher::ALL.map(|launcher| (launcher.name(), launcher));
        let launcher = launcher.as_deref().unwrap_or(Launcher::Torchrun.name());
        let launcher = query::choice("launcher", launcher, &launchers)?;
        let report = report.as_deref().unwrap_or("none");
        let is_report = query::choice("report", report, &[("json", true), ("none", false)])?;
        let design = link::decode(&rest.join("&")).map_err(Problem::unreadable_design)?;
        Ok(Self { design, launcher, is_report })
    }
}

/// The sheet of a design.
pub(super) async fn sheet(
    State(state): State<AppState>,
    request: Request,
) -> Result<Response, Problem> {
    let asked = Asked::read(request.uri().query().unwrap_or_default())?;
    let theme = choices::theme(request.headers());
    off_thread(move || {
        let page = Reading {
            title: "Export a design",
            script: state.site.names().map(|names| names.share.as_str()),
            class: "share",
            body: sheet::html(&asked.design, asked.launcher),
            ..Reading::default()
        };
        page.answer(&state, theme.as_deref(), StatusCode::OK)
    })
    .await
}

/// One file, to be saved.
pub(super) async fn file(
    State(state): State<AppState>,
    Client(client): Client,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    let format = Format::from_name(&name).ok_or_else(|| {
        let known = Format::all().map(Format::name).join(", ");
        Problem::new(StatusCode::NOT_FOUND, format!("there is no such file; known are {known}"))
    })?;
    let Asked { design, launcher, is_report } = Asked::read(&query.unwrap_or_default())?;
    if is_report {
        let today = calendar::today();
        let started = move || export::started(format, launcher, &design, &today);
        let made = off_thread(started).await?;
        let refused = |why: String| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, why);
        let none = || refused("a report is of files that start a run".to_owned());
        let made = made.ok_or_else(none)?.map_err(refused)?;
        return Ok(json_response(&export::report(&made).said()));
    }
    let name = format!("attachment; filename=\"{}\"", file_name(format, &design));
    let name = HeaderValue::try_from(name);
    let name = name.map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "no file has this name"))?;
    let made = made(&state, &client, (format, launcher), design).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(format.media_type())),
        (header::CONTENT_DISPOSITION, name),
        // The day is in it.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let file = match made {
        Made::Small(bytes) => bytes.into_response(),
        Made::Packed(bytes) => {
            let held_bytes = bytes.len();
            let packed = Packed { stored: Cursor::new(bytes), held_bytes, most_bytes: u64::MAX };
            response_buffer::packed(&state.outbox, &client, &asked, packed)?
        }
    };
    Ok((headers, file).into_response())
}

/// A file as it is sent.
enum Made {
    Small(Vec<u8>),
    Packed(Vec<u8>),
}

/// Makes a file. Few timelines are made at once: each takes some ten MiB meanwhile.
async fn made(
    state: &AppState,
    client: &str,
    (format, launcher): (Format, Launcher),
    design: Design,
) -> Result<Made, Problem> {
    let work = move || {
        let today = calendar::today();
        let bytes = match export::started(format, launcher, &design, &today) {
            Some(made) => made?.text.into_bytes(),
            None => export::file(format, &design, Extent::Changed, &today)?,
        };
        if bytes.len() < MIN_PACKED_BYTES {
            return Ok(Made::Small(bytes));
        }
        response_buffer::pack(&bytes).map(Made::Packed).map_err(|error| error.to_string())
    };
    let made = if format == Format::Trace {
        in_turn(&state.makers, client, work).await?
    } else {
        off_thread(work).await?
    };
    made.map_err(|why| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, why))
}
