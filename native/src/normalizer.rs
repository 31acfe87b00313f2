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
mod parts;
mod precompiled;
mod rule;
mod step;
mod strip;

use std::borrow::Cow;

use crate::Result;
use crate::config::Node;
use crate::normalized::NormalizedText;
pub(crate) use parts::LETTERS;
use step::Step;

/// The Unicode version of normal forms, as its crate states it, and where the tables come from.
pub const UNICODE_VERSION: &str = "9.0.0 (unicode-normalization-alignments 0.1.12)";

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

/// What [`Normalizer::run`] makes of a text.
#[derive(Debug)]
pub enum Normalized<'a> {
    /// The text alone.
    Text(Cow<'a, str>),
    /// A text that may start with characters that stand for nothing of the original: in stock, what later steps make
    /// of it depends on the alignments.
    Aligned(NormalizedText),
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

    /// Normalizes `text`, without alignments where what comes next can't depend on them.
    ///
    /// # Errors
    /// As [`Self::normalize_aligned`].
    pub fn run<'a>(&self, text: &'a str) -> Result<Normalized<'a>> {
        let mut normalized = Cow::Borrowed(text);
        for step in &self.steps {
            let Some(rewritten) = step.rewrite(&normalized)? else {
                continue;
            };
            if rewritten.starts_with_nothing {
                let mut aligned = NormalizedText::new(text, 0);
                self.normalize_aligned(&mut aligned)?;
                return Ok(Normalized::Aligned(aligned));
            }
            normalized = Cow::Owned(rewritten.text);
        }
        Ok(Normalized::Text(normalized))
    }

    /// The normalized `text`; borrowed where no step changes a character or its place, which quick checks find for
    /// almost every text.
    ///
    /// # Errors
    /// As [`Self::normalize_aligned`].
    pub fn normalize<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        Ok(match self.run(text)? {
            Normalized::Text(text) => text,
            Normalized::Aligned(text) => Cow::Owned(text.into_text()),
        })
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
