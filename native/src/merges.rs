//! The merges of the model: which two neighbours become one token, and which pair goes first.

use std::hash::{BuildHasher, RandomState};

use crate::quoted::Quoted;
use crate::vocab::{TokenId, Vocab};
use crate::{Error, Result};

/// The priority of a merge: lower goes first.
pub type Rank = u32;

/// What a pair becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// When: lower first.
    pub rank: Rank,
    /// The token that replaces the pair.
    pub id: TokenId,
}

/// Pairs of ids and their merges. A pair that is listed twice counts at its last place, as in stock.
///
/// Most lookups find nothing and come in no order, so what counts is the lines of memory that one touches: pairs lie in
/// one flat table, each beside its merge, and the search ends at the first empty slot, nearly always in the line it
/// began in.
#[derive(Debug, Clone)]
pub struct Merges {
    // A power of two of them, at most two thirds full.
    slots: Vec<Slot>,
    // Chosen anew for each table, so that no file can be written whose pairs all fall into one place.
    seed: u64,
    count: usize,
    // For each id as left half, which of sixteen classes its right halves are in: answers most lookups that find nothing
    // from memory that stays in the nearest caches. Ids beyond it are looked up.
    rights: Vec<u16>,
    need_heap: bool,
}

/// Ids below this get a place in `Merges::rights`.
const FILTERED_IDS: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    pair: u64,
    merge: Merge,
}

/// No merge has this rank: a file can't list so many.
const NO_RANK: Rank = Rank::MAX;
const EMPTY: Slot = Slot {
    pair: 0,
    merge: Merge { rank: NO_RANK, id: 0 },
};

impl Default for Merges {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl Merges {
    /// Looks the texts of `pairs` up in `vocab`; `prefix` is dropped from each right half.
    ///
    /// # Errors
    /// [`Error::TokenizerFile`] names the first merge with a part or a result that `vocab` lacks.
    pub fn new<'a>(
        vocab: &Vocab,
        pairs: impl ExactSizeIterator<Item = (&'a str, &'a str)>,
        prefix: &str,
    ) -> Result<Self> {
        let mut merges = Self::with_capacity(pairs.len());
        let mut whole = Vec::new();
        let mut need_heap = vocab.doubles().next().is_some();
        for (rank, (left, right)) in pairs.enumerate() {
            let missing = |what: &str| {
                Error::TokenizerFile(format!(
                    "tokenizer.json: merge {rank} is {}, but {} is not in model.vocab.",
                    Quoted(&format!("{left} {right}")),
                    Quoted(what)
                ))
            };
            let left_id = vocab.id(left).ok_or_else(|| missing(left))?;
            let right_id = vocab.id(right).ok_or_else(|| missing(right))?;
            whole.clear();
            // Stock's arithmetic fails here, and with it the whole process.
            let rest = right.as_bytes().get(prefix.len()..).ok_or_else(|| {
                Error::TokenizerFile(format!(
                    "tokenizer.json: merge {rank} is {}, but {} is shorter than \
                     model.continuing_subword_prefix {}, which each right half should begin with.",
                    Quoted(&format!("{left} {right}")),
                    Quoted(right),
                    Quoted(prefix)
                ))
            })?;
            whole.extend_from_slice(left.as_bytes());
            // Stock cuts the prefix's length off, whatever the bytes are.
            need_heap |= rest.is_empty();
            whole.extend_from_slice(rest);
            let id = vocab
                .id_of_utf8(&whole)
                .ok_or_else(|| missing(&String::from_utf8_lossy(&whole)))?;
            let rank = rank as Rank;
            merges.insert(key(left_id, right_id), Merge { rank, id });
        }
        merges.need_heap = need_heap;
        Ok(merges)
    }

    /// Whether only a heap merges as stock does. Stock tells a stale entry by the id that the pair makes. Where two
    /// tokens share an id, or a right half is no more than the prefix, another pair may make that id, and the entry
    /// merges it at the rank of the first.
    #[inline]
    pub fn need_heap(&self) -> bool {
        self.need_heap
    }

    fn with_capacity(pairs: usize) -> Self {
        let slots = (pairs * 3 / 2 + 2).next_power_of_two();
        Self {
            slots: vec![EMPTY; slots],
            seed: RandomState::new().hash_one(slots),
            count: 0,
            rights: Vec::new(),
            need_heap: false,
        }
    }

