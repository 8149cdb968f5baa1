//! Forms: the few shapes of JSON schema that a client can show to a person (specification: `client/elicitation`,
//! requested schema).

use std::{
    any::TypeId,
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::field::{Kind, field};

/// A type that a person can fill in: a flat struct of texts, numbers, booleans, and choices among texts.
///
/// Derived beside `Deserialize` and `JsonSchema`, whose names, descriptions, bounds and defaults the form shows. Whether
/// the type fits is checked when the server is built.
///
/// ```
/// use mcp_runtime::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema, ElicitationForm)]
/// struct Booking {
///     /// Under which name?
///     name: String,
///     #[schemars(range(min = 1, max = 12))]
///     guests: u8,
///     seat: Option<Seat>,
/// }
///
/// #[derive(Deserialize, JsonSchema)]
/// enum Seat {
///     Window,
///     Terrace,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no elicitation form",
    label = "a person can't be asked for this",
    note = "derive `ElicitationForm` for it, beside `serde::Deserialize` and `schemars::JsonSchema`",
    note = "what is not known before the program runs is asked for with `elicit_form`"
)]
pub trait ElicitationForm: serde::de::DeserializeOwned + JsonSchema + Send + 'static {}

/// A form: what is shown to a person, and checked of their answer.
#[derive(Clone, Debug)]
pub struct Form(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    schema: Value,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    required: bool,
    kind: Kind,
}

/// Why a schema is no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError(Vec<String>);

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl std::error::Error for FormError {}

impl Form {
    /// The form of a type.
    ///
    /// # Errors
    /// All that a form can't have.
    pub fn of<T: JsonSchema>() -> Result<Self, FormError> {
        let mut settings = SchemaSettings::draft2020_12();
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        Self::from_schema(settings.into_generator().into_root_schema_for::<T>().to_value())
    }

    /// The form of a schema written by hand: an object whose properties are strings, numbers, integers, booleans, strings
    /// of an `enum` or a titled `oneOf`, and arrays of such choices.
    ///
    /// # Errors
    /// All that a form can't have.
    pub fn from_schema(schema: Value) -> Result<Self, FormError> {
        let (Value::Object(mut root), mut faults) = (schema, Vec::new()) else {
            return Err(FormError(vec!["the schema is no object".to_owned()]));
        };
        if root.get("type").is_none_or(|kind| kind != "object") {
            return Err(FormError(vec!["a form is a struct with named fields".to_owned()]));
        }
        for keyword in ["anyOf", "oneOf", "allOf", "$ref", "$defs", "patternProperties", "if", "not"] {
            if root.contains_key(keyword) {
                faults.push(format!("a form has fixed fields, and this has `{keyword}`"));
            }
        }
        let required: Vec<String> = match root.remove("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let Some(Value::Object(properties)) = root.remove("properties") else {
            faults.push("a form has fields, and this has none".to_owned());
            return Err(FormError(faults));
        };
        let (mut shown, mut fields) = (Map::new(), Vec::new());
        for (name, property) in properties {
            match field(property) {
                Ok((kind, schema)) => {
                    let required = required.contains(&name);
                    shown.insert(name.clone(), schema);
                    fields.push(Field { name, required, kind });
                }
                Err(fault) => faults.push(format!("`{name}`: {fault}")),
            }
        }
        if !faults.is_empty() {
            return Err(FormError(faults));
        }
        let mut schema = json!({ "type": "object", "properties": shown });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        Ok(Self(Arc::new(Inner { schema, fields })))
    }

    /// What the client is sent.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.0.schema
    }

    /// What of an answer the form has fields for, or what is wrong with it.
    pub(super) fn check(&self, mut answer: Map<String, Value>) -> Result<Map<String, Value>, String> {
        let mut checked = Map::new();
        for field in &self.0.fields {
            match answer.remove(&field.name) {
                None | Some(Value::Null) if field.required => {
                    return Err(format!("`{}` is missing", field.name));
                }
                None | Some(Value::Null) => {}
                Some(value) => match field.kind.check(value) {
                    Some(value) => drop(checked.insert(field.name.clone(), value)),
                    None => return Err(format!("`{}` does not fit", field.name)),
                },
            }
        }
        Ok(checked)
    }
}

