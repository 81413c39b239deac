//! A worker: takes chunks, evaluates them, and says what it found.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{AckKind, Message};
use axum::body::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use sweep::{Progress, Space, Spec};
use tokio::sync::{Semaphore, watch};

use super::link::{FETCH_TIMEOUT, HEARTBEAT_TIMEOUT, Link, RETRY_DELAY, each, version_token};
use super::message::{Answer, Head, MAX_BYTES, Stop, Task};
use crate::ground::log_fields;
use crate::jobs::nats::{Address, NatsError};
use crate::jobs::sweeps::rows::Writer;

/// Spaces that are kept for the chunks to come.
const MAX_SPACES: usize = 16;

/// Workers that a chunk may end before it counts as failed.
const MAX_TRIES: i64 = 10;

/// Bytes of a result, at most: eight tell the length of its head.
const MAX_RESULT_BYTES: u64 = MAX_BYTES - 8;

/// The header of a chunk that was given back: how many workers were lost with it before.
const LOST: &str = "Moescape-Lost";

/// Bytes of a message beside its payload, at most: subject and headers.
const FRAME_BYTES: usize = 8 << 10;

/// Interval at which chunks are looked for that are left to workers of other versions.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Pauses before a NATS that isn't there is looked for again, the first one and the longest.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(15);

/// Interval of checks whether to end.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// Works for the sweeps at NATS until told to end; `ready` is called when it begins. NATS is waited
/// for, before that too: programs that are started together come up in any order.
///
/// # Errors
/// NATS is there and can't be used, which waiting doesn't mend.
pub(crate) fn work_for(
    address: &Address,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    ready: impl FnOnce(),
) -> Result<(), NatsError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| NatsError::new(format!("no threads: {error}")))?;
    runtime.block_on(async {
        let Some(link) = opened(address, stop).await? else { return Ok(()) };
        let (closing, closed) = watch::channel(false);
        let worker = Arc::new(Worker {
            link,
            permits: Semaphore::new(threads.get()),
            at_work: Mutex::new(vec![]),
            spaces: Mutex::new(HashMap::new()),
            closed,
        });
        ready();
        // One more than there are threads: the next chunk waits here, not at NATS.
        let tasks: Vec<_> =
            (0..=threads.get()).map(|_| tokio::spawn(Arc::clone(&worker).work())).collect();
        tokio::spawn(Arc::clone(&worker).obey_stops());
        tokio::spawn(Arc::clone(&worker).warn_of_other_versions());
        stopped(stop).await;
        let _ = closing.send(true);
        worker.at_work().iter().for_each(|(_, stop)| stop.store(true, Ordering::Relaxed));
        for task in tasks {
            // Chunks that are given back go to others at once, not after a silence.
            let _ = tokio::time::timeout(FETCH_TIMEOUT, task).await;
        }
        let _ = tokio::time::timeout(FETCH_TIMEOUT, worker.link.client.flush()).await;
        Ok(())
    })
}

/// The connection to NATS, looked for again and again; `None` if it has to end before.
async fn opened(address: &Address, stop: &AtomicBool) -> Result<Option<Link>, NatsError> {
    let mut pause = MIN_RETRY_DELAY;
    loop {
        let error = tokio::select! {
            link = Link::open(address, "moescape worker") => match link {
                Ok(link) => return Ok(Some(link)),
                Err(error) => error,
            },
            () = stopped(stop) => return Ok(None),
        };
        if error.is_lasting {
            return Err(error);
        }
        tracing::warn!("{error}; it is tried again in {} s", pause.as_secs_f64());
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stopped(stop) => return Ok(None),
        }
        pause = (pause * 2).min(MAX_RETRY_DELAY);
    }
}

/// Waits until told to end.
async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

struct Worker {
    link: Link,
    permits: Semaphore,
    /// Chunks in hand, each with what stops it.
    at_work: Mutex<Vec<(Task, Arc<AtomicBool>)>>,
    spaces: Mutex<HashMap<String, Arc<Space>>>,
    closed: watch::Receiver<bool>,
}

