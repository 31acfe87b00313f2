//! Pairs of small ids and their ranks, eight bytes each.
//!
//! Merging asks for two pairs a step and waits for each answer, so what counts is how soon it comes: a pair stands in one of
//! the four slots of two buckets, all of which are read at once, and no branch is guessed wrong: whether two neighbours merge
//! can't be guessed. Where all four slots of a new pair are full, one of them moves to its other bucket, and so on: cuckoo
//! hashing, R. Pagh and F. F. Rodler (2004), with buckets as by M. Dietzfelbinger and C. Weidling (2007). Those of two may
//! be 89 % full: J. A. Cain, P. Sanders and N. Wormald (2007).

use std::hash::{BuildHasher, RandomState};

use super::Rank;
use crate::prefetch;
use crate::vocab::TokenId;

/// Ids and ranks below this have a place here.
pub const LIMIT: u32 = (1 << BITS) - 1;
/// No pair has this rank. It is no id of a pair either.
pub const NO_RANK: Rank = LIMIT;

const BITS: u32 = 20;
/// Differs from every pair above its rank.
const EMPTY: u64 = u64::MAX;
/// Pairs that may move for a new one before all of them are hashed anew.
const MOST_MOVES: usize = 200;

/// Left half, right half and rank of each pair in one integer, in one of two buckets.
#[derive(Debug, Clone)]
pub struct PairTable {
    buckets: Vec<Bucket>,
    // Chosen anew for each table, so that no file can be written whose pairs all fall into one place.
    seed: u64,
}

#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
struct Bucket([u64; 2]);

impl PairTable {
    /// An empty table for up to so many pairs without being hashed anew.
    pub fn with_capacity(pairs: usize) -> Self {
        // 70 % full: at 80 % the last pairs move many others, and a compiled form of Llama 3 takes 3 ms longer.
        Self::with_buckets(pairs * 5 / 7 + 4)
    }

    fn with_buckets(buckets: usize) -> Self {
        Self {
            buckets: vec![Bucket([EMPTY; 2]); buckets],
            seed: RandomState::new().hash_one(buckets),
        }
    }

    /// Asks for the memory that [`Self::insert`] will need.
    #[inline]
    pub fn prefetch(&self, left: TokenId, right: TokenId) {
        for bucket in self.places(pair(left, right)) {
            prefetch::line(&self.buckets[bucket], 0);
        }
    }

    /// Sets the rank of a pair, and returns the one that it had. All three are below [`LIMIT`], but for a rank of
    /// [`NO_RANK`], which forgets the pair.
    pub fn insert(&mut self, left: TokenId, right: TokenId, rank: Rank) -> Option<Rank> {
        let pair = pair(left, right);
        let new = pair << BITS | u64::from(rank);
        let [first, second] = self.places(pair);
        for bucket in [first, second] {
            for slot in &mut self.buckets[bucket].0 {
                if *slot >> BITS == pair {
                    return Some(rank_of(std::mem::replace(slot, new))).filter(|&rank| rank != NO_RANK);
                }
            }
        }
        if let Some(homeless) = self.place(new) {
            self.hash_anew(homeless);
        }
        None
    }

    /// Finds a slot for a pair that has none, or returns one that is then left without.
    fn place(&mut self, mut new: u64) -> Option<u64> {
        let mut from = usize::MAX;
        for step in 0..MOST_MOVES {
            let places = self.places(new >> BITS);
            for bucket in places {
                if let Some(slot) = self.buckets[bucket].0.iter_mut().find(|slot| **slot == EMPTY) {
                    *slot = new;
                    return None;
                }
            }
            // Not back to where it was driven from; which of the two slots, the seed decides.
            let bucket = if places[0] == from { places[1] } else { places[0] };
            let slot = (self.seed >> (step % 64)) as usize & 1;
            std::mem::swap(&mut self.buckets[bucket].0[slot], &mut new);
            from = bucket;
        }
        Some(new)
    }

    /// Puts all pairs, and one more, into a table of another seed.
    #[cold]
    fn hash_anew(&mut self, homeless: u64) {
        let mut buckets = self.buckets.len();
        loop {
            let mut other = Self::with_buckets(buckets);
            let slots = self.buckets.iter().flat_map(|bucket| bucket.0);
            let mut full = slots.filter(|&slot| slot != EMPTY).chain([homeless]);
            if full.all(|slot| other.place(slot).is_none()) {
                *self = other;
                return;
            }
            // Small tables may need it; of large ones that are 80 % full, none of twenty was hashed anew at all.
            buckets *= 2;
        }
    }

