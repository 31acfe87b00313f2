//! The vocabulary of the model: token text and id, both ways, and the bytes that a token stands for.
//!
//! Texts lie in one arena, so that 128,000 tokens are two allocations and not 128,000.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::byte_alphabet;

/// A token's number in the vocabulary.
pub type TokenId = u32;

/// Token texts and their ids. Later insertions of one text replace its id, as in a JSON object.
#[derive(Clone, Default)]
pub struct Vocab {
    texts: Arena,
    ids: Vec<TokenId>,
    by_id: Ids,
    doubles: Vec<(TokenId, usize)>,
}

impl Vocab {
    /// Adds `token`; where the text is there already its id is replaced.
    pub fn insert(&mut self, token: &str, id: TokenId) {
        self.insert_new(token, id);
    }

    /// The same; returns whether the text is new.
    pub fn insert_new(&mut self, token: &str, id: TokenId) -> bool {
        match self.texts.insert(token.as_bytes()) {
            Inserted::New => {
                self.ids.push(id);
                true
            }
            Inserted::Old(entry) => {
                self.ids[entry] = id;
                false
            }
        }
    }

    /// Indexes the ids; call once after the last insertion.
    pub fn finish(&mut self) {
        self.by_id = Ids::new(&self.ids);
        self.doubles = (0..self.ids.len())
            .filter(|&entry| self.by_id.get(self.ids[entry]) != Some(entry))
            .map(|entry| (self.ids[entry], entry))
            .collect();
    }

    /// The texts in a row in the order of the file, where each ends, and their ids: what [`Self::from_parts`] takes.
    pub(crate) fn parts(&self) -> (&[u8], &[u32], &[TokenId]) {
        (&self.texts.data, &self.texts.ends, &self.ids)
    }

    /// The vocabulary of such parts, whose texts are distinct; `None` where they don't fit together.
    pub(crate) fn from_parts(data: Vec<u8>, ends: Vec<u32>, ids: Vec<TokenId>) -> Option<Self> {
        let text = simdutf8::basic::from_utf8(&data).ok()?;
        let fits = ends.is_sorted()
            && ends.iter().all(|&end| text.is_char_boundary(end as usize))
            && ends.last().map_or(0, |&end| end as usize) == data.len()
            && ends.len() == ids.len();
        let mut vocab = fits.then(|| Self {
            texts: Arena::of_distinct(data, ends),
            ids,
            ..Self::default()
        })?;
        vocab.finish();
        Some(vocab)
    }

    /// The number of token texts.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no token at all.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The highest id, if any.
    pub fn max_id(&self) -> Option<TokenId> {
        self.ids.iter().copied().max()
    }

    /// The id of `token`.
    pub fn id(&self, token: &str) -> Option<TokenId> {
        self.id_of_utf8(token.as_bytes())
    }

    pub(crate) fn id_of_utf8(&self, token: &[u8]) -> Option<TokenId> {
        self.texts.find(token).map(|entry| self.ids[entry])
    }

    /// The text of `id`. Where two texts share an id, the first of the file.
    pub fn token(&self, id: TokenId) -> Option<&str> {
        self.by_id.get(id).map(|entry| self.text(entry))
    }

    /// Whether a token has this id.
    pub fn has_id(&self, id: TokenId) -> bool {
        self.by_id.get(id).is_some()
    }

    /// All tokens with their ids, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, TokenId)> {
        // Checked once for all: token by token takes a sixth of the time of a load.
        let texts = simdutf8::basic::from_utf8(&self.texts.data).expect("only whole strings are inserted");
        let ends = &self.texts.ends;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let spans = starts.zip(ends).zip(&self.ids);
        spans.map(move |((start, &end), &id)| (&texts[start as usize..end as usize], id))
    }

    /// Texts that share their id with an earlier text.
    pub fn doubles(&self) -> impl Iterator<Item = (&str, TokenId)> {
        self.doubles.iter().map(|&(id, entry)| (self.text(entry), id))
    }

    fn text(&self, entry: usize) -> &str {
        std::str::from_utf8(self.texts.get(entry)).expect("only whole strings are inserted")
    }
}

/// The bytes behind the tokens of a byte-level vocabulary, both ways.
#[derive(Clone)]
pub struct TokenBytes {
    bytes: Arena,
    ids: Vec<TokenId>,
    by_id: Ids,
}

impl TokenBytes {
    /// Reads every token of `vocab` through the byte alphabet. Tokens with a character outside it stand for
    /// no bytes that a text could hold, and are left out.
    pub fn new(vocab: &Vocab) -> Self {
        let mut data = Vec::with_capacity(vocab.texts.data.len());
        let (mut ends, mut ids) = (Vec::with_capacity(vocab.len()), Vec::with_capacity(vocab.len()));
        for (token, id) in vocab.iter() {
            if byte_alphabet::extend_with_bytes(token, &mut data) {
                ends.push(data.len() as u32);
                ids.push(id);
            }
        }
        Self {
            // The alphabet has one character a byte: distinct texts are distinct bytes.
            bytes: Arena::of_distinct(data, ends),
            by_id: Ids::new(&ids),
            ids,
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The bytes of all tokens with their ids, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], TokenId)> {
        self.bytes.iter().zip(self.ids.iter().copied())
    }

