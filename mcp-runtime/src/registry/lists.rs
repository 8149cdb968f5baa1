//! List results, made once: bytes to which only an id is added.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{
    operation::{Common, Prompt, PromptArgument, Resource, ToolHints},
    revised,
    view::{CatalogItem, CatalogView},
};
use crate::protocol::{CacheHint, Cursor, InvalidCursor, ListKind, Revision, Wire, write_string};

/// A list result in pages, for each revision that is served.
#[derive(Clone, Debug)]
pub struct Pages {
    kind: ListKind,
    per_page: usize,
    /// What the items are called: names or URIs.
    keys: Vec<Box<str>>,
    /// Newest first.
    forms: Vec<Form>,
}

/// A list as one revision has it.
#[derive(Clone, Debug)]
struct Form {
    wire: Arc<Wire>,
    pages: Vec<Bytes>,
    /// The JSON of the items, for those who see only some of them. Revisions that agree on all of them share it.
    items: Arc<[Box<str>]>,
}

impl Pages {
    /// Splits `items` into pages, and writes the result object of each, in all forms, newest first.
    pub(super) fn new(
        kind: ListKind,
        items: Vec<Value>,
        per_page: usize,
        cache: CacheHint,
        wires: &[Arc<Wire>],
    ) -> Self {
        let keys = items.iter().map(|item| key(kind, item)).collect();
        let forms = Vec::with_capacity(wires.len());
        let mut pages = Self { kind, per_page: per_page.max(1), keys, forms };
        let mut items = items;
        for wire in wires {
            items.iter_mut().for_each(|item| revised::item(item, wire.revision()));
            pages.add_form(wire, &items, cache);
        }
        pages
    }

    fn add_form(&mut self, wire: &Arc<Wire>, items: &[Value], cache: CacheHint) {
        let items: Arc<[Box<str>]> = items.iter().map(|item| item.to_string().into()).collect();
        let items = match self.forms.last() {
            Some(newer) if newer.items == items => Arc::clone(&newer.items),
            _ => items,
        };
        let mut pages = Vec::new();
        // An empty list has one page as well.
        for start in (0..items.len().max(1)).step_by(self.per_page) {
            let end = items.len().min(start + self.per_page);
            let next = (end < items.len()).then(|| Cursor::encode(end, self.kind));
            pages.push(self.write(wire, items[start..end].iter(), next.as_deref(), cache));
        }
        self.forms.push(Form { wire: Arc::clone(wire), pages, items });
    }

    /// The page that a cursor asks for; the first one without.
    ///
    /// # Errors
    /// [`InvalidCursor`] for what is no cursor of this list, or points behind its end.
    pub(crate) fn page(&self, revision: Revision, cursor: Option<&str>) -> Result<&Bytes, InvalidCursor> {
        let position = cursor.map_or(Ok(0), |cursor| Cursor::decode(cursor, self.kind))?;
        if position % self.per_page != 0 {
            return Err(InvalidCursor);
        }
        self.form(revision)?.pages.get(position / self.per_page).ok_or(InvalidCursor)
    }

    /// The page that a cursor asks for, of what somebody sees. A cursor counts what is hidden, too, so that it stays
    /// true when a view changes.
    ///
    /// # Errors
    /// As [`page`](Self::page).
    pub(crate) fn page_for(
        &self,
        revision: Revision,
        view: &CatalogView,
        cursor: Option<&str>,
    ) -> Result<Bytes, InvalidCursor> {
        let start = cursor.map_or(Ok(0), |cursor| Cursor::decode(cursor, self.kind))?;
        if cursor.is_some() && start >= self.keys.len() {
            return Err(InvalidCursor);
        }
        let Form { wire, items, .. } = self.form(revision)?;
        let mut seen = (start..items.len()).filter(|&at| self.is_in(view, at));
        let listed: Vec<&Box<str>> = seen.by_ref().take(self.per_page).map(|at| &items[at]).collect();
        let next = seen.next().map(|at| Cursor::encode(at, self.kind));
        Ok(self.write(wire, listed.into_iter(), next.as_deref(), CacheHint::default()))
    }

    /// A short form of what somebody sees of it. The newest form tells most.
    pub(super) fn digest(&self, view: &CatalogView, state: &mut impl Hasher) {
        let items = self.forms.first().into_iter().flat_map(|form| form.items.iter().enumerate());
        for (_, json) in items.filter(|&(at, _)| self.is_in(view, at)) {
            json.hash(state);
        }
    }

    /// Requests of a revision that is not served were refused.
    fn form(&self, revision: Revision) -> Result<&Form, InvalidCursor> {
        self.forms.iter().find(|form| form.wire.revision() == revision).ok_or(InvalidCursor)
    }

    fn is_in(&self, view: &CatalogView, at: usize) -> bool {
        let Some(key) = self.keys.get(at) else { return false };
        view.has(match self.kind {
            ListKind::Tools => CatalogItem::Tool(key),
            ListKind::Prompts => CatalogItem::Prompt(key),
            ListKind::Resources | ListKind::ResourceTemplates => CatalogItem::Resource(key),
        })
    }

    fn write<'i>(
        &self,
        wire: &Wire,
        items: impl Iterator<Item = &'i Box<str>>,
        next: Option<&str>,
        cache: CacheHint,
    ) -> Bytes {
        let mut out = Vec::new();
        write_list(&mut out, wire, member(self.kind), next, cache, |out| {
            for (at, item) in items.enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(item.as_bytes());
            }
        });
        out.into()
    }
}

/// What an item is called.
fn key(kind: ListKind, item: &Value) -> Box<str> {
    let key = match kind {
        ListKind::Tools | ListKind::Prompts => "name",
        ListKind::Resources => "uri",
        ListKind::ResourceTemplates => "uriTemplate",
    };
    item.get(key).and_then(Value::as_str).unwrap_or_default().into()
}

