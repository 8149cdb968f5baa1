//! How the type of a handler's parameter decides what it is: an argument, or an injected value.
//!
//! Every kind of operation has a trait with a marker: `Argument` or `Injected`, inferred. A type that is neither
//! gets the trait's message at the parameter; a type that is both is ambiguous, and `#[mcp(inject)]` or
//! `#[mcp(argument)]` decides.

use std::{any::type_name, fmt::Display, future::Future, pin::Pin, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Args, ArgumentReader, FromInvocation, HandlerError, Invocation, Needs, Rejection, Slot,
    arguments::{absent, parse},
};

/// Marks a parameter that comes from the caller's arguments.
#[derive(Debug)]
pub enum Argument {}

/// Marks a parameter that the framework injects.
#[derive(Debug)]
pub enum Injected {}

/// Marks a parameter that takes all arguments at once.
#[derive(Debug)]
pub enum Whole {}

/// What a tool's handler may take as a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a handler parameter",
    label = "neither an argument nor injectable",
    note = "progress is not available on every invocation: take `Option<ProgressReporter>`",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`",
    note = "an injected value implements `FromInvocation`"
)]
pub trait HandlerParameter<Kind>: Sized + 'static {
    #[doc(hidden)]
    const PARAM: Param<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> HandlerParameter<Argument> for T {
    const PARAM: Param<Self> = Param::argument(read_json::<T>, accepts_absence::<T>, schema_of::<T>);
}

#[diagnostic::do_not_recommend]
impl<T: FromInvocation> HandlerParameter<Injected> for T {
    const PARAM: Param<Self> = Param::injection();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> HandlerParameter<Whole> for Args<T> {
    const PARAM: Param<Self> = Param {
        slot: Slot::Arguments,
        ..Param::argument(
            |reader, _, _| reader.take_all().map_or(Staged::Faulty, |all| Staged::Ready(Args(all))),
            || false,
            schema_of::<T>,
        )
    };
}

/// What a prompt's or a completion's handler may take as a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of this handler",
    label = "neither `String`, `Option<String>` nor injectable",
    note = "the protocol sends these arguments as strings: take `String`, or `Option<String>` for an optional one",
    note = "progress is not available on every invocation: take `Option<ProgressReporter>`",
    note = "an injected value implements `FromInvocation`"
)]
pub trait PromptParameter<Kind>: Sized + 'static {
    #[doc(hidden)]
    const PARAM: Param<Self>;
}

#[diagnostic::do_not_recommend]
impl PromptParameter<Argument> for String {
    const PARAM: Param<Self> = Param::argument(read_text, || false, schema_of::<Self>);
}

#[diagnostic::do_not_recommend]
impl PromptParameter<Argument> for Option<String> {
    const PARAM: Param<Self> = Param::argument(
        |reader, name, _| Staged::Ready(reader.take_text(name).map(str::to_owned)),
        || true,
        schema_of::<String>,
    );
}

#[diagnostic::do_not_recommend]
impl<T: FromInvocation> PromptParameter<Injected> for T {
    const PARAM: Param<Self> = Param::injection();
}

/// What a resource's handler may take as a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a resource's handler",
    label = "neither a template variable nor injectable",
    note = "a variable of the URI template is a `String`, or another type that implements `FromStr`",
    note = "progress is not available on every invocation: take `Option<ProgressReporter>`",
    note = "an injected value implements `FromInvocation`"
)]
pub trait ResourceParameter<Kind>: Sized + 'static {
    #[doc(hidden)]
    const PARAM: Param<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: FromStr<Err: Display> + Send + 'static> ResourceParameter<Argument> for T {
    const PARAM: Param<Self> = Param::argument(read_text, || false, |_| Schema::default());
}

#[diagnostic::do_not_recommend]
impl<T: FromInvocation> ResourceParameter<Injected> for T {
    const PARAM: Param<Self> = Param::injection();
}

/// What the handler of a resource list may take as a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a resource list",
    label = "neither the cursor nor injectable",
    note = "the page to list is asked for by `cursor: Option<String>`",
    note = "an injected value implements `FromInvocation`"
)]
pub trait PageParameter<Kind>: Sized + 'static {
    #[doc(hidden)]
    const PARAM: Param<Self>;
}

#[diagnostic::do_not_recommend]
impl PageParameter<Argument> for Option<String> {
    const PARAM: Param<Self> = <Self as PromptParameter<Argument>>::PARAM;
}

#[diagnostic::do_not_recommend]
impl<T: FromInvocation> PageParameter<Injected> for T {
    const PARAM: Param<Self> = Param::injection();
}

/// An argument that may be mirrored into an HTTP header (`x-mcp-header`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be mirrored into a header",
    label = "not a string, integer or boolean",
    note = "the specification allows `x-mcp-header` on strings, integers and booleans only, or an `Option` of one"
)]
pub trait HeaderParameter {}

macro_rules! header_parameters {
    ($($type:ty),*) => {$(
        impl HeaderParameter for $type {}
        impl HeaderParameter for Option<$type> {}
    )*};
}
header_parameters!(String, bool, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

/// Reads the argument of a name, or takes its default.
type Read<T> = fn(&mut ArgumentReader<'_>, &'static str, Option<fn() -> T>) -> Staged<T>;

/// One parameter of type `T`: how to read it, or how to inject it.
#[doc(hidden)]
pub struct Param<T> {
    /// Whether the framework injects it.
    pub injected: bool,
    /// What a handler takes only once.
    pub slot: Slot,
    read: Read<T>,
    inject: fn(&Invocation) -> Injection<T>,
    accepts_absence: fn() -> bool,
    schema: fn(&mut SchemaGenerator) -> Schema,
    needs: fn(&mut Needs),
}

/// A parameter whose type is forgotten: what a descriptor keeps of it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ErasedParam {
    pub(crate) injected: bool,
    pub(crate) slot: Slot,
    pub(crate) accepts_absence: fn() -> bool,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) needs: fn(&mut Needs),
}

/// A parameter between reading and running.
#[doc(hidden)]
#[derive(Debug)]
pub enum Staged<T> {
    /// Read from the arguments.
    Ready(T),
    /// To be injected.
    Inject,
    /// Its fault is with the reader.
    Faulty,
}

/// A value being injected.
#[doc(hidden)]
pub enum Injection<T> {
    /// At once.
    Now(Result<T, Rejection>),
    /// After waiting.
    Later(Pin<Box<dyn Future<Output = Result<T, Rejection>> + Send>>),
}

impl<T> Clone for Param<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Param<T> {}

impl<T: 'static> Param<T> {
    const fn argument(
        read: Read<T>,
        accepts_absence: fn() -> bool,
        schema: fn(&mut SchemaGenerator) -> Schema,
    ) -> Self {
        Self {
            injected: false,
            slot: Slot::Any,
            read,
            inject: |_| {
                Injection::Now(Err(Rejection::internal(format!("`{}` was not read", type_name::<T>()))))
            },
            accepts_absence,
            schema,
            needs: |_| (),
        }
    }

    /// What a descriptor keeps of it.
    #[must_use]
    pub const fn erased(self) -> ErasedParam {
        ErasedParam {
            injected: self.injected,
            slot: self.slot,
            accepts_absence: self.accepts_absence,
            schema: self.schema,
            needs: self.needs,
        }
    }

    /// Reads the argument called `name`, or `default` if it is absent or null.
    pub fn read(
        self,
        reader: &mut ArgumentReader<'_>,
        name: &'static str,
        default: Option<fn() -> T>,
    ) -> Staged<T> {
        (self.read)(reader, name, default)
    }

    /// The value that the handler gets.
    ///
    /// # Errors
    /// The rejection of a value that could not be injected.
    pub async fn resolve(self, staged: Staged<T>, invocation: &Invocation) -> Result<T, HandlerError> {
        match staged {
            Staged::Ready(value) => Ok(value),
            Staged::Inject | Staged::Faulty => match (self.inject)(invocation) {
                Injection::Now(result) => Ok(result?),
                Injection::Later(future) => Ok(future.await?),
            },
        }
    }
}

impl<T: FromInvocation> Param<T> {
    const fn injection() -> Self {
        Self {
            injected: true,
            slot: T::SLOT,
            read: |_, _, _| Staged::Inject,
            inject: inject::<T>,
            accepts_absence: || false,
            schema: |_| Schema::default(),
            needs: T::needs,
        }
    }
}

fn inject<T: FromInvocation>(invocation: &Invocation) -> Injection<T> {
    if let Some(result) = T::immediately(invocation) {
        return Injection::Now(result.map_err(Into::into));
    }
    let invocation = invocation.clone();
    Injection::Later(Box::pin(async move { T::from_invocation(&invocation).await.map_err(Into::into) }))
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn accepts_absence<T: DeserializeOwned>() -> bool {
    absent::<T>().is_some()
}

fn read_json<T: DeserializeOwned>(
    reader: &mut ArgumentReader<'_>,
    name: &'static str,
    default: Option<fn() -> T>,
) -> Staged<T> {
    match (reader.take_json(name), default) {
        // An explicit null for an optional argument counts as absent.
        (Some(raw), Some(default)) if raw.get() == "null" => Staged::Ready(default()),
        (Some(raw), _) => match parse(name, raw) {
            Ok(value) => Staged::Ready(value),
            Err((at, message)) => {
                reader.fault(&at, &message);
                Staged::Faulty
            }
        },
        (None, Some(default)) => Staged::Ready(default()),
        (None, None) => match absent() {
            Some(value) => Staged::Ready(value),
            None => {
                reader.fault(name, "missing");
                Staged::Faulty
            }
        },
    }
}

fn read_text<T: FromStr<Err: Display>>(
    reader: &mut ArgumentReader<'_>,
    name: &'static str,
    default: Option<fn() -> T>,
) -> Staged<T> {
    match (reader.take_text(name), default) {
        (Some(text), _) => match text.parse() {
            Ok(value) => Staged::Ready(value),
            Err(error) => {
                reader.fault(name, &error.to_string());
                Staged::Faulty
            }
        },
        (None, Some(default)) => Staged::Ready(default()),
        (None, None) => {
            reader.fault(name, "missing");
            Staged::Faulty
        }
    }
}

/// A tool's parameter; its kind is inferred. Where it can't be, the compiler prints the name of the type parameter.
#[doc(hidden)]
#[must_use]
pub const fn tool_parameter<T: HandlerParameter<InjectOrArgument>, InjectOrArgument>() -> Param<T> {
    T::PARAM
}

/// A tool's parameter that is an argument even if it could be injected.
#[doc(hidden)]
#[must_use]
pub const fn tool_argument<T: HandlerParameter<Argument>>() -> Param<T> {
    T::PARAM
}

/// A parameter that is injected even if it could be an argument.
#[doc(hidden)]
#[must_use]
pub const fn injected<T: FromInvocation>() -> Param<T> {
    Param::injection()
}

/// A prompt's or completion's parameter; its kind is inferred.
#[doc(hidden)]
#[must_use]
pub const fn prompt_parameter<T: PromptParameter<Kind>, Kind>() -> Param<T> {
    T::PARAM
}

/// A resource's parameter; its kind is inferred.
#[doc(hidden)]
#[must_use]
pub const fn resource_parameter<T: ResourceParameter<InjectOrVariable>, InjectOrVariable>() -> Param<T> {
    T::PARAM
}

/// A resource list's parameter; its kind is inferred.
#[doc(hidden)]
#[must_use]
pub const fn page_parameter<T: PageParameter<Kind>, Kind>() -> Param<T> {
    T::PARAM
}

/// A default that is shown in the schema.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the default of a `{Self}` can't be shown in the schema",
    label = "not `serde::Serialize`",
    note = "derive `serde::Serialize`, or write the default as a literal"
)]
pub trait DefaultValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> DefaultValue for T {}

/// A default as JSON, for the schema.
///
/// # Errors
/// If it can't be serialised.
#[doc(hidden)]
pub fn default_value<T: DefaultValue>(default: &T) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::to_value(default)
}

/// Refuses what can't be a header, at compile time.
#[doc(hidden)]
pub const fn header_parameter<T: HeaderParameter>() {}
