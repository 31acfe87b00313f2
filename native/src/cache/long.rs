//! Pretokens that no short slot holds: in languages that are written without spaces, or with few tokens, every third.
//!
//! Entries lie one after the other in one buffer, so that keeping one is writing on, and none takes more than it needs: what is
//! kept of a text in Chinese is then a third of what slots of one size would take, and the nearer caches hold more of it.
//! A table of places beside it says where each begins. When they are full, all is forgotten.

mod key;

use std::hash::{BuildHasher, RandomState};

use crate::hash::fold;
use crate::prefetch::{self, LINE};
use crate::vocab::TokenId;
use key::{STRIDE, ends, middle, window_of, words_of};

/// Pretokens of more bytes are not kept at all.
pub(super) const LONGEST: usize = 255;
/// Pretokens of more ids are not kept: an affix may spell a few bytes with many.
const MOST_IDS: usize = 1024;
/// No setting lets the entries take more, and none makes them take less: else each would be forgotten for the next.
const MOST_BYTES: usize = 1 << 30;
const LEAST_BYTES: usize = 1 << 15;
/// Places that a pretoken may have, one after the other. The bound is for texts that were made to fall into one place.
const WAYS: usize = 16;

/// Where an entry begins in `words`, over [`STRIDE`], plus one; 0 where a place is empty. The tag beside it is most of the hash:
/// it spares a look, and reading all keys again when the table grows.
#[derive(Clone, Copy, Default)]
struct Place {
    entry: u32,
    tag: u32,
}

/// Where the ids of a pretoken are, while nothing was forgotten.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Where it begins in `words`.
    pub(super) start: u32,
    /// How often all was forgotten before.
    pub(super) age: u64,
}

/// Longer pretokens.
pub(super) struct LongPretokens {
    // A power of two of them, or none.
    places: Vec<Place>,
    count: usize,
    // Each entry: the number of bytes and of ids, the ids; then, from the next stride on, the bytes: both ends and the middle.
    words: Vec<u32>,
    age: u64,
    seed: u64,
}

impl Default for LongPretokens {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            count: 0,
            words: Vec::new(),
            age: 0,
            seed: RandomState::new().hash_one(0),
        }
    }
}

impl LongPretokens {
    const FIRST_PLACES: usize = 1 << 10;

