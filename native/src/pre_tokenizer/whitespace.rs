//! The pre-tokenizers `Whitespace` and `WhitespaceSplit`: words, by two ideas of a word.
//!
//! Guarantee: both equal stock (tokenizers 0.23.3) on every text: `Whitespace` by stock's own pattern and regex engine,
//! `WhitespaceSplit` by the standard library's white space, which Unicode promised never to change.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::behavior::Behavior;
use super::by_char;

/// Calls `emit` for each run of word characters, and each of what is neither that nor white space.
pub(super) fn split_words(text: &str, mut emit: impl FnMut(Range<usize>)) {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\w+|[^\w\s]+").expect("the pattern above is well formed"));
    WORD.find_iter(text).for_each(|found| emit(found.range()));
}

/// Calls `emit` for each run of anything but white space.
pub(super) fn split_at_space(text: &str, emit: impl FnMut(Range<usize>)) {
    by_char::cut(text, Behavior::Removed, char::is_whitespace, emit);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, split: impl Fn(&str, &mut dyn FnMut(Range<usize>))) -> Vec<String> {
        let mut words = Vec::new();
        split(text, &mut |range| words.push(text[range].to_owned()));
        words
    }

    #[test]
    fn words_and_symbols_are_apart() {
        let split = |text: &str| words(text, |text, emit| split_words(text, emit));

        assert_eq!(
            split(" it's a_1\u{a0}e\u{301}…?  "),
            ["it", "'", "s", "a_1", "e\u{301}", "…?"]
        );
        assert_eq!(split(" \n"), [""; 0]);
    }

    #[test]
    fn space_of_any_script_separates() {
        let split = |text: &str| words(text, |text, emit| split_at_space(text, emit));

        assert_eq!(
            split("\u{3000}a-b\u{85}c\u{200b}d\u{2028}"),
            ["a-b", "c\u{200b}d"]
        );
        assert_eq!(split(""), [""; 0]);
    }
}
