//! The general engine: any split pattern, by the regex engine of the stock library.
//!
//! Guarantee: the matches are those of `onig::Regex::find_iter`, which stock calls (tokenizers 0.23.3, onig 6.5.3), or an error. Where
//! stock panics at the step limit of a match, and where it would search for minutes, this returns
//! [`Error::SplitPattern`]. The limits depend on the text and the pattern alone, never on the clock, so a text that passes
//! once passes always.
//!
//! Steps are the engine's own count: returns to a choice that was left open. What an atomic group or a look-around scans without
//! such a return isn't counted, so a pattern written to waste time that way is bounded by the square of the text's length only.

use std::ops::Range;

use onig::{Regex, Region, SearchOptions};

use super::limits::match_param;
use crate::{Error, Result};

/// A search may take this many steps before they count: every search of an ordinary pattern stays below it.
const FREE_STEPS: u64 = 1 << 12;
/// What all searches in one text may take beyond that: [`STEPS`] and [`STEPS_PER_BYTE`] for each byte of the text.
const STEPS: u64 = 50_000_000;
const STEPS_PER_BYTE: u64 = 100;
/// Entries of the match stack (some 40 bytes each): about as many as a match of a few nested repeats needs.
const STACK: usize = 1 << 20;
const STACK_PER_BYTE: usize = 16;
/// Longer patterns take the engine seconds to compile.
const LONGEST_PATTERN: usize = 1 << 16;
/// Patterns with more groups are compiled on a stack of their own, since the compiler recurses into groups.
const GROUPS: usize = 200;
const COMPILER_STACK: usize = 64 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Engine {
    pattern: String,
    regex: Regex,
}

impl Engine {
    /// Compiles `pattern` as stock does, in Oniguruma's own syntax.
    pub(super) fn new(pattern: &str) -> Result<Self> {
        let refused = |why: String| Error::SplitPattern(format!("split pattern {} {why}", shown(pattern)));
        if pattern.len() > LONGEST_PATTERN {
            return Err(refused(format!(
                "has {} bytes; hf_bpe compiles at most {LONGEST_PATTERN}",
                pattern.len()
            )));
        }
        let regex = compile(pattern).map_err(|why| refused(format!("can't be compiled: {why}")))?;
        Ok(Self {
            pattern: pattern.to_owned(),
            regex,
        })
    }

    /// Calls `tell` for each match (`true`) and each text between two (`false`), in order and without gaps.
    pub(super) fn find(&self, text: &str, mut tell: impl FnMut(Range<usize>, bool)) -> Result<()> {
        let mut search = Search::new(self, text);
        let mut told = 0;
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
}

fn compile(pattern: &str) -> std::result::Result<Regex, String> {
    let new = |pattern: &str| Regex::new(pattern).map_err(|error| error.description().to_owned());
    if pattern.bytes().filter(|&byte| byte == b'(').count() <= GROUPS {
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

/// The pattern as messages show it: whole, or its beginning.
fn shown(pattern: &str) -> String {
    match pattern.char_indices().nth(200) {
        Some((cut, _)) => format!("'{}…'", &pattern[..cut]),
        None => format!("'{pattern}'"),
    }
}

/// One walk over a text, from match to match.
struct Search<'a> {
    engine: &'a Engine,
    text: &'a str,
    region: Region,
    /// Where the next search starts.
    at: usize,
    last_end: Option<usize>,
    /// The steps that are left beyond the free ones.
    steps: u64,
    stack: u32,
}

impl<'a> Search<'a> {
    fn new(engine: &'a Engine, text: &'a str) -> Self {
        let stack = STACK.saturating_add(STACK_PER_BYTE.saturating_mul(text.len()));
        Self {
            engine,
            text,
            region: Region::new(),
            at: 0,
            last_end: None,
            steps: STEPS + STEPS_PER_BYTE * text.len() as u64,
            stack: u32::try_from(stack).unwrap_or(1 << 31).min(1 << 31),
        }
    }

    /// The next match. An empty one right behind the match before it doesn't count, as in `onig::FindMatches`.
    fn next(&mut self) -> Result<Option<Range<usize>>> {
        while self.at <= self.text.len() {
            let Some(found) = self.search()? else {
                return Ok(None);
            };
            if found.is_empty() && self.last_end == Some(found.end) {
                self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            self.at = found.end;
            self.last_end = Some(found.end);
            return Ok(Some(found));
        }
        Ok(None)
    }

    /// The first match at or after `self.at`.
    ///
    /// The engine doesn't say how many steps it took, only that they were too many. So a search starts with the free steps,
    /// and each time they don't suffice it starts over with eight times as many, which are then taken off what is left.
    fn search(&mut self) -> Result<Option<Range<usize>>> {
        let mut steps = FREE_STEPS;
        loop {
            self.region.clear();
            let result = self.engine.regex.search_with_param(
                self.text,
                self.at,
                self.text.len(),
                SearchOptions::SEARCH_OPTION_NONE,
                Some(&mut self.region),
                match_param(steps, self.stack),
            );
            match result {
                Ok(None) => return Ok(None),
                Ok(Some(_)) => return self.found().map(Some),
                Err(error)
                    if error.code() == onig_sys::ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER && self.steps > 0 =>
                {
                    steps = (steps * 8).min(self.steps);
                    self.steps -= steps;
                }
                Err(error) => return Err(self.stopped(&error)),
            }
        }
    }

    /// The match in the region; one that `\K` turned around is refused (stock panics).
    fn found(&self) -> Result<Range<usize>> {
        match self.region.pos(0) {
            Some((start, end)) if self.last_end.unwrap_or(0) <= start && start <= end => Ok(start..end),
            _ => Err(Error::SplitPattern(format!(
                "split pattern {} found a match at byte {} that ends before it starts; remove '\\K' from the pattern",
                shown(&self.engine.pattern),
                self.at
            ))),
        }
    }

    fn stopped(&self, error: &onig::Error) -> Error {
        Error::SplitPattern(format!(
            "split pattern {} went back too often at byte {} of a text of {} bytes ({}); \
             make the pattern simpler, or split the text into shorter ones",
            shown(&self.engine.pattern),
            self.at,
            self.text.len(),
            error.description()
        ))
    }
}
