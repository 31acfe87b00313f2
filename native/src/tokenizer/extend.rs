//! The same tokenizer with more tokens and merges.

use super::{Route, Tokenizer};
use crate::added_tokens::AddedToken;
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
    /// [`Error::Value`] where a new token's text or id is taken, and what [`Self::check_extensible`] raises.
    pub fn extended(
        &self,
        tokens: &[(String, TokenId)],
        merges: &[MergeOfIds],
        at: Option<usize>,
    ) -> Result<Self> {
        self.check_extensible()?;
        let mut vocab = self.bpe.vocab.clone();
        for (id, token) in self.unlisted() {
            vocab.insert(&token.content, id);
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

    /// Raises unless the model can list every added token, and still give the ids that it gives.
    ///
    /// # Errors
    /// [`Error::Value`] names an added token that the model would make of ordinary text, once it knows it.
    pub fn check_extensible(&self) -> Result<()> {
        for (id, token) in self.unlisted() {
            if self.would_be_made(token)? {
                let content = token.content.escape_debug();
                return Err(Error::Value(format!(
                    "the added token '{content}' has the id {id} and is not in model.vocab. There it has to be, to keep \
                     its id in the stock library when tokens follow it; but then ordinary text would be made of it, where \
                     it is not cut out. Extend a vocabulary without it, and add it again."
                )));
            }
        }
        Ok(())
    }

    /// Added tokens that the model doesn't know.
    fn unlisted(&self) -> impl Iterator<Item = (TokenId, &AddedToken)> {
        let vocab = &self.bpe.vocab;
        self.added
            .iter()
            .filter(|(id, token)| vocab.id(&token.content).is_none() && vocab.token(*id).is_none())
    }

    /// Whether the model, if it knew `token`, could make it where it isn't cut out: as a first symbol, or whole.
    fn would_be_made(&self, token: &AddedToken) -> Result<bool> {
        let settings = &self.bpe.settings;
        let content = token.content.as_str();
        // Bytes that are all there are no other token's.
        if !(self.bpe.runs_on_bytes() && self.bpe.has_all_bytes()) && self.is_symbol(content) {
            return Ok(true);
        }
        // Where texts reach the model as they are, nothing of a token that is always cut out reaches it. Special tokens
        // aren't cut out of text from strangers.
        let always_cut = matches!(self.route, Route::Bytes { prefix_space: false })
            && self.normalizer.is_none()
            && !token.single_word
            && !token.special;
        let mut whole = false;
        if settings.ignore_merges && !always_cut {
            self.words_of_uncut(content, &mut |word| {
                whole |= self.spelling_of_word(word) == content || word == content;
            })?;
        }
        Ok(whole)
    }

    /// Whether a text could begin as `token` before anything merges, if that were a token.
    pub fn is_symbol(&self, token: &str) -> bool {
        let settings = &self.bpe.settings;
        if settings.byte_fallback && token.len() == 6 && token.starts_with("<0x") && token.ends_with('>') {
            return true;
        }
        let [prefix, suffix] = [&settings.continuing_subword_prefix, &settings.end_of_word_suffix]
            .map(|affix| affix.as_deref().unwrap_or_default());
        let bare = token.strip_suffix(suffix).unwrap_or(token);
        let bare = [
            Some(token),
            Some(bare),
            token.strip_prefix(prefix),
            bare.strip_prefix(prefix),
        ];
        bare.into_iter()
            .flatten()
            .any(|form| form.chars().nth(1).is_none())
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
