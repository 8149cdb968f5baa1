//! One pass of a handler that may ask: what it has asked, what is answered, and what it keeps for the next pass.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::channel::Reachable;
use crate::protocol::{Capabilities, InputRequest, ProtocolError};

/// The most that one pass may ask for: a person has to answer it all.
const MOST_ASKS: usize = 32;
/// The longest key, in bytes.
const LONGEST_KEY: usize = 128;

/// How the client of an invocation is asked.
pub(crate) enum Mode {
    /// It can't be.
    Never,
    /// In rounds, with a state that the framework seals.
    Rounds,
    /// In rounds, with a state of the application's own; `None` on the first.
    OwnState(Option<Box<str>>),
    /// At once, while the handler waits.
    Live(Reachable),
}

/// What a handler and whoever runs it share about asking.
pub(crate) struct Asking {
    mode: Mode,
    pass: Mutex<Pass>,
}

#[derive(Default)]
struct Pass {
    round: u32,
    memory: Memory,
    /// What came with the request: answers to what the last round asked.
    fresh: BTreeMap<String, Box<RawValue>>,
    /// The keys of this pass.
    seen: HashSet<String>,
    asked: Vec<(String, InputRequest)>,
    own_state: Option<String>,
    /// Why the handler can't go on, if it is not for want of an answer.
    failure: Option<Failure>,
    driver: Option<Waker>,
}

/// What is sealed between two rounds.
///
/// An answer belongs to the question that was asked: when the question of a key has changed, it is asked again.
#[derive(Default, Serialize, Deserialize)]
struct Memory {
    /// What the last round asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    asked: BTreeMap<String, QuestionDigest>,
    /// The answers of earlier rounds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    answered: BTreeMap<String, Answered>,
    /// What the handler keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Box<RawValue>>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Answered {
    question: QuestionDigest,
    answer: Box<RawValue>,
}

/// Tells questions apart.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct QuestionDigest(String);

