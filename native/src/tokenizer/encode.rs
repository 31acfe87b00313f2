//! Texts to ids, without offsets: one, many, and many in one row.

use super::draw::Draw;
use super::{State, Tokenizer};
use crate::added_tokens::Allowed;
use crate::encoding::Encoding;
use crate::parallel;
use crate::post_processor::post_process;
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

    pub(super) fn batch<T: Send>(
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
