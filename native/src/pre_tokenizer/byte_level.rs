//! The splitting half of the `ByteLevel` pre-tokenizer.
//!
//! Guarantee: with `use_regex`, the pieces are those of stock's `ByteLevel` (tokenizers 0.23.3). The other half, which shows
//! each byte as a character of the byte alphabet, and the prefix space change the text, so they belong to the pipeline.

use std::ops::Range;

use super::gpt2::Gpt2;
use super::scanner::scan;
use crate::Result;
use crate::config::Node;

/// Splits by the pattern of GPT-2 and writes bytes in the byte alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteLevel {
    /// Whether a text (each piece, after another step) that doesn't start with a space gets one.
    pub add_prefix_space: bool,
    /// Whether offsets leave out the white space around a token; the pre-tokenizer itself doesn't care.
    pub trim_offsets: bool,
    /// Whether to split by the pattern of GPT-2; otherwise the whole text is one piece.
    pub use_regex: bool,
}

impl ByteLevel {
    /// Reads a `ByteLevel` component; `use_regex` is true where it is absent.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let use_regex = match node.object()?.contains_key("use_regex") {
            true => node.field("use_regex")?.bool()?,
            false => true,
        };
        Ok(Self {
            add_prefix_space: node.field("add_prefix_space")?.bool()?,
            trim_offsets: node.field("trim_offsets")?.bool()?,
            use_regex,
        })
    }

    /// Calls `emit` for each piece of `text`, in order.
    #[inline]
    pub fn split<F: FnMut(Range<usize>)>(&self, text: &str, mut emit: F) -> Result<()> {
        if self.use_regex {
            scan::<Gpt2>(text, emit);
        } else if !text.is_empty() {
            emit(0..text.len());
        }
        Ok(())
    }
}
