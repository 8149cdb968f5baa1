//! Headers that mirror the body: they must agree with it (specification: `transports/streamable-http`, request
//! metadata).

use std::{borrow::Cow, collections::HashMap};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;

use crate::{
    protocol::{
        Arguments, Envelope, Fault, HeaderFault, MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, Member, Raw,
        decode_value, matches_json, plain_value, says_plainly,
    },
    registry::MirroredHeader,
};

/// The header of the revision.
pub(super) static PROTOCOL_VERSION: HeaderName = HeaderName::from_static(MCP_PROTOCOL_VERSION);
static METHOD: HeaderName = HeaderName::from_static(MCP_METHOD);
static NAME: HeaderName = HeaderName::from_static(MCP_NAME);

/// The value of a header that may come once, as it stands.
pub(super) fn plain<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Fault> {
    single(headers, name, plain_value)
}

/// The value of a header that may come once, decoded.
fn decoded<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<Cow<'h, str>>, Fault> {
    single(headers, name, decode_value)
}

fn single<'h, T>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    read: fn(&'h [u8]) -> Result<T, HeaderFault>,
) -> Result<Option<T>, Fault> {
    let fault = |message: String| Fault::new(name.as_str(), message);
    match once(headers, name) {
        Ok(None) => Ok(None),
        Ok(Some(value)) => read(value.as_bytes()).map(Some).map_err(|error| fault(error.to_string())),
        Err(Twice) => Err(fault("the header comes twice".to_owned())),
    }
}

/// A header comes twice that may come once.
#[derive(Debug)]
pub(crate) struct Twice;

/// A header that may come once.
pub(crate) fn once<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Twice> {
    // With as many values as names, no header comes twice.
    if headers.len() != headers.keys_len() && headers.get_all(name).iter().nth(1).is_some() {
        return Err(Twice);
    }
    Ok(headers.get(name))
}

/// What is wrong with the standard headers of a modern request.
pub(super) fn standard_faults(headers: &HeaderMap, envelope: &Envelope<'_>) -> Vec<Fault> {
    let params = &envelope.params;
    let revision = params.meta.value().and_then(|meta| meta.protocol_version.value());
    let named = match &*envelope.method {
        "tools/call" | "prompts/get" => Some((text(&params.name), "/params/name")),
        "resources/read" => Some((text(&params.uri), "/params/uri")),
        _ => None,
    };
    let mut faults = Vec::new();
    let mut check = |checked: Result<(), Fault>| faults.extend(checked.err());
    check(mirrors(headers, &PROTOCOL_VERSION, revision.map(|revision| &**revision), "/params/_meta"));
    check(mirrors(headers, &METHOD, Some(&*envelope.method), "/method"));
    if let Some((name, at)) = named {
        check(mirrors(headers, &NAME, name, at));
    }
    faults
}

fn text<'m>(member: &'m Member<Cow<'_, str>>) -> Option<&'m str> {
    member.value().map(|text| &**text)
}

fn mirrors(headers: &HeaderMap, name: &HeaderName, body: Option<&str>, at: &str) -> Result<(), Fault> {
    if let (Ok(Some(header)), Some(body)) = (once(headers, name), body)
        && says_plainly(header.as_bytes(), body)
    {
        return Ok(());
    }
    // Whoever routes by the others reads them as they stand.
    let header = match *name == NAME {
        true => decoded(headers, name)?,
        false => plain(headers, name)?.map(Cow::Borrowed),
    };
    let name = name.as_str();
    match (header, body) {
        (None, _) => Err(Fault::new(name, "the header is missing")),
        (Some(header), Some(body)) if header != body => {
            Err(Fault::new(name, format!("the header says `{header}`, and the body `{body}` at `{at}`")))
        }
        // Without a value in the body there is nothing to compare with; that is a fault of the body.
        (Some(_), _) => Ok(()),
    }
}

/// What is wrong with the headers that mirror arguments of a tool.
pub(super) fn argument_faults(
    headers: &HeaderMap,
    mirrored: &[MirroredHeader],
    arguments: Option<&Arguments<'_>>,
) -> Vec<Fault> {
    let check = |mirrored: &MirroredHeader| argument_mirrors(headers, mirrored, arguments);
    mirrored.iter().filter_map(|mirrored| check(mirrored).err()).collect()
}

fn argument_mirrors(
    headers: &HeaderMap,
    MirroredHeader { header, path }: &MirroredHeader,
    arguments: Option<&Arguments<'_>>,
) -> Result<(), Fault> {
    let name = header.as_str();
    let value = arguments.zip(path.split_first()).and_then(|(arguments, (first, rest))| {
        let value = arguments.get(first)?;
        rest.iter().try_fold(value, |value, name| member(value, name))
    });
    let value = value.filter(|value| value.get() != "null");
    match (decoded(headers, header)?, value) {
        (None, None) => Ok(()),
        (Some(header), Some(value)) if matches_json(&header, value) => Ok(()),
        (Some(header), Some(_)) => Err(Fault::new(
            name,
            format!("the header says `{header}`, and the argument `{}` does not", path.join(".")),
        )),
        (None, Some(_)) => Err(Fault::new(
            name,
            format!("the header is missing, and the argument `{}` is there", path.join(".")),
        )),
        (Some(_), None) => Err(Fault::new(
            name,
            format!("the header is there, and the argument `{}` is missing", path.join(".")),
        )),
    }
}

/// One member of a JSON object.
fn member<'v>(value: Raw<'v>, name: &str) -> Option<Raw<'v>> {
    let members: HashMap<Cow<'_, str>, &'v RawValue> = serde_json::from_str(value.get()).ok()?;
    members.get(name).map(|&value| value.into())
}
