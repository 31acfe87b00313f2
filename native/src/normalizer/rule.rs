//! The steps that go through a text character by character, told once for both ways to run them.

use super::changes::{Changes, filter};
use super::forms::Form;
use super::precompiled::Precompiled;
use super::strip::Strip;
use super::{bert, byte_level, lowercase};

/// What becomes of each character. A new kind is an arm in each `match`.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    /// A Unicode normalization form.
    Form(Form),
    /// Drops the characters for which this is false.
    Filter(fn(char) -> bool),
    /// Replaces each character.
    Map(fn(char) -> char),
    /// Lowers case.
    Lowercase,
    /// Puts spaces around ideographs.
    SpaceIdeographs,
    /// Writes bytes in the byte alphabet.
    ByteLevel,
    /// Drops white space at the ends.
    Strip(Strip),
    /// Replaces by the table of a SentencePiece model.
    Precompiled(Precompiled),
}

impl Rule {
    /// Whether a quick check is sure that this changes nothing.
    pub(super) fn surely_keeps(&self, text: &str) -> bool {
        match self {
            Self::Form(form) => form.surely_keeps(text),
            Self::Filter(keep) => text.chars().all(keep),
            Self::Map(map) => text.chars().all(|char| map(char) == char),
            Self::Lowercase => lowercase::keeps(text),
            Self::SpaceIdeographs => bert::has_no_ideograph(text),
            Self::ByteLevel => byte_level::keeps(text),
            Self::Strip(strip) => strip.keeps(text),
            Self::Precompiled(precompiled) => precompiled.surely_keeps(text),
        }
    }

    /// Tells `changes` the new text; returns how many characters are dropped at the start of the old one.
    pub(super) fn tell(&self, text: &str, changes: &mut impl Changes) -> usize {
        match self {
            Self::Filter(keep) => return filter(text, keep, changes),
            Self::Strip(strip) => return strip.rewrite(text, changes),
            Self::Form(form) => form.rewrite(text, changes),
            Self::Map(map) => text.chars().for_each(|char| changes.push(map(char), 0)),
            Self::Lowercase => lowercase::rewrite(text, changes),
            Self::SpaceIdeographs => bert::space_ideographs(text, changes),
            Self::ByteLevel => byte_level::rewrite(text, changes),
            Self::Precompiled(precompiled) => precompiled.rewrite(text, changes),
        }
        0
    }
}
