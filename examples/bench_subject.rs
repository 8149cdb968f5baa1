//! The server that benchmarks call: `bench_subject HOST:PORT` serves `/mcp` there by itself, and
//! `bench_subject HOST:PORT mounted` in an axum application.
//!
//! Six tools that do next to nothing, and 94 that only make the list long.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use mcp_runtime::{
    prelude::*,
    subscription::{Change, allow_all},
};
use schemars::JsonSchema;
use serde::Serialize;

/// Measures what a call costs.
#[mcp_endpoint(path = "/mcp", name = "bench", version = "1.0.0", changes(tools, updates), subscribable = any)]
#[derive(Default)]
struct Bench {
    started: AtomicU64,
    cancelled: AtomicU64,
}

/// Any URI may be subscribed to.
fn any(_: &str) -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Serialize, JsonSchema)]
struct Counted {
    counted: u64,
}

#[derive(Serialize, JsonSchema)]
struct Slept {
    slept: u64,
}

#[derive(Serialize, JsonSchema)]
struct Sleeps {
    started: u64,
    cancelled: u64,
}

#[derive(Serialize, JsonSchema)]
struct Published {
    published: u64,
}

#[mcp_endpoint]
impl Bench {
    /// Adds two integers.
    #[mcp_tool]
    async fn add(a: i64, b: i64) -> Json<Sum> {
        let sum = a.wrapping_add(b);
        Json(Sum { sum })
    }

    /// Returns the text.
    #[mcp_tool]
    async fn echo(text: String) -> String {
        text
    }

    /// Counts to `n`, and reports each step.
    #[mcp_tool]
    async fn count(n: u64, progress: Option<ProgressReporter>) -> Result<Json<Counted>, ToolError> {
        if let Some(progress) = progress {
            for step in 1..=n {
                progress.report(step).await?;
            }
        }
        Ok(Json(Counted { counted: n }))
    }

    /// Sleeps, unless the client goes away.
    #[mcp_tool]
    async fn sleep(
        &self,
        ms: u64,
        progress: Option<ProgressReporter>,
        cancellation: CancellationToken,
    ) -> Result<Json<Slept>, ToolError> {
        self.started.fetch_add(1, Relaxed);
        progress.report(0).await?;
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(ms)) => Ok(Json(Slept { slept: ms })),
            reason = cancellation.cancelled() => {
                self.cancelled.fetch_add(1, Relaxed);
                Err(Cancelled { reason }.into())
            }
        }
    }

    /// Counts the calls of `sleep`.
    #[mcp_tool]
    async fn cancelled_count(&self) -> Json<Sleeps> {
        Json(Sleeps { started: self.started.load(Relaxed), cancelled: self.cancelled.load(Relaxed) })
    }

    /// Announces changes of a resource, or of the list of tools.
    #[mcp_tool]
    async fn publish(uri: String, times: u64, publisher: Publisher) -> Result<Json<Published>, ToolError> {
        let change = if uri == "tools" { Change::Tools } else { Change::resource(&uri)? };
        for _ in 0..times {
            publisher.publish(&change)?;
        }
        Ok(Json(Published { published: times }))
    }
}

macro_rules! fillers {
    ($($name:ident $number:tt),*) => {$(
        #[doc = concat!("Filler tool ", stringify!($number), ", never called")]
        #[mcp_tool(endpoint = Bench)]
        async fn $name(
            /// What to look for
            query: String,
            /// How many results
            limit: Option<u32>,
        ) -> String {
            let _ = limit;
            query
        }
    )*};
}
fillers! {
    filler_00 00, filler_01 01, filler_02 02, filler_03 03, filler_04 04, filler_05 05, filler_06
    06, filler_07 07, filler_08 08, filler_09 09, filler_10 10, filler_11 11, filler_12 12,
    filler_13 13, filler_14 14, filler_15 15, filler_16 16, filler_17 17, filler_18 18, filler_19
    19, filler_20 20, filler_21 21, filler_22 22, filler_23 23, filler_24 24, filler_25 25,
    filler_26 26, filler_27 27, filler_28 28, filler_29 29, filler_30 30, filler_31 31, filler_32
    32, filler_33 33, filler_34 34, filler_35 35, filler_36 36, filler_37 37, filler_38 38,
    filler_39 39, filler_40 40, filler_41 41, filler_42 42, filler_43 43, filler_44 44, filler_45
    45, filler_46 46, filler_47 47, filler_48 48, filler_49 49, filler_50 50, filler_51 51,
    filler_52 52, filler_53 53, filler_54 54, filler_55 55, filler_56 56, filler_57 57, filler_58
    58, filler_59 59, filler_60 60, filler_61 61, filler_62 62, filler_63 63, filler_64 64,
    filler_65 65, filler_66 66, filler_67 67, filler_68 68, filler_69 69, filler_70 70, filler_71
    71, filler_72 72, filler_73 73, filler_74 74, filler_75 75, filler_76 76, filler_77 77,
    filler_78 78, filler_79 79, filler_80 80, filler_81 81, filler_82 82, filler_83 83, filler_84
    84, filler_85 85, filler_86 86, filler_87 87, filler_88 88, filler_89 89, filler_90 90,
    filler_91 91, filler_92 92, filler_93 93
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (address, mounted) = match &*arguments {
        [address] => (address, false),
        [address, how] if how == "mounted" => (address, true),
        _ => {
            eprintln!("usage: bench_subject HOST:PORT [mounted]");
            std::process::exit(2);
        }
    };
    let server = McpServer::from_annotations().endpoint(Bench::default());
    // As many as the benchmark opens: a connection for each stream.
    let server = server.subscription_authorizer(allow_all()).max_listen_streams(None).max_connections(20_000);
    if mounted {
        let router = server.admission(anonymous()).allowed_hosts(["127.0.0.1", "localhost"]).into_router()?;
        axum::serve(tokio::net::TcpListener::bind(address).await?, router).await?;
    } else {
        server.serve(address).await?;
    }
    Ok(())
}
