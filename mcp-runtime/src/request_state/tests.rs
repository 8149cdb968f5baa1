//! States from round to round, and what is not one.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use proptest::{prelude::*, sample::Index};
use tokio::time::advance;

use super::{
    claims::{Claims, request_digest},
    *,
};
use crate::{
    handler::{Caller, EndpointInfo},
    protocol::{Envelope, RequestId, Revision},
};

const MINUTE: Duration = Duration::from_secs(60);
const PARAMS: &str = r#"{"name":"pay","arguments":{"amount":5,"to":{"name":"Ada","iban":"X1"}}}"#;

/// The parts of a request that a state is bound to.
#[derive(Clone)]
struct Request {
    path: &'static str,
    revision: Revision,
    method: &'static str,
    caller: Caller,
    params: String,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            path: "/mcp",
            revision: Revision::V2026_07_28,
            method: "tools/call",
            caller: Caller::identified("ada"),
            params: PARAMS.to_owned(),
        }
    }
}

impl Request {
    fn with_params(params: &str) -> Self {
        Self { params: params.to_owned(), ..Self::default() }
    }

    fn context(&self) -> StateContext {
        let Self { revision, method, .. } = *self;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{}}}"#, self.params);
        let params = Envelope::parse(body.as_bytes()).unwrap().params;
        let endpoint = EndpointInfo { path: self.path.into(), name: "n".into(), version: "1".into() };
        StateContext::new(Arc::new(endpoint), revision, method, self.caller.clone(), &params)
    }
}

pub(super) fn context() -> StateContext {
    Request::default().context()
}

pub(super) fn key(id: &str, seed: u8) -> StateKey {
    StateKey::new(id, (seed..seed + 32).collect::<Vec<u8>>()).unwrap()
}

pub(super) fn ring() -> KeyRing {
    KeyRing::new(key("a", 1))
}

fn sealer(protector: impl StateProtector) -> StateSealer {
    StateSealer::new(Arc::new(protector), None, StateBounds::default())
}

async fn seal(sealer: &StateSealer, context: &StateContext) -> String {
    sealer.seal(context, &1.into(), None, b"state").await.unwrap()
}

/// The payload, or nothing for what is refused.
async fn open(sealer: &StateSealer, context: &StateContext, sealed: &str) -> Option<Vec<u8>> {
    match take_up(sealer, context, 2, sealed).await {
        Ok(payload) => Some(payload),
        Err(OpenFailure::Refused) => None,
        Err(OpenFailure::Unavailable(error)) => panic!("{error}"),
    }
}

/// Opens a state that came with a request of this id, and uses it up.
async fn take_up(
    sealer: &StateSealer,
    context: &StateContext,
    id: i64,
    sealed: &str,
) -> Result<Vec<u8>, OpenFailure> {
    let opened = sealer.open(context, &id.into(), sealed).await?;
    sealer.consume(opened.id, opened.round).await?;
    Ok(opened.payload)
}

#[tokio::test]
async fn a_state_comes_back_as_it_was() {
    let sealer = sealer(ring());
    for payload in [&b""[..], b"state", &[0; 1000], &[0xff; 40_000]] {
        let sealed = sealer.seal(&context(), &1.into(), None, payload).await.unwrap();
        assert!(sealed.starts_with("mcp1."), "{sealed}");
        assert_eq!(open(&sealer, &context(), &sealed).await.as_deref(), Some(payload));
    }
}

/// Made by another implementation, from the documentation of this room's files.
const VECTOR: &str = "mcp1.AWEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhf-GOTbH8R8AkGZ-PgfUyk8CBniXKqnhUT-Yz5tn4HUqtQ6H7rPeE5HEMwEq2d\
    Q3JUWRLr2UnKzFjiN_xqpE8_VOHzDZBndr0qyjP4mdsFwUdjWswAn6Bn1nSwXLwr0PPYGaJScTP73ZK8uH4m4FrERCrg-GEiXoa5_Nw";

