//! Hands out the chunks of sweeps and takes what was found in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use async_nats::jetstream::message::PublishMessage;
use axum::body::Bytes;
use futures_util::TryStreamExt;
use futures_util::future::join_all;
use tokio::sync::{Notify, mpsc, watch};

use super::link::{Link, RETRY_DELAY, each, version_token};
use super::message::{Answer, Puzzle, Stop, Task};
use crate::ground::log_fields;
use crate::ground::random::random_id;
use crate::jobs::nats::{Address, NatsError};
use crate::jobs::sweeps::chunk::{Chunks, Claim, Outcome};

/// Chunks under way for each thread of a worker: one at work, one at hand, one on its way.
const CHUNKS_PER_THREAD: usize = 3;

/// Chunks under way at once, at least and at most.
const WINDOW: (usize, usize) = (8, 8_192);

/// Results that wait for the coordinator, at most.
const MAX_BACKLOG_RESULTS: usize = 64;

/// Bytes of a task's headers, at most: they count as the message's. Its name has about 120.
const HEADER_BYTES: usize = 512;

/// Interval at which workers are counted and lost chunks looked for.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Silence after which chunks are looked for that got lost.
const LOST_TIMEOUT: Duration = Duration::from_secs(6);

/// Silence after which a sweep without workers is complained about.
const NO_WORKERS_TIMEOUT: Duration = Duration::from_secs(10);

/// A coordinator and its thread; both end when it is dropped.
#[derive(Debug)]
pub(crate) struct Coordinator {
    wake: Arc<Notify>,
    threads: Arc<AtomicUsize>,
    closing: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Coordinator {
    /// Connects, takes back what one before it handed out for these sweeps, and starts. Waits for
    /// NATS: not for threads that answer requests.
    pub(crate) fn start(
        address: &Address,
        chunks: Arc<dyn Chunks>,
        sweeps: Vec<String>,
    ) -> Result<Self, NatsError> {
        let (wake, threads) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(1)));
        let (closing, closed) = watch::channel(false);
        let (said, hear) = std::sync::mpsc::sync_channel(1);
        let (address, signals) = (address.clone(), (Arc::clone(&wake), Arc::clone(&threads)));
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(said.send(Err(no_thread(&error)))),
            };
            runtime.block_on(async {
                match Link::open(&address, "moescape sweep").await {
                    Ok(link) => {
                        let board = ChunkBoard::new(link, chunks, signals, closed);
                        board.forget(&sweeps).await;
                        let _ = said.send(Ok(()));
                        board.run().await;
                    }
                    Err(error) => drop(said.send(Err(error))),
                }
            });
        };
        let thread = std::thread::Builder::new().name("nats".to_owned());
        let thread = thread.spawn(work).map_err(|error| no_thread(&error))?;
        let started = hear.recv();
        started.unwrap_or_else(|_| Err(NatsError::new("the thread for NATS ended")))?;
        Ok(Self { wake, threads, closing, thread: Some(thread) })
    }

    /// Looks at once whether there are chunks to hand out or to take back.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Threads of workers that are there, as far as is known; 1 at least.
    pub(crate) fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        let _ = self.closing.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn no_thread(error: &std::io::Error) -> NatsError {
    NatsError::new(format!("there is no thread for NATS: {error}"))
}

/// The chunks of a coordinator that are under way, with all that its thread works with.
struct ChunkBoard {
    link: Link,
    /// Its name, a new one for each start.
    name: String,
    chunks: Arc<dyn Chunks>,
    wake: Arc<Notify>,
    threads: Arc<AtomicUsize>,
    closed: watch::Receiver<bool>,
    /// Chunks that were claimed and aren't settled, by sweep and first place.
    under_way: BTreeMap<(String, u64), Sent>,
    /// Raised for each sweep when its chunks were taken back.
    runs: HashMap<String, u64>,
    puzzle: Puzzle,
    /// Largest number of chunks under way.
    window: usize,
    /// Sweeps with chunks that NATS hasn't and no result of, and since when.
    missing: BTreeMap<String, Instant>,
    /// Time when there were workers, or nothing to do.
    heard: Instant,
    complained: bool,
}

/// A chunk under way.
struct Sent {
    claim: Claim,
    /// Whether NATS has got it.
    kept: bool,
}

