use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

macro_rules! tools {
    ($($(#[$attribute:meta])* $name:ident($argument:ident: $type:ty = $default:expr) -> $answer:literal in $endpoint:path;)*) => {$(
        $(#[$attribute])*
        #[doc = $answer]
        #[mcp_tool(endpoint = $endpoint, title = $answer)]
        async fn $name(#[mcp(default = $default)] $argument: $type) -> String {
            format!("{}{}", $answer, $argument)
        }
    )*};
}

tools! {
    /// One.
    one(first: u32 = 1) -> "one" in Catalog;
    two(second: String = "2") -> "two" in crate::Catalog;
    three(third: i8 = -3) -> "three" in Catalog;
}

fn main() {}
