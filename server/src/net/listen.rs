//! The server on a socket: binds, says where, serves, and ends cleanly.

mod connection_limiter;
mod in_flight;
mod stall_timeout;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use axum::response::IntoResponse;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::net::client;
use crate::net::hosts::Local;
use crate::net::work::MAX_THREADS;
pub(crate) use connection_limiter::{
    ConnectionLimiter, Limits, MAX_CONNECTIONS, RESERVED_DESCRIPTORS,
};
use connection_limiter::{ConnectionPermit, LogThrottle};
use in_flight::{Answering, InFlight, IncomingBody};
use stall_timeout::{MAX_STALL, StallTimeout};

/// Time that open requests may take once the server was told to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Time for which an idle connection stays open then: what was sent last may still be on its way,
/// but half of a request is nobody's, and who reads slowly doesn't get the rest in time.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Time in which a client has to send the headers of a request, or to begin with the next one. A
/// client that sends a byte now and then would hold a connection for ever.
const HEADER_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes that a connection holds of a request's headers, and of an answer before it waits.
const MAX_BUFFER_BYTES: usize = 64 << 10;

/// Bytes that the system holds of an answer before any of them is on its way.
#[cfg(any(target_os = "android", target_os = "linux"))]
const MAX_UNSENT_BYTES: u32 = 128 << 10;

