//! When tokens that are characters, or parts of one, are first merged with a neighbour.

use super::class;
use crate::merges::Rank;
use crate::vocab::{TokenBytes, TokenId};

/// Whether `bytes` may be a character beyond ASCII, or a part of one.
pub(super) fn is_near_a_character(bytes: &[u8]) -> bool {
    // Both, without a branch between them: neither can be guessed.
    (bytes.len() <= 4) & bytes.first().is_some_and(|&first| first >= 0x80)
}

/// For the tokens that may be characters or parts of one: the lowest rank at which one is merged with anything at its left,
/// and all merges with what is at its right. Ids from [`MOST_IDS`] on are left out, so their characters are never whole.
pub(super) struct FirstRanks {
    // Which tokens they are, a bit for each id: nearly all merges are of others, and the bits stay in the nearest cache.
    are_near: Vec<u64>,
    // Where a token stands in `tokens`, by its id.
    places: Vec<u32>,
    // The first byte of each token, by its id.
    leads: Vec<u8>,
    tokens: Vec<Near>,
    rights: Vec<Right>,
}

pub(super) struct Near {
    as_right: Rank,
    // The last of its merges in `rights`.
    rights: u32,
    // The first byte, where the token is the start of a character and not all of it.
    lead: Option<u8>,
}

/// A merge with what begins with a byte of this class.
pub(super) struct Right {
    class: u64,
    rank: Rank,
    // The one before it of the same left token.
    next: u32,
}

pub(super) const MOST_IDS: usize = 1 << 20;
pub(super) const NOWHERE: u32 = u32::MAX;

impl FirstRanks {
    pub(super) fn new(tokens: &TokenBytes) -> Self {
        let most = tokens.highest_id().map_or(0, |id| id as usize + 1).min(MOST_IDS);
        let mut first = Self {
            are_near: vec![0; most.div_ceil(64)],
            places: vec![NOWHERE; most],
            leads: vec![0; most],
            tokens: Vec::new(),
            rights: Vec::new(),
        };
        for (bytes, id) in tokens.iter().filter(|(_, id)| (*id as usize) < MOST_IDS) {
            first.leads[id as usize] = bytes.first().copied().unwrap_or(0);
            if !is_near_a_character(bytes) {
                continue;
            }
            first.are_near[id as usize / 64] |= 1 << (id % 64);
            first.places[id as usize] = first.tokens.len() as u32;
            first.tokens.push(Near {
                as_right: Rank::MAX,
                rights: NOWHERE,
                lead: (bytes[0] >= 0xC0 && bytes.len() < length_of(bytes[0])).then_some(bytes[0]),
            });
        }
        first
    }

    #[inline]
    pub(super) fn is_near(&self, id: TokenId) -> bool {
        let bits = self.are_near.get(id as usize / 64);
        bits.is_some_and(|bits| bits >> (id % 64) & 1 == 1)
    }

    pub(super) fn note(&mut self, left: TokenId, right: TokenId, rank: Rank) {
        if let Some(place) = self.place(left) {
            // The inside of a character never follows its end; what is unknown may be anything.
            let class = match self.leads.get(right as usize) {
                Some(0x80..0xC0) => 0,
                Some(&lead) => class(lead),
                None => u64::MAX,
            };
            let next = self.tokens[place].rights;
            self.tokens[place].rights = self.rights.len() as u32;
            self.rights.push(Right { class, rank, next });
        }
        if let Some(place) = self.place(right) {
            let near = &mut self.tokens[place];
            near.as_right = rank.min(near.as_right);
        }
    }

    #[inline]
    pub(super) fn place(&self, id: TokenId) -> Option<usize> {
        let place = *self.places.get(id as usize)?;
        (place != NOWHERE).then_some(place as usize)
    }

    pub(super) fn lead_of_part(&self, id: TokenId) -> Option<u8> {
        self.tokens[self.place(id)?].lead
    }

    /// Whether `id` is merged with nothing at its left up to `rank`.
    pub(super) fn left_is_later(&self, id: TokenId, rank: Rank) -> bool {
        self.place(id)
            .is_some_and(|place| self.tokens[place].as_right > rank)
    }

    /// The classes of bytes with which begins what may be merged with `id` at its left, up to `rank`.
    pub(super) fn rights_up_to(&self, id: TokenId, rank: Rank) -> Option<u64> {
        let (mut classes, mut at) = (0, self.tokens[self.place(id)?].rights);
        while let Some(right) = self.rights.get(at as usize) {
            if right.rank <= rank {
                classes |= right.class;
            }
            at = right.next;
        }
        Some(classes)
    }
}

/// How many bytes a character has that begins with `lead`.
fn length_of(lead: u8) -> usize {
    match lead {
        0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}
