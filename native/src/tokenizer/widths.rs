//! How many characters of a text each token covers, whatever the text.
//!
//! Guarantee: where every token stands for bytes of its own, and every merge joins the bytes of its halves, the tokens that a
//! model makes of a text cover the text, each as many bytes as it has. So the characters that begin in a token, and whether
//! its first byte lies inside of one, follow from its id alone, and offsets need no look at the text. Where this doesn't hold
//! there are no widths.

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
        let tell = bpe.has_all_bytes() && bpe.vocab.doubles().next().is_none() && merges_join(bpe, tokens);
        if !tell {
            return None;
        }
        let size = bpe.vocab.max_id().map_or(0, |id| id as usize + 1);
        let mut packed = vec![0; size.min(MOST_IDS)];
        for (token, id) in tokens.iter() {
            if let Some(width) = packed.get_mut(id as usize) {
                *width = Width::of(token).pack();
            }
        }
        Some(Self { packed })
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
            let width = match self.packed.get(id as usize) {
                None | Some(0) => wide(tokens, id),
                Some(&packed) => Width::unpack(packed),
            };
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

/// Whether each merge of tokens that stand for bytes makes the token of both together.
fn merges_join(bpe: &Bpe, tokens: &TokenBytes) -> bool {
    bpe.merges.iter().all(|(left, right, merge)| {
        let (Some(left), Some(right)) = (tokens.bytes(left), tokens.bytes(right)) else {
            // No text in bytes comes to it.
            return true;
        };
        let made = tokens.bytes(merge.id).and_then(|made| made.strip_prefix(left));
        made == Some(right)
    })
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