impl ChunkBoard {
    fn new(
        link: Link,
        chunks: Arc<dyn Chunks>,
        (wake, threads): (Arc<Notify>, Arc<AtomicUsize>),
        closed: watch::Receiver<bool>,
    ) -> Self {
        Self {
            link,
            name: random_id(),
            chunks,
            wake,
            threads,
            closed,
            under_way: BTreeMap::new(),
            runs: HashMap::new(),
            puzzle: Puzzle::default(),
            window: WINDOW.0,
            missing: BTreeMap::new(),
            heard: Instant::now(),
            complained: false,
        }
    }

    async fn run(mut self) {
        let (to, mut answers) = mpsc::channel(MAX_BACKLOG_RESULTS);
        let listening = tokio::spawn(listen(self.link.clone(), self.name.clone(), to));
        let mut poll = tokio::time::interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (wake, mut closed) = (Arc::clone(&self.wake), self.closed.clone());
        loop {
            let turn = async {
                tokio::select! {
                    () = wake.notified() => {}
                    Some(message) = answers.recv() => self.take(&message).await,
                    _ = poll.tick() => self.poll().await,
                }
                self.take_back().await;
                self.hand_out().await;
            };
            // A turn can take some seconds while NATS is away.
            tokio::select! {
                () = turn => {}
                _ = closed.wait_for(|closed| *closed) => break,
            }
        }
        listening.abort();
        let sweeps: BTreeSet<String> =
            self.under_way.keys().map(|(sweep, _)| sweep.clone()).collect();
        let leave = async {
            for sweep in &sweeps {
                self.stop(sweep).await;
            }
            if let Ok(results) = self.link.results().await {
                let _ = results.delete_consumer(&self.name).await;
            }
            let _ = self.link.client.flush().await;
        };
        // NATS may be away: then workers do a few chunks for nobody.
        let _ = tokio::time::timeout(POLL_INTERVAL, leave).await;
    }

    /// Takes back what a coordinator before this one left of these sweeps.
    async fn forget(&self, sweeps: &[String]) {
        for sweep in sweeps {
            if let Ok(work) = self.link.work().await {
                let _ = work.purge().filter(format!("moescape.work.*.{sweep}")).await;
            }
            if let Ok(results) = self.link.results().await {
                let _ = results.purge().filter(format!("moescape.result.*.{sweep}.>")).await;
            }
        }
    }

    /// Claims chunks while there is room, and publishes them.
    async fn hand_out(&mut self) {
        while self.under_way.len() < self.window {
            let Some(claim) = self.chunks.claim() else { break };
            let key = (claim.sweep.clone(), claim.places().start);
            self.under_way.insert(key, Sent { claim, kept: false });
        }
        let mut sending = Vec::new();
        for ((sweep, start), sent) in self.under_way.iter().filter(|(_, sent)| !sent.kept) {
            let run = self.runs.get(sweep).copied().unwrap_or_default();
            let task = task(&self.name, run, &sent.claim);
            let message = PublishMessage::build().message_id(task.id()).payload(payload(&task));
            let version = version_token(model::MODEL_VERSION);
            let subject = format!("moescape.work.{version}.{sweep}");
            let (context, key) = (&self.link.context, (sweep.clone(), *start));
            sending.push(async move {
                let published = async { context.send_publish(subject, message).await?.await };
                (key, published.await)
            });
        }
        let mut failed = false;
        for (key, published) in join_all(sending).await {
            match (published, self.under_way.get_mut(&key)) {
                (Ok(_), Some(sent)) => sent.kept = true,
                (Ok(_), None) => {}
                (Err(error), _) => {
                    tracing::debug!(%error, "a chunk isn't kept yet");
                    failed = true;
                }
            }
        }
        if failed {
            self.mend().await;
        }
    }

    /// Tries to mend things when chunks can't be published: NATS may be away, or there anew and
    /// empty.
    async fn mend(&mut self) {
        tokio::time::sleep(RETRY_DELAY).await;
        let _ = self.link.work().await;
        let most = self.link.client.server_info().max_payload;
        // A spec that is too large for a message never goes through.
        let unsent = self.under_way.values().filter(|sent| !sent.kept).map(|sent| &sent.claim);
        let too_large = unsent.filter(|claim| {
            let run = self.runs.get(&claim.sweep).copied().unwrap_or_default();
            !fits(&task(&self.name, run, claim), most)
        });
        let too_large: Vec<Claim> = too_large.cloned().collect();
        for claim in too_large {
            self.under_way.remove(&(claim.sweep.clone(), claim.places().start));
            let why = format!("the spec is larger than a message of NATS, {most} bytes");
            Arc::clone(&self.chunks).complete_chunk(
                &claim.sweep,
                claim.places(),
                Outcome::Failed(why),
            );
        }
        self.wake.notify_one();
    }

