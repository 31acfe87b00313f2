//! Patterns that components look for in a text: a plain string, or a regular expression in Oniguruma's syntax.
//!
//! Guarantee: the matches are those of the stock library (tokenizers 0.23.3), which hands both to its regex engine, or
//! an error where that would run away (see `search`).

mod cost;
mod engine;
mod limits;
mod replace;
mod search;

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use crate::config::Node;
use crate::{Error, Result};
use engine::Engine;
pub use replace::Replace;

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// This very text.
    String(String),
    /// A regular expression in Oniguruma's syntax.
    Regex(String),
}

impl Pattern {
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

/// Finds the matches of a [`Pattern`].
#[derive(Debug, Clone)]
pub struct Finder(Kind);

#[derive(Debug, Clone)]
enum Kind {
    String(Arc<memmem::Finder<'static>>),
    Regex(Arc<Engine>),
}

impl Finder {
    /// Prepares to look for `pattern`; `role` is what messages call it, such as `split pattern`.
    ///
    /// # Errors
    /// [`Error::SplitPattern`] where a regular expression can't be compiled.
    pub fn new(role: &'static str, pattern: &Pattern) -> Result<Self> {
        Ok(Self(match pattern {
            // The empty string is found between all characters, which a substring search doesn't say.
            Pattern::String(text) if text.is_empty() => Kind::Regex(Arc::new(Engine::new(role, "")?)),
            Pattern::String(text) => Kind::String(Arc::new(memmem::Finder::new(text).into_owned())),
            Pattern::Regex(regex) => Kind::Regex(Arc::new(Engine::new(role, regex)?)),
        }))
    }

    /// Calls `tell` for each match (`true`) and each text between two (`false`), in order and without gaps. As in stock,
    /// nothing matches in an empty text.
    pub fn find(&self, text: &str, tell: impl FnMut(Range<usize>, bool)) -> Result<()> {
        self.find_from(text, 0, tell)
    }

    /// [`Finder::find`] from a place in the text on, where no match goes on.
    pub(crate) fn find_from(
        &self,
        text: &str,
        from: usize,
        tell: impl FnMut(Range<usize>, bool),
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match &self.0 {
            Kind::String(finder) => find_string(finder, text, from, tell),
            Kind::Regex(engine) => engine.find(text, from, tell)?,
        }
        Ok(())
    }
}

fn find_string(
    finder: &memmem::Finder<'_>,
    text: &str,
    from: usize,
    mut tell: impl FnMut(Range<usize>, bool),
) {
    let mut told = from;
    for start in finder.find_iter(&text.as_bytes()[from..]) {
        let start = from + start;
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

/// An error of the pattern at `path` of a `tokenizer.json`.
pub(crate) fn at_path(path: &str, error: Error) -> Error {
    match error {
        Error::SplitPattern(message) => Error::SplitPattern(format!("tokenizer.json: {path}: {message}")),
        other => other,
    }
}
