//! The merges of the model: which two neighbours become one token, and which pair goes first.

mod table;

use hashbrown::HashMap;

use crate::prefetch;
use crate::quoted::Quoted;
use crate::vocab::{TokenId, Vocab};
use crate::{Error, Result};
pub use table::NO_RANK;
use table::{LIMIT, PairTable};

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
#[derive(Debug, Clone)]
pub struct Merges {
    // Nearly always all pairs.
    table: PairTable,
    // What the merge of each rank in the table makes; empty where that is its rank plus `offset`, as in most vocabularies:
    // then no step of merging waits for it.
    ids: Vec<TokenId>,
    offset: TokenId,
    // Pairs with an id or a rank that the table can't hold, or a rank that another pair has for another token.
    others: HashMap<(TokenId, TokenId), Merge>,
    count: usize,
    need_heap: bool,
}

/// So many pairs before one is put into the table, its memory is asked for: loading a compiled form with 280,000 took 26 ms
/// without, 20 with that and without a branch for the place in a line.
const AHEAD: usize = 16;

/// Stands in `Merges::ids` for a rank that no pair has.
const NO_ID: TokenId = TokenId::MAX;

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
            merges.insert(left_id, right_id, Merge { rank, id });
        }
        merges.need_heap = need_heap;
        merges.finish();
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
        Self {
            table: PairTable::with_capacity(pairs),
            ids: Vec::with_capacity(pairs.min(LIMIT as usize)),
            offset: 0,
            others: HashMap::new(),
            count: 0,
            need_heap: false,
        }
    }

    fn insert(&mut self, left: TokenId, right: TokenId, merge: Merge) {
        let fits = left < LIMIT && right < LIMIT;
        let (old, rank) = (self.others.remove(&(left, right)), merge.rank as usize);
        let before = if fits && merge.rank < LIMIT && self.takes(rank, merge.id) {
            self.ids[rank] = merge.id;
            self.table.insert(left, right, merge.rank)
        } else {
            self.others.insert((left, right), merge);
            fits.then(|| self.table.insert(left, right, NO_RANK)).flatten()
        };
        self.count += usize::from(old.is_none() && before.is_none());
    }

    /// Whether the merge of a rank in the table may make `id`.
    fn takes(&mut self, rank: usize, id: TokenId) -> bool {
        if rank >= self.ids.len() {
            self.ids.resize(rank + 1, NO_ID);
        }
        id != NO_ID && (self.ids[rank] == NO_ID || self.ids[rank] == id)
    }

    /// Forgets the list of ids where ranks tell them; call once after the last insertion.
    fn finish(&mut self) {
        let offset = self.ids.first().map_or(0, |&id| id);
        let mut expected = self.ids.iter().zip(offset..);
        if offset < LIMIT && expected.all(|(&id, expected)| id == expected) {
            self.offset = offset;
            self.ids = Vec::new();
        }
    }

    /// Each pair, left and right, and its merge; in no order.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, TokenId, Merge)> + '_ {
        let others = self.others.iter();
        let others = others.map(|(&(left, right), &merge)| (left, right, merge));
        let table = self.table.iter();
        table
            .map(|(left, right, rank)| (left, right, self.merge_of(rank)))
            .chain(others)
    }

    /// The pairs that are `wanted` and their ranks, in no order.
    pub fn select(&self, wanted: impl Fn(TokenId, TokenId) -> bool) -> Vec<(TokenId, TokenId, Rank)> {
        let mut found = self.table.select(&wanted);
        let others = self
            .others
            .iter()
            .filter(|&(&(left, right), _)| wanted(left, right));
        found.extend(others.map(|(&(left, right), merge)| (left, right, merge.rank)));
        found
    }

    /// Takes merges whose ids are known, of a vocabulary in which no two tokens share one. A pair that is given twice
    /// counts the last time.
    pub fn from_ids(pairs: impl ExactSizeIterator<Item = ((TokenId, TokenId), Merge)> + Clone) -> Self {
        let mut merges = Self::with_capacity(pairs.len());
        let mut ahead = pairs.clone().skip(AHEAD);
        for ((left, right), merge) in pairs {
            if let Some(((left, right), _)) = ahead.next() {
                merges.table.prefetch(left, right);
            }
            merges.insert(left, right, merge);
        }
        merges.finish();
        merges
    }

    /// Other merges of the same vocabulary, or of one with more tokens.
    pub fn like(&self, pairs: impl ExactSizeIterator<Item = ((TokenId, TokenId), Merge)> + Clone) -> Self {
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
        match self.table.rank(left, right) {
            NO_RANK if self.others.is_empty() => None,
            NO_RANK => self.others.get(&(left, right)).copied(),
            rank => Some(self.merge_of(rank)),
        }
    }

    /// Whether [`Self::rank`] knows all pairs.
    #[inline]
    pub fn are_ranked(&self) -> bool {
        self.others.is_empty()
    }

    /// The rank of a pair, or [`NO_RANK`].
    #[inline(always)]
    pub fn rank(&self, left: TokenId, right: TokenId) -> Rank {
        self.table.rank(left, right)
    }

    /// What the merge of a rank makes that [`Self::rank`] gave.
    #[inline(always)]
    pub fn made_at(&self, rank: Rank) -> TokenId {
        match self.ids.get(rank as usize) {
            None => rank + self.offset,
            Some(&id) => id,
        }
    }

    /// Asks for the memory that [`Self::made_at`] will need; the rank may be [`NO_RANK`].
    #[inline(always)]
    pub fn prefetch_made(&self, rank: Rank) {
        // Not by whether there is such a rank: that can't be guessed.
        if let Some(last) = self.ids.len().checked_sub(1) {
            prefetch::line(&self.ids[last.min(rank as usize)], 0);
        }
    }

    #[inline]
    fn merge_of(&self, rank: Rank) -> Merge {
        Merge {
            rank,
            id: self.made_at(rank),
        }
    }

    /// The pairs in order of rank.
    pub fn pairs(&self) -> Vec<(TokenId, TokenId)> {
        let mut ranked: Vec<_> = self
            .iter()
            .map(|(left, right, merge)| (merge.rank, left, right))
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, left, right)| (left, right)).collect()
    }

    /// These merges without those whose result is in `ids`.
    pub fn without_results(&self, ids: &[TokenId]) -> Self {
        let mut kept = Self::with_capacity(self.count);
        kept.need_heap = self.need_heap;
        for (left, right, merge) in self.iter().filter(|(_, _, merge)| !ids.contains(&merge.id)) {
            kept.insert(left, right, merge);
        }
        kept.finish();
        kept
    }

    /// Every token that some merge makes.
    pub fn results(&self) -> impl Iterator<Item = TokenId> {
        self.iter().map(|(_, _, merge)| merge.id)
    }
}

