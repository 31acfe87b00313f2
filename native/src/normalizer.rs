//! `normalizer`: text to text before anything is split.
//!
//! Guarantee: text and offsets are those of the stock library (tokenizers 0.23.3), and `normalize` makes the text that
//! `normalize_aligned` makes. Where stock panics, which it does in odd sequences, both give the obvious result.
//!
//! A normalizer is a list of steps: a `Sequence` is its members in a row, however deep they are nested, and a
//! normalizer that does several things to a text is one step for each. Time is linear in the text for all but `Replace`
//! with a regular expression, which has limits (see `pattern`).

mod bert;
mod byte_level;
mod changes;
mod charsmap;
mod forms;
mod lowercase;
mod nmt;
mod precompiled;
mod rule;
mod step;
mod strip;

use std::borrow::Cow;

use crate::Result;
use crate::config::Node;
use crate::normalized::NormalizedText;
use step::Step;

/// The kinds of components that [`Normalizer::from_node`] reads.
pub const SUPPORTED: &[&str] = &[
    "BertNormalizer",
    "ByteLevel",
    "Lowercase",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Nmt",
    "Precompiled",
    "Prepend",
    "Replace",
    "Sequence",
    "Strip",
    "StripAccents",
];

/// The steps that a text goes through, in order.
#[derive(Debug, Clone)]
pub struct Normalizer {
    steps: Vec<Step>,
}

impl Normalizer {
    /// Reads `normalizer` of a `tokenizer.json`; an unknown kind is an error that lists [`SUPPORTED`].
    pub fn from_node(node: &Node) -> Result<Self> {
        let mut steps = Vec::new();
        step::read(node, &mut steps)?;
        Ok(Self { steps })
    }

    /// Normalizes `text` and keeps its alignments.
    ///
    /// # Errors
    /// [`crate::Error::SplitPattern`] where a `Replace` runs away.
    pub fn normalize_aligned(&self, text: &mut NormalizedText) -> Result<()> {
        self.steps.iter().try_for_each(|step| step.align(text))
    }

    /// Normalizes `text`; borrows it where no step changes a character or its place, which quick checks find for
    /// almost every text.
    ///
    /// # Errors
    /// As [`Self::normalize_aligned`].
    pub fn normalize<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        let mut normalized = Cow::Borrowed(text);
        for (at, step) in self.steps.iter().enumerate() {
            let Some(rewritten) = step.rewrite(&normalized)? else {
                continue;
            };
            if rewritten.starts_with_nothing && at + 1 < self.steps.len() {
                // What the next steps make of such a text depends on the alignments.
                let mut aligned = NormalizedText::new(text, 0);
                self.normalize_aligned(&mut aligned)?;
                return Ok(Cow::Owned(aligned.into_text()));
            }
            normalized = Cow::Owned(rewritten.text);
        }
        Ok(normalized)
    }

    /// Whether no step changes `text`. One step may undo another, but then characters no longer stand for themselves.
    ///
    /// # Errors
    /// As [`Self::normalize_aligned`].
    pub fn keeps(&self, text: &str) -> Result<bool> {
        Ok(matches!(self.normalize(text)?, Cow::Borrowed(_)))
    }
}

#[cfg(test)]
mod tests;
