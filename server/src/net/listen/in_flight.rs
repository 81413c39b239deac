//! Work under way on a connection: requests of which something is still to come, answers that are
//! made, and bytes that its other end has to take. It says who is waited for when the server ends.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// Bytes that a reader takes between two looks, at least, where a server that ends waits for it: a
/// slower one wouldn't have the rest in time. The end of an answer is the system's to send.
const MIN_PACE_BYTES: usize = 128 << 10;

/// Work under way on one connection.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// Requests that are being answered.
    answering: AtomicUsize,
    /// Requests, among these, that aren't here whole.
    incoming: AtomicUsize,
    /// Bytes that were taken since the last look.
    taken: AtomicUsize,
    /// Whether the server waits for its reader.
    is_held_up: AtomicBool,
}

impl InFlight {
    /// Notes that the other end took `bytes`.
    pub(super) fn record_taken(&self, bytes: usize) {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        self.is_held_up.store(false, Ordering::Relaxed);
    }

    /// Notes that the other end has to take something first.
    pub(super) fn record_blocked(&self) {
        self.is_held_up.store(true, Ordering::Relaxed);
    }

    /// Whether it is worth waiting until the next look: for an answer that is made, and for one
    /// that is taken at a pace; a request that isn't whole is nobody's.
    pub(super) fn is_progressing(&self) -> bool {
        let taken = self.taken.swap(0, Ordering::Relaxed);
        if self.is_held_up.load(Ordering::Relaxed) {
            return taken >= MIN_PACE_BYTES;
        }
        let [answering, incoming] =
            [&self.answering, &self.incoming].map(|it| it.load(Ordering::Relaxed));
        answering > incoming
    }
}

/// One more of something, until it is dropped.
#[derive(Debug)]
struct One {
    of: Arc<InFlight>,
    count: fn(&InFlight) -> &AtomicUsize,
}

impl One {
    fn new(of: &Arc<InFlight>, count: fn(&InFlight) -> &AtomicUsize) -> Self {
        count(of).fetch_add(1, Ordering::Relaxed);
        Self { of: Arc::clone(of), count }
    }
}

impl Drop for One {
    fn drop(&mut self) {
        (self.count)(&self.of).fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that is being answered, until all of the answer was handed out.
#[derive(Debug)]
pub(super) struct Answering {
    _one: One,
}

impl Answering {
    pub(super) fn new(in_flight: &Arc<InFlight>) -> Self {
        Self { _one: One::new(in_flight, |it| &it.answering) }
    }
}

/// A request's body, which counts as coming until it is whole or nobody reads it any more.
#[derive(Debug)]
pub(super) struct IncomingBody<B> {
    body: B,
    rest: Option<One>,
}

impl<B: HttpBody> IncomingBody<B> {
    pub(super) fn new(in_flight: &Arc<InFlight>, body: B) -> Self {
        let rest = (!body.is_end_stream()).then(|| One::new(in_flight, |it| &it.incoming));
        Self { body, rest }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for IncomingBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let frame = Pin::new(&mut this.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || this.body.is_end_stream() {
            this.rest = None;
        }
        frame
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
    use axum::body::Body;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_request_counts_from_when_it_is_whole() {
        let in_flight = Arc::default();
        assert!(!InFlight::is_progressing(&in_flight), "nothing is under way");
        let answering = Answering::new(&in_flight);
        let body = IncomingBody::new(&in_flight, Body::from("whole"));
        assert!(!in_flight.is_progressing(), "none of it was read");
        assert_eq!(body.collect().await.unwrap().to_bytes(), "whole");
        assert!(in_flight.is_progressing());
        let empty = IncomingBody::new(&in_flight, Body::empty());
        assert!(in_flight.is_progressing(), "there is nothing to come");
        drop((answering, empty));
        assert!(!in_flight.is_progressing());
    }

    #[test]
    fn a_request_that_nobody_reads_to_its_end_is_answered() {
        let in_flight = Arc::default();
        let _answering = Answering::new(&in_flight);
        drop(IncomingBody::new(&in_flight, Body::from("too long")));
        assert!(in_flight.is_progressing());
    }

    #[test]
    fn a_reader_is_waited_for_who_takes_what_there_is() {
        let in_flight = Arc::default();
        let _answering = Answering::new(&in_flight);
        in_flight.record_blocked();
        assert!(!in_flight.is_progressing(), "it takes nothing");
        in_flight.record_taken(MIN_PACE_BYTES);
        in_flight.record_blocked();
        assert!(
            in_flight.is_progressing() && !in_flight.is_progressing(),
            "each look is for itself"
        );
        in_flight.record_taken(1);
        assert!(in_flight.is_progressing(), "nothing waits for it");
    }
}