/// Pause after a connection that couldn't be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Reason why the server didn't run.
#[derive(Debug)]
pub(crate) enum ListenError {
    /// The address that this flag names can't be listened on.
    Bind { flag: &'static str, address: String, error: io::Error },
    /// Anything later.
    Serve(io::Error),
}

/// Something that answers at an address.
pub(crate) struct Endpoint {
    /// The flag that names it.
    pub(crate) flag: &'static str,
    pub(crate) address: String,
    pub(crate) router: Router,
    pub(crate) limiter: ConnectionLimiter,
}

impl Endpoint {
    async fn bind(&self) -> Result<TcpListener, ListenError> {
        let (flag, address) = (self.flag, self.address.clone());
        let bound = TcpListener::bind(&self.address).await;
        bound.map_err(|error| ListenError::Bind { flag, address, error })
    }
}

/// Serves until the process is told to end, which `closing` hears; `bound` hears the addresses as
/// soon as there are some. `last` is waited for then: conversations that outlive their request.
pub(crate) fn serve(
    service: Endpoint,
    beside: Option<Endpoint>,
    closing: &watch::Sender<bool>,
    last: impl Future<Output = ()>,
    bound: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> Result<(), ListenError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().max_blocking_threads(MAX_THREADS);
    let runtime = runtime.build().map_err(ListenError::Serve)?;
    let outcome = runtime.block_on(async {
        let listener = service.bind().await?;
        let other = match beside {
            None => None,
            Some(beside) => Some((beside.bind().await?, beside)),
        };
        let at = |listener: &TcpListener| listener.local_addr().map_err(ListenError::Serve);
        let stop = Stop::listen().map_err(ListenError::Serve)?;
        bound(at(&listener)?, other.as_ref().map(|(listener, _)| at(listener)).transpose()?);
        if let Some((listener, service)) = other {
            // It ends with the process: nobody waits for it.
            let (closing, (_, one)) = (closing.clone(), watch::channel(()));
            tokio::spawn(async move { accept(&listener, &service, &closing, &one).await });
        }
        run(listener, service, closing, last, stop).await;
        Ok(())
    });
    // What is still computed is nobody's: a search would hold the end up for half a minute.
    runtime.shutdown_timeout(DRAIN_TIMEOUT);
    outcome
}

async fn run(
    listener: TcpListener,
    service: Endpoint,
    closing: &watch::Sender<bool>,
    last: impl Future<Output = ()>,
    mut stop: Stop,
) {
    // Each connection holds a receiver, so that the sender knows when none is left.
    let (open, one) = watch::channel(());
    tokio::select! {
        () = accept(&listener, &service, closing, &one) => {}
        () = stop.wait() => {}
    }
    tracing::info!("ending: open requests have {} s", SHUTDOWN_TIMEOUT.as_secs());
    drop((listener, one));
    closing.send_replace(true);
    let all = async {
        open.closed().await;
        last.await;
    };
    // Whoever isn't done by then isn't waited for.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, all).await;
}

/// Lets connections in, for ever.
async fn accept(
    listener: &TcpListener,
    service: &Endpoint,
    closing: &watch::Sender<bool>,
    one: &watch::Receiver<()>,
) {
    let limiter = &service.limiter;
    let (mut full, mut failed) = (LogThrottle::default(), LogThrottle::default());
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => match limiter.admit(peer) {
                Ok(permit) => {
                    let (router, ended) = (service.router.clone(), closing.subscribe());
                    let one = one.clone();
                    tokio::spawn(async move {
                        answer(stream, permit, router, ended).await;
                        drop(one);
                    });
                }
                Err(short) => {
                    connection_limiter::reject(stream);
                    if let Some(times) = full.due() {
                        let network = client::network(peer.ip());
                        tracing::warn!(?short, network, times, "connections are turned away");
                    }
                }
            },
            Err(error) => {
                // The client is gone already, or there are no descriptors left: others go on.
                if let Some(times) = failed.due() {
                    tracing::warn!(%error, times, "a connection can't be accepted");
                }
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// Waits for what comes over a connection.
async fn answer(
    stream: TcpStream,
    permit: Arc<ConnectionPermit>,
    router: Router,
    mut ended: watch::Receiver<bool>,
) {
    // The client is gone already.
    let Ok(local) = stream.local_addr() else { return };
    // Small messages of a session's socket don't wait for more.
    let _ = stream.set_nodelay(true);
    bound_unsent(&stream);
    // Until something comes a connection costs its socket and little more.
    let begun = tokio::select! {
        begun = tokio::time::timeout(HEADER_TIMEOUT, stream.readable()) => {
            matches!(begun, Ok(Ok(())))
        }
        _ = ended.wait_for(|ended| *ended) => false,
    };
    if begun {
        Box::pin(serve_connection(stream, local, permit, router, ended)).await;
    }
}

/// Answers the requests of a connection on which one begins.
async fn serve_connection(
    stream: TcpStream,
    local: SocketAddr,
    permit: Arc<ConnectionPermit>,
    router: Router,
    mut ended: watch::Receiver<bool>,
) {
    let in_flight = Arc::new(InFlight::default());
    let (held, noted) = (Arc::clone(&permit), Arc::clone(&in_flight));
    let stream = TokioIo::new(StallTimeout::new(stream, held, Arc::clone(&in_flight), MAX_STALL));
    let service = TowerToHyperService::new(router);
    let service = service_fn(move |request| handle(&permit, local, &service, &noted, request));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_BUFFER_BYTES);
    let connection = builder.serve_connection(stream, service).with_upgrades();
    let mut connection = pin!(connection);
    let told = async move { drop(ended.wait_for(|ended| *ended).await) };
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = told => {
            connection.as_mut().graceful_shutdown();
            loop {
                match tokio::time::timeout(DRAIN_TIMEOUT, connection.as_mut()).await {
                    Ok(outcome) => break outcome,
                    Err(_) if in_flight.is_progressing() => {}
                    Err(_) => return,
                }
            }
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Lets the system take as much of an answer as is on its way, and little more: what a slow reader
/// makes wait is bounded here, and a reader that goes on is seen to.
fn bound_unsent(stream: &TcpStream) {
    #[cfg(any(target_os = "android", target_os = "linux"))]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(MAX_UNSENT_BYTES);
    #[cfg(not(any(target_os = "android", target_os = "linux")))]
    let _ = stream;
}

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Answers a request that knows over which connection it came: sweeps, for one, are shared out
/// fairly between addresses. The router is the same for all of them.
fn handle(
    permit: &ConnectionPermit,
    local: SocketAddr,
    service: &TowerToHyperService<Router>,
    in_flight: &Arc<InFlight>,
    mut request: Request<Incoming>,
) -> Answer {
    let answering = Answering::new(in_flight);
    let place = match permit.count_forwarded(request.headers()) {
        Ok(place) => place,
        Err(problem) => return Box::pin(async { Ok(problem.into_response()) }),
    };
    request.extensions_mut().insert(ConnectInfo(permit.peer));
    request.extensions_mut().insert(Local(local));
    let answer = service.call(request.map(|body| IncomingBody::new(in_flight, body)));
    Box::pin(async move {
        let response = answer.await?;
        // The body of the answer holds both as long as it is sent.
        Ok(response.map(|body| {
            Body::new(body.map_err(move |error| {
                let _held = (&place, &answering);
                error
            }))
        }))
    })
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

/// Signal that ends the server: Ctrl-C.
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
