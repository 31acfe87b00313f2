//! A text to ids, without offsets.

use super::draw::Draw;
use super::flat::{Rules, is_long};
use super::{State, Tokenizer};
use crate::added_tokens::Allowed;
use crate::encoding::Encoding;
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
        if is_long(text) {
            return Ok(self.encode_flat(&[text], Rules::Usual(options))?.0);
        }
        let mut ids = Vec::with_capacity(text.len() / 3 + 4);
        self.states.with(|state| {
            self.part_of_text_into(text, (true, true), options, self.draw().at(0), state, &mut ids)
        })?;
        Ok(ids)
    }

    /// Appends the ids of a text, or of a part that may be the first or the last of it: those get the special tokens.
    pub(super) fn part_of_text_into(
        &self,
        text: &str,
        (is_first, is_last): (bool, bool),
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
                if is_first {
                    ids.extend(before);
                }
                self.text_into(text, options.allowed(), &model, state, ids)?;
                if is_last {
                    ids.extend(after);
                }
            }
            None => ids.extend(self.encode_drawn(&text.into(), None, options, None, draw)?.ids),
        }
        Ok(())
    }

    /// Whether all that the post-processor does to the ids of a text is to put some before and behind them.
    pub(super) fn only_puts_affixes(&self, options: EncodeOptions) -> bool {
        let processor = self.post_processor.as_ref();
        processor.is_none_or(|processor| processor.affixes(options.add_special_tokens).is_some())
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