    /// The id of the token that stands for `bytes`.
    pub fn id(&self, bytes: &[u8]) -> Option<TokenId> {
        self.bytes.find(bytes).map(|entry| self.ids[entry])
    }

    /// The bytes that `id` stands for.
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        self.by_id.get(id).map(|entry| self.bytes.get(entry))
    }
}

/// Which entry has an id. A table where ids are dense; a map where a file holds a few huge ones.
#[derive(Clone)]
enum Ids {
    Dense(Vec<Option<u32>>),
    Sparse(HashMap<TokenId, u32>),
}

impl Default for Ids {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl Ids {
    fn new(ids: &[TokenId]) -> Self {
        let top = ids.iter().copied().max().map_or(0, |id| id as usize + 1);
        let entries = || {
            ids.iter()
                .enumerate()
                .rev()
                .map(|(entry, &id)| (id, entry as u32))
        };
        if top <= 8 * ids.len() + 65_536 {
            let mut table = vec![None; top];
            entries().for_each(|(id, entry)| table[id as usize] = Some(entry));
            Self::Dense(table)
        } else {
            Self::Sparse(entries().collect())
        }
    }

    fn get(&self, id: TokenId) -> Option<usize> {
        match self {
            Self::Dense(table) => table.get(id as usize).copied().flatten(),
            Self::Sparse(map) => map.get(&id).copied(),
        }
        .map(|entry| entry as usize)
    }
}

/// Distinct byte strings, numbered in order of arrival.
#[derive(Clone, Default)]
struct Arena {
    data: Vec<u8>,
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

enum Inserted {
    New,
    Old(usize),
}

impl Arena {
    /// Strings that are known to be distinct, in a row with their ends.
    fn of_distinct(data: Vec<u8>, ends: Vec<u32>) -> Self {
        let hasher = DefaultHashBuilder::default();
        let hash = |entry: u32| hasher.hash_one(span(&data, &ends, entry as usize));
        let mut table = HashTable::with_capacity(ends.len());
        for entry in 0..ends.len() as u32 {
            table.insert_unique(hash(entry), entry, |&entry| hash(entry));
        }
        Self {
            data,
            ends,
            table,
            hasher,
        }
    }

    fn get(&self, entry: usize) -> &[u8] {
        span(&self.data, &self.ends, entry)
    }

    /// Every string, in order.
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let (mut rest, mut start) = (self.data.as_slice(), 0);
        self.ends.iter().map(move |&end| {
            let (string, behind) = rest.split_at((end - start) as usize);
            (rest, start) = (behind, end);
            string
        })
    }

    fn find(&self, bytes: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(bytes);
        self.table
            .find(hash, |&entry| self.get(entry as usize) == bytes)
            .map(|&entry| entry as usize)
    }

    fn insert(&mut self, bytes: &[u8]) -> Inserted {
        let Self {
            data,
            ends,
            table,
            hasher,
        } = self;
        let hash = hasher.hash_one(bytes);
        let entry = table.entry(
            hash,
            |&entry| span(data, ends, entry as usize) == bytes,
            |&entry| hasher.hash_one(span(data, ends, entry as usize)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => Inserted::Old(*found.get() as usize),
            hashbrown::hash_table::Entry::Vacant(slot) => {
                slot.insert(ends.len() as u32);
                data.extend_from_slice(bytes);
                ends.push(data.len() as u32);
                Inserted::New
            }
        }
    }
}

fn span<'a>(data: &'a [u8], ends: &[u32], entry: usize) -> &'a [u8] {
    let start = if entry == 0 { 0 } else { ends[entry - 1] as usize };
    &data[start..ends[entry] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_given_twice_keeps_its_last_id() {
        let mut vocab = Vocab::default();
        for (token, id) in [("a", 0), ("b", 1), ("a", 7)] {
            vocab.insert(token, id);
        }
        vocab.finish();

        assert_eq!(
            (vocab.id("a"), vocab.token(7), vocab.token(0)),
            (Some(7), Some("a"), None)
        );
        assert_eq!((vocab.len(), vocab.max_id()), (2, Some(7)));
    }

    #[test]
    fn texts_that_share_an_id_are_reported_and_the_first_spells_it() {
        let mut vocab = Vocab::default();
        vocab.insert("a", 3);
        vocab.insert("b", 3);
        vocab.finish();

        assert_eq!(vocab.token(3), Some("a"));
        assert_eq!(vocab.doubles().collect::<Vec<_>>(), [("b", 3)]);
    }

    #[test]
    fn a_huge_id_costs_no_table() {
        let mut vocab = Vocab::default();
        vocab.insert("a", 4_000_000_000);
        vocab.finish();

        assert_eq!(vocab.token(4_000_000_000), Some("a"));
        assert!(matches!(vocab.by_id, Ids::Sparse(_)));
    }
}
