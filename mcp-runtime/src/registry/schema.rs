//! The JSON schemas of tools, derived from their types.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{descriptor::ParameterDescriptor, keywords};
use crate::handler::{Slot, strip_null};

/// A schema made from types.
#[derive(Debug, PartialEq)]
pub(super) struct Derived {
    pub schema: Value,
    /// A keyword that serde does not enforce for these types, if there is one.
    pub unenforced: Option<String>,
}

/// A generator for one tool: JSON Schema 2020-12, shared definitions, no `$schema` line.
pub(super) fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.into_generator()
}

/// The input schema of a tool with these parameters, or what is wrong with it.
pub(super) fn input_schema(
    parameters: &[ParameterDescriptor],
    refuse_extra: bool,
) -> Result<Derived, String> {
    let mut generator = generator();
    let mut whole = parameters.iter().filter(|parameter| parameter.erased.slot == Slot::Arguments);
    if let Some(whole_arguments) = whole.next() {
        if whole.next().is_some() {
            return Err("`Args<_>` takes all arguments: take it once".to_owned());
        }
        if let Some(beside) =
            parameters.iter().find(|p| !p.erased.injected && p.erased.slot != Slot::Arguments)
        {
            return Err(format!("`Args<_>` takes all arguments: remove the parameter `{}`", beside.name));
        }
        let root = (whole_arguments.erased.schema)(&mut generator);
        return whole_schema(root, generator, refuse_extra);
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters.iter().filter(|parameter| !parameter.erased.injected) {
        let optional = parameter.default.is_some() || (parameter.erased.accepts_absence)();
        let mut schema = (parameter.erased.schema)(&mut generator).to_value();
        if optional {
            schema.as_object_mut().map(strip_null);
        } else {
            required.push(Value::from(parameter.name));
        }
        annotate(&mut schema, parameter)?;
        if properties.insert(parameter.name.to_owned(), schema).is_some() {
            return Err(format!("two arguments are called `{}`", parameter.name));
        }
    }
    let mut schema = json!({ "type": "object" });
    if !properties.is_empty() {
        schema["properties"] = properties.into();
    }
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if refuse_extra {
        schema["additionalProperties"] = false.into();
    }
    Ok(finish(schema, generator))
}

/// The schema of a tool's structured content.
pub(super) fn output_schema(of: fn(&mut SchemaGenerator) -> Option<Schema>) -> Option<Derived> {
    let mut generator = generator();
    let schema = inlined(of(&mut generator)?.to_value(), &mut generator);
    Some(finish(schema, generator))
}

fn whole_schema(root: Schema, mut generator: SchemaGenerator, refuse_extra: bool) -> Result<Derived, String> {
    let mut schema = inlined(root.to_value(), &mut generator);
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Err("`Args<T>` needs a `T` that is an object".to_owned());
    }
    // A type that takes any name says so, and one that refuses them, too; what is flattened into it has names of its own.
    let says_more = |keyword: &&str| schema.get(keyword).is_some();
    let names = schema.get("properties").is_some();
    if refuse_extra && names && !["additionalProperties", "anyOf", "oneOf", "allOf"].iter().any(says_more) {
        schema["additionalProperties"] = false.into();
    }
    Ok(finish(schema, generator))
}

/// A root that is only a reference to a definition, replaced by the definition.
fn inlined(schema: Value, generator: &mut SchemaGenerator) -> Value {
    let name = match schema.as_object() {
        Some(object) if object.len() == 1 => object.get("$ref").and_then(Value::as_str),
        _ => None,
    };
    let definition = name
        .and_then(|name| name.strip_prefix("#/$defs/"))
        .and_then(|name| generator.definitions().get(name));
    definition.cloned().unwrap_or(schema)
}

fn finish(mut schema: Value, mut generator: SchemaGenerator) -> Derived {
    let mut definitions = generator.take_definitions(true);
    // A definition that nothing points at any more says nothing.
    loop {
        let text = format!("{schema}{}", Value::Object(definitions.clone()));
        let before = definitions.len();
        definitions.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
        if definitions.len() == before {
            break;
        }
    }
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
    let unenforced = keywords::unenforced(&schema);
    keywords::plain_numbers(&mut schema);
    Derived { schema, unenforced }
}

