//! What may come between a character and the one before it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::merges::Rank;

/// The merges that join what ends with a character and the first bytes of another one.
pub(super) struct Conflicts {
    // The lowest rank, by the character and the first byte.
    ranks: HashMap<u32, Rank, FxBuildHasher>,
    // Which keys may be in `ranks`: one bit for each value of some bits of the character. Most have none.
    seldom: Box<[u64; SELDOM / 64]>,
    // The same for merges whose left part is itself only the end of a character, by its last byte and the first byte.
    partial: Vec<Rank>,
}

pub(super) const SELDOM: usize = 1 << 14;

impl Default for Conflicts {
    fn default() -> Self {
        Self {
            ranks: HashMap::default(),
            seldom: Box::new([0; SELDOM / 64]),
            partial: vec![Rank::MAX; 64 * 64],
        }
    }
}

impl Conflicts {
    pub(super) fn insert(&mut self, left: &[u8], lead: u8, rank: Rank) {
        let Some(last) = last_character(left) else {
            if let Some(&last) = left.last() {
                let lowest = &mut self.partial[partial(u32::from(last), lead)];
                *lowest = rank.min(*lowest);
            }
            return;
        };
        let bit = last as usize % SELDOM;
        self.seldom[bit / 64] |= 1 << (bit % 64);
        let lowest = self.ranks.entry(key(last, lead)).or_insert(rank);
        *lowest = rank.min(*lowest);
    }

    /// Whether anything up to `rank` may join what ends with `before` and a part of `char`.
    #[inline]
    pub(super) fn before(&self, before: Option<char>, char: char, rank: Rank) -> bool {
        let Some(before) = before else { return false };
        let bit = before as usize % SELDOM;
        let lead = lead_of(char);
        if !before.is_ascii() && self.partial[partial(before as u32, lead)] <= rank {
            return true;
        }
        self.seldom[bit / 64] >> (bit % 64) & 1 == 1
            && self
                .ranks
                .get(&key(before, lead))
                .is_some_and(|&lowest| lowest <= rank)
    }
}

pub(super) fn key(last: char, lead: u8) -> u32 {
    (last as u32) << 8 | u32::from(lead)
}

/// Where the merges of a last byte, or of a character with that byte, and a first byte stand.
#[inline]
pub(super) fn partial(last: u32, lead: u8) -> usize {
    (last as usize & 63) << 6 | (lead & 63) as usize
}

#[inline]
pub(super) fn lead_of(char: char) -> u8 {
    let mut bytes = [0; 4];
    char.encode_utf8(&mut bytes);
    bytes[0]
}

/// The character that `bytes` end with.
pub(super) fn last_character(bytes: &[u8]) -> Option<char> {
    let start = bytes.iter().rposition(|byte| byte & 0xC0 != 0x80)?;
    only_character(&bytes[start..])
}

/// The character that `bytes` consist of.
pub(super) fn only_character(bytes: &[u8]) -> Option<char> {
    let mut chars = std::str::from_utf8(bytes).ok()?.chars();
    let char = chars.next()?;
    chars.next().is_none().then_some(char)
}
