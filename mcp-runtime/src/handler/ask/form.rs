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

/// What a field holds.
#[derive(Debug)]
enum Kind {
    Text { least: usize, most: usize },
    Number { integer: bool, least: f64, most: f64 },
    Boolean,
    Choice(Vec<String>),
    Choices { of: Vec<String>, least: usize, most: usize },
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

impl Kind {
    /// Whether nothing fits.
    fn is_void(&self) -> bool {
        match self {
            Self::Text { least, most } | Self::Choices { least, most, .. } => least > most,
            Self::Number { least, most, .. } => least > most,
            Self::Choice(of) => of.is_empty(),
            Self::Boolean => false,
        }
    }

    /// The value as the field's type has it, if it fits.
    fn check(&self, value: Value) -> Option<Value> {
        let fits = match (self, &value) {
            (Self::Text { least, most }, Value::String(text)) => {
                (*least..=*most).contains(&text.chars().count())
            }
            (Self::Number { integer, least, most }, Value::Number(number)) => {
                let float = number.as_f64()?;
                if *integer && !(number.is_i64() || number.is_u64()) {
                    // JSON has one kind of number: 5.0 is an integer, too.
                    return (float.fract() == 0.0
                        && (*least..=*most).contains(&float)
                        && float.abs() < MOST_EXACT)
                        .then(|| Value::from(float as i64));
                }
                (*least..=*most).contains(&float)
            }
            (Self::Boolean, Value::Bool(_)) => true,
            (Self::Choice(of), Value::String(choice)) => of.contains(choice),
            (Self::Choices { of, least, most }, Value::Array(choices)) => {
                let known =
                    |choice: &Value| choice.as_str().is_some_and(|choice| of.iter().any(|of| of == choice));
                (*least..=*most).contains(&choices.len()) && choices.iter().all(known)
            }
            _ => false,
        };
        fits.then_some(value)
    }
}

/// Up to here a float is exactly the integer that it looks like.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Members that say something to people.
const SAID: [&str; 3] = ["title", "description", "default"];

/// A field, and the schema that is shown of it.
fn field(schema: Value) -> Result<(Kind, Value), String> {
    let Value::Object(mut schema) = schema else {
        return Err("takes any value; a field has a type".to_owned());
    };
    strip_null(&mut schema);
    let mut shown = Map::new();
    let kind = match (schema.get("type").and_then(Value::as_str), choices(&schema, "oneOf")?) {
        (Some("string") | None, Some(choices)) => {
            shown.insert("type".to_owned(), "string".into());
            choices.show(&mut shown, "oneOf");
            if let Some(names) = schema.remove("enumNames") {
                shown.insert("enumNames".to_owned(), names);
            }
            Kind::Choice(choices.values)
        }
        (Some("string"), None) => {
            refuse(&schema, &["pattern", "contentEncoding", "contentMediaType"])?;
            let kind = Kind::Text {
                least: size(&schema, "minLength", 0),
                most: size(&schema, "maxLength", usize::MAX),
            };
            keep(&schema, &mut shown, &["type", "minLength", "maxLength"]);
            let format = schema.get("format").and_then(Value::as_str);
            if let Some(format) =
                format.filter(|format| matches!(*format, "email" | "uri" | "date" | "date-time"))
            {
                shown.insert("format".to_owned(), format.into());
            }
            kind
        }
        (Some(number @ ("integer" | "number")), _) => {
            refuse(&schema, &["exclusiveMinimum", "exclusiveMaximum", "multipleOf", "not"])?;
            keep(&schema, &mut shown, &["type", "minimum", "maximum"]);
            let said = |key, otherwise| schema.get(key).and_then(Value::as_f64).unwrap_or(otherwise);
            let (mut least, mut most) = (said("minimum", f64::NEG_INFINITY), said("maximum", f64::INFINITY));
            // What is said beside the type can't widen it.
            if let Some((own_least, own_most)) = own_bounds(&schema) {
                if own_least as f64 > least {
                    shown.insert("minimum".to_owned(), own_least.into());
                    least = own_least as f64;
                }
                if (own_most as f64) < most {
                    shown.insert("maximum".to_owned(), own_most.into());
                    most = own_most as f64;
                }
            }
            Kind::Number { integer: number == "integer", least, most }
        }
        (Some("boolean"), _) => {
            keep(&schema, &mut shown, &["type"]);
            Kind::Boolean
        }
        (Some("array"), _) => {
            let items = schema.get("items").and_then(Value::as_object);
            let of = items.map(|items| choices(items, "anyOf")).transpose()?.flatten();
            let of = of.ok_or("is a list of more than choices among texts, which no form shows")?;
            let mut items = Map::new();
            of.show(&mut items, "anyOf");
            if items.contains_key("enum") {
                items.insert("type".to_owned(), "string".into());
            }
            keep(&schema, &mut shown, &["type", "minItems", "maxItems"]);
            shown.insert("items".to_owned(), items.into());
            Kind::Choices {
                of: of.values,
                least: size(&schema, "minItems", 0),
                most: size(&schema, "maxItems", usize::MAX),
            }
        }
        _ => return Err("is neither a text, a number, a boolean nor a choice among texts".to_owned()),
    };
    if kind.is_void() {
        return Err("has bounds between which there is no value".to_owned());
    }
    keep(&schema, &mut shown, &SAID);
    Ok((kind, shown.into()))
}

/// The values that a person may choose among; with names, if any has one.
struct Choices {
    values: Vec<String>,
    titles: Option<Vec<String>>,
}

impl Choices {
    /// Writes them into a schema: `enum`, or a list of titled constants under `titled`.
    fn show(&self, schema: &mut Map<String, Value>, titled: &str) {
        match &self.titles {
            None => schema.insert("enum".to_owned(), self.values.clone().into()),
            Some(titles) => {
                let options = self.values.iter().zip(titles);
                let options = options.map(|(value, title)| json!({ "const": value, "title": title }));
                schema.insert(titled.to_owned(), options.collect())
            }
        };
    }
}

/// The choices of a schema, if it is one of choices. schemars describes a variant with a doc comment by itself, and
/// the others together.
fn choices(schema: &Map<String, Value>, titled: &str) -> Result<Option<Choices>, String> {
    const NO_TEXTS: &str = "is a choice among more than texts, which no form shows";
    let mut found = Choices { values: Vec::new(), titles: None };
    let mut titles = Vec::new();
    let mut add = |option: &Map<String, Value>| {
        let title = ["title", "description"].iter().find_map(|key| option.get(*key)?.as_str());
        let values = match (option.get("const"), option.get("enum")) {
            (Some(value), _) => std::slice::from_ref(value),
            (None, Some(Value::Array(values))) => values.as_slice(),
            _ => return Err(NO_TEXTS.to_owned()),
        };
        for value in values {
            let value = value.as_str().ok_or(NO_TEXTS)?;
            found.values.push(value.to_owned());
            titles.push((title.unwrap_or(value).to_owned(), title.is_some()));
        }
        Ok(())
    };
    // Items of an array may say it in either way.
    let options = schema.get(titled).or_else(|| schema.get("oneOf")).or_else(|| schema.get("anyOf"));
    if let Some(Value::Array(options)) = options {
        for option in options {
            add(option.as_object().ok_or(NO_TEXTS)?)?;
        }
    } else if schema.contains_key("enum") || schema.contains_key("const") {
        let own =
            ["const", "enum"].iter().filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone())));
        add(&own.collect())?;
    } else {
        return Ok(None);
    }
    if titles.iter().any(|(_, own)| *own) {
        found.titles = Some(titles.into_iter().map(|(title, _)| title).collect());
    }
    Ok(Some(found))
}

