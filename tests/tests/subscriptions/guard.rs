//! An authorizer that a test leads, and an admission that believes everybody.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use mcp_runtime::{
    prelude::*,
    subscription::{BoxError, Grant, Permission, ResourceUri, SubscriptionAuthorizer, SubscriptionCheck},
};
use mcp_tests::seconds;
use tokio::time::{Instant, sleep};

/// What an authorizer does with a check.
#[derive(Clone)]
pub enum Verdict {
    Allow(Grant),
    Deny,
    Fail,
    Panic,
    /// Something, but not at once.
    After(Duration, Box<Verdict>),
    Never,
}

impl Verdict {
    /// Allows it for so long.
    pub fn lasting(duration: Duration) -> Self {
        Self::Allow(Grant::lasting(duration))
    }

    pub fn after(self, duration: Duration) -> Self {
        Self::After(duration, Box::new(self))
    }
}

/// A check as the authorizer saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: Instant,
    pub first: bool,
    pub caller: Option<String>,
    /// Which lists, by their first letters, and which resources.
    pub selected: String,
    pub context: Option<Arc<String>>,
    pub header: Option<String>,
}

type Rule = Arc<dyn Fn(&SubscriptionCheck<'_>) -> Verdict + Send + Sync>;

/// Clones share everything. At first it allows all for a minute.
#[derive(Clone)]
pub struct Guard(Arc<Shared>);

struct Shared {
    rule: Mutex<Rule>,
    seen: Mutex<Vec<Seen>>,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Guard {
    pub fn new() -> Self {
        let shared = Shared {
            rule: Mutex::new(Arc::new(|_: &SubscriptionCheck<'_>| Verdict::lasting(seconds(60)))),
            seen: Mutex::default(),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        };
        Self(Arc::new(shared))
    }

    /// Decides by this from now on.
    pub fn rule(&self, rule: impl Fn(&SubscriptionCheck<'_>) -> Verdict + Send + Sync + 'static) {
        *self.0.rule.lock().expect("no panic") = Arc::new(rule);
    }

    /// Says the same to all.
    pub fn says(&self, verdict: Verdict) {
        self.rule(move |_| verdict.clone());
    }

    /// Allows first checks for so long, and has this said to later ones.
    pub fn renews(&self, lasting: Duration, verdict: Verdict) {
        self.rule(move |check| if check.is_first() { Verdict::lasting(lasting) } else { verdict.clone() });
    }

    /// All checks so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.0.seen.lock().expect("no panic").clone()
    }

    /// How many checks there were so far.
    pub fn checks(&self) -> usize {
        self.0.seen.lock().expect("no panic").len()
    }

    /// Forgets what it has seen.
    pub fn forget(&self) {
        self.0.seen.lock().expect("no panic").clear();
        self.0.most.store(0, SeqCst);
    }

    /// How many checks ran at once, at most.
    pub fn most_at_once(&self) -> usize {
        self.0.most.load(SeqCst)
    }
}

impl SubscriptionAuthorizer for Guard {
    async fn authorize(&self, check: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        struct Running<'g>(&'g AtomicUsize);
        impl Drop for Running<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        let selection = check.selection();
        let lists = [(selection.tools(), "t"), (selection.prompts(), "p"), (selection.resources(), "r")];
        let lists: String =
            lists.into_iter().filter_map(|(selected, letter)| selected.then_some(letter)).collect();
        let uris = selection.uris().map(ResourceUri::as_str);
        let selected: Vec<&str> =
            std::iter::once(&*lists).filter(|lists| !lists.is_empty()).chain(uris).collect();
        let header = check.headers().and_then(|headers| headers.get("x-evidence"));
        self.0.seen.lock().expect("no panic").push(Seen {
            at: Instant::now(),
            first: check.is_first(),
            caller: check.caller().id().map(str::to_owned),
            selected: selected.join(" "),
            context: check.context(),
            header: header.map(|value| value.to_str().unwrap_or_default().to_owned()),
        });
        let running = self.0.running.fetch_add(1, SeqCst) + 1;
        let _running = Running(&self.0.running);
        self.0.most.fetch_max(running, SeqCst);
        let rule = Arc::clone(&self.0.rule.lock().expect("no panic"));
        let mut verdict = rule(check);
        loop {
            match verdict {
                Verdict::Allow(grant) => return Ok(grant.into()),
                Verdict::Deny => return Ok(Permission::Denied),
                Verdict::Fail => return Err("the database is away".into()),
                Verdict::Panic => panic!("the password is hunter2"),
                Verdict::After(duration, then) => {
                    sleep(duration).await;
                    verdict = *then;
                }
                Verdict::Never => std::future::pending().await,
            }
        }
    }
}

/// Who a client says it is, in the process; over HTTP it is the header `x-caller`.
#[derive(Clone)]
pub struct Named(pub &'static str);

/// What an admission keeps with a caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope(pub &'static str);

/// Believes everybody.
pub struct Trusting;

impl Admission for Trusting {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        let name = request.extension::<Named>().map(|Named(name)| *name);
        let name = name.or_else(|| request.headers().get("x-caller").and_then(|name| name.to_str().ok()));
        let caller = name.map_or_else(Caller::anonymous, Caller::identified);
        Ok(match request.extension::<Scope>() {
            Some(scope) => caller.with(scope.clone()),
            None => caller,
        })
    }
}
