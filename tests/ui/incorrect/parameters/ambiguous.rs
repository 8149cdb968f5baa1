use mcp_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Tenant(String);

impl FromInvocation for Tenant {
    type Rejection = Rejection;

    async fn from_invocation(_: &Invocation) -> Result<Self, Rejection> {
        Ok(Self(String::new()))
    }
}

#[mcp_tool]
async fn search(tenant: Tenant) -> String {
    tenant.0
}

fn main() {}
