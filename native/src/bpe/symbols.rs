//! The symbols of one pretoken, and how they merge: lowest rank first, leftmost on ties.

use super::Part;
use super::dropout::Dropout;
use super::list::List;
use super::runs::Runs;
use super::short::{LONGEST, Short};
use super::windows::Windows;
use crate::merges::{AsciiPairs, Merges, Rank};
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
    list: List,
}

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
        if self.goes_by_rank(merges) {
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
        self.merge_by_list(merges);
    }

    /// Merges a pretoken of ASCII and appends the ids that are left; returns false, and changes nothing, where that takes
    /// more than the shortest way.
    #[inline]
    pub(super) fn merge_ascii(
        &mut self,
        merges: &Merges,
        ascii: &AsciiPairs,
        bytes: &[u8],
        ids: &mut Vec<TokenId>,
    ) -> bool {
        if bytes.len() > LONGEST || bytes.is_empty() || !self.goes_by_rank(merges) || !bytes.is_ascii() {
            return false;
        }
        let mut alive = self.short.merge_ascii(merges, ascii, bytes);
        ids.reserve(LONGEST);
        while alive != 0 {
            ids.push(self.short.id(alive.trailing_zeros() as usize));
            alive &= alive - 1;
        }
        true
    }

    #[inline]
    fn goes_by_rank(&self, merges: &Merges) -> bool {
        merges.are_ranked() && !merges.need_heap() && self.dropout.is_none()
    }

    /// What no other way can do.
    fn merge_by_list(&mut self, merges: &Merges) {
        self.list.fill(&self.ids, &self.lengths);
        if let Some(dropout) = &mut self.dropout {
            self.list.merge_dropping(merges, dropout);
        } else if merges.need_heap() {
            self.list.merge_by_heap(merges);
        } else {
            self.list.merge_by_tree(merges);
        }
        self.clear();
        for (id, length) in self.list.kept() {
            self.ids.push(id);
            self.lengths.push(length);
        }
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
}
