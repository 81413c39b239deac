//! Many clients at once, cut off at random, and a server that is killed: nothing is lost, nothing
//! happens twice, and all see the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use review::wire::{Start, Tell};
use review::{Change, Event, Replica, Room, Taken};
use tempfile::TempDir;
use tokio::sync::Barrier;

use crate::client::{Client, Cut, Server, Session, data, set};

/// Changes that a client asks for before it hears of the first, at most: on a machine that is busy
/// with other things all would wait behind one another else, and their times say how long.
const AHEAD: usize = 4;

/// A client that edits, loses its connection, and comes back with what wasn't confirmed.
struct Editor {
    number: u64,
    name: String,
    replica: Option<Replica>,
    seed: u64,
    /// Events that the server reported as done, by the client's names for them.
    acknowledged: BTreeMap<String, u64>,
    /// Time when each change was first sent, and the times that acknowledged ones took.
    sent: BTreeMap<String, Instant>,
    took: Vec<Duration>,
}

impl Editor {
    fn new(number: u64) -> Self {
        let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let (acknowledged, sent, took) = Default::default();
        let name = format!("editor-{number}");
        Self { number, name, replica: None, seed, acknowledged, sent, took }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % below
    }

    fn change(&mut self) -> Change {
        let number = self.random(1_000);
        let text = format!("{} says {number}", self.name);
        match self.random(8) {
            0 => Change::Ask { text },
            1 => Change::Comment { anchor: review::Anchor::Design, text, said: None },
            2 => Change::Pin { name: text, link: None },
            3 => set("mbs", if self.random(2) == 0 { "1" } else { "2" }),
            4 => set("pp", if self.random(2) == 0 { "8" } else { "16" }),
            _ => set("tp", &(1 << self.random(4)).to_string()),
        }
    }

    /// One connection: until it breaks, is cut, or there is nothing left to do.
    async fn connected(
        &mut self,
        at: &str,
        session: &Session,
        stop: &AtomicBool,
    ) -> Result<(), Cut> {
        let after = self.replica.as_ref().map(Replica::seq);
        let (mut client, start) =
            Client::enter_from(self.number, at, session, (&session.edit, &self.name), after)
                .await?;
        self.begin(start);
        let again: Vec<(String, Change)> = self
            .replica
            .iter()
            .flat_map(Replica::unsent)
            .map(|unsent| (unsent.op.clone(), unsent.change.clone()))
            .collect();
        for (op, change) in again {
            client.act(&op, change).await?;
        }
        let lives = 20 + self.random(60);
        for _ in 0..lives {
            if !stop.load(Ordering::Relaxed) {
                let change = self.change();
                let replica = self.replica.as_mut().filter(|it| it.unconfirmed() < AHEAD);
                if let Some(replica) = replica {
                    let op = replica.ask(change.clone());
                    self.sent.insert(op.clone(), Instant::now());
                    client.act(&op, change).await?;
                }
            }
            let pause = Duration::from_millis(30 + self.random(60));
            while let Some(told) = client.hear_within(pause).await {
                self.take(told?)?;
            }
            let is_done = self.replica.as_ref().is_some_and(|replica| replica.unconfirmed() == 0);
            if stop.load(Ordering::Relaxed) && is_done {
                return Ok(());
            }
        }
        // Cut off without a word.
        Err(Cut(None))
    }

    fn begin(&mut self, start: Start) {
        match (start, &mut self.replica) {
            (Start::Room { room }, None) => {
                self.replica = Some(Replica::new(*room, self.name.clone()));
            }
            (Start::Room { room }, Some(replica)) => replica.restart(*room),
            (Start::Events { events }, Some(replica)) => {
                for event in &events {
                    note(&mut self.acknowledged, &self.name, event);
                    replica.take(event);
                }
            }
            (Start::Events { .. }, None) => panic!("nothing was there to go on with"),
        }
    }

    fn take(&mut self, told: Tell) -> Result<(), Cut> {
        let Some(replica) = &mut self.replica else { return Ok(()) };
        match told {
            Tell::Event { event } => {
                note(&mut self.acknowledged, &self.name, &event);
                self.took.extend(self.sent.remove(&event.op).map(|sent| sent.elapsed()));
                assert_ne!(replica.take(&event), Taken::Missed, "events come in order");
            }
            Tell::Snapshot { room } => replica.restart(*room),
            Tell::Refused { op, .. } => drop(replica.refuse(&op)),
            Tell::Ended { .. } => return Err(Cut(None)),
            Tell::Welcome { .. }
            | Tell::Present { .. }
            | Tell::Gone { .. }
            | Tell::Preview { .. }
            | Tell::Bring { .. }
            | Tell::Mistake { .. } => {}
        }
        Ok(())
    }
}

fn note(acknowledged: &mut BTreeMap<String, u64>, name: &str, event: &Event) {
    if event.op.starts_with(&format!("{name}-")) {
        acknowledged.insert(event.op.clone(), event.seq);
    }
}

/// State of a client in the end.
struct Ended {
    room: Room,
    acknowledged: BTreeMap<String, u64>,
    took: Vec<Duration>,
}

