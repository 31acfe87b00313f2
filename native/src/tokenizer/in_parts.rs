//! A long text cut into pretokens while it comes in, part by part.
//!
//! Guarantee: for a pipeline that [`Tokenizer::prefix_in_parts`] knows, the normal form of a text is that of its parts (see
//! `normalizer/parts.rs`), and its pretokens are the matches of one published pattern in that, with a space before the
//! whole text where the pipeline puts one there.

use std::borrow::Cow;
use std::ops::Range;

use super::{Route, Tokenizer};
use crate::Result;
use crate::normalizer::Normalizer;
use crate::pre_tokenizer::Scratch;

impl Tokenizer {
    /// Whether a long text may be counted part by part, and if so, whether a space is put before one that doesn't begin
    /// with a space.
    pub fn prefix_in_parts(&self) -> Option<bool> {
        let Route::Bytes { prefix_space } = self.route else {
            return None;
        };
        let by_parts = self.normalizer.as_ref().is_none_or(Normalizer::works_in_parts);
        (by_parts && self.cuts_by_published_pattern()).then_some(prefix_space)
    }

    /// The last place in `text`, at `from` or later, at which its normal form may be cut, where there is one.
    pub fn part_to_normalize(&self, text: &str, from: usize) -> Option<usize> {
        match &self.normalizer {
            None => (!text.is_empty()).then_some(text.len()),
            Some(_) => Normalizer::part_of(text, from),
        }
    }

    /// The normal form of a part.
    ///
    /// # Errors
    /// What a normalizer raises whose pattern runs away.
    pub fn normalize_part<'a>(&self, part: &'a str) -> Result<Cow<'a, str>> {
        match &self.normalizer {
            None => Ok(part.into()),
            Some(normalizer) => normalizer.normalize(part),
        }
    }

    /// Calls `emit` with each match of the pattern in a text that is normalized, and has its prefix.
    ///
    /// # Errors
    /// None that a published pattern has.
    pub fn matches_of_part(
        &self,
        text: &str,
        scratch: &mut Scratch,
        emit: impl FnMut(Range<usize>),
    ) -> Result<()> {
        self.split_ranges(text, scratch, emit)
    }
}
