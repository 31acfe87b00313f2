//! What becomes of matches and of the text between them.
//!
//! Guarantee: the pieces are those of stock's `NormalizedString::split` (tokenizers 0.23.3) without the empty ones, which
//! stock drops a step later. Pieces come out as soon as they are known, so nothing is kept but one pending range.

use std::ops::Range;

use crate::Result;
use crate::config::Node;
use crate::quoted::Quoted;

/// What a `Split` does with the matches of its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behavior {
    /// Matches vanish.
    Removed,
    /// Every match and every text between two is a piece.
    Isolated,
    /// A match joins the text before it; of several in a row only the first does.
    MergedWithPrevious,
    /// A match joins the text after it; of several in a row only the last does.
    MergedWithNext,
    /// Matches in a row are one piece.
    Contiguous,
}

impl Behavior {
    const NAMES: [(&'static str, Behavior); 5] = [
        ("Removed", Behavior::Removed),
        ("Isolated", Behavior::Isolated),
        ("MergedWithPrevious", Behavior::MergedWithPrevious),
        ("MergedWithNext", Behavior::MergedWithNext),
        ("Contiguous", Behavior::Contiguous),
    ];

    /// Reads the name of a behavior, such as `"Isolated"`.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let name = node.str()?;
        match Self::NAMES.iter().find(|(known, _)| *known == name) {
            Some(&(_, behavior)) => Ok(behavior),
            None => Err(node.error(format_args!(
                "should be 'Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext' or 'Contiguous', found {}",
                Quoted(name)
            ))),
        }
    }
}

/// Turns matches and the text between them, told in order and without gaps, into pieces.
pub(super) struct Cutter<F> {
    behavior: Behavior,
    invert: bool,
    emit: F,
    /// The piece that the next range may still extend.
    pending: Option<Range<usize>>,
    /// Whether the range told last was a match.
    after_match: bool,
}

impl<F: FnMut(Range<usize>)> Cutter<F> {
    pub(super) fn new(behavior: Behavior, invert: bool, emit: F) -> Self {
        Self {
            behavior,
            invert,
            emit,
            pending: None,
            after_match: false,
        }
    }

    /// Tells the next range; with `invert`, matches and the text between them swap their roles.
    #[inline]
    pub(super) fn push(&mut self, range: Range<usize>, is_match: bool) {
        let is_match = is_match != self.invert;
        let joins = match self.behavior {
            Behavior::Isolated => return self.emit(range),
            Behavior::Removed if is_match => return,
            Behavior::Removed => return self.emit(range),
            Behavior::Contiguous => is_match == self.after_match,
            Behavior::MergedWithPrevious => is_match && !self.after_match,
            Behavior::MergedWithNext => !is_match && self.after_match,
        };
        self.after_match = is_match;
        match &mut self.pending {
            Some(pending) if joins => pending.end = range.end,
            _ => {
                self.finish();
                self.pending = Some(range);
            }
        }
    }

    /// Gives out what is pending, at the end of the text.
    pub(super) fn finish(&mut self) {
        if let Some(range) = self.pending.take() {
            self.emit(range);
        }
    }

    #[inline]
    fn emit(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            (self.emit)(range);
        }
    }
}
