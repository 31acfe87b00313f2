//! The merges of the model: which two neighbours become one token, and which pair goes first.

use hashbrown::HashMap;

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
#[derive(Debug, Clone, Default)]
pub struct Merges {
    map: HashMap<u64, Merge>,
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
        let mut map = HashMap::with_capacity(pairs.len());
        let mut whole = Vec::new();
        for (rank, (left, right)) in pairs.enumerate() {
            let missing = |what: &str| {
                Error::TokenizerFile(format!(
                    "tokenizer.json: merge {rank} is '{left} {right}', but '{what}' is not in model.vocab."
                ))
            };
            let left_id = vocab.id(left).ok_or_else(|| missing(left))?;
            let right_id = vocab.id(right).ok_or_else(|| missing(right))?;
            whole.clear();
            whole.extend_from_slice(left.as_bytes());
            // Stock cuts the prefix's length off, whatever the bytes are.
            whole.extend_from_slice(right.as_bytes().get(prefix.len()..).unwrap_or_default());
            let id = vocab
                .id_of_utf8(&whole)
                .ok_or_else(|| missing(&String::from_utf8_lossy(&whole)))?;
            let rank = rank as Rank;
            map.insert(key(left_id, right_id), Merge { rank, id });
        }
        Ok(Self { map })
    }

    /// Takes merges whose ids are known. A pair that is given twice counts the last time.
    pub fn from_ids(merges: impl IntoIterator<Item = ((TokenId, TokenId), Merge)>) -> Self {
        let merges = merges.into_iter();
        Self {
            map: merges
                .map(|((left, right), merge)| (key(left, right), merge))
                .collect(),
        }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether nothing merges.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// What the neighbours `left` and `right` become.
    #[inline]
    pub fn get(&self, left: TokenId, right: TokenId) -> Option<Merge> {
        self.map.get(&key(left, right)).copied()
    }

    /// The pairs in order of rank.
    pub fn pairs(&self) -> Vec<(TokenId, TokenId)> {
        let mut ranked: Vec<_> = self.map.iter().map(|(&key, merge)| (merge.rank, key)).collect();
        ranked.sort_unstable();
        ranked
            .into_iter()
            .map(|(_, key)| ((key >> 32) as TokenId, key as TokenId))
            .collect()
    }

    /// These merges without those whose result is in `ids`.
    pub fn without_results(&self, ids: &[TokenId]) -> Self {
        let map = self.map.iter().filter(|(_, merge)| !ids.contains(&merge.id));
        Self {
            map: map.map(|(&key, &merge)| (key, merge)).collect(),
        }
    }

    /// Every token that some merge makes.
    pub fn results(&self) -> impl Iterator<Item = TokenId> {
        self.map.values().map(|merge| merge.id)
    }
}

fn key(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
