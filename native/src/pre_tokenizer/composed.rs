//! Split patterns of one's own, as far as they are made of known parts: character classes, literals, groups, alternatives,
//! repeats, and looks at the one character that follows, such as `\s+(?!\S)`.
//!
//! Guarantee: the matches are those of the stock library's regex engine. [`parser`] takes what it understands to the last
//! character and refuses the rest, which the engine runs then. What it takes has neither memory nor a look back, so
//! that the match which backtracking finds first can be told by an automaton that reads each character once (see
//! [`automaton`]). Where a pattern makes it go back over the same text too often, the engine takes over, with its limits.

mod alphabet;
mod automaton;
mod bracket;
mod node;
mod parser;
mod program;
mod properties;
mod walk;

use std::ops::Range;
use std::sync::OnceLock;

use alphabet::Alphabet;
use automaton::Automaton;
use walk::Walk;

use crate::Result;
use crate::pattern::{Finder, Pattern};

/// What may be read again in one text, for each of its bytes and on top. Real patterns go back over a character or two a line.
const AGAIN_PER_BYTE: usize = 1_000;
const AGAIN: usize = 10_000_000;

/// A pattern that runs as an automaton.
#[derive(Debug)]
pub(super) struct Composed {
    role: &'static str,
    pattern: String,
    alphabet: Alphabet,
    automaton: Automaton,
    /// Who takes over; compiled where it comes to that.
    engine: OnceLock<Finder>,
}

impl Composed {
    /// The automaton for a pattern, if each part of it is known; `role` is what messages call it.
    pub(super) fn recognise(role: &'static str, pattern: &str) -> Option<Self> {
        let node = parser::parse(pattern)?;
        if node.is_nullable() {
            return None;
        }
        let (program, sets) = program::compile(&node)?;
        let (alphabet, classes) = Alphabet::new(&sets)?;
        let automaton = Automaton::new(&program, &classes)?;
        Some(Self {
            role,
            pattern: pattern.to_owned(),
            alphabet,
            automaton,
            engine: OnceLock::new(),
        })
    }

    /// Calls `tell` for each match (`true`) and each text between two (`false`), in order and without gaps.
    #[inline]
    pub(super) fn find(&self, text: &str, tell: impl FnMut(Range<usize>, bool)) -> Result<()> {
        self.find_within(
            text,
            AGAIN_PER_BYTE.saturating_mul(text.len()).saturating_add(AGAIN),
            tell,
        )
    }

    /// [`Composed::find`], with so many bytes that may be read again.
    #[inline]
    fn find_within(&self, text: &str, again: usize, mut tell: impl FnMut(Range<usize>, bool)) -> Result<()> {
        let mut walk = Walk::new(text, again);
        if walk.run(&self.alphabet, &self.automaton, &mut tell) {
            return Ok(());
        }
        self.hand_over(text, walk.gap(), tell)
    }

    /// Lets the engine go on behind `gap`, the text without a match before: no pattern that is known here looks back.
    #[cold]
    fn hand_over(
        &self,
        text: &str,
        mut gap: Range<usize>,
        mut tell: impl FnMut(Range<usize>, bool),
    ) -> Result<()> {
        self.engine()?.find_from(text, gap.end, |range, is_match| {
            if !is_match {
                gap.end = range.end;
                return;
            }
            if !gap.is_empty() {
                tell(gap.clone(), false);
            }
            gap = range.end..range.end;
            tell(range, true);
        })?;
        if !gap.is_empty() {
            tell(gap, false);
        }
        Ok(())
    }

    fn engine(&self) -> Result<&Finder> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let engine = Finder::new(self.role, &Pattern::Regex(self.pattern.clone()))?;
        Ok(self.engine.get_or_init(|| engine))
    }
}

#[cfg(test)]
mod tests;
