//! List results, made once: bytes to which only an id is added.

use std::hash::{Hash, Hasher};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{
    operation::{Common, Prompt, PromptArgument, Resource, ToolHints},
    view::{CatalogItem, CatalogView},
};
use crate::protocol::{CacheHint, Cursor, InvalidCursor, ListKind, write_string};

/// A list result in pages.
#[derive(Clone, Debug)]
pub struct Pages {
    kind: ListKind,
    per_page: usize,
    pages: Vec<Bytes>,
    /// The items, for those who see only some of them.
    items: Vec<Item>,
    server_info: Box<str>,
}

/// What is listed: its name or URI, and its JSON.
#[derive(Clone, Debug)]
struct Item {
    key: Box<str>,
    json: Box<str>,
}

impl Pages {
    /// Splits `items` into pages, and writes the result object of each.
    pub(super) fn new(
        kind: ListKind,
        items: &[Value],
        per_page: usize,
        cache: CacheHint,
        server_info: &str,
    ) -> Self {
        let per_page = per_page.max(1);
        let items: Vec<Item> = items.iter().map(|item| Item::new(kind, item)).collect();
        let mut pages: Vec<Bytes> = Vec::new();
        // An empty list has one page as well.
        for start in (0..items.len().max(1)).step_by(per_page) {
            let end = items.len().min(start + per_page);
            let next = (end < items.len()).then(|| Cursor::encode(end, kind));
            let listed = items[start..end].iter();
            pages.push(page(member(kind), listed, next.as_deref(), cache, server_info));
        }
        Self { kind, per_page, pages, items, server_info: server_info.into() }
    }

    /// The page that a cursor asks for; the first one without.
    ///
    /// # Errors
    /// [`InvalidCursor`] for what is no cursor of this list, or points behind its end.
    pub fn page(&self, cursor: Option<&str>) -> Result<&Bytes, InvalidCursor> {
        let position = cursor.map_or(Ok(0), |cursor| Cursor::decode(cursor, self.kind))?;
        if position % self.per_page != 0 {
            return Err(InvalidCursor);
        }
        self.pages.get(position / self.per_page).ok_or(InvalidCursor)
    }

    /// The page that a cursor asks for, of what somebody sees. A cursor counts what is hidden, too, so that it stays
    /// true when a view changes.
    ///
    /// # Errors
    /// As [`page`](Self::page).
    pub(crate) fn page_for(&self, view: &CatalogView, cursor: Option<&str>) -> Result<Bytes, InvalidCursor> {
        let start = cursor.map_or(Ok(0), |cursor| Cursor::decode(cursor, self.kind))?;
        if cursor.is_some() && start >= self.items.len() {
            return Err(InvalidCursor);
        }
        let mut seen = (start..).zip(&self.items[start..]).filter(|(_, item)| item.is_in(view, self.kind));
        let listed: Vec<&Item> = seen.by_ref().take(self.per_page).map(|(_, item)| item).collect();
        let next = seen.next().map(|(at, _)| Cursor::encode(at, self.kind));
        let (member, listed) = (member(self.kind), listed.into_iter());
        Ok(page(member, listed, next.as_deref(), CacheHint::default(), &self.server_info))
    }

    /// A short form of what somebody sees of it.
    pub(super) fn digest(&self, view: &CatalogView, state: &mut impl Hasher) {
        for item in self.items.iter().filter(|item| item.is_in(view, self.kind)) {
            item.json.hash(state);
        }
    }
}

impl Item {
    fn new(kind: ListKind, item: &Value) -> Self {
        let key = match kind {
            ListKind::Tools | ListKind::Prompts => "name",
            ListKind::Resources => "uri",
            ListKind::ResourceTemplates => "uriTemplate",
        };
        let key = item.get(key).and_then(Value::as_str).unwrap_or_default();
        Self { key: key.into(), json: item.to_string().into() }
    }

    fn is_in(&self, view: &CatalogView, kind: ListKind) -> bool {
        view.has(match kind {
            ListKind::Tools => CatalogItem::Tool(&self.key),
            ListKind::Prompts => CatalogItem::Prompt(&self.key),
            ListKind::Resources | ListKind::ResourceTemplates => CatalogItem::Resource(&self.key),
        })
    }
}

const fn member(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Tools => "tools",
        ListKind::Prompts => "prompts",
        ListKind::Resources => "resources",
        ListKind::ResourceTemplates => "resourceTemplates",
    }
}

fn page<'i>(
    member: &str,
    items: impl Iterator<Item = &'i Item>,
    next: Option<&str>,
    cache: CacheHint,
    server_info: &str,
) -> Bytes {
    let mut out = Vec::new();
    out.extend_from_slice(br#"{"resultType":"complete","#);
    write_string(&mut out, member);
    out.extend_from_slice(b":[");
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item.json.as_bytes());
    }
    out.push(b']');
    write_list_end(&mut out, next, cache, server_info);
    out.into()
}

/// What follows the items of a list result: the next page, the caching hints, the server's name.
pub(crate) fn write_list_end(out: &mut Vec<u8>, next: Option<&str>, cache: CacheHint, server_info: &str) {
    if let Some(next) = next {
        out.extend_from_slice(br#","nextCursor":"#);
        write_string(out, next);
    }
    cache.write_members(out);
    out.extend_from_slice(br#","_meta":{"io.modelcontextprotocol/serverInfo":"#);
    out.extend_from_slice(server_info.as_bytes());
    out.extend_from_slice(b"}}");
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
        Pages::new(ListKind::Tools, &items, per_page, CacheHint::default(), r#"{"name":"t","version":"1"}"#)
    }

    fn walk(pages: &Pages) -> Vec<String> {
        let (mut names, mut cursor) = (Vec::new(), None);
        loop {
            let page: Value = serde_json::from_slice(pages.page(cursor.as_deref()).unwrap()).unwrap();
            assert_eq!(page["resultType"], "complete");
            assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(0), &json!("private")));
            assert_eq!(page["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "t");
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
            let names = walk(&pages(count, per_page));
            let expected: Vec<String> = (0..count).map(|n| format!("\"n{n}\"")).collect();
            assert_eq!(names, expected, "{count} in pages of {per_page}");
        }
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        let pages = pages(10, 5);
        assert!(pages.page(Some(&Cursor::encode(5, ListKind::Tools))).is_ok());
        assert!(pages.page(Some(&Cursor::encode(5, ListKind::Prompts))).is_err());
        assert!(pages.page(Some(&Cursor::encode(3, ListKind::Tools))).is_err());
        assert!(pages.page(Some(&Cursor::encode(10, ListKind::Tools))).is_err());
        assert!(pages.page(Some("")).is_err());
    }
}
