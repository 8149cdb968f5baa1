//! Clients that go away in the middle of their calls, by the thousand. The only test of its process, whose tasks and
//! memory it counts.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Event, Message, Served, eventually};
use serde_json::json;
use tokio::task::JoinSet;

#[mcp_endpoint(path = "/mcp", name = "lost-clients", version = "1.0.0")]
#[derive(Default)]
struct Waiting {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

#[mcp_endpoint]
impl Waiting {
    /// Reports if it can, and waits to be cancelled.
    #[mcp_tool]
    async fn wait(&self, progress: Option<ProgressReporter>, token: CancellationToken) {
        self.started.fetch_add(1, SeqCst);
        let _ = progress.report(1).await;
        token.cancelled().await;
        self.ended.fetch_add(1, SeqCst);
    }
}

const CALLS: usize = 10_000;
const CLIENTS: usize = 100;

/// Makes calls, and goes away: from every other one before anything came back, from the rest in the middle of a stream.
async fn lose(served: &Arc<Served>, calls: usize) {
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let served = Arc::clone(served);
        clients.spawn(async move {
            for at in 0..calls / CLIENTS {
                let mut connection = served.connect().await;
                if at % 2 == 0 {
                    connection.send(&Message::call("wait", json!({}))).await;
                } else {
                    connection.send(&Message::call("wait", json!({})).progress_token(at)).await;
                    assert_eq!(connection.head().await.status, 200);
                    assert_eq!(connection.event().await.as_ref().and_then(Event::progress), Some(1.0));
                }
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.expect("no client panics");
    }
}

/// The memory that this process has in use, in KiB.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its resident memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Elsewhere nobody looks.
#[cfg(not(target_os = "linux"))]
fn resident() -> u64 {
    0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_lost_clients_leave_nothing_behind() {
    let (started, ended) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let endpoint = Waiting { started: Arc::clone(&started), ended: Arc::clone(&ended) };
    let server = McpServer::builder().endpoint(endpoint);
    // Fewer places than clients: the queue is used as well.
    let server = server.max_concurrent_handlers(64).max_blocking_handlers(1);
    let served = Arc::new(Served::start(server).await);
    let (handle, metrics) = (served.handle(), tokio::runtime::Handle::current().metrics());
    let tasks = metrics.num_alive_tasks();
    let idle = || (handle.running(), handle.waiting(), metrics.num_alive_tasks()) == (0, 0, tasks);

    // Pools and buffers have the size that they need after the first ones.
    lose(&served, CALLS / 5).await;
    eventually("the first are gone", idle).await;
    let before = resident();
    lose(&served, CALLS).await;
    eventually("all are gone", idle).await;

    assert_eq!(started.load(SeqCst), ended.load(SeqCst), "every handler heard of it");
    assert!(started.load(SeqCst) >= CALLS / 2, "{} started", started.load(SeqCst));
    let grown = resident().saturating_sub(before);
    assert!(grown < 3 * 1024, "{grown} KiB more than before: a client leaves something behind");
    assert_eq!(served.send(&Message::request("tools/list")).await.status, 200);
}
