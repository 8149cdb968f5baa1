use mcp_runtime::prelude::*;

/// Could be both.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Tenant(String);

impl std::str::FromStr for Tenant {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl FromInvocation for Tenant {
    type Rejection = Rejection;

    async fn from_invocation(_: &Invocation) -> Result<Self, Rejection> {
        Ok(Self(String::new()))
    }
}

#[mcp_tool]
async fn search(#[mcp(inject)] caller: Tenant, #[mcp(argument, rename = "of")] tenant: Tenant) -> String {
    caller.0 + &tenant.0
}

#[mcp_resource(uri = "catalog://parts/{id}")]
async fn part(id: String, #[mcp(inject)] Tenant(name): Tenant) -> String {
    id + &name
}

fn main() {}
