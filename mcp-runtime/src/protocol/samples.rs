//! JSON for tests of properties.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;

use super::json::push_pointer;

/// Any JSON value.
pub(super) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Not any double: serde_json reads some with an error in the last place.
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 4.0)),
        ".{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let object = btree_map(".{0,3}", inner.clone(), 0..12);
        prop_oneof![
            vec(inner, 0..5).prop_map(Value::from),
            object.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The pointers to all members of all objects.
pub(super) fn keys(value: &Value) -> Vec<String> {
    fn add(value: &Value, at: &str, found: &mut Vec<String>) {
        let members: Vec<_> = match value {
            Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
            }
            _ => Vec::new(),
        };
        for (token, inner) in members {
            let mut pointer = at.to_owned();
            push_pointer(&mut pointer, &token);
            add(inner, &pointer, found);
            if value.is_object() {
                found.push(pointer);
            }
        }
    }
    let mut found = Vec::new();
    add(value, "", &mut found);
    found
}

/// The text of the value in which the member at a pointer stands twice, the second time with the value 2.
pub(super) fn with_key_doubled(value: &Value, pointer: &str) -> String {
    const MARKER: &str = "\u{1}marker\u{1}";
    let mut marked = value.clone();
    let member = marked.pointer_mut(pointer).unwrap();
    let first = std::mem::replace(member, Value::from(MARKER)).to_string();
    let token = pointer.rsplit('/').next().unwrap().replace("~1", "/").replace("~0", "~");
    let second = format!("{}:2", Value::from(token));
    marked.to_string().replacen(&Value::from(MARKER).to_string(), &format!("{first},{second}"), 1)
}