    /// How many bytes are held.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Place>() * self.places.capacity() + size_of::<u32>() * self.words.capacity()
    }

    /// The hash of a pretoken, `text[start..end]`.
    #[inline]
    pub(super) fn hash(&self, text: &[u8], start: usize, end: usize) -> u64 {
        let [first, last] = ends(text, start, end);
        let hash = fold(first ^ u128::from(self.seed ^ (end - start) as u64));
        let hash = fold(last ^ u128::from(hash));
        let hash = middle(text, start, end).fold(hash, |hash, window| fold(window ^ u128::from(hash)));
        // Once more, by a constant: where texts differ in their last bytes alone, one seed of two hundred spread them badly.
        fold(u128::from(hash))
    }

    /// Asks for the place of the pretoken of a hash.
    #[inline]
    pub(super) fn prefetch_place(&self, hash: u64) {
        if let Some(place) = self.places.get(self.first(hash as u32)) {
            prefetch::line(place, 0);
        }
    }

    /// Asks for the entry of the pretoken of a hash, if it seems to be there.
    #[inline]
    pub(super) fn prefetch_entry(&self, hash: u64) {
        let tag = hash as u32;
        if let Some(place) = self.places.get(self.first(tag))
            && place.tag == tag
            && let Some(word) = self.words.get(place.start())
        {
            prefetch::line(word, 0);
            prefetch::line(word, LINE);
        }
    }

    /// The ids of a pretoken, `text[start..end]`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, text: &[u8], start: usize, end: usize, hash: u64) -> Option<&[TokenId]> {
        let place = self.place(text, start, end, hash as u32).ok()?;
        Some(self.ids(self.places[place].start()))
    }

    /// The ids of an entry that [`Self::insert`] gave, if it is still there.
    #[inline]
    pub(super) fn get(&self, entry: Entry) -> Option<&[TokenId]> {
        (entry.age == self.age).then(|| self.ids(entry.start as usize))
    }

    #[inline]
    fn ids(&self, start: usize) -> &[TokenId] {
        let count = self.words[start] as usize & 0xFFFF;
        &self.words[start + 1..start + 1 + count]
    }

    /// Remembers that a pretoken becomes `ids`, unless it is too long. All is forgotten when so many bytes are held, or more are
    /// needed.
    pub(super) fn insert(&mut self, pretoken: &[u8], ids: &[TokenId], most_bytes: usize) -> Option<Entry> {
        if pretoken.len() > LONGEST || ids.len() > MOST_IDS {
            return None;
        }
        self.make_room(
            pretoken.len(),
            ids.len(),
            most_bytes.clamp(LEAST_BYTES, MOST_BYTES),
        );
        let tag = self.hash(pretoken, 0, pretoken.len()) as u32;
        let age = self.age;
        let place = match self.place(pretoken, 0, pretoken.len(), tag) {
            Err(place) => place,
            Ok(place) => {
                let start = self.places[place].start() as u32;
                return Some(Entry { start, age });
            }
        };
        self.count += 1;
        let start = self.words.len();
        self.places[place] = Place {
            entry: (start / STRIDE) as u32 + 1,
            tag,
        };
        self.words.push((pretoken.len() << 16 | ids.len()) as u32);
        self.words.extend_from_slice(ids);
        self.words.resize(self.words.len().next_multiple_of(STRIDE), 0);
        let ends = ends(pretoken, 0, pretoken.len()).into_iter();
        for window in ends.chain(middle(pretoken, 0, pretoken.len())) {
            self.words.extend(words_of(window));
        }
        Some(Entry {
            start: start as u32,
            age,
        })
    }

    /// The place of a pretoken, or the one that it would take.
    #[inline]
    fn place(&self, text: &[u8], start: usize, end: usize, tag: u32) -> Result<usize, usize> {
        let first = self.first(tag);
        if self.places.is_empty() {
            return Err(first);
        }
        for step in 0..WAYS {
            let at = (first + step) & (self.places.len() - 1);
            let place = self.places[at];
            if place.entry == 0 {
                return Err(at);
            }
            if place.tag == tag && self.is(place.start(), text, start, end) {
                return Ok(at);
            }
        }
        Err(first)
    }

    #[inline]
    fn is(&self, entry: usize, text: &[u8], start: usize, end: usize) -> bool {
        let sizes = self.words[entry] as usize;
        if sizes >> 16 != end - start {
            return false;
        }
        let key = entry + (1 + (sizes & 0xFFFF)).next_multiple_of(STRIDE);
        let (key, _) = self.words[key..].as_chunks::<STRIDE>();
        let Some((ends_of_key, middle_of_key)) = key.split_at_checked(2) else {
            return false;
        };
        let differs = |window: u128, words: [u32; STRIDE]| window ^ window_of(words);
        let [first, last] = ends(text, start, end);
        if differs(first, ends_of_key[0]) | differs(last, ends_of_key[1]) != 0 {
            return false;
        }
        let mut pairs = middle(text, start, end).zip(middle_of_key);
        pairs.all(|(window, &words)| differs(window, words) == 0)
    }

    #[inline]
    fn first(&self, tag: u32) -> usize {
        tag as usize & self.places.len().wrapping_sub(1)
    }

    /// Makes room for one more entry.
    fn make_room(&mut self, bytes: usize, ids: usize, most_bytes: usize) {
        // Its numbers and ids, and its bytes: both windows at its ends and those between, each rounded up.
        let words = ids + bytes / size_of::<u32>() + 4 * STRIDE;
        let has_places = 2 * self.count < self.places.len();
        let places = size_of::<Place>() * self.places.len() * if has_places { 1 } else { 2 };
        let most_words = most_bytes.saturating_sub(places) / size_of::<u32>();
        if self.words.len() + words > most_words && self.count > 0 {
            self.places.fill(Place::default());
            self.words.clear();
            self.count = 0;
            self.age += 1;
        }
        if 2 * self.count >= self.places.len() {
            self.grow();
        }
        let needed = self.words.len() + words;
        if needed > self.words.capacity() {
            let capacity = (2 * self.words.capacity()).min(most_words).max(needed);
            self.words.reserve_exact(capacity - self.words.len());
        }
    }

    /// Forgets everything and gives the memory back.
    pub(super) fn clear(&mut self) {
        (self.places, self.words) = Default::default();
        self.count = 0;
        self.age += 1;
    }

    fn grow(&mut self) {
        let places = (self.places.len() * 2).max(Self::FIRST_PLACES);
        let old = std::mem::replace(&mut self.places, vec![Place::default(); places]);
        self.count = 0;
        for place in old.into_iter().filter(|place| place.entry != 0) {
            let first = self.first(place.tag);
            let ways = (0..WAYS).map(|step| (first + step) & (places - 1));
            let free = ways.into_iter().find(|&at| self.places[at].entry == 0);
            if let Some(at) = free {
                self.places[at] = place;
                self.count += 1;
            }
        }
    }
}

impl Place {
    /// Where the entry begins in `words`, of a place that isn't empty.
    #[inline]
    fn start(self) -> usize {
        (self.entry as usize).wrapping_sub(1).wrapping_mul(STRIDE)
    }
}

#[cfg(test)]
mod tests;
