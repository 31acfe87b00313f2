//! Pre-tokenizers: cut a text into pretokens, the pieces that BPE never merges across.
//!
//! Guarantee: the pieces are those of the stock library (tokenizers 0.23.3), byte for byte, on every text; time is linear in the text
//! for the published patterns, and bounded for any other (see `pre_tokenizer/engine.rs`). Nothing here changes a text: the byte
//! alphabet and the prefix space of `ByteLevel` belong to the pipeline.
//!
//! A pre-tokenizer is a list of steps; a `Sequence` is its members in a row, however deep they are nested. Each step
//! sees the pieces of the step before it, one at a time.

mod behavior;
mod block;
mod byte_level;
mod cl100k;
mod classes;
mod cost;
mod digits;
mod engine;
mod gpt2;
mod limits;
mod o200k;
mod published;
mod scanner;
mod search;
mod split;

use std::ops::Range;

pub use behavior::Behavior;
pub use byte_level::ByteLevel;
pub use digits::Digits;
pub use published::published_patterns;
pub use split::{Split, SplitPattern};

use crate::Result;
use crate::config::Node;

/// The kinds of components that [`PreTokenizer::from_node`] reads.
pub const SUPPORTED: &[&str] = &["ByteLevel", "Digits", "Sequence", "Split"];

/// One step of a pre-tokenizer.
#[derive(Debug, Clone)]
pub enum Step {
    /// Cuts by a pattern.
    Split(Split),
    /// Cuts numbers from the rest.
    Digits(Digits),
    /// Cuts by the pattern of GPT-2, and shows bytes in the byte alphabet.
    ByteLevel(ByteLevel),
}

impl Step {
    /// Calls `emit` for each piece of `text`, in order.
    #[inline]
    pub fn split<F: FnMut(Range<usize>)>(&self, text: &str, emit: F) -> Result<()> {
        match self {
            Step::Split(split) => split.split(text, emit),
            Step::Digits(digits) => digits.split(text, emit),
            Step::ByteLevel(byte_level) => byte_level.split(text, emit),
        }
    }

    /// Whether this step leaves every text in one piece.
    fn keeps_whole(&self) -> bool {
        matches!(self, Step::ByteLevel(ByteLevel { use_regex: false, .. }))
    }
}

/// Room for the pieces between two steps, to be used again for the next text.
#[derive(Debug, Default)]
pub struct Scratch {
    pieces: Vec<Range<usize>>,
    next: Vec<Range<usize>>,
}

/// The steps that cut a text into pretokens.
#[derive(Debug, Clone)]
pub struct PreTokenizer {
    steps: Vec<Step>,
    /// The indices of the steps that may cut.
    cutting: Vec<usize>,
}

impl PreTokenizer {
    /// A pre-tokenizer of these steps, in order.
    pub fn new(steps: Vec<Step>) -> Self {
        let cutting = (0..steps.len())
            .filter(|&index| !steps[index].keeps_whole())
            .collect();
        Self { steps, cutting }
    }

    /// Reads a pre-tokenizer; an unknown kind is an error that lists [`SUPPORTED`].
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let mut steps = Vec::new();
        read_steps(node, &mut steps)?;
        Ok(Self::new(steps))
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Calls `emit` for each pretoken of `text`, in order.
    ///
    /// Valid where no step but the last is a `ByteLevel`, since what follows one sees the byte alphabet. The prefix space is the
    /// caller's business. On an error, drop what was emitted before it.
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
        let Scratch { pieces, next } = scratch;
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

fn read_steps(node: &Node<'_>, steps: &mut Vec<Step>) -> Result<()> {
    match node.kind()? {
        "Sequence" => {
            for member in node.field("pretokenizers")?.items()? {
                read_steps(&member, steps)?;
            }
        }
        "Split" => steps.push(Step::Split(Split::from_node(node)?)),
        "Digits" => steps.push(Step::Digits(Digits::from_node(node)?)),
        "ByteLevel" => steps.push(Step::ByteLevel(ByteLevel::from_node(node)?)),
        other => return Err(node.unsupported(other, SUPPORTED)),
    }
    Ok(())
}
