use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, ElicitationForm)]
enum Seat {
    Window,
}

#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Pair(String, String);

#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Nothing;

fn main() {}
