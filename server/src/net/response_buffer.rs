//! Answers on their way out: what waits for slow readers is bounded, for all and for each address.
//!
//! An answer that was made whole counts with its bytes until the last of them is sent. One that is
//! made while it is sent is written by a thread of its own, which waits for its reader, and counts
//! with what that holds. How long it may wait is the socket's matter: see `listen::patient`.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures_util::stream;
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

use crate::net::client::Client;
use crate::net::limits::{Budget, LimitExceeded, Taken};
use crate::net::problem::Problem;

/// Memory that all answers that wait may hold together, and those to one address, KiB.
const MAX_WAITING_KIB: u32 = 256 << 10;
const MAX_SHARE_KIB: u32 = 64 << 10;

/// Answers from this size on are counted: for smaller ones the number of connections is a bound.
const MIN_COUNTED_BYTES: u64 = 64 << 10;

/// Memory held by a thread that writes an answer: pieces that wait, its stack, what it decodes or
/// encodes with.
const WRITER_KIB: u64 = 1 << 10;

/// Bytes that are sent at once, and pieces that wait for a slow reader.
const PIECE_BYTES: usize = 64 << 10;
const MAX_PIECES: usize = 4;

/// An answer whose bytes all share: it costs nothing to have it wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared;

/// The room for answers that wait.
pub(crate) fn outbox() -> Arc<Budget> {
    Arc::new(Budget::new(MAX_WAITING_KIB, MAX_SHARE_KIB))
}

/// Counts an answer until it is sent. What comes out ends once: an encoder may ask a body again
/// that has ended, and not every body bears that.
pub(crate) async fn counted(
    State(outbox): State<Arc<Budget>>,
    Client(client): Client,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = next.run(request).await.into_parts();
    let bytes = body.size_hint().exact().unwrap_or_default();
    let is_shared = parts.extensions.get::<Shared>().is_some();
    let room = if is_shared || bytes < MIN_COUNTED_BYTES {
        None
    } else {
        match room(&outbox, &client, bytes.div_ceil(1 << 10)) {
            Ok(room) => Some(Arc::new(room)),
            Err(problem) => return problem.into_response(),
        }
    };
    Response::from_parts(parts, Body::new(Outgoing { body: Some(body), room }))
}

fn room(outbox: &Budget, client: &str, kib: u64) -> Result<Taken, Problem> {
    outbox.take(client, kib).map_err(|short| match short {
        LimitExceeded::All => {
            let detail = "as many large answers are being sent as the server has memory for";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_retry(10)
        }
        LimitExceeded::Own => {
            let detail = "as many large answers are being sent to your address as may be; read \
                          those first";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(10)
        }
    })
}

/// An answer's body: what it holds counts until it is sent, and it ends once.
struct Outgoing {
    body: Option<Body>,
    room: Option<Arc<Taken>>,
}

