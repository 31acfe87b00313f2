//! A table of slots that replace each other, for pretokens whose ids lie beside their bytes.

use super::prefetch;
use super::short::Slot;

/// Places that a pretoken may have. With two, half of the words of a first pass over English were missed again in the second.
const WAYS: usize = 4;

/// The places that a pretoken may have, side by side.
#[derive(Clone, Default)]
#[repr(align(128))]
struct Bucket([Slot; WAYS]);

/// A table that doubles while it may.
#[derive(Default)]
pub(super) struct Table {
    buckets: Vec<Bucket>,
    used: usize,
}

impl Table {
    const FIRST_BUCKETS: usize = 1 << 8;

    /// How many bytes are held.
    pub(super) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
    }

    /// Asks for the memory where the key of this hash would be.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        let Some(bucket) = self.buckets.get(self.bucket(hash)) else {
            return;
        };
        // Not the other line of a bucket: it is seldom looked at, and asking for twice as many lines cost 5 % of warm English and
        // 3 % of JSON, nothing of Chinese.
        prefetch::line(&bucket.0[way(hash)], 0);
    }

    /// The place of `key`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, key: u128, hash: u64) -> Option<usize> {
        let bucket = self.bucket(hash);
        let places = &self.buckets.get(bucket)?.0;
        let first = way(hash);
        // Both slots of one line without a branch between them: which of them it is can't be guessed.
        let beside = usize::from(places[first ^ 1].has(key));
        if places[first ^ beside].has(key) {
            return Some(bucket * WAYS + (first ^ beside));
        }
        (1..WAYS)
            .map(|step| first ^ step)
            .find(|&place| places[place].has(key))
            .map(|place| bucket * WAYS + place)
    }

    /// What is at a place.
    #[inline]
    pub(super) fn slot(&self, place: usize) -> &Slot {
        &self.buckets[place / WAYS].0[place % WAYS]
    }

    /// Remembers a slot in place of one with the same key. The table grows to no more than so many bytes, but for a least size.
    pub(super) fn insert(&mut self, slot: Slot, most_bytes: usize) {
        let full = self.used * 3 >= self.buckets.len() * WAYS;
        if full && (self.buckets.is_empty() || 2 * self.bytes() <= most_bytes) {
            self.grow();
        }
        match self.find(slot.key(), slot.hash()) {
            Some(place) => self.buckets[place / WAYS].0[place % WAYS] = slot,
            None => self.place(slot),
        }
    }

    #[inline]
    fn bucket(&self, hash: u64) -> usize {
        hash as usize & self.buckets.len().wrapping_sub(1)
    }

    /// Puts `slot` first of its places; what was there moves to the next, and so on; what was last is forgotten.
    fn place(&mut self, slot: Slot) {
        let hash = slot.hash();
        let bucket = self.bucket(hash);
        let mut moved = slot;
        for step in 0..WAYS {
            std::mem::swap(&mut self.buckets[bucket].0[way(hash) ^ step], &mut moved);
            if moved.is_empty() {
                self.used += 1;
                return;
            }
        }
    }

    fn grow(&mut self) {
        let buckets = (self.buckets.len() * 2).max(Self::FIRST_BUCKETS);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets]);
        self.used = 0;
        for slot in old.into_iter().flat_map(|bucket| bucket.0) {
            if !slot.is_empty() {
                self.place(slot);
            }
        }
    }
}

/// The place of a bucket that is looked at first.
#[inline]
fn way(hash: u64) -> usize {
    (hash >> 62) as usize
}
