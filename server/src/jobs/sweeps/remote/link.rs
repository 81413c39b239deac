//! The two streams that sweeps need at NATS: chunks to evaluate, and results.

use std::future::Future;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::RequestErrorKind;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context, Message};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::jobs::nats::{Address, MAX_ANSWER_TIME, NatsError, connect};

/// The stream of chunks.
const WORK: &str = "MOESCAPE_WORK";

/// The stream of results.
const RESULTS: &str = "MOESCAPE_RESULTS";

/// Age at which chunks that nobody took are forgotten; a coordinator that still wants them hands
/// them out again.
const MAX_WORK_AGE: Duration = Duration::from_secs(24 * 3600);

/// Age at which results are forgotten whose coordinator is gone.
const MAX_RESULT_AGE: Duration = Duration::from_secs(3600);

/// Silence of a worker about a chunk after which another one gets it.
pub(super) const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time that a request for messages waits for them.
pub(super) const FETCH_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause before something is tried again that failed because NATS was away.
pub(super) const RETRY_DELAY: Duration = Duration::from_millis(300);

/// The version of the model as a part of a subject, which dots would end.
pub(super) fn version_token(version: &str) -> String {
    version.replace('.', "_")
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
        context.set_timeout(MAX_ANSWER_TIME);
        let link = Self { client, context };
        link.look_for_streams(address).await?;
        let streams = async {
            link.work().await?;
            link.results().await
        };
        streams.await.map_err(|error| {
            NatsError::new(format!("NATS at {address} can't make the streams of sweeps: {error}"))
        })?;
        Ok(link)
    }

    /// Checks that JetStream is there. Read word by word: the client knows only the answers of
    /// newer servers.
    async fn look_for_streams(&self, address: &Address) -> Result<(), NatsError> {
        let answer = self.context.request::<_, _, serde_json::Value>("INFO", &()).await;
        let why = match answer {
            Ok(answer) if answer["error"].is_null() => return Ok(()),
            Ok(answer) => answer["error"]["description"].to_string(),
            Err(error) if matches!(error.kind(), RequestErrorKind::NoResponders) => {
                error.to_string()
            }
            Err(error) => {
                return Err(NatsError::new(format!("NATS at {address} doesn't answer: {error}")));
            }
        };
        Err(NatsError::lasting(format!(
            "NATS at {address} has no JetStream, which sweeps need: start it by \
             `nats-server -js`, or add `jetstream {{}}` to its configuration ({why})"
        )))
    }

    /// The stream of chunks; made where there is none.
    pub(super) async fn work(&self) -> Result<Stream, async_nats::Error> {
        self.stream(WORK, "moescape.work.>", MAX_WORK_AGE).await
    }

    /// The stream of results; made where there is none.
    pub(super) async fn results(&self) -> Result<Stream, async_nats::Error> {
        self.stream(RESULTS, "moescape.result.>", MAX_RESULT_AGE).await
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

    /// Consumer of the chunks for workers of this version of the model: all of them share it.
    pub(super) async fn chunks(
        &self,
        version: &str,
    ) -> Result<Consumer<pull::Config>, async_nats::Error> {
        let token = version_token(version);
        let name = format!("model-{token}");
        self.consumer(self.work().await?, &name, format!("moescape.work.{token}.*")).await
    }

    /// Consumer of the results for a coordinator.
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
            ack_wait: HEARTBEAT_TIMEOUT,
            max_waiting: MAX_IN_FLIGHT,
            max_ack_pending: MAX_IN_FLIGHT,
            inactive_threshold: MAX_RESULT_AGE,
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
