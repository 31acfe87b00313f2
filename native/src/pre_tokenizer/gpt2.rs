//! The split pattern of GPT-2, also of RoBERTa, GPT-NeoX and every bare `ByteLevel`.
//!
//! Guarantee: cuts where stock's engine cuts with [`PATTERN`].

use super::block::{BYTES, Block, Starts};
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
            b'\'' => match contraction(text.byte(at + 1), text.byte(at + 2)) {
                Some(length) => return at + length as usize,
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

    #[inline(always)]
    fn starts(block: &Block, bytes: &[u8; BYTES]) -> Starts {
        let mut starts = Starts::of_runs(block);
        let marks = block.apostrophes & starts.bits;
        starts.cut_after_contractions(block, block.letters, marks, |at| {
            let at = at as usize;
            contraction(bytes[at + 1], bytes[at + 2])
        });
        starts
    }
}

/// The length of `'s|'t|'re|'ve|'m|'ll|'d`, given the two bytes after the apostrophe.
#[inline]
fn contraction(first: u8, second: u8) -> Option<u32> {
    match (first, second) {
        (b's' | b't' | b'm' | b'd', _) => Some(2),
        (b'r' | b'v', b'e') | (b'l', b'l') => Some(3),
        _ => None,
    }
}
