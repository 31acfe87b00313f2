//! Candidates for the next merge, best first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A pair and the count it had when it was put in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// How often the pair occurred.
    pub count: i64,
    /// The pair, packed by [`pack`].
    pub pair: u64,
}

/// A queue of candidates: the largest count first, on ties the smallest (left id, right id).
pub type Candidates = BinaryHeap<Candidate>;

/// A pair as one number that compares like (left id, right id).
pub fn pack(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The pair that [`pack`] packed.
pub fn unpack(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.count.cmp(&other.count).then(other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
