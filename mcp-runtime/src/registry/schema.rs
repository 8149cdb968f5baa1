//! The JSON schemas of tools: derived from their types, and what has to be enforced beside serde.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::descriptor::ParameterDescriptor;
use crate::handler::Slot;

/// A generator for one tool: JSON Schema 2020-12, shared definitions, no `$schema` line.
pub(super) fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.into_generator()
}

/// The input schema of a tool with these parameters, or what is wrong with it.
pub(super) fn input_schema(parameters: &[ParameterDescriptor], refuse_extra: bool) -> Result<Value, String> {
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
            strip_null(&mut schema);
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
    finish(&mut schema, generator);
    Ok(schema)
}

/// The schema of a tool's structured content.
pub(super) fn output_schema(of: fn(&mut SchemaGenerator) -> Option<Schema>) -> Option<Value> {
    let mut generator = generator();
    let mut schema = inlined(of(&mut generator)?.to_value(), &mut generator);
    finish(&mut schema, generator);
    Some(schema)
}

fn whole_schema(root: Schema, mut generator: SchemaGenerator, refuse_extra: bool) -> Result<Value, String> {
    let mut schema = inlined(root.to_value(), &mut generator);
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Err("`Args<T>` needs a `T` that is an object".to_owned());
    }
    // A type that takes any name says so, and one that refuses them, too.
    if refuse_extra && schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema["additionalProperties"] = false.into();
    }
    finish(&mut schema, generator);
    Ok(schema)
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

fn finish(schema: &mut Value, mut generator: SchemaGenerator) {
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
    plain_numbers(schema);
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

/// Takes null out of what an optional argument may be: it counts as absent.
fn strip_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(options)) = object.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if let [only] = options.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            // What stands beside the reference, such as a description, stays.
            if let Value::Object(only) = only {
                for (key, value) in only {
                    object.entry(key).or_insert(value);
                }
            }
        }
    }
}

/// The bounds of Rust's integers, by the formats that schemars gives them.
const INTEGERS: [(&str, i128, i128); 10] = [
    ("uint8", 0, u8::MAX as i128),
    ("uint16", 0, u16::MAX as i128),
    ("uint32", 0, u32::MAX as i128),
    ("uint64", 0, u64::MAX as i128),
    ("uint", 0, usize::MAX as i128),
    ("int8", i8::MIN as i128, i8::MAX as i128),
    ("int16", i16::MIN as i128, i16::MAX as i128),
    ("int32", i32::MIN as i128, i32::MAX as i128),
    ("int64", i64::MIN as i128, i64::MAX as i128),
    ("int", isize::MIN as i128, isize::MAX as i128),
];

/// Replaces Rust's own number formats by bounds that everybody understands.
fn plain_numbers(schema: &mut Value) {
    each_subschema(schema, &mut |object| {
        let Some(format) = object.get("format").and_then(Value::as_str) else {
            return;
        };
        if let Some((_, least, most)) = INTEGERS.iter().find(|(name, ..)| *name == format) {
            object.remove("format");
            let mut bound = |key: &str, value: i128| {
                let value =
                    i64::try_from(value).map(Value::from).or_else(|_| u64::try_from(value).map(Value::from));
                if let Ok(value) = value {
                    object.entry(key).or_insert(value);
                }
            };
            bound("minimum", *least);
            bound("maximum", *most);
        } else if matches!(format, "float" | "double" | "uint128" | "int128") {
            object.remove("format");
        }
    });
}

/// Visits the objects that are schemas, from the root down.
fn each_subschema(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    visit(object);
    for (key, value) in object.iter_mut() {
        match key.as_str() {
            "properties" | "$defs" | "patternProperties" | "dependentSchemas" => {
                if let Value::Object(members) = value {
                    members.values_mut().for_each(|member| each_subschema(member, visit));
                }
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                if let Value::Array(members) = value {
                    members.iter_mut().for_each(|member| each_subschema(member, visit));
                }
            }
            "items"
            | "additionalProperties"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "propertyNames"
            | "unevaluatedProperties"
            | "unevaluatedItems" => each_subschema(value, visit),
            _ => {}
        }
    }
}

/// The first keyword of a schema that serde does not enforce for the types that make such schemas, if there is one.
pub(super) fn unenforced_keyword(schema: &Value) -> Option<String> {
    let mut schema = schema.clone();
    let mut found = None;
    each_subschema(&mut schema, &mut |object| {
        if found.is_none() {
            found = object.keys().find(|key| !enforced(key, object)).cloned();
        }
    });
    found
}

