//! The connection to NATS: its address, and the sentence for whoever runs a program that has none.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};

/// Time of a connection or an answer of NATS, at most.
pub(crate) const MAX_ANSWER_TIME: Duration = Duration::from_secs(5);

/// Address of NATS: `nats://HOST:PORT`, with `tls://` in place of `nats://` if it asks for that.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address(ServerAddr);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let takes = "takes the address of NATS, such as nats://127.0.0.1:4222";
        if !text.starts_with("nats://") && !text.starts_with("tls://") {
            return Err(takes.to_owned());
        }
        let address = text.parse::<ServerAddr>().map_err(|_| takes.to_owned())?;
        if address.host().is_empty() {
            return Err(takes.to_owned());
        }
        Ok(Self(address))
    }
}

/// Without the name and password that it may have.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.0.tls_required() { "tls" } else { "nats" };
        write!(f, "{scheme}://{}:{}", self.0.host(), self.0.port())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// NATS can't be used; a sentence for who runs the program.
#[derive(Clone, Debug)]
pub(crate) struct NatsError {
    detail: String,
    /// Somebody has to change something: waiting mends nothing.
    pub(crate) is_lasting: bool,
}

impl NatsError {
    /// Error that may go away by itself.
    pub(crate) fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), is_lasting: false }
    }

    /// Error that lasts until somebody changes something.
    pub(crate) fn lasting(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), is_lasting: true }
    }
}

impl fmt::Display for NatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// Connects; the connection is there again whenever NATS is.
pub(crate) async fn connect(address: &Address, name: &str) -> Result<Client, NatsError> {
    let options = ConnectOptions::new()
        .name(name)
        .connection_timeout(MAX_ANSWER_TIME)
        .request_timeout(Some(MAX_ANSWER_TIME))
        .reconnect_delay_callback(|tries| Duration::from_millis(50 << tries.min(5)))
        .event_callback(log_event);
    let client = options.connect(address.0.clone()).await;
    client.map_err(|error| cannot_connect(address, &error))
}

async fn log_event(event: Event) {
    match event {
        Event::Disconnected => tracing::warn!("NATS is away; trying again until it is there"),
        Event::ServerError(error) => tracing::warn!(%error, "NATS reports an error"),
        Event::ClientError(error) => tracing::warn!(%error, "the connection to NATS failed"),
        // The client itself tells of these.
        Event::Connected
        | Event::LameDuckMode
        | Event::Draining
        | Event::Closed
        | Event::SlowConsumer(_) => {}
    }
}

fn cannot_connect(address: &Address, error: &async_nats::ConnectError) -> NatsError {
    let why = match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            "it refuses name and password: give them as nats://NAME:PASSWORD@HOST:PORT".to_owned()
        }
        ConnectErrorKind::TimedOut => format!("no answer within {} s", MAX_ANSWER_TIME.as_secs()),
        ConnectErrorKind::ServerParse
        | ConnectErrorKind::Dns
        | ConnectErrorKind::Tls
        | ConnectErrorKind::Io
        | ConnectErrorKind::MaxReconnects => {
            format!("{error}; `nats-server -js` starts one")
        }
    };
    let detail = format!("can't connect to NATS at {address}: {why}");
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            NatsError::lasting(detail)
        }
        ConnectErrorKind::TimedOut
        | ConnectErrorKind::ServerParse
        | ConnectErrorKind::Dns
        | ConnectErrorKind::Tls
        | ConnectErrorKind::Io
        | ConnectErrorKind::MaxReconnects => NatsError::new(detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_no_password() {
        let address: Address = "nats://someone:secret@10.0.0.1:4223".parse().unwrap();
        assert_eq!(address.to_string(), "nats://10.0.0.1:4223");
        assert_eq!(format!("{address:?}"), "nats://10.0.0.1:4223");
        let address: Address = "tls://queue.example".parse().unwrap();
        assert_eq!(address.to_string(), "tls://queue.example:4222");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in
            ["", "localhost:4222", "http://localhost", "nats://", "nats://a:b:c", "embedded"]
        {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