#[test]
fn the_format_stays_as_it_is() {
    let context = context();
    let claims = Claims {
        id: StateId([0xa0; 16]),
        binding: *context.binding(),
        issued: 1_785_240_000_000,
        round: Round { number: 2, expires: 1_785_240_900_000 },
        request: request_digest(&7.into()),
    };
    let opened = ring().open_now(VECTOR, &context).unwrap();
    assert_eq!((Claims::decode(&opened), &opened[Claims::BYTES..]), (Some(claims.clone()), &b"state"[..]));
    let nonce = std::array::from_fn(|index| index as u8);
    let sealed = sealed::seal(&key("a", 1), &nonce, context.binding(), &claims.encode(b"state"));
    assert_eq!(sealed.as_deref(), Some(VECTOR));
    assert_eq!(ring().fingerprint(), "01526a854709e1269d8fff8276b8bbce");
}

#[tokio::test]
async fn equal_states_are_sealed_differently_and_kept_secret() {
    let sealer = sealer(ring());
    let [one, other] = [seal(&sealer, &context()).await, seal(&sealer, &context()).await];
    assert_ne!(one, other);
    let bytes = URL_SAFE_NO_PAD.decode(&one[5..]).unwrap();
    assert!(!bytes.windows(5).any(|window| window == b"state"));
}

#[tokio::test]
async fn what_is_changed_in_any_place_is_refused() {
    let sealer = sealer(ring());
    let context = context();
    let sealed = seal(&sealer, &context).await;
    for at in 0..sealed.len() {
        assert_eq!(open(&sealer, &context, &sealed[..at]).await, None, "the first {at}");
        assert_eq!(open(&sealer, &context, &sealed[at + 1..]).await, None, "all from {at} on");
        for other in ["A", "B", "_", "=", " ", "é", ""] {
            let changed = format!("{}{other}{}", &sealed[..at], &sealed[at + 1..]);
            if changed != sealed {
                assert_eq!(open(&sealer, &context, &changed).await, None, "{changed}");
            }
        }
    }
    for more in ["A", "AA", "AAAA", "=", "\n", " "] {
        assert_eq!(open(&sealer, &context, &format!("{sealed}{more}")).await, None);
        assert_eq!(open(&sealer, &context, &format!("{more}{sealed}")).await, None);
    }
    assert_eq!(open(&sealer, &context, &format!("{sealed}{sealed}")).await, None);
}

/// Every request that differs from the usual one in one thing.
fn others() -> Vec<Request> {
    let usual = Request::default();
    let mut others = vec![
        Request { caller: Caller::anonymous(), ..usual.clone() },
        Request { caller: Caller::identified(""), ..usual.clone() },
        Request { caller: Caller::identified("bob"), ..usual.clone() },
        Request { caller: Caller::identified("anonymous"), ..usual.clone() },
        Request { path: "/mcp2", ..usual.clone() },
        Request { path: "/", ..usual.clone() },
        Request { revision: Revision::V2025_11_25, ..usual.clone() },
        Request { method: "prompts/get", ..usual.clone() },
        Request { method: "resources/read", ..usual },
    ];
    others.extend(
        [
            r#"{"name":"pay2","arguments":{"amount":5,"to":{"name":"Ada","iban":"X1"}}}"#,
            r#"{"name":"pay","arguments":{"amount":6,"to":{"name":"Ada","iban":"X1"}}}"#,
            r#"{"name":"pay","arguments":{"amount":"5","to":{"name":"Ada","iban":"X1"}}}"#,
            r#"{"name":"pay","arguments":{"amount":5,"to":{"name":"Ada","iban":"X2"}}}"#,
            r#"{"name":"pay","arguments":{"amount":5,"to":{"name":"X1","iban":"Ada"}}}"#,
            r#"{"name":"pay","arguments":{"amount":5,"to":{"name":"Ada"}}}"#,
            r#"{"name":"pay","arguments":{"amount":5}}"#,
            r#"{"name":"pay","arguments":{}}"#,
            r#"{"name":"pay","arguments":{"amount":5,"to":{"name":"Ada","iban":"X1"}},"other":1}"#,
            r#"{"uri":"pay","arguments":{"amount":5,"to":{"name":"Ada","iban":"X1"}}}"#,
            "{}",
        ]
        .map(Request::with_params),
    );
    others
}

