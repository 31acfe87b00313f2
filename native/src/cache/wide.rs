//! Pretokens of up to 47 bytes that become up to 19 ids: in languages that are written without spaces, or with few tokens,
//! every tenth is one of them.

use super::table::{Entry, MASKS, fold};
use crate::vocab::TokenId;

const PARTS: usize = 3;
/// The longest pretoken that a slot holds.
pub(super) const MOST_BYTES: usize = 16 * PARTS - 1;
/// The most ids that a slot holds.
pub(super) const MOST_IDS: usize = 19;

/// 128 bytes: two cache lines. The key holds the bytes, and one more than their number in its last byte.
#[derive(Clone, Copy, Default)]
#[repr(C, align(128))]
pub(super) struct Slot {
    key: [u128; PARTS],
    ids: [TokenId; MOST_IDS],
    count: u32,
}

impl Slot {
    /// A slot, if so many ids fit.
    pub(super) fn new(key: [u128; PARTS], ids: &[TokenId]) -> Option<Self> {
        if ids.len() > MOST_IDS {
            return None;
        }
        let mut slot = Self {
            key,
            ids: [0; MOST_IDS],
            count: ids.len() as u32,
        };
        slot.ids[..ids.len()].copy_from_slice(ids);
        Some(slot)
    }

    /// The ids.
    #[inline]
    pub(super) fn ids(&self) -> &[TokenId] {
        &self.ids[..self.count as usize]
    }
}

impl Entry for Slot {
    type Key = [u128; PARTS];

    #[inline]
    fn key(&self) -> [u128; PARTS] {
        self.key
    }

    #[inline]
    fn has(&self, key: &[u128; PARTS]) -> bool {
        // Not `==`, which becomes a call.
        let pairs = self.key.iter().zip(key);
        pairs.fold(0, |differs, (mine, asked)| differs | (mine ^ asked)) == 0
    }

    #[inline]
    fn hash(key: &[u128; PARTS]) -> u64 {
        key.iter().fold(0, |hash, part| fold(part ^ u128::from(hash)))
    }
}

/// The bytes of `text[start..end]` and their number, or `None` if they are too many.
#[inline]
pub(super) fn key(text: &[u8], start: usize, end: usize) -> Option<[u128; PARTS]> {
    let length = end - start;
    if length > MOST_BYTES {
        return None;
    }
    let mut window = [0; 16 * PARTS];
    match text.get(start..start + 16 * PARTS) {
        Some(bytes) => window.copy_from_slice(bytes),
        None => window[..length].copy_from_slice(&text[start..end]),
    }
    let (parts, _) = window.as_chunks::<16>();
    let mut key: [u128; PARTS] = std::array::from_fn(|part| {
        let of_part = length.saturating_sub(16 * part).min(16);
        u128::from_le_bytes(parts[part]) & MASKS[of_part]
    });
    key[PARTS - 1] |= (length as u128 + 1) << 120;
    Some(key)
}
