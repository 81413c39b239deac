//! Who asks, as far as fairness goes: an address.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

/// An address. A proxy in front names the one behind it.
pub(crate) struct Client(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(of(&parts.headers, &parts.extensions)))
    }
}

/// Does a request come from this machine, where only a proxy of ours is in front?
pub(crate) fn is_near(extensions: &Extensions) -> bool {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.is_none_or(|ConnectInfo(peer)| peer.ip().is_loopback())
}

/// Who asks. Only a proxy on this machine is believed whom it asks for: anybody can send that. It
/// puts the one that it heard last; what stands before is the asker's own text.
pub(crate) fn of(headers: &HeaderMap, extensions: &Extensions) -> String {
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let forwarded = forwarded.and_then(|value| value.to_str().ok());
    let last = forwarded.and_then(|list| list.rsplit(',').next()).map(str::trim);
    let last = last.filter(|name| !name.is_empty() && name.len() <= 64);
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    match (last, peer) {
        (Some(last), _) if is_near(extensions) => last.to_owned(),
        (_, Some(peer)) => peer.to_string(),
        (_, None) => "local".to_owned(),
    }
}
