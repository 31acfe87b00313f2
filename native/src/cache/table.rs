//! A table of fixed-size entries that replace each other, for pretokens whose ids lie beside their bytes.

use super::prefetch::{self, LINE};

/// Places that a pretoken may have. With two, half of the words of a first pass over English were missed again in the second.
const WAYS: usize = 4;

/// What a table holds. `Key::default()` is the key of an empty entry and of no pretoken.
pub(super) trait Entry: Clone + Default {
    type Key: Copy + Eq + Default;

    fn key(&self) -> Self::Key;

    /// Spreads the bits of a key: the lowest choose the bucket, the highest the place in it.
    fn hash(key: &Self::Key) -> u64;
}

/// The places that a pretoken may have, side by side.
#[derive(Clone, Default)]
#[repr(align(128))]
struct Bucket<E>([E; WAYS]);

/// A table that doubles until it is as large as it may be.
pub(super) struct Table<E> {
    buckets: Vec<Bucket<E>>,
    used: usize,
    most_buckets: usize,
}

impl<E: Entry> Table<E> {
    const FIRST_BUCKETS: usize = 1 << 8;

    /// A table that takes no more than so many bytes, but for a least size.
    pub(super) fn new(bytes: usize) -> Self {
        let buckets = (bytes / size_of::<Bucket<E>>()).max(1);
        Self {
            buckets: Vec::new(),
            used: 0,
            most_buckets: (1 << buckets.ilog2()).max(Self::FIRST_BUCKETS),
        }
    }

    /// How many bytes are held.
    pub(super) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket<E>>()
    }

    /// Asks for the memory where the key of this hash would be.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        let Some(bucket) = self.buckets.get(self.bucket(hash)) else {
            return;
        };
        if size_of::<E>() < LINE {
            prefetch::line(bucket, 0);
            prefetch::line(bucket, LINE);
        } else {
            let entry = &bucket.0[way(hash)];
            prefetch::line(entry, 0);
            prefetch::line(entry, LINE);
        }
    }

    /// The entry of `key`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, key: &E::Key, hash: u64) -> Option<&E> {
        let places = &self.buckets.get(self.bucket(hash))?.0;
        let first = way(hash);
        // Both entries of the first line, without a branch between them: which of them it is can't be guessed.
        let beside = usize::from(places[first ^ 1].key() == *key);
        let entry = &places[first ^ beside];
        if entry.key() == *key {
            return Some(entry);
        }
        [first ^ 2, first ^ 3]
            .into_iter()
            .map(|way| &places[way])
            .find(|entry| entry.key() == *key)
    }

    /// Remembers an entry.
    pub(super) fn insert(&mut self, entry: E) {
        if self.used * 3 >= self.buckets.len() * WAYS && self.buckets.len() < self.most_buckets {
            self.grow();
        }
        self.place(entry);
    }

    #[inline]
    fn bucket(&self, hash: u64) -> usize {
        hash as usize & self.buckets.len().wrapping_sub(1)
    }

    /// Puts `entry` first of its places; what was there moves to the next, and so on; what was last is forgotten.
    fn place(&mut self, entry: E) {
        let hash = E::hash(&entry.key());
        let bucket = self.bucket(hash);
        let mut moved = entry;
        for step in 0..WAYS {
            std::mem::swap(&mut self.buckets[bucket].0[way(hash) ^ step], &mut moved);
            if moved.key() == E::Key::default() {
                self.used += 1;
                return;
            }
        }
    }

    fn grow(&mut self) {
        let buckets = (self.buckets.len() * 2).max(Self::FIRST_BUCKETS);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets]);
        self.used = 0;
        for entry in old.into_iter().flat_map(|bucket| bucket.0) {
            if entry.key() != E::Key::default() {
                self.place(entry);
            }
        }
    }
}

/// The place of a bucket that is looked at first.
#[inline]
fn way(hash: u64) -> usize {
    (hash >> 62) as usize
}

/// Multiplies the halves of 16 bytes into each other: cheap, and every byte reaches both ends of the result.
#[inline]
pub(super) fn fold(bytes: u128) -> u64 {
    let low = bytes as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let high = (bytes >> 64) as u64 ^ 0xd1b5_4a32_d192_ed03;
    let product = u128::from(low) * u128::from(high);
    product as u64 ^ (product >> 64) as u64
}

/// For each length the bytes of a window of 16 that count.
pub(super) const MASKS: [u128; 17] = {
    let mut masks = [u128::MAX; 17];
    let mut length = 0;
    while length < 16 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};
