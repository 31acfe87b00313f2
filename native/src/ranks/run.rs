//! One run of byte pair encoding, watched: what comes out, the last step, and whether priorities rose on the way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::merges::{Merges, Rank};
use crate::vocab::TokenId;

/// Merges symbols, lowest rank first and leftmost on ties. Reused between runs.
#[derive(Default)]
pub struct Runner {
    symbols: Vec<Option<TokenId>>,
    next: Vec<usize>,
    previous: Vec<usize>,
    heap: BinaryHeap<Reverse<(Rank, usize, TokenId, TokenId)>>,
    /// What is left at the end.
    pub result: Vec<TokenId>,
    /// The two halves that were joined last.
    pub last: Option<(TokenId, TokenId)>,
    /// Whether no step had a lower rank than the one before it.
    pub rising: bool,
}

impl Runner {
    /// Runs `merges` on `symbols`.
    pub fn run(&mut self, merges: &Merges, symbols: impl Iterator<Item = TokenId>) {
        self.symbols.clear();
        self.symbols.extend(symbols.map(Some));
        let length = self.symbols.len();
        self.next.clear();
        self.next.extend(1..=length);
        self.previous.clear();
        // Wraps to a position that no symbol has.
        self.previous.extend((0..length).map(|at| at.wrapping_sub(1)));
        self.heap.clear();
        (0..length).for_each(|at| self.offer(merges, at));
        self.last = None;
        self.rising = true;
        let mut highest = 0;
        while let Some(Reverse((rank, at, left, right))) = self.heap.pop() {
            let behind = self.next[at];
            if self.symbols[at] != Some(left) || self.symbol(behind) != Some(right) {
                continue;
            }
            let Some(merge) = merges.get(left, right) else {
                continue;
            };
            self.last = Some((left, right));
            self.rising &= rank >= highest;
            highest = rank;
            self.symbols[at] = Some(merge.id);
            self.symbols[behind] = None;
            let after = self.next[behind];
            self.next[at] = after;
            if let Some(previous) = self.previous.get_mut(after) {
                *previous = at;
            }
            self.offer(merges, self.previous[at]);
            self.offer(merges, at);
        }
        self.result.clear();
        self.result.extend(self.symbols.iter().flatten());
    }

    fn symbol(&self, at: usize) -> Option<TokenId> {
        self.symbols.get(at).copied().flatten()
    }

    /// Puts the pair that begins at `at` on the heap, if it may merge.
    fn offer(&mut self, merges: &Merges, at: usize) {
        let Some(left) = self.symbol(at) else { return };
        let Some(right) = self.symbol(self.next[at]) else {
            return;
        };
        if let Some(merge) = merges.get(left, right) {
            self.heap.push(Reverse((merge.rank, at, left, right)));
        }
    }
}
