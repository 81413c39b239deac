//! Client of a request, as far as fairness goes: an address, or a network that one visitor has for
//! themselves.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr};

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

/// An address. A proxy in front names the one behind it.
#[derive(Clone, Debug)]
pub(crate) struct Client(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(identify(&parts.extensions))
    }
}

impl Client {
    /// Client for whoever started this process, or for one that isn't known.
    pub(crate) fn own() -> Self {
        Self("local".to_owned())
    }
}

/// Client of a request: noted before any route sees it.
pub(crate) fn identify(extensions: &Extensions) -> Client {
    extensions.get::<Client>().cloned().unwrap_or_else(Client::own)
}

/// Network of one visitor: an address of IPv4, or the first half of one of IPv6.
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
