//! The pre-tokenizer `Metaspace`: shows spaces as a visible character, and cuts before it.
//!
//! Guarantee: equals stock's `Metaspace` (tokenizers 0.23.3) on every text, and reads what stock reads: the older spellings
//! `add_prefix_space` and `str_rep` too. Changing the text belongs to the pipeline, as with `ByteLevel`.

use std::ops::Range;

use super::behavior::Behavior;
use super::by_char;
use crate::Result;
use crate::config::Node;
use crate::quoted::Quoted;

/// Shows spaces as another character and cuts before each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metaspace {
    /// The character in place of a space.
    pub replacement: char,
    /// Which pieces get one at their start.
    pub prepend_scheme: PrependScheme,
    /// Whether to cut; otherwise each piece stays whole.
    pub split: bool,
}

/// Which pieces get the replacement at their start, unless they start with it already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrependScheme {
    /// Each piece.
    Always,
    /// The pieces that start where the original text starts: after an added token, none.
    First,
    /// None.
    Never,
}

impl PrependScheme {
    const NAMES: [(&'static str, PrependScheme); 3] = [
        ("always", PrependScheme::Always),
        ("first", PrependScheme::First),
        ("never", PrependScheme::Never),
    ];

    /// Reads the name of a scheme, such as `"first"`.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let name = node.str()?;
        match Self::NAMES.iter().find(|(known, _)| *known == name) {
            Some(&(_, scheme)) => Ok(scheme),
            None => Err(node.error(format_args!(
                "should be 'always', 'first' or 'never', found {}",
                Quoted(name)
            ))),
        }
    }

    /// The name of this scheme, as a file writes it.
    pub fn name(self) -> &'static str {
        match self {
            PrependScheme::Always => "always",
            PrependScheme::First => "first",
            PrependScheme::Never => "never",
        }
    }
}

impl Metaspace {
    /// Reads a `Metaspace` component, a decoder or a pre-tokenizer.
    ///
    /// `add_prefix_space` only says whether it agrees with `prepend_scheme`, and `str_rep` nothing at all: older files hold them.
    pub fn from_node(node: &Node<'_>) -> Result<Self> {
        let replacement = node.field("replacement")?.char()?;
        let prepend_scheme = match node.object()?.contains_key("prepend_scheme") {
            true => PrependScheme::from_node(&node.field("prepend_scheme")?)?,
            false => PrependScheme::Always,
        };
        if let Some(str_rep) = node.optional("str_rep")? {
            str_rep.str()?;
        }
        if let Some(add_prefix_space) = node.optional("add_prefix_space")?
            && !add_prefix_space.bool()?
            && prepend_scheme != PrependScheme::Never
        {
            return Err(add_prefix_space.error(format_args!(
                "is false, but prepend_scheme is '{}' ('always' where it is absent); make it 'never', or \
                 remove add_prefix_space",
                prepend_scheme.name()
            )));
        }
        Ok(Self {
            replacement,
            prepend_scheme,
            split: node.bool_or("split", true)?,
        })
    }

    /// `char` as this shows it.
    #[inline]
    pub fn show(&self, char: char) -> char {
        if char == ' ' { self.replacement } else { char }
    }

    /// Whether `piece` gets the replacement at its start; `starts`: it starts where the original text starts.
    pub fn prepends(&self, piece: &str, starts: bool) -> bool {
        let wanted = match self.prepend_scheme {
            PrependScheme::Always => true,
            PrependScheme::First => starts,
            PrependScheme::Never => false,
        };
        wanted
            && piece
                .chars()
                .next()
                .is_some_and(|first| self.show(first) != self.replacement)
    }

    /// Calls `emit` for each piece of `text`, in order, in which spaces are shown already.
    pub fn split(&self, text: &str, mut emit: impl FnMut(Range<usize>)) {
        if self.split {
            by_char::cut(
                text,
                Behavior::MergedWithNext,
                |char| char == self.replacement,
                emit,
            );
        } else if !text.is_empty() {
            emit(0..text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metaspace(prepend_scheme: PrependScheme) -> Metaspace {
        Metaspace {
            replacement: '▁',
            prepend_scheme,
            split: true,
        }
    }

    #[test]
    fn each_replacement_begins_a_piece() {
        let text = "▁a▁▁b▁";
        let mut words = Vec::new();

        metaspace(PrependScheme::Always).split(text, |range| words.push(&text[range]));

        assert_eq!(words, ["▁a", "▁", "▁b", "▁"]);
    }

    #[test]
    fn schemes_tell_who_gets_a_replacement() {
        let prepends = |scheme, piece, starts| metaspace(scheme).prepends(piece, starts);

        for starts in [true, false] {
            assert!(prepends(PrependScheme::Always, "a", starts));
            assert!(!prepends(PrependScheme::Never, "a", starts));
            assert_eq!(prepends(PrependScheme::First, "a", starts), starts);
            for piece in [" a", "▁a", ""] {
                assert!(!prepends(PrependScheme::Always, piece, starts), "{piece:?}");
            }
        }
    }
}
