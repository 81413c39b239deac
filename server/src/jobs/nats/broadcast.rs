//! Messages that servers send each other, as far as NATS is there. Nothing may hang on them: what
//! is lost isn't sent again.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::connection::{Address, connect};

/// Messages that may wait for NATS; more are dropped.
const MAX_WAITING: usize = 4_096;

/// Pauses before a connection is tried again, the first one and the longest.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Bytes of a message that are read, at most.
const MAX_BYTES: usize = 64 << 10;

/// A message on its way: the end of its subject, and its bytes.
type Outgoing = (Arc<str>, Vec<u8>);

/// The way to other servers below one subject; it does nothing without NATS.
#[derive(Debug)]
pub(crate) struct Broadcast {
    address: Option<Address>,
    subject: &'static str,
    outgoing: OnceLock<mpsc::Sender<Outgoing>>,
}

impl Broadcast {
    pub(crate) const fn new(address: Option<Address>, subject: &'static str) -> Self {
        Self { address, subject, outgoing: OnceLock::new() }
    }

    /// Begins to listen, the first time. Each message is taken with the end of its subject, those
    /// that were sent here too; it ends when this is dropped.
    pub(crate) fn listen(&self, on_message: impl Fn(&str, &[u8]) + Send + Sync + 'static) {
        let Some(address) = &self.address else { return };
        self.outgoing.get_or_init(|| {
            let (outgoing, waiting) = mpsc::channel(MAX_WAITING);
            tokio::spawn(exchange(address.clone(), self.subject, waiting, on_message));
            outgoing
        });
    }

    /// Sends a message to the other servers, if it can be sent now.
    pub(crate) fn send(&self, end: &Arc<str>, message: impl FnOnce() -> Vec<u8>) {
        if let Some(outgoing) = self.outgoing.get() {
            let _ = outgoing.try_send((Arc::clone(end), message()));
        }
    }
}

async fn exchange(
    address: Address,
    subject: &'static str,
    mut waiting: mpsc::Receiver<Outgoing>,
    on_message: impl Fn(&str, &[u8]),
) {
    let Some((client, mut incoming)) = open(&address, subject, &mut waiting).await else { return };
    loop {
        tokio::select! {
            message = waiting.recv() => {
                let Some((end, bytes)) = message else { return };
                if let Err(error) = client.publish(format!("{subject}.{end}"), bytes.into()).await {
                    tracing::debug!(%error, "a message isn't sent");
                }
            }
            message = incoming.next() => {
                let Some(message) = message else { return };
                let end = message.subject.as_str().rsplit('.').next().unwrap_or_default();
                if message.payload.len() <= MAX_BYTES {
                    on_message(end, &message.payload);
                }
            }
        }
    }
}

/// Connects and subscribes, as often as it takes. What is to be sent until then is dropped: it
/// would be old.
async fn open(
    address: &Address,
    subject: &str,
    waiting: &mut mpsc::Receiver<Outgoing>,
) -> Option<(Client, Subscriber)> {
    let mut pause = MIN_RETRY_DELAY;
    loop {
        let why = match connect(address, subject).await {
            Ok(client) => match client.subscribe(format!("{subject}.*")).await {
                Ok(incoming) => return Some((client, incoming)),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let seconds = pause.as_secs_f64();
        tracing::warn!(why, seconds, subject, "servers don't reach each other; it is tried again");
        let over = sleep(pause);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => break,
                message = waiting.recv() => drop(message?),
            }
        }
        pause = (pause * 2).min(MAX_RETRY_DELAY);
    }
}
