//! Sampling: what a server asks the client's model, and what that says (specification: `client/sampling`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::{AudioContent, Content, ImageContent, Role, TextContent};

/// What the client's model is asked: the parameters of `sampling/createMessage`.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// let question = Sampling::new(200).system("Answer in one line.").user("What is the capital of France?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct Sampling {
    messages: Vec<SamplingMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_preferences: Option<ModelPreferences>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<SamplingTool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
}

impl Sampling {
    /// A question without messages yet; the answer has at most `max_tokens`.
    pub fn new(max_tokens: u32) -> Self {
        Self {
            messages: Vec::new(),
            model_preferences: None,
            system_prompt: None,
            temperature: None,
            max_tokens,
            stop_sequences: Vec::new(),
            metadata: Map::new(),
            tools: Vec::new(),
            tool_choice: None,
        }
    }

    /// Adds a message of the user.
    pub fn user(self, content: impl Into<SamplingContent>) -> Self {
        self.message(SamplingMessage::new(Role::User, [content.into()]))
    }

    /// Adds a message of the model.
    pub fn assistant(self, content: impl Into<SamplingContent>) -> Self {
        self.message(SamplingMessage::new(Role::Assistant, [content.into()]))
    }

    /// Adds a message.
    pub fn message(mut self, message: SamplingMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Sets the system prompt. The client may change or ignore it.
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Says which models suit; the client decides.
    pub fn preferences(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }

    /// Sets the temperature; its range is the model's.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text that ends the answer.
    pub fn stop_sequence(mut self, text: impl Into<String>) -> Self {
        self.stop_sequences.push(text.into());
        self
    }

    /// Adds a parameter for the provider of the model.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Adds a tool that the model may call; the calls come back as [`SamplingContent::ToolUse`]. The client must have
    /// declared `sampling.tools`.
    pub fn tool(mut self, tool: SamplingTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Says whether the model must call a tool.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    pub(crate) fn uses_tools(&self) -> bool {
        !self.tools.is_empty() || self.tool_choice.is_some()
    }
}

/// Which models suit a question: priorities from 0 to 1, and names or parts of names in the order of preference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelPreferences {
    /// Names, or parts of names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    /// How much low cost matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// How much speed matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// How much the model's abilities matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
}

/// The name of a model, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelHint {
    /// The name or part.
    pub name: String,
}

/// A tool that only exists for the question it goes with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingTool {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON schema of its arguments: an object.
    pub input_schema: Value,
}

/// Whether the model may, must or must not call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum ToolChoice {
    /// As it decides.
    Auto,
    /// At least once.
    Required,
    /// Never.
    None,
}

/// A message to or from the client's model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    #[serde(with = "one_or_many")]
    pub content: Vec<SamplingContent>,
}

impl SamplingMessage {
    /// A message of several blocks. Results of tools stand alone, in a message of the user.
    pub fn new(role: Role, content: impl IntoIterator<Item = SamplingContent>) -> Self {
        Self { role, content: content.into_iter().collect() }
    }
}

/// A block of a [`SamplingMessage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// A tool that the model calls.
    ToolUse(ToolUse),
    /// What a tool answered.
    ToolResult(ToolAnswer),
}

impl SamplingContent {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent { text: text.into(), annotations: None, meta: Map::new() })
    }
}

impl<T: Into<String>> From<T> for SamplingContent {
    fn from(text: T) -> Self {
        Self::text(text)
    }
}

/// A call of a [`SamplingTool`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// What its answer refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: Map<String, Value>,
}

/// The answer to a [`ToolUse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnswer {
    /// The call that it answers.
    pub tool_use_id: String,
    /// What the tool says.
    pub content: Vec<Content>,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// What the client's model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Sampled {
    /// Who says it: the model, unless the client has it otherwise.
    pub role: Role,
    /// What it says.
    #[serde(with = "one_or_many")]
    pub content: Vec<SamplingContent>,
    /// Which model it was.
    pub model: String,
    /// Why it ended: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or what the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

