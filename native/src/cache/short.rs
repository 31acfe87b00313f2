//! Pretokens of up to 15 bytes that become up to four ids: nine of ten in any language.

use super::table::{Entry, MASKS, fold};
use crate::vocab::TokenId;

/// The longest pretoken that a slot holds.
pub(super) const MOST_BYTES: usize = 15;
/// The most ids that a slot holds.
pub(super) const MOST_IDS: usize = 4;
/// The last place of the ids holds their number as well, above this many bits.
const ID_BITS: u32 = 29;

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

    /// The ids and what follows them, and how many there are.
    #[inline]
    pub(super) fn ids(&self) -> ([TokenId; MOST_IDS], usize) {
        let [first, second, third, last] = self.ids;
        let count = (last >> ID_BITS) as usize;
        ([first, second, third, last & ((1 << ID_BITS) - 1)], count)
    }
}

impl Entry for Slot {
    type Key = u128;

    #[inline]
    fn key(&self) -> u128 {
        self.key
    }

    #[inline]
    fn has(&self, key: &u128) -> bool {
        self.key == *key
    }

    #[inline]
    fn hash(key: &u128) -> u64 {
        fold(*key)
    }
}

/// The bytes of `text[start..end]` and their number in one integer, or `None` if they are too many.
#[inline]
pub(super) fn key(text: &[u8], start: usize, end: usize) -> Option<u128> {
    let length = end - start;
    if length > MOST_BYTES {
        return None;
    }
    let bytes = match text.get(start..start + 16) {
        // One load, where the text goes on for 16 bytes; the rest is masked off.
        Some(window) => {
            let window: [u8; 16] = window.try_into().expect("the range has 16 bytes");
            u128::from_le_bytes(window) & MASKS[length]
        }
        None => {
            let mut window = [0; 16];
            window[..length].copy_from_slice(&text[start..end]);
            u128::from_le_bytes(window)
        }
    };
    Some(bytes | (length as u128 + 1) << 120)
}
