//! The parameters of a request, taken apart by name.

use std::borrow::Cow;

use super::error::Fault;
use super::id::RequestId;
use super::json;
use super::member::Member;
use super::meta::Meta;
use super::raw::Raw;
use super::split::{Failure, Slot, Split};

/// The members that any method's parameters may have. Which of them a method needs is for its handler to say.
#[derive(Clone, Debug, Default)]
pub struct Params<'a> {
    /// Whether the message has parameters at all.
    pub present: bool,
    /// `_meta`
    pub meta: Member<Meta<'a>>,
    /// `name`, of a tool or prompt.
    pub name: Member<Cow<'a, str>>,
    /// `uri`, of a resource.
    pub uri: Member<Cow<'a, str>>,
    /// `arguments`, of a tool or prompt.
    pub arguments: Member<Arguments<'a>>,
    others: Arguments<'a>,
    /// Apart, because this struct is moved, and most requests have none of them.
    rare: Option<Box<Rare<'a>>>,
    pub(super) text: Option<Raw<'a>>,
}

/// Members that few methods have.
#[derive(Clone, Debug, Default)]
struct Rare<'a> {
    cursor: Member<Cow<'a, str>>,
    reference: Member<Reference<'a>>,
    argument: Member<CompletionArgument<'a>>,
    context: Member<CompletionContext<'a>>,
    request_id: Member<RequestId>,
    notifications: Member<Raw<'a>>,
    input_responses: Member<Raw<'a>>,
    request_state: Member<Cow<'a, str>>,
    reason: Member<Cow<'a, str>>,
}

/// One accessor a rare member.
macro_rules! rare_members {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        impl<'a> Params<'a> {$(
            $(#[$doc])*
            pub fn $name(&self) -> &Member<$type> {
                self.rare.as_ref().map_or(&Member::Absent, |rare| &rare.$name)
            }
        )*}
    };
}
rare_members! {
    /// `cursor`, of a page of a list.
    cursor: Cow<'a, str>;
    /// `ref`, what is being completed.
    reference: Reference<'a>;
    /// `argument`, whose value is being completed.
    argument: CompletionArgument<'a>;
    /// `context`, of a completion.
    context: CompletionContext<'a>;
    /// `requestId`, of the request to cancel.
    request_id: RequestId;
    /// `notifications`, the filter of a subscription: an object.
    notifications: Raw<'a>;
    /// `inputResponses`, answers to what the server asked for: an object.
    input_responses: Raw<'a>;
    /// `requestState`, what the server gave the client to send back.
    request_state: Cow<'a, str>;
    /// `reason`, of a cancellation.
    reason: Cow<'a, str>;
}

impl<'a> Params<'a> {
    /// A member without a field of its own.
    pub fn other(&self, name: &str) -> Option<Raw<'a>> {
        self.others.get(name)
    }

    /// The whole object, with all that is in it, known or not; without parameters, `{}`.
    pub fn text(&self) -> Raw<'a> {
        self.text.unwrap_or(Raw::EMPTY_OBJECT)
    }

    /// What is wrong with the metadata of a modern request, `_meta` being absent or no object included.
    pub fn meta_faults(&self) -> Vec<Fault> {
        match self.meta.required("/params/_meta", "an object") {
            Ok(meta) => meta.faults(),
            // Each missing field is named, so that one answer says all that has to be added.
            Err(fault) => std::iter::once(fault).chain(Meta::default().faults()).collect(),
        }
    }

    /// What is wrong with the metadata of a request of an older revision, which need not have any.
    pub(crate) fn legacy_meta_faults(&self) -> Vec<Fault> {
        match self.meta.optional("/params/_meta", "an object") {
            Ok(meta) => meta.map(Meta::legacy_faults).unwrap_or_default(),
            Err(fault) => vec![fault],
        }
    }

    fn rare(&mut self) -> &mut Rare<'a> {
        self.rare.get_or_insert_default()
    }
}

impl<'a> Split<'a> for Params<'a> {
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        match key {
            "_meta" => {
                let text = slot.split(&mut self.meta)?;
                if let Member::Value(meta) = &mut self.meta {
                    meta.text = text;
                }
            }
            "name" => self.name = slot.text()?,
            "uri" => self.uri = slot.text()?,
            "arguments" => drop(slot.split(&mut self.arguments)?),
            "cursor" => self.rare().cursor = slot.text()?,
            "ref" => drop(slot.split(&mut self.rare().reference)?),
            "argument" => drop(slot.split(&mut self.rare().argument)?),
            "context" => drop(slot.split(&mut self.rare().context)?),
            "requestId" => {
                self.rare().request_id = slot.read(|raw| RequestId::from_json(raw.get()).ok())?;
            }
            "notifications" => self.rare().notifications = slot.raw_object()?,
            "inputResponses" => self.rare().input_responses = slot.raw_object()?,
            "requestState" => self.rare().request_state = slot.text()?,
            "reason" => self.rare().reason = slot.text()?,
            _ => self.others.member(key, slot)?,
        }
        Ok(())
    }
}

