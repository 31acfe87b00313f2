//! The pre-tokenizer `FixedLength`: pieces of so many characters.
//!
//! Guarantee: equals stock's `FixedLength` (tokenizers 0.23.3) on every text. Stock panics at a length of 0; here it is an error
//! at load.

use std::ops::Range;

use crate::Result;
use crate::config::Node;

/// The length where the file names none, as in stock.
const DEFAULT: u64 = 5;

/// Cuts after each so many characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedLength {
    /// The characters of each piece but the last, at least 1.
    pub length: u64,
}

impl FixedLength {
    /// Reads a `FixedLength` component; `length` is 5 where it is absent.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        if !node.object()?.contains_key("length") {
            return Ok(Self { length: DEFAULT });
        }
        let at = node.field("length")?;
        match at.value().as_u64() {
            Some(length) if length > 0 => Ok(Self { length }),
            _ => Err(at.error(format_args!(
                "should be a whole number from 1 up, found {}",
                at.shown()
            ))),
        }
    }

    /// Calls `emit` for each piece of `text`, in order.
    pub fn split(&self, text: &str, mut emit: impl FnMut(Range<usize>)) {
        let mut start = 0;
        let mut count = 0;
        for (at, _) in text.char_indices() {
            if count == self.length {
                emit(start..at);
                start = at;
                count = 0;
            }
            count += 1;
        }
        if start < text.len() {
            emit(start..text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, length: u64) -> Vec<&str> {
        let mut words = Vec::new();
        FixedLength { length }.split(text, |range| words.push(&text[range]));
        words
    }

    #[test]
    fn pieces_count_characters() {
        assert_eq!(words("añ語bc", 2), ["añ", "語b", "c"]);
        assert_eq!(words("añ", 1), ["a", "ñ"]);
        assert_eq!(words("abcd", 2), ["ab", "cd"]);
        assert_eq!(words("ab", u64::MAX), ["ab"]);
        assert_eq!(words("", 3), [""; 0]);
    }
}
