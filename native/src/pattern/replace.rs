//! `Replace`, a normalizer and a decoder alike: each match of a pattern becomes a fixed text.

use std::borrow::Cow;
use std::ops::Range;

use super::{Finder, Pattern, at_node};
use crate::Result;
use crate::config::Node;

/// Replaces each match of a pattern.
#[derive(Debug, Clone)]
pub struct Replace {
    finder: Finder,
    content: String,
}

impl Replace {
    /// Reads a `Replace` component; a pattern that can't be compiled is an error with its JSON path.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let at = node.field("pattern")?;
        let pattern = Pattern::from_node(&at)?;
        let content = node.field("content")?.str()?;
        Self::new(&pattern, content).map_err(|error| at_node(&at, error))
    }

    /// Replaces matches of `pattern` by `content`, which is taken as it is: `$1` means nothing here.
    pub fn new(pattern: &Pattern, content: &str) -> Result<Self> {
        Ok(Self {
            finder: Finder::new("pattern", pattern)?,
            content: content.to_owned(),
        })
    }

    /// What each match becomes.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Calls `tell` for each match (`true`) and each text between two (`false`), in order and without gaps.
    pub fn find(&self, text: &str, tell: impl FnMut(Range<usize>, bool)) -> Result<()> {
        self.finder.find(text, tell)
    }

    /// `text` with each match replaced; borrowed where there is none.
    pub fn replace<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        let mut replaced = String::new();
        let mut told = 0;
        let mut matches = false;
        self.find(text, |range, is_match| {
            if is_match {
                replaced.push_str(&text[told..range.start]);
                replaced.push_str(&self.content);
                told = range.end;
                matches = true;
            }
        })?;
        if !matches {
            return Ok(Cow::Borrowed(text));
        }
        replaced.push_str(&text[told..]);
        Ok(Cow::Owned(replaced))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(pattern: Pattern, content: &str, text: &str) -> String {
        let replace = Replace::new(&pattern, content).unwrap();
        replace.replace(text).unwrap().into_owned()
    }

    #[test]
    fn matches_are_replaced_from_left_to_right() {
        let string = |pattern: &str| Pattern::String(pattern.to_owned());
        let regex = |pattern: &str| Pattern::Regex(pattern.to_owned());

        assert_eq!(replace(string("aa"), "b", "aaa.aa"), "ba.b");
        assert_eq!(replace(string(""), "-", "aé"), "-a-é-");
        assert_eq!(replace(string("$."), "$1", "a$."), "a$1");
        assert_eq!(replace(regex(r"\s+"), "", " a \n b"), "ab");
        assert_eq!(replace(regex("^"), "▁", "a"), "▁a");
    }

    #[test]
    fn nothing_matches_in_an_empty_text() {
        assert_eq!(replace(Pattern::Regex("^".to_owned()), "▁", ""), "");
        assert_eq!(replace(Pattern::String(String::new()), "▁", ""), "");
    }

    #[test]
    fn a_text_without_a_match_is_borrowed() {
        let replace = Replace::new(&Pattern::String("a".to_owned()), "a").unwrap();

        assert!(matches!(replace.replace("bcd"), Ok(Cow::Borrowed("bcd"))));
        assert!(matches!(replace.replace("abc"), Ok(Cow::Owned(_))));
    }
}
