use mcp_runtime::prelude::*;

use std::{borrow::Cow, collections::BTreeMap};

#[derive(Debug, Default, Clone, Copy, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Color {
    #[default]
    Red,
    Green,
}

/// Has no `Serialize`: its default is a literal.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Label(String);

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

const LIMIT: u32 = 10;

fn sizes() -> Vec<u8> {
    vec![1, 2]
}

#[mcp_tool]
async fn search(
    #[mcp(default)] color: Color,
    #[mcp(default = Color::Green)] other: Color,
    #[mcp(default = "all")] shelf: String,
    #[mcp(default = "none")] label: Label,
    #[mcp(default = "cow")] text: Cow<'_, str>,
    #[mcp(default = 10)] limit: u32,
    #[mcp(default = -1)] offset: i64,
    #[mcp(default = 18446744073709551615)] most: u64,
    #[mcp(default = 0xff_u8)] byte: u8,
    #[mcp(default = 1.5)] ratio: f32,
    #[mcp(default = -0.5)] shift: f64,
    #[mcp(default = true)] exact: bool,
    #[mcp(default = 'x')] letter: char,
    #[mcp(default = LIMIT * 2)] computed: u32,
    #[mcp(default = sizes())] sizes: Vec<u8>,
    #[mcp(default)] map: BTreeMap<String, u32>,
    #[mcp(default = Some(3))] optional: Option<u32>,
) -> String {
    let _ = (color, other, shelf, label.0, text, limit, offset, most, byte, ratio, shift, exact);
    let _ = (letter, computed, sizes, map, optional);
    String::new()
}

fn main() {
    use mcp_runtime::__private::{Registration, inventory};

    let operations = inventory::iter::<Registration>.into_iter().filter_map(|registration| match registration {
        Registration::Operation(operation) => Some(operation),
        _ => None,
    });
    let parameters = operations.flat_map(|operation| operation.parameters);
    let defaults: Vec<String> =
        parameters.filter_map(|parameter| Some(parameter.default?().unwrap().to_string())).collect();
    let expected = [
        "\"Red\"", "\"Green\"", "\"all\"", "\"none\"", "\"cow\"", "10", "-1", "18446744073709551615", "255", "1.5", "-0.5",
        "true", "\"x\"", "20", "[1,2]", "{}", "3",
    ];
    assert_eq!(defaults, expected);
}