#[tokio::test]
async fn a_state_is_for_its_own_request_only() {
    let sealer = sealer(ring());
    let mut requests = others();
    requests.push(Request::default());
    for (made, request) in requests.iter().enumerate() {
        let sealed = seal(&sealer, &request.context()).await;
        for (sent, request) in requests.iter().enumerate() {
            let opened = open(&sealer, &request.context(), &sealed).await;
            assert_eq!(opened.is_some(), made == sent, "made for {made}, sent with {sent}");
        }
    }
}

#[tokio::test]
async fn a_request_that_is_written_anew_is_the_same() {
    let sealer = sealer(ring());
    let sealed = seal(&sealer, &context()).await;
    for same in [
        r#"{"arguments":{"to":{"iban":"X1","name":"Ada"},"amount":5},"name":"pay"}"#,
        "{ \"name\" : \"p\\u0061y\", \"arguments\" : { \"amount\" : 5.0, \"to\" : {\"name\":\"Ada\",\"iban\":\"X1\"} } }",
        r#"{"name":"pay","arguments":{"amount":0.5e1,"to":{"name":"Ada","iban":"X1"}},"_meta":{"a":1},
            "requestState":"s","inputResponses":{"q":{"action":"accept"}}}"#,
    ] {
        let context = Request::with_params(same).context();
        assert_eq!(open(&sealer, &context, &sealed).await.as_deref(), Some(&b"state"[..]), "{same}");
    }
    let evidence = Request { caller: Caller::identified("ada").with(7_u8), ..Request::default() };
    assert!(open(&sealer, &evidence.context(), &sealed).await.is_some(), "an identity is what counts");
}

