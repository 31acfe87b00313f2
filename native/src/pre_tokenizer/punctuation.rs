//! The pre-tokenizers `Punctuation` and `BertPreTokenizer`: punctuation apart from words.
//!
//! Guarantee: both equal stock (tokenizers 0.23.3) on every text. Punctuation is what the crate `unicode_categories` calls so, as
//! in stock (Unicode 8, whatever came since is none), and every ASCII character that prints and is no letter, digit or space.

use std::ops::Range;

use unicode_categories::UnicodeCategories;

use super::behavior::Behavior;
use super::by_char;
use crate::Result;
use crate::config::Node;

/// Cuts at punctuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Punctuation {
    /// What becomes of the punctuation.
    pub behavior: Behavior,
}

impl Punctuation {
    /// Reads a `Punctuation` component; `behavior` is `Isolated` where it is absent.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let behavior = match node.object()?.contains_key("behavior") {
            true => Behavior::from_node(&node.field("behavior")?)?,
            false => Behavior::Isolated,
        };
        Ok(Self { behavior })
    }

    /// Calls `emit` for each piece of `text`, in order.
    pub fn split(&self, text: &str, emit: impl FnMut(Range<usize>)) {
        by_char::cut(text, self.behavior, is_punctuation, emit);
    }
}

/// Calls `emit` for each piece of `text` as BERT cuts it: white space vanishes, each punctuation character stands alone.
pub(super) fn split_as_bert(text: &str, mut emit: impl FnMut(Range<usize>)) {
    by_char::cut(text, Behavior::Removed, char::is_whitespace, |word| {
        let start = word.start;
        by_char::cut(&text[word], Behavior::Isolated, is_punctuation, |piece| {
            emit(start + piece.start..start + piece.end);
        });
    });
}

#[inline]
fn is_punctuation(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_punctuation()
    } else {
        char.is_punctuation()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, behavior: Behavior) -> Vec<&str> {
        let mut words = Vec::new();
        Punctuation { behavior }.split(text, |range| words.push(&text[range]));
        words
    }

    #[test]
    fn punctuation_is_ascii_symbols_and_the_unicode_categories() {
        assert_eq!(
            words("a$b«c。d€e", Behavior::Isolated),
            ["a", "$", "b", "«", "c", "。", "d€e"]
        );
        assert_eq!(words("wh?!at?", Behavior::Contiguous), ["wh", "?!", "at", "?"]);
        assert_eq!(words("wh?!at?", Behavior::Removed), ["wh", "at"]);
    }

    #[test]
    fn punctuation_newer_than_the_crate_is_none() {
        assert_eq!(words("a\u{2e43}b", Behavior::Isolated), ["a\u{2e43}b"]);
    }

    #[test]
    fn bert_drops_space_and_isolates_punctuation() {
        let text = " Hey,\u{a0}you?! \n";
        let mut words = Vec::new();

        split_as_bert(text, |range| words.push(&text[range]));

        assert_eq!(words, ["Hey", ",", "you", "?", "!"]);
    }
}
