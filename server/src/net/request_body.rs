//! Bodies on their way in: what half-sent requests hold is bounded, for all and for each address,
//! and whoever sends nothing any more isn't waited for.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::net::client::Client;
use crate::net::limits::{Budget, LimitExceeded, Taken};
use crate::net::problem::Problem;

/// Bytes of a request's body, at most.
pub(crate) const BODY_LIMIT_BYTES: usize = 1 << 20;

/// Memory that the bodies of all requests under way may hold together, and those of one address,
/// KiB: eight of the largest, and two.
const MAX_BODIES_KIB: u32 = 512 << 10;
const MAX_SHARE_KIB: u32 = 128 << 10;

/// Longest pause of a body.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The room for bodies.
pub(crate) fn inbox() -> Arc<Budget> {
    Arc::new(Budget::new(MAX_BODIES_KIB, MAX_SHARE_KIB))
}

/// Counts a request's body until it is answered, and breaks it off where there is no room for it
/// or it doesn't go on.
pub(crate) async fn counted(
    State(inbox): State<Arc<Budget>>,
    Client(client): Client,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let taken = match inbox.take(&client, 0) {
        Ok(taken) => taken,
        Err(short) => return Trouble::Full(short).problem().into_response(),
    };
    let intake = Arc::new(Intake(Mutex::new(BodyBudget { taken, bytes: 0, trouble: None })));
    let count = Arc::clone(&intake);
    let max_pause = MAX_PAUSE;
    let request = request.map(|body| Body::new(Incoming { body, count, max_pause, pause: None }));
    let response = next.run(request).await;
    // Whoever read it knows only that it broke off.
    let trouble = intake.held().trouble;
    trouble.map_or(response, |trouble| trouble.problem().into_response())
}

/// A body as text; `what` says what it is, "a design", where it is too long.
pub(crate) fn text(body: Result<Bytes, BytesRejection>, what: &str) -> Result<String, Problem> {
    text_within(body, what, BODY_LIMIT_BYTES)
}

/// Text of a body, for a route that takes at most `most` bytes.
pub(crate) fn text_within(
    body: Result<Bytes, BytesRejection>,
    what: &str,
    most: usize,
) -> Result<String, Problem> {
    let body = body.map_err(|rejection| match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(status, format!("{what} has at most {most} bytes"))
        }
        status => Problem::new(status, rejection.body_text()),
    })?;
    String::from_utf8(body.into())
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("not UTF-8: {error}")))
}

/// Reason why a body was broken off.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Silent,
    Full(LimitExceeded),
}

impl Trouble {
    fn problem(self) -> Problem {
        match self {
            Self::Silent => {
                let seconds = MAX_PAUSE.as_secs();
                let detail = format!("nothing more of the request came for {seconds} s");
                Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
            }
            Self::Full(LimitExceeded::All) => {
                let detail = "as much is being sent to the server as it has memory for";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_retry(10)
            }
            Self::Full(LimitExceeded::Own) => {
                let detail = "as much is being sent from your address as may be; wait for that";
                Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(10)
            }
        }
    }
}

/// Account of what a body holds.
struct Intake(Mutex<BodyBudget>);

struct BodyBudget {
    taken: Taken,
    bytes: u64,
    trouble: Option<Trouble>,
}

impl Intake {
    fn held(&self) -> MutexGuard<'_, BodyBudget> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts `bytes` more.
    fn add(&self, bytes: usize) -> Result<(), Trouble> {
        let mut held = self.held();
        let after = held.bytes.saturating_add(bytes as u64);
        let more = after.div_ceil(1 << 10) - held.bytes.div_ceil(1 << 10);
        held.bytes = after;
        held.taken.grow(u32::try_from(more).unwrap_or(u32::MAX)).map_err(Trouble::Full)
    }
}

/// A request's body while it comes.
struct Incoming {
    body: Body,
    count: Arc<Intake>,
    max_pause: Duration,
    /// Set while something is waited for.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Incoming {
    fn broken(&self, trouble: Trouble) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.count.held().trouble = Some(trouble);
        Poll::Ready(Some(Err(axum::Error::new(trouble.problem().detail().to_owned()))))
    }
}

impl HttpBody for Incoming {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) else {
            let max_pause = this.max_pause;
            let pause = this.pause.get_or_insert_with(|| Box::pin(sleep(max_pause)));
            let is_over = pause.as_mut().poll(context).is_ready();
            return if is_over { this.broken(Trouble::Silent) } else { Poll::Pending };
        };
        this.pause = None;
        let bytes = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
            Some(Err(_)) | None => 0,
        };
        match this.count.add(bytes) {
            Ok(()) => Poll::Ready(frame),
            Err(trouble) => this.broken(trouble),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};

    use super::*;

    fn incoming(budget: &Budget, body: Body) -> (Arc<Intake>, Body) {
        let taken = budget.take("a", 0).unwrap();
        let intake = Arc::new(Intake(Mutex::new(BodyBudget { taken, bytes: 0, trouble: None })));
        let count = Arc::clone(&intake);
        let max_pause = Duration::from_millis(50);
        (intake, Body::new(Incoming { body, count, max_pause, pause: None }))
    }

    #[tokio::test]
    async fn a_body_that_does_not_go_on_is_broken_off() {
        let budget = Budget::new(10, 10);
        let some = stream::iter([Ok::<_, axum::Error>(Bytes::from_static(b"some"))]);
        let (intake, body) = incoming(&budget, Body::from_stream(some.chain(stream::pending())));
        let mut pieces = body.into_data_stream();
        assert_eq!(pieces.next().await.unwrap().unwrap(), "some");
        assert!(pieces.next().await.unwrap().is_err());
        let problem = intake.held().trouble.unwrap().problem();
        assert_eq!(problem.status(), StatusCode::REQUEST_TIMEOUT);
    }

    #[tokio::test]
    async fn what_came_counts_until_it_is_answered() {
        let budget = Budget::new(10, 6);
        let (intake, body) = incoming(&budget, Body::from(vec![0; 5 << 10]));
        assert_eq!(axum::body::to_bytes(body, usize::MAX).await.unwrap().len(), 5 << 10);
        assert_eq!(budget.take("a", 2).unwrap_err(), LimitExceeded::Own);
        assert!(budget.take("b", 5).is_ok(), "others have a share of their own");
        drop(intake);
        let (intake, body) = incoming(&budget, Body::from(vec![0; 7 << 10]));
        assert!(axum::body::to_bytes(body, usize::MAX).await.is_err());
        let problem = intake.held().trouble.unwrap().problem();
        assert_eq!(problem.status(), StatusCode::TOO_MANY_REQUESTS);
    }
}
