//! Pretokens of up to 15 bytes that become up to four ids: nine of ten in any language.

use super::long::Entry;
use crate::hash::fold;
use crate::vocab::TokenId;

/// The most ids that a slot holds.
pub(super) const MOST_IDS: usize = 4;
/// The last place of the ids holds their number as well, above this many bits.
const ID_BITS: u32 = 29;
/// Stands for the number of ids of a pretoken that has too many.
const ELSEWHERE: usize = 7;

/// 32 bytes. The key holds the bytes, and one more than their number in its top byte, so that it is 0 in an empty slot alone.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
pub(super) struct Slot {
    key: u128,
    ids: [TokenId; MOST_IDS],
}

impl Slot {
    /// A slot, if so many and such large ids fit.
    pub(super) fn new(key: u128, ids: &[TokenId]) -> Option<Self> {
        if ids.len() > MOST_IDS || ids.iter().any(|&id| id >> ID_BITS != 0) {
            return None;
        }
        let mut slot = Self {
            key,
            ids: [0; MOST_IDS],
        };
        slot.ids[..ids.len()].copy_from_slice(ids);
        slot.ids[MOST_IDS - 1] |= (ids.len() as u32) << ID_BITS;
        Some(slot)
    }

    /// The slot of a pretoken whose ids are in an entry of the other table.
    pub(super) fn elsewhere(key: u128, entry: Entry) -> Self {
        let (low, high) = (entry.age as u32, (entry.age >> 32) as u32);
        let ids = [entry.start, low, high, (ELSEWHERE as u32) << ID_BITS];
        Self { key, ids }
    }

    /// Where the ids are of a slot that [has them elsewhere](Self::is_elsewhere).
    pub(super) fn entry(&self) -> Entry {
        let [start, low, high, _] = self.ids;
        let age = u64::from(high) << 32 | u64::from(low);
        Entry { start, age }
    }

    /// Whether that is so, by the number that [`Self::ids`] gave.
    #[inline]
    pub(super) fn is_elsewhere(count: usize) -> bool {
        count == ELSEWHERE
    }

    /// The ids and what follows them, and how many there are, or that they are elsewhere.
    #[inline]
    pub(super) fn ids(&self) -> ([TokenId; MOST_IDS], usize) {
        let [first, second, third, last] = self.ids;
        let count = (last >> ID_BITS) as usize;
        ([first, second, third, last & ((1 << ID_BITS) - 1)], count)
    }

    #[inline]
    pub(super) fn key(&self) -> u128 {
        self.key
    }

    #[inline]
    pub(super) fn has(&self, key: u128) -> bool {
        self.key == key
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.key == 0
    }

    #[inline]
    pub(super) fn hash(&self) -> u64 {
        hash(self.key)
    }
}

/// Spreads the bits of a key: the lowest choose the bucket, the highest the place in it.
#[inline]
pub(super) fn hash(key: u128) -> u64 {
    fold(key)
}
