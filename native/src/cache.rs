//! Remembers the ids of pretokens that came before: most of a text is a few thousand of them.
//!
//! A cache changes speed, never results. It is bounded: short pretokens replace each other in a table of fixed
//! size; longer ones fill a table that is emptied when it is full; very long ones are never kept.

mod long;
mod lookups;
mod prefetch;
mod short;
mod table;
mod wide;

use std::ops::Range;

use long::LongPretokens;
pub use lookups::Lookups;
use table::{Entry, Table};

use crate::vocab::TokenId;

/// What each of the tables may take.
const TABLE_BYTES: usize = 16 << 20;

/// One thread's memory of pretokens.
pub struct PretokenCache {
    short: Table<short::Slot>,
    wide: Table<wide::Slot>,
    long: LongPretokens,
    turns: Option<Box<lookups::Turns>>,
}

impl Default for PretokenCache {
    fn default() -> Self {
        Self {
            short: Table::new(TABLE_BYTES),
            wide: Table::new(TABLE_BYTES),
            long: LongPretokens::default(),
            turns: None,
        }
    }
}

impl PretokenCache {
    /// Appends the ids of one pretoken, `text[range]`, and returns true if they are known.
    pub fn get(&self, text: &[u8], range: Range<usize>, ids: &mut Vec<TokenId>) -> bool {
        if let Some(key) = short::key(text, range.start, range.end)
            && let Some(slot) = self.short.find(&key, short::Slot::hash(&key))
        {
            let (of_slot, count) = slot.ids();
            ids.extend_from_slice(&of_slot[..count]);
            return true;
        }
        self.get_other(text, range, None, ids)
    }

    /// Remembers that `pretoken` becomes `ids`.
    pub fn insert(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        let short = short::key(pretoken, 0, pretoken.len()).and_then(|key| short::Slot::new(key, ids));
        if let Some(slot) = short {
            return self.short.insert(slot);
        }
        let wide = wide::key(pretoken, 0, pretoken.len()).and_then(|key| wide::Slot::new(key, ids));
        match wide {
            Some(slot) => self.wide.insert(slot),
            None => self.long.insert(pretoken, ids),
        }
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// [`Self::get`] for a pretoken that has no short slot. `hash` is that of its wide key, where it was made already.
    fn get_other(&self, text: &[u8], range: Range<usize>, hash: Option<u64>, ids: &mut Vec<TokenId>) -> bool {
        if let Some(key) = wide::key(text, range.start, range.end) {
            let hash = hash.unwrap_or_else(|| wide::Slot::hash(&key));
            if let Some(slot) = self.wide.find(&key, hash) {
                ids.extend_from_slice(slot.ids());
                return true;
            }
        }
        self.long.get(&text[range], ids)
    }
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
        assert!(cache.short.bytes() <= TABLE_BYTES && cache.wide.bytes() <= TABLE_BYTES);
    }
}
