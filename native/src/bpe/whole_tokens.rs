//! The tokens of up to 15 bytes by their bytes, for models that take a pretoken which is a token whole: each new one asks.
//!
//! In the vocabulary an answer takes up to five loads, each of which waits for the one before: with Llama 3 that was 300 ns
//! for a new word of English, more than merging it. Here the bytes themselves lie where their hash leads.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use crate::hash::fold;
use crate::prefetch;
use crate::short_key;
use crate::vocab::{TokenBytes, TokenId};

const WAYS: usize = 4;

/// So many tokens before one is put into the table, its memory is asked for.
const AHEAD: usize = 16;

/// A table of keys and the ids beside them, about 60 % full.
pub(super) struct WholeTokens {
    // Some bits of each hash, of which 0 is an empty place: most of what is asked for is told absent by these, which stay near.
    tags: Vec<[u8; WAYS]>,
    buckets: Vec<Bucket>,
    ids: Vec<[TokenId; WAYS]>,
    // Chosen anew for each table, so that no file can be written whose tokens all fall into one place.
    seed: u64,
}

/// One line of keys; what finds it full goes on in the next.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket([u128; WAYS]);

impl WholeTokens {
    pub(super) fn new(tokens: &TokenBytes) -> Self {
        let buckets = tokens.len() * 5 / 12 + 1;
        let mut table = Self {
            tags: vec![[0; WAYS]; buckets],
            buckets: vec![Bucket([0; WAYS]); buckets],
            ids: vec![[0; WAYS]; buckets],
            seed: RandomState::new().hash_one(buckets),
        };
        let short = tokens
            .iter()
            .filter_map(|(bytes, id)| Some((short_key::key(bytes, 0, bytes.len())?, id)));
        let mut waiting = VecDeque::with_capacity(AHEAD + 1);
        for (key, id) in short {
            let (bucket, _) = table.place(key);
            prefetch::line(&table.tags[bucket], 0);
            prefetch::line(&table.buckets[bucket], 0);
            prefetch::line(&table.ids[bucket], 0);
            waiting.push_back((key, id));
            if waiting.len() > AHEAD
                && let Some((key, id)) = waiting.pop_front()
            {
                table.insert(key, id);
            }
        }
        waiting.into_iter().for_each(|(key, id)| table.insert(key, id));
        table
    }

    fn insert(&mut self, key: u128, id: TokenId) {
        let (mut bucket, tag) = self.place(key);
        loop {
            if let Some(way) = self.tags[bucket].iter().position(|&place| place == 0) {
                self.tags[bucket][way] = tag;
                self.buckets[bucket].0[way] = key;
                self.ids[bucket][way] = id;
                return;
            }
            bucket = self.next(bucket);
        }
    }

    /// The id of a key from [`short_key::key`], where a token has it.
    #[inline]
    pub(super) fn id(&self, key: u128) -> Option<TokenId> {
        let (mut bucket, tag) = self.place(key);
        loop {
            let tags = self.tags[bucket];
            if tags.contains(&tag)
                && let Some(way) = self.buckets[bucket].0.iter().position(|&place| place == key)
            {
                return Some(self.ids[bucket][way]);
            }
            if tags[WAYS - 1] == 0 {
                return None;
            }
            bucket = self.next(bucket);
        }
    }

    /// The first bucket of a key, and its tag.
    #[inline]
    fn place(&self, key: u128) -> (usize, u8) {
        let seed = u128::from(self.seed.rotate_left(32)) << 64 | u128::from(self.seed);
        let hash = fold(key ^ seed);
        let bucket = ((hash >> 32) * self.buckets.len() as u64) >> 32;
        (bucket as usize, (hash as u8).max(1))
    }

    #[inline]
    fn next(&self, bucket: usize) -> usize {
        if bucket + 1 < self.buckets.len() {
            bucket + 1
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use hashbrown::HashMap;

    use super::*;
    use crate::byte_alphabet::bytes_to_token;
    use crate::vocab::Vocab;

    #[test]
    fn the_table_knows_the_short_tokens_and_no_others() {
        let mut numbers = fastrand::Rng::with_seed(1);
        for size in [0, 1, 5, 40, 3000] {
            let mut expected = HashMap::new();
            let mut vocab = Vocab::default();
            let text = |numbers: &mut fastrand::Rng| -> Vec<u8> {
                let length = numbers.usize(0..=17);
                (0..length)
                    .map(|_| [0, b'a', 0xFF][numbers.usize(0..3)])
                    .collect()
            };
            for id in 0..size {
                let bytes = text(&mut numbers);
                if expected.insert(bytes.clone(), id).is_none() {
                    vocab.insert(&bytes_to_token(&bytes), id);
                } else {
                    expected.retain(|_, &mut old| old != id);
                }
            }
            vocab.finish();
            let tokens = TokenBytes::new(&vocab);
            let table = WholeTokens::new(&tokens);
            let known = expected.into_keys();
            for bytes in known.chain((0..3000).map(|_| text(&mut numbers))) {
                if let Some(key) = short_key::key(&bytes, 0, bytes.len()) {
                    assert_eq!(table.id(key), tokens.id(&bytes), "{bytes:?}");
                }
            }
        }
    }
}
