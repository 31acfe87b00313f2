//! Decodes piece by piece and never hands out half a character.
//!
//! Guarantee: what all the steps and the last `flush` return is, put together, what decoding everything at once
//! returns, for byte-level decoders and without a decoder. Other decoders may turn back: a bad byte spoils the whole run of
//! byte-fallback tokens that it stands in. Their steps return what those of stock's stream return (see `window`), and
//! text that was handed out stays.

mod utf8;
mod window;

use std::sync::Arc;

pub use utf8::Utf8Stream;
use window::Window;

use crate::Result;
use crate::decoder::{Decoder, Piece};

/// Decodes pieces as they come, by the decoder of a tokenizer or without one.
#[derive(Debug, Clone)]
pub struct DecodeStream {
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    Bytes(Utf8Stream),
    /// Without a decoder: whether a token came before, which the next one is parted from by a space.
    Spaced(bool),
    /// Decoders that look at more than one token.
    Window(Box<Window>),
}

impl DecodeStream {
    /// A stream at its beginning.
    pub fn new(decoder: Option<&Decoder>) -> Self {
        let state = match decoder {
            None => State::Spaced(false),
            Some(decoder) if decoder.is_byte_level() => State::Bytes(Utf8Stream::default()),
            Some(decoder) => State::Window(Box::new(Window::new(Arc::new(decoder.clone())))),
        };
        Self { state }
    }

    /// The text that is certain after `pieces`.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; the pieces stay in the stream.
    pub fn step<'a>(&mut self, pieces: impl IntoIterator<Item = Piece<'a>>) -> Result<String> {
        let mut text = String::new();
        match &mut self.state {
            State::Bytes(stream) => {
                for piece in pieces {
                    stream.push(&piece.bytes(), &mut text);
                }
            }
            State::Spaced(later) => {
                for piece in pieces {
                    if std::mem::replace(later, true) {
                        text.push(' ');
                    }
                    text.push_str(&piece.token());
                }
            }
            State::Window(window) => return window.step(pieces),
        }
        Ok(text)
    }

    /// Returns what was held back, and is at the beginning again.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn flush(&mut self) -> Result<String> {
        let mut text = String::new();
        match &mut self.state {
            State::Bytes(stream) => stream.flush(&mut text),
            State::Spaced(later) => *later = false,
            State::Window(window) => return window.flush(),
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Node;
    use crate::decoder;
    use serde_json::{Value, json};

    fn read(value: &Value) -> Decoder {
        Decoder::from_node(&Node::new("decoder", value)).unwrap()
    }

    #[test]
    fn every_decoder_streams_the_whole_text() {
        let byte_level = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true});
        let metaspace = json!({"type": "Metaspace", "replacement": "Ġ"});
        let decoders = [
            json!({"type": "Sequence", "decoders": [byte_level, byte_level]}),
            json!({"type": "Sequence", "decoders": []}),
            json!({"type": "BPEDecoder", "suffix": "k"}),
            json!({"type": "WordPiece", "prefix": "Ã", "cleanup": true}),
            json!({"type": "Fuse"}),
            metaspace,
            byte_level,
        ];
        let pieces = [
            Piece::Token("Ġa"),
            Piece::Bytes("é".as_bytes()),
            Piece::Text("ok"),
            Piece::Token("k"),
        ];

        let decoders = decoders.iter().map(|value| Some(read(value))).chain([None]);
        for decoder in decoders {
            let mut stream = DecodeStream::new(decoder.as_ref());
            for _ in 0..2 {
                let mut text = String::new();
                for piece in pieces {
                    text += &stream.step([piece]).unwrap();
                }
                text += &stream.flush().unwrap();

                assert_eq!(text, decoder::decode(decoder.as_ref(), pieces).unwrap());
            }
        }
    }
}
