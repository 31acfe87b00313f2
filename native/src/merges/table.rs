//! Pairs of small ids and their ranks, eight bytes each.
//!
//! Merging asks for two pairs a step and waits for each answer, so what counts is how near the table is: 100,000 pairs
//! take one megabyte, which the second cache holds. A pair stands somewhere in the line of memory that its hash chooses,
//! or in the next if that is full; a line is searched as a whole, without a branch. In front stands a filter of a byte a
//! pair, which answers nearly all lookups that find nothing.

use std::hash::{BuildHasher, RandomState};

use super::Rank;
use crate::prefetch;
use crate::vocab::TokenId;

/// Ids and ranks below this have a place here.
pub const LIMIT: u32 = (1 << BITS) - 1;
/// No pair has this rank. It is no id of a pair either.
pub const NO_RANK: Rank = LIMIT;

const BITS: u32 = 20;
/// Differs from every pair above its rank, and stays above zero as a signed number whatever pair it is compared with.
const EMPTY: u64 = i64::MAX as u64;
/// Bits of the filter for each pair, at least.
const FILTER_BITS: usize = 8;

/// Left half, right half and rank of each pair in one integer, by their hash.
#[derive(Debug, Clone)]
pub struct PairTable {
    // A power of two of them, filled from the left, at least one not full.
    lines: Vec<Line>,
    // Two bits of one word are set for each pair.
    filter: Vec<u64>,
    // Chosen anew for each table, so that no file can be written whose pairs all fall into one place.
    seed: u64,
}

/// A line of the processor's caches.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

impl Line {
    /// The rank of a pair, if it is here; more than [`LIMIT`] if not.
    #[inline]
    fn rank(&self, pair: u64) -> u64 {
        // What is left of the slot with the same pair is its rank; all others differ in a higher bit. Signed, since vectors
        // compare that way.
        let mut least = [i64::MAX; 4];
        for four in self.0.as_chunks::<4>().0 {
            for (least, slot) in least.iter_mut().zip(four) {
                *least = (*least).min((slot ^ pair << BITS) as i64);
            }
        }
        least[0].min(least[1]).min(least[2].min(least[3])) as u64
    }
}

impl PairTable {
    /// An empty table for up to so many pairs.
    pub fn with_capacity(pairs: usize) -> Self {
        let lines = (pairs * 13 / 80 + 1).next_power_of_two();
        let words = (pairs * FILTER_BITS / 64 + 1).next_power_of_two();
        Self {
            lines: vec![Line([EMPTY; 8]); lines],
            filter: vec![0; words],
            seed: RandomState::new().hash_one(lines),
        }
    }

    /// Asks for the memory that [`Self::insert`] will need.
    #[inline]
    pub fn prefetch(&self, left: TokenId, right: TokenId) {
        let hash = self.hash(pair(left, right));
        prefetch::line(&self.lines[hash as usize & (self.lines.len() - 1)], 0);
        prefetch::line(&self.filter[self.filter_place(hash).0], 0);
    }

    /// Sets the rank of a pair, and returns the one that it had. All three are below [`LIMIT`], but for a rank of
    /// [`NO_RANK`], which forgets the pair.
    pub fn insert(&mut self, left: TokenId, right: TokenId, rank: Rank) -> Option<Rank> {
        let pair = pair(left, right);
        let hash = self.hash(pair);
        let (word, bits) = self.filter_place(hash);
        self.filter[word] |= bits;
        let mask = self.lines.len() - 1;
        let mut at = hash as usize & mask;
        let slot = loop {
            let line = &mut self.lines[at].0;
            // Where the first empty slot is, without a branch: it can't be guessed.
            let full = line.iter().filter(|&&slot| slot != EMPTY).count();
            let place = match line.iter().any(|&slot| slot >> BITS == pair) {
                true => line.iter().position(|&slot| slot >> BITS == pair),
                false => (full < line.len()).then_some(full),
            };
            match place {
                Some(place) => break &mut line[place],
                None => at = (at + 1) & mask,
            }
        };
        let old = std::mem::replace(slot, pair << BITS | u64::from(rank));
        Some(rank_of(old)).filter(|&rank| rank != NO_RANK)
    }

