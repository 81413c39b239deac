//! `GET /metrics`, on a listener of its own: what the server counts, as Prometheus reads it.
//!
//! Not a path of the server itself: behind a proxy on the same machine every request comes from
//! there, so that no address would tell an operator from a visitor.
//!
//! Source: the text format, version 0.0.4, prometheus.io/docs/instrumenting/exposition_formats.

use std::fmt::{Display, Write as _};
use std::fs;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::routing::get;

use crate::net::hosts::Refused;
use crate::net::problem::Problem;
use crate::net::telemetry::{BOUNDS, Telemetry};
use crate::state::AppState;
use crate::{ground::files, http::not_found, store::traces};

/// The type of the answer.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Router of `/metrics`, for whoever may scrape.
pub(crate) fn router(state: AppState) -> Router {
    Router::new().route("/metrics", get(scrape)).with_state(state)
}

async fn scrape(
    State(state): State<AppState>,
    request: Request,
) -> Result<([(HeaderName, &'static str); 1], String), Problem> {
    // A page of another site whose name was made to lead here reads nothing either.
    state.hosts.check(&request).map_err(|refused| match refused {
        Refused::Malformed(why) => Problem::new(StatusCode::BAD_REQUEST, why),
        Refused::Unknown(host) => not_found::unknown_host(&host),
    })?;
    // It looks at files, and may wait for a lock.
    let text = tokio::task::spawn_blocking(move || text(&state)).await.unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text))
}

/// All of it.
fn text(state: &AppState) -> String {
    let mut page = Page(String::new());
    build(&mut page);
    requests(&mut page, &state.telemetry);
    let connections = state.telemetry.connections();
    page.gauge("moescape_connections", "Connections that are open.", connections);
    let sessions = state.reviews.open_sessions();
    page.gauge("moescape_review_sessions", "Review sessions that somebody has open.", sessions);
    let sockets = state.reviews.open_sockets();
    page.gauge("moescape_review_sockets", "Sockets of review sessions.", sockets);
    sweeps(&mut page, state);
    let stored = state.store.bytes();
    page.gauge("moescape_store_bytes", "Bytes that the store takes.", stored);
    let traced = files::size_of(&state.data.join(traces::DIRECTORY)).unwrap_or_default();
    page.gauge("moescape_traces_bytes", "Bytes of uploaded traces.", traced);
    upkeep(&mut page, &state.telemetry);
    let up = state.telemetry.uptime().as_secs_f64();
    page.gauge("moescape_uptime_seconds", "Seconds since the server was started.", up);
    if let Some(bytes) = resident_bytes() {
        let help = "Memory of the process that is in RAM.";
        page.gauge("process_resident_memory_bytes", help, bytes);
    }
    page.0
}

fn build(page: &mut Page) {
    let name = "moescape_build_info";
    page.head(name, "Versions, in the labels; the value is 1.", "gauge");
    let labels = [("version", env!("CARGO_PKG_VERSION")), ("model_version", model::MODEL_VERSION)];
    page.sample(name, &labels, 1);
}

fn requests(page: &mut Page, telemetry: &Telemetry) {
    let routes = telemetry.routes();
    let name = "moescape_requests_total";
    page.head(name, "Requests that were answered.", "counter");
    for (template, route) in &routes {
        for (class, count) in ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(route.classes) {
            if count > 0 {
                page.sample(name, &[("route", template), ("status", class)], count);
            }
        }
    }
    let name = "moescape_request_seconds";
    page.head(name, "Time from a request to the head of its answer.", "histogram");
    for (template, route) in &routes {
        let mut count = 0;
        for (place, own) in route.buckets.iter().enumerate() {
            count += own;
            let bound = BOUNDS.get(place).map_or_else(|| "+Inf".to_owned(), f64::to_string);
            let labels = [("route", template.as_str()), ("le", &bound)];
            page.sample(&format!("{name}_bucket"), &labels, count);
        }
        let labels = [("route", template.as_str())];
        page.sample(&format!("{name}_sum"), &labels, route.seconds);
        page.sample(&format!("{name}_count"), &labels, count);
    }
    let name = "moescape_refusals_total";
    page.head(name, "What wasn't done: too much, too many, no room.", "counter");
    for (reason, count) in telemetry.refusals() {
        page.sample(name, &[("reason", reason)], count);
    }
}

fn sweeps(page: &mut Page, state: &AppState) {
    let (running, waiting, designs) = state.sweeps.counts();
    let help = "Sweeps of which designs are being evaluated.";
    page.gauge("moescape_sweeps_running", help, running);
    let help = "Sweeps that wait for their turn.";
    page.gauge("moescape_sweeps_waiting", help, waiting);
    let name = "moescape_sweep_designs_total";
    page.head(name, "Designs that sweeps are done with; its rate is their speed.", "counter");
    page.sample(name, &[], designs);
}

/// Metrics of the server's upkeep: expiry and copies.
fn upkeep(page: &mut Page, telemetry: &Telemetry) {
    let (expired, failures) = telemetry.expiries();
    let name = "moescape_expired_total";
    page.head(name, "Things that went as nobody used them.", "counter");
    for (kind, count) in expired {
        page.sample(name, &[("kind", kind)], count);
    }
    let name = "moescape_expiry_failures_total";
    page.head(name, "Times that what was due couldn't go.", "counter");
    page.sample(name, &[], failures);
    let (at, failures) = telemetry.copies();
    let name = "moescape_backup_failures_total";
    page.head(name, "Copies on schedule that weren't made, or weren't whole.", "counter");
    page.sample(name, &[], failures);
    if at > 0 {
        let name = "moescape_backup_last_success_timestamp_seconds";
        page.gauge(name, "When the last copy on schedule was made, seconds since 1970.", at);
    }
}

/// Resident memory of the process, where Linux reports it.
fn resident_bytes() -> Option<u64> {
    let pages: u64 =
        fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page_bytes())
}

#[cfg(unix)]
fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(not(unix))]
fn page_bytes() -> u64 {
    4_096
}

/// The text, line by line.
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let open = if place == 0 { '{' } else { ',' };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{open}{label}=\"{text}\"");
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{close} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help, "gauge");
        self.sample(name, &[], value);
    }
}