impl QuestionDigest {
    fn of(request: &InputRequest) -> Self {
        let mut text = Vec::new();
        request.write_json(&mut text);
        let digest = Sha256::digest(&text);
        // Half of it tells apart what one handler asks.
        Self(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }
}

/// What an ask needs of its client.
#[derive(Clone, Copy)]
pub(super) struct Needed {
    pub(super) all: Capabilities,
    /// What the client did not declare.
    pub(super) missing: Capabilities,
}

enum Failure {
    Missing(Capabilities),
    Unreachable(Capabilities),
    Broken(String),
    Answered(ProtocolError),
}

/// Why a handler does not go on.
pub(crate) enum Suspension {
    /// The client has to answer first.
    Asks { requests: Vec<(String, InputRequest)>, state: NextState },
    /// The client lacks what it was asked for.
    Missing(Capabilities),
    /// There is no way to ask the client for this.
    Unreachable(Capabilities),
    /// The handler broke a rule of asking.
    Broken(String),
    /// The client refused.
    Refused(ProtocolError),
}

/// What the client sends back with its answers.
pub(crate) enum NextState {
    /// To be sealed.
    Sealed(Vec<u8>),
    /// The application's own, as it is.
    Own(Option<String>),
}

/// What is to be done about an ask.
pub(super) enum Begun {
    /// There is an answer; if it can be read, it counts.
    Answer(Box<RawValue>),
    /// The client is asked at once.
    Ask(Reachable),
    /// Whoever runs the handler takes over.
    Suspended,
}

impl Asking {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, pass: Mutex::default() }
    }

    /// Takes what an earlier round left, and the answers of this one. `false` if it is not what was kept.
    pub(crate) fn resume(
        &self,
        round: u32,
        memory: &[u8],
        responses: BTreeMap<String, Box<RawValue>>,
    ) -> bool {
        let Ok(memory) = serde_json::from_slice(memory) else { return false };
        let mut pass = self.lock();
        pass.round = round;
        pass.memory = memory;
        pass.fresh = responses;
        true
    }

    /// Takes the answers of a client whose state is the application's own.
    pub(crate) fn resume_own(&self, responses: BTreeMap<String, Box<RawValue>>) {
        let mut pass = self.lock();
        pass.round = 1;
        pass.fresh = responses;
    }

    /// Ready once the handler can't go on.
    pub(crate) fn poll_suspended(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut pass = self.lock();
        if pass.is_suspended() {
            return Poll::Ready(());
        }
        if !pass.driver.as_ref().is_some_and(|driver| driver.will_wake(cx.waker())) {
            pass.driver = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Why the handler can't go on; once it has been dropped.
    pub(crate) fn suspension(&self) -> Suspension {
        let mut pass = self.lock();
        match pass.failure.take() {
            Some(Failure::Broken(why)) => return Suspension::Broken(why),
            Some(Failure::Missing(capabilities)) => return Suspension::Missing(capabilities),
            Some(Failure::Unreachable(capabilities)) => return Suspension::Unreachable(capabilities),
            Some(Failure::Answered(error)) => return Suspension::Refused(error),
            None => {}
        }
        let requests = std::mem::take(&mut pass.asked);
        if let Mode::OwnState(_) = self.mode {
            return Suspension::Asks { requests, state: NextState::Own(pass.own_state.take()) };
        }
        let mut memory = std::mem::take(&mut pass.memory);
        // Answers that the handler did not get to are not asked for twice.
        for (key, answer) in std::mem::take(&mut pass.fresh) {
            if let Some(question) = memory.asked.remove(&key) {
                memory.answered.insert(key, Answered { question, answer });
            }
        }
        memory.asked =
            requests.iter().map(|(key, request)| (key.clone(), QuestionDigest::of(request))).collect();
        match serde_json::to_vec(&memory) {
            Ok(state) => Suspension::Asks { requests, state: NextState::Sealed(state) },
            Err(error) => Suspension::Broken(error.to_string()),
        }
    }

    /// Begins an ask.
    pub(super) fn begin(&self, key: &str, request: &InputRequest, needs: Needed) -> Begun {
        self.step(|pass| pass.begin(key, request, needs, &self.mode))
    }

    /// Asks again, because the answer could not be read.
    pub(super) fn again(&self, key: &str, request: &InputRequest, needs: Needed) -> Begun {
        self.step(|pass| {
            pass.memory.answered.remove(key);
            pass.ask(key, request, needs, &self.mode)
        })
    }

    /// The client answered an ask with an error.
    pub(super) fn refused(&self, error: ProtocolError) {
        self.step(|pass| pass.fail(Failure::Answered(error)));
    }

    /// A rule of asking was broken.
    pub(super) fn broken(&self, why: String) {
        self.step(|pass| pass.fail(Failure::Broken(why)));
    }

    /// Does what may suspend the handler, and wakes whoever runs it then: the ask may come from a task of its own.
    fn step<T>(&self, step: impl FnOnce(&mut Pass) -> T) -> T {
        let (outcome, driver) = {
            let mut pass = self.lock();
            let outcome = step(&mut pass);
            let suspended = pass.is_suspended();
            (outcome, pass.driver.take_if(|_| suspended))
        };
        if let Some(driver) = driver {
            driver.wake();
        }
        outcome
    }

    /// Forgets the answer of a key.
    pub(super) fn discard(&self, key: &str) {
        let mut pass = self.lock();
        pass.seen.remove(key);
        pass.memory.answered.remove(key);
        pass.memory.asked.remove(key);
        pass.fresh.remove(key);
    }

    pub(super) fn keep(&self, value: Box<RawValue>) {
        if let Mode::OwnState(_) = self.mode {
            return self.broken("`keep` needs a state of the framework's: take no `RequestState`".to_owned());
        }
        self.lock().memory.kept = Some(value);
    }

    pub(super) fn kept(&self) -> Option<Box<RawValue>> {
        self.lock().memory.kept.clone()
    }

    pub(super) fn round(&self) -> u32 {
        self.lock().round
    }

    pub(super) fn own_state(&self) -> Option<&str> {
        match &self.mode {
            Mode::OwnState(state) => state.as_deref(),
            _ => None,
        }
    }

    pub(super) fn set_own_state(&self, state: String) {
        self.lock().own_state = Some(state);
    }

    fn lock(&self) -> MutexGuard<'_, Pass> {
        self.pass.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    fn is_suspended(&self) -> bool {
        self.failure.is_some() || !self.asked.is_empty()
    }

    fn begin(&mut self, key: &str, request: &InputRequest, needs: Needed, mode: &Mode) -> Begun {
        if key.is_empty() || key.len() > LONGEST_KEY {
            let why = format!("the key of an ask has 1 to {LONGEST_KEY} bytes: {key:?}");
            return self.fail(Failure::Broken(why));
        }
        if !self.seen.insert(key.to_owned()) {
            let advice = "give each ask a key of its own, or call `discard` before asking again";
            return self.fail(Failure::Broken(format!("asked twice under the key {key:?}: {advice}")));
        }
        match self.answer(key, request, mode) {
            Some(answer) => Begun::Answer(answer),
            None => self.ask(key, request, needs, mode),
        }
    }

    /// The answer of a key, if there is one to this very question.
    fn answer(&mut self, key: &str, request: &InputRequest, mode: &Mode) -> Option<Box<RawValue>> {
        match mode {
            Mode::Never | Mode::Live(_) => None,
            // What was asked is for the application to know.
            Mode::OwnState(_) => self.fresh.get(key).cloned(),
            Mode::Rounds => {
                let question = QuestionDigest::of(request);
                if self.memory.asked.get(key) == Some(&question)
                    && let Some(answer) = self.fresh.remove(key)
                {
                    let answered = Answered { question, answer: answer.clone() };
                    self.memory.answered.insert(key.to_owned(), answered);
                    return Some(answer);
                }
                if self.memory.asked.get(key).is_some_and(|asked| *asked != question) {
                    tracing::warn!(
                        key,
                        "the question is not the one that was asked: its answer does not count, and it is asked again"
                    );
                }
                let earlier = self.memory.answered.get(key).filter(|earlier| earlier.question == question)?;
                Some(earlier.answer.clone())
            }
        }
    }

    fn ask(&mut self, key: &str, request: &InputRequest, needs: Needed, mode: &Mode) -> Begun {
        match (mode, &mut self.failure) {
            (Mode::Never, Some(Failure::Unreachable(all))) => *all = all.and(needs.all),
            (Mode::Never, _) => return self.fail(Failure::Unreachable(needs.all)),
            (_, Some(Failure::Missing(all))) => *all = all.and(needs.missing),
            _ if !needs.missing.is_empty() => return self.fail(Failure::Missing(needs.missing)),
            _ => {}
        }
        match mode {
            Mode::Rounds | Mode::OwnState(_) if needs.missing.is_empty() => {}
            Mode::Live(client) if needs.missing.is_empty() => return Begun::Ask(client.clone()),
            _ => return Begun::Suspended,
        }
        // What was discarded after it was asked in this very pass.
        self.asked.retain(|(asked, _)| asked != key);
        if self.asked.len() == MOST_ASKS {
            return self.fail(Failure::Broken(format!("asked more than {MOST_ASKS} questions at once")));
        }
        self.asked.push((key.to_owned(), request.clone()));
        Begun::Suspended
    }

    /// The first failure stays, unless a rule was broken.
    fn fail(&mut self, failure: Failure) -> Begun {
        if self.failure.is_none() || matches!(failure, Failure::Broken(_)) {
            self.failure = Some(failure);
        }
        Begun::Suspended
    }
}
