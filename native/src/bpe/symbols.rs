//! The symbols of one pretoken, and how they merge: lowest rank first, leftmost on ties.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Part;
use super::dropout::Dropout;
use super::runs::Runs;
use super::short::{LONGEST, Short};
use super::tree::Tree;
use super::windows::Windows;
use crate::merges::{Merge, Merges, Rank};
use crate::vocab::TokenId;

/// The symbols of one pretoken. Reused between pretokens.
#[derive(Default)]
pub struct Symbols {
    /// Passes over merges at random, where the model has a `dropout`.
    pub dropout: Option<Dropout>,
    ids: Vec<TokenId>,
    // Bytes that each covers.
    lengths: Vec<u32>,
    short: Short,
    runs: Runs,
    windows: Windows,
    // While many are merged, a list linked by position.
    list: Vec<Symbol>,
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

impl Symbols {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.lengths.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, id: TokenId, length: usize) {
        self.ids.push(id);
        self.lengths.push(length as u32);
    }

    /// Pushes symbols of one byte each.
    #[inline]
    pub(super) fn extend(&mut self, ids: impl Iterator<Item = TokenId>) {
        self.ids.extend(ids);
        self.lengths.resize(self.ids.len(), 1);
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        let lengths = self.lengths.iter().map(|&length| length as usize);
        self.ids.iter().copied().zip(lengths)
    }

    pub(super) fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    pub(super) fn merge(&mut self, merges: &Merges) {
        self.merge_from(merges, |_, left, right| merges.rank(left, right));
    }

    /// Merges until no neighbours do. `first` gives the ranks of the pairs as they were pushed, where the merges
    /// [are ranked](Merges::are_ranked), by the position of the left symbol, and the pair.
    #[inline]
    pub(super) fn merge_from(&mut self, merges: &Merges, first: impl Fn(usize, TokenId, TokenId) -> Rank) {
        if merges.are_ranked() && !merges.need_heap() && self.dropout.is_none() {
            if self.ids.len() <= LONGEST {
                return self.merge_short(merges, first);
            }
            let are_runs = self.runs.take(&self.ids, &self.lengths);
            let is_done = if are_runs {
                self.merge_by_runs(merges)
                    || self.merge_by_windows(merges, |_, left, right| merges.rank(left, right))
            } else {
                self.merge_by_windows(merges, first)
            };
            if is_done {
                return;
            }
        }
        self.link();
        if let Some(mut dropout) = self.dropout.take() {
            self.merge_dropping(merges, &mut dropout);
            self.dropout = Some(dropout);
        } else if merges.need_heap() {
            self.merge_by_heap(merges);
        } else if self.list.len() > 1 {
            self.merge_by_tree(merges, |_, left, right| merges.get(left, right));
        }
        self.unlink();
    }

    #[inline]
    fn merge_short(&mut self, merges: &Merges, first: impl Fn(usize, TokenId, TokenId) -> Rank) {
        if self.ids.len() > 1 {
            let Self { ids, short, .. } = self;
            let alive = short.merge(merges, ids, first);
            self.keep(alive);
        }
    }

    /// Takes what is left of a short pretoken.
    fn keep(&mut self, alive: u64) {
        let count = self.ids.len();
        if alive.count_ones() as usize == count {
            return;
        }
        let (mut kept, mut rest) = (0, alive);
        while rest != 0 {
            let at = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let end = (rest.trailing_zeros() as usize).min(count);
            let mut length = 0;
            for part in &self.lengths[at..end] {
                length += part;
            }
            self.ids[kept] = self.short.id(at);
            self.lengths[kept] = length;
            kept += 1;
        }
        self.ids.truncate(kept);
        self.lengths.truncate(kept);
    }

    /// Merges the runs that were taken; returns false where something is left to do with what they have become.
    fn merge_by_runs(&mut self, merges: &Merges) -> bool {
        let is_done = self.runs.merge(merges);
        self.clear();
        for (id, length) in self.runs.symbols() {
            self.ids.push(id);
            self.lengths.push(length);
        }
        is_done
    }

    /// Merges a long pretoken window by window; returns false, and changes nothing, where that can't be done.
    fn merge_by_windows(&mut self, merges: &Merges, first: impl Fn(usize, TokenId, TokenId) -> Rank) -> bool {
        let Self {
            ids,
            lengths,
            short,
            windows,
            ..
        } = self;
        if !windows.merge(short, merges, ids, first) {
            return false;
        }
        let tokens = windows.tokens();
        for (at, &(start, id)) in tokens.iter().enumerate() {
            let end = tokens.get(at + 1).map_or(lengths.len(), |next| next.0 as usize);
            let length = lengths[start as usize..end].iter().sum();
            ids[at] = id;
            lengths[at] = length;
        }
        ids.truncate(tokens.len());
        lengths.truncate(tokens.len());
        true
    }

    fn link(&mut self) {
        self.list.clear();
        let last = self.ids.len().wrapping_sub(1);
        for (at, (id, length)) in self.ids.iter().zip(&self.lengths).enumerate() {
            self.list.push(Symbol {
                id: *id,
                merged: 0,
                length: *length,
                previous: (at as u32).wrapping_sub(1),
                next: if at == last { END } else { at as u32 + 1 },
            });
        }
    }

    fn unlink(&mut self) {
        self.clear();
        let kept = self.list.iter().filter(|symbol| symbol.length != 0);
        for symbol in kept {
            self.ids.push(symbol.id);
            self.lengths.push(symbol.length);
        }
    }

    fn merge_by_tree(&mut self, merges: &Merges, first: impl Fn(usize, TokenId, TokenId) -> Option<Merge>) {
        let Self { list, tree, .. } = self;
        tree.clear();
        for at in 0..list.len() - 1 {
            let merge = first(at, list[at].id, list[at + 1].id);
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
    fn merge_by_heap(&mut self, merges: &Merges) {
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
