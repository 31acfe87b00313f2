//! What a decoder reads.

use std::borrow::Cow;

use crate::byte_alphabet;

/// A token in one of the forms in which the core holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The bytes that a byte-level token stands for.
    Bytes(&'a [u8]),
    /// A token as the vocabulary writes it.
    Token(&'a str),
    /// The text of an added token, which no byte-level decoder changes.
    Text(&'a str),
}

impl<'a> Piece<'a> {
    /// The bytes that a byte-level decoder makes of this piece: a token outside the byte alphabet gives its UTF-8.
    pub fn bytes(self) -> Cow<'a, [u8]> {
        match self {
            Piece::Bytes(bytes) => Cow::Borrowed(bytes),
            Piece::Text(text) => Cow::Borrowed(text.as_bytes()),
            Piece::Token(token) => match byte_alphabet::token_to_bytes(token) {
                Some(bytes) => Cow::Owned(bytes),
                None => Cow::Borrowed(token.as_bytes()),
            },
        }
    }

    /// Appends what a byte-level decoder makes of this piece.
    pub(crate) fn extend(self, bytes: &mut Vec<u8>) {
        match self {
            Piece::Bytes(own) => bytes.extend_from_slice(own),
            Piece::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            Piece::Token(token) => {
                if !byte_alphabet::extend_with_bytes(token, bytes) {
                    bytes.extend_from_slice(token.as_bytes());
                }
            }
        }
    }

    /// The piece as a token text, for decoders that read texts.
    pub(crate) fn token(self) -> Cow<'a, str> {
        match self {
            Piece::Bytes(bytes) => Cow::Owned(byte_alphabet::bytes_to_token(bytes)),
            Piece::Token(text) | Piece::Text(text) => Cow::Borrowed(text),
        }
    }

    /// The text of a piece that isn't bytes; bytes have none.
    pub(crate) fn text(self) -> &'a str {
        match self {
            Piece::Bytes(_) => "",
            Piece::Token(text) | Piece::Text(text) => text,
        }
    }

    /// Whether this is an added token.
    pub(crate) fn is_added(self) -> bool {
        matches!(self, Piece::Text(_))
    }
}
