//! Remembers the ids of pretokens that came before: most of a text is a few thousand of them.
//!
//! A cache changes speed, never results. It is bounded: short pretokens replace each other in a table of fixed
//! size; longer ones fill a map that is emptied when it is full; very long ones are never kept.

use hashbrown::{DefaultHashBuilder, HashMap};

use crate::vocab::TokenId;

/// Pretokens up to this long, with up to [`INLINE_IDS`] ids, are kept in the table.
const INLINE_BYTES: usize = 15;
const INLINE_IDS: usize = 3;
/// The table starts with this many slots and doubles, until its entries take 16 MB.
const FIRST_SLOTS: usize = 1 << 12;
const LAST_SLOTS: usize = 1 << 19;
/// Pretokens of more than this many bytes are not kept at all.
const LONGEST: usize = 256;
/// What the map of longer pretokens may hold, in bytes of keys and ids.
const MAP_BYTES: usize = 8 << 20;

/// One thread's memory of pretokens.
#[derive(Default)]
pub struct PretokenCache {
    slots: Vec<Slot>,
    used: usize,
    long: HashMap<Box<[u8]>, Box<[TokenId]>, DefaultHashBuilder>,
    long_bytes: usize,
}

/// 32 bytes, so that two slots share a cache line. `key` holds the bytes, and their number in its top byte; it is 0 in an
/// empty slot.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Slot {
    key: u128,
    ids: [TokenId; INLINE_IDS],
    count: u32,
}

impl PretokenCache {
    /// Appends the ids of `text[start..end]` and returns true if they are known.
    #[inline]
    pub fn get(&self, text: &[u8], start: usize, end: usize, ids: &mut Vec<TokenId>) -> bool {
        let Some(key) = inline_key(text, start, end) else {
            return self.get_long(&text[start..end], ids);
        };
        let Some(slot) = self.find(key) else { return false };
        // All places are copied and those too many dropped: a copy of fixed size costs less than a loop.
        let before = ids.len();
        ids.extend_from_slice(&slot.ids);
        ids.truncate(before + slot.count as usize);
        true
    }

    /// Remembers that `pretoken` becomes `ids`.
    pub fn insert(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        match inline_key(pretoken, 0, pretoken.len()) {
            Some(key) if ids.len() <= INLINE_IDS => self.insert_inline(key, ids),
            _ if pretoken.len() <= LONGEST => self.insert_long(pretoken, ids),
            _ => {}
        }
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    #[inline]
    fn find(&self, key: u128) -> Option<&Slot> {
        if self.slots.is_empty() {
            return None;
        }
        let at = hash(key) & (self.slots.len() - 1);
        // Two neighbours, in one cache line.
        let first = &self.slots[at];
        if first.key == key {
            return Some(first);
        }
        let second = &self.slots[at ^ 1];
        (second.key == key).then_some(second)
    }

    fn insert_inline(&mut self, key: u128, ids: &[TokenId]) {
        if self.used * 2 >= self.slots.len() && self.slots.len() < LAST_SLOTS {
            self.grow();
        }
        let mut slot = Slot {
            key,
            ids: [0; INLINE_IDS],
            count: ids.len() as u32,
        };
        slot.ids[..ids.len()].copy_from_slice(ids);
        self.place(slot);
    }

    /// Puts `slot` first of its two places; what was there moves to the second, what was there is forgotten.
    fn place(&mut self, slot: Slot) {
        let at = hash(slot.key) & (self.slots.len() - 1);
        let first = std::mem::replace(&mut self.slots[at], slot);
        let second = std::mem::replace(&mut self.slots[at ^ 1], first);
        self.used += usize::from(second.key == 0);
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

    fn get_long(&self, pretoken: &[u8], ids: &mut Vec<TokenId>) -> bool {
        if pretoken.len() > LONGEST {
            return false;
        }
        let known = self.long.get(pretoken);
        ids.extend_from_slice(known.map_or(&[][..], |ids| ids));
        known.is_some()
    }

    fn insert_long(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        let size = pretoken.len() + size_of_val(ids) + 64;
        if self.long_bytes + size > MAP_BYTES {
            self.long.clear();
            self.long_bytes = 0;
        }
        self.long_bytes += size;
        self.long.insert(pretoken.into(), ids.into());
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

    fn get(cache: &PretokenCache, pretoken: &[u8]) -> Option<Vec<TokenId>> {
        let mut ids = Vec::new();
        cache.get(pretoken, 0, pretoken.len(), &mut ids).then_some(ids)
    }

    #[test]
    fn what_was_inserted_comes_back_or_is_forgotten_but_never_changes() {
        let mut cache = PretokenCache::default();
        let pretoken = |i: usize| format!("{:x}{}", i * i, "é".repeat(i % 9)).into_bytes();
        let ids = |i: usize| (0..1 + i % 6).map(|j| (i + j) as TokenId).collect::<Vec<_>>();

        for i in 0..200_000 {
            cache.insert(&pretoken(i), &ids(i));
        }

        let known = (0..200_000).filter(|&i| match get(&cache, &pretoken(i)) {
            Some(found) => found == ids(i) || panic!("{i}: {found:?}"),
            None => false,
        });
        assert!(known.count() > 50_000);
    }

    #[test]
    fn bytes_of_zero_are_not_an_empty_pretoken() {
        let mut cache = PretokenCache::default();
        cache.insert(b"\0", &[5]);

        assert_eq!(get(&cache, b"\0"), Some(vec![5]));
        assert_eq!((get(&cache, b"\0\0"), get(&cache, b"")), (None, None));
    }

    #[test]
    fn a_pretoken_is_found_inside_a_longer_text() {
        let mut cache = PretokenCache::default();
        cache.insert(b" the", &[7]);
        let text = b"over the lazy dog and on";
        let mut ids = Vec::new();

        assert!(cache.get(text, 4, 8, &mut ids));
        assert!(!cache.get(text, 4, 9, &mut ids));
        assert_eq!(ids, [7]);
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

        assert!(cache.long_bytes <= MAP_BYTES);
        assert!(cache.slots.len() <= LAST_SLOTS);
    }
}
