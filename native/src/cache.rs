//! Remembers the ids of pretokens that came before: most of a text is a few thousand of them.
//!
//! A cache changes speed, never results. It is bounded: short pretokens replace each other in a table of fixed
//! size; longer ones fill a table that is emptied when it is full; very long ones are never kept.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::DefaultHashBuilder;

use crate::vocab::TokenId;

/// Pretokens up to this long, with up to [`SLOT_IDS`] ids, are kept in the table.
const INLINE_BYTES: usize = 15;
const SLOT_IDS: usize = 3;
/// The table starts with this many slots and doubles, until its entries take 16 MB.
const FIRST_SLOTS: usize = 1 << 12;
const LAST_SLOTS: usize = 1 << 19;
/// Places that a pretoken may have. With two, half of the words of a first pass over English were missed again in the second.
const WAYS: usize = 4;
/// Pretokens of more than this many bytes are not kept at all.
const LONGEST: usize = 256;
/// The table of longer pretokens is emptied when its entries take this many words of four bytes: 16 MB.
const LONG_WORDS: usize = 4 << 20;

/// One thread's memory of pretokens.
#[derive(Default)]
pub struct PretokenCache {
    slots: Vec<Slot>,
    used: usize,
    long: LongCache,
}

/// Pretokens of one text on their way through the cache. Cutting guesses branches wrong and looking up waits for memory;
/// done in turns of some dozen pretokens, the waits of one turn overlap.
pub struct Lookups<'a, M> {
    text: &'a [u8],
    cache: &'a mut PretokenCache,
    miss: M,
    ranges: [(u32, u32); TURN],
    count: usize,
}

/// Pretokens that are looked up together.
const TURN: usize = 64;

impl<'a, M: FnMut(Range<usize>, &mut Vec<TokenId>)> Lookups<'a, M> {
    /// `miss` appends the ids of a pretoken of `text` that `cache` doesn't know.
    pub fn new(text: &'a [u8], cache: &'a mut PretokenCache, miss: M) -> Self {
        Self {
            text,
            cache,
            miss,
            ranges: [(0, 0); TURN],
            count: 0,
        }
    }

    /// Takes the next pretoken; its ids are appended now or later.
    #[inline]
    pub fn push(&mut self, range: Range<usize>, ids: &mut Vec<TokenId>) {
        self.ranges[self.count] = (range.start as u32, range.end as u32);
        self.count += 1;
        if self.count == TURN {
            self.finish(ids);
        }
    }

    /// Appends the ids of every pretoken that was pushed.
    pub fn finish(&mut self, ids: &mut Vec<TokenId>) {
        let count = std::mem::take(&mut self.count);
        let mut keys = [(None, 0); TURN];
        for (key, &(start, end)) in keys.iter_mut().zip(&self.ranges[..count]) {
            let inline = inline_key(self.text, start as usize, end as usize);
            *key = (inline, inline.map_or(0, |key| self.cache.place_of(key)));
        }
        let mut known = ids.len();
        // All places of a slot are copied and those too many overwritten by the next: a copy of fixed size costs less than
        // a loop.
        let room = |ids: &mut Vec<TokenId>, known: usize, left: usize| ids.resize(known + left * SLOT_IDS, 0);
        room(ids, known, count);
        for (at, &(key, place)) in keys[..count].iter().enumerate() {
            let (start, end) = self.ranges[at];
            let range = start as usize..end as usize;
            if let Some(slot) = key.and_then(|key| self.cache.find(key, place)) {
                ids[known..known + SLOT_IDS].copy_from_slice(&slot.ids);
                known += slot.count as usize;
                continue;
            }
            ids.truncate(known);
            // A short pretoken of many ids is kept with the long ones.
            if !self.cache.long.get(&self.text[range.clone()], ids) {
                (self.miss)(range.clone(), ids);
                self.cache.insert(&self.text[range], &ids[known..]);
            }
            known = ids.len();
            room(ids, known, count - at - 1);
        }
        ids.truncate(known);
    }
}

/// 32 bytes, so that two slots share a cache line. `key` holds the bytes, and their number in its top byte; it is 0 in an
/// empty slot.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Slot {
    key: u128,
    ids: [TokenId; SLOT_IDS],
    count: u32,
}

impl PretokenCache {
    /// Appends the ids of one pretoken, `text[range]`, and returns true if they are known.
    pub fn get(&self, text: &[u8], range: Range<usize>, ids: &mut Vec<TokenId>) -> bool {
        let known =
            inline_key(text, range.start, range.end).and_then(|key| self.find(key, self.place_of(key)));
        if let Some(slot) = known {
            ids.extend_from_slice(&slot.ids[..slot.count as usize]);
            return true;
        }
        self.long.get(&text[range], ids)
    }

