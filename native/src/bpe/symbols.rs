//! The symbols of one pretoken, and how they merge: lowest rank first, leftmost on ties.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Part;
use super::dropout::Dropout;
use crate::merges::{Merges, Rank};
use crate::vocab::TokenId;

/// Up to this many symbols a scan for the lowest rank beats a heap: 99 % of pretokens have at most 12 bytes.
/// Longer ones need the heap, since the scan is quadratic and `"a" * 1_000_000` is a legal input.
const SHORT: usize = 32;

/// The symbols of one pretoken while they are merged: a list linked by position. Reused between pretokens.
#[derive(Default)]
pub struct Symbols {
    /// Passes over merges at random, where the model has a `dropout`.
    pub dropout: Option<Dropout>,
    list: Vec<Symbol>,
    ranked: Vec<Ranked>,
    pub(super) heap: BinaryHeap<Reverse<Entry>>,
}

/// A pair that can merge: when, where its left symbol is, and into what.
type Entry = (Rank, u32, TokenId);

#[derive(Clone, Copy)]
struct Symbol {
    id: TokenId,
    // Bytes covered; 0 marks a symbol that its left neighbour has swallowed.
    length: u32,
    previous: u32,
    next: u32,
}

const END: u32 = u32::MAX;

/// A pair of neighbours in the scan: when they merge, and into what. Pairs that don't are ranked behind all others.
#[derive(Clone, Copy)]
struct Ranked {
    rank: u64,
    id: TokenId,
}

const NEVER: u64 = u64::MAX;

impl Ranked {
    #[inline]
    fn new(merges: &Merges, left: TokenId, right: TokenId) -> Self {
        match merges.get(left, right) {
            Some(merge) => Self {
                rank: merge.rank.into(),
                id: merge.id,
            },
            None => Self { rank: NEVER, id: 0 },
        }
    }
}

impl Symbols {
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    pub(super) fn push(&mut self, id: TokenId, length: usize) {
        let position = self.list.len() as u32;
        if let Some(last) = self.list.last_mut() {
            last.next = position;
        }
        self.list.push(Symbol {
            id,
            length: length as u32,
            previous: position.wrapping_sub(1),
            next: END,
        });
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        let kept = self.list.iter().filter(|symbol| symbol.length != 0);
        kept.map(|symbol| (symbol.id, symbol.length as usize))
    }

    pub(super) fn merge(&mut self, merges: &Merges) {
        if let Some(mut dropout) = self.dropout.take() {
            self.merge_dropping(merges, &mut dropout);
            self.dropout = Some(dropout);
            return;
        }
        match self.list.len() {
            0 | 1 => {}
            2..=SHORT if !merges.need_heap() => self.merge_short(merges),
            _ => self.merge_long(merges),
        }
    }

    /// Scans for the lowest rank again after each merge.
    fn merge_short(&mut self, merges: &Merges) {
        let Self { list, ranked, .. } = self;
        ranked.clear();
        ranked.extend(
            list.windows(2)
                .map(|pair| Ranked::new(merges, pair[0].id, pair[1].id)),
        );
        loop {
            let (mut at, mut lowest) = (0, NEVER);
            for (index, pair) in ranked.iter().enumerate() {
                if pair.rank < lowest {
                    (at, lowest) = (index, pair.rank);
                }
            }
            if lowest == NEVER {
                return;
            }
            let id = ranked[at].id;
            list[at].id = id;
            list[at].length += list[at + 1].length;
            list.remove(at + 1);
            ranked.remove(at);
            if at > 0 {
                ranked[at - 1] = Ranked::new(merges, list[at - 1].id, id);
            }
            if at < ranked.len() {
                ranked[at] = Ranked::new(merges, id, list[at + 1].id);
            }
        }
    }

    /// A heap of the pairs that can merge; entries that a neighbour's merge made stale are dropped when they come up.
    fn merge_long(&mut self, merges: &Merges) {
        self.fill_heap(merges);
        while let Some(Reverse((_, at, id))) = self.heap.pop() {
            self.merge_entry(merges, at, id);
        }
    }

    pub(super) fn fill_heap(&mut self, merges: &Merges) {
        let Self { list, heap, .. } = self;
        heap.clear();
        heap.extend((0..list.len() as u32).filter_map(|at| entry(merges, list, at)));
    }

    /// Merges the symbol at `at` with the next one, if that still makes `id`.
    #[inline]
    pub(super) fn merge_entry(&mut self, merges: &Merges, at: u32, id: TokenId) {
        let Self { list, heap, .. } = self;
        let symbol = list[at as usize];
        if symbol.length == 0 || symbol.next == END {
            return;
        }
        let right = list[symbol.next as usize];
        if merges.get(symbol.id, right.id).is_none_or(|merge| merge.id != id) {
            return;
        }
        list[symbol.next as usize].length = 0;
        list[at as usize] = Symbol {
            id,
            length: symbol.length + right.length,
            next: right.next,
            ..symbol
        };
        if let Some(after) = list.get_mut(right.next as usize) {
            after.previous = at;
        }
        if symbol.previous != END {
            heap.extend(entry(merges, list, symbol.previous));
        }
        heap.extend(entry(merges, list, at));
    }
}

fn entry(merges: &Merges, list: &[Symbol], at: u32) -> Option<Reverse<Entry>> {
    let symbol = list[at as usize];
    let right = list.get(symbol.next as usize)?;
    let merge = merges.get(symbol.id, right.id)?;
    Some(Reverse((merge.rank, at, merge.id)))
}
