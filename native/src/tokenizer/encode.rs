//! Text to ids, without offsets.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashSet;

use super::draw::Draw;
use super::{Route, State, Tokenizer};
use crate::added_tokens::Allowed;
use crate::bpe::{Bpe, Symbols};
use crate::cache::Lookups;
use crate::cache::PretokenCache;
use crate::encoding::Encoding;
use crate::normalized::NormalizedText;
use crate::normalizer::Normalized;
use crate::parallel;
use crate::post_processor::post_process;
use crate::quoted::Quoted;
use crate::vocab::TokenId;
use crate::{Error, Result};

/// How a text is encoded.
#[derive(Debug, Clone, Copy)]
pub struct EncodeOptions {
    /// Whether the post-processor adds its special tokens.
    pub add_special_tokens: bool,
    /// Whether special tokens that the text spells are treated as ordinary text.
    pub split_special_tokens: bool,
}

impl EncodeOptions {
    pub(super) fn allowed(self) -> Allowed<'static> {
        if self.split_special_tokens {
            Allowed::Ordinary
        } else {
            Allowed::All
        }
    }
}

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
    /// The ids of one text, as `tokenizers.Tokenizer.encode` gives them.
    pub fn encode_ids(&self, text: &str, options: EncodeOptions) -> Result<Vec<TokenId>> {
        let mut ids = Vec::with_capacity(text.len() / 3 + 4);
        self.states
            .with(|state| self.encode_into(text, options, self.draw().at(0), state, &mut ids))?;
        Ok(ids)
    }

    fn encode_into(
        &self,
        text: &str,
        options: EncodeOptions,
        draw: Draw,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let model = self.model(draw);
        let Some(processor) = &self.post_processor else {
            return self.text_into(text, options.allowed(), &model, state, ids);
        };
        match processor.affixes(options.add_special_tokens) {
            Some((before, after)) => {
                ids.extend(before);
                self.text_into(text, options.allowed(), &model, state, ids)?;
                ids.extend(after);
            }
            None => ids.extend(self.encode_drawn(&text.into(), None, options, None, draw)?.ids),
        }
        Ok(())
    }

    /// What the post-processor makes of the ids of one text, or of a pair: ids, types and mask; offsets mean nothing.
    pub fn with_special_tokens(&self, ids: Vec<TokenId>, pair_ids: Option<Vec<TokenId>>) -> Result<Encoding> {
        let bare = |ids: Vec<TokenId>, type_id| {
            let len = ids.len();
            Encoding::from_columns(ids, vec![(0, 0); len], vec![None; len], type_id)
        };
        let second = pair_ids.map(|ids| bare(ids, 1));
        post_process(
            self.post_processor.as_ref(),
            bare(ids, 0),
            second,
            None,
            true,
            self,
        )
    }

    /// The ids of each text, on all cores.
    pub fn encode_ids_batch(&self, texts: &[&str], options: EncodeOptions) -> Result<Vec<Vec<TokenId>>> {
        self.batch(texts, |text, draw, state| {
            let mut ids = Vec::with_capacity(text.len() / 3 + 4);
            self.encode_into(text, options, draw, state, &mut ids)?;
            Ok(ids)
        })
    }

    /// The ids of all texts in a row, and where each text begins in them (one more than there are texts).
    pub fn encode_flat(&self, texts: &[&str], options: EncodeOptions) -> Result<(Vec<TokenId>, Vec<u64>)> {
        let sizes: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let draw = self.draw();
        let parts = parallel::map_parts(&sizes, |part| {
            self.states.with(|state| {
                let bytes: usize = sizes[part.clone()].iter().sum();
                let mut ids = Vec::with_capacity(bytes / 3 + 4 * part.len());
                let mut ends = Vec::with_capacity(part.len());
                for at in part {
                    self.encode_into(texts[at], options, draw.at(at), state, &mut ids)?;
                    ends.push(ids.len());
                }
                Ok((ids, ends))
            })
        });
        join_parts(parts)
    }

    /// The ids of one text without any special token: none is found, added, or made by merging.
    pub fn encode_ordinary(&self, text: &str) -> Result<Vec<TokenId>> {
        let mut ids = Vec::with_capacity(text.len() / 3 + 4);
        self.states
            .with(|state| self.ordinary_into(text, self.draw().at(0), state, &mut ids))?;
        Ok(ids)
    }

    /// The same for each text, on all cores.
    pub fn encode_ordinary_batch(&self, texts: &[&str]) -> Result<Vec<Vec<TokenId>>> {
        self.batch(texts, |text, draw, state| {
            let mut ids = Vec::with_capacity(text.len() / 3 + 4);
            self.ordinary_into(text, draw, state, &mut ids)?;
            Ok(ids)
        })
    }

    fn ordinary_into(&self, text: &str, draw: Draw, state: &mut State, ids: &mut Vec<TokenId>) -> Result<()> {
        let ordinary = self.ordinary_bpe();
        let model = self.ordinary_model(ordinary.as_deref(), draw);
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
        let bpe = ordinary.as_deref().unwrap_or(&self.bpe);
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

    fn batch<T: Send>(
        &self,
        texts: &[&str],
        encode: impl Fn(&str, Draw, &mut State) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let sizes: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let draw = self.draw();
        let parts = parallel::map_parts(&sizes, |part| {
            self.states.with(|state| {
                part.map(|at| encode(texts[at], draw.at(at), state))
                    .collect::<Result<Vec<_>>>()
            })
        });
        let mut all = Vec::with_capacity(texts.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }

    fn model(&self, draw: Draw) -> Model<'_> {
        Model {
            bpe: &self.bpe,
            draw,
            cached: !draw.is_random(),
        }
    }

    /// A model that can't make special tokens, where the usual one can: a trained merge may spell one.
    pub(super) fn ordinary_bpe(&self) -> Option<Arc<Bpe>> {
        let made = self.ordinary.get_or_init(|| {
            let specials: Vec<_> = self
                .added
                .iter()
                .filter(|(_, token)| token.special)
                .map(|(id, _)| id)
                .collect();
            let mut reachable: HashSet<_> = self.bpe.merges.results().collect();
            if self.bpe.settings.ignore_merges {
                reachable.extend(self.bpe.vocab.iter().map(|(_, id)| id));
            }
            let specials: Vec<_> = specials.into_iter().filter(|id| reachable.contains(id)).collect();
            (!specials.is_empty()).then(|| Arc::new(self.bpe.without(&specials)))
        });
        made.clone()
    }

    fn text_into(
        &self,
        text: &str,
        allowed: Allowed,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        check_length(text)?;
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

    fn plain_into(
        &self,
        text: &str,
        head: usize,
        model: &Model,
        state: &mut State,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
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

/// Positions inside a text are kept in 32 bits.
pub(super) fn check_length(text: &str) -> Result<()> {
    if text.len() < u32::MAX as usize {
        return Ok(());
    }
    let size = text.len();
    Err(Error::Value(format!(
        "a text of {size} bytes is too long: cut it into parts below 4 GiB"
    )))
}

type FlatPart = Result<(Vec<TokenId>, Vec<usize>)>;

fn join_parts(parts: Vec<FlatPart>) -> Result<(Vec<TokenId>, Vec<u64>)> {
    let mut parts = parts.into_iter();
    let (mut ids, ends) = parts.next().unwrap_or_else(|| Ok(Default::default()))?;
    let mut offsets = vec![0];
    offsets.extend(ends.into_iter().map(|end| end as u64));
    for part in parts {
        let (more, ends) = part?;
        let base = ids.len();
        ids.extend(more);
        offsets.extend(ends.into_iter().map(|end| (base + end) as u64));
    }
    Ok((ids, offsets))
}
