//! The pairs that may still be merged: how often each occurs and where.
//!
//! Guarantee: [`Pairs::pop`] returns what recounting everything would: the pair of the largest count, on ties
//! the smallest ids.
//!
//! Counts only fall once a pair is known. A pair gets new occurrences only in the step that makes one of its
//! two symbols, and each token is made in one step: between the same two boundaries, the same bytes are always
//! the same symbols, so there is one last pair that makes a given token. Hence the queue may hold outdated
//! counts (they are too large, and corrected when they surface), and a pair that falls below the minimum never
//! comes back and is forgotten at once.
//!
//! Where affixes make one token in several ways, a pair may come back: then rare pairs are kept as long as they
//! occur, and each gain puts the new count in line.

use std::ops::Range;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;

use crate::Result;
use crate::train::heap::{Candidate, Candidates, pack, unpack};
use crate::train::sequences::Sequences;

/// First symbols that stay beside each other until they are merged: a head before the tail, and no other pair with either.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Heads {
    /// The symbols that wait for the tail.
    pub heads: Range<u32>,
    /// The symbol behind each head.
    pub tail: u32,
}

impl Heads {
    #[inline]
    fn allow(&self, left: u32, right: u32) -> bool {
        if self.heads.is_empty() {
            return true;
        }
        if right == self.tail {
            return self.heads.contains(&left);
        }
        left != self.tail && !self.heads.contains(&left) && !self.heads.contains(&right)
    }
}

struct Occurrences {
    count: i64,
    positions: Vec<u32>,
}

impl Occurrences {
    /// Adds occurrences at ascending `positions` to those known, which stay ascending.
    fn gain(&mut self, count: i64, positions: &[u32]) {
        self.count += count;
        self.positions.extend_from_slice(positions);
        self.positions.sort_unstable();
        self.positions.dedup();
    }
}

/// Counts and positions of pairs.
pub struct Pairs {
    known: HashMap<u64, Occurrences, FxBuildHasher>,
    queue: Candidates,
    min_count: i64,
    come_back: bool,
    heads: Heads,
}

impl Pairs {
    /// Counts the pairs of `sequences`; those below `min_count` are of no interest, unless pairs `come_back`.
    /// Nor are those that `heads` keeps apart.
    ///
    /// Calls `poll` now and then.
    pub fn new(
        sequences: &Sequences,
        min_count: i64,
        come_back: bool,
        heads: Heads,
        poll: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let mut known: HashMap<u64, (i64, usize), FxBuildHasher> = HashMap::default();
        sequences.initial_pairs(|(left, right), position, count| {
            if heads.allow(left, right) {
                let found = known.entry(pack(left, right)).or_default();
                found.0 += count;
                found.1 += 1;
            }
            if position.is_multiple_of(1 << 16) {
                poll()
            } else {
                Ok(())
            }
        })?;
        let least = if come_back { 1 } else { min_count };
        let mut pairs = Self {
            known: known
                .into_iter()
                .filter(|&(_, (count, _))| count >= least)
                .map(|(pair, (count, places))| {
                    (
                        pair,
                        Occurrences {
                            count,
                            positions: Vec::with_capacity(places),
                        },
                    )
                })
                .collect(),
            queue: Candidates::new(),
            min_count,
            come_back,
            heads,
        };
        sequences.initial_pairs(|(left, right), position, _| {
            if let Some(found) = pairs.known.get_mut(&pack(left, right)) {
                found.positions.push(position);
            }
            if position.is_multiple_of(1 << 16) {
                poll()
            } else {
                Ok(())
            }
        })?;
        pairs.queue = pairs
            .known
            .iter()
            .filter(|(_, found)| found.count >= min_count)
            .map(|(&pair, found)| Candidate {
                count: found.count,
                pair,
            })
            .collect();
        Ok(pairs)
    }

    /// Takes out the best pair, with its positions in ascending order; some of them may be outdated.
    pub fn pop(&mut self) -> Option<((u32, u32), Vec<u32>)> {
        while let Some(candidate) = self.queue.pop() {
            let Entry::Occupied(known) = self.known.entry(candidate.pair) else {
                continue;
            };
            let count = known.get().count;
            if count == candidate.count {
                return Some((unpack(candidate.pair), known.remove().positions));
            }
            if count >= self.min_count {
                self.queue.push(Candidate {
                    count,
                    pair: candidate.pair,
                });
            }
        }
        None
    }

    /// The first in line, whose count may be outdated.
    pub fn peek(&self) -> Option<Candidate> {
        self.queue.peek().copied()
    }

    /// Takes the first out of the line; the pair stays known.
    pub fn pop_candidate(&mut self) -> Option<Candidate> {
        self.queue.pop()
    }

    /// Puts a pair in line once more, with the count it has now, if that is enough.
    pub fn requeue(&mut self, candidate: Candidate) {
        match self.known.get(&candidate.pair) {
            Some(found) if found.count >= self.min_count => self.queue.push(Candidate {
                count: found.count,
                pair: candidate.pair,
            }),
            _ => {}
        }
    }

    /// Where a pair is, in ascending order, if its count is still that of `candidate`; some may be outdated.
    pub fn positions_of(&self, candidate: Candidate) -> Option<&[u32]> {
        let found = self.known.get(&candidate.pair)?;
        (found.count == candidate.count).then_some(&found.positions)
    }

    /// Takes out a pair with its positions.
    pub fn take(&mut self, pair: u64) -> Option<((u32, u32), Vec<u32>)> {
        let found = self.known.remove(&pair)?;
        Some((unpack(pair), found.positions))
    }

    /// Whether a pair may be merged, and later made once more.
    pub fn come_back(&self) -> bool {
        self.come_back
    }

    /// The count below which a pair is forgotten.
    fn least(&self) -> i64 {
        if self.come_back { 1 } else { self.min_count }
    }

    /// Adds a pair that the last merge made, found `count` times at the ascending `positions`.
    pub fn add(&mut self, left: u32, right: u32, count: i64, positions: &[u32]) {
        if count < self.least() || !self.heads.allow(left, right) {
            return;
        }
        let pair = pack(left, right);
        let count = match self.known.entry(pair) {
            Entry::Vacant(new) => {
                let positions = positions.to_vec();
                new.insert(Occurrences { count, positions }).count
            }
            Entry::Occupied(mut known) => {
                debug_assert!(self.come_back, "a pair is made in one step");
                known.get_mut().gain(count, positions);
                known.get().count
            }
        };
        if count >= self.min_count {
            self.queue.push(Candidate { count, pair });
        }
    }

    /// Notes that a pair lost `count` of its occurrences.
    pub fn remove(&mut self, left: u32, right: u32, count: i64) {
        let least = self.least();
        if let Entry::Occupied(mut known) = self.known.entry(pack(left, right)) {
            known.get_mut().count -= count;
            if known.get().count < least {
                known.remove();
            }
        }
    }
}
