//! The `Split` pre-tokenizer: cuts a text by a pattern.
//!
//! Guarantee: the pieces are those of stock's `Split` (tokenizers 0.23.3), whichever of the three engines finds the matches: a
//! scanner for a published pattern, a substring search for a plain string, the stock library's regex engine for the rest.

use std::ops::Range;

use super::behavior::{Behavior, Cutter};
use super::published::Published;
use crate::Result;
use crate::config::Node;
use crate::pattern::{Finder, Pattern, at_path};

const ROLE: &str = "split pattern";

/// Cuts a text by a pattern.
#[derive(Debug, Clone)]
pub struct Split {
    pattern: Pattern,
    behavior: Behavior,
    invert: bool,
    finder: Matcher,
}

/// Who finds the matches.
#[derive(Debug, Clone)]
enum Matcher {
    Published(Published),
    General(Finder),
}

impl Split {
    /// Reads a `Split` component; a pattern that can't be compiled is an error with its JSON path.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let at = node.field("pattern")?;
        let pattern = Pattern::from_node(&at)?;
        let behavior = Behavior::from_node(&node.field("behavior")?)?;
        let invert = node.field("invert")?.bool()?;
        Self::new(&pattern, behavior, invert).map_err(|error| at_path(at.path(), error))
    }

    /// Prepares to cut by `pattern`; with `invert`, matches and the text between them swap their roles.
    pub fn new(pattern: &Pattern, behavior: Behavior, invert: bool) -> Result<Self> {
        let published = match pattern {
            Pattern::Regex(regex) => Published::recognise(regex),
            Pattern::String(_) => None,
        };
        let finder = match published {
            Some(published) => Matcher::Published(published),
            None => Matcher::General(Finder::new(ROLE, pattern)?),
        };
        Ok(Self {
            pattern: pattern.clone(),
            behavior,
            invert,
            finder,
        })
    }

    /// The same, but always by the regex engine: what tests hold the other engines to.
    pub fn by_regex_engine(pattern: &Pattern, behavior: Behavior, invert: bool) -> Result<Self> {
        let regex = match pattern {
            Pattern::String(text) => regex::escape(text),
            Pattern::Regex(regex) => regex.clone(),
        };
        Ok(Self {
            pattern: pattern.clone(),
            behavior,
            invert,
            finder: Matcher::General(Finder::new(ROLE, &Pattern::Regex(regex))?),
        })
    }

    /// What this looks for.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// What becomes of the matches.
    pub fn behavior(&self) -> Behavior {
        self.behavior
    }

    /// Whether matches and the text between them swap their roles.
    pub fn invert(&self) -> bool {
        self.invert
    }

    /// Whether the pattern has a hand-written scanner.
    pub fn is_published(&self) -> bool {
        matches!(self.finder, Matcher::Published(_))
    }

    /// Calls `emit` for each piece of `text`, in order; pieces that are removed or empty aren't told.
    ///
    /// The pattern sees `text` alone. On an error, drop what was emitted before it.
    #[inline]
    pub fn split<F: FnMut(Range<usize>)>(&self, text: &str, emit: F) -> Result<()> {
        match &self.finder {
            Matcher::Published(published) if self.keeps_matches() => published.scan(text, emit),
            finder => return self.cut(finder, text, emit),
        }
        Ok(())
    }

    /// Whether each match is a piece, given that matches tile the text.
    fn keeps_matches(&self) -> bool {
        self.behavior == Behavior::Isolated || (self.behavior == Behavior::Removed && self.invert)
    }

    fn cut<F: FnMut(Range<usize>)>(&self, finder: &Matcher, text: &str, emit: F) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let mut cutter = Cutter::new(self.behavior, self.invert, emit);
        match finder {
            Matcher::Published(published) => published.scan(text, |range| cutter.push(range, true)),
            Matcher::General(finder) => finder.find(text, |range, is_match| cutter.push(range, is_match))?,
        }
        cutter.finish();
        Ok(())
    }
}
