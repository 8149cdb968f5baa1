//! What it costs to seal and to open the state of a request: `cargo bench -p mcp-runtime --bench request_state`.

use std::{error::Error, hint::black_box, time::Instant};

use mcp_runtime::__private::MeasuredStates;

const BODY: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"transfer","arguments":{
    "amount":12.5,"currency":"EUR","from":{"iban":"DE02120300000000202051","name":"Ada Lovelace"},
    "to":{"name":"Charles Babbage","iban":"DE02500105170137075030"},"reference":["engine","no. 2"],"urgent":true},
    "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}"#;

/// Prints the fastest of several rounds, and the one in their middle.
async fn measure<T>(name: &str, mut run: impl AsyncFnMut() -> Result<T, Box<dyn Error + Send + Sync>>) {
    const ROUNDS: usize = 31;
    const RUNS: u32 = 2_000;
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..RUNS {
            black_box(run().await.expect("it succeeds"));
        }
        rounds.push(start.elapsed() / RUNS);
    }
    rounds.sort();
    println!("{name:<40} {:>8} ns  {:>8} ns", rounds[0].as_nanos(), rounds[ROUNDS / 2].as_nanos());
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let states = MeasuredStates::new(BODY)?;
    let context = states.context();
    measure("bind a call of 400 bytes", async || Ok(states.context())).await;
    for (name, bytes) in [("64 bytes", 64), ("1 KiB", 1024), ("16 KiB", 16 * 1024)] {
        let payload = vec![b'x'; bytes];
        let sealed = states.seal(&context, &payload).await.map_err(|error| error.to_string())?;
        measure(&format!("seal a state of {name}"), async || states.seal(&context, &payload).await).await;
        measure(&format!("open a state of {name}"), async || states.open(&context, &sealed).await).await;
    }

    // The worst that a body of 10 MiB can hold: as many objects as possible, each with members to sort.
    let objects = vec![r#"{"b":0,"a":0}"#; 10 * 1024 * 1024 / 14].join(",");
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"arguments":[{objects}]}}}}"#);
    let states = MeasuredStates::new(body.as_bytes())?;
    let start = Instant::now();
    black_box(states.context());
    println!("{:<40} {:>8} ns", "bind a call of 10 MiB, made to be slow", start.elapsed().as_nanos());
    Ok(())
}
