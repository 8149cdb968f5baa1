//! What a stream is about: the candidate that is checked, and what is acknowledged of it.

use std::{borrow::Cow, collections::HashSet};

use super::change::{ChangeKind, ResourceUri};
use crate::protocol::{Fault, ListenFilter};

/// What a subscription is about. All URIs are in their normal form, each once, in the order in which they were asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<SelectedUri>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SelectedUri {
    uri: ResourceUri,
    /// As the client wrote it, if that differs.
    spelling: Option<Box<str>>,
}

/// How much a filter may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterBounds {
    pub uris: usize,
    pub uri_bytes: usize,
}

impl Selection {
    /// What an endpoint can honour of a filter.
    ///
    /// # Errors
    /// What is wrong with its URIs, even if they would not be honoured.
    pub(crate) fn new(
        filter: &ListenFilter<'_>,
        bounds: FilterBounds,
        honours: impl Fn(ChangeKind) -> bool,
        serves: impl Fn(&str, &ResourceUri) -> bool,
    ) -> Result<Self, Vec<Fault>> {
        let mut uris = read_uris(&filter.uris, bounds)?;
        if honours(ChangeKind::Updates) {
            uris.retain(|selected| serves(selected.spelling(), &selected.uri));
        } else {
            uris.clear();
        }
        Ok(Self {
            tools: filter.tools && honours(ChangeKind::Tools),
            prompts: filter.prompts && honours(ChangeKind::Prompts),
            resources: filter.resources && honours(ChangeKind::Resources),
            uris,
        })
    }

    /// Whether changes of the list of tools are told.
    #[must_use]
    pub fn tools(&self) -> bool {
        self.tools
    }

    /// Whether changes of the list of prompts are told.
    #[must_use]
    pub fn prompts(&self) -> bool {
        self.prompts
    }

    /// Whether changes of the lists of resources and templates are told.
    #[must_use]
    pub fn resources(&self) -> bool {
        self.resources
    }

    /// The resources whose updates are told.
    pub fn uris(&self) -> impl ExactSizeIterator<Item = &ResourceUri> {
        self.uris.iter().map(|selected| &selected.uri)
    }

    /// The resource at a position among the URIs, which has to be one.
    pub(super) fn uri(&self, position: usize) -> &ResourceUri {
        &self.uris[position].uri
    }

    /// The resource at a position among the URIs, as the client spelled it.
    pub(super) fn spelling(&self, position: usize) -> &str {
        self.uris.get(position).map_or("", SelectedUri::spelling)
    }

    /// Whether any list is selected.
    pub(super) fn has_lists(&self) -> bool {
        self.tools || self.prompts || self.resources
    }

    /// Whether a list is selected.
    pub(super) fn has(&self, kind: ChangeKind) -> bool {
        match kind {
            ChangeKind::Tools => self.tools,
            ChangeKind::Prompts => self.prompts,
            ChangeKind::Resources => self.resources,
            ChangeKind::Updates => !self.uris.is_empty(),
        }
    }

    /// Leaves out resources.
    pub(super) fn retain(&mut self, keep: impl Fn(&ResourceUri) -> bool) {
        self.uris.retain(|selected| keep(&selected.uri));
    }

    /// As the client gets it acknowledged.
    pub(super) fn filter(&self) -> ListenFilter<'_> {
        ListenFilter {
            tools: self.tools,
            prompts: self.prompts,
            resources: self.resources,
            uris: self.uris.iter().map(|selected| Cow::Borrowed(selected.spelling())).collect(),
        }
    }
}

impl SelectedUri {
    fn spelling(&self) -> &str {
        self.spelling.as_deref().unwrap_or_else(|| self.uri.as_str())
    }
}

fn read_uris(asked: &[Cow<'_, str>], bounds: FilterBounds) -> Result<Vec<SelectedUri>, Vec<Fault>> {
    const AT: &str = "/params/notifications/resourceSubscriptions";
    let (mut uris, mut seen, mut faults) = (Vec::new(), HashSet::new(), Vec::new());
    for (index, text) in asked.iter().enumerate() {
        if faults.len() == Fault::MOST {
            break;
        }
        let at = || format!("{AT}/{index}");
        if text.len() > bounds.uri_bytes {
            faults.push(Fault::new(at(), format!("longer than {} bytes", bounds.uri_bytes)));
            continue;
        }
        match ResourceUri::new(text) {
            Err(error) => faults.push(Fault::new(at(), error.to_string())),
            Ok(uri) if !seen.insert(uri.clone()) => {}
            Ok(_) if uris.len() == bounds.uris => {
                faults.push(Fault::new(AT, format!("more than {} URIs", bounds.uris)));
                break;
            }
            Ok(uri) => {
                let spelling = (uri.as_str() != text.as_ref()).then(|| text.as_ref().into());
                uris.push(SelectedUri { uri, spelling });
            }
        }
    }
    if faults.is_empty() { Ok(uris) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: FilterBounds = FilterBounds { uris: 3, uri_bytes: 12 };

    fn filter<'a>(uris: &[&'a str]) -> ListenFilter<'a> {
        let uris = uris.iter().map(|uri| Cow::Borrowed(*uri)).collect();
        ListenFilter { tools: true, prompts: false, resources: true, uris }
    }

    fn faults(uris: &[&str]) -> Vec<String> {
        let selection = Selection::new(&filter(uris), BOUNDS, |_| false, |_, _| false);
        let faults = selection.unwrap_err();
        faults.into_iter().map(|fault| format!("{}: {}", fault.at, fault.message)).collect()
    }

    #[test]
    fn only_what_is_asked_and_can_be_honoured_is_selected() {
        let asked = filter(&["x:a", "x:b"]);
        let none = Selection::new(&asked, BOUNDS, |_| false, |_, _| true).unwrap();
        assert_eq!(none, Selection::default());
        let all = Selection::new(&asked, BOUNDS, |_| true, |_, uri| uri.as_str() != "x:a").unwrap();
        assert_eq!((all.tools(), all.prompts(), all.resources()), (true, false, true));
        assert_eq!(all.filter().uris, ["x:b"]);
    }

    #[test]
    fn one_uri_in_two_spellings_is_selected_once_as_it_was_written_first() {
        let asked = filter(&["X:a", "x:%61", "x:a", "x:b"]);
        let selection = Selection::new(&asked, BOUNDS, |_| true, |_, _| true).unwrap();
        assert_eq!(selection.filter().uris, ["X:a", "x:b"]);
        assert_eq!(selection.uris().map(ResourceUri::as_str).collect::<Vec<_>>(), ["x:a", "x:b"]);
        assert_eq!(selection.spelling(0), "X:a");
    }

    #[test]
    fn what_passes_a_bound_or_is_no_uri_is_named() {
        const AT: &str = "/params/notifications/resourceSubscriptions";
        assert_eq!(faults(&["x:1", "x:2", "x:3", "x:1", "X:3", "x:4"]), [format!("{AT}: more than 3 URIs")]);
        let wrong = faults(&["x:a", "/relative", "x:12345678901"]);
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].starts_with(&format!("{AT}/1: not an absolute URI")), "{wrong:?}");
        assert_eq!(wrong[1], format!("{AT}/2: longer than 12 bytes"));
    }
}
