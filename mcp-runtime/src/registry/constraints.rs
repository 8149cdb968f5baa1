//! Enforcing what a schema says beyond what serde checks, with the `jsonschema` crate.

use serde_json::Value;

use super::schema::foreign_reference;
use crate::protocol::Fault;

/// The first keyword of a schema that asks for more than an object: of one written by hand, which is not made from the
/// types that are parsed, all of it is enforced by a validator.
pub(super) fn any_keyword(schema: &Value) -> Option<String> {
    let says_nothing = |key: &&String| matches!(key.as_str(), "type" | "$schema" | "title" | "description");
    schema.as_object()?.keys().find(|key| !says_nothing(key)).cloned()
}

/// A compiled schema.
#[derive(Debug)]
pub struct Validator(#[cfg(feature = "constraints")] jsonschema::Validator);

impl Validator {
    /// Compiles a schema that has a keyword which serde does not enforce; `None` if it has none.
    pub(super) fn compile(schema: &Value, unenforced: Option<&str>) -> Result<Option<Self>, String> {
        if let Some(reference) = foreign_reference(schema) {
            return Err(format!(
                "its schema refers to `{reference}`: only references within the schema are allowed"
            ));
        }
        unenforced.map_or(Ok(None), |keyword| Self::new(schema, keyword))
    }

    #[cfg(feature = "constraints")]
    fn new(schema: &Value, _: &str) -> Result<Option<Self>, String> {
        let validator = jsonschema::draft202012::new(schema);
        validator
            .map(|validator| Some(Self(validator)))
            .map_err(|error| format!("its schema is not valid: {error}"))
    }

    #[cfg(not(feature = "constraints"))]
    fn new(_: &Value, keyword: &str) -> Result<Option<Self>, String> {
        Err(format!(
            "its schema has `{keyword}`, which needs the feature `constraints` to be enforced: \
             `cargo add mcp-runtime --features constraints`"
        ))
    }

    /// All that a value violates.
    #[cfg(feature = "constraints")]
    pub(crate) fn faults(&self, value: &Value) -> Vec<Fault> {
        /// More than anybody reads at once.
        const MOST: usize = 16;
        let at = |error: &jsonschema::ValidationError<'_>| {
            let path = error.instance_path().to_string();
            if path.is_empty() {
                "arguments".to_owned()
            } else {
                path.trim_start_matches('/').replace('/', ".")
            }
        };
        let faults = self.0.iter_errors(value).take(MOST);
        faults.map(|error| Fault { at: at(&error), message: error.to_string() }).collect()
    }

    /// Nothing: without the feature no validator is ever made.
    #[cfg(not(feature = "constraints"))]
    pub(crate) fn faults(&self, _: &Value) -> Vec<Fault> {
        Vec::new()
    }
}
