//! Many clients at once, cut off at random, and a server that is killed: nothing is lost, nothing
//! happens twice, and all see the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use review::wire::{Start, Tell};
use review::{Change, Event, Replica, Room, Taken};
use tokio::sync::Barrier;

use crate::client::{Client, Cut, Server, Session, data, set};

/// A client that edits, loses its connection, and comes back with what wasn't confirmed.
struct Editor {
    name: String,
    replica: Option<Replica>,
    seed: u64,
    /// Events that the server told of as done, by the client's names for them.
    acknowledged: BTreeMap<String, u64>,
    /// When changes were sent first, and how long those took that were told of.
    sent: BTreeMap<String, Instant>,
    took: Vec<Duration>,
}

impl Editor {
    fn new(number: u64) -> Self {
        let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let (acknowledged, sent, took) = Default::default();
        let name = format!("editor-{number}");
        Self { name, replica: None, seed, acknowledged, sent, took }
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
            Client::enter(at, session, &session.edit, &self.name, after).await?;
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
                if let Some(replica) = &mut self.replica {
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

/// What a client has in the end.
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
        let entered = Client::enter(at, &session, &session.view, &editor.name, Some(seq)).await;
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

/// Clients edit at one or two servers while these are killed; everything converges.
pub(crate) async fn run(servers: usize, clients: u64, time: Duration, kills: u32, more: &[&str]) {
    let data = data();
    let mut running = vec![];
    for _ in 0..servers {
        running.push(Some(Server::start_with(data.path(), "127.0.0.1:0", more)));
    }
    let addresses: Vec<String> = running.iter().flatten().map(|it| it.address.clone()).collect();
    let session = running[0].as_ref().unwrap().begin().await;
    let memory = |running: &[Option<Server>]| {
        let each = running.iter().flatten().filter_map(Server::resident_kib);
        each.map(|kib| (kib >> 10).to_string()).collect::<Vec<_>>().join(" and ")
    };
    let before = memory(&running);
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(Barrier::new(clients as usize));
    let editors: Vec<_> = (1..=clients)
        .map(|number| {
            let (stop, done) = (Arc::clone(&stop), Arc::clone(&done));
            tokio::spawn(edit(number, addresses.clone(), session.clone(), stop, done))
        })
        .collect();
    for kill in 0..kills as usize {
        tokio::time::sleep(time / (kills + 1)).await;
        let place = kill % servers;
        running[place].take().unwrap().kill();
        running[place] = Some(Server::start_with(data.path(), &addresses[place], more));
    }
    tokio::time::sleep(time / (kills + 1)).await;
    stop.store(true, Ordering::Relaxed);
    let mut ended = vec![];
    for editor in editors {
        ended.push(editor.await.unwrap());
    }
    let count: usize = ended.iter().map(|ended| ended.acknowledged.len()).sum();
    assert!(count > clients as usize, "{count} changes");
    let mut took: Vec<Duration> = ended.iter().flat_map(|ended| ended.took.clone()).collect();
    took.sort();
    let part = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or_default();
    check(running[0].as_ref().unwrap(), &session, ended).await;
    println!(
        "{count} events acknowledged, 0 lost, {kills} kills; an edit took p50 {:?}, p95 {:?}; \
         servers had {before} MiB at first, {} in the end",
        part(50),
        part(95),
        memory(&running)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_clients_and_two_kills_lose_nothing_and_repeat_nothing() {
    run(1, 20, Duration::from_secs(6), 2, &[]).await;
}
