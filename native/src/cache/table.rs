//! A table of fixed-size entries that replace each other, for pretokens whose ids lie beside their bytes.

use super::prefetch::{self, LINE};

/// Places that a pretoken may have. With two, half of the words of a first pass over English were missed again in the second.
const WAYS: usize = 4;

/// What a table holds. `Key::default()` is the key of an empty entry and of no pretoken.
pub(super) trait Entry: Clone + Default {
    type Key: Copy + Eq + Default;

    /// Whether two entries lie in one cache line.
    const SHARES_LINE: bool = size_of::<Self>() < LINE;

    fn key(&self) -> Self::Key;

    fn has(&self, key: &Self::Key) -> bool;

    /// Spreads the bits of a key: the lowest choose the bucket, the highest the place in it.
    fn hash(key: &Self::Key) -> u64;
}

/// The places that a pretoken may have, side by side.
#[derive(Clone, Default)]
#[repr(align(128))]
struct Bucket<E>([E; WAYS]);

/// A table that doubles while it may.
#[derive(Default)]
pub(super) struct Table<E> {
    buckets: Vec<Bucket<E>>,
    used: usize,
}

impl<E: Entry> Table<E> {
    const FIRST_BUCKETS: usize = 1 << 8;

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
        let entry = &bucket.0[way(hash)];
        prefetch::line(entry, 0);
        // Not the other line of a bucket where entries share lines: it is seldom looked at, and asking for twice as many lines
        // cost 5 % of warm English and 3 % of JSON, nothing of Chinese.
        if !E::SHARES_LINE {
            prefetch::line(entry, LINE);
        }
    }

    /// The entry of `key`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, key: &E::Key, hash: u64) -> Option<&E> {
        let places = &self.buckets.get(self.bucket(hash))?.0;
        let first = way(hash);
        // Both entries of one line without a branch between them: which of them it is can't be guessed.
        let beside = usize::from(E::SHARES_LINE && places[first ^ 1].has(key));
        let entry = &places[first ^ beside];
        if entry.has(key) {
            return Some(entry);
        }
        (1..WAYS)
            .map(|step| &places[first ^ step])
            .find(|entry| entry.has(key))
    }

    /// Remembers an entry. The table grows to no more than so many bytes, but for a least size.
    pub(super) fn insert(&mut self, entry: E, most_bytes: usize) {
        let full = self.used * 3 >= self.buckets.len() * WAYS;
        if full && (self.buckets.is_empty() || 2 * self.bytes() <= most_bytes) {
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
