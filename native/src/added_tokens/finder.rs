//! Finds added tokens in a text: the longest of the leftmost ones, all in one pass.

use std::ops::Range;
use std::sync::{Arc, Mutex, TryLockError};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use hashbrown::HashSet;

use crate::vocab::TokenId;
use crate::{Error, Result};

/// An automaton over the forms of some tokens, and where each token stands in the list.
#[derive(Clone)]
pub(super) struct Finder {
    automaton: AhoCorasick,
    forms: Vec<String>,
    tokens: Vec<usize>,
    last_subset: Arc<Mutex<Option<Subset>>>,
}

/// The finder for some of the tokens, and the ids that it was made for.
struct Subset {
    ids: HashSet<TokenId>,
    finder: Arc<Option<Finder>>,
}

/// A match: where, and the place of its token in the list.
pub(super) type Found = (Range<usize>, usize);

impl Finder {
    pub fn new(forms: Vec<(String, usize)>) -> Result<Option<Self>> {
        // Two tokens with one form: the lower id wins, and tokens come in order of id.
        let mut seen = HashSet::new();
        let (forms, tokens): (Vec<_>, Vec<_>) = forms
            .into_iter()
            .filter(|(form, _)| seen.insert(form.clone()))
            .unzip();
        if forms.is_empty() {
            return Ok(None);
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // A full automaton is the fastest for the usual few hundred; it would take minutes for 50,000.
            .kind((forms.len() > 1000).then_some(AhoCorasickKind::ContiguousNFA))
            .build(&forms)
            .map_err(too_large)?;
        Ok(Some(Self {
            automaton,
            forms,
            tokens,
            last_subset: Arc::default(),
        }))
    }

    /// The matches in `text` from byte `start` on, from left to right.
    pub fn find<'a>(&'a self, text: &'a str, start: usize) -> impl Iterator<Item = Found> + 'a {
        self.find_in(text, start..text.len())
    }

    /// The matches inside the bytes `range` of `text`.
    pub fn find_in<'a>(&'a self, text: &'a str, range: Range<usize>) -> impl Iterator<Item = Found> + 'a {
        let matches = self.automaton.find_iter(Input::new(text).range(range));
        matches.map(|found| (found.range(), self.tokens[found.pattern().as_usize()]))
    }

    /// A finder for the tokens at some places of the list alone.
    pub fn few(&self, places: &HashSet<usize>) -> Result<Option<Self>> {
        let forms = self.forms.iter().cloned().zip(self.tokens.iter().copied());
        Self::new(forms.filter(|(_, at)| places.contains(at)).collect())
    }

    /// The matches of the tokens that `may` be found, which `ids` decide; the others are as good as absent, and hide no
    /// shorter match.
    ///
    /// As long as no other token matches, the longest of the leftmost is the same with and without them. Only where one
    /// does, the text behind is searched by a finder without them, which is kept for the next call.
    pub fn find_only(
        &self,
        text: &str,
        ids: &HashSet<TokenId>,
        may: impl Fn(usize) -> bool,
    ) -> Result<Vec<Found>> {
        let mut matches = Vec::new();
        let mut start = 0;
        for (range, token) in self.find(text, 0) {
            if !may(token) {
                if let Some(subset) = &*self.subset(ids, &may)? {
                    matches.extend(subset.find(text, start));
                }
                break;
            }
            start = range.end;
            matches.push((range, token));
        }
        Ok(matches)
    }

    fn subset(&self, ids: &HashSet<TokenId>, may: impl Fn(usize) -> bool) -> Result<Arc<Option<Self>>> {
        // Never waits: a forked child may hold a copy of a lock that nobody will open.
        let mut last = match self.last_subset.try_lock() {
            Ok(last) => Some(last),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(Some(last)) = last.as_deref()
            && last.ids == *ids
        {
            return Ok(Arc::clone(&last.finder));
        }
        let forms = self.forms.iter().cloned().zip(self.tokens.iter().copied());
        let finder = Arc::new(Self::new(forms.filter(|(_, at)| may(*at)).collect())?);
        if let Some(last) = last.as_deref_mut() {
            let finder = Arc::clone(&finder);
            let ids = ids.clone();
            *last = Some(Subset { ids, finder });
        }
        Ok(finder)
    }
}

pub(super) fn too_large(error: aho_corasick::BuildError) -> Error {
    Error::TokenizerFile(format!("tokenizer.json: added_tokens can't be indexed: {error}"))
}
