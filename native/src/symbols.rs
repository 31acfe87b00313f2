//! The symbols of one pretoken while they are merged, lowest rank first, leftmost on ties.
//!
//! Guarantee: n log n in the number of symbols, whatever the merges are. Pairs stand in a tree of minima with sixteen
//! children a node: one merge changes three pairs, and each change looks at sixteen neighbours a level. For the usual
//! pretoken of a dozen bytes the tree is one node, so the same code is also the fastest for short ones.

use crate::merges::{Merge, Merges};
use crate::vocab::TokenId;

/// One token of a pretoken and how many bytes of it the token covers.
pub type Part = (TokenId, usize);

/// Children of a node.
const FAN: usize = 16;
/// A pair that doesn't merge, behind all others.
const NEVER: u64 = u64::MAX;
const END: u32 = u32::MAX;

/// A list of symbols linked by position. Reused between pretokens.
#[derive(Default)]
pub struct Symbols {
    list: Vec<Symbol>,
    // Rank above, position below: the smallest is the pair that merges next. One for each symbol and its right
    // neighbour, filled up to whole nodes; then the minimum of each node, level by level.
    keys: Vec<u64>,
    // Where each level of `keys` begins.
    levels: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Symbol {
    id: TokenId,
    // What it becomes with its right neighbour, where its key says that they merge.
    merged: TokenId,
    previous: u32,
    next: u32,
    // Bytes that it covered before any merge.
    length: u32,
}

impl Symbols {
    /// Makes room for the next pretoken.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Appends a symbol that covers `length` bytes.
    #[inline]
    pub fn push(&mut self, id: TokenId, length: usize) {
        let position = self.list.len() as u32;
        self.list.push(Symbol {
            id,
            merged: 0,
            previous: position.wrapping_sub(1),
            next: position + 1,
            length: length as u32,
        });
    }

    /// The tokens that are left, each with the bytes it covers.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        self.alive().map(|(at, symbol)| {
            let swallowed = &self.list[at..symbol.next as usize];
            let length = swallowed.iter().map(|symbol| symbol.length as usize).sum();
            (symbol.id, length)
        })
    }

    /// The tokens that are left.
    #[inline]
    pub fn ids(&self) -> impl Iterator<Item = TokenId> {
        self.alive().map(|(_, symbol)| symbol.id)
    }

    #[inline]
    fn alive(&self) -> impl Iterator<Item = (usize, Symbol)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let symbol = *self.list.get(at)?;
            let here = std::mem::replace(&mut at, symbol.next as usize);
            Some((here, symbol))
        })
    }

    /// Merges until no neighbours do.
    pub fn merge(&mut self, merges: &Merges) {
        self.merge_from(merges, |_, left, right| merges.get(left, right));
    }

    /// The same; `first` answers for the pairs as they were pushed: the position of the left symbol, and the pair.
    #[inline]
    pub fn merge_from(&mut self, merges: &Merges, first: impl Fn(usize, TokenId, TokenId) -> Option<Merge>) {
        if self.list.len() < 2 {
            return;
        }
        self.plant(first);
        if self.levels.len() == 1 {
            // One node: its minimum is the root.
            loop {
                let lowest = minimum(&self.keys);
                if lowest == NEVER {
                    return;
                }
                self.join(lowest as u32 as usize, merges, |_, _| {});
            }
        }
        loop {
            let root = *self.levels.last().expect("a tree has a level");
            let lowest = minimum(&self.keys[root..]);
            if lowest == NEVER {
                return;
            }
            self.join(lowest as u32 as usize, merges, Self::mend);
        }
    }

    /// Fills the keys of all pairs and the minima above them.
    #[inline]
    fn plant(&mut self, first: impl Fn(usize, TokenId, TokenId) -> Option<Merge>) {
        let Self { list, keys, levels } = self;
        keys.clear();
        levels.clear();
        levels.push(0);
        for at in 0..list.len() - 1 {
            let merge = first(at, list[at].id, list[at + 1].id);
            list[at].merged = merge.map_or(0, |merge| merge.id);
            keys.push(key(merge, at));
        }
        keys.push(NEVER);
        let mut start = 0;
        loop {
            keys.resize(start + (keys.len() - start).next_multiple_of(FAN), NEVER);
            let end = keys.len();
            if end - start == FAN {
                return;
            }
            for node in (start..end).step_by(FAN) {
                keys.push(minimum(&keys[node..node + FAN]));
            }
            start = end;
            levels.push(start);
        }
    }

    /// Joins the symbol at `at` with its right neighbour.
    #[inline]
    fn join(&mut self, at: usize, merges: &Merges, mend: impl Fn(&mut Self, usize)) {
        let Symbol {
            merged,
            previous,
            next: gone,
            ..
        } = self.list[at];
        let next = self.list[gone as usize].next;
        self.list[at].id = merged;
        self.list[at].next = next;
        self.keys[gone as usize] = NEVER;
        match self.list.get_mut(next as usize) {
            Some(after) => {
                after.previous = at as u32;
                let right = after.id;
                self.rank(at, merges.get(merged, right));
            }
            None => self.keys[at] = NEVER,
        }
        if previous != END {
            let left = self.list[previous as usize].id;
            self.rank(previous as usize, merges.get(left, merged));
            mend(self, previous as usize);
        }
        mend(self, at);
        mend(self, gone as usize);
    }

    #[inline]
    fn rank(&mut self, at: usize, merge: Option<Merge>) {
        self.keys[at] = key(merge, at);
        self.list[at].merged = merge.map_or(0, |merge| merge.id);
    }

    /// Brings the minima above the pair at `at` up to date.
    fn mend(&mut self, at: usize) {
        let Self { keys, levels, .. } = self;
        let mut node = at / FAN;
        for above in levels.windows(2) {
            let children = above[0] + node * FAN;
            let lowest = minimum(&keys[children..children + FAN]);
            let place = &mut keys[above[1] + node];
            if *place == lowest {
                return;
            }
            *place = lowest;
            node /= FAN;
        }
    }
}

#[inline]
fn key(merge: Option<Merge>, at: usize) -> u64 {
    merge.map_or(NEVER, |merge| u64::from(merge.rank) << 32 | at as u64)
}

/// The least of one node.
#[inline]
fn minimum(node: &[u64]) -> u64 {
    let node: &[u64; FAN] = node[..FAN].try_into().expect("nodes are whole");
    // Four at a time, so that the comparisons don't wait for each other.
    let mut least = [node[0], node[1], node[2], node[3]];
    for four in node.as_chunks::<4>().0 {
        for (least, key) in least.iter_mut().zip(four) {
            *least = (*least).min(*key);
        }
    }
    least[0].min(least[1]).min(least[2].min(least[3]))
}
