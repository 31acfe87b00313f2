//! Cuts by what is true of single characters.
//!
//! Guarantee: equals stock's split by a predicate (tokenizers 0.23.3): each character of which it is true is one match.

use std::ops::Range;

use super::behavior::{Behavior, Cutter};

/// Calls `emit` for each piece of `text`, in order, where `is_match` tells the matches.
#[inline]
pub(super) fn cut(
    text: &str,
    behavior: Behavior,
    is_match: impl Fn(char) -> bool,
    emit: impl FnMut(Range<usize>),
) {
    let mut cutter = Cutter::new(behavior, false, emit);
    let mut told = 0;
    for (at, char) in text.char_indices() {
        if is_match(char) {
            if told < at {
                cutter.push(told..at, false);
            }
            told = at + char.len_utf8();
            cutter.push(at..told, true);
        }
    }
    if told < text.len() {
        cutter.push(told..text.len(), false);
    }
    cutter.finish();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, behavior: Behavior) -> Vec<&str> {
        let mut words = Vec::new();
        cut(
            text,
            behavior,
            |char| char == '語',
            |range| words.push(&text[range]),
        );
        words
    }

    #[test]
    fn each_behavior_cuts_at_single_characters() {
        let text = "a語語bc語";

        assert_eq!(words(text, Behavior::Removed), ["a", "bc"]);
        assert_eq!(words(text, Behavior::Isolated), ["a", "語", "語", "bc", "語"]);
        assert_eq!(words(text, Behavior::MergedWithPrevious), ["a語", "語", "bc語"]);
        assert_eq!(words(text, Behavior::MergedWithNext), ["a", "語", "語bc", "語"]);
        assert_eq!(words(text, Behavior::Contiguous), ["a", "語語", "bc", "語"]);
        assert_eq!(words("", Behavior::Isolated), [""; 0]);
    }
}
