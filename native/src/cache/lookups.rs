//! The pretokens of a text on their way through the cache.

use std::ops::Range;

use super::{LONG, PretokenCache, SLOT_IDS, Slot, inline_key};
use crate::vocab::TokenId;

/// Pretokens of one text on their way through the cache. Cutting guesses branches wrong and looking up waits for memory;
/// done in turns of some dozen pretokens, the waits of one turn overlap.
pub struct Lookups<'a, M> {
    text: &'a [u8],
    cache: &'a mut PretokenCache,
    miss: M,
    ranges: [(u32, u32); TURN],
    count: usize,
    keys: [(u128, usize); TURN],
    slots: [Slot; TURN],
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
            keys: [(LONG, 0); TURN],
            slots: [Slot::default(); TURN],
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
        for (key, &(start, end)) in self.keys.iter_mut().zip(&self.ranges[..count]) {
            let inline = inline_key(self.text, start as usize, end as usize);
            *key = (inline, self.cache.place_of(inline));
        }
        // All first places are read before anything hangs on what is there: these reads wait side by side.
        for (slot, &(_, place)) in self.slots.iter_mut().zip(&self.keys[..count]) {
            *slot = self.cache.first(place);
        }
        let mut known = ids.len();
        // All places of a slot are copied and those too many overwritten by the next: a copy of fixed size costs less than
        // a loop.
        let room = |ids: &mut Vec<TokenId>, known: usize, left: usize| ids.resize(known + left * SLOT_IDS, 0);
        room(ids, known, count);
        for at in 0..count {
            let ((key, place), slot) = (self.keys[at], &self.slots[at]);
            // What was read may be gone by now; it is right all the same.
            let slot = if slot.key == key {
                Some(slot)
            } else {
                self.cache.find_beside(key, place)
            };
            if let Some(slot) = slot {
                ids[known..known + SLOT_IDS].copy_from_slice(&slot.ids);
                known += slot.count as usize;
                continue;
            }
            let (start, end) = self.ranges[at];
            let range = start as usize..end as usize;
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
