//! The initial symbols: which characters get ids, and which symbols a word starts as.
//!
//! Guarantee: ids as stock gives them. Special tokens first, then the characters (seen ones and initial
//! ones) by code point. Byte-level vocabularies write a byte as a stand-in character, so the order is that
//! of the stand-ins: a space is `Ġ` (U+0120) and comes after all visible ASCII.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::byte_alphabet::char_of;

/// The tokens there are before the first merge, and the way from bytes to their ids.
#[derive(Debug)]
pub struct Alphabet {
    tokens: Vec<String>,
    ids: HashMap<String, u32, FxBuildHasher>,
    id_of_byte: [Option<u32>; 256],
}

impl Alphabet {
    /// Numbers `special_tokens` and then the characters of `seen` bytes and of `initial`.
    ///
    /// A repeated special token counts once. A character that is a special token keeps that lower id, which
    /// also decides ties between pairs, as in stock.
    pub fn new(special_tokens: &[String], seen: &[bool; 256], initial: &[char]) -> Self {
        let mut alphabet = Self {
            tokens: Vec::new(),
            ids: HashMap::default(),
            id_of_byte: [None; 256],
        };
        for token in special_tokens {
            alphabet.token(token);
        }
        let seen_chars = (0..=255u8).filter(|&byte| seen[usize::from(byte)]).map(char_of);
        let chars: BTreeSet<char> = seen_chars.chain(initial.iter().copied()).collect();
        for char in chars {
            alphabet.token(char.encode_utf8(&mut [0; 4]));
        }
        for byte in 0..=255u8 {
            let stand_in = char_of(byte);
            alphabet.id_of_byte[usize::from(byte)] = alphabet
                .ids
                .get(stand_in.encode_utf8(&mut [0; 4]) as &str)
                .copied();
        }
        alphabet
    }

    /// The id of `token`, which is given the next one unless it has one.
    pub fn token(&mut self, token: &str) -> u32 {
        if let Some(&id) = self.ids.get(token) {
            return id;
        }
        let id = self.tokens.len() as u32;
        self.tokens.push(token.to_owned());
        self.ids.insert(token.to_owned(), id);
        id
    }

    /// Whether `token` has an id.
    pub fn contains(&self, token: &str) -> bool {
        self.ids.contains_key(token)
    }

    /// The token whose id is `id`.
    pub fn text(&self, id: u32) -> &str {
        &self.tokens[id as usize]
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are no tokens at all.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The ids that `word` consists of before the first merge: the one place that decides this.
    ///
    /// A byte without an id is skipped and its neighbours become adjacent, as in stock.
    pub fn initial_symbols<'a>(&'a self, word: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
        word.iter().filter_map(|&byte| self.id_of_byte[usize::from(byte)])
    }

    /// All tokens, in the order of their ids.
    pub fn into_tokens(self) -> Vec<String> {
        self.tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_tokens_come_first_and_a_character_among_them_keeps_its_id() {
        let mut seen = [false; 256];
        for byte in *b"ba " {
            seen[usize::from(byte)] = true;
        }

        let specials = ["<s>", "b", "<s>"].map(str::to_owned);
        let alphabet = Alphabet::new(&specials, &seen, &['c']);

        assert_eq!(alphabet.initial_symbols(b"abx ").collect::<Vec<_>>(), [2, 1, 4]);
        assert_eq!(alphabet.into_tokens(), ["<s>", "b", "a", "c", "Ġ"]);
    }
}