fn annotate(schema: &mut Value, parameter: &ParameterDescriptor) -> Result<(), String> {
    if schema.is_boolean() {
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else {
        return Ok(());
    };
    let mut set = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            object.insert(key.to_owned(), value.into());
        }
    };
    set("title", parameter.title);
    set("description", parameter.description);
    set("x-mcp-header", parameter.header);
    if let Some(default) = parameter.default {
        let default =
            default().map_err(|error| format!("the default of `{}` is no JSON: {error}", parameter.name))?;
        if !default.is_null() {
            object.insert("default".to_owned(), default);
        }
    }
    Ok(())
}

/// Whether a reference points out of the schema; such a schema is refused (specification: `basic/index`, `$ref`).
pub(super) fn foreign_reference(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(object) => object.iter().find_map(|(key, value)| match (key.as_str(), value) {
            ("$ref" | "$dynamicRef", Value::String(to)) if !to.starts_with('#') => Some(to.clone()),
            // Data, not schemas.
            ("default" | "const" | "enum" | "examples", _) => None,
            _ => foreign_reference(value),
        }),
        Value::Array(values) => values.iter().find_map(foreign_reference),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::handler::{Args, tool_parameter};

    fn parameter(name: &'static str, erased: crate::handler::ErasedParam) -> ParameterDescriptor {
        ParameterDescriptor { name, description: None, title: None, header: None, default: None, erased }
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Part {
        id: u64,
        next: Option<Box<Part>>,
    }

    #[test]
    fn arguments_become_properties_without_rust_only_formats() {
        let mut limit = parameter("limit", tool_parameter::<Option<u32>, _>().erased());
        limit.description = Some("How many.");
        let mut page = parameter("page", tool_parameter::<i64, _>().erased());
        page.default = Some(|| Ok(json!(3)));
        let query = parameter("query", tool_parameter::<String, _>().erased());
        let Derived { schema, unenforced } = input_schema(&[query, limit, page], true).unwrap();
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string" },
                    "limit": { "type": "integer", "minimum": 0, "maximum": u32::MAX, "description": "How many." },
                    "page": { "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX, "default": 3 },
                },
                "required": ["query"],
                "additionalProperties": false,
            })
        );
        assert_eq!(unenforced, None);
    }

    #[test]
    fn definitions_are_shared_and_recursion_works() {
        let one = parameter("one", tool_parameter::<Part, _>().erased());
        let two = parameter("two", tool_parameter::<Option<Part>, _>().erased());
        let schema = input_schema(&[one, two], false).unwrap().schema;
        assert_eq!(schema["properties"]["one"], json!({ "$ref": "#/$defs/Part" }));
        assert_eq!(schema["properties"]["two"], json!({ "$ref": "#/$defs/Part" }));
        assert_eq!(schema["$defs"].as_object().unwrap().len(), 1);
        assert_eq!(schema["required"], json!(["one"]));
        assert!(schema.get("additionalProperties").is_none());
        assert!(schema.get("$schema").is_none());
    }

    #[test]
    fn whole_arguments_are_the_types_own_schema() {
        let args = parameter("", tool_parameter::<Args<Part>, _>().erased());
        let schema = input_schema(&[args], true).unwrap().schema;
        assert_eq!(schema["type"], "object");
        assert!(schema["properties"]["id"].is_object());
        assert_eq!(schema["additionalProperties"], false);
        assert!(input_schema(&[args], false).unwrap().schema.get("additionalProperties").is_none());
        let map = parameter("", tool_parameter::<Args<std::collections::HashMap<String, u8>>, _>().erased());
        assert!(input_schema(&[map], true).unwrap().schema["additionalProperties"].is_object());
        let text = parameter("", tool_parameter::<Args<String>, _>().erased());
        assert!(input_schema(&[text], true).unwrap_err().contains("object"));
        let beside = parameter("more", tool_parameter::<u8, _>().erased());
        assert!(input_schema(&[args, beside], true).unwrap_err().contains("`more`"));
    }

    #[test]
    fn references_out_of_the_schema_are_found() {
        assert_eq!(foreign_reference(&json!({ "$ref": "#/$defs/a" })), None);
        let far = json!({ "properties": { "a": { "$ref": "https://example.com/a.json" } } });
        assert_eq!(foreign_reference(&far).as_deref(), Some("https://example.com/a.json"));
    }
}
