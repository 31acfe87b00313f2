//! Merging of pretokens of up to 62 symbols: nearly all of them.
//!
//! Nothing is linked and nothing moves: a bit for each symbol says whether it is still there, and the next pair is the
//! least of an array of keys. No branch in a step can be guessed wrong but the one that tells the last: at both ends stands a
//! symbol that merges with nothing.

use crate::merges::{AsciiPairs, Merges, NO_RANK, Rank};
use crate::tier::Tier;
use crate::tier::sixteen::{self, Sixteen};
use crate::vocab::TokenId;

/// Symbols that a pretoken may begin with.
pub(super) const LONGEST: usize = PLACES - 2;

/// Places of symbols, of which the first and the last stay [`NO_ID`].
const PLACES: usize = 64;
const BITS: u32 = PLACES.trailing_zeros();
/// The key of what doesn't merge, at the first place.
const NEVER: u32 = NO_RANK << BITS;
/// No symbol: in no pair.
const NO_ID: TokenId = TokenId::MAX;
/// Keys that are compared at a time.
const STRIDE: usize = 16;

/// The symbols of a pretoken by the place at which they began, counted from one.
pub(super) struct Short {
    ids: [TokenId; PLACES],
    // For each pair, by its left symbol, rank above and place below, so that the least is the next, leftmost on ties.
    keys: [u32; PLACES],
}

