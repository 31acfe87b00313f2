//! `Replace`, a normalizer and a decoder alike: each match of a pattern becomes a fixed text.

use std::borrow::Cow;
use std::ops::Range;

use super::{Finder, Pattern, at_path};
use crate::Result;
use crate::config::Node;

/// Replaces each match of a pattern.
#[derive(Debug, Clone)]
pub struct Replace {
    finder: Finder,
    content: String,
    /// Where the pattern stands, for messages.
    path: String,
}

impl Replace {
    /// Reads a `Replace` component; a pattern that can't be compiled is an error with its JSON path.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let at = node.field("pattern")?;
        let pattern = Pattern::from_node(&at)?;
        let content = node.field("content")?.str()?;
        let replace = Self::new(&pattern, content).map_err(|error| at_path(&at.path(), error))?;
        Ok(Self {
            path: at.path(),
            ..replace
        })
    }

    /// Replaces matches of `pattern` by `content`, which is taken as it is: `$1` means nothing here.
    pub fn new(pattern: &Pattern, content: &str) -> Result<Self> {
        Ok(Self {
            finder: Finder::new("pattern", pattern)?,
            content: content.to_owned(),
            path: "pattern".to_owned(),
        })
    }

    /// What each match becomes.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The matches in `text`, in order.
    ///
    /// # Errors
    /// [`crate::Error::SplitPattern`] where the search runs away.
    pub fn matches(&self, text: &str) -> Result<Vec<Range<usize>>> {
        let mut matches = Vec::new();
        let tell = |range, is_match| {
            if is_match {
                matches.push(range);
            }
        };
        self.finder
            .find(text, tell)
            .map_err(|error| at_path(&self.path, error))?;
        Ok(matches)
    }

    /// `text` with each of `matches` replaced.
    pub fn put(&self, text: &str, matches: &[Range<usize>]) -> String {
        let mut replaced = String::with_capacity(text.len());
        let mut done = 0;
        for found in matches {
            replaced.push_str(&text[done..found.start]);
            replaced.push_str(&self.content);
            done = found.end;
        }
        replaced.push_str(&text[done..]);
        replaced
    }

    /// `text` with each match replaced; borrowed where there is none.
    ///
    /// # Errors
    /// As [`Self::matches`].
    pub fn replace<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        let matches = self.matches(text)?;
        Ok(match matches.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(self.put(text, &matches)),
        })
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
