//! The split pattern of GPT-2, also of RoBERTa, GPT-NeoX and every bare `ByteLevel`.
//!
//! Guarantee: cuts where stock's engine cuts with [`PATTERN`].

use super::classes::{LETTER, MARK, NUMBER, OTHER};
use super::scanner::{Scanner, Text};

/// The pattern, as stock's `ByteLevel` holds it.
pub(super) const PATTERN: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The pattern as code.
pub(super) struct Gpt2;

impl Scanner for Gpt2 {
    #[inline(always)]
    fn end(text: &Text<'_>, at: usize) -> usize {
        let start = match text.byte(at) {
            b' ' => at + 1,
            b'\'' => match contraction(text, at) {
                Some(end) => return end,
                None => at,
            },
            _ => at,
        };
        let (class, length) = text.class(start);
        for same in [LETTER, NUMBER, OTHER | MARK] {
            if class & same != 0 {
                return text.run(start + length, same);
            }
        }
        text.leave_last(at, &text.space(at))
    }
}

/// The end of `'s|'t|'re|'ve|'m|'ll|'d`, given that an apostrophe stands at `at`.
#[inline]
fn contraction(text: &Text<'_>, at: usize) -> Option<usize> {
    match (text.byte(at + 1), text.byte(at + 2)) {
        (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
        (b'r' | b'v', b'e') | (b'l', b'l') => Some(at + 3),
        _ => None,
    }
}