    /// Remembers that `pretoken` becomes `ids`.
    pub fn insert(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        match inline_key(pretoken, 0, pretoken.len()) {
            Some(key) if ids.len() <= SLOT_IDS => self.insert_inline(key, ids),
            _ if pretoken.len() <= LONGEST => self.long.insert(pretoken, ids),
            _ => {}
        }
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The place of `key`: it is there or in one of the three beside it, which lie in the same two cache lines.
    #[inline]
    fn place_of(&self, key: u128) -> usize {
        hash(key) & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    fn find(&self, key: u128, place: usize) -> Option<&Slot> {
        let first = self.slots.get(place)?;
        if first.key == key {
            return Some(first);
        }
        let mut others = (1..WAYS).filter_map(|way| self.slots.get(place ^ way));
        others.find(|slot| slot.key == key)
    }

    fn insert_inline(&mut self, key: u128, ids: &[TokenId]) {
        if self.used * 3 >= self.slots.len() && self.slots.len() < LAST_SLOTS {
            self.grow();
        }
        let mut slot = Slot {
            key,
            ids: [0; SLOT_IDS],
            count: ids.len() as u32,
        };
        slot.ids[..ids.len()].copy_from_slice(ids);
        self.place(slot);
    }

    /// Puts `slot` first of its places; what was there moves to the next, and so on; what was last is forgotten.
    fn place(&mut self, slot: Slot) {
        let place = self.place_of(slot.key);
        let mut moved = slot;
        for way in 0..WAYS {
            std::mem::swap(&mut self.slots[place ^ way], &mut moved);
            if moved.key == 0 {
                self.used += 1;
                return;
            }
        }
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); slots]);
        self.used = 0;
        for slot in old {
            if slot.key != 0 {
                self.place(slot);
            }
        }
    }
}

/// Longer pretokens. Entries lie one after the other in one buffer, so that keeping one allocates nothing.
#[derive(Default)]
struct LongCache {
    // Where the entry begins in `words`, plus one; 0 where a place is empty. Half of the hash beside it spares a look.
    places: Vec<(u32, u32)>,
    count: usize,
    // Each entry: the number of bytes and of ids, the bytes, the ids.
    words: Vec<u32>,
    hasher: DefaultHashBuilder,
}

impl LongCache {
    const FIRST_PLACES: usize = 1 << 10;

    fn get(&self, pretoken: &[u8], ids: &mut Vec<TokenId>) -> bool {
        if pretoken.len() > LONGEST || self.places.is_empty() {
            return false;
        }
        match self.find(pretoken) {
            Ok(entry) => {
                ids.extend_from_slice(self.entry(entry).1);
                true
            }
            Err(_) => false,
        }
    }

