//! What one text (or pair) became: ids with their offsets, words and masks, and the windows that overflowed.
//!
//! Guarantee: every column and every answer equals stock's `Encoding`, odd cases included; indexes that lie
//! outside give `None` and never a panic.

mod lookup;
mod merge;
mod pad;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::{Error, Result};

/// Which end of the ids padding goes to, or truncation cuts at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Side {
    /// The start.
    Left,
    /// The end.
    #[default]
    Right,
}

/// Knows how the vocabulary writes an id.
pub trait Spell {
    /// The token text of `id`, added tokens included.
    fn spell(&self, id: u32) -> Option<Cow<'_, str>>;
}

/// Spells nothing: for encodings that carry all their spellings.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSpelling;

impl Spell for NoSpelling {
    fn spell(&self, _id: u32) -> Option<Cow<'_, str>> {
        None
    }
}

/// The columns of an encoding; all vectors have one entry per token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The ids.
    pub ids: Vec<u32>,
    /// Which template slot each token belongs to.
    pub type_ids: Vec<u32>,
    /// The token text where it isn't the vocabulary's own spelling of the id.
    pub spellings: Vec<Option<Arc<str>>>,
    /// The index of the pretoken (or given word) each token came from.
    pub words: Vec<Option<u32>>,
    /// Half-open spans in the original text, in characters.
    pub offsets: Vec<(usize, usize)>,
    /// 1 for a token that the post-processor added.
    pub special_tokens_mask: Vec<u32>,
    /// 0 for padding.
    pub attention_mask: Vec<u32>,
    /// The windows after this one.
    pub overflowing: Vec<Encoding>,
    /// Where each sequence of a pair lies.
    pub sequence_ranges: BTreeMap<usize, Range<usize>>,
}

impl Encoding {
    /// An encoding without tokens, with room for `len` of them.
    pub fn with_capacity(len: usize) -> Self {
        Self {
            ids: Vec::with_capacity(len),
            type_ids: Vec::with_capacity(len),
            spellings: Vec::with_capacity(len),
            words: Vec::with_capacity(len),
            offsets: Vec::with_capacity(len),
            special_tokens_mask: Vec::with_capacity(len),
            attention_mask: Vec::with_capacity(len),
            ..Self::default()
        }
    }

    /// An encoding of text tokens that the vocabulary spells, all of one type.
    ///
    /// The three columns must have one length: the core builds them side by side.
    pub fn from_columns(
        ids: Vec<u32>,
        offsets: Vec<(usize, usize)>,
        words: Vec<Option<u32>>,
        type_id: u32,
    ) -> Self {
        let len = ids.len();
        debug_assert!(offsets.len() == len && words.len() == len);
        Self {
            ids,
            type_ids: vec![type_id; len],
            spellings: vec![None; len],
            words,
            offsets,
            special_tokens_mask: vec![0; len],
            attention_mask: vec![1; len],
            ..Self::default()
        }
    }

    /// Adds a text token that the vocabulary spells; `spell_last` names another text for it.
    pub fn push(&mut self, id: u32, offsets: (usize, usize), word: Option<u32>, type_id: u32) {
        self.ids.push(id);
        self.type_ids.push(type_id);
        self.spellings.push(None);
        self.words.push(word);
        self.offsets.push(offsets);
        self.special_tokens_mask.push(0);
        self.attention_mask.push(1);
    }

    /// Sets the text of the token pushed last.
    pub fn spell_last(&mut self, text: Arc<str>) {
        if let Some(spelling) = self.spellings.last_mut() {
            *spelling = Some(text);
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The text of the token at `index`: its own spelling, else the vocabulary's.
    pub fn token<'a>(&'a self, index: usize, spell: &'a dyn Spell) -> Option<Cow<'a, str>> {
        match self.spellings.get(index) {
            Some(Some(text)) => Some(Cow::Borrowed(text)),
            _ => spell.spell(*self.ids.get(index)?),
        }
    }

    /// Gives every token the type `type_id`; the windows that overflowed keep theirs, as in stock.
    pub fn set_type_id(&mut self, type_id: u32) {
        self.type_ids.fill(type_id);
    }

    /// Declares all tokens to be the sequence `sequence`.
    pub fn set_sequence_id(&mut self, sequence: usize) {
        self.sequence_ranges.insert(sequence, 0..self.len());
    }

    /// This encoding, if it holds together: columns of one length, sequences within them.
    pub fn checked(self) -> Result<Self> {
        let len = self.len();
        let lens = [
            self.type_ids.len(),
            self.spellings.len(),
            self.words.len(),
            self.offsets.len(),
            self.special_tokens_mask.len(),
            self.attention_mask.len(),
        ];
        let inside = |range: &Range<usize>| range.start <= range.end && range.end <= len;
        if lens != [len; 6] || !self.sequence_ranges.values().all(inside) {
            let ranges = &self.sequence_ranges;
            return Err(Error::Value(format!(
                "no encoding: {len} ids, but other columns of {lens:?} entries and sequences at {ranges:?}"
            )));
        }
        Ok(self)
    }

    /// A copy of the tokens in `range`, without windows and sequences.
    pub(crate) fn window(&self, range: Range<usize>) -> Encoding {
        Encoding {
            ids: self.ids[range.clone()].to_vec(),
            type_ids: self.type_ids[range.clone()].to_vec(),
            spellings: self.spellings[range.clone()].to_vec(),
            words: self.words[range.clone()].to_vec(),
            offsets: self.offsets[range.clone()].to_vec(),
            special_tokens_mask: self.special_tokens_mask[range.clone()].to_vec(),
            attention_mask: self.attention_mask[range].to_vec(),
            ..Encoding::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_that_does_not_hold_together_is_refused() {
        let whole = Encoding::from_columns(vec![1, 2], vec![(0, 1), (1, 2)], vec![None, None], 0);
        let mut short = whole.clone();
        short.words.pop();
        let mut outside = whole.clone();
        outside.sequence_ranges.insert(0, 1..3);

        assert_eq!(whole.clone().checked(), Ok(whole));
        assert!(
            short
                .checked()
                .unwrap_err()
                .to_string()
                .contains("2 ids, but other columns of [2, 2, 1, 2, 2, 2]")
        );
        assert!(
            outside
                .checked()
                .unwrap_err()
                .to_string()
                .contains("sequences at {0: 1..3}")
        );
    }
}
