//! A stream to a client that has to take what it asked for: whoever takes nothing, or next to
//! nothing, is cut off. It holds for whatever is sent, answers, events and sockets alike. A server
//! that has nothing to say waits for nobody.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::in_flight::InFlight;

/// Time in which a client has to take [`MIN_TAKEN_BYTES`] of what it is sent, or all of it.
pub(super) const MAX_STALL: Duration = Duration::from_secs(30);

/// Smallest number of bytes of a longer answer that a client takes within [`MAX_STALL`]: some 0.5
/// KiB a second.
const MIN_TAKEN_BYTES: usize = 16 << 10;

/// A stream and how long its other end has made us wait.
#[derive(Debug)]
pub(super) struct StallTimeout<S, H> {
    stream: S,
    /// Value that is held as long as the stream is open.
    _held: H,
    /// Hears what the other end takes.
    in_flight: Arc<InFlight>,
    max_stall: Duration,
    /// Set while there is something that the other end doesn't take.
    stall: Option<Stall>,
}

#[derive(Debug)]
struct Stall {
    over: Pin<Box<Sleep>>,
    /// Bytes that were taken since it began.
    taken: usize,
    /// Did the last attempt have to wait?
    waits: bool,
}

impl<S, H> StallTimeout<S, H> {
    pub(super) fn new(stream: S, held: H, in_flight: Arc<InFlight>, max_stall: Duration) -> Self {
        Self { stream, _held: held, in_flight, max_stall, stall: None }
    }

    /// Judges an attempt to send.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &sent {
            Poll::Ready(Ok(bytes)) => self.in_flight.record_taken(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.in_flight.record_blocked(),
        }
        let max_stall = self.max_stall;
        let begin = || Stall { over: Box::pin(sleep(max_stall)), taken: 0, waits: true };
        match (sent, &mut self.stall) {
            (Poll::Pending, stall) => {
                let stall = stall.get_or_insert_with(begin);
                if !stall.waits && stall.over.deadline() <= Instant::now() {
                    // Nothing was waited for meanwhile.
                    *stall = begin();
                }
                stall.waits = true;
                ready!(stall.over.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            (Poll::Ready(Ok(bytes)), Some(stall)) => {
                stall.taken += bytes;
                let is_late = stall.waits && stall.over.deadline() <= Instant::now();
                stall.waits = false;
                if stall.taken >= MIN_TAKEN_BYTES {
                    self.stall = None;
                } else if is_late {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Poll::Ready(Ok(bytes))
            }
            (sent, _) => sent,
        }
    }
}

impl<S: AsyncRead + Unpin, H: Unpin> AsyncRead for StallTimeout<S, H> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin, H: Unpin> AsyncWrite for StallTimeout<S, H> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.judge(context, sent)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.stream).poll_write_vectored(context, bytes);
        this.judge(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // All that there was is taken.
        this.stall = None;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::timeout;

    use super::*;

    const STALL: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn whoever_takes_nothing_is_cut_off() {
        let (ours, _theirs) = duplex(64);
        let mut ours = StallTimeout::new(ours, (), Arc::default(), STALL);
        let error = ours.write_all(&[0; 1_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn whoever_takes_next_to_nothing_is_cut_off_too() {
        let (ours, mut theirs) = duplex(64);
        let reader = tokio::spawn(async move {
            while theirs.read_u8().await.is_ok() {
                sleep(STALL / 20).await;
            }
        });
        let mut ours = StallTimeout::new(ours, (), Arc::default(), STALL);
        let sent = timeout(STALL * 5, ours.write_all(&[0; 100_000])).await.unwrap();
        assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(ours);
        reader.await.unwrap();
    }

    #[tokio::test]
    async fn a_pause_in_which_nothing_is_sent_is_no_stall() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = StallTimeout::new(ours, (), Arc::default(), STALL);
        for _ in 0..2 {
            // More than the pipe holds: the first attempt waits.
            let (sent, read) = ([1; 100], &mut [0; 100]);
            let (sent, read) = tokio::join!(ours.write_all(&sent), theirs.read_exact(read));
            assert!(sent.is_ok() && read.is_ok());
            sleep(STALL * 2).await;
        }
        ours.flush().await.unwrap();
        assert!(ours.stall.is_none());
    }

    #[tokio::test]
    async fn a_reader_that_goes_on_gets_all_of_it() {
        let (ours, mut theirs) = duplex(32 << 10);
        // A busy machine may hold up the reader for longer than it sleeps.
        let mut ours = StallTimeout::new(ours, (), Arc::default(), STALL * 50);
        let reader = tokio::spawn(async move {
            let mut piece = vec![0; 32 << 10];
            let mut all = 0;
            while let Ok(bytes @ 1..) = theirs.read(&mut piece).await {
                all += bytes;
                sleep(STALL / 10).await;
            }
            all
        });
        ours.write_all(&vec![0; 1 << 20]).await.unwrap();
        drop(ours);
        assert_eq!(reader.await.unwrap(), 1 << 20);
    }
}