const fn member(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Tools => "tools",
        ListKind::Prompts => "prompts",
        ListKind::Resources => "resources",
        ListKind::ResourceTemplates => "resourceTemplates",
    }
}

/// Appends a list result; `items` appends what is listed, with commas between.
pub(crate) fn write_list(
    out: &mut Vec<u8>,
    wire: &Wire,
    member: &str,
    next: Option<&str>,
    cache: CacheHint,
    items: impl FnOnce(&mut Vec<u8>),
) {
    wire.write_result(out, &Map::new(), |out| {
        out.push(b',');
        write_string(out, member);
        out.extend_from_slice(b":[");
        items(out);
        out.push(b']');
        if let Some(next) = next {
            out.extend_from_slice(br#","nextCursor":"#);
            write_string(out, next);
        }
        wire.write_cache(out, cache);
    });
}

/// What all listed items share: name, title, description, icons.
fn base(common: &Common) -> Map<String, Value> {
    let mut item = Map::new();
    item.insert("name".to_owned(), common.name.clone().into());
    set(&mut item, "title", common.title.as_deref());
    set(&mut item, "description", common.description.as_deref());
    if !common.icons.is_empty() {
        item.insert("icons".to_owned(), json!(common.icons));
    }
    item
}

fn set(item: &mut Map<String, Value>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        item.insert(key.to_owned(), value.into());
    }
}

/// A tool, as a list names it.
pub(super) fn tool(common: &Common, hints: ToolHints, input: &Value, output: Option<&Value>) -> Value {
    let mut item = base(common);
    item.insert("inputSchema".to_owned(), input.clone());
    if let Some(output) = output {
        item.insert("outputSchema".to_owned(), output.clone());
    }
    let hints = [
        ("readOnlyHint", hints.read_only),
        ("destructiveHint", hints.destructive),
        ("idempotentHint", hints.idempotent),
        ("openWorldHint", hints.open_world),
    ];
    let hints: Map<String, Value> =
        hints.into_iter().filter_map(|(key, hint)| Some((key.to_owned(), hint?.into()))).collect();
    if !hints.is_empty() {
        item.insert("annotations".to_owned(), hints.into());
    }
    item.into()
}

/// A resource or template, as a list names it.
pub(super) fn resource(resource: &Resource, template: bool) -> Value {
    let mut item = base(&resource.common);
    let key = if template { "uriTemplate" } else { "uri" };
    item.insert(key.to_owned(), resource.uri.clone().into());
    set(&mut item, "mimeType", resource.mime_type.as_deref());
    if let (Some(size), false) = (resource.size, template) {
        item.insert("size".to_owned(), size.into());
    }
    item.into()
}

/// A prompt, as a list names it.
pub(super) fn prompt(prompt: &Prompt) -> Value {
    let mut item = base(&prompt.common);
    if !prompt.arguments.is_empty() {
        let arguments: Vec<Value> = prompt.arguments.iter().map(prompt_argument).collect();
        item.insert("arguments".to_owned(), arguments.into());
    }
    item.into()
}

fn prompt_argument(argument: &PromptArgument) -> Value {
    let mut item = Map::new();
    item.insert("name".to_owned(), argument.name.clone().into());
    set(&mut item, "title", argument.title.as_deref());
    set(&mut item, "description", argument.description.as_deref());
    item.insert("required".to_owned(), argument.required.into());
    item.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(count: usize, per_page: usize) -> Pages {
        let items: Vec<Value> = (0..count).map(|n| json!({ "name": format!("n{n}") })).collect();
        let wires = [Revision::V2026_07_28, Revision::V2025_06_18]
            .map(|revision| Arc::new(Wire::new(revision, r#"{"name":"t","version":"1"}"#)));
        Pages::new(ListKind::Tools, items, per_page, CacheHint::default(), &wires)
    }

    fn walk(pages: &Pages, revision: Revision) -> Vec<String> {
        let (mut names, mut cursor) = (Vec::new(), None);
        loop {
            let page: Value =
                serde_json::from_slice(pages.page(revision, cursor.as_deref()).unwrap()).unwrap();
            let members: Vec<&String> = page
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| *key != "nextCursor" && *key != "tools")
                .collect();
            if revision.is_modern() {
                assert_eq!(page["resultType"], "complete");
                assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(0), &json!("private")));
                assert_eq!(page["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "t");
            } else {
                assert!(members.is_empty(), "{page}");
            }
            names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string()));
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return names;
            }
        }
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_overlap() {
        for (count, per_page) in [(0, 5), (1, 1), (5, 5), (6, 5), (10, 5), (11, 3)] {
            let pages = pages(count, per_page);
            let expected: Vec<String> = (0..count).map(|n| format!("\"n{n}\"")).collect();
            for revision in [Revision::V2026_07_28, Revision::V2025_06_18] {
                assert_eq!(walk(&pages, revision), expected, "{count} in pages of {per_page}");
            }
            assert!(Arc::ptr_eq(&pages.forms[0].items, &pages.forms[1].items), "both have the same items");
        }
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        let pages = pages(10, 5);
        let page = |cursor: Option<&str>| pages.page(Revision::LATEST, cursor);
        assert!(page(Some(&Cursor::encode(5, ListKind::Tools))).is_ok());
        assert!(page(Some(&Cursor::encode(5, ListKind::Prompts))).is_err());
        assert!(page(Some(&Cursor::encode(3, ListKind::Tools))).is_err());
        assert!(page(Some(&Cursor::encode(10, ListKind::Tools))).is_err());
        assert!(page(Some("")).is_err());
    }
}
