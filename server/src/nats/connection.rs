//! The connection to NATS, and the two streams that sweeps need there.

use std::fmt;
use std::future::Future;
use std::str::FromStr;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::RequestErrorKind;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context, Message};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::{FETCH_TIMEOUT, SILENCE, version_token};

/// The stream of chunks.
const WORK: &str = "MOESCAPE_WORK";

/// The stream of results.
const RESULTS: &str = "MOESCAPE_RESULTS";

/// Chunks that nobody took for so long are forgotten; a coordinator that still wants them hands
/// them out again.
const WORK_AGE: Duration = Duration::from_secs(24 * 3600);

/// Results whose coordinator is gone for so long are forgotten.
const RESULT_AGE: Duration = Duration::from_secs(3600);

/// How long a connection or an answer of NATS may take.
const ANSWER: Duration = Duration::from_secs(5);

/// Where NATS is: `nats://HOST:PORT`, with `tls://` in place of `nats://` where it asks for that.
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
pub(crate) struct NatsError(pub(super) String);

impl fmt::Display for NatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Connects; the connection is there again whenever NATS is.
pub(super) async fn connect(address: &Address, name: &str) -> Result<Client, NatsError> {
    let options = ConnectOptions::new()
        .name(name)
        .connection_timeout(ANSWER)
        .request_timeout(Some(ANSWER))
        .reconnect_delay_callback(|tries| Duration::from_millis(50 << tries.min(5)))
        .event_callback(tell);
    let client = options.connect(address.0.clone()).await;
    client.map_err(|error| cannot_connect(address, &error))
}

/// A connection that is there again whenever NATS is.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) client: Client,
    pub(super) context: Context,
}

impl Link {
    /// Connects, and makes the streams where there are none.
    pub(super) async fn open(address: &Address, name: &str) -> Result<Self, NatsError> {
        let client = connect(address, name).await?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        let link = Self { client, context };
        link.look_for_streams(address).await?;
        let streams = async {
            link.work().await?;
            link.results().await
        };
        streams.await.map_err(|error| {
            NatsError(format!("NATS at {address} can't make the streams of sweeps: {error}"))
        })?;
        Ok(link)
    }

    /// Is JetStream there? Read word by word: the client knows only the answers of newer servers.
    async fn look_for_streams(&self, address: &Address) -> Result<(), NatsError> {
        let answer = self.context.request::<_, _, serde_json::Value>("INFO", &()).await;
        let why = match answer {
            Ok(answer) if answer["error"].is_null() => return Ok(()),
            Ok(answer) => answer["error"]["description"].to_string(),
            Err(error) if matches!(error.kind(), RequestErrorKind::NoResponders) => {
                error.to_string()
            }
            Err(error) => {
                return Err(NatsError(format!("NATS at {address} doesn't answer: {error}")));
            }
        };
        Err(NatsError(format!(
            "NATS at {address} has no JetStream, which sweeps need: start it by \
             `nats-server -js`, or add `jetstream {{}}` to its configuration ({why})"
        )))
    }

    /// The stream of chunks; made where there is none.
    pub(super) async fn work(&self) -> Result<Stream, async_nats::Error> {
        self.stream(WORK, "moescape.work.>", WORK_AGE).await
    }

    /// The stream of results; made where there is none.
    pub(super) async fn results(&self) -> Result<Stream, async_nats::Error> {
        self.stream(RESULTS, "moescape.result.>", RESULT_AGE).await
    }

    async fn stream(
        &self,
        name: &str,
        subject: &str,
        max_age: Duration,
    ) -> Result<Stream, async_nats::Error> {
        let config = Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            // A message leaves when it is acknowledged, and outlives NATS until then.
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            max_age,
            num_replicas: 1,
            ..Config::default()
        };
        Ok(self.context.get_or_create_stream(config).await?)
    }

    /// Who takes chunks for workers of this version of the model: all of them are one consumer.
    pub(super) async fn chunks(
        &self,
        version: &str,
    ) -> Result<Consumer<pull::Config>, async_nats::Error> {
        let token = version_token(version);
        let name = format!("model-{token}");
        self.consumer(self.work().await?, &name, format!("moescape.work.{token}.*")).await
    }

    /// Who takes the results of a coordinator.
    pub(super) async fn answers(
        &self,
        coordinator: &str,
    ) -> Result<Consumer<pull::Config>, async_nats::Error> {
        let subject = format!("moescape.result.{coordinator}.>");
        self.consumer(self.results().await?, coordinator, subject).await
    }

    async fn consumer(
        &self,
        stream: Stream,
        name: &str,
        filter_subject: String,
    ) -> Result<Consumer<pull::Config>, async_nats::Error> {
        /// Requests and messages under way at once: more than workers have threads.
        const MAX_IN_FLIGHT: i64 = 65_536;
        let config = pull::Config {
            durable_name: Some(name.to_owned()),
            filter_subject,
            ack_policy: AckPolicy::Explicit,
            ack_wait: SILENCE,
            max_waiting: MAX_IN_FLIGHT,
            max_ack_pending: MAX_IN_FLIGHT,
            inactive_threshold: RESULT_AGE,
            ..pull::Config::default()
        };
        Ok(stream.get_or_create_consumer(name, config).await?)
    }
}

/// Asks for messages and gives them on, until nobody listens, the time is up, or something failed.
/// Says how many there were: where there were none, the consumer itself may be gone.
pub(super) async fn each<F: Future<Output = bool>>(
    consumer: &Consumer<pull::Config>,
    most: usize,
    mut hear: impl FnMut(Message) -> F,
) -> Result<usize, async_nats::Error> {
    let mut heard = 0;
    let batch = consumer.batch().max_messages(most).expires(FETCH_TIMEOUT);
    let mut batch = batch.messages().await?;
    // A request that NATS forgot when it was stopped is answered by nobody.
    while let Ok(Some(message)) = timeout(FETCH_TIMEOUT + FETCH_TIMEOUT / 4, batch.next()).await {
        heard += 1;
        if !hear(message?).await {
            break;
        }
    }
    Ok(heard)
}

async fn tell(event: Event) {
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
        ConnectErrorKind::TimedOut => format!("no answer within {} s", ANSWER.as_secs()),
        ConnectErrorKind::ServerParse
        | ConnectErrorKind::Dns
        | ConnectErrorKind::Tls
        | ConnectErrorKind::Io
        | ConnectErrorKind::MaxReconnects => {
            format!("{error}; `nats-server -js` starts one")
        }
    };
    NatsError(format!("can't connect to NATS at {address}: {why}"))
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