    fn insert(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        if self.words.len() > LONG_WORDS {
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

    /// Where the entry of `pretoken` begins, or the place that it would take and its tag.
    fn find(&self, pretoken: &[u8]) -> Result<usize, (usize, u32)> {
        let hash = self.hasher.hash_one(pretoken);
        let tag = (hash >> 32) as u32;
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
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

    /// The words of the key, and the ids.
    fn entry(&self, entry: usize) -> (&[u32], &[TokenId]) {
        let (length, count) = self.sizes(entry);
        let (key, rest) = self.words[entry + 1..].split_at(length.div_ceil(4));
        (key, &rest[..count])
    }

    fn grow(&mut self) {
        let places = (self.places.len() * 2).max(Self::FIRST_PLACES);
        let old = std::mem::replace(&mut self.places, vec![(0, 0); places]);
        let mut key = Vec::new();
        for (entry, tag) in old.into_iter().filter(|&(entry, _)| entry != 0) {
            let (length, _) = self.sizes(entry as usize - 1);
            key.clear();
            key.extend(
                self.entry(entry as usize - 1)
                    .0
                    .iter()
                    .flat_map(|word| word.to_le_bytes()),
            );
            let Err((place, _)) = self.find(&key[..length]) else {
                continue;
            };
            self.places[place] = (entry, tag);
        }
    }
}

/// The bytes of `text[start..end]` and their number in one integer, if they are few enough.
#[inline]
fn inline_key(text: &[u8], start: usize, end: usize) -> Option<u128> {
    let length = end - start;
    if length > INLINE_BYTES {
        return None;
    }
    let bytes = match text.get(start..start + 16) {
        // One load, where the text goes on for 16 bytes; the rest is masked off.
        Some(window) => {
            let window: [u8; 16] = window.try_into().expect("the range has 16 bytes");
            u128::from_le_bytes(window) & ((1 << (8 * length)) - 1)
        }
        None => {
            let mut window = [0; 16];
            window[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(window)
        }
    };
    // One more than the length, so that no key is that of an empty slot.
    Some(bytes | (length as u128 + 1) << 120)
}

#[inline]
fn hash(key: u128) -> usize {
    // Multiply the halves into each other: cheap, and every byte reaches the low bits that choose the slot.
    let low = key as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let high = (key >> 64) as u64 ^ 0xd1b5_4a32_d192_ed03;
    let product = u128::from(low) * u128::from(high);
    (product as u64 ^ (product >> 64) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: TokenId = 1 << 30;

    fn look_up(cache: &mut PretokenCache, text: &[u8], ranges: &[Range<usize>]) -> Vec<TokenId> {
        let mut ids = Vec::new();
        let mut lookups = Lookups::new(text, cache, |range, ids: &mut Vec<TokenId>| {
            ids.push(UNKNOWN + range.end as TokenId)
        });
        ranges
            .iter()
            .for_each(|range| lookups.push(range.clone(), &mut ids));
        lookups.finish(&mut ids);
        ids
    }

    fn get(cache: &mut PretokenCache, pretoken: &[u8]) -> Option<Vec<TokenId>> {
        let known = Some(look_up(
            cache,
            pretoken,
            std::slice::from_ref(&(0..pretoken.len())),
        ));
        known.filter(|ids| ids.first().is_none_or(|&id| id < UNKNOWN))
    }

    #[test]
    fn what_was_inserted_comes_back_or_is_forgotten_but_never_changes() {
        let mut cache = PretokenCache::default();
        let pretoken = |i: usize| format!("{:x}{}", i * i, "é".repeat(i % 9)).into_bytes();
        let ids = |i: usize| (0..1 + i % 6).map(|j| (i + j) as TokenId).collect::<Vec<_>>();

        for i in 0..200_000 {
            cache.insert(&pretoken(i), &ids(i));
        }

        let known = (0..200_000).filter(|&i| match get(&mut cache, &pretoken(i)) {
            Some(found) => found == ids(i) || panic!("{i}: {found:?}"),
            None => false,
        });
        assert!(known.count() > 50_000);
    }

    #[test]
    fn bytes_of_zero_are_not_an_empty_pretoken() {
        let mut cache = PretokenCache::default();
        cache.insert(b"\0", &[5]);

        assert_eq!(get(&mut cache, b"\0"), Some(vec![5]));
        assert_eq!((get(&mut cache, b"\0\0"), get(&mut cache, b"")), (None, None));
    }

    #[test]
    fn pretokens_of_a_text_come_out_in_order_known_or_not() {
        let mut cache = PretokenCache::default();
        cache.insert(b" the", &[7]);
        cache.insert(b" dog and on and on and on", &[8; 20]);
        let text = b"over the lazy dog and on and on and on";

        let ranges = [0..4, 4..8, 8..13, 13..38, 4..8, 8..13];
        let ids = look_up(&mut cache, text, &ranges);

        let expected = [&[UNKNOWN + 4, 7, UNKNOWN + 13], &[8; 20][..], &[7, UNKNOWN + 13]];
        assert_eq!(ids, expected.concat());
    }

    #[test]
    fn more_pretokens_than_one_turn_come_out_in_order() {
        let text: Vec<u8> = (0..4000_u32)
            .flat_map(|i| format!("{:03}", i % 997).into_bytes())
            .collect();
        let ranges: Vec<_> = (0..4000).map(|i| 3 * i..3 * i + 3).collect();
        let mut cache = PretokenCache::default();

        let ids = look_up(&mut cache, &text, &ranges);

        // What came again has the ids of one of its places; which one hangs on what was forgotten.
        let place = |id: TokenId| ((id - UNKNOWN) / 3 - 1) as usize;
        assert_eq!(ids.len(), 4000);
        assert!(
            ids.iter()
                .enumerate()
                .all(|(i, &id)| place(id) % 997 == i % 997 && place(id) <= i)
        );
        assert!(ids.iter().enumerate().any(|(i, &id)| place(id) < i));
    }

    #[test]
    fn memory_stays_bounded() {
        let mut cache = PretokenCache::default();
        for i in 0..400_000_u32 {
            cache.insert(
                format!("a pretoken of more than fifteen bytes {i}").as_bytes(),
                &[i; 40],
            );
            cache.insert(&i.to_le_bytes(), &[i]);
        }

        assert!(cache.long.words.len() <= LONG_WORDS + 1024);
        assert!(cache.slots.len() <= LAST_SLOTS);
    }
}
