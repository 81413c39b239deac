//! Proxies that the server trusts to name the client: those on this machine, and those that its
//! operator names.

use std::net::IpAddr;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName};

use crate::net::client::network;

/// Headers in which a proxy puts for whom it asks, and by which scheme they came.
pub(crate) const FORWARDED_FOR: &str = "x-forwarded-for";
pub(crate) const FORWARDED_PROTO: &str = "x-forwarded-proto";

/// Addresses with the same first bits: `10.1.2.0/24`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Address as one of IPv6; one of IPv4 is mapped into it (RFC 4291, 2.5.5.2).
    bits: u128,
    prefix: u32,
}

/// Bits before an address of IPv4 that is mapped.
const MAPPED_BITS: u32 = 96;

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` isn't a network such as 10.1.2.0/24, or an address");
        let (address, length) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
        let address: IpAddr = address.trim_matches(['[', ']']).parse().map_err(|_| wrong())?;
        let before = if address.is_ipv4() { MAPPED_BITS } else { 0 };
        let most = 128 - before;
        let length = match length {
            None => most,
            Some(length) => length.parse().map_err(|_| wrong())?,
        };
        if length > most {
            return Err(format!("{}: {length} bits are more than its {most}", wrong()));
        }
        let prefix = before + length;
        let bits = bits(address);
        let first = bits & u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
        if bits != first {
            let first = std::net::Ipv6Addr::from_bits(first);
            let first = if address.is_ipv4() { first.to_canonical() } else { first.into() };
            return Err(format!(
                "`{text}` has bits behind its first {length}; the network is {first}/{length}"
            ));
        }
        Ok(Self { bits, prefix })
    }
}

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        (bits(address) ^ self.bits).checked_shr(128 - self.prefix).unwrap_or(0) == 0
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The proxies that are believed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies(pub(crate) Vec<Network>);

impl Proxies {
    /// Whether a peer is believed about the client it asks for. Anybody can send that, so only a
    /// proxy on this machine is, and one that was named.
    pub(crate) fn believe(&self, peer: IpAddr) -> bool {
        peer.to_canonical().is_loopback() || self.name(peer)
    }

    fn name(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// Client for whom a trusted proxy says that it asks: the last one in its list that isn't a named
/// proxy itself. What comes before is the client's own text.
pub(crate) fn forwarded(headers: &HeaderMap, proxies: &Proxies) -> Option<String> {
    let lists = headers.get_all(FORWARDED_FOR).iter().rev().map(|value| value.to_str());
    let mut first = None;
    for name in lists.flat_map(|list| list.unwrap_or_default().rsplit(',')).map(str::trim) {
        let address: Option<IpAddr> = name.parse().ok();
        if let Some(address) = address.filter(|address| proxies.name(*address)) {
            first = Some(network(address));
            continue;
        }
        if name.is_empty() || name.len() > 64 {
            break;
        }
        return Some(address.map_or_else(|| name.to_owned(), network));
    }
    first
}

/// The text of a header by which a proxy says who its user is. One that a proxy added behind the
/// visitor's own would let anyone be anyone, and bytes that are no text let two be one.
///
/// # Errors
/// Why it says nothing.
pub(crate) fn told<'a>(
    name: &HeaderName,
    headers: &'a HeaderMap,
) -> Result<Option<&'a str>, &'static str> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err("stands in the request several times");
    }
    let text = first.map(|value| str::from_utf8(value.as_bytes())).transpose();
    text.map_err(|_| "isn't UTF-8")
}

/// The user that a proxy in front vouches for, where the server is set to trust one.
pub(crate) fn user(header: Option<&HeaderName>, headers: &HeaderMap) -> Option<String> {
    let name = told(header?, headers).ok()??.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(networks: &[&str]) -> Proxies {
        Proxies(networks.iter().map(|text| text.parse().unwrap()).collect())
    }

    #[test]
    fn a_user_is_one_header_of_text() {
        let header = HeaderName::from_static("x-user");
        let of = |values: &[&[u8]]| {
            let mut map = HeaderMap::new();
            for value in values {
                map.append(&header, axum::http::HeaderValue::from_bytes(value).unwrap());
            }
            (told(&header, &map).map(|text| text.map(str::to_owned)), user(Some(&header), &map))
        };
        let jose = Some("José".to_owned());
        assert_eq!(of(&["José".as_bytes()]), (Ok(jose.clone()), jose));
        assert_eq!(of(&[]), (Ok(None), None));
        assert_eq!(of(&[b" "]).1, None);
        // Latin-1, as some directories have it: two of them would be one name.
        for wrong in [&[&b"Jos\xe9"[..]][..], &[b"Jos\xe8"], &[b"mallory-as-ceo", b"mallory"]] {
            assert!(matches!(of(wrong), (Err(_), None)), "{wrong:?}");
        }
    }

    #[test]
    fn a_network_is_its_first_bits() {
        let proxies = proxies(&["10.1.2.0/24", "192.0.2.7", "2001:db8::/32"]);
        let believed = |text: &str| proxies.believe(text.parse().unwrap());
        for address in
            ["10.1.2.0", "10.1.2.255", "::ffff:10.1.2.3", "192.0.2.7", "2001:db8:ffff::1", "::1"]
        {
            assert!(believed(address), "{address}");
        }
        for address in ["10.1.3.0", "192.0.2.8", "2001:db9::", "::a01:200"] {
            assert!(!believed(address), "{address}");
        }
        assert!("0.0.0.0/0".parse::<Network>().unwrap().contains("198.51.100.1".parse().unwrap()));
        assert!(!"0.0.0.0/0".parse::<Network>().unwrap().contains("2001:db8::".parse().unwrap()));
        assert!("::/0".parse::<Network>().unwrap().contains("2001:db8::".parse().unwrap()));
    }

    #[test]
    fn what_is_no_network_is_refused_with_the_nearest() {
        for text in ["", "nonsense", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/8/8", "/8"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
        assert!("10.1.2.3/8".parse::<Network>().unwrap_err().contains("10.0.0.0/8"));
        assert!("2001:db8::1/32".parse::<Network>().unwrap_err().contains("2001:db8::/32"));
    }

    #[test]
    fn the_visitor_is_the_last_who_is_no_named_proxy() {
        let of = |lists: &[&str], named: &[&str]| {
            let mut map = HeaderMap::new();
            for list in lists {
                map.append(FORWARDED_FOR, list.parse().unwrap());
            }
            forwarded(&map, &proxies(named))
        };
        let is = |name: &str| Some(name.to_owned());
        assert_eq!(of(&["198.51.100.1, 192.0.2.7"], &[]), is("192.0.2.7"));
        assert_eq!(of(&["198.51.100.1", "192.0.2.7"], &[]), is("192.0.2.7"));
        assert_eq!(of(&["forged, 192.0.2.7, 10.1.1.1"], &["10.0.0.0/8"]), is("192.0.2.7"));
        assert_eq!(of(&["192.0.2.7", "10.1.1.1"], &["10.0.0.0/8"]), is("192.0.2.7"));
        assert_eq!(of(&["10.1.1.1"], &["10.0.0.0/8"]), is("10.1.1.1"));
        assert_eq!(of(&["192.0.2.7, "], &[]), None);
        assert_eq!(of(&[], &["10.0.0.0/8"]), None);
    }
}
