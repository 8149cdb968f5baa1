//! The keywords of derived schemas: which of them serde enforces already, and which are only Rust's own.

use serde_json::{Map, Value};

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
pub(super) fn plain_numbers(schema: &mut Value) {
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

/// The first keyword of a derived schema that serde does not enforce for the types that make such schemas, if there is
/// one; asked while Rust's own number formats are still there.
pub(super) fn unenforced(schema: &Value) -> Option<String> {
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
    match key {
        "minimum" | "maximum" => is_own_bound(key, object),
        // Tuples have one fixed length.
        "minItems" | "maxItems" => object.contains_key("prefixItems") || LENIENT && is_fixed("Items", object),
        "minLength" | "maxLength" => LENIENT && is_fixed("Length", object) && is(&object[key], 1),
        "uniqueItems" => LENIENT,
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

/// Some rules of types look like constraints: `[u8; 3]` like a list of three, `char` like a text of one character,
/// `NonZero` like a number from 1. With a validator all of them are checked; without one they are taken for the types.
const LENIENT: bool = !cfg!(feature = "constraints");

/// Whether a bound of a number is that of its type.
fn is_own_bound(key: &str, object: &Map<String, Value>) -> bool {
    let format = object.get("format").and_then(Value::as_str).unwrap_or_default();
    let (least, most) = match INTEGERS.iter().find(|(name, ..)| *name == format) {
        Some((_, least, most)) => (*least, *most),
        None if format == "uint128" => (0, i128::MAX),
        None => return false,
    };
    let bound = &object[key];
    match key {
        "minimum" => is(bound, least) || LENIENT && least == 0 && is(bound, 1),
        _ => is(bound, most),
    }
}

fn is_fixed(what: &str, object: &Map<String, Value>) -> bool {
    let bound = |side: &str| object.get(&format!("{side}{what}"));
    bound("min").is_some() && bound("min") == bound("max")
}

fn is(value: &Value, number: i128) -> bool {
    let integer = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    integer == Some(number)
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeSet, HashMap},
        num::{NonZeroI8, NonZeroU16},
    };

    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    fn of<T: JsonSchema>() -> Option<String> {
        let mut generator = super::super::schema::generator();
        unenforced(&T::json_schema(&mut generator).to_value())
    }

    /// The type's own schema with more said of it.
    fn with<T: JsonSchema>(keywords: &Value) -> Option<String> {
        let mut schema = T::json_schema(&mut super::super::schema::generator()).to_value();
        for (key, value) in keywords.as_object().unwrap() {
            schema[key] = value.clone();
        }
        unenforced(&json!({ "properties": { "deep": { "items": schema } } }))
    }

    #[test]
    fn types_without_a_rule_of_their_own_need_no_validator() {
        for keyword in [
            of::<u8>(),
            of::<i64>(),
            of::<usize>(),
            of::<u128>(),
            of::<i128>(),
            of::<f32>(),
            of::<(u8, String)>(),
            of::<Vec<Option<f64>>>(),
            of::<HashMap<String, bool>>(),
            of::<HashMap<u16, i8>>(),
            of::<Option<()>>(),
        ] {
            assert_eq!(keyword, None);
        }
    }

    #[test]
    fn rules_of_types_are_checked_where_that_is_possible() {
        for (keyword, expected) in [
            (of::<[f64; 3]>(), "Items"),
            (of::<char>(), "Length"),
            (of::<NonZeroU16>(), "minimum"),
            (of::<BTreeSet<i8>>(), "uniqueItems"),
        ] {
            let found = keyword.is_some_and(|keyword| keyword.contains(expected));
            assert_eq!(found, !LENIENT, "{expected}");
        }
    }

    #[test]
    fn a_bound_that_is_not_the_types_own_is_found_wherever_it_is() {
        for (keyword, expected) in [
            (with::<u8>(&json!({ "minimum": 3 })), "minimum"),
            (with::<i64>(&json!({ "minimum": 0 })), "minimum"),
            (with::<u32>(&json!({ "maximum": 255 })), "maximum"),
            (with::<f64>(&json!({ "minimum": 0 })), "minimum"),
            (with::<NonZeroI8>(&json!({ "minimum": 1 })), "minimum"),
            (with::<String>(&json!({ "minLength": 2 })), "minLength"),
            (with::<String>(&json!({ "pattern": "^a" })), "pattern"),
            (with::<Vec<u8>>(&json!({ "minItems": 1 })), "minItems"),
        ] {
            assert_eq!(keyword.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_property_may_have_the_name_of_a_keyword() {
        assert_eq!(unenforced(&json!({ "properties": { "pattern": { "type": "string" } } })), None);
    }
}
