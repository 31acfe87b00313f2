//! Merging of pretokens of up to 64 symbols: nearly all of them.
//!
//! Nothing is linked and nothing moves: a bit for each symbol says whether it is still there, and the next pair is the
//! least of an array of keys. What a step costs is then the two lookups of the new pairs, most of it the wait for memory.

use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocab::TokenId;

/// Symbols that a pretoken may begin with.
pub(super) const LONGEST: usize = 64;

const BITS: u32 = LONGEST.trailing_zeros();
/// The key of what doesn't merge, at the first place.
const NEVER: i32 = (NO_RANK << BITS) as i32;
/// No symbol: in no pair.
const NO_ID: TokenId = TokenId::MAX;
/// Keys that are compared at a time.
const STRIDE: usize = 16;

/// The symbols of a pretoken by the place at which they began.
pub(super) struct Short {
    ids: [TokenId; LONGEST],
    // For each pair, by its left symbol, rank above and place below, so that the least is the next, leftmost on ties.
    keys: [i32; LONGEST],
}

impl Default for Short {
    fn default() -> Self {
        Self {
            ids: [0; LONGEST],
            keys: [NEVER; LONGEST],
        }
    }
}

impl Short {
    /// Takes up to [`LONGEST`] symbols, at least one, and the ranks of all pairs of them; merges until no pair does, and
    /// returns a bit for the place of each symbol that is left.
    #[inline]
    pub(super) fn merge(
        &mut self,
        merges: &Merges,
        symbols: &[TokenId],
        first: impl Fn(usize, TokenId, TokenId) -> Rank,
    ) -> u64 {
        let count = symbols.len();
        self.ids[..count].copy_from_slice(symbols);
        for at in 0..count - 1 {
            self.keys[at] = key(first(at, self.ids[at], self.ids[at + 1]), at);
        }
        let padded = count.next_multiple_of(STRIDE);
        self.keys[count - 1..padded].fill(NEVER);
        self.run(merges, count, padded)
    }

    /// The symbol at a place.
    #[inline]
    pub(super) fn id(&self, at: usize) -> TokenId {
        self.ids[at % LONGEST]
    }

    #[inline]
    fn run(&mut self, merges: &Merges, count: usize, padded: usize) -> u64 {
        let mut alive = u64::MAX >> (LONGEST - count);
        let mut lowest = least(&self.keys[..padded]);
        while lowest < NEVER {
            let at = lowest as usize % LONGEST;
            let made = merges.made_at(lowest as u32 >> BITS);
            let behind = alive & (u64::MAX - 1) << at;
            let gone = behind.trailing_zeros() as usize % LONGEST;
            alive &= !(1 << gone);
            self.ids[at] = made;
            let after = behind & behind.wrapping_sub(1);
            let before = alive & ((1 << at) - 1);
            // Without a neighbour it is asked for a pair that doesn't exist: no branch, so that both answers are waited
            // for together.
            let (right, left) = (
                after.trailing_zeros() as usize % LONGEST,
                (before | 1).ilog2() as usize,
            );
            let right = if after == 0 { NO_ID } else { self.ids[right] };
            let previous = if before == 0 { NO_ID } else { self.ids[left] };
            // The least of all other pairs while the answers are on their way, so that no step waits for its own keys to be
            // written: 2 to 6 % of a first pass over English and code.
            self.keys[at] = NEVER;
            self.keys[gone] = NEVER;
            self.keys[left] = NEVER;
            let rest = least(&self.keys[..padded]);
            let (right, previous) = (merges.rank(made, right), merges.rank(previous, made));
            let (right, previous) = (key(right, at), key(previous, left));
            self.keys[left] = previous;
            self.keys[at] = right;
            lowest = rest.min(right).min(previous);
        }
        alive
    }
}

#[inline]
fn key(rank: Rank, at: usize) -> i32 {
    (rank << BITS | at as u32) as i32
}

/// The least of whole strides of keys.
#[inline]
fn least(keys: &[i32]) -> i32 {
    let mut least = [NEVER; STRIDE];
    for stride in keys.as_chunks::<STRIDE>().0 {
        for (least, key) in least.iter_mut().zip(stride) {
            *least = (*least).min(*key);
        }
    }
    least.into_iter().fold(NEVER, i32::min)
}

#[cfg(test)]
pub(super) mod tests {
    use fastrand::Rng;

    use crate::bpe::Symbols;
    use crate::merges::{Merge, Merges};
    use crate::vocab::TokenId;

    /// Replaces the pair of lowest rank, leftmost first, until none is left: what merging means.
    pub fn merged(merges: &Merges, mut parts: Vec<(TokenId, usize)>) -> Vec<(TokenId, usize)> {
        loop {
            let pairs = parts.windows(2).enumerate();
            let found = pairs.filter_map(|(at, pair)| Some((merges.get(pair[0].0, pair[1].0)?, at)));
            let Some((merge, at)) = found.min_by_key(|(merge, at)| (merge.rank, *at)) else {
                return parts;
            };
            parts[at] = (merge.id, parts[at].1 + parts[at + 1].1);
            parts.remove(at + 1);
        }
    }

    /// Merges of a few letters and of what they make, in any order; `far` moves ids beyond what a table holds.
    pub fn random_merges(numbers: &mut Rng, far: bool) -> Merges {
        let id = |small: TokenId| {
            if far && small.is_multiple_of(3) {
                small + (1 << 20)
            } else {
                small
            }
        };
        let mut pairs = Vec::new();
        for made in 4..numbers.u32(5..40) {
            let pair = (id(numbers.u32(0..made)), id(numbers.u32(0..made)));
            if !pairs.iter().any(|&(old, _)| old == pair) {
                pairs.push((pair, id(made)));
            }
        }
        numbers.shuffle(&mut pairs);
        let ranked = pairs.into_iter().enumerate();
        Merges::from_ids(ranked.map(|(rank, (pair, id))| {
            (
                pair,
                Merge {
                    rank: rank as u32,
                    id,
                },
            )
        }))
    }

    #[test]
    fn symbols_of_any_number_become_what_replacing_pairs_makes_of_them() {
        let mut numbers = Rng::with_seed(1);
        let mut symbols = Symbols::default();
        let mut gone = 0;
        for round in 0..3000 {
            let merges = random_merges(&mut numbers, round % 5 == 0);
            let count = [numbers.usize(0..20), numbers.usize(0..140), 63 + round % 3][round % 3];
            let letters = numbers.u32(1..5);
            let parts: Vec<_> = (0..count)
                .map(|_| (numbers.u32(0..letters), numbers.usize(1..5)))
                .collect();
            symbols.clear();
            parts.iter().for_each(|&(id, length)| symbols.push(id, length));

            symbols.merge(&merges);

            let expected = merged(&merges, parts);
            assert_eq!(symbols.parts().collect::<Vec<_>>(), expected);
            gone += count - expected.len();
        }
        assert!(gone > 10_000, "{gone}");
    }
}
