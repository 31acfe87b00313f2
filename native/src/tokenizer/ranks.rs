//! A tokenizer from ranks, and ranks from a tokenizer.

use hashbrown::HashSet;

use crate::added_tokens::{AddedToken, AddedTokens};
use crate::bpe::{Bpe, BpeSettings};
use crate::byte_alphabet::{bytes_to_token, token_to_bytes};
use crate::merges::Merges;
use crate::quoted::Escaped;
use crate::ranks::{Agreement, agreement, merges_of_ranks, ranked};
use crate::tokenizer_json::Components;
use crate::vocab::{TokenBytes, TokenId, Vocab};
use crate::{Error, Result};

use super::Tokenizer;

impl Tokenizer {
    /// The tokenizer of a rank file: each split of a token is a merge. Special tokens get the ids they are given.
    pub fn from_ranks(
        ranks: &[(Vec<u8>, TokenId)],
        mut special_tokens: Vec<(String, TokenId)>,
        components: Components,
        ignore_merges: bool,
    ) -> Result<Self> {
        let mut vocab = Vocab::default();
        ranks
            .iter()
            .for_each(|(bytes, id)| vocab.insert(&bytes_to_token(bytes), *id));
        vocab.finish();
        let merges = ranked(&merges_of_ranks(&TokenBytes::new(&vocab)));
        special_tokens.sort_by_key(|(_, id)| *id);
        if !follow(&special_tokens, vocab.len()) {
            // The stock library numbers added tokens by itself, unless the model knows them.
            special_tokens
                .iter()
                .for_each(|(token, id)| vocab.insert(token, *id));
            vocab.finish();
        }
        let mut added = AddedTokens::default();
        for (content, id) in special_tokens {
            added.insert(id, AddedToken::special(content));
        }
        let settings = BpeSettings {
            ignore_merges,
            ..BpeSettings::default()
        };
        let bpe = Bpe::new(vocab, merges, settings, true);
        Self::assemble(bpe.into(), added, components, None)
    }

    /// The bytes and the id of each token that merges can lead to. An added token that the model lists only to give it
    /// an id is left out.
    ///
    /// # Errors
    /// [`Error::Value`] names a token that no bytes are behind.
    pub fn ranks(&self) -> Result<Vec<(Vec<u8>, TokenId)>> {
        let made: HashSet<TokenId> = self.bpe.merges.results().collect();
        let mut ranks = Vec::with_capacity(self.bpe.vocab.len());
        for (token, id) in self.bpe.vocab.iter() {
            let single = token.chars().nth(1).is_none();
            if self.added.id(token) == Some(id) && !single && !made.contains(&id) {
                continue;
            }
            let bytes = token_to_bytes(token).ok_or_else(|| {
                let token = Escaped(token);
                Error::Value(format!(
                    "token {id} is {token}, which has a character outside the byte alphabet"
                ))
            })?;
            ranks.push((bytes, id));
        }
        Ok(ranks)
    }
}

impl Tokenizer {
    /// Whether the merges give the ids that a rank file of [`Self::ranks`] gives, on every pretoken.
    ///
    /// # Errors
    /// [`Error::Value`] where there is no such rank file.
    pub fn agreement_with_ranks(&self) -> Result<Agreement> {
        let mut vocab = Vocab::default();
        for (bytes, id) in self.ranks()? {
            vocab.insert(&bytes_to_token(&bytes), id);
        }
        vocab.finish();
        agreement(&TokenBytes::new(&vocab), &self.bpe.merges)
    }
}

impl Tokenizer {
    /// The same pipeline and added tokens around another model.
    pub fn with_model(&self, vocab: Vocab, merges: Merges, ignore_merges: bool) -> Result<Self> {
        let settings = BpeSettings {
            ignore_merges,
            ..self.bpe.settings.clone()
        };
        let bpe = Bpe::new(vocab, merges, settings, self.is_byte_level());
        Self::assemble(
            bpe.into(),
            (*self.added).clone(),
            self.components.clone(),
            self.dropout_seed,
        )
    }

    /// The same pipeline around the rank file of [`Self::ranks`]: what tiktoken makes of it.
    pub fn as_rank_file(&self) -> Result<Self> {
        let mut ranks = Vocab::default();
        for (bytes, id) in self.ranks()? {
            ranks.insert(&bytes_to_token(&bytes), id);
        }
        ranks.finish();
        let splits = merges_of_ranks(&TokenBytes::new(&ranks));
        self.with_model(self.bpe.vocab.clone(), ranked(&splits), true)
    }
}

/// Whether the ids are those that stock would give: one after the other behind the `size` tokens of the model.
fn follow(special_tokens: &[(String, TokenId)], size: usize) -> bool {
    special_tokens
        .iter()
        .enumerate()
        .all(|(at, (_, id))| *id as usize == size + at)
}
