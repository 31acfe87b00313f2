//! Merging of long pretokens that are a few runs of one symbol: blanks, dashes, a letter held down.
//!
//! A run is kept as a symbol and a number. Where the lowest rank is that of the pair inside a run, all pairs of the run merge at
//! once, if that is what lowest first, leftmost on ties, does: if the merged symbol ranks higher with itself, with what is left
//! of the run, and with the symbol before the run. So a run of a million symbols takes twenty steps. All else is merged one pair
//! at a time, and given back where that is often.

use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocab::TokenId;

/// More runs than this at the start are no few runs.
const MOST_AT_FIRST: usize = 16;
/// More than this under way, or steps of one pair, and all is given back.
const MOST: usize = 64;

#[derive(Clone, Copy)]
struct Run {
    id: TokenId,
    // Bytes that each symbol covers.
    length: u32,
    count: u32,
}

/// The runs of a pretoken. Reused.
#[derive(Default)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    /// Takes symbols and the bytes that each covers, if they are a few runs.
    pub(super) fn take(&mut self, ids: &[TokenId], lengths: &[u32]) -> bool {
        self.0.clear();
        let mut at = 0;
        while at < ids.len() {
            if self.0.len() == MOST_AT_FIRST {
                return false;
            }
            let (id, length) = (ids[at], lengths[at]);
            let same = ids[at..].iter().zip(&lengths[at..]);
            let count = same.take_while(|&pair| pair == (&id, &length)).count();
            let count = count as u32;
            self.0.push(Run { id, length, count });
            at += count as usize;
        }
        true
    }

    /// Merges until no neighbours do, and returns true; or false, where a tree is the better way to go on.
    pub(super) fn merge(&mut self, merges: &Merges) -> bool {
        let mut single = 0;
        while let Some((rank, at, inside)) = self.lowest(merges) {
            if single == MOST || self.0.len() > MOST {
                return false;
            }
            let pairs = if inside {
                self.pairs_at_once(merges, rank, at)
            } else {
                1
            };
            single += usize::from(pairs == 1);
            self.replace(at, inside, merges.made_at(rank), pairs);
        }
        true
    }

    /// Each symbol and the bytes that it covers.
    pub(super) fn symbols(&self) -> impl Iterator<Item = (TokenId, u32)> {
        let runs = self.0.iter();
        runs.flat_map(|run| std::iter::repeat_n((run.id, run.length), run.count as usize))
    }

    /// The lowest rank, the leftmost run whose first symbol or whose last one it begins with, and whether that is inside the run.
    fn lowest(&self, merges: &Merges) -> Option<(Rank, usize, bool)> {
        let mut lowest = (NO_RANK, 0, false);
        for (at, run) in self.0.iter().enumerate() {
            if run.count > 1 {
                lowest = lower(lowest, (merges.rank(run.id, run.id), at, true));
            }
            if let Some(next) = self.0.get(at + 1) {
                lowest = lower(lowest, (merges.rank(run.id, next.id), at, false));
            }
        }
        (lowest.0 != NO_RANK).then_some(lowest)
    }

    /// How many pairs of a run merge before any other pair of the pretoken does.
    fn pairs_at_once(&self, merges: &Merges, rank: Rank, at: usize) -> u32 {
        let (run, made) = (self.0[at], merges.made_at(rank));
        let before = at.checked_sub(1).map(|before| self.0[before].id);
        let later = merges.rank(made, made) > rank
            && merges.rank(made, run.id) > rank
            && before.is_none_or(|before| merges.rank(before, made) > rank);
        if later { run.count / 2 } else { 1 }
    }

    /// Puts `made` in the place of the first pairs of a run, or of the pair of its last symbol and the next run's first.
    fn replace(&mut self, at: usize, inside: bool, made: TokenId, pairs: u32) {
        let run = self.0[at];
        let rest = |run: Run, gone: u32| Run {
            count: run.count - gone,
            ..run
        };
        let merged = |length: u32| Run {
            id: made,
            length,
            count: pairs,
        };
        if inside {
            let runs = [merged(2 * run.length), rest(run, 2 * pairs)];
            self.0.splice(at..=at, runs);
        } else {
            let next = self.0[at + 1];
            let runs = [rest(run, 1), merged(run.length + next.length), rest(next, 1)];
            self.0.splice(at..=at + 1, runs);
        }
        self.0.retain(|run| run.count > 0);
        self.0.dedup_by(|next, run| {
            let same = (next.id, next.length) == (run.id, run.length);
            run.count += if same { next.count } else { 0 };
            same
        });
    }
}

/// The lower of two, the first on ties.
fn lower(first: (Rank, usize, bool), second: (Rank, usize, bool)) -> (Rank, usize, bool) {
    if second.0 < first.0 { second } else { first }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::bpe::short::tests::{merged, random_merges};

    #[test]
    fn runs_become_what_replacing_pairs_makes_of_them() {
        let mut numbers = Rng::with_seed(1);
        let (mut runs, mut whole, mut given_back) = (Runs::default(), 0, 0);
        for round in 0..6000 {
            let merges = random_merges(&mut numbers, false);
            let letters = numbers.u32(1..5);
            let mut parts = Vec::new();
            for _ in 0..numbers.usize(1..6) {
                let part = (numbers.u32(0..letters), 1 + round % 3);
                parts.extend(std::iter::repeat_n(part, numbers.usize(1..90)));
            }
            let ids: Vec<_> = parts.iter().map(|part| part.0).collect();
            let lengths: Vec<_> = parts.iter().map(|part| part.1 as u32).collect();
            assert!(runs.take(&ids, &lengths));
            let finished = runs.merge(&merges);

            // What is given back is on the way to the same.
            let symbols = runs.symbols().map(|(id, length)| (id, length as usize));
            let symbols: Vec<_> = symbols.collect();
            let expected = merged(&merges, parts);
            if finished {
                assert_eq!(symbols, expected);
            }
            assert_eq!(merged(&merges, symbols), expected);
            (whole, given_back) = (whole + usize::from(finished), given_back + usize::from(!finished));
        }
        assert!(whole > 3000 && given_back > 30, "{whole} {given_back}");
    }

    #[test]
    fn many_runs_are_not_taken() {
        let ids: Vec<_> = (0..100).map(|at| at / 2 % 7).collect();
        assert!(!Runs::default().take(&ids, &[1; 100]));
    }
}
