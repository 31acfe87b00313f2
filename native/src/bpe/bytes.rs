//! Pretokens whose symbols are bytes: those of byte-level models.

use std::sync::Arc;

use super::whole_characters::WholeCharacters;
use super::{Bpe, Part, Symbols};
use crate::short_key;
use crate::vocab::TokenId;

impl Bpe {
    /// Appends the ids of a pretoken of text whose symbols are its bytes: what [`Self::encode_bytes`] gives, sooner.
    pub fn encode_pretoken(&self, pretoken: &str, symbols: &mut Symbols, ids: &mut Vec<TokenId>) {
        if self.takes_whole()
            && let Some(id) = self.whole(pretoken.as_bytes())
        {
            ids.push(id);
            return;
        }
        let bytes = pretoken.as_bytes();
        if self.has_all_bytes && symbols.merge_ascii(&self.merges, &self.ascii_pairs, bytes, ids) {
            return;
        }
        self.merge_pretoken(pretoken, symbols);
        ids.extend_from_slice(symbols.ids());
    }

    /// Appends the ids of a pretoken given as raw bytes. Bytes that the vocabulary lacks are skipped, as in stock.
    pub fn encode_bytes(&self, pretoken: &[u8], symbols: &mut Symbols, ids: &mut Vec<TokenId>) {
        if self.takes_whole()
            && let Some(id) = self.whole(pretoken)
        {
            ids.push(id);
            return;
        }
        self.merge_bytes(pretoken, symbols);
        ids.extend_from_slice(symbols.ids());
    }

    /// [`Self::encode_pretoken`] with the number of bytes that each token covers. A skipped byte shortens the sum, as in
    /// stock.
    pub fn encode_pretoken_parts(&self, pretoken: &str, symbols: &mut Symbols, parts: &mut Vec<Part>) {
        if self.takes_whole()
            && let Some(id) = self.whole(pretoken.as_bytes())
        {
            parts.push((id, pretoken.len()));
            return;
        }
        self.merge_pretoken(pretoken, symbols);
        parts.extend(symbols.parts());
    }

    fn merge_pretoken(&self, pretoken: &str, symbols: &mut Symbols) {
        if pretoken.is_ascii() && self.has_all_bytes {
            let bytes = pretoken.as_bytes();
            symbols.clear();
            symbols.extend(bytes.iter().map(|&byte| self.ascii_pairs.id(byte)));
            return symbols.merge_from(&self.merges, |at, _, _| {
                self.ascii_pairs.rank(bytes[at], bytes[at + 1])
            });
        }
        // Where merges are passed over by chance, or don't go by rank alone, every character begins as bytes; and where some
        // byte is skipped, since what comes before and after is then not what a symbol meets.
        let by_rank = symbols.dropout.is_none() && !self.merges.need_heap() && self.has_all_bytes;
        let whole = by_rank.then(|| self.whole_characters());
        symbols.clear();
        let (mut before, mut end) = (None, 0);
        for char in pretoken.chars() {
            end += char.len_utf8();
            let before = before.replace(char);
            if char.is_ascii() {
                if let Some(id) = self.symbols_of_bytes[char as usize] {
                    symbols.push(id, 1);
                }
                continue;
            }
            if let Some(whole) = whole {
                let after = pretoken.as_bytes().get(end).copied();
                let whole = whole.get(char, before, after, &self.symbols_of_bytes, &self.merges);
                if whole.count() > 0 {
                    whole.parts().for_each(|(id, length)| symbols.push(id, length));
                    continue;
                }
            }
            for &byte in char.encode_utf8(&mut [0; 4]).as_bytes() {
                if let Some(id) = self.symbols_of_bytes[byte as usize] {
                    symbols.push(id, 1);
                }
            }
        }
        symbols.merge(&self.merges);
    }

    pub(super) fn whole_characters(&self) -> &WholeCharacters {
        self.whole_characters.get_or_init(|| {
            let tokens = self
                .bytes
                .as_ref()
                .expect("only a byte-level model merges pretokens of bytes");
            Arc::new(WholeCharacters::new(tokens, &self.merges))
        })
    }

    fn merge_bytes(&self, pretoken: &[u8], symbols: &mut Symbols) {
        symbols.clear();
        for &byte in pretoken {
            if let Some(id) = self.symbols_of_bytes[byte as usize] {
                symbols.push(id, 1);
            }
        }
        symbols.merge(&self.merges);
    }

    fn whole(&self, pretoken: &[u8]) -> Option<TokenId> {
        let key = short_key::key(pretoken, 0, pretoken.len());
        let id = match (&self.whole_tokens, key) {
            (Some(tokens), Some(key)) => tokens.id(key)?,
            _ => self.bytes.as_ref()?.id(pretoken)?,
        };
        (!self.banned.contains(&id)).then_some(id)
    }

    /// Appends the symbols of a pretoken before anything merges.
    pub fn unmerged_bytes(&self, pretoken: &[u8], parts: &mut Vec<Part>) {
        let ids = pretoken.iter().map(|&byte| self.symbols_of_bytes[byte as usize]);
        parts.extend(ids.flatten().map(|id| (id, 1)));
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use crate::bpe::{Bpe, BpeSettings, Symbols};
    use crate::byte_alphabet::{bytes_to_token, char_of};
    use crate::merges::Merges;
    use crate::vocab::Vocab;

    /// A model with a token for each byte and random merges of four letters.
    fn random_model(numbers: &mut Rng) -> Bpe {
        let mut vocab = Vocab::default();
        (0..=255).for_each(|byte| vocab.insert(&char_of(byte).to_string(), u32::from(byte)));
        let mut parts: Vec<Vec<u8>> = (b'a'..=b'd').map(|byte| vec![byte]).collect();
        let mut pairs = Vec::new();
        for id in 256..numbers.u32(260..320) {
            let mut part = || parts[numbers.usize(0..parts.len())].clone();
            let (left, right) = (part(), part());
            let whole = [left.as_slice(), &right].concat();
            if whole.len() < 12 && !parts.contains(&whole) {
                vocab.insert(&bytes_to_token(&whole), id);
                pairs.push((bytes_to_token(&left), bytes_to_token(&right)));
                parts.push(whole);
            }
        }
        vocab.finish();
        let texts = pairs.iter().map(|(left, right)| (left.as_str(), right.as_str()));
        let merges = Merges::new(&vocab, texts, "").expect("the vocabulary holds every part");
        Bpe::new(vocab, merges, BpeSettings::default(), true)
    }

    #[test]
    fn ascii_of_any_length_gives_the_ids_of_its_bytes() {
        let mut numbers = Rng::with_seed(3);
        let mut symbols = Symbols::default();
        let mut merged = 0;
        for _ in 0..40 {
            let model = random_model(&mut numbers);
            for length in 0..140 {
                let text: String = (0..length)
                    .map(|_| numbers.choice(['a', 'b', 'c', 'd']).unwrap())
                    .collect();
                let (mut ids, mut expected, mut parts) = (Vec::new(), Vec::new(), Vec::new());

                model.encode_pretoken(&text, &mut symbols, &mut ids);
                model.encode_pretoken_parts(&text, &mut symbols, &mut parts);
                model.encode_bytes(text.as_bytes(), &mut symbols, &mut expected);

                assert_eq!(ids, expected, "{text:?} with {:?}", model.merges.pairs());
                assert!(parts.iter().map(|part| part.0).eq(expected), "{text:?}");
                assert_eq!(parts.iter().map(|part| part.1).sum::<usize>(), length);
                merged += length - ids.len();
            }
        }
        assert!(merged > 50_000, "{merged}");
    }
}
