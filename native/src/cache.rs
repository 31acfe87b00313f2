//! Remembers the ids of pretokens that came before: most of a text is a few thousand of them.
//!
//! A cache changes speed, never results. It is bounded: short pretokens replace each other in tables of limited
//! size; longer ones fill a buffer that is emptied when it is full; very long ones are never kept. How much all caches of a
//! process take together is a setting, see [`set_limit`].

mod budget;
mod long;
mod lookups;
mod short;
mod table;

use std::ops::Range;

use budget::Claim;
pub use budget::{limit, set_limit};
use long::LongPretokens;
pub use lookups::Lookups;
use table::Table;

use crate::short_key;
use crate::vocab::TokenId;

/// A cache that holds no more than this is left alone, whatever falls to it.
const LEAST_BYTES: usize = 1 << 20;

/// A table of short pretokens of this size takes no more than a fourth of a share: one of 32 MB made a first pass over 100 MB of
/// many languages take a tenth longer, and later ones no less time.
const AMPLE: usize = 16 << 20;

/// One thread's memory of pretokens.
#[derive(Default)]
pub struct PretokenCache {
    short: Table,
    long: LongPretokens,
    turns: Option<Box<lookups::Turns>>,
    claim: Claim,
}

impl PretokenCache {
    /// Appends the ids of one pretoken, `text[range]`, and returns true if they are known.
    pub fn get(&self, text: &[u8], range: Range<usize>, ids: &mut Vec<TokenId>) -> bool {
        let Range { start, end } = range;
        let Some(key) = short_key::key(text, start, end) else {
            return end - start <= long::LONGEST && {
                let hash = self.long.hash(text, start, end);
                self.get_long(text, range, hash, ids)
            };
        };
        let Some(slot) = self.short.find(key, short::hash(key)) else {
            return false;
        };
        let (of_slot, count) = slot.ids();
        if short::Slot::is_elsewhere(count) {
            return self.get_elsewhere(slot.entry(), ids);
        }
        ids.extend_from_slice(&of_slot[..count]);
        true
    }

    /// Remembers that `pretoken` becomes `ids`.
    pub fn insert(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        let share = self.claim.share();
        let key = short_key::key(pretoken, 0, pretoken.len());
        if let Some(slot) = key.and_then(|key| short::Slot::new(key, ids)) {
            return self.insert_short(slot, share);
        }
        let entry = self.long.insert(pretoken, ids, share / 8 * 3);
        if let Some((key, entry)) = key.zip(entry) {
            self.insert_short(short::Slot::elsewhere(key, entry), share);
        }
    }

    /// Short pretokens have up to half of a share, but for [`AMPLE`] a fourth, longer ones three eighths.
    fn insert_short(&mut self, slot: short::Slot, share: usize) {
        let bytes = self.short.bytes();
        let most = (share / 2).min(AMPLE).max(share / 4);
        if self.short.is_full() && (bytes == 0 || 2 * bytes <= most) {
            // While it grows, the table is there twice: as it was and of double size.
            if 3 * bytes + self.long.bytes() > share {
                self.long.clear();
            }
            self.short.grow();
        }
        self.short.insert(slot);
    }

    /// How many bytes the tables hold.
    pub fn bytes(&self) -> usize {
        self.short.bytes() + self.long.bytes()
    }

    /// Forgets everything if more is held than what falls to this cache. To be called once a text.
    pub fn keep_to_share(&mut self) {
        if self.bytes() > self.claim.share().max(LEAST_BYTES) {
            self.clear();
        }
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        self.short = Table::default();
        self.long.clear();
    }

    /// [`Self::get`] for a pretoken whose short slot says where the ids are.
    fn get_elsewhere(&self, entry: long::Entry, ids: &mut Vec<TokenId>) -> bool {
        append(self.long.get(entry), ids)
    }

    /// [`Self::get`] for a pretoken without a short key, whose hash is known.
    fn get_long(&self, text: &[u8], range: Range<usize>, hash: u64, ids: &mut Vec<TokenId>) -> bool {
        append(self.long.find(text, range.start, range.end, hash), ids)
    }
}

fn append(known: Option<&[TokenId]>, ids: &mut Vec<TokenId>) -> bool {
    ids.extend_from_slice(known.unwrap_or_default());
    known.is_some()
}

#[cfg(test)]
mod tests;
