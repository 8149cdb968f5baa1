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

    for registration in inventory::iter::<Registration> {
        let Registration::Operation(operation) = registration else { continue };
        let parameters: Vec<_> = operation.parameters.iter().map(|parameter| parameter.description).collect();
        match operation.name {
            "search" => {
                assert_eq!(operation.description, Some("Searches the catalog.\n\n- by name\n- by number"));
                let expected = [Some("Text to look for."), Some("How many."), Some("In a block comment."), None];
                assert_eq!(parameters, expected);
            }
            _ => assert_eq!(operation.description, Some("Made of parts.")),
        }
    }
}