    /// The rank of a pair, or [`NO_RANK`].
    #[inline]
    pub fn rank(&self, left: TokenId, right: TokenId) -> Rank {
        let pair = pair(left, right);
        let hash = self.hash(pair);
        let (word, bits) = self.filter_place(hash);
        // Without the filter, short pretokens took half as long again.
        if self.filter[word] & bits != bits {
            return NO_RANK;
        }
        let mask = self.lines.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let line = &self.lines[at];
            let rank = line.rank(pair);
            if rank <= u64::from(LIMIT) || line.0[7] == EMPTY {
                return rank.min(u64::from(NO_RANK)) as Rank;
            }
            at = (at + 1) & mask;
        }
    }

    /// Each pair and its rank, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, TokenId, Rank)> + '_ {
        let slots = self.lines.iter().flat_map(|line| &line.0);
        let full = slots.filter(|&&slot| rank_of(slot) != NO_RANK);
        full.map(|&slot| {
            let half = |shift: u32| (slot >> shift) as u32 & LIMIT;
            (half(2 * BITS), half(BITS), rank_of(slot))
        })
    }

    #[inline]
    fn hash(&self, pair: u64) -> u64 {
        let product = u128::from(pair ^ self.seed) * 0x9e37_79b9_7f4a_7c15;
        product as u64 ^ (product >> 64) as u64
    }

    /// A word of the filter and the bits of it that are set where a pair of this hash is there. Bits of the hash that
    /// choose no slot.
    #[inline]
    fn filter_place(&self, hash: u64) -> (usize, u64) {
        let word = (hash >> 32) as usize & (self.filter.len() - 1);
        (word, 1 << (hash >> 58) | 1 << (hash >> 52 & 63))
    }
}

/// A pair in 40 bits; ids beyond the limit become one that no pair has.
#[inline]
fn pair(left: TokenId, right: TokenId) -> u64 {
    u64::from(left.min(LIMIT)) << BITS | u64::from(right.min(LIMIT))
}

#[inline]
fn rank_of(slot: u64) -> Rank {
    slot as u32 & LIMIT
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_table_answers_as_a_map_does() {
        let mut numbers = fastrand::Rng::with_seed(1);
        for size in [0, 1, 2, 50, 3000] {
            let mut table = PairTable::with_capacity(size);
            let mut map = HashMap::new();
            let id = |numbers: &mut fastrand::Rng| match numbers.u8(0..3) {
                0 => LIMIT - 1 - numbers.u32(0..9),
                _ => numbers.u32(0..60),
            };
            for _ in 0..size {
                let (left, right) = (id(&mut numbers), id(&mut numbers));
                let rank = numbers.u32(0..=LIMIT);
                let old = table.insert(left, right, rank);
                let expected = map.insert((left, right), rank);
                assert_eq!(old, expected.filter(|&rank| rank != NO_RANK));
            }
            for _ in 0..20_000 {
                let (left, right) = (id(&mut numbers), id(&mut numbers));
                let expected = map.get(&(left, right)).copied().unwrap_or(NO_RANK);
                assert_eq!(table.rank(left, right), expected);
            }
            map.retain(|_, rank| *rank != NO_RANK);
            let found: HashMap<_, _> = table
                .iter()
                .map(|(left, right, rank)| ((left, right), rank))
                .collect();
            assert_eq!(found, map);
        }
    }

    #[test]
    fn ids_beyond_the_limit_are_never_found() {
        let mut table = PairTable::with_capacity(4);
        table.insert(1, 2, 3);

        for (left, right) in [
            (1 | 1 << BITS, 2),
            (1, 2 | 1 << BITS),
            (LIMIT, LIMIT),
            (u32::MAX, 2),
        ] {
            assert_eq!(table.rank(left, right), NO_RANK);
        }
        assert_eq!(table.rank(1, 2), 3);
    }
}
