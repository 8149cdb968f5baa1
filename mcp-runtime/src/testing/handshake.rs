//! How the client begins in an older revision.

use std::sync::Arc;

use http::Extensions;
use serde_json::{Value, json};
use tokio::{sync::OnceCell, time::Instant};

use super::client::Profile;
use crate::{
    engine::{Channel, Conversation, Engine, Incoming, Reply},
    handler::CancellationToken,
    protocol::{Revision, keys},
    transport::in_process::Exchange,
};

/// Keys of `_meta` that mean something in modern requests only.
const MODERN: [&str; 4] =
    [keys::PROTOCOL_VERSION, keys::CLIENT_INFO, keys::CLIENT_CAPABILITIES, keys::LOG_LEVEL];

/// A conversation with the server; in an older revision it is opened before the first request.
#[derive(Clone, Default)]
pub(super) struct Handshake {
    /// `None` for a modern one.
    revision: Option<Revision>,
    conversation: Arc<Conversation>,
    opened: Arc<OnceCell<()>>,
}

impl Handshake {
    /// A new conversation.
    pub(super) fn new(revision: Revision) -> Self {
        Self { revision: Some(revision).filter(|revision| !revision.is_modern()), ..Self::default() }
    }

    /// A new conversation in the same revision.
    pub(super) fn anew(&self) -> Self {
        Self { revision: self.revision, ..Self::default() }
    }

    /// Whether a key of `_meta` goes with requests.
    pub(super) fn sends(&self, key: &str) -> bool {
        self.revision.is_none() || !MODERN.contains(&key)
    }

    /// Hands a message over, in a conversation that is open.
    pub(super) fn exchange(
        &self,
        engine: Arc<Engine>,
        profile: &Profile,
        method: &str,
        message: &Value,
    ) -> Exchange {
        let (message, extensions) = (message.to_string().into_bytes(), profile.extensions.clone());
        match self.revision {
            None => Exchange::begin(engine, message, extensions, self.conversation.clone()),
            // It opens a conversation itself.
            Some(_) if method == "initialize" => Exchange::begin(engine, message, extensions, Arc::default()),
            Some(revision) => {
                let opening = self.clone().open(revision, Arc::clone(&engine), profile.clone());
                Exchange::begin_after(opening, engine, message, extensions, self.conversation.clone())
            }
        }
    }

    /// Hands bytes over as they are.
    pub(super) fn raw(&self, engine: Arc<Engine>, message: Vec<u8>, extensions: Extensions) -> Exchange {
        Exchange::begin(engine, message, extensions, self.conversation.clone())
    }

    /// Opens the conversation, if it is not open; what the server has against it is the reply to the request.
    async fn open(self, revision: Revision, engine: Arc<Engine>, profile: Profile) -> Option<Reply> {
        let opening = || async {
            let message = initialize(revision, &profile);
            let incoming = Incoming {
                body: message.as_bytes(),
                arrived: Instant::now(),
                token: CancellationToken::new(),
                channel: Channel::Lines {
                    extensions: profile.extensions.clone(),
                    conversation: Arc::clone(&self.conversation),
                },
            };
            let reply = engine.handle(incoming).await;
            let Reply::Answer(answer) = reply else { return Err(reply) };
            match serde_json::from_slice::<Value>(&answer.message) {
                Ok(message) if message.get("error").is_none() => {
                    let agreed = &message["result"]["protocolVersion"];
                    assert_eq!(
                        agreed,
                        revision.as_str(),
                        "the server answers `initialize` with another revision"
                    );
                    Ok(())
                }
                _ => Err(Reply::Answer(answer)),
            }
        };
        self.opened.get_or_try_init(opening).await.err()
    }
}

fn initialize(revision: Revision, profile: &Profile) -> String {
    let said = |key: &str| profile.meta.get(key).cloned().unwrap_or_else(|| json!({}));
    let params = json!({
        "protocolVersion": revision.as_str(),
        "capabilities": said(keys::CLIENT_CAPABILITIES),
        "clientInfo": said(keys::CLIENT_INFO),
    });
    json!({ "jsonrpc": "2.0", "id": "initialize", "method": "initialize", "params": params }).to_string()
}
