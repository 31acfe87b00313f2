//! The pre-tokenizer `UnicodeScripts`: a text in one script per piece.
//!
//! Guarantee: equals stock's `UnicodeScripts` (tokenizers 0.23.3) on every text, its oddities included: spaces and unassigned
//! characters belong to the piece before them, so those at the start of a text vanish, and so does a text of nothing else.

use std::ops::Range;

use super::scripts::{ANY, Scripts};

/// Calls `emit` for each piece of `text`, in order.
pub(super) fn split(text: &str, mut emit: impl FnMut(Range<usize>)) {
    let mut scripts = Scripts::get().reader();
    let mut last = ANY;
    let mut start = 0;
    for (at, char) in text.char_indices() {
        let script = scripts.of(char);
        if script == ANY || script == last {
            continue;
        }
        if last != ANY {
            emit(start..at);
        }
        start = at;
        last = script;
    }
    if last != ANY {
        emit(start..text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        split(text, |range| words.push(&text[range]));
        words
    }

    #[test]
    fn a_piece_has_one_script() {
        assert_eq!(words("どこで生れ。Yes"), ["どこで生れ", "。", "Yes"]);
        assert_eq!(
            words("Apples are りんご 林檎ー"),
            ["Apples are ", "りんご 林檎ー"]
        );
    }

    #[test]
    fn spaces_at_the_start_vanish_as_in_stock() {
        assert_eq!(words("  a \u{378}1 "), ["a \u{378}", "1 "]);
        assert_eq!(words("  "), [""; 0]);
        assert_eq!(words(""), [""; 0]);
    }
}
