//! What one text (or pair) became: ids with their offsets, words and masks, and the windows that overflowed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

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