fn enforced(key: &str, object: &Map<String, Value>) -> bool {
    let bounded =
        |least: &str, most: &str| object.get(least).is_some() && object.get(least) == object.get(most);
    match key {
        // The bounds of an integer type are the type's own.
        "minimum" => {
            INTEGERS.iter().any(|(_, least, _)| same(&object[key], *least))
                || same(&object[key], 1) && non_zero(object)
        }
        "maximum" => INTEGERS.iter().any(|(.., most)| same(&object[key], *most)),
        // Arrays, tuples and characters have one fixed length.
        "minItems" | "maxItems" => bounded("minItems", "maxItems"),
        "minLength" | "maxLength" => bounded("minLength", "maxLength") && same(&object["minLength"], 1),
        // A set takes duplicates and keeps one of them.
        "uniqueItems" => true,
        // The keys of a map by numbers.
        "patternProperties" => object[key].as_object().is_some_and(|patterns| {
            patterns.keys().all(|pattern| matches!(pattern.as_str(), r"^\d+$" | r"^-?\d+$"))
        }),
        "pattern"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf"
        | "minProperties"
        | "maxProperties"
        | "contains"
        | "minContains"
        | "maxContains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "allOf"
        | "dependentSchemas"
        | "dependentRequired"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems" => false,
        _ => true,
    }
}

fn non_zero(object: &Map<String, Value>) -> bool {
    object.get("maximum").is_some_and(|most| INTEGERS.iter().any(|(.., bound)| same(most, *bound)))
}

fn same(value: &Value, number: i128) -> bool {
    let integer = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    integer == Some(number)
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
        let schema = input_schema(&[query, limit, page], true).unwrap();
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
        assert_eq!(unenforced_keyword(&schema), None);
    }

    #[test]
    fn definitions_are_shared_and_recursion_works() {
        let one = parameter("one", tool_parameter::<Part, _>().erased());
        let two = parameter("two", tool_parameter::<Option<Part>, _>().erased());
        let schema = input_schema(&[one, two], false).unwrap();
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
        let schema = input_schema(&[args], true).unwrap();
        assert_eq!(schema["type"], "object");
        assert!(schema["properties"]["id"].is_object());
        assert_eq!(schema["additionalProperties"], false);
        assert!(input_schema(&[args], false).unwrap().get("additionalProperties").is_none());
        let map = parameter("", tool_parameter::<Args<std::collections::HashMap<String, u8>>, _>().erased());
        assert!(input_schema(&[map], true).unwrap()["additionalProperties"].is_object());
        let text = parameter("", tool_parameter::<Args<String>, _>().erased());
        assert!(input_schema(&[text], true).unwrap_err().contains("object"));
        let beside = parameter("more", tool_parameter::<u8, _>().erased());
        assert!(input_schema(&[args, beside], true).unwrap_err().contains("`more`"));
    }

    #[test]
    fn keywords_that_serde_does_not_enforce_are_found_wherever_they_are() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Deep {
            #[schemars(range(min = 3))]
            level: u8,
        }
        let deep = parameter("deep", tool_parameter::<Vec<Deep>, _>().erased());
        let schema = input_schema(&[deep], true).unwrap();
        assert_eq!(unenforced_keyword(&schema).as_deref(), Some("minimum"));
        for (enforced, schema) in [
            (true, json!({ "type": "array", "items": { "type": "string" }, "minItems": 3, "maxItems": 3 })),
            (false, json!({ "type": "array", "minItems": 3 })),
            (false, json!({ "properties": { "x": { "pattern": "^a" } } })),
            (true, json!({ "properties": { "pattern": { "type": "string" } } })),
            (true, json!({ "type": "integer", "minimum": 1, "maximum": 255 })),
        ] {
            assert_eq!(unenforced_keyword(&schema).is_none(), enforced, "{schema}");
        }
    }

    #[test]
    fn types_of_the_standard_library_need_no_constraints() {
        macro_rules! all { ($($type:ty),*) => {$(
            let schema = input_schema(&[parameter("x", tool_parameter::<$type, _>().erased())], true).unwrap();
            assert_eq!(unenforced_keyword(&schema), None, "{schema}");
        )*}; }
        all!(
            [f64; 3],
            (u8, String),
            char,
            std::num::NonZeroU16,
            std::collections::BTreeSet<i8>,
            Vec<Option<f32>>
        );
        all!(std::collections::HashMap<String, u128>, std::collections::HashMap<u16, bool>, Option<char>, ());
    }

    #[test]
    fn references_out_of_the_schema_are_found() {
        assert_eq!(foreign_reference(&json!({ "$ref": "#/$defs/a" })), None);
        let far = json!({ "properties": { "a": { "$ref": "https://example.com/a.json" } } });
        assert_eq!(foreign_reference(&far).as_deref(), Some("https://example.com/a.json"));
    }
}
