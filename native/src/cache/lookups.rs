//! The pretokens of a text on their way through the cache.

use std::ops::Range;

use super::table::Entry;
use super::{PretokenCache, short, wide};
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
        let turns = &mut *self.turns;
        let count = std::mem::take(&mut turns.count);
        for (asked, &(start, end)) in turns.asked.iter_mut().zip(&turns.next[..count]) {
            let (key, hash) = match short::key(self.text, start as usize, end as usize) {
                Some(key) => {
                    let hash = short::Slot::hash(&key);
                    self.cache.short.prefetch(hash);
                    (key, hash)
                }
                None => (
                    NOT_SHORT,
                    ask_wide(self.text, self.cache, start as usize, end as usize),
                ),
            };
            *asked = Asked {
                key,
                hash,
                start,
                end,
            };
        }
        turns.asked_count = count;
    }

    /// Appends the ids of the pretokens whose memory was asked for.
    #[inline]
    fn append(&mut self, ids: &mut Vec<TokenId>) {
        let count = std::mem::take(&mut self.turns.asked_count);
        let mut known = 0;
        for at in 0..count {
            let turns = &mut *self.turns;
            let asked = &turns.asked[at % TURN];
            if asked.key != NOT_SHORT
                && let Some(slot) = self.cache.short.find(&asked.key, asked.hash)
            {
                let (of_slot, count) = slot.ids();
                turns.ids[known..known + short::MOST_IDS].copy_from_slice(&of_slot);
                known += count;
                continue;
            }
            ids.extend_from_slice(&turns.ids[..known]);
            known = 0;
            self.append_other(at, ids);
        }
        ids.extend_from_slice(&self.turns.ids[..known]);
    }

    /// Appends the ids of a pretoken that has no short slot.
    #[inline(never)]
    fn append_other(&mut self, at: usize, ids: &mut Vec<TokenId>) {
        let Asked {
            key,
            hash,
            start,
            end,
        } = self.turns.asked[at];
        let range = start as usize..end as usize;
        let wide_hash = (key == NOT_SHORT).then_some(hash);
        if !self.cache.get_other(self.text, range.clone(), wide_hash, ids) {
            let before = ids.len();
            (self.miss)(range.clone(), ids);
            self.cache.insert(&self.text[range], &ids[before..]);
        }
    }
}

/// Asks for the memory of a pretoken that is not short, and gives the hash of its wide key, if it has one.
fn ask_wide(text: &[u8], cache: &PretokenCache, start: usize, end: usize) -> u64 {
    let Some(key) = wide::key(text, start, end) else {
        return 0;
    };
    let hash = wide::Slot::hash(&key);
    cache.wide.prefetch(hash);
    hash
}
