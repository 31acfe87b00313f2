//! The words of a corpus while they are merged: where each pair is, and what one merge does to those around it.
//!
//! Shared by learning from nothing and by learning on from an old vocabulary: they differ in the symbols that words
//! begin as, and in which pairs may become tokens.

use crate::train::neighbours::Neighbours;
use crate::train::pairs::Pairs;
use crate::train::sequences::{Sequences, Symbol};

/// The symbols of all words, and their pairs.
pub struct Merging {
    /// The pairs that may still be merged.
    pub pairs: Pairs,
    sequences: Sequences,
    before: Neighbours,
    after: Neighbours,
    limit: usize,
}

impl Merging {
    /// Words and their pairs. A pair that holds a merged symbol is merged when the result is shorter than `limit`, in
    /// first symbols.
    pub fn new(sequences: Sequences, pairs: Pairs, limit: usize) -> Self {
        Self {
            pairs,
            sequences,
            before: Neighbours::default(),
            after: Neighbours::default(),
            limit,
        }
    }

    /// Calls `visit` with the group of the word at each of `positions`, ascending ones, where the pair would be merged.
    pub fn visit_groups(&self, positions: &[u32], (left, right): (u32, u32), mut visit: impl FnMut(u32)) {
        let (mut run, mut end) = (0, 0);
        for &position in positions {
            let found = self.sequences.pair_at(position, left, right);
            let Some((first, second)) = found.filter(|_| position >= end) else {
                continue;
            };
            if may_be_merged(first.len, second.len, self.limit) {
                self.sequences.count_at(position, &mut run);
                visit(self.sequences.group_of(run));
                end = second.start + second.len;
            }
        }
    }

    /// Merges the pair at those of `positions` where it still is, and notes what happens to the neighbours. Returns how
    /// often it was there.
    pub fn merge_at(&mut self, positions: &[u32], (left, right): (u32, u32), merged: u32) -> i64 {
        let Self {
            sequences,
            before,
            after,
            ..
        } = self;
        let limit = self.limit;
        let (mut run, mut times) = (0, 0);
        for &position in positions {
            let Some((first, second)) = sequences.pair_at(position, left, right) else {
                continue;
            };
            if !may_be_merged(first.len, second.len, limit) {
                continue;
            }
            let count = sequences.count_at(position, &mut run);
            times += count;
            let len = first.len + second.len;
            let note = |side: &mut Neighbours, part: Symbol, symbol: Symbol, position: u32| {
                if may_be_merged(part.len, symbol.len, limit) {
                    side.lose(symbol.id, count);
                }
                if may_be_merged(len, symbol.len, limit) {
                    side.gain(symbol.id, count, position);
                }
            };
            if let Some(symbol) = sequences.before(first) {
                note(before, first, symbol, symbol.start);
            }
            if let Some(symbol) = sequences.after(second) {
                note(after, second, symbol, position);
            }
            sequences.merge(first, second, merged);
        }
        times
    }

    /// Carries what the neighbours lost and gained over to the pairs.
    ///
    /// All gains come first: in `aaaa` the first merge makes a pair (`aa`, `a`) that the second takes away.
    pub fn update_pairs(&mut self, (left, right): (u32, u32), merged: u32) {
        let pairs = &mut self.pairs;
        for neighbour in self.before.noted() {
            pairs.add(neighbour.id, merged, neighbour.gained, &neighbour.positions);
        }
        for neighbour in self.after.noted() {
            pairs.add(merged, neighbour.id, neighbour.gained, &neighbour.positions);
        }
        for neighbour in self.before.noted() {
            pairs.remove(neighbour.id, left, neighbour.lost);
        }
        for neighbour in self.after.noted() {
            pairs.remove(right, neighbour.id, neighbour.lost);
        }
        self.before.clear();
        self.after.clear();
    }
}

/// Whether symbols of these lengths may become one: two first symbols always, others below the limit.
#[inline]
fn may_be_merged(left: u32, right: u32, limit: usize) -> bool {
    ((left + right) as usize) < limit || (left == 1 && right == 1)
}