/// Bytes that count.
struct Counted {
    bytes: Bytes,
    _room: Arc<Taken>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        let Some(Ok(frame)) = frame else {
            this.body = None;
            return Poll::Ready(frame);
        };
        let Some(room) = &this.room else { return Poll::Ready(Some(Ok(frame))) };
        // The connection keeps bytes of a body that has ended.
        let counted = |bytes| Bytes::from_owner(Counted { bytes, _room: Arc::clone(room) });
        Poll::Ready(Some(Ok(frame.map_data(counted))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

/// An answer that comes as it is: whoever made it has chosen its encoding. An encoder of brotli
/// would hold some 20 MiB for a stream, one of gzip 0.3 MiB.
#[derive(Clone, Copy, Debug)]
struct AsItIs;

/// Whether an answer is still to be encoded.
pub(crate) fn may_be_encoded(
    _: StatusCode,
    _: Version,
    _: &HeaderMap,
    extensions: &Extensions,
) -> bool {
    extensions.get::<AsItIs>().is_none()
}

/// An answer that `work` writes while it is read, packed for those who take gzip.
pub(crate) fn streamed(
    outbox: &Budget,
    client: &str,
    asked: &HeaderMap,
    work: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()> + Send + 'static,
) -> Result<Response, Problem> {
    let is_packed = takes_gzip(asked);
    let body = written(outbox, client, 0, move |sink| {
        if !is_packed {
            return work(sink);
        }
        let mut encoder = GzEncoder::new(sink, Compression::fast());
        work(&mut encoder)?;
        encoder.finish().map(drop)
    })?;
    Ok(as_it_is(body, is_packed))
}

fn as_it_is(body: Body, is_packed: bool) -> Response {
    let mut response = (Extension(AsItIs), body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// A body that `work` writes on a thread of its own, while it is read; it holds `held_bytes`
/// meanwhile. An error of it shows the reader that the answer isn't whole.
fn written(
    outbox: &Budget,
    client: &str,
    held_bytes: usize,
    work: impl FnOnce(&mut Sink) -> io::Result<()> + Send + 'static,
) -> Result<Body, Problem> {
    let room = room(outbox, client, WRITER_KIB + (held_bytes as u64).div_ceil(1 << 10))?;
    let (to, mut from) = mpsc::channel(MAX_PIECES);
    let thread = std::thread::Builder::new().name("writer".to_owned());
    let started = thread.spawn(move || {
        let mut sink = Sink { to, piece: Vec::with_capacity(PIECE_BYTES) };
        let written = work(&mut sink).and_then(|()| sink.flush());
        if let Err(error) = written
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            tracing::error!(%error, "an answer breaks off");
            let _ = sink.to.blocking_send(Err(error));
        }
        drop(room);
    });
    started.map_err(|error| {
        tracing::error!(%error, "no thread can be started");
        let detail = "the server is too busy to write this answer";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_retry(10)
    })?;
    Ok(Body::from_stream(stream::poll_fn(move |context| from.poll_recv(context))))
}

/// Sends what is written, in pieces.
struct Sink {
    to: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..fits]);
        if self.piece.len() == PIECE_BYTES {
            self.flush()?;
        }
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        let sent = self.to.blocking_send(Ok(piece.into()));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Text as it is sent by [`packed`].
pub(crate) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Content that is kept packed (gzip), and how much of it is in memory.
pub(crate) struct Packed<R> {
    pub(crate) stored: R,
    pub(crate) held_bytes: usize,
    /// Bytes that it unpacks to, at most.
    pub(crate) most_bytes: u64,
}

/// An answer of what is kept packed: it goes as it is to those who take that, and to others it is
/// unpacked while it is sent.
pub(crate) fn packed(
    outbox: &Budget,
    client: &str,
    asked: &HeaderMap,
    packed: Packed<impl Read + Send + 'static>,
) -> Result<Response, Problem> {
    let as_stored = takes_gzip(asked);
    let Packed { mut stored, held_bytes, most_bytes } = packed;
    let body = written(outbox, client, held_bytes, move |sink| {
        if as_stored {
            io::copy(&mut stored, sink)?;
        } else {
            io::copy(&mut GzDecoder::new(stored).take(most_bytes), sink)?;
        }
        Ok(())
    })?;
    Ok(as_it_is(body, as_stored))
}

/// Whether a client takes gzip.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let accepts = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepts.is_some_and(accepts_gzip)
}

fn accepts_gzip(accepts: &str) -> bool {
    accepts.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let refused = |part: &str| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        parts.next() == Some("gzip") && !parts.any(refused)
    })
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    /// A body that panics when it is asked again after its end.
    fn delicate() -> Body {
        let piece = Ok::<_, io::Error>(Bytes::from_static(b"piece"));
        Body::from_stream(stream::unfold(Some(piece), |piece| async { Some((piece?, None)) }))
    }

    #[tokio::test]
    async fn a_body_ends_once_however_often_it_is_asked() {
        let mut body = Outgoing { body: Some(delicate()), room: None };
        let mut frames = 0;
        for _ in 0..4 {
            let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
            frames += usize::from(next.await.is_some());
        }
        assert_eq!(frames, 1);
        assert!(body.is_end_stream());
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_last_byte_is_dropped() {
        let outbox = Budget::new(100, 100);
        let taken = room(&outbox, "a", 100).unwrap();
        let room_of = Some(Arc::new(taken));
        let mut body = Outgoing { body: Some(Body::from("text")), room: room_of };
        let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let bytes = next.await.unwrap().unwrap().into_data().unwrap();
        drop(body);
        assert!(outbox.take("b", 1).is_err(), "its bytes are still there");
        assert_eq!(&bytes[..], b"text");
        drop(bytes);
        assert!(outbox.take("b", 100).is_ok());
    }

    #[tokio::test]
    async fn a_thread_writes_no_more_than_a_reader_takes() {
        let outbox = Budget::new(2_048, 2_048);
        let whole = vec![7; 20 * PIECE_BYTES + 3];
        let (sent, expected) = (whole.clone(), whole);
        let body = written(&outbox, "a", 0, move |sink| sink.write_all(&sent)).unwrap();
        assert!(outbox.take("a", 1_025).is_err(), "it counts while it is written");
        let mut pieces = body.into_data_stream();
        let mut found = Vec::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece.unwrap();
            assert!(piece.len() <= PIECE_BYTES);
            found.extend_from_slice(&piece);
        }
        assert!(found == expected);
        let failing = |sink: &mut Sink| {
            sink.write_all(b"some")?;
            sink.flush()?;
            Err(io::Error::other("no more"))
        };
        let body = written(&outbox, "a", 0, failing).unwrap();
        let pieces: Vec<_> = body.into_data_stream().collect().await;
        assert!(pieces[0].is_ok() && pieces[1].is_err() && pieces.len() == 2);
    }

    #[test]
    fn gzip_goes_to_those_who_take_it() {
        assert!(accepts_gzip("br, gzip;q=0.5") && !accepts_gzip("gzip;q=0") && !accepts_gzip("br"));
    }
}
