//! Counters of the server about itself, for those who run it. Each name and each label is one of
//! few: nothing that a visitor sends becomes one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Extensions, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

/// Upper bounds of the histogram's buckets, seconds: from a page that is at hand to the time limit
/// of an answer.
pub(crate) const BOUNDS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0];

/// Label for the route of a request that has none.
const NO_ROUTE: &str = "none";

/// Counters of the server.
#[derive(Debug)]
pub(crate) struct Telemetry {
    started: Instant,
    routes: Mutex<BTreeMap<String, Route>>,
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    connections: AtomicU64,
    expired: Mutex<BTreeMap<&'static str, u64>>,
    expiry_failures: AtomicU64,
    /// Time when the last copy was made, seconds since 1970; 0 before the first one.
    copied_at_secs: AtomicU64,
    copy_failures: AtomicU64,
}

/// The requests of a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct Route {
    /// Number by the first digit of their status, from 1 on.
    pub(crate) classes: [u64; 5],
    /// Number by the time to the head of the answer: one bucket for each bound, and one for the
    /// rest.
    pub(crate) buckets: [u64; BOUNDS.len() + 1],
    pub(crate) seconds: f64,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            routes: Mutex::default(),
            refusals: Mutex::default(),
            connections: AtomicU64::new(0),
            expired: Mutex::default(),
            expiry_failures: AtomicU64::new(0),
            copied_at_secs: AtomicU64::new(0),
            copy_failures: AtomicU64::new(0),
        }
    }
}

fn held<T>(counted: &Mutex<T>) -> MutexGuard<'_, T> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Telemetry {
    fn answered(&self, route: &str, status: StatusCode, took: Duration) {
        let mut routes = held(&self.routes);
        let seconds = took.as_secs_f64();
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        let Some(route) = routes.get_mut(route) else { return };
        route.classes[class] += 1;
        route.buckets[bucket] += 1;
        route.seconds += seconds;
    }

    /// Something wasn't done for want of room, or because there was too much of it.
    pub(crate) fn refused(&self, reason: &'static str) {
        *held(&self.refusals).entry(reason).or_default() += 1;
    }

    /// A connection that was let in, until what is given here is dropped.
    pub(crate) fn connected(self: &Arc<Self>) -> Connected {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connected(Arc::clone(self))
    }

    /// Counts things that went as nobody used them.
    pub(crate) fn expired(&self, kind: &'static str, count: u64) {
        *held(&self.expired).entry(kind).or_default() += count;
    }

    /// Some couldn't go.
    pub(crate) fn expiry_failed(&self) {
        self.expiry_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// A copy was made, and read to its end.
    pub(crate) fn copied(&self, now_secs: u64) {
        self.copied_at_secs.store(now_secs, Ordering::Relaxed);
    }

    /// Counts a copy that failed.
    pub(crate) fn copy_failed(&self) {
        self.copy_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of things that went, by kind, and of times that something couldn't.
    pub(crate) fn expiries(&self) -> (BTreeMap<&'static str, u64>, u64) {
        (held(&self.expired).clone(), self.expiry_failures.load(Ordering::Relaxed))
    }

    /// Time when the last copy was made, 0 before the first one, and the number that failed.
    pub(crate) fn copies(&self) -> (u64, u64) {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (load(&self.copied_at_secs), load(&self.copy_failures))
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn routes(&self) -> BTreeMap<String, Route> {
        held(&self.routes).clone()
    }

    pub(crate) fn refusals(&self) -> BTreeMap<&'static str, u64> {
        held(&self.refusals).clone()
    }
}

/// A connection that is open.
#[derive(Debug)]
pub(crate) struct Connected(Arc<Telemetry>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts a request, by the template of its route.
pub(crate) async fn counted(
    State(telemetry): State<Arc<Telemetry>>,
    request: Request,
    next: Next,
) -> Response {
    let route = template(request.extensions());
    let begun = Instant::now();
    let response = next.run(request).await;
    let status = response.status();
    let route = route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    telemetry.answered(route, status, begun.elapsed());
    if let Some(reason) = reason(status) {
        telemetry.refused(reason);
    }
    response
}

fn template(extensions: &Extensions) -> Option<MatchedPath> {
    extensions.get::<MatchedPath>().cloned()
}

/// Reason why there is no answer of that status.
const fn reason(status: StatusCode) -> Option<&'static str> {
    match status {
        StatusCode::TOO_MANY_REQUESTS => Some("too_many_requests"),
        StatusCode::PAYLOAD_TOO_LARGE => Some("payload_too_large"),
        StatusCode::URI_TOO_LONG => Some("uri_too_long"),
        StatusCode::MISDIRECTED_REQUEST => Some("unknown_host"),
        StatusCode::SERVICE_UNAVAILABLE => Some("unavailable"),
        StatusCode::INSUFFICIENT_STORAGE => Some("store_full"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_in_one_bucket_and_one_class() {
        let telemetry = Telemetry::default();
        for (status, millis) in [(200, 1), (204, 2), (404, 100), (503, 31_000)] {
            let status = StatusCode::from_u16(status).unwrap();
            telemetry.answered("/", status, Duration::from_millis(millis));
        }
        let routes = telemetry.routes();
        assert_eq!(routes["/"].classes, [0, 2, 0, 1, 1]);
        assert_eq!(routes["/"].buckets, [1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
        assert!((routes["/"].seconds - 31.103).abs() < 1e-9);
    }

    #[test]
    fn a_connection_counts_until_it_is_closed() {
        let telemetry = Arc::new(Telemetry::default());
        let (one, other) = (telemetry.connected(), telemetry.connected());
        assert_eq!(telemetry.connections(), 2);
        drop((one, other));
        assert_eq!(telemetry.connections(), 0);
    }
}
