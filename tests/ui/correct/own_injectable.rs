use mcp_runtime::prelude::*;

struct Tenant(String);

impl FromInvocation for Tenant {
    type Rejection = Rejection;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        let context = invocation.context();
        let tenant = context.headers().get("x-tenant").and_then(|value| value.to_str().ok());
        tenant.map(|name| Self(name.to_owned())).ok_or_else(|| Rejection::invalid("name a tenant in `X-Tenant`"))
    }
}

#[mcp_tool]
async fn search(tenant: Tenant, query: String, Tenant(same): Tenant) -> String {
    tenant.0 + &query + &same
}

#[mcp_resource(uri = "catalog://parts/{id}")]
async fn part(id: String, tenant: Tenant) -> String {
    id + &tenant.0
}

#[mcp_prompt]
async fn greet(name: String, tenant: Tenant) -> String {
    name + &tenant.0
}

#[mcp_completion(prompt = "greet", argument = "name")]
async fn names(value: String, tenant: Tenant) -> Vec<String> {
    vec![value, tenant.0]
}

fn main() {}