/// An optional field is left out instead of being null.
fn strip_null(schema: &mut Map<String, Value>) {
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
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(options)) = schema.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = options.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
}

/// The bounds of Rust's small integers, from the formats that schemars gives them. Those of the large ones tell a
/// person nothing.
fn own_bounds(schema: &Map<String, Value>) -> Option<(i64, i64)> {
    let format = schema.get("format")?.as_str()?;
    let bits = |digits: &str| digits.parse().ok().filter(|bits: &u32| matches!(bits, 8 | 16 | 32));
    if let Some(bits) = format.strip_prefix("uint").and_then(bits) {
        return Some((0, (1 << bits) - 1));
    }
    let half = 1 << (format.strip_prefix("int").and_then(bits)? - 1);
    Some((-half, half - 1))
}

fn keep(from: &Map<String, Value>, to: &mut Map<String, Value>, keys: &[&str]) {
    for key in keys {
        if let Some(value) = from.get(*key) {
            to.insert((*key).to_owned(), value.clone());
        }
    }
}

fn refuse(schema: &Map<String, Value>, keywords: &[&str]) -> Result<(), String> {
    match keywords.iter().find(|keyword| schema.contains_key(**keyword)) {
        Some(keyword) => Err(format!("has `{keyword}`, which no form knows")),
        None => Ok(()),
    }
}

fn size(schema: &Map<String, Value>, key: &str, otherwise: usize) -> usize {
    let size = schema.get(key).and_then(Value::as_u64);
    size.map_or(otherwise, |size| usize::try_from(size).unwrap_or(usize::MAX))
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
