//! Characters that a normal form keeps, whatever stands before them.
//!
//! They are the starters that the quick check of the form allows without a doubt: they stay what they are, no mark moves past
//! them, and they join nothing before them (<https://www.unicode.org/reports/tr15/#Stable_Code_Points>). So a text may be
//! cut before each of them, and its parts, normalized alone, make up its normal form.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use unicode_normalization_alignments::char::canonical_combining_class;

use super::Form;

const BLOCK: u32 = 64;
const BLOCKS: usize = (char::MAX as u32 / BLOCK) as usize + 1;

/// The inert characters of each form, a bit for each. A block is filled in when the first of its inert characters comes; until
/// then it is 0.
static INERT: [[AtomicU64; BLOCKS]; 4] = [const { [const { AtomicU64::new(0) }; BLOCKS] }; 4];

impl Form {
    /// The stretches of `text` that the form may change, in order, each with the inert character before it.
    pub(super) fn doubtful(self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = from + self.inert_length(&text[from..]);
            if found == text.len() {
                return None;
            }
            let before = text[from..found].chars().next_back();
            let start = found - before.map_or(0, char::len_utf8);
            from = text[found..]
                .char_indices()
                .find(|&(_, char)| self.is_inert(char))
                .map_or(text.len(), |(at, _)| found + at);
            Some(start..from)
        })
    }

    /// How many bytes at the start of `text` are inert characters.
    fn inert_length(self, text: &str) -> usize {
        let mut rest = text.chars();
        while let Some(char) = rest.next() {
            if char.is_ascii() {
                let after = rest.as_str();
                rest = after[ascii_length(after.as_bytes())..].chars();
            } else if !self.is_inert(char) {
                return text.len() - rest.as_str().len() - char.len_utf8();
            }
        }
        text.len()
    }

    #[inline]
    fn is_inert(self, char: char) -> bool {
        let block = &INERT[self as usize][(u32::from(char) / BLOCK) as usize];
        match block.load(Ordering::Relaxed) {
            0 => self.look_into(char, block),
            bits => bits >> (u32::from(char) % BLOCK) & 1 == 1,
        }
    }

    #[cold]
    fn look_into(self, char: char, block: &AtomicU64) -> bool {
        let is_inert =
            |char| canonical_combining_class(char) == 0 && self.quick_check(char.encode_utf8(&mut [0; 4]));
        // A block without any would stay 0, and be filled in again for each of its characters.
        if !is_inert(char) {
            return false;
        }
        let first = u32::from(char) / BLOCK * BLOCK;
        let bits = (0..BLOCK)
            .filter(|at| char::from_u32(first + at).is_some_and(is_inert))
            .fold(0, |bits, at| bits | 1 << at);
        block.store(bits, Ordering::Relaxed);
        true
    }
}

/// How many bytes at the start are ASCII.
fn ascii_length(bytes: &[u8]) -> usize {
    let blocks = bytes
        .chunks_exact(32)
        .take_while(|block| block.is_ascii())
        .count();
    let rest = &bytes[32 * blocks..];
    32 * blocks
        + rest
            .iter()
            .position(|byte| !byte.is_ascii())
            .unwrap_or(rest.len())
}
