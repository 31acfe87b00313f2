//! A text that several people wrote: added tokens are found only in the parts of those who may write them.
//!
//! Guarantee: where all of a text is one part, the ids are those of [`Tokenizer::encode_ids`] without special tokens
//! around them; and a special token comes from nothing but a match inside one part.

use std::ops::Range;

use super::Tokenizer;
use super::align::Aligned;
use super::encode::check_length;
use crate::Result;
use crate::added_tokens::{Allowed, Within};
use crate::encoding::Encoding;
use crate::normalized::NormalizedText;
use crate::vocab::TokenId;

/// An added token that was found in the text as it was given: what stands before it and what stands behind it are
/// encoded without a look at each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Its place among the ids.
    pub token: usize,
    /// Its bytes, with the white space that it takes along.
    pub range: Range<usize>,
}

impl Tokenizer {
    /// The ids of `text` from where `within` starts, and the added tokens among them that the text as given spells.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_ids`].
    pub fn encode_within(&self, text: &str, within: &Within) -> Result<(Vec<TokenId>, Vec<Anchor>)> {
        check_length(text)?;
        let ordinary = self.ordinary_bpe();
        let model = self.ordinary_model(ordinary, self.draw().at(0));
        let allowed = Allowed::Within(within);
        let mut ids = Vec::with_capacity(text.len() / 3 + 4);
        let mut anchors = Vec::new();
        self.states.with(|state| {
            model.draw.begin(text.as_bytes(), &mut state.symbols);
            self.added.split_raw(text, allowed, &mut |range, id| {
                let Some(id) = id else {
                    return self.segment_into(text, range, allowed, &model, state, &mut ids);
                };
                anchors.push(Anchor {
                    token: ids.len(),
                    range,
                });
                ids.push(id);
                Ok(())
            })
        })?;
        Ok((ids, anchors))
    }

    /// The same ids with their offsets, in characters.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_ids`].
    pub fn align_within(&self, text: &str, within: &Within) -> Result<Encoding> {
        let ordinary = self.ordinary_bpe();
        let out = Aligned::new(text, ordinary.unwrap_or(&self.bpe), None, 0);
        let draw = self.draw().at(0);
        self.states
            .with(|state| self.align_text(text, Allowed::Within(within), draw, state, out))
    }

    /// The parts of the normal form of the segment `range` of `text`.
    pub(super) fn normal_parts(
        &self,
        within: &Within,
        text: &str,
        range: &Range<usize>,
        normalized: &NormalizedText,
    ) -> Result<Within> {
        within.normalized(text, range, normalized, |part| match &self.normalizer {
            Some(normalizer) => Ok(normalizer.normalize(part)?.into_owned()),
            None => Ok(part.to_owned()),
        })
    }

    /// Each added token that `text` spells and no part of `within` holds: bytes of the text, and the id.
    ///
    /// # Errors
    /// As [`Tokenizer::encode_ids`].
    pub fn added_tokens_outside(&self, text: &str, within: &Within) -> Result<Vec<(Range<usize>, TokenId)>> {
        check_length(text)?;
        let mut found = self
            .added
            .find_all(text, |segment, start| self.normalize_aligned(segment, start))?;
        found.retain(|(range, _)| !within.holds(range));
        Ok(found)
    }
}
