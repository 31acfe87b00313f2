//! Remembers the ids of pretokens that came before: most of a text is a few thousand of them.
//!
//! A cache changes speed, never results. It is bounded: short pretokens replace each other in tables of limited
//! size; longer ones fill a table that is emptied when it is full; very long ones are never kept. How much all caches of a
//! process take together is a setting, see [`set_limit`].

mod budget;
mod long;
mod lookups;
mod prefetch;
mod short;
mod table;
mod wide;

use std::ops::Range;

use budget::Claim;
pub use budget::{limit, set_limit};
use long::LongPretokens;
pub use lookups::Lookups;
use table::{Entry, Table};

use crate::vocab::TokenId;

/// A cache that holds no more than this is left alone, whatever falls to it.
const LEAST_BYTES: usize = 1 << 20;

/// One thread's memory of pretokens.
#[derive(Default)]
pub struct PretokenCache {
    short: Table<short::Slot>,
    wide: Table<wide::Slot>,
    long: LongPretokens,
    turns: Option<Box<lookups::Turns>>,
    claim: Claim,
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
        // A fourth for each table; the vectors of the third grow by doubling.
        let most_bytes = self.claim.share() / 4;
        if let Some(slot) = short {
            return self.short.insert(slot, most_bytes);
        }
        let wide = wide::key(pretoken, 0, pretoken.len()).and_then(|key| wide::Slot::new(key, ids));
        match wide {
            Some(slot) => self.wide.insert(slot, most_bytes),
            None => self.long.insert(pretoken, ids, most_bytes / 2),
        }
    }

    /// How many bytes the tables hold.
    pub fn bytes(&self) -> usize {
        self.short.bytes() + self.wide.bytes() + self.long.bytes()
    }

    /// Forgets everything if more is held than what falls to this cache. To be called once a text.
    pub fn keep_to_share(&mut self) {
        if self.bytes() > self.claim.share().max(LEAST_BYTES) {
            self.clear();
        }
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        (self.short, self.wide, self.long) = Default::default();
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
    use super::budget::Budget;
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
    fn what_is_more_than_a_share_is_forgotten_before_the_next_text() {
        let budget: &'static Budget = Box::leak(Box::new(Budget::new(64 << 20)));
        let mut cache = PretokenCache {
            claim: budget.claim(),
            ..PretokenCache::default()
        };
        for i in 0..200_000_u32 {
            cache.insert(&i.to_le_bytes(), &[i]);
        }
        assert!(cache.bytes() > LEAST_BYTES);

        let others: Vec<_> = (0..63).map(|_| budget.claim()).collect();
        cache.keep_to_share();

        assert!(cache.bytes() <= LEAST_BYTES);
        assert_eq!(others.len(), 63);
    }

    #[test]
    fn ids_too_large_for_a_short_slot_are_kept_elsewhere() {
        let mut cache = PretokenCache::default();
        cache.insert(b"ab", &[1, TokenId::MAX]);
        cache.insert(b"abc", &[2; 5]);
        cache.insert(&[b'a'; 47], &[3; 19]);
        cache.insert(&[b'a'; 48], &[4; 20]);

        let get = |pretoken: &[u8]| {
            let mut ids = Vec::new();
            cache.get(pretoken, 0..pretoken.len(), &mut ids).then_some(ids)
        };
        assert_eq!(get(b"ab"), Some(vec![1, TokenId::MAX]));
        assert_eq!(get(b"abc"), Some(vec![2; 5]));
        assert_eq!(get(&[b'a'; 47]), Some(vec![3; 19]));
        assert_eq!(get(&[b'a'; 48]), Some(vec![4; 20]));
        assert_eq!(get(&[b'a'; 46]), None);
    }

    #[test]
    fn memory_stays_bounded() {
        const LIMIT: usize = 16 << 20;
        let budget: &'static Budget = Box::leak(Box::new(Budget::new(LIMIT)));
        let mut cache = PretokenCache {
            claim: budget.claim(),
            ..PretokenCache::default()
        };
        for i in 0..400_000_u32 {
            cache.insert(
                format!("a pretoken of more than fifteen bytes {i}").as_bytes(),
                &[i; 40],
            );
            cache.insert(&i.to_le_bytes(), &[i]);
        }

        assert!(cache.bytes() <= LIMIT && cache.bytes() > LIMIT / 8);
    }
}
