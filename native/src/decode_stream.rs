//! Decodes piece by piece and never hands out half a character.
//!
//! Guarantee: what all the steps and the last `flush` return is, put together, what decoding everything at once
//! returns, whatever the bytes are and wherever they are cut. Each byte is looked at once, but for the at most
//! three of a character that isn't complete yet.

use std::sync::Arc;

use crate::decoder::{self, Decoder, Piece};

/// Turns bytes that come in parts into text; bytes that can never become a character become U+FFFD, as in
/// [`String::from_utf8_lossy`].
#[derive(Debug, Clone, Default)]
pub struct Utf8Stream {
    /// The start of a character whose other bytes haven't come yet.
    tail: Vec<u8>,
}

impl Utf8Stream {
    /// Appends to `text` all that is certain after `bytes`.
    pub fn push(&mut self, bytes: &[u8], text: &mut String) {
        let rest = self.finish_tail(bytes, text);
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            if chunks.peek().is_none() && is_incomplete(chunk.invalid()) {
                self.tail.extend_from_slice(chunk.invalid());
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// Ends the text: a character that stayed incomplete becomes U+FFFD.
    pub fn flush(&mut self, text: &mut String) {
        if !self.tail.is_empty() {
            self.tail.clear();
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Adds bytes to the tail until it is a character or can't become one; returns the bytes that are left.
    fn finish_tail<'a>(&mut self, mut bytes: &'a [u8], text: &mut String) -> &'a [u8] {
        while let (false, Some((&next, rest))) = (self.tail.is_empty(), bytes.split_first()) {
            self.tail.push(next);
            match std::str::from_utf8(&self.tail) {
                Ok(char) => text.push_str(char),
                Err(error) if error.error_len().is_none() => {
                    bytes = rest;
                    continue;
                }
                // The byte doesn't belong to the tail: it may begin something of its own.
                Err(_) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.tail.clear();
                    return bytes;
                }
            }
            self.tail.clear();
            bytes = rest;
        }
        bytes
    }
}

/// Whether `bytes`, which begin no valid character, may still become one.
fn is_incomplete(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
}

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
    /// Decoders whose text isn't certain before the end: they get all tokens then.
    Whole(Arc<Decoder>, Vec<Held>),
}

#[derive(Debug, Clone)]
enum Held {
    Bytes(Box<[u8]>),
    Token(Box<str>),
    Text(Box<str>),
}

impl DecodeStream {
    /// A stream at its beginning.
    pub fn new(decoder: Option<&Decoder>) -> Self {
        let state = match decoder {
            None => State::Spaced(false),
            Some(decoder) if decoder.is_byte_level() => State::Bytes(Utf8Stream::default()),
            Some(decoder) => State::Whole(Arc::new(decoder.clone()), Vec::new()),
        };
        Self { state }
    }

    /// Appends to `text` all that is certain after `piece`.
    pub fn push(&mut self, piece: Piece<'_>, text: &mut String) {
        match &mut self.state {
            State::Bytes(stream) => stream.push(&piece.bytes(), text),
            State::Spaced(later) => {
                if std::mem::replace(later, true) {
                    text.push(' ');
                }
                text.push_str(&piece.token());
            }
            State::Whole(_, held) => held.push(Held::from(piece)),
        }
    }

    /// Returns what was held back, and is at the beginning again.
    pub fn flush(&mut self) -> String {
        let mut text = String::new();
        match &mut self.state {
            State::Bytes(stream) => stream.flush(&mut text),
            State::Spaced(later) => *later = false,
            State::Whole(decoder, held) => {
                let held = std::mem::take(held);
                text = decoder::decode(Some(decoder), held.iter().map(Held::piece));
            }
        }
        text
    }
}

impl From<Piece<'_>> for Held {
    fn from(piece: Piece<'_>) -> Self {
        match piece {
            Piece::Bytes(bytes) => Held::Bytes(bytes.into()),
            Piece::Token(token) => Held::Token(token.into()),
            Piece::Text(text) => Held::Text(text.into()),
        }
    }
}

