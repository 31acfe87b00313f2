//! A table of distinct pretokens and how often each was seen.
//!
//! Guarantee: memory grows with the distinct pretokens alone: their bytes once, 16 bytes each for where they
//! are and how many, and 5 to 10 for the index.

use std::hash::Hasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;

/// Distinct pretokens with their counts, in the order of their first appearance.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    bytes: Vec<u8>,
    /// Where each pretoken ends in `bytes`; it begins where the one before ends.
    ends: Vec<usize>,
    counts: Vec<u64>,
    index: HashTable<u32>,
}

/// The hash under which [`Counts`] keeps `pretoken`.
#[inline]
pub fn hash(pretoken: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(pretoken);
    hasher.finish()
}

impl Counts {
    /// Counts `pretoken` another `count` times.
    #[inline]
    pub fn add(&mut self, pretoken: &[u8], count: u64) {
        self.add_hashed(pretoken, hash(pretoken), count);
    }

    /// Like [`Counts::add`], for a caller who has the [`hash`] already.
    #[inline]
    pub fn add_hashed(&mut self, pretoken: &[u8], hashed: u64, count: u64) {
        let Self {
            bytes,
            ends,
            counts,
            index,
        } = self;
        let found = index.entry(
            hashed,
            |&at| slice(bytes, ends, at) == pretoken,
            |&at| hash(slice(bytes, ends, at)),
        );
        match found {
            Entry::Occupied(entry) => {
                let count_of = &mut counts[*entry.get() as usize];
                *count_of = count_of.saturating_add(count);
            }
            Entry::Vacant(entry) => {
                let at = u32::try_from(counts.len())
                    .expect("2^32 pretokens would need 100 GB before they got here");
                entry.insert(at);
                bytes.extend_from_slice(pretoken);
                ends.push(bytes.len());
                counts.push(count);
            }
        }
    }

    /// The pretokens and their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        (0..self.counts.len()).map(|at| (slice(&self.bytes, &self.ends, at as u32), self.counts[at]))
    }

    /// The pretoken that was the `at`-th to appear, and its count.
    #[inline]
    pub fn get(&self, at: usize) -> (&[u8], u64) {
        (slice(&self.bytes, &self.ends, at as u32), self.counts[at])
    }

    /// How many distinct pretokens there are.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How many bytes of memory this takes.
    pub fn memory(&self) -> usize {
        let words = (self.ends.capacity() + self.counts.capacity()) * size_of::<u64>();
        // Of each 8 places 7 are used at most, and each has a byte more.
        let places = self.index.capacity() * 8 / 7 * (size_of::<u32>() + 1);
        self.bytes.capacity() + words + places
    }

    /// Whether what was counted takes about so much memory: half of what is kept free for more is not looked at.
    #[inline]
    pub fn is_larger_than(&self, memory: usize) -> bool {
        self.bytes.len() + 32 * self.counts.len() >= memory
    }

    /// The places of pretokens in order of bytes.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.counts.len() as u32).collect();
        order.sort_unstable_by_key(|&at| slice(&self.bytes, &self.ends, at));
        order
    }

    /// How many bytes the distinct pretokens have.
    pub fn text_len(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets all pretokens and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.counts.clear();
        self.index.clear();
    }
}

#[inline]
fn slice<'a>(bytes: &'a [u8], ends: &[usize], at: u32) -> &'a [u8] {
    let at = at as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] };
    &bytes[start..ends[at]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pretokens_are_one_entry() {
        let mut counts = Counts::default();
        for pretoken in [b"a".as_slice(), b"", b"bc", b"a", b"", b"a"] {
            counts.add(pretoken, 1);
        }
        counts.add(b"bc", 3_000_000_000);

        let entries: Vec<_> = counts.iter().collect();

        assert_eq!(entries, [(b"a".as_slice(), 3), (b"", 2), (b"bc", 3_000_000_001)]);
        assert_eq!(counts.text_len(), 3);
    }

    #[test]
    fn growing_keeps_every_entry() {
        let mut counts = Counts::default();
        for number in 0..100_000u32 {
            counts.add(&(number % 1000).to_le_bytes(), 1);
        }

        assert_eq!(counts.len(), 1000);
        assert!(counts.iter().all(|(_, count)| count == 100));
    }

    #[test]
    fn clearing_forgets() {
        let mut counts = Counts::default();
        counts.add(b"a", 5);
        counts.clear();
        counts.add(b"a", 1);

        assert_eq!(counts.iter().collect::<Vec<_>>(), [(b"a".as_slice(), 1)]);
    }
}
