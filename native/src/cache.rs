//! Remembers the ids of pretokens that came before: most of a text is a few thousand of them.
//!
//! A cache changes speed, never results. It is bounded: short pretokens replace each other in a table of fixed
//! size; longer ones fill a table that is emptied when it is full; very long ones are never kept.

mod long;
mod lookups;

use std::ops::Range;

use long::LongPretokens;
pub use lookups::Lookups;

use crate::vocab::TokenId;

/// Pretokens up to this long, with up to [`SLOT_IDS`] ids, are kept in the table.
const INLINE_BYTES: usize = 15;
const SLOT_IDS: usize = 3;
/// The table starts with this many slots and doubles, until its entries take 16 MB.
const FIRST_SLOTS: usize = 1 << 12;
const LAST_SLOTS: usize = 1 << 19;
/// The key of a pretoken that is kept elsewhere. No slot has it.
const LONG: u128 = u128::MAX;
/// Places that a pretoken may have. With two, half of the words of a first pass over English were missed again in the second.
const WAYS: usize = 4;

/// One thread's memory of pretokens.
#[derive(Default)]
pub struct PretokenCache {
    slots: Vec<Slot>,
    used: usize,
    long: LongPretokens,
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
        let key = inline_key(text, range.start, range.end);
        if let Some(slot) = self.find(key, self.place_of(key)) {
            ids.extend_from_slice(&slot.ids[..slot.count as usize]);
            return true;
        }
        self.long.get(&text[range], ids)
    }

    /// Remembers that `pretoken` becomes `ids`.
    pub fn insert(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        let key = inline_key(pretoken, 0, pretoken.len());
        if key != LONG && ids.len() <= SLOT_IDS {
            self.insert_inline(key, ids);
        } else {
            self.long.insert(pretoken, ids);
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
        self.find_beside(key, place)
    }

    /// What stands in a place.
    #[inline]
    fn first(&self, place: usize) -> Slot {
        self.slots.get(place).copied().unwrap_or_default()
    }

    /// The slot of `key` if it is in another place than its first.
    #[inline]
    fn find_beside(&self, key: u128, place: usize) -> Option<&Slot> {
        // The table may have grown since the place was asked for; what is missed then is only made again.
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

/// The bytes of `text[start..end]` and their number in one integer, or [`LONG`] if they are too many.
#[inline]
fn inline_key(text: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    let Some(mask) = MASKS.get(length) else {
        return LONG;
    };
    let bytes = match text.get(start..start + 16) {
        // One load, where the text goes on for 16 bytes; the rest is masked off.
        Some(window) => {
            let window: [u8; 16] = window.try_into().expect("the range has 16 bytes");
            u128::from_le_bytes(window) & mask
        }
        None => {
            let mut window = [0; 16];
            window[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(window)
        }
    };
    // One more than the length, so that no key is that of an empty slot.
    bytes | (length as u128 + 1) << 120
}

/// For each length the bytes of a window that count.
const MASKS: [u128; INLINE_BYTES + 1] = {
    let mut masks = [0; INLINE_BYTES + 1];
    let mut length = 0;
    while length <= INLINE_BYTES {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

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

        assert!(cache.long.is_bounded());
        assert!(cache.slots.len() <= LAST_SLOTS);
    }
}