impl Worker {
    fn at_work(&self) -> MutexGuard<'_, Vec<(Task, Arc<AtomicBool>)>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Takes one chunk after the other.
    async fn work(self: Arc<Self>) {
        let mut closed = self.closed.clone();
        while !self.is_closed() {
            let taken = async {
                let consumer = self.link.chunks(model::MODEL_VERSION).await?;
                loop {
                    let mut chunk = None;
                    let take = each(&consumer, 1, |message| {
                        chunk = Some(message);
                        std::future::ready(false)
                    });
                    tokio::select! {
                        taken = take => taken.map(drop)?,
                        _ = closed.wait_for(|closed| *closed) => {}
                    }
                    let Some(message) = chunk else { return Ok::<_, async_nats::Error>(()) };
                    self.chunk(&message).await;
                }
            };
            if let Err(error) = taken.await {
                tracing::debug!(%error, "no chunk can be taken");
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }

    /// Evaluates a chunk, publishes what was found, and acknowledges it then.
    async fn chunk(self: &Arc<Self>, message: &Message) {
        let task = match serde_json::from_slice::<Task>(&message.payload) {
            Ok(task) => task,
            Err(error) => {
                tracing::error!(%error, "a chunk that can't be read is dropped");
                return self.acknowledge(message, AckKind::Term).await;
            }
        };
        if task.model_version != model::MODEL_VERSION {
            let theirs = &task.model_version;
            tracing::error!("{}", refusal(theirs));
            return self.acknowledge(message, AckKind::Nak(Some(RETRY_DELAY))).await;
        }
        let stop = Arc::new(AtomicBool::new(self.is_closed()));
        self.at_work().push((task.clone(), Arc::clone(&stop)));
        let tries = tries(message);
        let computed = async {
            let Ok(_permit) = self.permits.acquire().await else { return None };
            if tries > MAX_TRIES {
                let failure = format!("{MAX_TRIES} workers were lost with these designs");
                return Some(answer(&task, None, vec![], Some(failure)));
            }
            let (worker, task, stop) = (Arc::clone(self), task.clone(), Arc::clone(&stop));
            let computed = tokio::task::spawn_blocking(move || worker.evaluate(&task, &stop)).await;
            computed.ok().flatten()
        };
        let done = self.keeping_alive(message, computed).await;
        match done {
            Some(answer) => {
                if self.keeping_alive(message, self.publish(&task, answer)).await {
                    self.acknowledge(message, AckKind::Ack).await;
                }
            }
            // Back to the others; one that isn't wanted any more was taken back already.
            None if self.is_closed() => self.give_back(message, tries).await,
            None => self.acknowledge(message, AckKind::Term).await,
        }
        self.at_work().retain(|(_, known)| !Arc::ptr_eq(known, &stop));
    }

    /// Says again and again that a chunk is worked on, while it is.
    async fn keeping_alive<T>(&self, message: &Message, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(HEARTBEAT_TIMEOUT / 4) => {
                    let _ = message.ack_with(AckKind::Progress).await;
                }
            }
        }
    }

    /// Gives a chunk back to the others as a new one: a worker that ends as it should is none that
    /// was lost with it, and NATS counts only how often it was taken.
    async fn give_back(&self, message: &Message, tries: i64) {
        let mut headers = HeaderMap::new();
        headers.insert(LOST, (tries - 1).to_string().as_str());
        let again = PublishMessage::build().headers(headers).payload(message.payload.clone());
        let subject = message.subject.clone();
        let published = async { self.link.context.send_publish(subject, again).await?.await };
        let kind = if published.await.is_ok() { AckKind::Ack } else { AckKind::Nak(None) };
        self.acknowledge(message, kind).await;
    }

    async fn acknowledge(&self, message: &Message, kind: AckKind) {
        // One that gets lost makes a chunk come again, which changes nothing.
        if let Err(error) = message.ack_with(kind).await {
            tracing::debug!(%error, "a chunk can't be acknowledged");
        }
    }

