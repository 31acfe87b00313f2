//! The pretokens of a text on their way through the cache.

use std::ops::Range;

use super::{PretokenCache, long, short};
use crate::short_key;
use crate::vocab::TokenId;

/// Pretokens that are looked up together.
const TURN: usize = 64;
/// Ids of short pretokens are gathered here: one copy of fixed size each, of which the next overwrites what is too much.
const GATHERED: usize = TURN * short::MOST_IDS;

/// Pretokens of one text on their way through the cache. Cutting guesses branches wrong and looking up waits for memory; done
/// in turns of some dozen pretokens, the waits of one turn overlap with each other and with the cutting of the next turn.
pub struct Lookups<'a, M> {
    text: &'a [u8],
    cache: &'a mut PretokenCache,
    miss: M,
    turns: Box<Turns>,
}

/// What is known of pretokens under way. Kept from text to text.
pub(super) struct Turns {
    /// Pretokens that were cut.
    next: [(u32, u32); TURN],
    count: usize,
    /// Pretokens whose memory was asked for.
    asked: [Asked; TURN],
    asked_count: usize,
    ids: [TokenId; GATHERED],
}

/// The key of a pretoken that is not short. No slot has it.
const NOT_SHORT: u128 = u128::MAX;

/// Whether it is that key: no other has all bits of its upper half.
#[inline]
fn is_not_short(key: u128) -> bool {
    (key >> 64) as u64 == u64::MAX
}

/// A pretoken whose memory was asked for.
#[derive(Clone, Copy)]
struct Asked {
    key: u128,
    hash: u64,
    start: u32,
    end: u32,
}

impl Default for Turns {
    fn default() -> Self {
        let none = Asked {
            key: NOT_SHORT,
            hash: 0,
            start: 0,
            end: 0,
        };
        Self {
            next: [(0, 0); TURN],
            count: 0,
            asked: [none; TURN],
            asked_count: 0,
            ids: [0; GATHERED],
        }
    }
}

impl<'a, M: FnMut(Range<usize>, &mut Vec<TokenId>)> Lookups<'a, M> {
    /// `miss` appends the ids of a pretoken of `text` that `cache` doesn't know.
    pub fn new(text: &'a [u8], cache: &'a mut PretokenCache, miss: M) -> Self {
        let mut turns = cache.turns.take().unwrap_or_default();
        (turns.count, turns.asked_count) = (0, 0);
        Self {
            text,
            cache,
            miss,
            turns,
        }
    }

    /// Takes the next pretoken; its ids are appended now or later.
    #[inline(always)]
    pub fn push(&mut self, range: Range<usize>, ids: &mut Vec<TokenId>) {
        let turns = &mut *self.turns;
        turns.next[turns.count % TURN] = (range.start as u32, range.end as u32);
        turns.count += 1;
        if turns.count == TURN {
            self.turn(ids);
        }
    }

    /// Appends the ids of every pretoken that was pushed.
    pub fn finish(mut self, ids: &mut Vec<TokenId>) {
        self.turn(ids);
        self.append(ids);
        self.cache.turns = Some(self.turns);
    }

    /// Appends the ids of the turn before, and asks for the memory of this one.
    #[inline(never)]
    fn turn(&mut self, ids: &mut Vec<TokenId>) {
        self.append(ids);
        let count = std::mem::take(&mut self.turns.count);
        let Turns { next, asked, .. } = &mut *self.turns;
        let mut long = 0;
        for (at, (asked, &(start, end))) in asked.iter_mut().zip(&next[..count]).enumerate() {
            let (key, hash) = match short_key::key(self.text, start as usize, end as usize) {
                Some(key) => {
                    let hash = short::hash(key);
                    self.cache.short.prefetch(hash);
                    (key, hash)
                }
                None => {
                    long |= 1 << at;
                    (NOT_SHORT, ask_long(self.text, self.cache, start, end))
                }
            };
            *asked = Asked {
                key,
                hash,
                start,
                end,
            };
        }
        self.ask_entries(long);
        self.turns.asked_count = count;
    }

    /// Asks for the entries of pretokens that are not short, whose places were asked for before.
    #[inline]
    fn ask_entries(&self, mut long: u64) {
        while long != 0 {
            let asked = &self.turns.asked[long.trailing_zeros() as usize % TURN];
            self.cache.long.prefetch_entry(asked.hash);
            long &= long - 1;
        }
    }

    /// Appends the ids of the pretokens whose memory was asked for.
    #[inline]
    fn append(&mut self, ids: &mut Vec<TokenId>) {
        let count = std::mem::take(&mut self.turns.asked_count);
        let mut known = 0;
        for at in 0..count {
            let turns = &mut *self.turns;
            let asked = &turns.asked[at % TURN];
            let mut entry = None;
            if !is_not_short(asked.key)
                && let Some(slot) = self.cache.short.find(asked.key, asked.hash)
            {
                let (of_slot, count) = slot.ids();
                if !short::Slot::is_elsewhere(count) {
                    turns.ids[known..known + short::MOST_IDS].copy_from_slice(&of_slot);
                    known += count;
                    continue;
                }
                entry = Some(slot.entry());
            }
            ids.extend_from_slice(&turns.ids[..known]);
            known = 0;
            self.append_other(at, entry, ids);
        }
        ids.extend_from_slice(&self.turns.ids[..known]);
    }

    /// Appends the ids of a pretoken that no short slot holds; one may tell where they are.
    #[inline(never)]
    fn append_other(&mut self, at: usize, entry: Option<long::Entry>, ids: &mut Vec<TokenId>) {
        let Asked {
            key,
            hash,
            start,
            end,
        } = self.turns.asked[at];
        let range = start as usize..end as usize;
        let known = match (entry, key) {
            (Some(entry), _) => self.cache.get_elsewhere(entry, ids),
            (None, NOT_SHORT) => self.cache.get_long(self.text, range.clone(), hash, ids),
            _ => false,
        };
        if !known {
            let before = ids.len();
            (self.miss)(range.clone(), ids);
            self.cache.insert(&self.text[range], &ids[before..]);
        }
    }
}

/// Asks for the place of a pretoken that is not short, and gives its hash.
fn ask_long(text: &[u8], cache: &PretokenCache, start: u32, end: u32) -> u64 {
    // What is too long is in no table, whatever its hash.
    if (end - start) as usize > long::LONGEST {
        return 0;
    }
    let hash = cache.long.hash(text, start as usize, end as usize);
    cache.long.prefetch_place(hash);
    hash
}
