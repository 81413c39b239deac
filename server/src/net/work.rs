//! Work that takes a while is done off the threads that answer requests, and in turn: on each route
//! so much goes on at once that no kind of work takes all threads, nor one address all turns.
//! Whoever goes before their turn loses it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use present::format::MemoryUnit;

use crate::net::client::identify;
use crate::net::limits::{FairQueue, Turn};
use crate::net::problem::Problem;

/// Pieces of work of a route that go on at once: as many as there are cores, within these ends.
const AT_ONCE: (usize, usize) = (4, 16);

/// Largest number of requests of one address that go on or wait, for each route.
const MAX_PER_ADDRESS: u64 = 256;

/// Threads for work: more than all routes take together, so that what has its turn has a thread.
pub(crate) const MAX_THREADS: usize = 2_048;

/// The turns of each route, by its template.
#[derive(Debug, Default)]
pub(crate) struct Work(Mutex<HashMap<String, Arc<FairQueue>>>);

impl Work {
    fn queue(&self, route: &str) -> Arc<FairQueue> {
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = routes.get(route) {
            return Arc::clone(turns);
        }
        let cores = available_parallelism().map_or(AT_ONCE.0, usize::from);
        let turns = Arc::new(FairQueue::new(cores.clamp(AT_ONCE.0, AT_ONCE.1), MAX_PER_ADDRESS));
        routes.insert(route.to_owned(), Arc::clone(&turns));
        turns
    }
}

/// Client for whom a task works, and the turns that it takes.
#[derive(Clone)]
struct TaskClient {
    client: String,
    turns: Arc<FairQueue>,
}

tokio::task_local! {
    static ASKED: TaskClient;
}

/// Notes whose turns the work of a request takes.
pub(crate) async fn asked(State(work): State<Arc<Work>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let turns = work.queue(route);
    let client = identify(request.extensions()).0;
    ASKED.scope(TaskClient { client, turns }, next.run(request)).await
}

/// Runs what takes a while, such as simulating a large schedule, off the threads that answer
/// requests, when it is its route's turn.
///
/// A panic goes on here; there is a problem only for an address that has too much under way, and
/// when the server stops before the work began.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    match ASKED.try_with(Clone::clone) {
        Ok(TaskClient { client, turns }) => in_turn(&turns, &client, work).await,
        // No request asks for it.
        Err(_) => apart(None, work).await,
    }
}

/// Runs work in turns of its own, where little of it may go on at once whatever the route.
pub(crate) async fn in_turn<T: Send + 'static>(
    turns: &FairQueue,
    client: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let turn = turns.turn(client).await?;
    apart(Some(turn), work).await
}

async fn apart<T: Send + 'static>(
    turn: Option<Turn>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let (span, unit) = (tracing::Span::current(), MemoryUnit::chosen());
    let work = move || {
        // Held until the work is done, even when nobody waits for it any more.
        let _turn = turn;
        span.in_scope(|| unit.during(work))
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| match error.try_into_panic() {
        Ok(cause) => std::panic::resume_unwind(cause),
        Err(_) => Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use axum::Router;
    use axum::body::Body;
    use axum::middleware;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;
    use crate::net::client::Client;

    /// A route whose work lasts as long as somebody holds the other end, and one that is quick.
    fn routes(held: Arc<Mutex<mpsc::Receiver<()>>>, begun: Arc<AtomicUsize>) -> Router {
        let slow = move || {
            let (held, begun) = (Arc::clone(&held), Arc::clone(&begun));
            off_thread(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                let _ = held.lock().unwrap_or_else(PoisonError::into_inner).recv();
            })
        };
        Router::new()
            .route("/slow", get(slow))
            .route("/quick/{id}", get(|| off_thread(|| ())))
            .layer(middleware::from_fn_with_state(Arc::<Work>::default(), asked))
    }

    #[tokio::test]
    async fn one_slow_kind_of_work_holds_up_no_other_and_who_goes_loses_their_turn() {
        let (holds, held) = mpsc::channel::<()>();
        let begun = Arc::new(AtomicUsize::new(0));
        let routes = routes(Arc::new(Mutex::new(held)), Arc::clone(&begun));
        let ask = |path: &str, client: &str| {
            let request = Request::get(path).extension(Client(client.to_owned()));
            routes.clone().oneshot(request.body(Body::empty()).unwrap())
        };
        let many = MAX_PER_ADDRESS as usize + 1;
        let mut waiting: Vec<_> = ["a", "b", "c", "d"]
            .into_iter()
            .flat_map(|client| (0..many).map(move |_| client))
            .map(|client| tokio::spawn(ask("/slow", client)))
            .collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let quick = tokio::time::timeout(Duration::from_secs(5), ask("/quick/1", "a")).await;
        assert_eq!(quick.unwrap().unwrap().status(), StatusCode::OK);
        // The last of each address was one too many.
        let mut refused = 0;
        for task in waiting.extract_if(.., |task| task.is_finished()) {
            refused +=
                usize::from(task.await.unwrap().unwrap().status() == StatusCode::TOO_MANY_REQUESTS);
        }
        assert_eq!(refused, 4);
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        drop(holds);
        let again = tokio::time::timeout(Duration::from_secs(5), ask("/slow", "e")).await;
        assert_eq!(again.unwrap().unwrap().status(), StatusCode::OK);
        // None of those that left began, and the last one did.
        let begun = begun.load(Ordering::Relaxed);
        assert!(begun <= AT_ONCE.1 + 1, "{begun} pieces of work");
    }
}
