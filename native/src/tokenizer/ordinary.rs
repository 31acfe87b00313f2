//! Text to ids by other rules: without special tokens, with some of them, and any bytes.

use std::sync::Arc;

use hashbrown::HashSet;

use super::draw::Draw;
use super::flat::{Rules, is_long};
use super::segments::Model;
use super::{Route, State, Tokenizer};
use crate::added_tokens::Allowed;
use crate::bpe::Bpe;
use crate::quoted::Quoted;
use crate::vocab::TokenId;
use crate::{Error, Result};

impl Tokenizer {
    /// The ids of one text without any special token: none is found, added, or made by merging.
    pub fn encode_ordinary(&self, text: &str) -> Result<Vec<TokenId>> {
        if is_long(text) {
            return Ok(self.encode_flat(&[text], Rules::Ordinary)?.0);
        }
        let ordinary = self.ordinary_bpe();
        let mut ids = Vec::with_capacity(text.len() / 3 + 4);
        self.states
            .with(|state| self.ordinary_into(text, ordinary, self.draw().at(0), state, &mut ids))?;
        Ok(ids)
    }

    /// Appends the ids of a text; `ordinary` is what [`Self::ordinary_bpe`] gave.
    pub(super) fn ordinary_into(
        &self,
        text: &str,
        ordinary: Option<&Bpe>,
        draw: Draw,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let model = self.ordinary_model(ordinary, draw);
        self.text_into(text, Allowed::Ordinary, &model, state, ids)
    }

    /// The model around `ordinary`, which [`Self::ordinary_bpe`] gave.
    pub(super) fn ordinary_model<'a>(&'a self, ordinary: Option<&'a Bpe>, draw: Draw) -> Model<'a> {
        match ordinary {
            None => self.model(draw),
            Some(bpe) => Model {
                bpe,
                draw,
                cached: false,
            },
        }
    }

    /// The ids of one text in which only these special tokens are found, or all of them; nothing is added around.
    ///
    /// # Errors
    /// [`Error::Value`] names an allowed token that is not an added token.
    pub fn encode_with_special_tokens(&self, text: &str, allowed: Option<&[String]>) -> Result<Vec<TokenId>> {
        let unknown = |token: &str| {
            Error::Value(format!(
                "{} in allowed_special is not an added token",
                Quoted(token)
            ))
        };
        let id = |token: &String| self.added.id(token).ok_or_else(|| unknown(token));
        let ids: Option<HashSet<_>> = allowed
            .map(|names| names.iter().map(id).collect::<Result<_>>())
            .transpose()?;
        let allowed = ids.as_ref().map_or(Allowed::All, Allowed::Only);
        let model = self.model(self.draw().at(0));
        let mut ids = Vec::new();
        self.states
            .with(|state| self.text_into(text, allowed, &model, state, &mut ids))?;
        Ok(ids)
    }

    /// The ids of any bytes. What is UTF-8 is cut by the pre-tokenizer; each run that is not is one pretoken. Nothing
    /// is normalized and no added token is found, so that [`Tokenizer::decode_bytes`] gives the bytes back.
    ///
    /// # Errors
    /// [`Error::Value`] where the vocabulary can't hold any byte.
    pub fn encode_bytes(&self, data: &[u8]) -> Result<Vec<TokenId>> {
        if !matches!(self.route, Route::Bytes { .. }) || !self.bpe.has_all_bytes() {
            return Err(Error::Value(
                "encode_bytes needs a byte-level vocabulary with all 256 bytes, and a pre-tokenizer that ends in \
                 its only 'ByteLevel'; this one can't hold every byte without loss"
                    .into(),
            ));
        }
        let ordinary = self.ordinary_bpe();
        let bpe = ordinary.unwrap_or(&self.bpe);
        let mut ids = Vec::with_capacity(data.len() / 3 + 4);
        self.states.with(|state| {
            let State { symbols, scratch, .. } = state;
            self.draw().at(0).begin(data, symbols);
            let mut broken = Vec::new();
            for chunk in data.utf8_chunks() {
                let text = chunk.valid();
                if !text.is_empty() {
                    if !broken.is_empty() {
                        bpe.encode_bytes(&std::mem::take(&mut broken), symbols, &mut ids);
                    }
                    self.split_ranges(text, scratch, |range| {
                        bpe.encode_pretoken(&text[range], symbols, &mut ids);
                    })?;
                }
                broken.extend_from_slice(chunk.invalid());
            }
            if !broken.is_empty() {
                bpe.encode_bytes(&broken, symbols, &mut ids);
            }
            Ok(ids)
        })
    }

    /// A model that can't make special tokens, where the usual one can: a trained merge may spell one.
    pub(super) fn ordinary_bpe(&self) -> Option<&Bpe> {
        let made = self.ordinary.get_or_init(|| {
            let specials = self.added.iter().filter(|(_, token)| token.special);
            let specials: HashSet<_> = specials.map(|(id, _)| id).collect();
            let (least, most) = (specials.iter().min()?, specials.iter().max()?);
            let results = self.bpe.merges.results();
            // Most lie before all special tokens: a set of a few hundred thousand took 8 ms.
            let made = results.filter(|id| (least..=most).contains(&id) && specials.contains(id));
            let mut reachable: HashSet<_> = made.collect();
            if self.bpe.settings.ignore_merges {
                reachable.extend(specials.iter().filter(|&&id| self.bpe.vocab.has_id(id)));
            }
            let mut reachable: Vec<_> = reachable.into_iter().collect();
            reachable.sort_unstable();
            (!reachable.is_empty()).then(|| Arc::new(self.bpe.without(&reachable)))
        });
        made.as_deref()
    }
}
