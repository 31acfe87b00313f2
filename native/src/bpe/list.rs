//! Merging of symbols that are linked in a list, one pair at a time wherever it is: what other ways leave to do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::tree::Tree;
use crate::merges::{Merges, Rank};
use crate::vocab::TokenId;

/// The symbols of a pretoken, linked by position. Reused.
#[derive(Default)]
pub(super) struct List {
    symbols: Vec<Symbol>,
    tree: Tree,
    pub(super) heap: BinaryHeap<Reverse<Entry>>,
}

/// A pair that can merge: when, where its left symbol is, and into what.
type Entry = (Rank, u32, TokenId);

#[derive(Clone, Copy)]
struct Symbol {
    id: TokenId,
    // What it becomes with its right neighbour, where the tree says that they merge.
    merged: TokenId,
    // Bytes covered; 0 marks a symbol that its left neighbour has swallowed.
    length: u32,
    previous: u32,
    next: u32,
}

const END: u32 = u32::MAX;

impl List {
    /// Takes symbols and the bytes that each covers.
    pub(super) fn fill(&mut self, ids: &[TokenId], lengths: &[u32]) {
        self.symbols.clear();
        let last = ids.len().wrapping_sub(1);
        for (at, (id, length)) in ids.iter().zip(lengths).enumerate() {
            self.symbols.push(Symbol {
                id: *id,
                merged: 0,
                length: *length,
                previous: (at as u32).wrapping_sub(1),
                next: if at == last { END } else { at as u32 + 1 },
            });
        }
    }

    /// What is left of them.
    pub(super) fn kept(&self) -> impl Iterator<Item = (TokenId, u32)> {
        let kept = self.symbols.iter().filter(|symbol| symbol.length != 0);
        kept.map(|symbol| (symbol.id, symbol.length))
    }

    /// A tree of all pairs.
    pub(super) fn merge_by_tree(&mut self, merges: &Merges) {
        let Self {
            symbols: list, tree, ..
        } = self;
        tree.clear();
        for at in 0..list.len().saturating_sub(1) {
            let merge = merges.get(list[at].id, list[at + 1].id);
            list[at].merged = merge.map_or(0, |merge| merge.id);
            tree.push(merge);
        }
        // The last symbol has no neighbour, until it is one itself.
        tree.push(None);
        tree.finish();
        while let Some(at) = tree.first() {
            let symbol = list[at];
            let gone = list[symbol.next as usize];
            list[symbol.next as usize].length = 0;
            tree.set(symbol.next as usize, None);
            let right = list.get_mut(gone.next as usize).map(|after| {
                after.previous = at as u32;
                after.id
            });
            let merge = right.and_then(|right| merges.get(symbol.merged, right));
            tree.set(at, merge);
            list[at] = Symbol {
                id: symbol.merged,
                merged: merge.map_or(0, |merge| merge.id),
                length: symbol.length + gone.length,
                next: gone.next,
                ..symbol
            };
            if let Some(before) = list.get_mut(symbol.previous as usize) {
                let merge = merges.get(before.id, symbol.merged);
                before.merged = merge.map_or(0, |merge| merge.id);
                tree.set(symbol.previous as usize, merge);
            }
        }
    }

    /// A heap of the pairs that can merge; entries that a neighbour's merge made stale are dropped when they come up.
    pub(super) fn merge_by_heap(&mut self, merges: &Merges) {
        self.fill_heap(merges);
        while let Some(Reverse((_, at, id))) = self.heap.pop() {
            self.merge_entry(merges, at, id);
        }
    }

    pub(super) fn fill_heap(&mut self, merges: &Merges) {
        let Self {
            symbols: list, heap, ..
        } = self;
        heap.clear();
        heap.extend((0..list.len() as u32).filter_map(|at| entry(merges, list, at)));
    }

    /// Merges the symbol at `at` with the next one, if that still makes `id`.
    #[inline]
    pub(super) fn merge_entry(&mut self, merges: &Merges, at: u32, id: TokenId) {
        let Self {
            symbols: list, heap, ..
        } = self;
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