async fn edit(
    number: u64,
    addresses: Vec<String>,
    session: Session,
    stop: Arc<AtomicBool>,
    done: Arc<Barrier>,
) -> Ended {
    let mut editor = Editor::new(number);
    loop {
        let at = &addresses[editor.random(addresses.len() as u64) as usize];
        if editor.connected(at, &session, &stop).await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Once nobody changes anything any more: all of it.
    done.wait().await;
    loop {
        let seq = editor.replica.as_ref().map_or(0, Replica::seq);
        let at = &addresses[editor.random(addresses.len() as u64) as usize];
        let who = (session.view.as_str(), editor.name.as_str());
        let entered = Client::enter_from(number, at, &session, who, Some(seq)).await;
        if let Ok((_, start)) = entered {
            editor.begin(start);
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let replica = editor.replica.unwrap();
    Ended { room: replica.room().clone(), acknowledged: editor.acknowledged, took: editor.took }
}

/// All see one design and one log; what was acknowledged is in it once, in order.
async fn check(server: &Server, session: &Session, ended: Vec<Ended>) {
    let log = server.log(session).await;
    for (place, event) in log.iter().enumerate() {
        assert_eq!(event.seq, place as u64 + 1, "there is no gap");
    }
    let mut by_op = BTreeMap::new();
    for event in &log {
        assert!(by_op.insert(event.op.clone(), event.seq).is_none(), "{} twice", event.op);
    }
    let room = server.room(session).await;
    assert_eq!(Room::of(&log), room, "the log makes the room");
    for ended in ended {
        for (op, seq) in &ended.acknowledged {
            assert_eq!(by_op.get(op), Some(seq), "{op} was acknowledged");
        }
        assert_eq!(ended.room, room, "all see the same");
    }
}

/// Servers on one store, each at an address that it keeps.
pub(crate) struct Servers {
    data: TempDir,
    running: Vec<Option<Server>>,
    pub(crate) addresses: Vec<String>,
    flags: Vec<String>,
}

impl Servers {
    pub(crate) fn start(number: usize, flags: &[&str]) -> Self {
        let data = data();
        let start = |_| Some(Server::start_with(data.path(), "127.0.0.1:0", flags));
        let running: Vec<_> = (0..number).map(start).collect();
        let addresses = running.iter().flatten().map(|it| it.address.clone()).collect();
        Self { running, addresses, flags: flags.iter().map(|&it| it.to_owned()).collect(), data }
    }

    /// One of them.
    pub(crate) fn first(&self) -> &Server {
        self.running[0].as_ref().unwrap()
    }

    /// Kills one, and starts it again at its address.
    fn kill(&mut self, place: usize) {
        self.running[place].take().unwrap().kill();
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let server = Server::start_with(self.data.path(), &self.addresses[place], &flags);
        self.running[place] = Some(server);
    }

    /// Memory that each takes, MiB.
    pub(crate) fn memory(&self) -> Vec<u64> {
        let each = self.running.iter().flatten().filter_map(Server::resident_kib);
        each.map(|kib| kib >> 10).collect()
    }
}

/// Observations of clients.
#[derive(Default)]
pub(crate) struct Seen {
    /// Events that were reported to them as done; each of them is in the log.
    pub(crate) acknowledged: usize,
    /// Time that each took from its first request.
    pub(crate) took: Vec<Duration>,
}

impl Seen {
    /// Puts what was seen since behind this.
    #[allow(dead_code, reason = "the soak does, the bench doesn't")]
    pub(crate) fn append(&mut self, mut later: Self) {
        self.acknowledged += later.acknowledged;
        self.took.append(&mut later.took);
    }

    /// One line of it.
    pub(crate) fn line(&self, kills: u32, servers: &Servers) -> String {
        let mut took = self.took.clone();
        took.sort();
        let part = |percent| took.get(took.len() * percent / 100).copied().unwrap_or_default();
        format!(
            "{} events acknowledged, 0 lost, {kills} kills; an edit took p50 {:?}, p95 {:?}; \
             servers have {:?} MiB",
            self.acknowledged,
            part(50),
            part(95),
            servers.memory()
        )
    }
}

/// Clients edit a new session at these addresses while servers are killed in turn; everything
/// converges.
pub(crate) async fn trial(
    servers: &mut Servers,
    at: &[String],
    clients: u64,
    time: Duration,
    kills: u32,
) -> Seen {
    let session = servers.first().begin().await;
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(Barrier::new(clients as usize));
    let editors: Vec<_> = (1..=clients)
        .map(|number| {
            let (stop, done) = (Arc::clone(&stop), Arc::clone(&done));
            tokio::spawn(edit(number, at.to_vec(), session.clone(), stop, done))
        })
        .collect();
    for kill in 0..kills as usize {
        tokio::time::sleep(time / (kills + 1)).await;
        servers.kill(kill % servers.addresses.len());
    }
    tokio::time::sleep(time / (kills + 1)).await;
    stop.store(true, Ordering::Relaxed);
    let mut ended = vec![];
    for editor in editors {
        ended.push(editor.await.unwrap());
    }
    let acknowledged: usize = ended.iter().map(|ended| ended.acknowledged.len()).sum();
    assert!(acknowledged > clients as usize, "{acknowledged} changes");
    let took = ended.iter().flat_map(|ended| ended.took.clone()).collect();
    check(servers.first(), &session, ended).await;
    Seen { acknowledged, took }
}

/// Clients edit at one or two servers while these are killed.
pub(crate) async fn run(servers: usize, clients: u64, time: Duration, kills: u32, more: &[&str]) {
    let mut servers = Servers::start(servers, more);
    let at = servers.addresses.clone();
    let before = servers.memory();
    let seen = trial(&mut servers, &at, clients, time, kills).await;
    println!("{}, had {before:?} at first", seen.line(kills, &servers));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_clients_and_two_kills_lose_nothing_and_repeat_nothing() {
    run(1, 20, Duration::from_secs(6), 2, &[]).await;
}
