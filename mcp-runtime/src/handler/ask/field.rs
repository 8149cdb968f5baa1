//! One field of a form: what its schema may say, and which values fit.

use serde_json::{Map, Value, json};

use super::format::Format;
use crate::handler::strip_null;

/// What a field holds.
#[derive(Debug)]
pub(super) enum Kind {
    Text { least: usize, most: usize, format: Option<Format> },
    Number { integer: bool, least: f64, most: f64 },
    Boolean,
    Choice(Vec<String>),
    Choices { of: Vec<String>, least: usize, most: usize },
}

impl Kind {
    /// Whether nothing fits.
    fn is_void(&self) -> bool {
        match self {
            Self::Text { least, most, .. } | Self::Choices { least, most, .. } => least > most,
            Self::Number { least, most, .. } => least > most,
            Self::Choice(of) => of.is_empty(),
            Self::Boolean => false,
        }
    }

    /// The value as the field's type has it, if it fits.
    pub(super) fn check(&self, value: Value) -> Option<Value> {
        let fits = match (self, &value) {
            (Self::Text { least, most, format }, Value::String(text)) => {
                (*least..=*most).contains(&text.chars().count())
                    && format.is_none_or(|format| format.fits(text))
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
pub(super) fn field(schema: Value) -> Result<(Kind, Value), String> {
    let Value::Object(mut schema) = schema else {
        return Err("takes any value; a field has a type".to_owned());
    };
    strip_null(&mut schema);
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
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
            let format = schema.get("format").and_then(Value::as_str).and_then(Format::named);
            keep(&schema, &mut shown, &["type", "minLength", "maxLength"]);
            if format.is_some() {
                keep(&schema, &mut shown, &["format"]);
            }
            Kind::Text {
                least: size(&schema, "minLength", 0),
                most: size(&schema, "maxLength", usize::MAX),
                format,
            }
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
