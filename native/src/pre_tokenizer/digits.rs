//! The `Digits` pre-tokenizer: numbers apart from everything else.
//!
//! Guarantee: equals stock's `Digits` (tokenizers 0.23.3) on every text. Stock asks `char::is_numeric` of the standard library
//! that built it, which knows Unicode 17, so this isn't quite the `\p{N}` of its regex engine (Unicode 16).

use std::ops::Range;

use super::behavior::Behavior;
use super::by_char;
use super::classes::{Classes, NUMBER};
use crate::Result;
use crate::config::Node;

/// Splits numbers from the rest: each alone, or runs of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digits {
    /// Whether each digit is a piece of its own.
    pub individual_digits: bool,
}

impl Digits {
    /// Reads a `Digits` component.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        Ok(Self {
            individual_digits: node.field("individual_digits")?.bool()?,
        })
    }

    /// Calls `emit` for each piece of `text`, in order.
    pub fn split<F: FnMut(Range<usize>)>(&self, text: &str, emit: F) -> Result<()> {
        let behavior = if self.individual_digits {
            Behavior::Isolated
        } else {
            Behavior::Contiguous
        };
        let classes = Classes::get();
        by_char::cut(text, behavior, |char| is_numeric(classes, char), emit);
        Ok(())
    }
}

/// Whether `character` is what stock calls a digit: any number.
pub fn is_number(character: char) -> bool {
    is_numeric(Classes::get(), character)
}

/// `char::is_numeric` as of Unicode 17, whichever compiler builds this crate: Unicode 16 and the thirteen numbers since.
#[inline]
fn is_numeric(classes: &Classes, character: char) -> bool {
    classes.of(character.into()) == NUMBER
        || matches!(character, '\u{11DE0}'..='\u{11DE9}' | '\u{16FF4}'..='\u{16FF6}')
}
