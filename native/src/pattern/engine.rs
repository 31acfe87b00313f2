//! The general engine: any regular expression, by the regex engine of the stock library.
//!
//! Guarantee: the matches are those of `onig::Regex::find_iter`, which stock calls (tokenizers 0.23.3, onig 6.5.3), or
//! an error. Where stock panics at the step limit of a match, and where it would search for minutes, this returns
//! [`Error::SplitPattern`]. `search` says which limits there are.

use std::ops::Range;

use onig::Regex;

use super::cost;
use super::search::Search;
use crate::{Error, Result};

/// Longer patterns take the engine seconds to compile.
const LONGEST_PATTERN: usize = 1 << 16;
/// Longer patterns are compiled on a stack of their own: the compiler recurses into groups, classes and repeats, and a few
/// thousand of them overflow the two megabytes of a thread.
const LONG_PATTERN: usize = 1000;
const COMPILER_STACK: usize = 64 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Engine {
    role: &'static str,
    pattern: String,
    pub(super) regex: Regex,
    /// Whether a long text must be searched place by place, to stay within the limits.
    pub(super) place_by_place: bool,
}

impl Engine {
    /// Compiles `pattern` as stock does, in Oniguruma's own syntax; `role` is what messages call it.
    pub(super) fn new(role: &'static str, pattern: &str) -> Result<Self> {
        let refused = |why: String| Error::SplitPattern(format!("{role} {} {why}", shown(pattern)));
        if pattern.len() > LONGEST_PATTERN {
            return Err(refused(format!(
                "has {} bytes; hf_bpe compiles at most {LONGEST_PATTERN}",
                pattern.len()
            )));
        }
        let regex = compile(pattern).map_err(|why| refused(format!("can't be compiled: {why}")))?;
        Ok(Self {
            role,
            pattern: pattern.to_owned(),
            regex,
            place_by_place: !cost::is_linear(pattern) && cost::is_local(pattern),
        })
    }

    /// Calls `tell` for each match (`true`) and each text between two (`false`) from `from` on, in order and without gaps.
    pub(super) fn find(
        &self,
        text: &str,
        from: usize,
        mut tell: impl FnMut(Range<usize>, bool),
    ) -> Result<()> {
        let mut search = Search::new(self, text, from);
        let mut told = from;
        while let Some(found) = search.next()? {
            if told != found.start {
                tell(told..found.start, false);
            }
            told = found.end;
            tell(found, true);
        }
        if told != text.len() {
            tell(told..text.len(), false);
        }
        Ok(())
    }

    /// The pattern as messages show it: what it is for, and the whole of it or its beginning.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.role, shown(&self.pattern))
    }
}

fn compile(pattern: &str) -> std::result::Result<Regex, String> {
    let new = |pattern: &str| Regex::new(pattern).map_err(|error| error.description().to_owned());
    if pattern.len() <= LONG_PATTERN {
        return new(pattern);
    }
    std::thread::scope(|scope| {
        let compiler = std::thread::Builder::new().stack_size(COMPILER_STACK);
        let thread = compiler
            .spawn_scoped(scope, || new(pattern))
            .map_err(|error| error.to_string())?;
        thread
            .join()
            .unwrap_or_else(|_| Err("the compiler stopped".to_owned()))
    })
}

fn shown(pattern: &str) -> String {
    match pattern.char_indices().nth(200) {
        Some((cut, _)) => format!("'{}…'", &pattern[..cut]),
        None => format!("'{pattern}'"),
    }
}
