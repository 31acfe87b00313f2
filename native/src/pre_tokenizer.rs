//! Pre-tokenizers: cut a text into pretokens, the pieces that BPE never merges across.
//!
//! Guarantee: the pieces are those of the stock library (tokenizers 0.23.3), byte for byte, on every text; time is linear in the text
//! for all but patterns of one's own, and bounded for those (see `pattern`). What changes a text has two forms: here
//! [`PreTokenizer::split_text`] on plain text, in the pipeline on text that knows where it came from.
//!
//! A pre-tokenizer is a list of steps; a `Sequence` is its members in a row, however deep they are nested. Each step
//! sees the pieces of the step before it, one at a time.

mod behavior;
mod block;
mod by_char;
mod byte_level;
mod cl100k;
mod classes;
mod composed;
mod delimiter;
mod digits;
mod fixed_length;
mod gpt2;
mod hidden;
mod lanes;
mod metaspace;
mod o200k;
mod partial;
mod published;
mod punctuation;
mod scanner;
mod scripts;
mod split;
mod step;
mod text;
mod unicode_scripts;
mod whitespace;

use std::ops::Range;

pub use behavior::Behavior;
pub use byte_level::ByteLevel;
pub use delimiter::CharDelimiterSplit;
pub use digits::{Digits, is_number};
pub use fixed_length::FixedLength;
pub use metaspace::{Metaspace, PrependScheme};
pub use partial::{Fold, fold, is_settled};
pub use published::published_patterns;
pub use punctuation::Punctuation;
pub use scripts::own_script;
pub use split::Split;
pub use step::{SUPPORTED, Step};

pub use crate::pattern::Pattern as SplitPattern;

use crate::Result;
use crate::config::Node;

/// The Unicode version of split patterns, and where the tables come from.
pub const UNICODE_VERSION: &str = "16.0.0 (Oniguruma 6.9.10)";

/// Room for the pieces between two steps, to be used again for the next text.
#[derive(Debug, Default)]
pub struct Scratch {
    pieces: Vec<Range<usize>>,
    next: Vec<Range<usize>>,
    words: text::Words,
}

/// The steps that cut a text into pretokens.
#[derive(Debug, Clone)]
pub struct PreTokenizer {
    steps: Vec<Step>,
    /// The indices of the steps that may cut.
    cutting: Vec<usize>,
    warnings: Vec<String>,
}

impl PreTokenizer {
    /// A pre-tokenizer of these steps, in order.
    pub fn new(steps: Vec<Step>) -> Self {
        let cutting = (0..steps.len())
            .filter(|&index| !steps[index].keeps_whole())
            .collect();
        Self {
            steps,
            cutting,
            warnings: Vec::new(),
        }
    }

    /// Reads a pre-tokenizer; an unknown kind is an error that lists [`SUPPORTED`].
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let mut steps = Vec::new();
        read_steps(node, &mut steps)?;
        let warnings = hidden::warnings(&steps);
        let steps = steps.into_iter().map(|(step, _)| step).collect();
        Ok(Self {
            warnings,
            ..Self::new(steps)
        })
    }

    /// What is odd about the steps that were read, without being wrong.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Calls `emit` for each pretoken of `text`, in order.
    ///
    /// Valid where no step but the last changes the text, and that is a `ByteLevel`, whose prefix space is the caller's business.
    /// On an error, drop what was emitted before it.
    #[inline]
    pub fn split_ranges<F: FnMut(Range<usize>)>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        mut emit: F,
    ) -> Result<()> {
        match *self.cutting {
            [] if text.is_empty() => Ok(()),
            [] => {
                emit(0..text.len());
                Ok(())
            }
            [only] => self.steps[only].split(text, emit),
            [ref first @ .., last] => {
                self.split_pieces(first, text, scratch)?;
                for piece in &scratch.pieces {
                    let start = piece.start;
                    self.steps[last].split(&text[piece.clone()], |range| {
                        emit(start + range.start..start + range.end);
                    })?;
                }
                Ok(())
            }
        }
    }

    /// Leaves the pieces of `text` after `steps` in `scratch.pieces`.
    fn split_pieces(&self, steps: &[usize], text: &str, scratch: &mut Scratch) -> Result<()> {
        let Scratch { pieces, next, .. } = scratch;
        pieces.clear();
        if !text.is_empty() {
            pieces.push(0..text.len());
        }
        for &step in steps {
            next.clear();
            for piece in pieces.iter() {
                let start = piece.start;
                self.steps[step].split(&text[piece.clone()], |range| {
                    next.push(start + range.start..start + range.end);
                })?;
            }
            std::mem::swap(pieces, next);
        }
        Ok(())
    }
}

/// Reads a component, whose members are listed in its place if it is a `Sequence`, with their JSON paths.
fn read_steps(node: &Node<'_>, steps: &mut Vec<(Step, String)>) -> Result<()> {
    if node.kind()? != "Sequence" {
        steps.push((Step::from_node(node)?, node.path()));
        return Ok(());
    }
    for member in node.field("pretokenizers")?.items()? {
        read_steps(&member, steps)?;
    }
    Ok(())
}
