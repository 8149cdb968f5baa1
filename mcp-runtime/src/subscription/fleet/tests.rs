//! A fleet over a broker that is made of memory, and a clock that is paused.

use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{Instant, advance, sleep},
};

use super::*;

/// How the broker is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Up,
    /// Nobody can connect.
    Down,
    /// Nothing arrives, nothing comes, and nobody is told.
    Silent,
}

#[derive(Clone)]
struct Bus(Arc<Mutex<State>>);

struct State {
    mode: Mode,
    links: Vec<mpsc::UnboundedSender<Bytes>>,
    /// When somebody tried to connect.
    attempts: Vec<Instant>,
    /// What arrived at the broker.
    arrived: Vec<Bytes>,
}

impl Bus {
    fn new(mode: Mode) -> Self {
        Self(Arc::new(Mutex::new(State {
            mode,
            links: Vec::new(),
            attempts: Vec::new(),
            arrived: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn set(&self, mode: Mode) {
        self.lock().mode = mode;
    }

    /// Ends all connections.
    fn kill(&self) {
        let mut state = self.lock();
        state.mode = Mode::Down;
        state.links.clear();
    }

    fn deliver(&self, payload: &Bytes) {
        self.lock().links.retain(|link| link.send(payload.clone()).is_ok());
    }

    fn join(&self) -> Server {
        self.join_with(FleetOptions::new())
    }

    fn join_with(&self, options: FleetOptions) -> Server {
        let fleet = Fleet::start(self.clone(), options).unwrap();
        let heard = Heard::default();
        let (log, bus) = (Arc::clone(&heard), self.clone());
        let registration = fleet.subscribe(Arc::new(move |change: &Change| {
            log.lock().unwrap().push((change.clone(), bus.lock().links.len()));
            Ok(())
        }));
        Server { fleet, heard, _registration: registration }
    }
}

impl Broker for Bus {
    type Outgoing = Self;
    type Incoming = mpsc::UnboundedReceiver<Bytes>;

    fn address(&self) -> String {
        "memory".into()
    }

    async fn connect(&mut self) -> Result<(Self, mpsc::UnboundedReceiver<Bytes>), BoxError> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mode = {
            let mut state = self.lock();
            state.attempts.push(Instant::now());
            if state.mode == Mode::Up {
                state.links.push(sender);
            }
            state.mode
        };
        match mode {
            Mode::Up => Ok((self.clone(), receiver)),
            Mode::Down => Err("refused".into()),
            Mode::Silent => std::future::pending().await,
        }
    }
}

impl Outgoing for Bus {
    async fn publish(&self, payloads: Vec<Bytes>) -> Result<(), BoxError> {
        let mode = self.lock().mode;
        match mode {
            Mode::Up => {
                for payload in payloads {
                    self.deliver(&payload);
                    self.lock().arrived.push(payload);
                }
                Ok(())
            }
            Mode::Down => Err("broken".into()),
            Mode::Silent => Ok(()),
        }
    }
}

impl Incoming for mpsc::UnboundedReceiver<Bytes> {
    async fn next(&mut self) -> Result<Bytes, BoxError> {
        self.recv().await.ok_or_else(|| "closed".into())
    }
}

/// Changes, and how many connections the broker had when they were heard.
type Heard = Arc<Mutex<Vec<(Change, usize)>>>;

struct Server {
    fleet: Fleet,
    heard: Heard,
    _registration: Registration,
}

impl Server {
    /// What it has heard since it was last asked.
    fn heard(&self) -> Vec<Change> {
        self.heard.lock().unwrap().drain(..).map(|(change, _)| change).collect()
    }

    fn update(&self, uri: &str) {
        self.fleet.resource_updated(uri).unwrap();
    }

    fn assert_all_accounted_for(&self) {
        let status = self.fleet.status();
        assert_eq!(
            status.published,
            status.confirmed + status.coalesced + status.pending as u64,
            "{status:?}"
        );
    }
}

fn part(uri: &str) -> Change {
    Change::resource(uri).unwrap()
}

/// Lets everything happen that needs no time.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

async fn two_servers(bus: &Bus) -> (Server, Server) {
    let servers = (bus.join(), bus.join());
    servers.0.fleet.ready().await.unwrap();
    servers.1.fleet.ready().await.unwrap();
    settle().await;
    assert_eq!((servers.0.heard(), servers.1.heard()), (vec![Change::Everything], vec![Change::Everything]));
    servers
}

#[tokio::test(start_paused = true)]
async fn a_change_is_heard_here_at_once_and_everywhere_once() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    a.update("x://1");
    assert_eq!(a.heard(), [part("x://1")]);
    a.fleet.flush().await.unwrap();
    b.fleet.tools_changed().unwrap();
    settle().await;
    assert_eq!(a.heard(), [Change::Tools]);
    assert_eq!(b.heard(), [part("x://1"), Change::Tools]);
    let status = a.fleet.status();
    assert!(status.connected);
    assert_eq!((status.published, status.confirmed, status.received, status.gaps), (1, 1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_server_starts_without_its_broker() {
    let bus = Bus::new(Mode::Down);
    let (a, b) = (bus.join(), bus.join());
    a.update("x://1");
    a.update("x://2");
    a.update("x://1");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(a.heard(), [part("x://1"), part("x://2"), part("x://1")]);
    let status = a.fleet.status();
    assert_eq!((status.connected, status.pending, status.coalesced, status.gaps), (false, 2, 1, 0));
    bus.set(Mode::Up);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(a.heard(), [Change::Everything]);
    // Whatever was sent before it was there, it was told everything after.
    assert_eq!(b.heard().iter().filter(|change| **change == Change::Everything).count(), 1);
    assert!(a.fleet.status().connected && a.fleet.status().pending == 0);
    a.assert_all_accounted_for();
}

#[tokio::test(start_paused = true)]
async fn everything_is_told_once_after_a_gap_when_the_subscription_is_active_again() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    bus.kill();
    settle().await;
    assert!(!a.fleet.status().connected);
    a.update("x://1");
    assert_eq!((a.heard(), b.heard()), (vec![part("x://1")], vec![]));
    // One comes back before the other.
    sleep(Duration::from_secs(5)).await;
    bus.set(Mode::Up);
    sleep(Duration::from_secs(20)).await;
    let heard = b.heard.lock().unwrap().clone();
    let told: Vec<_> = heard.iter().filter(|(change, _)| *change == Change::Everything).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].1 >= 1, "nobody was connected");
    assert_eq!(b.fleet.status().gaps, 2);
    a.update("x://2");
    settle().await;
    assert_eq!(b.heard().last(), Some(&part("x://2")));
}

#[tokio::test(start_paused = true)]
async fn what_the_broker_has_not_confirmed_is_sent_again() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    bus.set(Mode::Silent);
    a.update("x://1");
    settle().await;
    // It is under way, and changes again.
    a.update("x://1");
    a.update("x://2");
    settle().await;
    assert_eq!(a.fleet.status().pending, 3);
    bus.kill();
    settle().await;
    assert_eq!((a.fleet.status().pending, a.fleet.status().coalesced), (2, 1));
    bus.set(Mode::Up);
    b.fleet.ready().await.unwrap();
    a.fleet.flush().await.unwrap();
    settle().await;
    let sent: Vec<_> =
        bus.lock().arrived.iter().map(|payload| String::from_utf8_lossy(payload).into_owned()).collect();
    let uris: Vec<_> = sent.iter().filter_map(|message| message.split("x://").nth(1)).collect();
    assert_eq!(uris, ["1\"}", "2\"}"]);
    a.assert_all_accounted_for();
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_nothing_comes_is_given_up() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    sleep(Duration::from_secs(3)).await;
    bus.set(Mode::Silent);
    // A ping is due five seconds after the last message, and has five seconds.
    sleep(Duration::from_secs(6)).await;
    assert!(a.fleet.status().connected && b.fleet.status().connected);
    sleep(Duration::from_secs(5)).await;
    assert!(!a.fleet.status().connected && !b.fleet.status().connected);
    bus.set(Mode::Up);
    sleep(Duration::from_secs(10)).await;
    assert_eq!((a.heard(), b.heard()), (vec![Change::Everything], vec![Change::Everything]));
}

#[tokio::test(start_paused = true)]
async fn a_whole_fleet_needs_one_ping() {
    let bus = Bus::new(Mode::Up);
    let servers: Vec<_> = (0..20).map(|_| bus.join()).collect();
    for server in &servers {
        server.fleet.ready().await.unwrap();
    }
    let before = bus.lock().arrived.len();
    // They all start in the same instant here, which real servers don't.
    sleep(Duration::from_secs(2)).await;
    servers[0].update("x://1");
    sleep(Duration::from_secs(600)).await;
    let pings = bus.lock().arrived.len() - before - 1;
    assert!((100..=20 * 125).contains(&pings), "{pings}");
    assert!(servers.iter().all(|server| server.fleet.status().gaps == 1));
}

#[tokio::test(start_paused = true)]
async fn attempts_to_connect_become_rare() {
    let bus = Bus::new(Mode::Down);
    let _server = bus.join();
    sleep(Duration::from_secs(100)).await;
    let attempts = bus.lock().attempts.clone();
    let mut full = Duration::from_millis(100);
    for pair in attempts.windows(2) {
        let waited = pair[1] - pair[0];
        // The clock of the runtime counts in milliseconds.
        assert!(waited >= full / 2 && waited <= full + Duration::from_millis(2), "{waited:?} of {full:?}");
        full = (full * 2).min(Duration::from_secs(10));
    }
    assert!((15..=27).contains(&attempts.len()), "{}", attempts.len());
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_keeps_falling_over_is_met_with_longer_waits() {
    let bus = Bus::new(Mode::Up);
    let server = bus.join();
    for _ in 0..100 {
        sleep(Duration::from_millis(200)).await;
        bus.kill();
        bus.set(Mode::Up);
    }
    // 100 ms, 200 ms, … add up to these 20 s within ten connections.
    assert!(server.fleet.status().gaps <= 14, "{:?}", server.fleet.status());
    server.fleet.ready().await.unwrap();
    sleep(Duration::from_secs(11)).await;
    // It has recovered, and so the next wait is a short one.
    bus.kill();
    bus.set(Mode::Up);
    settle().await;
    advance(Duration::from_millis(101)).await;
    settle().await;
    assert!(server.fleet.status().connected);
}

#[tokio::test(start_paused = true)]
async fn too_many_changes_become_everything() {
    let bus = Bus::new(Mode::Down);
    let (a, b) = (bus.join_with(FleetOptions::new().max_pending(10)), bus.join());
    for number in 0..100 {
        a.update(&format!("x://{number}"));
    }
    assert_eq!(a.fleet.status().pending, 1);
    assert_eq!(a.heard().len(), 100);
    bus.set(Mode::Up);
    b.fleet.ready().await.unwrap();
    a.fleet.flush().await.unwrap();
    settle().await;
    assert!(b.heard().iter().all(|change| *change == Change::Everything));
    a.assert_all_accounted_for();
}

#[tokio::test(start_paused = true)]
async fn what_changes_often_is_sent_as_often_as_the_broker_can_take_it() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    for number in 0..10_000 {
        a.update(&format!("x://{}", number % 3));
    }
    a.fleet.flush().await.unwrap();
    settle().await;
    assert_eq!(b.heard(), [part("x://0"), part("x://1"), part("x://2")]);
    let status = a.fleet.status();
    assert_eq!((status.confirmed, status.coalesced), (3, 9_997));
}

#[tokio::test(start_paused = true)]
async fn more_than_a_batch_is_sent_in_its_order() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    let uris: Vec<_> = (0..1000).map(|number| format!("x://{number}")).collect();
    uris.iter().for_each(|uri| a.update(uri));
    a.fleet.flush().await.unwrap();
    settle().await;
    assert_eq!(b.heard(), uris.iter().map(|uri| part(uri)).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn what_others_say_on_the_channel_does_no_harm() {
    let bus = Bus::new(Mode::Up);
    let (a, _b) = two_servers(&bus).await;
    bus.deliver(&Bytes::from_static(b"hello"));
    bus.deliver(&Bytes::from_static(br#"{"v":7,"from":"tomorrow","said":["more"]}"#));
    settle().await;
    assert_eq!(a.heard(), [Change::Everything]);
    assert_eq!((a.fleet.status().received, a.fleet.status().gaps), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn the_last_clone_takes_the_connection_with_it() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    let shared = Arc::downgrade(&a.fleet.0.shared);
    let clone = a.fleet.clone();
    drop(a);
    settle().await;
    clone.tools_changed().unwrap();
    clone.flush().await.unwrap();
    drop(clone);
    settle().await;
    assert!(shared.upgrade().is_none());
    b.update("x://1");
    settle().await;
    assert_eq!(bus.lock().links.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn failures_of_listeners_are_told_to_who_published_and_the_others_hear() {
    let bus = Bus::new(Mode::Up);
    let (a, b) = two_servers(&bus).await;
    let _fails = a.fleet.subscribe(Arc::new(|_: &Change| Err("full".into())));
    let error = a.fleet.tools_changed().unwrap_err();
    assert_eq!(error.to_string(), "a listener failed: full");
    settle().await;
    assert_eq!(b.heard(), [Change::Tools]);
    // What fails, or panics, when others publish harms nobody.
    let _panics = a.fleet.subscribe(Arc::new(|_: &Change| panic!("no")));
    b.update("x://1");
    b.update("x://2");
    settle().await;
    assert_eq!(a.heard(), [Change::Tools, part("x://1"), part("x://2")]);
}

#[test]
fn there_must_be_a_runtime_as_long_as_it_is_used() {
    let bus = Bus::new(Mode::Up);
    let refused = Fleet::start(bus.clone(), FleetOptions::new());
    assert!(matches!(refused, Err(FleetError::NoRuntime)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(async { bus.join() });
    drop(runtime);
    let error = server.fleet.tools_changed().unwrap_err();
    assert!(matches!(error, PublishError::Unavailable(_)), "{error}");
    assert_eq!(server.heard(), [Change::Tools]);
}
