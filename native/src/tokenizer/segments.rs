//! One text to ids, stage by stage: added tokens, normalizer, pre-tokenizer, model. No offsets are kept.

use std::borrow::Cow;
use std::ops::Range;

use super::draw::Draw;
use super::encode::check_length;
use super::{Route, State, Tokenizer};
use crate::Result;
use crate::added_tokens::Allowed;
use crate::bpe::{Bpe, Symbols};
use crate::cache::{Lookups, PretokenCache};
use crate::normalized::NormalizedText;
use crate::normalizer::Normalized;
use crate::vocab::TokenId;

/// In segments up to this many bytes each pretoken is looked up by itself: to make room for turns of them costs more than
/// their waiting.
const SHORT: usize = 128;

/// Which model runs, by which random numbers, and whether the cache knows it.
pub(super) struct Model<'a> {
    pub(super) bpe: &'a Bpe,
    pub(super) draw: Draw,
    pub(super) cached: bool,
}

impl Model<'_> {
    /// Appends the ids of a piece of text, word by word where the model allows that.
    fn piece_into(
        &self,
        piece: &str,
        cache: &mut PretokenCache,
        symbols: &mut Symbols,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        if let Some(id) = self.bpe.whole_text(piece) {
            ids.push(id);
            return Ok(());
        }
        match self.bpe.words() {
            Some(words) => words
                .ranges(piece)
                .try_for_each(|range| self.word_into(piece, range, cache, symbols, ids)),
            None => self.word_into(piece, 0..piece.len(), cache, symbols, ids),
        }
    }

    fn word_into(
        &self,
        text: &str,
        range: Range<usize>,
        cache: &mut PretokenCache,
        symbols: &mut Symbols,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        if self.cached && cache.get(text.as_bytes(), range.clone(), ids) {
            return Ok(());
        }
        let before = ids.len();
        let word = &text[range];
        self.bpe.encode_word(word, symbols, ids)?;
        if self.cached {
            cache.insert(word.as_bytes(), &ids[before..]);
        }
        Ok(())
    }
}

impl Tokenizer {
    pub(super) fn model(&self, draw: Draw) -> Model<'_> {
        Model {
            bpe: &self.bpe,
            draw,
            cached: !draw.is_random(),
        }
    }

    pub(super) fn text_into(
        &self,
        text: &str,
        allowed: Allowed,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        check_length(text)?;
        state.cache.keep_to_share();
        model.draw.begin(text.as_bytes(), &mut state.symbols);
        self.added.split_raw(text, allowed, &mut |range, id| match id {
            Some(id) => {
                ids.push(id);
                Ok(())
            }
            None => self.segment_into(text, range, allowed, model, state, ids),
        })
    }

    /// The part `range` of `text`, in which no token of the first stage is.
    pub(super) fn segment_into(
        &self,
        text: &str,
        range: Range<usize>,
        allowed: Allowed,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let (segment, start) = (&text[range.clone()], range.start);
        let normalized = match &self.normalizer {
            Some(normalizer) => normalizer.run(segment)?,
            None => Normalized::Text(segment.into()),
        };
        let within = match allowed {
            Allowed::Within(within) if !self.added.none_normalized() => Some(within),
            _ => None,
        };
        let normalized = match normalized {
            Normalized::Text(normalized) if within.is_none() || matches!(normalized, Cow::Borrowed(_)) => {
                normalized
            }
            _ => {
                let aligned = self.normalize_aligned(segment, start)?;
                let within = within.map(|within| self.normal_parts(within, text, &range, &aligned));
                let within = within.transpose()?;
                let allowed = within.as_ref().map_or(allowed, Allowed::Within);
                return self.aligned_into(&aligned, allowed, model, state, ids);
            }
        };
        let within = within.map(|within| within.segment(&range));
        let allowed = within.as_ref().map_or(allowed, Allowed::Within);
        let head = self.head(segment, start, matches!(normalized, Cow::Owned(_)))?;
        self.added
            .split_normalized(&normalized, allowed, &mut |range, id| match id {
                Some(id) => {
                    ids.push(id);
                    Ok(())
                }
                None => {
                    let head = head.saturating_sub(range.start);
                    self.plain_into(&normalized[range], head, model, state, ids)
                }
            })
    }

    /// A segment on the route over bytes that the normalizer keeps, without an added token in it.
    pub(super) fn bytes_into(
        &self,
        segment: &str,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.plain_into(segment, 0, model, state, ids)
    }

    fn plain_into(
        &self,
        text: &str,
        head: usize,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        check_length(text)?; // normalized text may be longer than what it was
        let prefix_space = match self.route {
            Route::Bytes { prefix_space } => prefix_space,
            Route::Pieces => return self.pieces_into(text, head, model, state, ids),
        };
        let State {
            cache,
            symbols,
            scratch,
            prefixed,
            ..
        } = state;
        let text = if prefix_space && !text.starts_with(' ') {
            prefixed.clear();
            prefixed.push(' ');
            prefixed.push_str(text);
            prefixed.as_str()
        } else {
            text
        };
        let miss = |range: Range<usize>, ids: &mut Vec<TokenId>| {
            model.bpe.encode_pretoken(&text[range], symbols, ids);
        };
        if !model.cached {
            let mut miss = miss;
            return self.split_ranges(text, scratch, |range| miss(range, ids));
        }
        if text.len() <= SHORT {
            let mut miss = miss;
            return self.split_ranges(text, scratch, |range| {
                if !cache.get(text.as_bytes(), range.clone(), ids) {
                    let before = ids.len();
                    miss(range.clone(), ids);
                    cache.insert(&text.as_bytes()[range], &ids[before..]);
                }
            });
        }
        let mut lookups = Lookups::new(text.as_bytes(), cache, miss);
        self.split_ranges(text, scratch, |range| lookups.push(range, ids))?;
        lookups.finish(ids);
        Ok(())
    }

    fn aligned_into(
        &self,
        segment: &NormalizedText,
        allowed: Allowed,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let State { cache, symbols, .. } = state;
        // On the route over bytes the cache knows pretokens by their bytes; here they are written in the byte alphabet.
        let model = &Model {
            cached: model.cached && self.route == Route::Pieces,
            ..*model
        };
        self.added
            .split_normalized(segment.text(), allowed, &mut |range, id| match id {
                Some(id) => {
                    ids.push(id);
                    Ok(())
                }
                None => self
                    .pieces(segment.slice(range))?
                    .iter()
                    .try_for_each(|piece| model.piece_into(piece.text(), cache, symbols, ids)),
            })
    }

    fn pieces_into(
        &self,
        text: &str,
        head: usize,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let State {
            cache,
            symbols,
            scratch,
            ..
        } = state;
        let mut outcome = Ok(());
        self.text_pieces(text, head, scratch, |piece| {
            if outcome.is_ok() {
                outcome = model.piece_into(piece, cache, symbols, ids);
            }
        })?;
        outcome
    }
}
