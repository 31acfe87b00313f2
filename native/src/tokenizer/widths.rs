//! How many characters of a text each token covers, whatever the text.
//!
//! Guarantee: the characters that begin in the bytes that a token covers, and whether the first of these bytes lies inside of
//! one, follow from its id alone, so that offsets need no look at the text. That is so of single bytes, and of a token that is
//! taken whole; and then of all, if every merge makes a token as wide as its halves. Where it isn't, or where two texts share
//! an id, there are no widths.

use crate::bpe::Bpe;
use crate::vocab::{TokenBytes, TokenId};

/// Ids from here on are looked up among the tokens.
const MOST_IDS: usize = 1 << 24;

/// The characters of each token.
pub(super) struct Widths {
    /// By id twice the number of characters that begin in a token, plus one if its first byte lies inside of one. 0 where there
    /// is no such id, or too many characters. One byte each, since the table is read at random beside the cache of pretokens.
    packed: Vec<u8>,
}

/// The characters of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Width {
    /// How many begin in it.
    begun: u32,
    /// 1 where one begins before it and ends in it, or behind it.
    inside: u32,
}

impl Width {
    fn of(token: &[u8]) -> Self {
        Self {
            begun: characters(token),
            inside: token.first().map_or(0, |&byte| u32::from(!begins(byte))),
        }
    }

    fn pack(self) -> u8 {
        u8::try_from(self.begun << 1 | self.inside).unwrap_or(0)
    }

    #[inline(always)]
    fn unpack(packed: u8) -> Self {
        Self {
            begun: u32::from(packed >> 1),
            inside: u32::from(packed & 1),
        }
    }
}

impl Widths {
    /// The widths of a model's tokens, if they can be told.
    pub(super) fn new(bpe: &Bpe) -> Option<Self> {
        let tokens = bpe.token_bytes()?;
        if !bpe.has_all_bytes() || bpe.vocab.doubles().next().is_some() {
            return None;
        }
        let size = bpe.vocab.max_id().map_or(0, |id| id as usize + 1);
        let mut packed = vec![0; size.min(MOST_IDS)];
        for (token, id) in tokens.iter() {
            if let Some(width) = packed.get_mut(id as usize) {
                *width = Width::of(token).pack();
            }
        }
        let widths = Self { packed };
        widths.add_up(bpe, tokens).then_some(widths)
    }

    /// Whether each merge makes a token as wide as its halves, side by side.
    fn add_up(&self, bpe: &Bpe, tokens: &TokenBytes) -> bool {
        let width = |id| self.width(id).or_else(|| tokens.bytes(id).map(Width::of));
        bpe.merges.iter().all(|(left, right, merge)| {
            let (Some(left), Some(right)) = (width(left), width(right)) else {
                // No text in bytes comes to it.
                return true;
            };
            let begun = left.begun + right.begun;
            width(merge.id) == Some(Width { begun, ..left })
        })
    }

    #[inline(always)]
    fn width(&self, id: TokenId) -> Option<Width> {
        let packed = *self.packed.get(id as usize)?;
        (packed != 0).then(|| Width::unpack(packed))
    }

    /// Writes the start and the end of each id, which follow each other from the character `at` on; gives where they end.
    pub(super) fn place(
        &self,
        ids: &[TokenId],
        at: u32,
        tokens: &TokenBytes,
        offsets: &mut [[u32; 2]],
    ) -> u32 {
        let mut end = at;
        for (&id, offsets) in ids.iter().zip(offsets) {
            let width = self.width(id).unwrap_or_else(|| wide(tokens, id));
            // A part of a character stands for the whole.
            let start = end - width.inside;
            end += width.begun;
            *offsets = [start, end];
        }
        end
    }
}

#[cold]
#[inline(never)]
fn wide(tokens: &TokenBytes, id: TokenId) -> Width {
    Width::of(tokens.bytes(id).unwrap_or_default())
}

/// The number of characters that begin in some bytes of UTF-8.
pub(super) fn characters(bytes: &[u8]) -> u32 {
    bytes.iter().map(|&byte| u32::from(begins(byte))).sum()
}

fn begins(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_counts_the_characters_that_begin() {
        let width = |token: &[u8]| {
            let Width { begun, inside } = Width::of(token);
            (begun, inside)
        };
        let language = "語言".as_bytes();

        assert_eq!(width(b"ab"), (2, 0));
        assert_eq!(width(&language[..2]), (1, 0));
        assert_eq!(width(&language[2..3]), (0, 1));
        assert_eq!(width(&language[2..5]), (1, 1));
        assert_eq!(width(language), (2, 0));
    }

    #[test]
    fn widths_that_fit_are_packed_and_others_are_none() {
        for (begun, inside) in [(0, 1), (1, 0), (1, 1), (127, 0), (127, 1)] {
            let width = Width { begun, inside };
            assert_eq!(Width::unpack(width.pack()), width);
            assert_ne!(width.pack(), 0);
        }
        for begun in [128, 129, 255, 256, 100_000] {
            assert_eq!(Width { begun, inside: 0 }.pack(), 0);
        }
    }
}
