//! Limits on connections: a number for all, and one for each address.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode};
use tokio::net::TcpStream;

use crate::net::address_counts::Place;
use crate::net::client;
use crate::net::limits::{Budget, LimitExceeded, Taken};
use crate::net::problem::Problem;
use crate::net::proxies::{self, Proxies};
use crate::net::telemetry::{Connected, Telemetry};

/// Connections of a server, at most, by default.
pub(crate) const MAX_CONNECTIONS: u32 = 4_096;

/// Connections of an address, at most, by default: a company's network may be one address to it.
const MAX_CONNECTIONS_PER_ADDRESS: u32 = 512;

/// Descriptors that are left for everything else: the store, files that are sent, other servers.
pub(crate) const RESERVED_DESCRIPTORS: u64 = 48;

/// Largest number of connections, of all and of one address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) connections: u32,
    pub(crate) per_address: u32,
}

impl Limits {
    /// Limits of so many connections of all and of one address. By default the latter allows for
    /// twice the `sockets` of sessions that an address may have: browsers have one of those and a
    /// few more.
    pub(crate) fn new(connections: u32, per_address: Option<u32>, sockets: u32) -> Self {
        let usual = MAX_CONNECTIONS_PER_ADDRESS.max(sockets.saturating_mul(2));
        Self { connections, per_address: per_address.unwrap_or(usual) }
    }

    /// Limits that there are descriptors for, after the process asked for as many as they take.
    pub(crate) fn possible(self) -> Self {
        self.within(descriptors(self.connections))
    }

    /// Limits that fit the number of descriptors. No address has more than half of all.
    fn within(self, descriptors: u64) -> Self {
        let most = descriptors.saturating_sub(RESERVED_DESCRIPTORS).max(2);
        let connections = self.connections.min(u32::try_from(most).unwrap_or(u32::MAX)).max(1);
        let per_address = self.per_address.min(connections.div_ceil(2));
        Self { connections, per_address }
    }
}

/// Descriptors that this process may have, after it asked for as many as these connections take.
#[cfg(unix)]
fn descriptors(connections: u32) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = u64::from(connections) + 2 * RESERVED_DESCRIPTORS;
    let (Some(now), most) = (current, maximum.unwrap_or(u64::MAX)) else { return u64::MAX };
    let more = now.max(wanted.min(most));
    let asked = Rlimit { current: Some(more), maximum };
    if more > now && setrlimit(Resource::Nofile, asked).is_ok() { more } else { now }
}

#[cfg(not(unix))]
fn descriptors(_: u32) -> u64 {
    u64::MAX
}

/// Limiter of the connections that are open.
#[derive(Debug)]
pub(crate) struct ConnectionLimiter {
    places: Arc<Budget>,
    proxies: Arc<Proxies>,
    telemetry: Arc<Telemetry>,
}

/// Permit of a connection that was let in, held until its socket is closed.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    pub(super) peer: SocketAddr,
    taken: Mutex<Taken>,
    _connected: Connected,
    limiter: Arc<Budget>,
    proxies: Arc<Proxies>,
}

impl ConnectionLimiter {
    /// A limiter for these proxies' visitors too, which counts connections.
    pub(crate) fn new(limits: Limits, proxies: Arc<Proxies>, telemetry: Arc<Telemetry>) -> Self {
        let places = Arc::new(Budget::new(limits.connections, limits.per_address));
        Self { places, proxies, telemetry }
    }

    /// Lets a connection in.
    ///
    /// # Errors
    /// Why there is no room for it.
    pub(super) fn admit(&self, peer: SocketAddr) -> Result<Arc<ConnectionPermit>, LimitExceeded> {
        let taken = self.places.take(&client::network(peer.ip()), 1);
        let taken = taken.inspect_err(|short| {
            self.telemetry.refused(match short {
                LimitExceeded::All => "connections",
                LimitExceeded::Own => "connections_of_address",
            });
        });
        let (taken, _connected) = (Mutex::new(taken?), self.telemetry.connected());
        let (limiter, proxies) = (Arc::clone(&self.places), Arc::clone(&self.proxies));
        Ok(Arc::new(ConnectionPermit { peer, taken, _connected, limiter, proxies }))
    }
}

