//! Pretokens that are too long for a slot, or that become too many ids.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::vocab::TokenId;

/// Pretokens of more than this many bytes, or ids, are not kept at all.
const LONGEST: usize = 256;
/// No setting lets the entries take more.
const MOST_BYTES: usize = 1 << 30;
const MOST_IDS: usize = 1024;

/// Longer pretokens. Entries lie one after the other in one buffer, so that keeping one allocates nothing.
#[derive(Default)]
pub(super) struct LongPretokens {
    // Where the entry begins in `words`, plus one; 0 where a place is empty. The hash beside it spares a look, and reading
    // all keys again when the table grows: that was a tenth of a first pass over Chinese.
    places: Vec<(u32, u32)>,
    count: usize,
    // Each entry: the number of bytes and of ids, the bytes, the ids.
    words: Vec<u32>,
    hasher: DefaultHashBuilder,
}

impl LongPretokens {
    const FIRST_PLACES: usize = 1 << 12;

    /// Appends the ids of `pretoken` and returns true if they are known.
    pub(super) fn get(&self, pretoken: &[u8], ids: &mut Vec<TokenId>) -> bool {
        if pretoken.len() > LONGEST || self.places.is_empty() {
            return false;
        }
        match self.find(pretoken) {
            Ok(entry) => {
                ids.extend_from_slice(self.ids(entry));
                true
            }
            Err(_) => false,
        }
    }

    /// Remembers that `pretoken` becomes `ids`, unless it is too long. The table is emptied when its entries take so many
    /// bytes.
    pub(super) fn insert(&mut self, pretoken: &[u8], ids: &[TokenId], most_bytes: usize) {
        // An affix may spell a few bytes with many ids.
        if pretoken.len() > LONGEST || ids.len() > MOST_IDS {
            return;
        }
        // Places are kept in 32 bits.
        if 4 * self.words.len() > most_bytes.min(MOST_BYTES) {
            self.places.fill((0, 0));
            self.words.clear();
            self.count = 0;
        }
        if 2 * self.count >= self.places.len() {
            self.grow();
        }
        if let Err((place, tag)) = self.find(pretoken) {
            self.count += 1;
            self.places[place] = (self.words.len() as u32 + 1, tag);
            self.words.push((pretoken.len() << 16 | ids.len()) as u32);
            let (whole, rest) = pretoken.as_chunks::<4>();
            self.words
                .extend(whole.iter().map(|&word| u32::from_le_bytes(word)));
            if !rest.is_empty() {
                let mut word = [0; 4];
                word[..rest.len()].copy_from_slice(rest);
                self.words.push(u32::from_le_bytes(word));
            }
            self.words.extend_from_slice(ids);
        }
    }

    /// How many bytes are held.
    pub(super) fn bytes(&self) -> usize {
        size_of::<(u32, u32)>() * self.places.capacity() + size_of::<u32>() * self.words.capacity()
    }

    /// Where the entry of `pretoken` begins, or the place that it would take and its tag.
    fn find(&self, pretoken: &[u8]) -> Result<usize, (usize, u32)> {
        let tag = self.hasher.hash_one(pretoken) as u32;
        let mask = self.places.len() - 1;
        let mut place = tag as usize & mask;
        loop {
            match self.places[place] {
                (0, _) => return Err((place, tag)),
                (entry, found) if found == tag && self.is(entry as usize - 1, pretoken) => {
                    return Ok(entry as usize - 1);
                }
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn is(&self, entry: usize, pretoken: &[u8]) -> bool {
        let (length, _) = self.sizes(entry);
        let key = &self.words[entry + 1..entry + 1 + length.div_ceil(4)];
        let (whole, rest) = pretoken.as_chunks::<4>();
        length == pretoken.len()
            && whole
                .iter()
                .zip(key)
                .all(|(bytes, word)| *bytes == word.to_le_bytes())
            && (rest.is_empty() || key[whole.len()].to_le_bytes().starts_with(rest))
    }

    fn sizes(&self, entry: usize) -> (usize, usize) {
        let sizes = self.words[entry] as usize;
        (sizes >> 16, sizes & 0xFFFF)
    }

    fn ids(&self, entry: usize) -> &[TokenId] {
        let (length, count) = self.sizes(entry);
        let start = entry + 1 + length.div_ceil(4);
        &self.words[start..start + count]
    }

    fn grow(&mut self) {
        let places = (self.places.len() * 2).max(Self::FIRST_PLACES);
        let old = std::mem::replace(&mut self.places, vec![(0, 0); places]);
        for (entry, tag) in old.into_iter().filter(|&(entry, _)| entry != 0) {
            let mut place = tag as usize & (places - 1);
            while self.places[place].0 != 0 {
                place = (place + 1) & (places - 1);
            }
            self.places[place] = (entry, tag);
        }
    }
}
