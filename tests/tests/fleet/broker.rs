//! A broker's process.

use std::{env, net::SocketAddr, path::PathBuf, process::Stdio, time::Duration};

use mcp_tests::no_longer_listening;
use tokio::{
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    time::{sleep, timeout},
};

/// Which one.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Nats,
    Redis,
}

/// User and password, for a broker that wants them.
pub const CREDENTIALS: (&str, &str) = ("default", "open-sesame");

impl Kind {
    fn program(self) -> &'static str {
        match self {
            Self::Nats => "nats-server",
            Self::Redis => "redis-server",
        }
    }

    pub fn scheme(self) -> &'static str {
        match self {
            Self::Nats => "nats",
            Self::Redis => "redis",
        }
    }

    fn command(self, program: PathBuf, address: SocketAddr, guarded: bool) -> Command {
        let (ip, port) = (address.ip().to_string(), address.port().to_string());
        let (user, password) = CREDENTIALS;
        let mut command = Command::new(program);
        match self {
            Self::Nats => command.args(["-a", &ip, "-p", &port]),
            Self::Redis => command.args(["--bind", &ip, "--port", &port, "--save", "", "--appendonly", "no"]),
        };
        match self {
            Self::Nats if guarded => command.args(["--user", user, "--pass", password]),
            Self::Redis if guarded => command.args(["--requirepass", password]),
            _ => &mut command,
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        command
    }
}

/// A broker on a port of its own, which it keeps over restarts.
pub struct Broker {
    kind: Kind,
    program: PathBuf,
    address: SocketAddr,
    guarded: bool,
    process: Option<Child>,
}

impl Broker {
    /// A broker that does not run yet; none where it is not installed.
    pub async fn find(kind: Kind) -> Option<Self> {
        let name = kind.program();
        // Servers are not on everybody's path.
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
        let Some(program) = folders.map(|folder| folder.join(name)).find(|program| program.is_file()) else {
            eprintln!("skipped: {name} is not installed (apt-get install {name})");
            return None;
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        Some(Self { kind, program, address, guarded: false, process: None })
    }

    /// One that runs.
    pub async fn start(kind: Kind) -> Option<Self> {
        let mut broker = Self::find(kind).await?;
        broker.restart().await;
        Some(broker)
    }

    /// One that runs, and wants the [`CREDENTIALS`].
    pub async fn start_guarded(kind: Kind) -> Option<Self> {
        let mut broker = Self { guarded: true, ..Self::find(kind).await? };
        broker.restart().await;
        Some(broker)
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("{}://{}", self.kind.scheme(), self.address)
    }

    /// Where it is, with credentials.
    pub fn url_with(&self, (user, password): (&str, &str)) -> String {
        format!("{}://{user}:{password}@{}", self.kind.scheme(), self.address)
    }

    /// Starts it, and waits until it listens.
    pub async fn restart(&mut self) {
        let mut command = self.kind.command(self.program.clone(), self.address, self.guarded);
        self.process = Some(command.spawn().expect("the broker starts"));
        let listens = async {
            while TcpStream::connect(self.address).await.is_err() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(20), listens).await.expect("the broker listens");
    }

    /// Ends it with SIGKILL: it says goodbye to nobody.
    pub async fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.kill().await.expect("it is killed");
        no_longer_listening(self.address).await;
    }

    /// Stops it where it stands: its connections stay open, and nothing comes.
    pub async fn freeze(&self) {
        self.signal("-STOP").await;
    }

    /// Lets it go on.
    pub async fn thaw(&self) {
        self.signal("-CONT").await;
    }

    async fn signal(&self, signal: &str) {
        let id = self.process.as_ref().and_then(Child::id).expect("it runs").to_string();
        let sent = Command::new("kill").args([signal, &id]).status().await;
        assert!(sent.is_ok_and(|status| status.success()), "kill {signal} {id}");
    }
}
