//! Arguments that are mirrored into HTTP headers: `x-mcp-header` in a tool's input schema.

use std::collections::BTreeSet;

use http::HeaderName;
use serde_json::Value;

use crate::protocol::is_token;

/// One mirrored argument (specification: `transports/streamable-http`, custom headers).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredHeader {
    /// The whole name of the header, `mcp-param-…`.
    pub header: HeaderName,
    /// The names that lead from the arguments to the value.
    pub path: Vec<String>,
}

/// The mirrored arguments of a schema, or what is wrong with them.
pub(super) fn mirrored_headers(schema: &Value) -> Result<Vec<MirroredHeader>, String> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), true, &mut found)?;
    let mut seen = BTreeSet::new();
    match found.iter().find(|mirrored| !seen.insert(mirrored.header.as_str())) {
        Some(twice) => Err(format!("two arguments are mirrored into the header `{}`", twice.header)),
        None => Ok(found),
    }
}

fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    reachable: bool,
    found: &mut Vec<MirroredHeader>,
) -> Result<(), String> {
    match schema {
        Value::Object(object) => {
            if let Some(name) = object.get("x-mcp-header") {
                found.push(mirrored(name, object.get("type"), path, reachable)?);
            }
            for (key, value) in object {
                match (key.as_str(), value) {
                    ("properties", Value::Object(members)) => {
                        for (name, member) in members {
                            path.push(name.clone());
                            walk(member, path, reachable, found)?;
                            path.pop();
                        }
                    }
                    // Data, not schemas.
                    ("default" | "const" | "enum" | "examples", _) => {}
                    (_, value) => walk(value, path, false, found)?,
                }
            }
            Ok(())
        }
        Value::Array(values) => values.iter().try_for_each(|value| walk(value, path, false, found)),
        _ => Ok(()),
    }
}

fn mirrored(
    name: &Value,
    kind: Option<&Value>,
    path: &[String],
    reachable: bool,
) -> Result<MirroredHeader, String> {
    let place = path.join(".");
    let Some(name) = name.as_str().filter(|name| is_token(name)) else {
        return Err(format!("`x-mcp-header` of `{place}` is no header name (RFC 9110 token): {name}"));
    };
    if !reachable || path.is_empty() {
        return Err(format!(
            "`x-mcp-header: {name}` stands at `{place}`, which is not reached by `properties` alone"
        ));
    }
    if !kind.is_some_and(|kind| ["string", "integer", "boolean"].iter().any(|allowed| kind == allowed)) {
        return Err(format!("`x-mcp-header: {name}` needs a string, an integer or a boolean at `{place}`"));
    }
    let header = HeaderName::from_bytes(format!("mcp-param-{name}").to_ascii_lowercase().as_bytes());
    let header = header.map_err(|_| format!("`x-mcp-header` of `{place}` is too long for a header name"))?;
    Ok(MirroredHeader { header, path: path.to_vec() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_properties_are_reached() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "auth": { "type": "object", "properties": { "tenant": { "type": "integer", "x-mcp-header": "Tenant" } } },
        } });
        let found = mirrored_headers(&schema).unwrap();
        let found: Vec<_> = found.iter().map(|m| (m.header.as_str(), m.path.join("."))).collect();
        assert_eq!(found.len(), 2);
        assert!(found.contains(&("mcp-param-region", "region".to_owned())));
        assert!(found.contains(&("mcp-param-tenant", "auth.tenant".to_owned())));
    }

    #[test]
    fn what_the_specification_forbids_is_refused() {
        for (schema, word) in [
            (json!({ "properties": { "a": { "type": "number", "x-mcp-header": "A" } } }), "integer"),
            (json!({ "properties": { "a": { "type": "string", "x-mcp-header": "" } } }), "header name"),
            (json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A b" } } }), "header name"),
            (
                json!({ "properties": { "a": { "items": { "type": "string", "x-mcp-header": "A" } } } }),
                "reached",
            ),
            (
                json!({ "anyOf": [{ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } }] }),
                "reached",
            ),
            (
                json!({ "properties": {
                    "a": { "type": "string", "x-mcp-header": "Same" },
                    "b": { "type": "string", "x-mcp-header": "same" },
                } }),
                "two arguments",
            ),
        ] {
            let message = mirrored_headers(&schema).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
