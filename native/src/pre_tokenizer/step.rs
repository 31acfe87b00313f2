//! One step of a pre-tokenizer: any component but `Sequence`.

use std::ops::Range;

use super::metaspace::Metaspace;
use super::{
    Behavior, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Punctuation, Split, punctuation,
    unicode_scripts, whitespace,
};
use crate::Result;
use crate::config::Node;

/// The kinds of components that can be read, in the order of the alphabet; `Sequence` is read elsewhere.
pub const SUPPORTED: &[&str] = &[
    "BertPreTokenizer",
    "ByteLevel",
    "CharDelimiterSplit",
    "Digits",
    "FixedLength",
    "Metaspace",
    "Punctuation",
    "Sequence",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
];

/// One step of a pre-tokenizer.
#[derive(Debug, Clone)]
pub enum Step {
    /// Drops white space and isolates punctuation.
    BertPreTokenizer,
    /// Cuts by the pattern of GPT-2, and shows bytes in the byte alphabet.
    ByteLevel(ByteLevel),
    /// Cuts at one character, which vanishes.
    CharDelimiterSplit(CharDelimiterSplit),
    /// Cuts numbers from the rest.
    Digits(Digits),
    /// Cuts after each so many characters.
    FixedLength(FixedLength),
    /// Shows spaces as another character, and cuts before each.
    Metaspace(Metaspace),
    /// Cuts at punctuation.
    Punctuation(Punctuation),
    /// Cuts by a pattern.
    Split(Split),
    /// Cuts where the script changes.
    UnicodeScripts,
    /// Keeps runs of word characters and runs of symbols.
    Whitespace,
    /// Keeps runs of anything but white space.
    WhitespaceSplit,
}

impl Step {
    /// Reads any component but `Sequence`; an unknown kind is an error that lists [`SUPPORTED`].
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        Ok(match node.kind()? {
            "BertPreTokenizer" => Self::BertPreTokenizer,
            "ByteLevel" => Self::ByteLevel(ByteLevel::from_node(node)?),
            "CharDelimiterSplit" => Self::CharDelimiterSplit(CharDelimiterSplit::from_node(node)?),
            "Digits" => Self::Digits(Digits::from_node(node)?),
            "FixedLength" => Self::FixedLength(FixedLength::from_node(node)?),
            "Metaspace" => Self::Metaspace(Metaspace::from_node(node)?),
            "Punctuation" => Self::Punctuation(Punctuation::from_node(node)?),
            "Split" => Self::Split(Split::from_node(node)?),
            "UnicodeScripts" => Self::UnicodeScripts,
            "Whitespace" => Self::Whitespace,
            "WhitespaceSplit" => Self::WhitespaceSplit,
            // Stock's own name for it in one place, which its reader refuses in the next.
            "Delimiter" => {
                let message = "should be 'CharDelimiterSplit', found 'Delimiter'";
                return Err(node.field("type")?.error(message));
            }
            other => return Err(node.unsupported(other, SUPPORTED)),
        })
    }

    /// Calls `emit` for each piece of `text`, in order.
    ///
    /// The changes that a step makes to a text are not made here: `ByteLevel` cuts before it shows bytes, `Metaspace` after it
    /// showed spaces.
    #[inline]
    pub fn split<F: FnMut(Range<usize>)>(&self, text: &str, emit: F) -> Result<()> {
        match self {
            Self::ByteLevel(step) => return step.split(text, emit),
            Self::Digits(step) => return step.split(text, emit),
            Self::Split(step) => return step.split(text, emit),
            Self::BertPreTokenizer => punctuation::split_as_bert(text, emit),
            Self::CharDelimiterSplit(step) => step.split(text, emit),
            Self::FixedLength(step) => step.split(text, emit),
            Self::Metaspace(step) => step.split(text, emit),
            Self::Punctuation(step) => step.split(text, emit),
            Self::UnicodeScripts => unicode_scripts::split(text, emit),
            Self::Whitespace => whitespace::split_words(text, emit),
            Self::WhitespaceSplit => whitespace::split_at_space(text, emit),
        }
        Ok(())
    }

    /// Whether this step leaves every text in one piece.
    pub(super) fn keeps_whole(&self) -> bool {
        match self {
            Self::ByteLevel(step) => !step.use_regex,
            Self::Metaspace(step) => !step.split,
            _ => false,
        }
    }

    /// Whether this step changes the text that it cuts; the others give out parts of it as they are.
    pub fn changes_text(&self) -> bool {
        matches!(self, Self::ByteLevel(_) | Self::Metaspace(_))
    }

    /// Whether some text may be in no piece of it.
    pub fn drops_text(&self) -> bool {
        match self {
            Self::BertPreTokenizer
            | Self::CharDelimiterSplit(_)
            | Self::Whitespace
            | Self::WhitespaceSplit => true,
            Self::Punctuation(step) => step.behavior == Behavior::Removed,
            Self::Split(step) => step.drops_text(),
            Self::ByteLevel(_)
            | Self::Digits(_)
            | Self::FixedLength(_)
            | Self::Metaspace(_)
            | Self::UnicodeScripts => false,
        }
    }
}
