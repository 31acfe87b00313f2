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

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;

use crate::Result;
use crate::train::heap::{Candidate, Candidates, pack, unpack};
use crate::train::sequences::Sequences;

struct Occurrences {
    count: i64,
    positions: Vec<u32>,
}

/// Counts and positions of pairs.
pub struct Pairs {
    known: HashMap<u64, Occurrences, FxBuildHasher>,
    queue: Candidates,
    min_count: i64,
}

impl Pairs {
    /// Counts the pairs of `sequences`; those below `min_count` are of no interest. Calls `poll` now and then.
    pub fn new(sequences: &Sequences, min_count: i64, poll: &mut dyn FnMut() -> Result<()>) -> Result<Self> {
        let mut known: HashMap<u64, (i64, usize), FxBuildHasher> = HashMap::default();
        sequences.initial_pairs(|(left, right), position, count| {
            let found = known.entry(pack(left, right)).or_default();
            found.0 += count;
            found.1 += 1;
            if position.is_multiple_of(1 << 16) {
                poll()
            } else {
                Ok(())
            }
        })?;
        let mut pairs = Self {
            known: known
                .into_iter()
                .filter(|&(_, (count, _))| count >= min_count)
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
            self.queue.push(Candidate {
                count,
                pair: candidate.pair,
            });
        }
        None
    }

    /// Adds a pair that the last merge made, found `count` times at the ascending `positions`.
    pub fn add(&mut self, left: u32, right: u32, count: i64, positions: &[u32]) {
        if count >= self.min_count {
            let pair = pack(left, right);
            let positions = positions.to_vec();
            let known = self.known.insert(pair, Occurrences { count, positions });
            debug_assert!(known.is_none(), "a pair is made in one step");
            self.queue.push(Candidate { count, pair });
        }
    }

    /// Notes that a pair lost `count` of its occurrences.
    pub fn remove(&mut self, left: u32, right: u32, count: i64) {
        if let Entry::Occupied(mut known) = self.known.entry(pack(left, right)) {
            known.get_mut().count -= count;
            if known.get().count < self.min_count {
                known.remove();
            }
        }
    }
}
