//! Who asks, as far as fairness goes: an address, or a network that one visitor has for themselves.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

/// An address. A proxy in front names the one behind it.
pub(crate) struct Client(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(identify(&parts.headers, &parts.extensions)))
    }
}

/// Does a request come from this machine, where only a proxy of ours is in front?
pub(crate) fn is_near(extensions: &Extensions) -> bool {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.is_none_or(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback())
}

/// Who asks. Only a proxy on this machine is believed whom it asks for: anybody can send that. It
/// puts the one that it heard last; what stands before is the asker's own text.
pub(crate) fn identify(headers: &HeaderMap, extensions: &Extensions) -> String {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    match (forwarded(headers), peer) {
        (Some(behind), _) if is_near(extensions) => behind,
        (_, Some(peer)) => network(peer),
        (_, None) => "local".to_owned(),
    }
}

/// For whom a proxy says that it asks.
pub(crate) fn forwarded(headers: &HeaderMap) -> Option<String> {
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let forwarded = forwarded.and_then(|value| value.to_str().ok());
    let last = forwarded.and_then(|list| list.rsplit(',').next()).map(str::trim);
    let last = last.filter(|name| !name.is_empty() && name.len() <= 64)?;
    Some(last.parse().map_or_else(|_| last.to_owned(), network))
}

/// What one visitor has: an address of IPv4, the first half of one of IPv6.
pub(crate) fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let half = u128::MAX << 64;
            format!("{}/64", Ipv6Addr::from_bits(address.to_bits() & half))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_one_visitor_is_one_client() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("192.0.2.7"), "192.0.2.7");
        assert_eq!(of("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(of("2001:db8:1:2::"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
    }
}
