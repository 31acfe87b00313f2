//! Which special token a text spells that it may not: tiktoken's check before it encodes.

use std::sync::{Arc, Mutex, TryLockError};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::finder::too_large;
use crate::Result;

/// Contents that are looked for as they are, and the automaton that finds them.
pub(super) struct Contents {
    automaton: AhoCorasick,
    contents: Vec<String>,
}

impl Contents {
    /// Of two contents that begin at one place the first of the list is found.
    pub fn new(contents: Vec<String>) -> Result<Self> {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .kind((contents.len() > 1000).then_some(AhoCorasickKind::ContiguousNFA))
            .build(&contents)
            .map_err(too_large)?;
        Ok(Self { automaton, contents })
    }

    /// The leftmost content that `text` spells.
    pub fn first_in(&self, text: &str) -> Option<&str> {
        let found = self.automaton.find(text)?;
        Some(&self.contents[found.pattern().as_usize()])
    }
}

/// The contents that were disallowed last, by the names that were allowed: most calls allow the same ones.
#[derive(Clone, Default)]
pub(super) struct LastDisallowed(Arc<Mutex<Option<Entry>>>);

type Entry = (Vec<String>, Arc<Contents>);

impl LastDisallowed {
    /// The contents for these allowed names, by `make` where they aren't those of the last call.
    pub fn get(&self, allowed: &[String], make: impl FnOnce() -> Vec<String>) -> Result<Arc<Contents>> {
        // Never waits: a forked child may hold a copy of a lock that nobody will open.
        let mut last = match self.0.try_lock() {
            Ok(last) => Some(last),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(Some((names, contents))) = last.as_deref()
            && names == allowed
        {
            return Ok(Arc::clone(contents));
        }
        let contents = Arc::new(Contents::new(make())?);
        if let Some(last) = last.as_deref_mut() {
            *last = Some((allowed.to_vec(), Arc::clone(&contents)));
        }
        Ok(contents)
    }
}
