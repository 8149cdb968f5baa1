//! What schemas say of values that may be left out.

use serde_json::{Map, Value};

/// Takes null out of what an optional value may be: it counts as absent.
pub(crate) fn strip_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(options)) = schema.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if let [only] = options.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            // What stands beside the reference, such as a description, stays.
            if let Value::Object(only) = only {
                for (key, value) in only {
                    schema.entry(key).or_insert(value);
                }
            }
        }
    }
}
