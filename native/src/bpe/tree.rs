//! Which pair of neighbours merges next: the lowest rank, leftmost on ties.
//!
//! Pairs stand in a tree of minima with sixteen children a node. One merge changes three pairs, and each change looks at
//! sixteen neighbours a level: n log n in all.

use crate::merges::Merge;

/// Children of a node.
const FAN: usize = 16;
/// A pair that doesn't merge, behind all others.
const NEVER: u64 = u64::MAX;

/// The pairs of a pretoken by the position of their left symbols.
#[derive(Default)]
pub(super) struct Tree {
    // Rank above, position below, so that the smallest is the next. The pairs, filled up to whole nodes; then the
    // minimum of each node, level by level.
    keys: Vec<u64>,
    // Where each level of `keys` begins.
    levels: Vec<usize>,
}

impl Tree {
    /// Forgets all pairs.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.levels.clear();
    }

    /// Adds the pair behind the last one; each merge, if there is one.
    #[inline]
    pub(super) fn push(&mut self, merge: Option<Merge>) {
        self.keys.push(key(merge, self.keys.len()));
    }

    /// Fills the minima; call once after the last pair.
    #[inline]
    pub(super) fn finish(&mut self) {
        let Self { keys, levels } = self;
        let mut start = 0;
        loop {
            levels.push(start);
            keys.resize(start + (keys.len() - start).next_multiple_of(FAN), NEVER);
            let end = keys.len();
            if end - start == FAN {
                return;
            }
            for node in (start..end).step_by(FAN) {
                keys.push(minimum(&keys[node..node + FAN]));
            }
            start = end;
        }
    }

    /// Where the pair is that merges next.
    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        let root = *self.levels.last()?;
        let lowest = minimum(&self.keys[root..]);
        (lowest != NEVER).then_some(lowest as u32 as usize)
    }

    /// Says what the pair at `at` is now.
    #[inline]
    pub(super) fn set(&mut self, at: usize, merge: Option<Merge>) {
        self.keys[at] = key(merge, at);
        if self.levels.len() > 1 {
            self.mend(at);
        }
    }

    /// Brings the minima above the pair at `at` up to date.
    fn mend(&mut self, at: usize) {
        let Self { keys, levels } = self;
        let mut node = at / FAN;
        for pair in levels.windows(2) {
            let children = pair[0] + node * FAN;
            let lowest = minimum(&keys[children..children + FAN]);
            let place = &mut keys[pair[1] + node];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_comes_first_and_the_leftmost_of_equals() {
        for size in [1, 15, 16, 17, 300, 5000] {
            let mut tree = Tree::default();
            let mut ranks: Vec<Option<u32>> = (0..size)
                .map(|at| (at % 3 != 1).then_some(at as u32 * 7919 % 101))
                .collect();
            let merge = |rank: Option<u32>| rank.map(|rank| Merge { rank, id: 0 });
            ranks.iter().for_each(|&rank| tree.push(merge(rank)));
            tree.finish();

            while let Some(at) = tree.first() {
                let expected = (0..size)
                    .filter(|&at| ranks[at].is_some())
                    .min_by_key(|&at| (ranks[at], at));
                assert_eq!(Some(at), expected);
                ranks[at] = ranks[at].filter(|rank| rank % 2 == 0).map(|rank| rank + 1);
                tree.set(at, merge(ranks[at]));
            }
            assert!(ranks.iter().all(Option::is_none));
        }
    }
}