    /// Takes a piece of a result.
    async fn take(&mut self, message: &Message) {
        let whole = self.puzzle.add(&message.subject, message.headers.as_ref(), &message.payload);
        // What isn't written down when this process ends is evaluated again.
        if let Err(error) = message.ack().await {
            tracing::debug!(%error, "a result can't be acknowledged");
        }
        match whole {
            None => {}
            Some(Ok(answer)) => self.complete_chunk(answer),
            Some(Err(why)) => tracing::error!("{why}; its chunk is handed out again"),
        }
    }

    fn complete_chunk(&mut self, answer: Answer) {
        let Answer { head, rows } = answer;
        let key = (head.sweep, head.start);
        // A chunk that was evaluated twice, or isn't wanted any more.
        let Some(sent) = self.under_way.get(&key) else { return };
        if head.model_version != model::MODEL_VERSION || head.end != sent.claim.places().end {
            let theirs = head.model_version;
            let sweep = log_fields::key(&key.0);
            tracing::error!(sweep, theirs, "a result of another model is dropped");
            return;
        }
        let places = sent.claim.places();
        let outcome = match (head.part, head.failure) {
            (Some(part), None) => Outcome::Done(Box::new(part), rows),
            (_, Some(why)) => Outcome::Failed(why),
            (None, None) => Outcome::Failed("a worker said nothing".to_owned()),
        };
        self.under_way.remove(&key);
        self.missing.remove(&key.0);
        Arc::clone(&self.chunks).complete_chunk(&key.0, places, outcome);
    }

    /// Takes back the chunks of sweeps that were paused or removed.
    async fn take_back(&mut self) {
        let sweeps: BTreeSet<String> = self.under_way.keys().map(|key| key.0.clone()).collect();
        for sweep in sweeps.into_iter().filter(|sweep| !self.chunks.wants(sweep)) {
            self.stop(&sweep).await;
            *self.runs.entry(sweep.clone()).or_default() += 1;
            self.puzzle.forget(&self.name, &sweep);
            let taken: Vec<(String, u64)> =
                self.under_way.keys().filter(|key| key.0 == sweep).cloned().collect();
            for key in taken {
                if let Some(sent) = self.under_way.remove(&key) {
                    let chunks = Arc::clone(&self.chunks);
                    chunks.complete_chunk(&sweep, sent.claim.places(), Outcome::Stopped);
                }
            }
        }
    }

    /// Tells workers that a sweep's chunks aren't wanted, and takes those that wait.
    async fn stop(&self, sweep: &str) {
        let run = self.runs.get(sweep).copied().unwrap_or_default();
        let stop = Stop { coordinator: self.name.clone(), sweep: sweep.to_owned(), run };
        let payload = Bytes::from(serde_json::to_vec(&stop).unwrap_or_default());
        let _ = self.link.client.publish(Stop::SUBJECT, payload).await;
        if let Ok(work) = self.link.work().await {
            let _ = work.purge().filter(format!("moescape.work.*.{sweep}")).await;
        }
    }

    /// Looks who works, and whether chunks got lost.
    async fn poll(&mut self) {
        let Ok(mut consumer) = self.link.chunks(model::MODEL_VERSION).await else { return };
        let Ok(info) = consumer.info().await else { return };
        let at_work = info.num_ack_pending;
        let workers = at_work + info.num_waiting;
        self.threads.store(workers.max(1), Ordering::Relaxed);
        self.window = (workers * CHUNKS_PER_THREAD).clamp(WINDOW.0, WINDOW.1);
        self.complain(workers);
        if self.under_way.is_empty() {
            self.missing.clear();
        } else if let Ok(there) = self.there().await {
            self.hand_out_again(&there);
        }
    }