    fn insert(&mut self, pair: u64, merge: Merge) {
        let (left, right) = halves(pair);
        let place = left as usize;
        if place < FILTERED_IDS {
            let length = self.rights.len().max(place + 1);
            self.rights.resize(length, 0);
            self.rights[place] |= class(right);
        }
        let slot = self.find(pair);
        self.count += usize::from(self.slots[slot].merge.rank == NO_RANK);
        self.slots[slot] = Slot { pair, merge };
    }

    /// Where `pair` stands, or the empty slot where it would.
    #[inline]
    fn find(&self, pair: u64) -> usize {
        let mask = self.slots.len() - 1;
        let product = u128::from(pair ^ self.seed) * 0x9e37_79b9_7f4a_7c15;
        let mut at = (product as u64 ^ (product >> 64) as u64) as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.pair == pair || slot.merge.rank == NO_RANK {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn full_slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.merge.rank != NO_RANK)
    }

    /// Each pair, left and right, and its merge; in no order.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, TokenId, Merge)> + '_ {
        self.full_slots().map(|slot| {
            let (left, right) = halves(slot.pair);
            (left, right, slot.merge)
        })
    }

    /// Takes merges whose ids are known, of a vocabulary in which no two tokens share one. A pair that is given twice
    /// counts the last time.
    pub fn from_ids(pairs: impl ExactSizeIterator<Item = ((TokenId, TokenId), Merge)>) -> Self {
        let mut merges = Self::with_capacity(pairs.len());
        for ((left, right), merge) in pairs {
            merges.insert(key(left, right), merge);
        }
        merges
    }

    /// Other merges of the same vocabulary, or of one with more tokens.
    pub fn like(&self, pairs: impl ExactSizeIterator<Item = ((TokenId, TokenId), Merge)>) -> Self {
        Self {
            need_heap: self.need_heap,
            ..Self::from_ids(pairs)
        }
    }

    /// The same merges, of a vocabulary whose merges [need a heap](Self::need_heap) or don't.
    pub(crate) fn with_heap(self, need_heap: bool) -> Self {
        Self { need_heap, ..self }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing merges.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What the neighbours `left` and `right` become.
    #[inline]
    pub fn get(&self, left: TokenId, right: TokenId) -> Option<Merge> {
        if self
            .rights
            .get(left as usize)
            .is_some_and(|classes| classes & class(right) == 0)
        {
            return None;
        }
        let slot = self.slots[self.find(key(left, right))];
        (slot.merge.rank != NO_RANK).then_some(slot.merge)
    }

    /// The pairs in order of rank.
    pub fn pairs(&self) -> Vec<(TokenId, TokenId)> {
        let mut ranked: Vec<_> = self
            .full_slots()
            .map(|slot| (slot.merge.rank, slot.pair))
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, pair)| halves(pair)).collect()
    }

    /// These merges without those whose result is in `ids`.
    pub fn without_results(&self, ids: &[TokenId]) -> Self {
        let mut kept = Self::with_capacity(self.count);
        kept.need_heap = self.need_heap;
        for slot in self.full_slots().filter(|slot| !ids.contains(&slot.merge.id)) {
            kept.insert(slot.pair, slot.merge);
        }
        kept
    }

    /// Every token that some merge makes.
    pub fn results(&self) -> impl Iterator<Item = TokenId> {
        self.full_slots().map(|slot| slot.merge.id)
    }
}

/// The merges of two ASCII bytes, which every new word begins with, by their values: 128 KB that stay near.
#[derive(Clone)]
pub struct AsciiPairs(Vec<Merge>);

impl AsciiPairs {
    /// Looks up all of them, given the ids of single bytes.
    pub fn new(merges: &Merges, symbols_of_bytes: &[Option<TokenId>; 256]) -> Self {
        let mut pairs = Vec::with_capacity(128 * 128);
        for left in &symbols_of_bytes[..128] {
            for right in &symbols_of_bytes[..128] {
                let merge = left.zip(*right).and_then(|(left, right)| merges.get(left, right));
                pairs.push(merge.unwrap_or(EMPTY.merge));
            }
        }
        Self(pairs)
    }

    /// What two ASCII bytes become.
    #[inline]
    pub fn get(&self, left: u8, right: u8) -> Option<Merge> {
        let merge = self.0[(left & 0x7F) as usize * 128 + (right & 0x7F) as usize];
        (merge.rank != NO_RANK).then_some(merge)
    }
}

fn key(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

fn halves(pair: u64) -> (TokenId, TokenId) {
    ((pair >> 32) as TokenId, pair as TokenId)
}

#[inline]
fn class(right: TokenId) -> u16 {
    1 << (right.wrapping_mul(0x9e37_79b9) >> 28)
}
