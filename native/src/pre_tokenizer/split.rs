//! The `Split` pre-tokenizer: cuts a text by a pattern.
//!
//! Guarantee: the pieces are those of stock's `Split` (tokenizers 0.23.3), whichever of the three engines finds the matches: a
//! scanner for a published pattern, a substring search for a plain string, the stock library's regex engine for the rest.

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::behavior::{Behavior, Cutter};
use super::engine::Engine;
use super::published::Published;
use crate::config::Node;
use crate::{Error, Result};

/// What a [`Split`] looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SplitPattern {
    /// This very text.
    String(String),
    /// A regular expression in Oniguruma's syntax.
    Regex(String),
}

impl SplitPattern {
    /// Reads `{"String": …}` or `{"Regex": …}`.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let object = node.object()?;
        match (object.len(), object.keys().next().map(String::as_str)) {
            (1, Some("String")) => Ok(Self::String(node.field("String")?.str()?.to_owned())),
            (1, Some("Regex")) => Ok(Self::Regex(node.field("Regex")?.str()?.to_owned())),
            _ => Err(node.error("should have one member, 'String' or 'Regex'")),
        }
    }
}

/// Cuts a text by a pattern.
#[derive(Debug, Clone)]
pub struct Split {
    pattern: SplitPattern,
    behavior: Behavior,
    invert: bool,
    finder: Matcher,
}

/// Who finds the matches.
#[derive(Debug, Clone)]
enum Matcher {
    Published(Published),
    String(Arc<Finder<'static>>),
    Regex(Arc<Engine>),
}

impl Split {
    /// Reads a `Split` component; a pattern that can't be compiled is an error with its JSON path.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let at = node.field("pattern")?;
        let pattern = SplitPattern::from_node(&at)?;
        let behavior = Behavior::from_node(&node.field("behavior")?)?;
        let invert = node.field("invert")?.bool()?;
        Self::new(&pattern, behavior, invert).map_err(|error| match error {
            Error::SplitPattern(message) => {
                Error::SplitPattern(format!("tokenizer.json: {}: {message}", at.path()))
            }
            other => other,
        })
    }

    /// Prepares to cut by `pattern`; with `invert`, matches and the text between them swap their roles.
    pub fn new(pattern: &SplitPattern, behavior: Behavior, invert: bool) -> Result<Self> {
        let finder = match pattern {
            SplitPattern::String(text) if text.is_empty() => Matcher::Regex(Arc::new(Engine::new("")?)),
            SplitPattern::String(text) => Matcher::String(Arc::new(Finder::new(text).into_owned())),
            SplitPattern::Regex(regex) => match Published::recognise(regex) {
                Some(published) => Matcher::Published(published),
                None => Matcher::Regex(Arc::new(Engine::new(regex)?)),
            },
        };
        Ok(Self {
            pattern: pattern.clone(),
            behavior,
            invert,
            finder,
        })
    }

    /// The same, but always by the regex engine: what tests hold the other engines to.
    pub fn by_regex_engine(pattern: &SplitPattern, behavior: Behavior, invert: bool) -> Result<Self> {
        let regex = match pattern {
            SplitPattern::String(text) => &regex::escape(text),
            SplitPattern::Regex(regex) => regex,
        };
        Ok(Self {
            pattern: pattern.clone(),
            behavior,
            invert,
            finder: Matcher::Regex(Arc::new(Engine::new(regex)?)),
        })
    }

    /// What this looks for.
    pub fn pattern(&self) -> &SplitPattern {
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
            Matcher::String(finder) => {
                find_string(finder, text, |range, is_match| cutter.push(range, is_match))
            }
            Matcher::Regex(engine) => engine.find(text, |range, is_match| cutter.push(range, is_match))?,
        }
        cutter.finish();
        Ok(())
    }
}

/// Calls `tell` for each occurrence (`true`) and each text between two (`false`), in order and without gaps.
fn find_string(finder: &Finder<'_>, text: &str, mut tell: impl FnMut(Range<usize>, bool)) {
    let mut told = 0;
    for start in finder.find_iter(text.as_bytes()) {
        if told != start {
            tell(told..start, false);
        }
        told = start + finder.needle().len();
        tell(start..told, true);
    }
    if told != text.len() {
        tell(told..text.len(), false);
    }
}