/// The form of a type, made once.
pub(super) fn of<T: JsonSchema + 'static>() -> Result<Form, FormError> {
    static FORMS: LazyLock<Mutex<HashMap<TypeId, Result<Form, FormError>>>> = LazyLock::new(Mutex::default);
    let forms = || FORMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = forms().get(&TypeId::of::<T>()) {
        return known.clone();
    }
    // Made without the lock: the type's own code runs here.
    let made = Form::of::<T>();
    forms().insert(TypeId::of::<T>(), made.clone());
    made
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    enum Seat {
        Window,
        Terrace,
    }

    #[derive(Deserialize, JsonSchema, PartialEq, Eq, Hash)]
    #[allow(dead_code)]
    enum Course {
        /// Something small
        Starter,
        Main,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Booking {
        /// Under which name?
        #[schemars(length(min = 1, max = 40), title = "Name")]
        name: String,
        #[schemars(email)]
        email: Option<String>,
        #[schemars(range(min = 1, max = 12))]
        guests: u8,
        age: i64,
        tip: Option<f32>,
        #[serde(default = "yes")]
        smoking: bool,
        seat: Option<Seat>,
        first: Course,
        courses: Vec<Course>,
        seats: Option<HashSet<String>>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Fitting {
        name: String,
        seat: Option<Seat>,
        first: Course,
        courses: Vec<Course>,
        #[schemars(range(min = 1, max = 1000))]
        guests: u8,
        age: i64,
        tip: Option<f32>,
        #[serde(default = "yes")]
        smoking: bool,
    }

    fn yes() -> bool {
        true
    }

    fn faults(schema: Value) -> Vec<String> {
        Form::from_schema(schema).unwrap_err().0
    }

    #[test]
    fn a_struct_is_shown_with_what_its_schema_says() {
        let form = Form::of::<Fitting>().unwrap();
        assert_eq!(
            form.schema(),
            &json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "seat": {"type": "string", "enum": ["window", "terrace"]},
                    "first": {"type": "string", "oneOf": [
                        {"const": "Main", "title": "Main"}, {"const": "Starter", "title": "Something small"}]},
                    "courses": {"type": "array", "items": {"anyOf": [
                        {"const": "Main", "title": "Main"}, {"const": "Starter", "title": "Something small"}]}},
                    "guests": {"type": "integer", "minimum": 1, "maximum": 255},
                    "age": {"type": "integer"},
                    "tip": {"type": "number"},
                    "smoking": {"type": "boolean", "default": true},
                },
                "required": ["name", "first", "courses", "guests", "age"],
            })
        );
    }

    #[test]
    fn all_faults_are_named() {
        let found = Form::of::<Booking>().unwrap_err().0;
        assert_eq!(found, ["`seats`: is a list of more than choices among texts, which no form shows"]);
        let nested = json!({"type": "object", "properties": {
            "a": {"type": "object"}, "b": {"type": "string", "pattern": "x"}, "c": true,
            "d": {"type": "integer", "multipleOf": 3}, "e": {"enum": [1, 2]}, "f": {"type": ["string", "number"]},
            "g": {"type": "integer", "not": {"const": 0}}, "h": {"type": "integer", "format": "uint8", "minimum": 256},
        }});
        assert_eq!(
            faults(nested),
            [
                "`a`: is neither a text, a number, a boolean nor a choice among texts",
                "`b`: has `pattern`, which no form knows",
                "`c`: takes any value; a field has a type",
                "`d`: has `multipleOf`, which no form knows",
                "`e`: is a choice among more than texts, which no form shows",
                "`f`: is neither a text, a number, a boolean nor a choice among texts",
                "`g`: has `not`, which no form knows",
                "`h`: has bounds between which there is no value",
            ]
        );
        assert_eq!(faults(json!({"type": "string"})), ["a form is a struct with named fields"]);
        assert_eq!(faults(json!({"type": "object"})), ["a form has fields, and this has none"]);
        assert_eq!(faults(json!(true)), ["the schema is no object"]);
        let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": []});
        assert_eq!(faults(open), ["a form has fixed fields, and this has `oneOf`"]);
    }

    #[test]
    fn names_of_choices_and_other_spellings_stay() {
        let schema = json!({"type": "object", "properties": {
            "legacy": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "default": "a"},
            "multi": {"type": "array", "items": {"type": "string", "enum": ["x"]}, "minItems": 1, "maxItems": 1},
            "mail": {"type": "string", "format": "email", "minLength": 3},
            "id": {"type": "string", "format": "uuid"},
        }});
        let form = Form::from_schema(schema.clone()).unwrap();
        let mut expected = schema;
        expected["properties"]["id"] = json!({"type": "string"});
        assert_eq!(form.schema(), &expected);
    }

    #[test]
    fn answers_are_checked_and_cleaned() {
        let form = Form::from_schema(json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "minLength": 2, "maxLength": 3},
            "n": {"type": "integer", "minimum": 1, "maximum": 9},
            "x": {"type": "number"}, "ok": {"type": "boolean"},
            "of": {"type": "string", "enum": ["a"]},
            "many": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        }}))
        .unwrap();
        let check = |answer: Value| form.check(answer.as_object().unwrap().clone());
        let fits = json!({"name": "äöü", "n": 5.0, "x": 1, "ok": false, "of": "a", "many": ["b", "a"]});
        let cleaned = check(fits).unwrap();
        assert_eq!(cleaned["n"].as_i64(), Some(5));
        let more = check(json!({"name": "ab", "n": null, "other": 1})).unwrap();
        assert_eq!(Value::from(more), json!({"name": "ab"}));
        for wrong in [
            json!({}),
            json!({"name": null}),
            json!({"name": "a"}),
            json!({"name": "abcd"}),
            json!({"name": 12345}),
            json!({"name": "ab", "n": 0}),
            json!({"name": "ab", "n": 1.5}),
            json!({"name": "ab", "n": "1"}),
            json!({"name": "ab", "x": true}),
            json!({"name": "ab", "ok": "yes"}),
            json!({"name": "ab", "of": "b"}),
            json!({"name": "ab", "many": ["c"]}),
            json!({"name": "ab", "many": ["a", "a", "a"]}),
            json!({"name": "ab", "many": "a"}),
        ] {
            assert!(check(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