impl Default for Short {
    fn default() -> Self {
        Self {
            ids: [NO_ID; PLACES],
            keys: [NEVER; PLACES],
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
        self.merge_on(Tier::best(), merges, symbols, first)
    }

    #[inline]
    fn merge_on(
        &mut self,
        tier: Tier,
        merges: &Merges,
        symbols: &[TokenId],
        first: impl Fn(usize, TokenId, TokenId) -> Rank,
    ) -> u64 {
        let count = symbols.len();
        self.ids[1..=count].copy_from_slice(symbols);
        self.keys[..padded(count)].fill(NEVER);
        for at in 1..count {
            self.keys[at] = key(first(at - 1, self.ids[at], self.ids[at + 1]), at);
        }
        self.run_on(tier, merges, count)
    }

    /// [`Self::merge`] for symbols that are bytes of ASCII.
    #[inline]
    pub(super) fn merge_ascii(&mut self, merges: &Merges, ascii: &AsciiPairs, bytes: &[u8]) -> u64 {
        let count = bytes.len();
        self.keys[..padded(count)].fill(NEVER);
        for (at, &byte) in bytes.iter().enumerate() {
            self.ids[at + 1] = ascii.id(byte);
        }
        for (at, pair) in bytes.windows(2).enumerate() {
            self.keys[at + 1] = key(ascii.rank(pair[0], pair[1]), at + 1);
        }
        self.run_on(Tier::best(), merges, count)
    }

    /// The symbol at a place, counted from zero.
    #[inline]
    pub(super) fn id(&self, at: usize) -> TokenId {
        self.ids[(at + 1) % PLACES]
    }

    #[inline]
    #[allow(unsafe_code)]
    fn run_on(&mut self, tier: Tier, merges: &Merges, count: usize) -> u64 {
        match tier {
            Tier::Portable => self.run::<sixteen::Portable>(merges, count),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a tier is given only where the processor has what this is compiled for.
            Tier::Avx2 => unsafe { self.run_avx2(merges, count) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Tier::Avx512 => unsafe { self.run_avx512(merges, count) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run_avx2(&mut self, merges: &Merges, count: usize) -> u64 {
        self.run::<sixteen::Avx2>(merges, count)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run_avx512(&mut self, merges: &Merges, count: usize) -> u64 {
        self.run::<sixteen::Avx512>(merges, count)
    }

    #[inline(always)]
    fn run<S: Sixteen>(&mut self, merges: &Merges, count: usize) -> u64 {
        match padded(count) {
            STRIDE => self.run_strides::<S, 1>(merges, count),
            _ => self.run_strides::<S, { PLACES / STRIDE }>(merges, count),
        }
    }

    /// Merges symbols that have place in so many strides. Their keys stay in registers: written one by one and read as a whole,
    /// they would wait for each other.
    #[inline(always)]
    fn run_strides<S: Sixteen, const STRIDES: usize>(&mut self, merges: &Merges, count: usize) -> u64 {
        let (strides, _) = self.keys.as_chunks::<STRIDE>();
        let mut keys = [S::new(&strides[0]); STRIDES];
        let mut stride = 1;
        while stride < STRIDES {
            keys[stride] = S::new(&strides[stride]);
            stride += 1;
        }
        // A bit for each place that holds a symbol, and for both ends.
        let mut alive = ((1 << (count + 1)) - 1) | ENDS;
        let mut lowest = least(keys);
        while lowest < NEVER {
            let at = lowest as usize % PLACES;
            let made = merges.made_at(lowest >> BITS);
            let behind = alive & (u64::MAX - 1) << at;
            let gone = behind & behind.wrapping_neg();
            let after = (behind ^ gone).trailing_zeros() as usize % PLACES;
            let before = (PLACES - 1) - (alive & ((1 << at) - 1)).leading_zeros() as usize % PLACES;
            alive ^= gone;
            let (right, left) = (self.ids[after], self.ids[before]);
            self.ids[at] = made;
            // The least of all other pairs while the answers are on their way.
            let others = with(keys, 1 << at | gone | 1 << before, NEVER);
            let rest = least(others);
            let (right, left) = (merges.rank(made, right), merges.rank(left, made));
            merges.prefetch_made(right);
            merges.prefetch_made(left);
            let (right, left) = (key(right, at), key(left, before));
            keys = with(with(others, 1 << at, right), 1 << before, left);
            lowest = rest.min(right).min(left);
        }
        (alive & !ENDS) >> 1
    }
}

/// Bits of the places that hold no symbol.
const ENDS: u64 = 1 | 1 << (PLACES - 1);

/// How many keys of so many symbols are read.
#[inline(always)]
fn padded(count: usize) -> usize {
    if count < STRIDE { STRIDE } else { PLACES }
}

#[inline(always)]
fn key(rank: Rank, at: usize) -> u32 {
    rank << BITS | at as u32
}

/// The least of some strides of keys.
#[inline(always)]
fn least<S: Sixteen, const STRIDES: usize>(keys: [S; STRIDES]) -> u32 {
    let mut least = keys[0];
    let mut stride = 1;
    while stride < STRIDES {
        least = least.min(keys[stride]);
        stride += 1;
    }
    least.least()
}

/// Strides of keys with `key` at the places whose bits are set.
#[inline(always)]
fn with<S: Sixteen, const STRIDES: usize>(mut keys: [S; STRIDES], places: u64, key: u32) -> [S; STRIDES] {
    let mut stride = 0;
    while stride < STRIDES {
        keys[stride] = keys[stride].with((places >> (stride * STRIDE)) as u32, key);
        stride += 1;
    }
    keys
}

#[cfg(test)]
pub(super) mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::bpe::Symbols;
    use crate::merges::Merge;

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
    #[test]
    fn every_tier_merges_alike() {
        let mut numbers = Rng::with_seed(2);
        for round in 0..2000 {
            let merges = random_merges(&mut numbers, false);
            let count = [numbers.usize(1..20), numbers.usize(1..=LONGEST), LONGEST][round % 3];
            let symbols: Vec<_> = (0..count).map(|_| numbers.u32(0..4)).collect();
            let parts = symbols.iter().map(|&id| (id, 1)).collect();
            let expected = merged(&merges, parts);
            for tier in Tier::all() {
                let mut short = Short::default();
                let alive =
                    short.merge_on(tier, &merges, &symbols, |_, left, right| merges.rank(left, right));
                let ids = (0..64).filter(|at| alive >> at & 1 == 1).map(|at| short.id(at));
                assert!(ids.eq(expected.iter().map(|part| part.0)), "{tier:?}");
            }
        }
    }
}
