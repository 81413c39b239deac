//! Address of the server on the web: the prefix of links in previews and in other pages.

use std::str::FromStr;

use axum::http::uri::{Authority, Scheme, Uri};
use axum::http::{HeaderMap, header};

use crate::net::proxies::FORWARDED_PROTO;

/// The longest name of a host that is believed, with its port.
const MAX_HOST_LEN: usize = 255;

/// An origin: `https://moescape.example`, without a path or a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// URL as a browser spells it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is reached over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.0.starts_with("https:")
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` isn't an origin such as https://moescape.example");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let scheme = uri.scheme().filter(|it| [&Scheme::HTTP, &Scheme::HTTPS].contains(it));
        let host = uri.authority().filter(|authority| is_plain(authority.as_str()));
        let (Some(scheme), Some(host)) = (scheme, host) else { return Err(wrong()) };
        if uri.path() != "/" || uri.query().is_some() {
            return Err(format!("{}: it has a path, and the server has none", wrong()));
        }
        Ok(Self(format!("{scheme}://{}", host.as_str().to_ascii_lowercase())))
    }
}

/// The origin that a request reached: the configured one, else the host that the
/// visitor's browser asked for.
///
/// A host is in the answer to whoever named it and nowhere else: pages that hold one are kept by no
/// shared cache. The header that says `https` is gone already where its
/// sender isn't believed.
pub(crate) fn of_request(told: Option<&PublicUrl>, headers: &HeaderMap) -> Option<PublicUrl> {
    if let Some(told) = told {
        return Some(told.clone());
    }
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let host: Authority = host.parse().ok().filter(|_| is_plain(host))?;
    let scheme = headers.get(FORWARDED_PROTO);
    let scheme = if scheme.is_some_and(|scheme| scheme == "https") { "https" } else { "http" };
    Some(PublicUrl(format!("{scheme}://{host}")))
}

/// A host with nothing but its name or number and its port.
pub(crate) fn is_plain(host: &str) -> bool {
    let is_known =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'[' | b']');
    !host.is_empty() && host.len() <= MAX_HOST_LEN && host.bytes().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_an_origin() {
        let read = |text: &str| text.parse::<PublicUrl>().map(|url| url.0);
        assert_eq!(read("https://Moescape.example/").as_deref(), Ok("https://moescape.example"));
        assert_eq!(read("http://[::1]:3000").as_deref(), Ok("http://[::1]:3000"));
        for bad in ["", "moescape.example", "ftp://a", "https://a/b", "https://u@a", "https://a?b"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_plain_host_reaches_the_page() {
        let of = |host: &'static str, scheme: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            headers.insert("x-forwarded-proto", scheme.parse().unwrap());
            of_request(None, &headers).map(|url| url.0)
        };
        assert_eq!(of("a.example:80", "http").as_deref(), Some("http://a.example:80"));
        assert_eq!(of("a.example", "https").as_deref(), Some("https://a.example"));
        assert_eq!(of("a.example", "javascript").as_deref(), Some("http://a.example"));
        for bad in ["a\"><script>", "user@a", "a/b", ""] {
            assert_eq!(of(bad, "https"), None, "{bad}");
        }
    }
}