impl Held {
    fn piece(&self) -> Piece<'_> {
        match self {
            Held::Bytes(bytes) => Piece::Bytes(bytes),
            Held::Token(token) => Piece::Token(token),
            Held::Text(text) => Piece::Text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small steps of a linear congruential generator: the same cases in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((self.0 >> 33) as usize) % limit
        }
    }

    fn in_parts(parts: &[&[u8]]) -> Vec<String> {
        let mut stream = DecodeStream::new(Some(&Decoder::ByteLevel));
        let mut texts: Vec<String> = Vec::new();
        for part in parts {
            let mut text = String::new();
            stream.push(Piece::Bytes(part), &mut text);
            texts.push(text);
        }
        texts.push(stream.flush());
        texts
    }

    #[test]
    fn a_character_comes_out_with_its_last_byte() {
        let emoji = "😀".as_bytes();

        assert_eq!(
            in_parts(&[&emoji[..1], &emoji[1..2], &emoji[2..3], &emoji[3..]]),
            ["", "", "", "😀", ""]
        );
        assert_eq!(in_parts(&[&emoji[..3], b" a"]), ["", "\u{fffd} a", ""]);
        assert_eq!(in_parts(&[b"\xff", b" a"]), ["\u{fffd}", " a", ""]);
        assert_eq!(in_parts(&[&emoji[..2]]), ["", "\u{fffd}"]);
        assert_eq!(
            in_parts(&[b"", b"\xe2", b"", b"\xe2\xad", b"\xa2x"]),
            ["", "", "", "\u{fffd}", "⭢x", ""]
        );
    }

    #[test]
    fn parts_of_any_bytes_make_the_whole() {
        // Bytes that begin, continue and break characters at every place, then any.
        let telling = b"a \x80\x9f\xa0\xbf\xc0\xc2\xdf\xe0\xe2\xed\xef\xf0\xf1\xf4\xf5\xff";
        let mut random = Random(42);
        for case in 0..20_000 {
            let bytes: Vec<u8> = (0..random.below(12))
                .map(|_| match case % 4 {
                    0 => random.below(256) as u8,
                    _ => telling[random.below(telling.len())],
                })
                .collect();
            let mut parts: Vec<&[u8]> = Vec::new();
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (part, later) = rest.split_at(random.below(rest.len() + 1));
                parts.push(part);
                rest = later;
            }

            assert_eq!(
                in_parts(&parts).concat(),
                String::from_utf8_lossy(&bytes),
                "{parts:x?}"
            );
        }
    }

    #[test]
    fn nothing_certain_is_held_back() {
        let text = "a é ⭢ 😀 \u{10ffff}";
        let mut stream = Utf8Stream::default();
        let mut out = String::new();

        for (at, byte) in text.bytes().enumerate() {
            stream.push(&[byte], &mut out);
            let whole = (0..=at + 1)
                .rev()
                .find(|&end| text.is_char_boundary(end))
                .unwrap();
            assert_eq!(out, text[..whole]);
        }
    }

    #[test]
    fn other_decoders_stream_too() {
        let twice = Decoder::Sequence(vec![Decoder::ByteLevel, Decoder::ByteLevel]);
        let pieces = [
            Piece::Token("Ġa"),
            Piece::Bytes("é".as_bytes()),
            Piece::Text("ok"),
        ];

        for decoder in [None, Some(&twice), Some(&Decoder::Sequence(vec![]))] {
            let mut stream = DecodeStream::new(decoder);
            for _ in 0..2 {
                let mut text = String::new();
                pieces.iter().for_each(|&piece| stream.push(piece, &mut text));
                text.push_str(&stream.flush());

                assert_eq!(text, decoder::decode(decoder, pieces));
            }
        }
    }
}