    /// Says so, once, when chunks wait and nobody works.
    fn complain(&mut self, workers: usize) {
        if workers > 0 || self.under_way.is_empty() {
            self.complained = false;
            self.heard = Instant::now();
        } else if self.heard.elapsed() >= NO_WORKERS_TIMEOUT && !self.complained {
            self.complained = true;
            self.chunks.note_idle(&format!(
                "no worker with version {} of the model is there: `moescape worker --engine \
                 nats://...` starts one",
                model::MODEL_VERSION
            ));
        }
    }

    /// Finds sweeps whose chunks neither wait nor are worked on, without a result: NATS lost them.
    fn hand_out_again(&mut self, there: &BTreeSet<String>) {
        let sent = self.under_way.iter().filter(|(_, sent)| sent.kept);
        let sent: BTreeSet<String> = sent.map(|(key, _)| key.0.clone()).collect();
        self.missing.retain(|sweep, _| sent.contains(sweep) && !there.contains(sweep));
        for sweep in sent.difference(there) {
            let since = self.missing.entry(sweep.clone()).or_insert_with(Instant::now);
            if since.elapsed() < LOST_TIMEOUT {
                continue;
            }
            self.missing.remove(sweep);
            tracing::warn!(
                sweep = log_fields::key(sweep),
                "chunks got lost; they are handed out again"
            );
            // Under a new name, as the old one may count as a repeat.
            *self.runs.entry(sweep.clone()).or_default() += 1;
            let lost = self.under_way.iter_mut().filter(|(key, _)| key.0 == *sweep);
            lost.for_each(|(_, sent)| sent.kept = false);
        }
    }

    /// Sweeps of which chunks are at NATS: they wait, or a worker has them.
    async fn there(&self) -> Result<BTreeSet<String>, async_nats::Error> {
        let version = version_token(model::MODEL_VERSION);
        let filter = format!("moescape.work.{version}.*");
        let subjects = self.link.work().await?.info_with_subjects(filter).await?;
        let subjects: Vec<(String, usize)> = subjects.try_collect().await?;
        let sweeps = subjects.iter().filter_map(|(subject, _)| subject.rsplit('.').next());
        Ok(sweeps.map(ToOwned::to_owned).collect())
    }
}

fn task(coordinator: &str, run: u64, claim: &Claim) -> Task {
    Task {
        model_version: model::MODEL_VERSION.to_owned(),
        coordinator: coordinator.to_owned(),
        sweep: claim.sweep.clone(),
        run,
        start: claim.batch.places.start,
        end: claim.batch.places.end,
        picked: claim.batch.picked.clone(),
        rows: claim.rows.map(|format| format.name().to_owned()),
        spec: claim.spec.to_string(),
    }
}

fn payload(task: &Task) -> Bytes {
    Bytes::from(serde_json::to_vec(task).unwrap_or_default())
}

/// Whether a task is small enough for a message of `most` bytes. Its spec is JSON in JSON, whose
/// quotation marks and line breaks take two bytes each.
fn fits(task: &Task, most: usize) -> bool {
    payload(task).len() + HEADER_BYTES <= most
}

/// Gives on what comes for a coordinator, as long as it listens.
async fn listen(link: Link, coordinator: String, to: mpsc::Sender<Message>) {
    while !to.is_closed() {
        let heard = async {
            let consumer = link.answers(&coordinator).await?;
            let hear = |message| async { to.send(message).await.is_ok() };
            while each(&consumer, MAX_BACKLOG_RESULTS, hear).await? > 0 {}
            Ok::<_, async_nats::Error>(())
        };
        if let Err(error) = heard.await {
            tracing::debug!(%error, "results can't be asked for");
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use sweep::Batch;

    use super::*;

    #[test]
    fn a_task_is_as_large_as_what_is_sent_of_it() {
        let claim = |spec: &str| Claim {
            sweep: "0123".to_owned(),
            spec: spec.into(),
            rows: None,
            batch: Batch::from(0..10),
        };
        let plain = task("me", 0, &claim(&"x".repeat(1000)));
        let quoted = task("me", 0, &claim(&"\"".repeat(1000)));
        let most = payload(&plain).len() + HEADER_BYTES;
        assert!(fits(&plain, most) && !fits(&plain, most - 1));
        assert!(!fits(&quoted, most) && fits(&quoted, most + 1000));
    }
}