    fn evaluate(&self, task: &Task, stop: &AtomicBool) -> Option<Answer> {
        let failed = |why: String| Some(answer(task, None, vec![], Some(why)));
        let space = match self.space(&task.spec) {
            Ok(space) => space,
            Err(why) => return failed(why),
        };
        let batch = task.batch();
        let places = batch.places.clone();
        if places.is_empty() || !batch.suits(&space) {
            return failed("the sweep has no such designs".to_owned());
        }
        let work = || {
            let writer = task.format().map(|format| Writer::new(format, &space));
            let mut rows = Vec::new();
            let summary = sweep::evaluate_with(&space, batch, stop, |outcome| {
                writer.iter().for_each(|writer| writer.add(outcome, &mut rows));
            });
            summary.map(|summary| (Progress::with_part(&space, places.clone(), summary), rows))
        };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(found) => found.map(|(part, rows)| {
                let found = answer(task, Some(part), rows, None);
                // Better here than by who takes it: it would be handed out again and again.
                let why = format!("the rows of {places:?} have more than {MAX_RESULT_BYTES} bytes");
                if found.size() > MAX_RESULT_BYTES {
                    answer(task, None, vec![], Some(why))
                } else {
                    found
                }
            }),
            Err(_) => {
                tracing::error!(sweep = log_fields::key(&task.sweep), ?places, "a chunk panicked");
                failed("a worker made a mistake; its log says more".to_owned())
            }
        }
    }

    /// The space of a spec; chunks of one sweep share it.
    fn space(&self, spec: &str) -> Result<Arc<Space>, String> {
        let mut spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(space) = spaces.get(spec) {
            return Ok(Arc::clone(space));
        }
        let read = Spec::from_json(spec).and_then(|spec| Space::new(spec).map_err(|e| vec![e]));
        let space = read.map_err(|errors| {
            let first = errors.first().map(ToString::to_string).unwrap_or_default();
            format!("the spec can't be read: {first}")
        })?;
        if spaces.len() >= MAX_SPACES {
            spaces.clear();
        }
        let space = Arc::new(space);
        spaces.insert(spec.to_owned(), Arc::clone(&space));
        Ok(space)
    }

    /// Publishes a result and waits until NATS has it; false when told to end before.
    async fn publish(&self, task: &Task, answer: Answer) -> bool {
        let most = self.link.client.server_info().max_payload.saturating_sub(FRAME_BYTES);
        let pieces = tokio::task::spawn_blocking(move || answer.pieces(most)).await;
        let (subject, mut kept) = (task.answer_subject(), true);
        for (headers, bytes) in pieces.unwrap_or_default() {
            let payload = Bytes::from(bytes);
            loop {
                let message = PublishMessage::build().headers(headers.clone());
                let message = message.payload(payload.clone());
                let published =
                    async { self.link.context.send_publish(subject.clone(), message).await?.await };
                match published.await {
                    Ok(_) => break,
                    Err(error) => tracing::debug!(%error, "a result isn't kept yet"),
                }
                if self.is_closed() {
                    kept = false;
                    break;
                }
                tokio::time::sleep(RETRY_DELAY).await;
                // NATS may have been started without what it kept.
                let _ = self.link.results().await;
            }
        }
        kept
    }

    /// Stops chunks that aren't wanted any more.
    async fn obey_stops(self: Arc<Self>) {
        let Ok(mut stops) = self.link.client.subscribe(Stop::SUBJECT).await else { return };
        while let Some(message) = stops.next().await {
            let Ok(stop) = serde_json::from_slice::<Stop>(&message.payload) else { continue };
            let at_work = self.at_work();
            let meant = at_work.iter().filter(|(task, _)| stop.means(task));
            meant.for_each(|(_, flag)| flag.store(true, Ordering::Relaxed));
        }
    }

    /// Says when chunks wait that are for another version of the model.
    async fn warn_of_other_versions(self: Arc<Self>) {
        let mut known = BTreeSet::new();
        loop {
            if let Ok(versions) = self.other_versions().await {
                versions
                    .difference(&known)
                    .for_each(|theirs| tracing::warn!("{}", refusal(theirs)));
                known = versions;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn other_versions(&self) -> Result<BTreeSet<String>, async_nats::Error> {
        let waiting = self.link.work().await?.info_with_subjects("moescape.work.>").await?;
        let subjects: Vec<(String, usize)> = waiting.try_collect().await?;
        let versions = subjects.iter().filter_map(|(subject, _)| subject.split('.').nth(2));
        let ours = version_token(model::MODEL_VERSION);
        Ok(versions.filter(|theirs| *theirs != ours).map(|token| token.replace('_', ".")).collect())
    }
}

/// Number of workers that took a chunk, this one included.
fn tries(message: &Message) -> i64 {
    let header = message.headers.as_ref().and_then(|headers| headers.get(LOST));
    let lost = header.and_then(|lost| lost.as_str().parse::<i64>().ok()).unwrap_or(0);
    let taken = message.info().map_or(1, |info| info.delivered);
    taken.saturating_add(lost.max(0))
}

fn refusal(theirs: &str) -> String {
    format!(
        "chunks wait for version {theirs} of the model; this worker has version {} and leaves \
         them to workers of theirs",
        model::MODEL_VERSION
    )
}

fn answer(task: &Task, part: Option<Progress>, rows: Vec<u8>, failure: Option<String>) -> Answer {
    let head = Head {
        model_version: model::MODEL_VERSION.to_owned(),
        sweep: task.sweep.clone(),
        start: task.start,
        end: task.end,
        part,
        failure,
    };
    Answer { head, rows }
}