#[tokio::test]
async fn a_retry_has_an_id_of_its_own() {
    let sealer = sealer(ring());
    let context = context();
    for (emitting, retry, accepted) in [
        ("1", "1", false),
        ("1", "2", true),
        ("1", r#""1""#, true),
        (r#""1""#, "1", true),
        (r#""1""#, r#""\u0031""#, false),
        ("123456789012345678901234567890", "123456789012345678901234567890", false),
        ("123456789012345678901234567890", "123456789012345678901234567891", true),
    ] {
        let id = |json| RequestId::from_json(json).unwrap();
        let sealed = sealer.seal(&context, &id(emitting), None, b"state").await.unwrap();
        let opened = sealer.open(&context, &id(retry), &sealed).await;
        assert_eq!(opened.is_ok(), accepted, "{emitting}, then {retry}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_expires_and_later_rounds_with_it() {
    let sealer = sealer(ring());
    let context = context();
    let first = seal(&sealer, &context).await;
    advance(14 * MINUTE).await;
    let round = sealer.open(&context, &2.into(), &first).await.unwrap().round;
    let second = sealer.seal(&context, &2.into(), Some(round), b"more").await.unwrap();
    assert!(sealer.open(&context, &3.into(), &second).await.is_ok());
    advance(2 * MINUTE).await;
    assert_eq!(open(&sealer, &context, &first).await, None);
    assert!(matches!(sealer.open(&context, &3.into(), &second).await, Err(OpenFailure::Refused)));
    // What took too long is sealed all the same; it is of no use.
    let third = sealer.seal(&context, &3.into(), Some(round), b"late").await.unwrap();
    advance(MINUTE).await;
    assert!(matches!(sealer.open(&context, &4.into(), &third).await, Err(OpenFailure::Refused)));
}

#[tokio::test(start_paused = true)]
async fn a_lifetime_without_an_end_has_none() {
    let bounds = StateBounds { lifetime: Duration::MAX, ..StateBounds::default() };
    let sealer = StateSealer::new(Arc::new(ring()), None, bounds);
    let sealed = seal(&sealer, &context()).await;
    advance(1_000_000 * MINUTE).await;
    assert!(open(&sealer, &context(), &sealed).await.is_some());
}

#[tokio::test]
async fn rounds_are_counted() {
    let bounds = StateBounds { rounds: 3, ..StateBounds::default() };
    let protector = Arc::new(ring());
    let sealer = StateSealer::new(Arc::clone(&protector) as Arc<dyn DynStateProtector>, None, bounds);
    let strict = StateSealer::new(protector, None, StateBounds { rounds: 2, ..bounds });
    let context = context();
    let mut round = None;
    for id in 1..=3_i64 {
        let sealed = sealer.seal(&context, &id.into(), round, b"state").await.unwrap();
        assert_eq!(strict.open(&context, &(id + 1).into(), &sealed).await.is_ok(), id <= 2);
        round = Some(sealer.open(&context, &(id + 1).into(), &sealed).await.unwrap().round);
    }
    let failure = sealer.seal(&context, &4.into(), round, b"state").await.unwrap_err();
    assert!(matches!(failure, SealFailure::TooManyRounds { most: 3 }), "{failure}");
}

#[tokio::test]
async fn sizes_are_bounded() {
    let bounds = StateBounds { sealed_bytes: 1000, ..StateBounds::default() };
    let sealer = StateSealer::new(Arc::new(ring()), None, bounds);
    let context = context();
    let failure = |payload: usize| {
        let payload = vec![b'x'; payload];
        let (sealer, context) = (&sealer, &context);
        async move { sealer.seal(context, &1.into(), None, &payload).await.err() }
    };
    // 5 bytes of the prefix, and 4 characters for 3 of: key's id, nonce, tag, claims, payload.
    let most = (1000 - 5) / 4 * 3 - (1 + 1 + 24 + 16) - Claims::BYTES;
    assert!(failure(most).await.is_none());
    for payload in [most + 3, 1000, 1001, 1_000_000] {
        let failure = failure(payload).await;
        assert!(
            matches!(failure, Some(SealFailure::TooLarge { bytes: 1001.., most: 1000 })),
            "{payload}: {failure:?}"
        );
    }
    // A text that is too long never reaches the protector.
    let sealer = StateSealer::new(Arc::new(Lying(Vec::new())), None, bounds);
    assert!(matches!(sealer.open(&context, &2.into(), &"x".repeat(1001)).await, Err(OpenFailure::Refused)));
}

/// Opens every text, to the bytes that it was told.
struct Lying(Vec<u8>);

impl StateProtector for Lying {
    async fn seal(&self, state: &[u8], _: &StateContext) -> Result<String, ProtectorError> {
        Ok(URL_SAFE_NO_PAD.encode(state))
    }

    async fn open(&self, sealed: &str, _: &StateContext) -> Result<Vec<u8>, ProtectorError> {
        assert!(sealed.len() <= 1000);
        if self.0.is_empty() {
            return Ok(URL_SAFE_NO_PAD.decode(sealed).unwrap());
        }
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn a_protector_that_makes_no_use_of_the_context_is_bound_by_it() {
    let honest = sealer(Lying(Vec::new()));
    let usual = context();
    let sealed = seal(&honest, &usual).await;
    assert!(open(&honest, &usual, &sealed).await.is_some());
    for other in others() {
        assert_eq!(open(&honest, &other.context(), &sealed).await, None);
        // The state of another request in the place of this one's.
        let swapped = URL_SAFE_NO_PAD.decode(seal(&honest, &other.context()).await).unwrap();
        assert_eq!(open(&sealer(Lying(swapped)), &usual, &sealed).await, None);
    }
    let claims = URL_SAFE_NO_PAD.decode(&sealed).unwrap();
    for length in 1..Claims::BYTES {
        assert_eq!(open(&sealer(Lying(claims[..length].to_vec())), &usual, &sealed).await, None, "{length}");
    }
}

/// Can't be reached, or refuses everything.
struct Failing(fn() -> ProtectorError);

impl StateProtector for Failing {
    async fn seal(&self, _: &[u8], _: &StateContext) -> Result<String, ProtectorError> {
        Err(self.0())
    }

    async fn open(&self, _: &str, _: &StateContext) -> Result<Vec<u8>, ProtectorError> {
        Err(self.0())
    }
}

impl SingleUse for Failing {
    async fn consume(&self, _: &StateId, _: SystemTime) -> Result<bool, ProtectorError> {
        Err(self.0())
    }
}

#[tokio::test]
async fn a_protector_that_is_away_is_no_refusal() {
    let away = sealer(Failing(|| ProtectorError::Unavailable("away".into())));
    let context = context();
    let failure = away.seal(&context, &1.into(), None, b"state").await.unwrap_err();
    assert!(matches!(&failure, SealFailure::Unavailable(error) if error.to_string() == "away"));
    assert_eq!(failure.to_string(), "the state can't be sealed: away");
    let failure = away.open(&context, &2.into(), "x").await.unwrap_err();
    assert!(matches!(&failure, OpenFailure::Unavailable(error) if error.to_string() == "away"));
    assert_eq!(failure.to_string(), "the state can't be opened: away");
    let refusing = sealer(Failing(|| ProtectorError::Refused));
    assert!(matches!(
        refusing.seal(&context, &1.into(), None, b"state").await,
        Err(SealFailure::Unavailable(_))
    ));
    assert_eq!(open(&refusing, &context, "x").await, None);
}

#[tokio::test]
async fn a_state_may_be_used_once_where_that_matters() {
    let once = |single_use| StateSealer::new(Arc::new(ring()), Some(single_use), StateBounds::default());
    let often = sealer(ring());
    let sealer = once(Arc::new(InMemorySingleUse::new(2)));
    let context = context();
    let [one, two, three] =
        [seal(&sealer, &context).await, seal(&sealer, &context).await, seal(&sealer, &context).await];
    // What is refused for another reason is not used up.
    assert_eq!(open(&sealer, &Request::with_params("{}").context(), &one).await, None);
    assert!(matches!(take_up(&sealer, &context, 1, &one).await, Err(OpenFailure::Refused)));
    assert!(open(&sealer, &context, &one).await.is_some());
    assert_eq!(open(&sealer, &context, &one).await, None);
    assert!(open(&sealer, &context, &two).await.is_some());
    assert_eq!(open(&sealer, &context, &two).await, None);
    assert!(matches!(take_up(&sealer, &context, 2, &three).await, Err(OpenFailure::Unavailable(_))));
    for _ in 0..3 {
        assert!(open(&often, &context, &one).await.is_some());
    }
    let away = once(Arc::new(Failing(|| ProtectorError::Unavailable("away".into()))));
    assert!(matches!(take_up(&away, &context, 2, &one).await, Err(OpenFailure::Unavailable(_))));
}

#[tokio::test]
async fn a_key_opens_from_its_staging_to_its_retirement() {
    let (ours, theirs) = (ring(), ring());
    let states = [&ours, &theirs].map(|ring| sealer(ring.clone()));
    let context = context();
    let old = seal(&states[0], &context).await;
    assert_eq!(ours.stage(key("b", 2)), Ok(true));
    assert_ne!(ours.fingerprint(), theirs.fingerprint());
    assert_eq!(theirs.stage(key("b", 2)), Ok(true));
    assert_eq!(ours.fingerprint(), theirs.fingerprint());
    assert_eq!(ours.activate("b"), Ok(true));
    assert_eq!(ours.fingerprint(), theirs.fingerprint(), "whichever is active");
    let new = seal(&states[0], &context).await;
    for sealer in &states {
        assert!(open(sealer, &context, &old).await.is_some());
        assert!(open(sealer, &context, &new).await.is_some());
    }
    assert_eq!(ours.retire("a"), Ok(true));
    assert_eq!(open(&states[0], &context, &old).await, None);
    assert!(open(&states[0], &context, &new).await.is_some());
    // A ring with an equal id and another key, and one with neither.
    for foreign in [key("b", 3), key("c", 2)] {
        assert_eq!(open(&sealer(KeyRing::new(foreign)), &context, &new).await, None);
    }
}

#[tokio::test]
async fn a_ring_for_development_has_a_key_of_its_own() {
    let [one, other] = [KeyRing::development().unwrap(), KeyRing::development().unwrap()];
    assert!(one.is_development() && one.clone().is_development() && !ring().is_development());
    let sealed = seal(&sealer(one.clone()), &context()).await;
    assert!(open(&sealer(one), &context(), &sealed).await.is_some());
    assert_eq!(open(&sealer(other), &context(), &sealed).await, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_state_that_is_tampered_with_at_random_is_refused(
        payload: Vec<u8>,
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        cut: Option<Index>,
    ) {
        let ring = ring();
        let context = context();
        let sealed = ring.seal_now(&payload, &context).unwrap();
        let mut bytes = URL_SAFE_NO_PAD.decode(&sealed[5..]).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let changed = format!("mcp1.{}", URL_SAFE_NO_PAD.encode(&bytes));
        prop_assert_eq!(ring.open_now(&changed, &context).is_ok(), changed == sealed);
    }
}
