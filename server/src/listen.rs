//! The server on a socket: binds, says where, serves, and ends cleanly.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long open requests may take once the server was told to end.
const GRACE: Duration = Duration::from_secs(10);

/// Why the server didn't run.
#[derive(Debug)]
pub(crate) enum ListenError {
    /// The address can't be listened on.
    Bind(io::Error),
    /// Anything later.
    Serve(io::Error),
}

/// Serves until the process is told to end, which `closing` hears; `bound` hears the address as
/// soon as there is one.
pub(crate) fn serve(
    listen: &str,
    router: Router,
    closing: &watch::Sender<bool>,
    bound: impl FnOnce(SocketAddr),
) -> Result<(), ListenError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(ListenError::Serve)?.block_on(async {
        let listener = TcpListener::bind(listen).await.map_err(ListenError::Bind)?;
        let stop = Stop::listen().map_err(ListenError::Serve)?;
        bound(listener.local_addr().map_err(ListenError::Bind)?);
        run(listener, router, closing, stop).await.map_err(ListenError::Serve)
    })
}

async fn run(
    listener: TcpListener,
    router: Router,
    closing: &watch::Sender<bool>,
    mut stop: Stop,
) -> io::Result<()> {
    let (ending, mut ended) = (closing.clone(), closing.subscribe());
    let told = async move {
        stop.wait().await;
        tracing::info!("ending: open requests have {} s", GRACE.as_secs());
        ending.send_replace(true);
    };
    // Sweeps are shared out fairly between addresses.
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service).with_graceful_shutdown(told).into_future();
    let grace = async {
        if ended.wait_for(|ending| *ending).await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        outcome = serving => outcome,
        () = grace => Ok(()),
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
