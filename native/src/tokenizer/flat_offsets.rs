//! Many texts to ids in one row, with the offsets of each id in another.
//!
//! Guarantee: ids and offsets are those of [`Tokenizer::encode`]. Where tokens are bytes of the text, the way to them is
//! short: ids come as if nobody asked for offsets, cache and all, and offsets follow from the ids (see `widths.rs`), once it
//! is known how many there are. Anywhere else (another normal form, a space put before, text that is dropped, a template that
//! turns parts around) the text is encoded the long way.

use std::ops::Range;

use super::draw::Draw;
use super::placed::{Notes, Placed, Short};
use super::spaces::Spaces;
use super::widths::Widths;
use super::{EncodeOptions, Route, State, Tokenizer};
use crate::pre_tokenizer::{PreTokenizer, Step};
use crate::vocab::TokenId;
use crate::{Result, parallel};

/// Ids, the bounds of each text in them, and the start and end of each id in characters of its text, in turn.
pub type FlatOffsets = (Vec<TokenId>, Vec<u64>, Vec<u32>);

/// What one thread has made of its texts.
struct Run {
    ids: Vec<TokenId>,
    notes: Notes,
}

impl Tokenizer {
    /// The ids of all texts in a row, where each text begins in them, and the offsets of each id.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_flat_with_offsets(&self, texts: &[&str], options: EncodeOptions) -> Result<FlatOffsets> {
        let placed = self.encode_flat_placed(texts, options)?;
        let mut offsets = vec![[0; 2]; placed.ids.len()];
        placed.offsets_into(&mut offsets);
        Ok((placed.ids, placed.bounds, offsets.into_flattened()))
    }

    /// The same with offsets that are still to be [written](Placed::offsets_into), to memory that can then be of the right size.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_flat_placed(&self, texts: &[&str], options: EncodeOptions) -> Result<Placed<'_>> {
        let sizes: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let draw = self.draw();
        let short = self.short_way(options);
        let runs = parallel::map_parts(&sizes, |part| {
            let bytes: usize = sizes[part.clone()].iter().sum();
            let mut run = Run {
                ids: Vec::with_capacity(bytes / 3 + 4 * part.len()),
                notes: Notes::default(),
            };
            for at in part {
                self.place_text(texts[at], options, short.as_ref(), draw.at(at), &mut run)?;
                run.notes.ends.push(run.ids.len());
            }
            Ok(run)
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
        let mut bounds = Vec::with_capacity(texts.len() + 1);
        bounds.push(0);
        let mut before = 0;
        for run in &runs {
            bounds.extend(run.notes.ends.iter().map(|end| (before + end) as u64));
            before += run.ids.len();
        }
        let (ids, notes) = runs.into_iter().map(|run| (run.ids, run.notes)).unzip();
        Ok(Placed {
            ids: parallel::concat(ids),
            bounds,
            notes,
            short,
        })
    }

    /// The short way, where it is open to texts that the normalizer keeps.
    fn short_way(&self, options: EncodeOptions) -> Option<Short<'_>> {
        if self.route != (Route::Bytes { prefix_space: false }) || self.drops_text() {
            return None;
        }
        let mut steps = Vec::new();
        let affixes = match &self.post_processor {
            None => Default::default(),
            Some(processor) => {
                processor.trimming(&mut steps);
                processor.affixes(options.add_special_tokens)?
            }
        };
        // What is trimmed twice hangs on what is then the first token, in a way that nobody needs fast.
        if steps.len() > 1 {
            return None;
        }
        let widths = self.widths.get_or_init(|| Widths::new(&self.bpe)).as_ref()?;
        let tokens = self.bpe.token_bytes()?;
        let spaces = || self.spaces.get_or_init(|| Spaces::new(tokens));
        Some(Short {
            widths,
            tokens,
            affixes,
            trimming: steps.pop().map(|step| (step, spaces())),
        })
    }

    /// Whether a text may have more characters than its tokens.
    fn drops_text(&self) -> bool {
        let steps = self.pre_tokenizer.as_ref().map(PreTokenizer::steps);
        steps.is_some_and(|steps| steps.iter().any(Step::drops_text))
    }

    fn place_text(
        &self,
        text: &str,
        options: EncodeOptions,
        short: Option<&Short>,
        draw: Draw,
        run: &mut Run,
    ) -> Result<()> {
        let before = run.ids.len();
        if let Some(short) = short {
            run.ids.extend(&short.affixes.0);
            if self
                .states
                .with(|state| self.place_bytes(text, options, short, draw, state, run))?
            {
                run.ids.extend(&short.affixes.1);
                return Ok(());
            }
        }
        run.ids.truncate(before);
        let encoding = self.encode_drawn(&text.into(), None, options, None, draw)?;
        run.ids.extend(&encoding.ids);
        run.notes.take_long_way(before, &encoding.offsets);
        Ok(())
    }

    /// Appends the ids of a text; false where the short way doesn't lead to its end.
    fn place_bytes(
        &self,
        text: &str,
        options: EncodeOptions,
        short: &Short,
        draw: Draw,
        state: &mut State,
        run: &mut Run,
    ) -> Result<bool> {
        super::encode::check_length(text)?;
        let model = self.model(draw);
        let allowed = options.allowed();
        state.cache.keep_to_share();
        draw.begin(text.as_bytes(), &mut state.symbols);
        let mut is_short = true;
        let mut end = 0;
        self.added.split_raw(text, allowed, &mut |range, id| {
            let before = std::mem::replace(&mut end, range.end);
            if let Some(id) = id {
                run.add(id, text, range, before, short);
                return Ok(());
            }
            let segment = &text[range];
            is_short = is_short
                && match &self.normalizer {
                    Some(normalizer) => normalizer.keeps(segment)?,
                    None => true,
                };
            if !is_short {
                return Ok(());
            }
            let mut end = 0;
            self.added.split_normalized(segment, allowed, &mut |range, id| {
                let before = std::mem::replace(&mut end, range.end);
                match id {
                    Some(id) => {
                        run.add(id, segment, range, before, short);
                        Ok(())
                    }
                    None => self.bytes_into(&segment[range], &model, state, &mut run.ids),
                }
            })
        })?;
        Ok(is_short)
    }
}

impl Run {
    /// Appends an added token that the range of `text` spells; `end` is where what came before ends.
    fn add(&mut self, id: TokenId, text: &str, range: Range<usize>, end: usize, short: &Short) {
        let again = text.get(range.start..end).unwrap_or_default();
        self.notes.add(self.ids.len(), &text[range], again, short);
        self.ids.push(id);
    }
}

#[cfg(test)]
mod tests;
