//! BPE dropout: merges that are passed over at random, so that one text has many segmentations.
//!
//! Guarantee: the segmentations have the distribution of stock's. Which one comes out is a function of the seed
//! alone, whatever thread asks.

use std::cmp::Reverse;

use fastrand::Rng;

use super::list::List;
use crate::merges::Merges;

/// How often a merge is passed over, and the numbers that decide it.
pub struct Dropout {
    rate: f32,
    numbers: Rng,
}

impl Dropout {
    /// Passes over a merge with probability `rate`, by the random numbers of `seed`.
    pub fn new(rate: f32, seed: u64) -> Self {
        Self {
            rate,
            numbers: Rng::with_seed(seed),
        }
    }

    fn strikes(&mut self) -> bool {
        self.numbers.f32() < self.rate
    }
}

impl List {
    /// Merges as the heap does, except that an entry may be passed over when it comes up. As in stock, those come
    /// back after the next entry that isn't, so each is tried again until nothing else is left.
    pub(super) fn merge_dropping(&mut self, merges: &Merges, dropout: &mut Dropout) {
        self.fill_heap(merges);
        let mut passed_over = Vec::new();
        while let Some(Reverse(entry)) = self.heap.pop() {
            if dropout.strikes() {
                passed_over.push(Reverse(entry));
                continue;
            }
            self.heap.extend(passed_over.drain(..));
            let (_, at, id) = entry;
            self.merge_entry(merges, at, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_are_always_the_same() {
        let draw = |seed| {
            let mut dropout = Dropout::new(0.5, seed);
            (0..64).map(|_| dropout.strikes()).collect::<Vec<_>>()
        };

        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn a_rate_of_one_strikes_always_and_of_zero_never() {
        let strikes = |rate| {
            let mut dropout = Dropout::new(rate, 1);
            (0..10_000).filter(|_| dropout.strikes()).count()
        };

        assert_eq!((strikes(0.0), strikes(1.0)), (0, 10_000));
    }
}