impl ConnectionPermit {
    /// Counts a request that a proxy that is believed passes on as one of whoever sent it: the
    /// proxy's own connection is nobody's then.
    ///
    /// # Errors
    /// A problem for a client who has as many requests under way as it may have connections.
    pub(super) fn count_forwarded(&self, headers: &HeaderMap) -> Result<Option<Place>, Problem> {
        if !self.proxies.believe(self.peer.ip()) {
            return Ok(None);
        }
        let behind = proxies::forwarded(headers, &self.proxies);
        let Some(behind) = behind else { return Ok(None) };
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).stands_for_others();
        self.limiter.share_of(&behind, 1).map(Some).map_err(|_| {
            let detail = "as many requests of your address are under way as may be";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_retry(5)
        })
    }
}

/// Says that there is no room, and closes. Nothing is waited for.
pub(super) fn reject(stream: TcpStream) {
    const ANSWER: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\n\
        content-type: text/plain\r\ncontent-length: 43\r\nconnection: close\r\n\r\n\
        too many connections are open; retry later\n";
    let Ok(mut stream) = stream.into_std() else { return };
    let _ = stream.write(ANSWER);
    let _ = stream.shutdown(Shutdown::Write);
    // A system that finds bytes unread at the end takes the answer back.
    let _ = stream.read(&mut [0; 4_096]);
}

/// Throttle of a line of the log that may be due very often: once a second at most.
#[derive(Debug, Default)]
pub(super) struct LogThrottle {
    said: Option<Instant>,
    count: u64,
}

impl LogThrottle {
    /// Number of times that it happened since the last report, if it is time for one.
    pub(super) fn due(&mut self) -> Option<u64> {
        const LOG_INTERVAL: Duration = Duration::from_secs(1);
        self.count += 1;
        if self.said.is_some_and(|said| said.elapsed() < LOG_INTERVAL) {
            return None;
        }
        self.said = Some(Instant::now());
        Some(std::mem::take(&mut self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_connections_than_descriptors_and_half_of_them_are_for_others() {
        let limits = Limits { connections: 4_096, per_address: 512 };
        let few = limits.within(128);
        assert_eq!((few.connections, few.per_address), (80, 40));
        let many = limits.within(1 << 20);
        assert_eq!((many.connections, many.per_address), (4_096, 512));
        assert!(limits.within(0).per_address >= 1);
    }

    #[test]
    fn a_proxy_on_this_machine_stands_for_its_clients() {
        let named = Arc::new(Proxies(vec!["10.0.0.0/8".parse().unwrap()]));
        let limiter = ConnectionLimiter::new(
            Limits { connections: 4, per_address: 1 },
            named,
            Arc::default(),
        );
        let proxy = limiter.admit("127.0.0.1:5000".parse().unwrap()).unwrap();
        assert_eq!(
            limiter.admit("127.0.0.1:5001".parse().unwrap()).unwrap_err(),
            LimitExceeded::Own
        );
        let mut headers = HeaderMap::new();
        assert!(proxy.count_forwarded(&headers).unwrap().is_none());
        headers.insert("x-forwarded-for", "192.0.2.7".parse().unwrap());
        let place = proxy.count_forwarded(&headers).unwrap();
        assert!(place.is_some() && proxy.count_forwarded(&headers).is_err());
        let again = limiter.admit("127.0.0.1:5001".parse().unwrap()).unwrap();
        assert!(again.count_forwarded(&headers).is_err(), "the client has one request under way");
        drop(place);
        assert!(again.count_forwarded(&headers).is_ok());
        // From elsewhere anybody can say that.
        let other = limiter.admit("192.0.2.9:5000".parse().unwrap()).unwrap();
        assert!(other.count_forwarded(&headers).unwrap().is_none());
        let named = limiter.admit("10.1.2.3:5000".parse().unwrap()).unwrap();
        assert!(named.count_forwarded(&headers).unwrap().is_some());
    }

    #[test]
    fn what_happens_often_is_said_once_a_second() {
        let mut throttle = LogThrottle::default();
        let said: Vec<_> = (0..100).filter_map(|_| throttle.due()).collect();
        assert_eq!(said, [1]);
    }
}
