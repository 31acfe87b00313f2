//! A table of slots that replace each other, for pretokens whose ids lie beside their bytes.

use super::short::Slot;
use crate::prefetch;

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

    /// The slot of `key`, whose hash is known.
    #[inline]
    pub(super) fn find(&self, key: u128, hash: u64) -> Option<&Slot> {
        let bucket = self.bucket(hash);
        let places = &self.buckets.get(bucket)?.0;
        let first = way(hash);
        // Both slots of one line without a branch between them: which of them it is can't be guessed.
        let beside = usize::from(places[first ^ 1].has(key));
        let slot = &places[first ^ beside];
        if slot.has(key) {
            return Some(slot);
        }
        self.find_further(key, hash)
    }

    /// The same for what is not in the first line: one of a hundred pretokens of English. Moving it to the first line made English
    /// 10 % and Chinese 18 % slower, since words that seldom come push each other out.
    #[inline(never)]
    fn find_further(&self, key: u128, hash: u64) -> Option<&Slot> {
        let (bucket, first) = (self.bucket(hash), way(hash));
        // Slots fill in this order: behind an empty one, in a line that would have to be waited for, is nothing.
        for step in 0..WAYS {
            let slot = &self.buckets[bucket].0[first ^ step];
            if slot.has(key) {
                return Some(slot);
            }
            if slot.is_empty() {
                return None;
            }
        }
        self.buckets[bucket ^ 1].0.iter().find(|slot| slot.has(key))
    }

    /// Whether the table should grow before a slot is put into it.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        // Half full, the second line is looked at four times as often: warm English took 16 % longer. A fourth full, a first pass over
        // many languages took 10 % longer: fresh memory costs, too.
        self.used * 3 >= self.buckets.len() * WAYS
    }

    #[inline]
    fn bucket(&self, hash: u64) -> usize {
        hash as usize & self.buckets.len().wrapping_sub(1)
    }

    /// Puts `slot` into a table that has buckets: in place of one with the same key, or into the first empty place of its bucket,
    /// or of the one beside it. Where both are full it comes first, what was there moves to the next place, and so on; what was
    /// last is forgotten.
    pub(super) fn insert(&mut self, slot: Slot) {
        let hash = slot.hash();
        let (bucket, first) = (self.bucket(hash), way(hash));
        let places = [bucket, bucket ^ 1]
            .into_iter()
            .flat_map(|bucket| (0..WAYS).map(move |step| (bucket, first ^ step)));
        for (bucket, at) in places {
            let place = &mut self.buckets[bucket].0[at];
            let is_new = place.is_empty();
            if is_new || place.has(slot.key()) {
                *place = slot;
                self.used += usize::from(is_new);
                return;
            }
        }
        let mut moved = slot;
        for step in 0..WAYS {
            std::mem::swap(&mut self.buckets[bucket].0[first ^ step], &mut moved);
        }
    }

    /// Doubles the table.
    pub(super) fn grow(&mut self) {
        let buckets = (self.buckets.len() * 2).max(Self::FIRST_BUCKETS);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); buckets]);
        self.used = 0;
        for slot in old.into_iter().flat_map(|bucket| bucket.0) {
            if !slot.is_empty() {
                self.insert(slot);
            }
        }
    }
}

/// The place of a bucket that is looked at first.
#[inline]
fn way(hash: u64) -> usize {
    (hash >> 62) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::short_key;

    fn slot(number: u32) -> Slot {
        let key = short_key::key(&number.to_le_bytes(), 0, 4).unwrap();
        Slot::new(key, &[number]).unwrap()
    }

    fn insert(table: &mut Table, number: u32, may_grow: bool) {
        if table.is_full() && (may_grow || table.buckets.is_empty()) {
            table.grow();
        }
        table.insert(slot(number));
    }

    fn knows(table: &Table, number: u32) -> bool {
        let slot = slot(number);
        let found = table.find(slot.key(), slot.hash());
        found.is_some_and(|found| found.ids() == slot.ids() || panic!("{number}"))
    }

    #[test]
    fn nothing_is_forgotten_while_the_table_may_grow() {
        let mut table = Table::default();
        for number in 0..300_000 {
            insert(&mut table, number, true);
        }
        let forgotten = (0..300_000).filter(|&number| !knows(&table, number)).count();

        // Two of a thousand; without a bucket beside it, eighteen.
        assert!(forgotten < 1500, "{forgotten}");
        assert_eq!(table.used + forgotten, 300_000);
    }

    #[test]
    fn a_full_table_knows_what_came_last_once() {
        let mut table = Table::default();
        for number in 0..20_000 {
            insert(&mut table, number, false);
            insert(&mut table, number, false);
            assert!(knows(&table, number));
        }
        let slots = Table::FIRST_BUCKETS * WAYS;
        assert_eq!(table.used, slots);
        assert_eq!((0..20_000).filter(|&number| knows(&table, number)).count(), slots);
    }
}
