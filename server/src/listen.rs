//! The server on a socket: binds, says where, serves, and ends cleanly.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How long open requests may take once the server was told to end.
const GRACE: Duration = Duration::from_secs(10);

/// How long a client may take to send the headers of a request, or to begin with the next one.
/// Those who send a letter now and then would hold a connection for ever.
const HEADERS: Duration = Duration::from_secs(20);

/// Pause after a connection that couldn't be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Why the server didn't run.
#[derive(Debug)]
pub(crate) enum ListenError {
    /// The address can't be listened on.
    Bind(io::Error),
    /// Anything later.
    Serve(io::Error),
}

/// Serves until the process is told to end, which `closing` hears; `bound` hears the address as
/// soon as there is one. `last` is waited for then: conversations that outlive their request.
pub(crate) fn serve(
    listen: &str,
    router: Router,
    closing: &watch::Sender<bool>,
    last: impl Future<Output = ()>,
    bound: impl FnOnce(SocketAddr),
) -> Result<(), ListenError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(ListenError::Serve)?.block_on(async {
        let listener = TcpListener::bind(listen).await.map_err(ListenError::Bind)?;
        let stop = Stop::listen().map_err(ListenError::Serve)?;
        bound(listener.local_addr().map_err(ListenError::Bind)?);
        run(listener, router, closing, last, stop).await.map_err(ListenError::Serve)
    })
}

async fn run(
    listener: TcpListener,
    router: Router,
    closing: &watch::Sender<bool>,
    last: impl Future<Output = ()>,
    mut stop: Stop,
) -> io::Result<()> {
    // Each connection holds a receiver, so that the sender knows when none is left.
    let (open, one) = watch::channel(());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.wait() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (router, ended) = (router.clone(), closing.subscribe());
                let one = one.clone();
                tokio::spawn(async move {
                    answer(stream, peer, router, ended).await;
                    drop(one);
                });
            }
            Err(error) => {
                // The client is gone already, or there are no descriptors left: others go on.
                tracing::warn!(%error, "a connection can't be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    tracing::info!("ending: open requests have {} s", GRACE.as_secs());
    drop((listener, one));
    closing.send_replace(true);
    let all = async {
        open.closed().await;
        last.await;
    };
    // Whoever isn't done by then isn't waited for.
    let _ = tokio::time::timeout(GRACE, all).await;
    Ok(())
}

/// Answers the requests of a connection.
async fn answer(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    mut ended: watch::Receiver<bool>,
) {
    // Small messages of a session's socket don't wait for more.
    let _ = stream.set_nodelay(true);
    // Sweeps are shared out fairly between addresses.
    let service = TowerToHyperService::new(router.layer(Extension(ConnectInfo(peer))));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS);
    let connection = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut connection = pin!(connection);
    let told = async move { drop(ended.wait_for(|ended| *ended).await) };
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = told => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "a connection broke");
    }
}

/// The signals that end the server: SIGINT (Ctrl-C) and SIGTERM.
#[cfg(unix)]
struct Stop {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stop {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// What ends the server: Ctrl-C.
#[cfg(not(unix))]
struct Stop;

#[cfg(not(unix))]
impl Stop {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn wait(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