/// The merges of two ASCII bytes, which every new word begins with, by their values: 64 KB that stay near.
#[derive(Clone)]
pub struct AsciiPairs {
    ids: [TokenId; 128],
    ranks: Vec<Rank>,
}

impl AsciiPairs {
    /// Looks up all of them, given the ids of single bytes.
    pub fn new(merges: &Merges, symbols_of_bytes: &[Option<TokenId>; 256]) -> Self {
        let ids = std::array::from_fn(|byte| symbols_of_bytes[byte].unwrap_or(0));
        let mut ranks = Vec::with_capacity(128 * 128);
        for left in &symbols_of_bytes[..128] {
            for right in &symbols_of_bytes[..128] {
                let rank = left.zip(*right).map(|(left, right)| merges.rank(left, right));
                ranks.push(rank.unwrap_or(NO_RANK));
            }
        }
        Self { ids, ranks }
    }

    /// The id of an ASCII byte, where each byte has one.
    #[inline]
    pub fn id(&self, byte: u8) -> TokenId {
        self.ids[(byte & 0x7F) as usize]
    }

    /// The rank of the merge of two ASCII bytes.
    #[inline]
    pub fn rank(&self, left: u8, right: u8) -> Rank {
        self.ranks[(left & 0x7F) as usize * 128 + (right & 0x7F) as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn merges_are_a_map_whatever_their_ids_and_ranks() {
        let mut numbers = fastrand::Rng::with_seed(1);
        let number = |numbers: &mut fastrand::Rng| match numbers.u8(0..4) {
            0 => LIMIT - 2 + numbers.u32(0..5),
            1 => u32::MAX - numbers.u32(0..3),
            _ => numbers.u32(0..12),
        };
        let mut twice = 0;
        for _ in 0..300 {
            let pairs: Vec<_> = (0..numbers.usize(0..60))
                .map(|_| {
                    let mut number = || number(&mut numbers);
                    let pair = (number(), number());
                    let merge = Merge {
                        rank: number(),
                        id: number(),
                    };
                    (pair, merge)
                })
                .collect();
            let expected: HashMap<_, _> = pairs.iter().copied().collect();
            twice += pairs.len() - expected.len();

            let merges = Merges::from_ids(pairs.into_iter());

            assert_eq!(merges.len(), expected.len());
            for (&(left, right), &merge) in &expected {
                assert_eq!(merges.get(left, right), Some(merge));
                assert!(
                    merges
                        .get(left, right ^ 16)
                        .is_none_or(|other| { expected.get(&(left, right ^ 16)) == Some(&other) })
                );
            }
            let all: HashMap<_, _> = merges
                .iter()
                .map(|(left, right, merge)| ((left, right), merge))
                .collect();
            assert_eq!(all, expected);
        }
        assert!(twice > 100, "{twice}");
    }
}
