//! Takes the spaces at both ends of a token out of its offsets.
//!
//! Guarantee: offsets equal those of stock's `ByteLevel` post-processor, which looks at the token's text and not at
//! the text that was encoded.

use crate::Result;
use crate::byte_alphabet;
use crate::config::Node;
use crate::encoding::{Encoding, Spell};

/// The settings of a `ByteLevel` post-processor.
#[derive(Debug, Clone, Copy)]
pub struct ByteLevel {
    add_prefix_space: bool,
    trim_offsets: bool,
}

impl ByteLevel {
    pub(super) fn from_node(node: &Node) -> Result<Self> {
        if node.object()?.contains_key("use_regex") {
            node.field("use_regex")?.bool()?;
        }
        Ok(Self {
            add_prefix_space: node.field("add_prefix_space")?.bool()?,
            trim_offsets: node.field("trim_offsets")?.bool()?,
        })
    }

    /// This, if it trims offsets.
    pub(super) fn trimming(&self) -> Option<Self> {
        self.trim_offsets.then_some(*self)
    }

    pub(super) fn run(&self, mut encodings: Vec<Encoding>, spell: &dyn Spell) -> Vec<Encoding> {
        self.trim_offsets(&mut encodings, spell);
        for (sequence, encoding) in encodings.iter_mut().enumerate() {
            encoding.set_sequence_id(sequence);
        }
        encodings
    }

    /// Trims all offsets, if that is wanted.
    pub(super) fn trim_offsets(&self, encodings: &mut [Encoding], spell: &dyn Spell) {
        if !self.trim_offsets {
            return;
        }
        for encoding in encodings {
            self.trim(encoding, spell);
            // Only these windows: stock leaves windows of windows alone.
            for window in &mut encoding.overflowing {
                self.trim(window, spell);
            }
        }
    }

    fn trim(&self, encoding: &mut Encoding, spell: &dyn Spell) {
        for index in 0..encoding.len() {
            let Some((leading, trailing)) = encoding.token(index, spell).map(|token| spaces(&token)) else {
                continue;
            };
            let offsets = &mut encoding.offsets[index];
            *offsets = self.trimmed(*offsets, index == 0, leading, trailing);
        }
    }

    /// The offsets of a token that begins and ends with so many spaces, and that may be the first of a text.
    #[inline]
    pub(crate) fn trimmed(
        &self,
        (mut start, mut end): (usize, usize),
        first: bool,
        leading: usize,
        trailing: usize,
    ) -> (usize, usize) {
        // One space at the very start may be the one that `add_prefix_space` put there: it has no offset.
        let added = self.add_prefix_space && leading == 1 && (first || start == 0);
        if leading > 0 {
            start = end.min(start + if added { 0 } else { leading });
        }
        if trailing > 0 && end >= trailing {
            end = start.max(end - trailing);
        }
        (start, end)
    }
}

/// How many spaces `token` begins and ends with.
pub(crate) fn spaces(token: &str) -> (usize, usize) {
    let is_space = |char: &char| *char == byte_alphabet::char_of(b' ') || char.is_whitespace();
    let leading = token.chars().take_while(is_space).count();
    let trailing = token.chars().rev().take_while(is_space).count();
    (leading, trailing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::NoSpelling;

    fn trimmed(tokens: &[(&str, (usize, usize))], add_prefix_space: bool) -> Vec<(usize, usize)> {
        let mut encoding = Encoding::default();
        for &(token, offsets) in tokens {
            encoding.push(0, offsets, None, 0);
            encoding.spell_last(token.into());
        }
        let byte_level = ByteLevel {
            add_prefix_space,
            trim_offsets: true,
        };
        byte_level.run(vec![encoding], &NoSpelling).remove(0).offsets
    }

    #[test]
    fn spaces_leave_the_offsets() {
        let tokens = [
            ("ĠĠaĠ", (0, 4)),
            ("Ġb", (4, 6)),
            ("ĠĠ", (6, 8)),
            ("c\u{3000}", (8, 10)),
        ];

        assert_eq!(trimmed(&tokens, true), [(2, 3), (5, 6), (8, 8), (8, 9)]);
    }

    #[test]
    fn one_space_at_the_start_stays_where_a_prefix_space_is_added() {
        assert_eq!(trimmed(&[("Ġa", (0, 1))], true), [(0, 1)]);
        assert_eq!(trimmed(&[("Ġa", (0, 2))], false), [(1, 2)]);
        assert_eq!(trimmed(&[("a", (0, 1)), ("Ġb", (0, 2))], true), [(0, 1), (0, 2)]);
    }

    #[test]
    fn spans_shorter_than_their_spaces_stay_in_bounds() {
        assert_eq!(
            trimmed(&[("ĠĠĠ", (0, 1)), ("ĠĠĠ", (0, 2))], true),
            [(1, 1), (2, 2)]
        );
    }
}