impl Sampled {
    /// The text of all text blocks, a line break between them.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            SamplingContent::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The tools that the model calls.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|block| match block {
            SamplingContent::ToolUse(call) => Some(call),
            _ => None,
        })
    }
}

/// One block stands for itself, as older revisions want it; several are a list.
mod one_or_many {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::SamplingContent;

    pub(super) fn serialize<S: Serializer>(blocks: &Vec<SamplingContent>, to: S) -> Result<S::Ok, S::Error> {
        match blocks.as_slice() {
            [one] => one.serialize(to),
            many => many.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SamplingContent>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum OneOrMany {
            One(SamplingContent),
            Many(Vec<SamplingContent>),
        }
        Ok(match OneOrMany::deserialize(from)? {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_says_no_more_than_was_set() {
        let plain = Sampling::new(100).user("Hello");
        let text = json!({"type": "text", "text": "Hello"});
        assert_eq!(
            serde_json::to_value(plain).unwrap(),
            json!({"messages": [{"role": "user", "content": text}], "maxTokens": 100})
        );
    }

    #[test]
    fn all_settings_are_on_the_wire_as_specified() {
        let tool = SamplingTool {
            name: "t".to_owned(),
            description: Some("d".to_owned()),
            input_schema: json!({"type": "object"}),
        };
        let preferences = ModelPreferences {
            hints: vec![ModelHint { name: "m".to_owned() }],
            cost_priority: Some(0.5),
            ..ModelPreferences::default()
        };
        let use_of_it = ToolUse { id: "1".to_owned(), name: "t".to_owned(), input: Map::new() };
        let answer =
            ToolAnswer { tool_use_id: "1".to_owned(), content: vec![Content::text("r")], is_error: false };
        let sampling = Sampling::new(5)
            .system("s")
            .user("u")
            .message(SamplingMessage::new(Role::Assistant, ["a".into(), SamplingContent::ToolUse(use_of_it)]))
            .message(SamplingMessage::new(Role::User, [SamplingContent::ToolResult(answer)]))
            .preferences(preferences)
            .temperature(0.25)
            .stop_sequence("!")
            .metadata("k", 1)
            .tool(tool)
            .tool_choice(ToolChoice::Required);
        assert!(sampling.uses_tools());
        assert_eq!(
            serde_json::to_value(sampling).unwrap(),
            json!({
                "messages": [
                    {"role": "user", "content": {"type": "text", "text": "u"}},
                    {"role": "assistant", "content": [
                        {"type": "text", "text": "a"},
                        {"type": "tool_use", "id": "1", "name": "t", "input": {}},
                    ]},
                    {"role": "user", "content":
                        {"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "r"}]}},
                ],
                "modelPreferences": {"hints": [{"name": "m"}], "costPriority": 0.5},
                "systemPrompt": "s", "temperature": 0.25, "maxTokens": 5, "stopSequences": ["!"],
                "metadata": {"k": 1},
                "tools": [{"name": "t", "description": "d", "inputSchema": {"type": "object"}}],
                "toolChoice": {"mode": "required"},
            })
        );
    }

    #[test]
    fn an_answer_is_one_block_or_several() {
        let one: Sampled = serde_json::from_value(json!({
            "role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m", "stopReason": "endTurn",
        }))
        .unwrap();
        assert_eq!((one.text(), one.stop_reason.as_deref()), ("Paris".to_owned(), Some("endTurn")));
        let many: Sampled = serde_json::from_value(json!({
            "role": "assistant", "model": "m",
            "content": [
                {"type": "text", "text": "a"}, {"type": "text", "text": "b"},
                {"type": "tool_use", "id": "1", "name": "t", "input": {"x": 1}},
            ],
        }))
        .unwrap();
        assert_eq!(many.text(), "a\nb");
        assert_eq!(many.tool_uses().next().unwrap().input["x"], 1);
        assert!(
            serde_json::from_value::<Sampled>(json!({"role": "assistant", "content": 5, "model": "m"}))
                .is_err()
        );
    }
}