    /// The rank of a pair, or [`NO_RANK`].
    #[inline(always)]
    pub fn rank(&self, left: TokenId, right: TokenId) -> Rank {
        let pair = pair(left, right);
        let [first, second] = self.places(pair).map(|bucket| self.buckets[bucket].0);
        // What is left of the slot with the same pair is its rank; all others differ in a higher bit.
        let rest = |slot: u64| slot ^ pair << BITS;
        let least = rest(first[0])
            .min(rest(first[1]))
            .min(rest(second[0]).min(rest(second[1])));
        least.min(u64::from(NO_RANK)) as Rank
    }

    /// Each pair and its rank, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, TokenId, Rank)> + '_ {
        let slots = self.buckets.iter().flat_map(|bucket| &bucket.0);
        slots
            .filter(|&&slot| rank_of(slot) != NO_RANK)
            .map(|&slot| parts(slot))
    }

    /// The pairs that are `wanted`, and their ranks.
    pub fn select(&self, wanted: impl Fn(TokenId, TokenId) -> bool) -> Vec<(TokenId, TokenId, Rank)> {
        let mut found = Vec::new();
        let mut some = [0; 128];
        for buckets in self.buckets.chunks(some.len() / 2) {
            let mut count = 0;
            for &slot in buckets.iter().flat_map(|bucket| &bucket.0) {
                let (left, right, rank) = parts(slot);
                // Without a branch: which slots are full can't be guessed.
                some[count] = slot;
                count += usize::from(wanted(left, right) & (rank != NO_RANK));
            }
            found.extend(some[..count].iter().copied().map(parts));
        }
        found
    }

    /// The buckets of a pair.
    #[inline(always)]
    fn places(&self, pair: u64) -> [usize; 2] {
        let product = u128::from(pair ^ self.seed) * 0x9e37_79b9_7f4a_7c15;
        let hash = product as u64 ^ (product >> 64) as u64;
        let buckets = self.buckets.len() as u64;
        [hash & 0xFFFF_FFFF, hash >> 32].map(|hash| ((hash * buckets) >> 32) as usize)
    }
}

/// A pair in 40 bits; ids beyond the limit become one that no pair has.
#[inline(always)]
fn pair(left: TokenId, right: TokenId) -> u64 {
    u64::from(left.min(LIMIT)) << BITS | u64::from(right.min(LIMIT))
}

/// What a slot holds: left half, right half and rank.
#[inline]
fn parts(slot: u64) -> (TokenId, TokenId, Rank) {
    let half = |shift: u32| (slot >> shift) as u32 & LIMIT;
    (half(2 * BITS), half(BITS), rank_of(slot))
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
    fn a_table_as_full_as_it_gets_is_seldom_hashed_anew() {
        let mut numbers = fastrand::Rng::with_seed(2);
        // 80 % of the slots: more than any table has at first.
        let (pairs, tables) = (26_000, 20);
        let anew = (0..tables).filter(|_| {
            let mut table = PairTable::with_buckets(pairs * 5 / 8);
            let seed = table.seed;
            for rank in 0..pairs as u32 {
                table.insert(numbers.u32(0..LIMIT), numbers.u32(0..LIMIT), rank);
            }
            assert!(table.iter().count() > pairs - 10);
            assert!(table.buckets.len() < pairs);
            table.seed != seed
        });
        assert!(anew.count() < 3);
    }

    #[test]
    fn pairs_in_a_row_spread_as_any_others() {
        let pairs = 26_000;
        let rows: [fn(u32) -> (TokenId, TokenId); 7] = [
            |number| (number, 7),
            |number| (7, number),
            |number| (number, number),
            |number| (number, number + 1),
            |number| (number / 162, number % 162),
            |number| (number * 32, 7),
            |number| (7, number * 32),
        ];
        for row in rows {
            let mut table = PairTable::with_capacity(pairs);
            for number in 0..pairs as u32 {
                let (left, right) = row(number);
                table.insert(left, right, number);
            }
            assert_eq!(table.iter().count(), pairs);
            for number in 0..pairs as u32 {
                let (left, right) = row(number);
                assert_eq!(table.rank(left, right), number);
            }
            // A seed may fail, and then the next with as many buckets; not two.
            assert!(table.buckets.len() < 2 * pairs, "{:?}", row(3));
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
