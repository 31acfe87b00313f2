//! The `Split` pre-tokenizer: cuts a text by a pattern.
//!
//! Guarantee: the pieces are those of stock's `Split` (tokenizers 0.23.3), whichever engine finds the matches: a scanner for a
//! published pattern, an automaton for one that is composed of known parts, a substring search for a plain string, the
//! stock library's regex engine for the rest.

use std::ops::Range;
use std::sync::Arc;

use super::behavior::{Behavior, Cutter};
use super::composed::Composed;
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
    Composed(Arc<Composed>),
    General(Finder),
}

impl Matcher {
    fn new(pattern: &Pattern) -> Result<Self> {
        if let Pattern::Regex(regex) = pattern {
            if let Some(published) = Published::recognise(regex) {
                return Ok(Self::Published(published));
            }
            if let Some(composed) = Composed::recognise(ROLE, regex) {
                return Ok(Self::Composed(Arc::new(composed)));
            }
        }
        Ok(Self::General(Finder::new(ROLE, pattern)?))
    }
}

impl Split {
    /// Reads a `Split` component; a pattern that can't be compiled is an error with its JSON path.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let at = node.field("pattern")?;
        let pattern = Pattern::from_node(&at)?;
        let behavior = Behavior::from_node(&node.field("behavior")?)?;
        let invert = node.field("invert")?.bool()?;
        Self::new(&pattern, behavior, invert).map_err(|error| at_path(&at.path(), error))
    }

    /// Prepares to cut by `pattern`; with `invert`, matches and the text between them swap their roles.
    pub fn new(pattern: &Pattern, behavior: Behavior, invert: bool) -> Result<Self> {
        Ok(Self {
            pattern: pattern.clone(),
            behavior,
            invert,
            finder: Matcher::new(pattern)?,
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

    /// Whether the pattern is composed of known parts, and so runs as an automaton.
    pub fn is_composed(&self) -> bool {
        matches!(self.finder, Matcher::Composed(_))
    }

    /// Whether some text may be in no piece of it.
    pub(super) fn drops_text(&self) -> bool {
        self.behavior == Behavior::Removed && !(self.is_published() && self.keeps_matches())
    }

    /// Calls `emit` for each piece of `text`, in order; pieces that are removed or empty aren't told.
    ///
    /// The pattern sees `text` alone. On an error, drop what was emitted before it.
    #[inline]
    pub fn split<F: FnMut(Range<usize>)>(&self, text: &str, mut emit: F) -> Result<()> {
        match &self.finder {
            Matcher::Published(published) if self.keeps_matches() => published.scan(text, emit),
            Matcher::Composed(composed) if self.behavior == Behavior::Isolated => {
                return composed.find(text, |range, _| emit(range));
            }
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
            Matcher::Composed(composed) => {
                composed.find(text, |range, is_match| cutter.push(range, is_match))?
            }
            Matcher::General(finder) => finder.find(text, |range, is_match| cutter.push(range, is_match))?,
        }
        cutter.finish();
        Ok(())
    }
}
