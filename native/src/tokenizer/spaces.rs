//! How many spaces each token of bytes begins and ends with, which some post-processors trim off its offsets.

use crate::post_processor::{ByteLevel, spaces};
use crate::vocab::{TokenBytes, TokenId};

/// Ids from here on are looked up among the tokens.
const MOST_IDS: usize = 1 << 24;
/// Stands for numbers that a half of a byte can't hold.
const MANY: u8 = u8::MAX;

/// The spaces at both ends of each token.
pub(super) struct Spaces {
    /// By id the number at the start, and 16 times the number at the end; or [`MANY`].
    packed: Vec<u8>,
}

impl Spaces {
    /// Reads all tokens.
    pub(super) fn new(tokens: &TokenBytes) -> Self {
        let size = tokens.iter().map(|(_, id)| id as usize + 1).max().unwrap_or(0);
        let mut packed = vec![0; size.min(MOST_IDS)];
        for (token, id) in tokens.iter() {
            if let Some(packed) = packed.get_mut(id as usize) {
                *packed = match count(token) {
                    (leading @ ..15, trailing @ ..15) => (leading | trailing << 4) as u8,
                    _ => MANY,
                };
            }
        }
        Self { packed }
    }

    /// Trims the offsets of ids.
    pub(super) fn trim(
        &self,
        ids: &[TokenId],
        tokens: &TokenBytes,
        trimming: ByteLevel,
        offsets: &mut [[u32; 2]],
    ) {
        for (&id, offsets) in ids.iter().zip(offsets) {
            let spaces = match self.packed.get(id as usize) {
                None | Some(&MANY) => many(tokens, id),
                Some(&packed) => (usize::from(packed & 15), usize::from(packed >> 4)),
            };
            trim(offsets, trimming, spaces);
        }
    }

    /// Trims the offsets of a token that the text spells `found`.
    pub(super) fn trim_found(found: &str, trimming: ByteLevel, offsets: &mut [u32; 2]) {
        trim(offsets, trimming, spaces(found));
    }
}

#[inline(always)]
fn trim(offsets: &mut [u32; 2], trimming: ByteLevel, (leading, trailing): (usize, usize)) {
    let [start, end] = offsets.map(|offset| offset as usize);
    // The first token of a text starts at 0, which is what counts of it.
    let (start, end) = trimming.trimmed((start, end), false, leading, trailing);
    *offsets = [start as u32, end as u32];
}

/// Of all that the byte alphabet writes, a space alone counts as one.
fn count(token: &[u8]) -> (usize, usize) {
    let is_space = |byte: &&u8| **byte == b' ';
    let leading = token.iter().take_while(is_space).count();
    (leading, token.iter().rev().take_while(is_space).count())
}

#[cold]
#[inline(never)]
fn many(tokens: &TokenBytes, id: TokenId) -> (usize, usize) {
    count(tokens.bytes(id).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_alphabet::{bytes_to_token, char_of};

    #[test]
    fn spaces_of_bytes_are_those_of_the_token_that_writes_them() {
        for byte in 0..=u8::MAX {
            let token = [b' ', byte, b'a', byte, b' ', b' '];
            assert_eq!(count(&token), spaces(&bytes_to_token(&token)), "{byte}");
            assert!(!char_of(byte).is_whitespace());
        }
        assert_eq!(count(b"   "), (3, 3));
        assert_eq!(count(b""), (0, 0));
    }
}
