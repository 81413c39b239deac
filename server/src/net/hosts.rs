//! Names of the server: a request by an unknown one is refused, as a page of another site may have
//! made its own name lead here (DNS rebinding), and browsers would let it read every answer.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{Extensions, Version, header};

use crate::net::public_url::{PublicUrl, is_plain};

/// The address of ours that a connection reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local(pub(crate) SocketAddr);

/// A name of the server, without a port: `moescape.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host(String);

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` isn't a name or address such as moescape.example");
        if text.contains("://") {
            return Err(format!("{}: leave out what stands before the name", wrong()));
        }
        // An address of IPv6 may come without brackets.
        let address = text.parse().map(|address: IpAddr| address.to_canonical().to_string());
        if let Ok(address) = address {
            return Ok(Self(address));
        }
        let (host, port) = read(text).ok_or_else(wrong)?;
        if port {
            return Err(format!("{}: leave out the port", wrong()));
        }
        Ok(Self(host))
    }
}

/// The names of the server beside those of this machine for itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts(Vec<Host>);

/// Reason why a request isn't answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// No host is named, or two, or something that is none.
    Malformed(&'static str),
    /// Another host is named.
    Unknown(String),
}

impl Hosts {
    /// Adds names.
    pub(crate) fn add(&mut self, names: impl IntoIterator<Item = Host>) {
        self.0.extend(names);
    }

    /// Adds the name in an origin.
    pub(crate) fn add_origin(&mut self, url: &PublicUrl) {
        let host = url.as_str().split_once("://").and_then(|(_, host)| read(host));
        self.0.extend(host.map(|(host, _)| Host(host)));
    }

    /// Adds the name or address that is listened on: `moescape.example:3000`.
    pub(crate) fn add_listening(&mut self, listen: &str) {
        self.0.extend(read(listen).map(|(host, _)| Host(host)));
    }

    /// Checks whom a request is for. One that came over no socket needs no name.
    ///
    /// # Errors
    /// A request without a host, with two, or for another one.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Refused> {
        let local = local(request.extensions());
        let mut named = request.headers().get_all(header::HOST).iter();
        let (header, second) = (named.next(), named.next());
        if second.is_some() {
            return Err(Refused::Malformed("the request has more than one Host header"));
        }
        let asks_for_one = request.version() == Version::HTTP_11 && local.is_some();
        if header.is_none() && asks_for_one {
            return Err(Refused::Malformed("HTTP/1.1 asks for a Host header"));
        }
        let header = header.map(|host| host.to_str().unwrap_or_default());
        let target = request.uri().authority().map(Authority::as_str);
        for host in header.into_iter().chain(target) {
            let malformed = Refused::Malformed("the request's Host is no name of one");
            let (host, _) = read(host).ok_or(malformed)?;
            if !self.knows(&host, local) {
                return Err(Refused::Unknown(host));
            }
        }
        Ok(())
    }

    /// Whether this is a name of the server, or an address that nobody else's name can lead to.
    fn knows(&self, host: &str, local: Option<IpAddr>) -> bool {
        let address = host.parse().map(|address: IpAddr| address.to_canonical());
        let is_own = match address {
            Ok(address) => address.is_loopback() || local.is_some_and(|local| local == address),
            Err(_) => host == "localhost",
        };
        is_own || self.0.iter().any(|known| known.0 == host)
    }
}

fn local(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<Local>().map(|Local(address)| address.ip().to_canonical())
}

/// The name or address of a host, as it is compared, and whether a port stood behind it. Any port
/// will do: it may be another one on the way here, and a foreign name is foreign with each.
fn read(text: &str) -> Option<(String, bool)> {
    let authority: Authority = text.parse().ok().filter(|_| is_plain(text))?;
    let host = authority.host();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let port = authority.as_str().len() > host.len();
    match bare.parse::<IpAddr>() {
        Ok(address) => Some((address.to_canonical().to_string(), port)),
        Err(_) => {
            let name = bare.strip_suffix('.').unwrap_or(bare).to_ascii_lowercase();
            (!name.is_empty()).then_some((name, port))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn hosts() -> Hosts {
        let mut hosts = Hosts::default();
        hosts.add(["moe.example".parse().unwrap(), "2001:db8::1".parse().unwrap()]);
        hosts.add_origin(&"https://public.example:8443".parse().unwrap());
        hosts.add_listening("0.0.0.0:3000");
        hosts
    }

    fn asked(uri: &str, headers: &[&str]) -> Result<(), Refused> {
        let mut request = Request::get(uri);
        for host in headers {
            request = request.header("host", *host);
        }
        let local = Local("192.0.2.7:3000".parse().unwrap());
        hosts().check(&request.extension(local).body(Body::empty()).unwrap())
    }

    #[test]
    fn the_names_of_the_server_and_of_this_machine_are_known() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "127.0.0.1:3000",
            "127.3.2.1",
            "[::1]:3000",
            "[::ffff:127.0.0.1]",
            "moe.example",
            "Moe.Example:99",
            "public.example",
            "0.0.0.0:3000",
            "192.0.2.7",
            "[2001:db8:0::1]:3000",
        ] {
            assert_eq!(asked("/", &[host]), Ok(()), "{host}");
        }
        assert_eq!(asked("http://moe.example/", &["moe.example"]), Ok(()));
    }

    #[test]
    fn other_names_are_not() {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil-localhost",
            "192.0.2.8",
            "[2001:db8::2]",
        ] {
            assert!(matches!(asked("/", &[host]), Err(Refused::Unknown(_))), "{host}");
        }
        // What the request's line says counts, too.
        let unknown = Err(Refused::Unknown("evil.example".to_owned()));
        assert_eq!(asked("http://evil.example/", &["moe.example"]), unknown);
    }

    #[test]
    fn a_request_has_one_host_that_is_one() {
        for hosts in [&[][..], &["localhost", "localhost"], &[""], &["a b"], &["user@localhost"]] {
            assert!(matches!(asked("/", hosts), Err(Refused::Malformed(_))), "{hosts:?}");
        }
    }

    #[test]
    fn a_name_is_given_alone() {
        let name = |text: &str| text.parse::<Host>();
        assert_eq!(name("Moe.Example"), Ok(Host("moe.example".to_owned())));
        assert_eq!(name("::1"), name("[::1]"));
        assert!(name("moe.example:80").unwrap_err().contains("port"));
        assert!(name("https://moe.example").unwrap_err().contains("before the name"));
        assert!(name("").is_err() && name("*").is_err() && name("a/b").is_err());
    }
}
