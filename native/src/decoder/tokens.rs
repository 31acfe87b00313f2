//! The list of tokens that goes from step to step.
//!
//! All texts lie in one string, so that a step over a million tokens allocates a few times and not a million times,
//! and joining them costs nothing.

use super::Piece;
use crate::Result;

/// Token texts in order; each knows whether it is the text of an added token.
#[derive(Debug, Clone, Default)]
pub(super) struct Tokens {
    text: String,
    ends: Vec<End>,
}

#[derive(Debug, Clone, Copy)]
struct End {
    at: usize,
    is_added: bool,
}

impl Tokens {
    /// A list of one token.
    pub(super) fn one(text: String) -> Self {
        let end = End {
            at: text.len(),
            is_added: false,
        };
        Self {
            text,
            ends: vec![end],
        }
    }

    /// An empty list with room for what a step makes of `tokens`.
    pub(super) fn with_room_of(tokens: &Self) -> Self {
        Self {
            text: String::with_capacity(tokens.text.len()),
            ends: Vec::with_capacity(tokens.ends.len()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a token.
    pub(super) fn push(&mut self, text: &str, is_added: bool) {
        self.text.push_str(text);
        self.close(is_added);
    }

    fn close(&mut self, is_added: bool) {
        let at = self.text.len();
        self.ends.push(End { at, is_added });
    }

    /// The token at `index`, which must exist.
    pub(super) fn piece(&self, index: usize) -> Piece<'_> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before].at);
        let End { at, is_added } = self.ends[index];
        let text = &self.text[start..at];
        if is_added {
            Piece::Text(text)
        } else {
            Piece::Token(text)
        }
    }

    /// The tokens in order.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        (0..self.len()).map(|index| self.piece(index))
    }

    /// The tokens, each as `change` appends it to the text; it gets the index and the text that was.
    ///
    /// An added token that the change leaves as it is stays one.
    pub(super) fn map(&self, mut change: impl FnMut(usize, &str, &mut String)) -> Self {
        let mapped = self.try_map(|index, token, text| {
            change(index, token, text);
            Ok(())
        });
        mapped.expect("no change fails")
    }

    /// As [`Tokens::map`], up to the first failure.
    pub(super) fn try_map(
        &self,
        mut change: impl FnMut(usize, &str, &mut String) -> Result<()>,
    ) -> Result<Self> {
        let mut changed = Self::with_room_of(self);
        for (index, piece) in self.pieces().enumerate() {
            let start = changed.text.len();
            change(index, piece.text(), &mut changed.text)?;
            let is_added = piece.is_added() && changed.text[start..] == *piece.text();
            changed.close(is_added);
        }
        Ok(changed)
    }

    /// All texts in a row.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl<'a> FromIterator<Piece<'a>> for Tokens {
    fn from_iter<I: IntoIterator<Item = Piece<'a>>>(pieces: I) -> Self {
        let mut tokens = Self::default();
        for piece in pieces {
            tokens.push(&piece.token(), piece.is_added());
        }
        tokens
    }
}

#[cfg(test)]
impl<'a> FromIterator<&'a str> for Tokens {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        texts.into_iter().map(Piece::Token).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_keeps_its_place_and_what_it_came_from() {
        let pieces = [
            Piece::Token("a"),
            Piece::Text(""),
            Piece::Text("xé"),
            Piece::Bytes(b" b"),
            Piece::Text("é"),
        ];
        let tokens: Tokens = pieces.into_iter().collect();

        let changed = tokens.map(|_, token, text| text.push_str(&token.replace(['a', 'x'], "")));

        let expected = [
            Piece::Token(""),
            Piece::Text(""),
            Piece::Token("é"),
            Piece::Token("Ġb"),
            Piece::Text("é"),
        ];
        assert_eq!(changed.pieces().collect::<Vec<_>>(), expected);
        assert_eq!(changed.into_text(), "éĠbé");
        assert_eq!(
            Tokens::one("ab".to_owned()).pieces().collect::<Vec<_>>(),
            [Piece::Token("ab")]
        );
    }
}