/// Named values in the order in which they were sent, each with its text.
#[derive(Clone, Debug, Default)]
pub struct Arguments<'a> {
    entries: Vec<(Cow<'a, str>, Raw<'a>)>,
}

impl<'a> Arguments<'a> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.entries.iter().find(|(key, _)| key == name).map(|&(_, value)| value)
    }

    /// Names and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, Raw<'a>)> {
        self.entries.iter().map(|(key, value)| (&**key, *value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn push(&mut self, name: Cow<'a, str>, value: Raw<'a>) {
        self.entries.push((name, value));
    }

    /// Appends the whole object.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        json::write_joined(out, self.iter(), |(name, value), out| {
            json::write_string(out, name);
            out.push(b':');
            out.extend_from_slice(value.get().as_bytes());
        });
        out.push(b'}');
    }
}

impl<'a> Split<'a> for Arguments<'a> {
    fn member(&mut self, _: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        self.push(slot.key(), slot.raw()?);
        Ok(())
    }
}

/// What is being completed: an argument of a prompt, or a variable of a resource template.
#[derive(Clone, Debug, Default)]
pub struct Reference<'a> {
    /// `type`: `ref/prompt` or `ref/resource`.
    pub kind: Member<Cow<'a, str>>,
    /// `name`, of a prompt.
    pub name: Member<Cow<'a, str>>,
    /// `uri`, of a resource template.
    pub uri: Member<Cow<'a, str>>,
}

/// A complete [`Reference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceTarget<'r> {
    /// The prompt of this name.
    Prompt(&'r str),
    /// The resource template of this text, or a URI that it matches.
    Resource(&'r str),
}

impl Reference<'_> {
    /// What the reference names.
    ///
    /// # Errors
    ///
    /// The fault that leaves it open.
    pub fn target(&self) -> Result<ReferenceTarget<'_>, Fault> {
        const AT: &str = "/params/ref/type";
        const EXPECTED: &str = "\"ref/prompt\" or \"ref/resource\"";
        match &**self.kind.required(AT, EXPECTED)? {
            "ref/prompt" => {
                self.name.required("/params/ref/name", "a string").map(|name| ReferenceTarget::Prompt(name))
            }
            "ref/resource" => {
                self.uri.required("/params/ref/uri", "a string").map(|uri| ReferenceTarget::Resource(uri))
            }
            _ => Err(Fault::new(AT, format!("expected {EXPECTED}"))),
        }
    }
}

impl<'a> Split<'a> for Reference<'a> {
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        match key {
            "type" => self.kind = slot.text()?,
            "name" => self.name = slot.text()?,
            "uri" => self.uri = slot.text()?,
            _ => drop(slot.raw()?),
        }
        Ok(())
    }
}

/// The argument whose value is being completed.
#[derive(Clone, Debug, Default)]
pub struct CompletionArgument<'a> {
    /// `name`
    pub name: Member<Cow<'a, str>>,
    /// `value`, as far as it has been typed.
    pub value: Member<Cow<'a, str>>,
}

impl<'a> Split<'a> for CompletionArgument<'a> {
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        match key {
            "name" => self.name = slot.text()?,
            "value" => self.value = slot.text()?,
            _ => drop(slot.raw()?),
        }
        Ok(())
    }
}

/// What is known while an argument is being completed.
#[derive(Clone, Debug, Default)]
pub struct CompletionContext<'a> {
    /// `arguments` that have their value already.
    pub arguments: Member<Arguments<'a>>,
}

