//! What older revisions know of the things that are listed.

use serde_json::{Map, Value, json};

use crate::protocol::Revision;

/// Takes from the JSON of a listed item what a revision does not know. Nothing is added again: newer revisions first.
pub(super) fn item(item: &mut Value, revision: Revision) {
    let Some(item) = item.as_object_mut() else { return };
    if !revision.has_icons() {
        item.remove("icons");
    }
    if revision.is_modern() {
        return;
    }
    if item.get("outputSchema").is_some_and(|schema| !is_object(schema)) {
        item.remove("outputSchema");
    }
    for schema in ["inputSchema", "outputSchema"] {
        if let Some(Value::Object(schema)) = item.get_mut(schema) {
            plain_properties(schema);
            without_headers(schema);
        }
    }
}

/// Whether a schema describes nothing but objects: older revisions have no other structured content.
pub(super) fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// The schema of a property may be a boolean in JSON Schema, and only an object in these revisions.
fn plain_properties(schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for property in properties.values_mut() {
        match property {
            Value::Bool(true) => *property = json!({}),
            Value::Bool(false) => *property = json!({ "not": {} }),
            _ => {}
        }
    }
}

/// Arguments are mirrored into headers since 2026-07-28. The keyword stands where `properties` alone lead to.
fn without_headers(schema: &mut Map<String, Value>) {
    schema.remove("x-mcp-header");
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    properties.values_mut().filter_map(Value::as_object_mut).for_each(without_headers);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revised(mut value: Value, revision: Revision) -> Value {
        item(&mut value, revision);
        value
    }

    #[test]
    fn the_newest_revision_knows_everything() {
        let tool = json!({"name": "t", "icons": [{}], "outputSchema": {"type": "array"},
            "inputSchema": {"type": "object", "properties": {"a": true, "b": {"x-mcp-header": "B"}}}});
        assert_eq!(revised(tool.clone(), Revision::LATEST), tool);
    }

    #[test]
    fn icons_came_with_2025_11_25() {
        let prompt = json!({"name": "p", "icons": [{}]});
        assert_eq!(revised(prompt.clone(), Revision::V2025_11_25), prompt);
        assert_eq!(revised(prompt, Revision::V2025_06_18), json!({"name": "p"}));
    }

    #[test]
    fn older_revisions_have_objects_only() {
        for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
            for schema in [json!({"type": "array"}), json!({"anyOf": []}), json!(true), json!({})] {
                let tool = json!({"name": "t", "outputSchema": schema});
                assert_eq!(revised(tool, revision), json!({"name": "t"}));
            }
            let schema =
                json!({"type": "object", "properties": {"a": true, "b": false, "c": {"items": true}}});
            let plain =
                json!({"type": "object", "properties": {"a": {}, "b": {"not": {}}, "c": {"items": true}}});
            let tool = json!({"inputSchema": schema, "outputSchema": schema});
            assert_eq!(revised(tool, revision), json!({"inputSchema": plain, "outputSchema": plain}));
        }
    }

    #[test]
    fn no_header_is_spoken_of_and_no_property_lost() {
        let inner = json!({"type": "object", "properties": {"x-mcp-header": {"type": "string", "x-mcp-header": "A"}}});
        let tool = json!({"inputSchema": {"type": "object", "properties": {"a": inner}}});
        let inner = json!({"type": "object", "properties": {"x-mcp-header": {"type": "string"}}});
        let plain = json!({"inputSchema": {"type": "object", "properties": {"a": inner}}});
        assert_eq!(revised(tool, Revision::V2025_11_25), plain);
    }
}
