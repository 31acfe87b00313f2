//! The same tokenizer with more tokens and merges.

use super::Tokenizer;
use crate::bpe::Bpe;
use crate::merges::{Merge, Merges, Rank};
use crate::vocab::TokenId;
use crate::{Error, Result};

/// A merge by ids: left half, right half, and what they become.
pub type MergeOfIds = (TokenId, TokenId, TokenId);

impl Tokenizer {
    /// The same tokenizer with more tokens, and more merges before the one of rank `at`, or behind all. A pair that is
    /// listed already moves.
    ///
    /// The stock library numbers added tokens by itself unless the model lists them, and would put them behind the new
    /// tokens: so the model lists them here.
    ///
    /// # Errors
    /// [`Error::Value`] where a new token's text or id is taken.
    pub fn extended(
        &self,
        tokens: &[(String, TokenId)],
        merges: &[MergeOfIds],
        at: Option<usize>,
    ) -> Result<Self> {
        let mut vocab = self.bpe.vocab.clone();
        for (id, token) in self.added.iter() {
            if vocab.id(&token.content).is_none() && self.bpe.vocab.token(id).is_none() {
                vocab.insert(&token.content, id);
            }
        }
        for (token, id) in tokens {
            if self.id_to_token(*id).is_some() || !vocab.insert_new(token, *id) {
                let token = token.escape_debug();
                return Err(Error::Value(format!(
                    "token '{token}' or its id {id} is there already"
                )));
            }
        }
        vocab.finish();
        let settings = self.bpe.settings.clone();
        let bpe = Bpe::new(
            vocab,
            self.merges_with(merges, at),
            settings,
            self.is_byte_level(),
        );
        Self::assemble(
            bpe.into(),
            (*self.added).clone(),
            self.components.clone(),
            self.dropout_seed,
        )
    }

    fn merges_with(&self, new: &[MergeOfIds], at: Option<usize>) -> Merges {
        let old = &self.bpe.merges;
        let mut pairs: Vec<MergeOfIds> = old
            .pairs()
            .into_iter()
            .filter_map(|(left, right)| Some((left, right, old.get(left, right)?.id)))
            .collect();
        let at = at.unwrap_or(pairs.len()).min(pairs.len());
        let moved = |pair: &MergeOfIds| new.iter().any(|merge| (merge.0, merge.1) == (pair.0, pair.1));
        let behind: Vec<_> = pairs.split_off(at);
        if at < pairs.len() + behind.len() {
            pairs.retain(|pair| !moved(pair));
        }
        pairs.extend_from_slice(new);
        pairs.extend(behind.into_iter().filter(|pair| !moved(pair)));
        let ranked = pairs.into_iter().enumerate();
        old.like(ranked.map(|(rank, (left, right, id))| {
            let rank = rank as Rank;
            ((left, right), Merge { rank, id })
        }))
    }
}
