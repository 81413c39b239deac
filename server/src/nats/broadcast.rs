//! What servers on one store tell each other of review sessions, so that nobody waits for a look
//! into the store. Nothing hangs on it: what is lost is found there a little later.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::Address;
use super::link::connect;
use crate::reviews::Reviews;

/// Where notices go; the session's id follows.
const SUBJECT: &str = "moescape.review";

/// Notices that may wait for NATS; more are dropped.
const WAITING: usize = 4_096;

/// Pauses before a connection is tried again, the first one and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(10);

/// Bytes of a notice that are read, at most.
const MAX_BYTES: usize = 64 << 10;

/// Something that a server says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// The server.
    pub(crate) from: String,
    #[serde(flatten)]
    pub(crate) kind: NoticeKind,
}

/// What it says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum NoticeKind {
    /// There are events up to this one in the store.
    Seq { seq: u64 },
    /// A link was withdrawn.
    Cut { link: String },
    /// Who is there?
    Who,
    /// Something of a connection there that isn't kept, as it is told to those who are there.
    Tell { connection: u64, text: String },
}

/// The way to other servers; none without NATS.
#[derive(Debug)]
pub(crate) struct Notices {
    address: Option<Address>,
    outgoing: OnceLock<mpsc::Sender<(Arc<str>, NoticeKind)>>,
}

impl Notices {
    pub(crate) const fn new(address: Option<Address>) -> Self {
        Self { address, outgoing: OnceLock::new() }
    }

    /// Begins to listen, the first time.
    pub(crate) fn listen(&self, reviews: &Arc<Reviews>) {
        let Some(address) = &self.address else { return };
        self.outgoing.get_or_init(|| {
            let (outgoing, waiting) = mpsc::channel(WAITING);
            tokio::spawn(exchange(address.clone(), Arc::downgrade(reviews), waiting));
            outgoing
        });
    }

    /// Says something to the other servers, if it can be said now.
    pub(crate) fn say(&self, review: &Arc<str>, kind: NoticeKind) {
        if let Some(outgoing) = self.outgoing.get() {
            let _ = outgoing.try_send((Arc::clone(review), kind));
        }
    }
}

async fn exchange(
    address: Address,
    reviews: Weak<Reviews>,
    mut waiting: mpsc::Receiver<(Arc<str>, NoticeKind)>,
) {
    let Some((client, mut heard)) = open(&address, &reviews, &mut waiting).await else { return };
    let me = client.new_inbox();
    loop {
        tokio::select! {
            said = waiting.recv() => {
                let Some((review, kind)) = said else { return };
                say(&client, &me, &review, kind).await;
            }
            message = heard.next() => {
                let Some(message) = message else { return };
                let Some(reviews) = reviews.upgrade() else { return };
                let review = message.subject.as_str().rsplit('.').next().unwrap_or_default();
                if message.payload.len() > MAX_BYTES {
                    continue;
                }
                match serde_json::from_slice::<Notice>(&message.payload) {
                    Ok(notice) if notice.from != me => reviews.hear(review, notice),
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
}

/// Connects and begins to hear, as often as it takes. Until then servers find each other's events
/// in the store, and what they would say is dropped: it would be old.
async fn open(
    address: &Address,
    reviews: &Weak<Reviews>,
    waiting: &mut mpsc::Receiver<(Arc<str>, NoticeKind)>,
) -> Option<(Client, Subscriber)> {
    let mut pause = FIRST_PAUSE;
    loop {
        let why = match connect(address, "moescape reviews").await {
            Ok(client) => match client.subscribe(format!("{SUBJECT}.*")).await {
                Ok(heard) => return Some((client, heard)),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let seconds = pause.as_secs_f64();
        tracing::warn!(why, seconds, "servers don't hear each other's reviews; it is tried again");
        let over = sleep(pause);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => break,
                said = waiting.recv() => drop(said?),
            }
        }
        if reviews.strong_count() == 0 {
            return None;
        }
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

async fn say(client: &Client, me: &str, review: &str, kind: NoticeKind) {
    let notice = Notice { from: me.to_owned(), kind };
    let Ok(payload) = serde_json::to_vec(&notice) else { return };
    if let Err(error) = client.publish(format!("{SUBJECT}.{review}"), payload.into()).await {
        tracing::debug!(%error, "a notice isn't sent");
    }
}