impl<'a> Split<'a> for CompletionContext<'a> {
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        match key {
            "arguments" => drop(slot.split(&mut self.arguments)?),
            _ => drop(slot.raw()?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Envelope, JsonType};
    use super::*;

    /// Gives the parsed parameters to a check.
    fn with(params: &str, check: impl FnOnce(Params<'_>)) {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
        check(Envelope::parse(body.as_bytes()).unwrap().params);
    }

    fn target(reference: &str) -> Result<String, String> {
        let mut target = Err(String::new());
        with(&format!(r#"{{"ref":{reference}}}"#), |params| {
            let reference = params.reference().value().unwrap();
            target =
                reference.target().map(|target| format!("{target:?}")).map_err(|fault| fault.to_string());
        });
        target
    }

    #[test]
    fn members_keep_what_was_found() {
        with(
            r#"{"name":null,"uri":5,"cursor":"c","requestState":"s","reason":"r","requestId":"i"}"#,
            |params| {
                assert_eq!(params.name, Member::Null);
                assert_eq!(params.uri, Member::Wrong(JsonType::Number));
                assert_eq!(params.cursor().value().unwrap(), "c");
                assert_eq!(params.request_state().value().unwrap(), "s");
                assert_eq!(params.reason().value().unwrap(), "r");
                assert_eq!(params.request_id().value(), Some(&"i".into()));
                assert!(params.arguments.is_absent());
            },
        );
    }

    #[test]
    fn members_that_are_split_keep_their_type_when_wrong() {
        with(
            r#"{"_meta":null,"arguments":[],"ref":"r","argument":1,"context":true,"requestId":1.5}"#,
            |params| {
                assert!(matches!(params.meta, Member::Null));
                assert!(matches!(params.arguments, Member::Wrong(JsonType::Array)));
                assert!(matches!(params.reference(), Member::Wrong(JsonType::String)));
                assert!(matches!(params.argument(), Member::Wrong(JsonType::Number)));
                assert!(matches!(params.context(), Member::Wrong(JsonType::Boolean)));
                assert!(matches!(params.request_id(), Member::Wrong(JsonType::Number)));
            },
        );
    }

    #[test]
    fn objects_that_are_not_needed_yet_keep_their_text() {
        with(r#"{"notifications":{"a": 1},"inputResponses":[],"protocolVersion":"2025-11-25"}"#, |params| {
            assert_eq!(params.notifications().value().unwrap().get(), r#"{"a": 1}"#);
            assert!(matches!(params.input_responses(), Member::Wrong(JsonType::Array)));
            assert_eq!(params.other("protocolVersion").unwrap().get(), "\"2025-11-25\"");
            assert!(params.other("notifications").is_none());
        });
    }

    #[test]
    fn the_whole_text_is_kept() {
        let text = r#"{ "name": "n", "_meta": {}, "other": [1, {"a": 2}] }"#;
        with(text, |params| assert_eq!(params.text().get(), text));
        assert_eq!(Params::default().text().get(), "{}");
    }

    #[test]
    fn arguments_keep_their_order_and_their_text() {
        with(r#"{"arguments":{"b":{"x": [1]},"\u0061":2.50,"":"\u0061"}}"#, |params| {
            let arguments = params.arguments.into_value().unwrap();
            let entries: Vec<_> = arguments.iter().map(|(name, value)| (name, value.get())).collect();
            assert_eq!(entries, [("b", r#"{"x": [1]}"#), ("a", "2.50"), ("", r#""\u0061""#)]);
            assert_eq!((arguments.len(), arguments.is_empty()), (3, false));
            assert!(arguments.get("a").is_some() && arguments.get("c").is_none());
            let mut out = Vec::new();
            arguments.write_json(&mut out);
            assert_eq!(out, br#"{"b":{"x": [1]},"a":2.50,"":"\u0061"}"#);
        });
    }

    #[test]
    fn a_completion_is_taken_apart() {
        let params = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":"v","x":1},
            "context":{"arguments":{"a":"1"},"x":{}}}"#;
        with(params, |params| {
            let argument = params.argument().value().unwrap();
            assert_eq!(
                (argument.name.value().unwrap(), argument.value.value().unwrap()),
                (&"n".into(), &"v".into())
            );
            let context = params.context().value().unwrap();
            assert_eq!(context.arguments.value().unwrap().get("a").unwrap().get(), "\"1\"");
        });
    }

    #[test]
    fn a_reference_names_a_prompt_or_a_resource() {
        assert_eq!(target(r#"{"type":"ref/prompt","name":"p","title":"P"}"#).unwrap(), r#"Prompt("p")"#);
        assert_eq!(target(r#"{"type":"ref/resource","uri":"x://{a}"}"#).unwrap(), r#"Resource("x://{a}")"#);
        for (reference, fault) in [
            ("{}", "/params/ref/type: missing: expected \"ref/prompt\" or \"ref/resource\""),
            (r#"{"type":"ref/tool"}"#, "/params/ref/type: expected \"ref/prompt\" or \"ref/resource\""),
            (r#"{"type":"ref/prompt","uri":"x"}"#, "/params/ref/name: missing: expected a string"),
            (r#"{"type":"ref/resource","uri":1}"#, "/params/ref/uri: expected a string, found a number"),
        ] {
            assert_eq!(target(reference), Err(fault.to_owned()));
        }
    }
}
