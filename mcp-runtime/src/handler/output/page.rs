//! What a resource list may return.

use serde::{Deserialize, Serialize};

use super::{Output, Return};
use crate::{
    handler::{HandlerError, OperationError},
    protocol::{Annotations, Icon},
};

/// One resource, as a list names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceEntry {
    /// Its URI, absolute.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type of its contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size of its contents in bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Hints for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Images that stand for it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub icons: Vec<Icon>,
}

impl ResourceEntry {
    /// A resource with a URI and a name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: Vec::new(),
        }
    }

    /// Sets a title for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it is.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the MIME type of its contents.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size of its contents, in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }
}

/// One page of an application's own resource list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourcePage {
    /// The resources of this page.
    pub resources: Vec<ResourceEntry>,
    /// Asks for the next page when the client sends it; at most 4 KiB. `None` on the last page.
    pub next_cursor: Option<String>,
}

impl ResourcePage {
    /// The last, or only, page.
    pub fn new(resources: impl IntoIterator<Item = ResourceEntry>) -> Self {
        Self { resources: resources.into_iter().collect(), next_cursor: None }
    }

    /// More pages follow; `cursor` asks for the next one.
    #[must_use]
    pub fn next_cursor(mut self, cursor: impl Into<String>) -> Self {
        self.next_cursor = Some(cursor.into());
        self
    }
}

/// What a resource list's handler may return: [`ResourcePage`], all entries at once, or a `Result` of one of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a page of a resource list",
    label = "not a resource page",
    note = "return `ResourcePage`, `Vec<ResourceEntry>`, or `Result<_, ResourceError>` of one of them"
)]
pub trait PageOutput: Send + 'static {
    /// The page that the client gets.
    ///
    /// # Errors
    /// The handler's failure.
    fn into_page(self) -> Result<ResourcePage, OperationError>;
}

impl PageOutput for ResourcePage {
    fn into_page(self) -> Result<ResourcePage, OperationError> {
        Ok(self)
    }
}

impl PageOutput for Vec<ResourceEntry> {
    fn into_page(self) -> Result<ResourcePage, OperationError> {
        Ok(ResourcePage::new(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: PageOutput, E: Into<OperationError> + Send + 'static> PageOutput for Result<T, E> {
    fn into_page(self) -> Result<ResourcePage, OperationError> {
        self.map_err(Into::into)?.into_page()
    }
}

/// The return type of a resource list.
#[doc(hidden)]
#[must_use]
pub const fn page_return<R: PageOutput>() -> Return<R> {
    Return {
        convert: |output, _| output.into_page().map(Output::Page).map_err(HandlerError::Operation),
        schema: |_| None,
    }
}
