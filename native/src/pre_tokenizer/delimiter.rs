//! The pre-tokenizer `CharDelimiterSplit`: cuts at one character, which vanishes.
//!
//! Guarantee: equals stock's `CharDelimiterSplit` (tokenizers 0.23.3) on every text.

use std::ops::Range;

use super::behavior::Behavior;
use super::by_char;
use crate::Result;
use crate::config::Node;

/// Cuts at a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharDelimiterSplit {
    /// The character.
    pub delimiter: char,
}

impl CharDelimiterSplit {
    /// Reads a `CharDelimiterSplit` component.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        Ok(Self {
            delimiter: node.field("delimiter")?.char()?,
        })
    }

    /// Calls `emit` for each piece of `text`, in order.
    pub fn split(&self, text: &str, emit: impl FnMut(Range<usize>)) {
        by_char::cut(text, Behavior::Removed, |char| char == self.delimiter, emit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_vanishes() {
        let text = "--a-b--";
        let mut words = Vec::new();

        CharDelimiterSplit { delimiter: '-' }.split(text, |range| words.push(&text[range]));

        assert_eq!(words, ["a", "b"]);
    }
}
