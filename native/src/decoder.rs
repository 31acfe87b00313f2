//! The `decoder` of a tokenizer.json: tokens to text.
//!
//! Guarantee: equal to stock's decoder on token texts, but for one case on purpose: the text of an *added* token
//! is kept as it is. Stock takes an added `café` for bytes, since each of its characters is in the byte alphabet.

use std::borrow::Cow;

use crate::config::Node;
use crate::{Result, byte_alphabet};

const SUPPORTED: &[&str] = &["ByteLevel", "Sequence"];

/// What a decoder reads: a token in one of the forms in which the core holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The bytes that a byte-level token stands for.
    Bytes(&'a [u8]),
    /// A token as the vocabulary writes it.
    Token(&'a str),
    /// The text of an added token, which no byte-level decoder changes.
    Text(&'a str),
}

/// A decoder that can run. A new kind is one arm here and one in each `match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoder {
    /// The byte alphabet back to bytes, the bytes to text.
    ByteLevel,
    /// Several in a row; each but the first reads the text that the one before made, as one token.
    Sequence(Vec<Decoder>),
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
}

impl Decoder {
    /// Reads the decoder at `node`.
    pub fn from_node(node: &Node) -> Result<Self> {
        match node.kind()? {
            "ByteLevel" => {
                // They change nothing here, but stock doesn't load a decoder without them.
                node.field("add_prefix_space")?.bool()?;
                node.field("trim_offsets")?.bool()?;
                Ok(Self::ByteLevel)
            }
            "Sequence" => {
                let steps = node.field("decoders")?.items()?;
                Ok(Self::Sequence(
                    steps.iter().map(Self::from_node).collect::<Result<_>>()?,
                ))
            }
            kind => Err(node.unsupported(kind, SUPPORTED)),
        }
    }

    /// Whether the text is nothing but the bytes of all pieces in a row: then a stream can decode piece by piece.
    pub fn is_byte_level(&self) -> bool {
        match self {
            Self::ByteLevel => true,
            Self::Sequence(steps) => matches!(steps.as_slice(), [only] if only.is_byte_level()),
        }
    }

    /// The text of `pieces`.
    pub fn decode<'a>(&self, pieces: impl IntoIterator<Item = Piece<'a>>) -> String {
        match self {
            Self::ByteLevel => join_bytes(pieces),
            Self::Sequence(steps) => match steps.as_slice() {
                [] => pieces.into_iter().map(Piece::token).collect(),
                [first, rest @ ..] => {
                    let text = first.decode(pieces);
                    rest.iter()
                        .fold(text, |text, step| step.decode([Piece::Token(&text)]))
                }
            },
        }
    }
}

/// The text of `pieces` by `decoder`; without one, tokens are joined by spaces, as stock does.
pub fn decode<'a>(decoder: Option<&Decoder>, pieces: impl IntoIterator<Item = Piece<'a>>) -> String {
    match decoder {
        Some(decoder) => decoder.decode(pieces),
        None => join_with_spaces(pieces),
    }
}

fn join_bytes<'a>(pieces: impl IntoIterator<Item = Piece<'a>>) -> String {
    let mut bytes = Vec::new();
    for piece in pieces {
        piece.extend(&mut bytes);
    }
    // Valid text, the usual case, keeps its buffer.
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn join_with_spaces<'a>(pieces: impl IntoIterator<Item = Piece<'a>>) -> String {
    let mut text = String::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(&piece.token());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: &Value) -> Result<Decoder> {
        Decoder::from_node(&Node::new("decoder", value))
    }

    fn byte_level() -> Value {
        json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})
    }

    #[test]
    fn tokens_in_the_byte_alphabet_are_bytes() {
        let decoder = read(&byte_level()).unwrap();

        let tokens = ["Ġhi", "ðŁ", "ĺ", "Ģ", "a b", "é"].map(Piece::Token);

        assert_eq!(decoder.decode(tokens), " hi😀a b\u{fffd}");
    }

    #[test]
    fn added_tokens_keep_their_text() {
        let decoder = read(&byte_level()).unwrap();

        assert_eq!(
            decoder.decode([Piece::Text("café"), Piece::Bytes(b" au")]),
            "café au"
        );
        assert_eq!(decoder.decode([Piece::Token("café")]), "caf\u{fffd}");
    }

    #[test]
    fn a_sequence_reads_the_text_of_the_step_before() {
        let once = read(&json!({"type": "Sequence", "decoders": [byte_level()]})).unwrap();
        let twice = read(&json!({"type": "Sequence", "decoders": [byte_level(), byte_level()]})).unwrap();
        let none = read(&json!({"type": "Sequence", "decoders": []})).unwrap();

        assert!(once.is_byte_level() && !twice.is_byte_level() && !none.is_byte_level());
        assert_eq!(once.decode([Piece::Bytes("é".as_bytes())]), "é");
        assert_eq!(twice.decode([Piece::Bytes("é".as_bytes())]), "\u{fffd}");
        assert_eq!(none.decode([Piece::Token("Ġa"), Piece::Bytes(b" b")]), "ĠaĠb");
    }

    #[test]
    fn without_a_decoder_spaces_join_the_tokens() {
        assert_eq!(decode(None, ["a", "Ġb", ""].map(Piece::Token)), "a Ġb ");
    }

    #[test]
    fn what_cannot_run_is_refused_with_its_place() {
        let value = json!({"type": "Sequence", "decoders": [byte_level(), {"type": "Fuse"}]});

        let error = read(&value).unwrap_err().to_string();

        assert!(
            error.contains("decoder.decoders[1] has type 'Fuse'; hf_bpe supports 'ByteLevel'"),
            "{error}"
        );
        let error = read(&json!({"type": "ByteLevel"})).unwrap_err().to_string();
        assert!(error.contains("decoder lacks 'add_prefix_space'"), "{error}");
    }
}
