use mcp_runtime::prelude::*;

/// Searches the
/// catalog.
///
/// - by name
/// - by number
#[mcp_tool]
async fn search(
    /// Text to
    /// look for.
    query: String,
    #[doc = "How many."] limit: u32,
    /** In a block
        comment. */
    page: u32,
    undocumented: Option<u8>,
) -> String {
    format!("{query}{limit}{page}{undocumented:?}")
}

#[doc = concat!("Made ", "of parts.")]
#[mcp_tool]
async fn find() -> String {
    String::new()
}

fn main() {
    use mcp_runtime::__private::{Registration, inventory};

    let mut found = Vec::new();
    for registration in inventory::iter::<Registration> {
        let Registration::Operation(operation) = registration else { continue };
        let parameters: Vec<_> = operation.parameters.iter().map(|parameter| parameter.description).collect();
        found.push((operation.origin.line, operation.description, parameters));
    }
    found.sort();
    let search = "Searches the catalog.\n\n- by name\n- by number";
    let parameters = vec![Some("Text to look for."), Some("How many."), Some("In a block comment."), None];
    assert_eq!(found, [(8, Some(search), parameters), (22, Some("Made of parts."), vec![])]);
}
