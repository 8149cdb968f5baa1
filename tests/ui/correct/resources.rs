use mcp_runtime::prelude::*;

/// A part's number.
struct Number(u32);

impl std::str::FromStr for Number {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

#[mcp_resource(uri = "catalog://parts", name = "All parts", size = 1024)]
async fn parts() -> Text {
    Text::new("")
}

#[mcp_resource(uri = "catalog://parts/{id}", mime_type = "text/plain; charset=utf-8", ttl = "0s")]
async fn part(id: String, cancellation: CancellationToken, progress: Option<ProgressReporter>) -> Result<Text, ResourceError> {
    drop((cancellation, progress));
    Ok(Text::new(id))
}

#[mcp_resource(uri = "catalog://{shelf}/numbered-{number}/v{version}?q={q}", scope = "public")]
async fn numbered(
    context: RequestContext,
    version: u8,
    #[mcp(rename = "number")] Number(number): Number,
    shelf: String,
    q: String,
) -> String {
    let _ = context;
    format!("{shelf}{number}{version}{q}")
}

#[mcp_resource(uri = "urn:isbn:0451450523")]
fn book() -> Json<u32> {
    Json(7)
}

fn main() {}
