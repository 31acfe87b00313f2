//! A stream for decoders whose text for a token depends on the tokens around it.
//!
//! Guarantee: each step returns what stock's `DecodeStream` (tokenizers 0.23.3) returns, whose rule is this: decode a window
//! of the tokens since the chunk before the last, and hand out what its text has beyond the text known already, unless
//! the text ends in U+FFFD, which may be half a character. Two things are better here:
//!
//! - Where the decoder takes back what was handed out, stock fails at this step and at each one after it. This one
//!   goes on with the text of the new tokens (see [`Window::without_context`]).
//! - Where nothing can be handed out, stock decodes an ever longer window at each step. Here a step adds a fixed number to
//!   what may be spent, so time is linear, and a window of hundreds of tokens may be looked at a few tokens later.

use std::sync::Arc;

use crate::Result;
use crate::decoder::{Decoder, Piece};

/// How many tokens may be decoded for each one that comes: windows up to twice that long are looked at in each step.
const DECODED_PER_TOKEN: usize = 64;

/// The tokens of the last chunk and those that came after it.
#[derive(Debug, Clone)]
pub(super) struct Window {
    decoder: Arc<Decoder>,
    pieces: Vec<Held>,
    /// How many of the pieces are only there for the sake of those behind them.
    known: usize,
    /// The text of the known pieces.
    prefix: String,
    /// How many pieces there were, and whether they had no text, when the window was last looked at.
    looked_at: usize,
    was_empty: bool,
    credit: usize,
}

#[derive(Debug, Clone)]
enum Held {
    Bytes(Box<[u8]>),
    Token(Box<str>),
    Text(Box<str>),
}

impl Window {
    pub(super) fn new(decoder: Arc<Decoder>) -> Self {
        Self {
            decoder,
            pieces: Vec::new(),
            known: 0,
            prefix: String::new(),
            looked_at: 0,
            was_empty: true,
            credit: 0,
        }
    }

    /// Adds pieces and returns the text that is certain now.
    pub(super) fn step<'a>(&mut self, pieces: impl IntoIterator<Item = Piece<'a>>) -> Result<String> {
        let before = self.pieces.len();
        self.pieces.extend(pieces.into_iter().map(Held::from));
        // Ids without a piece change nothing.
        let new = self.pieces.len() - before;
        self.credit += DECODED_PER_TOKEN * new;
        if new == 0 || self.credit < self.pieces.len() {
            return Ok(String::new());
        }
        self.credit -= self.pieces.len();
        self.look()
    }

    /// The text that was held back; the window is at its beginning again.
    pub(super) fn flush(&mut self) -> Result<String> {
        let text = self.decode(&self.pieces)?;
        let rest = self.beyond_prefix(&text)?;
        *self = Self::new(Arc::clone(&self.decoder));
        Ok(rest)
    }

    fn look(&mut self) -> Result<String> {
        // Pieces without text never come back: what follows is told apart from them.
        if self.prefix.is_empty() && self.was_empty {
            self.known = self.looked_at;
        }
        let text = self.decode(&self.pieces)?;
        self.looked_at = self.pieces.len();
        self.was_empty = text.is_empty();
        if text.len() <= self.prefix.len() || text.ends_with(char::REPLACEMENT_CHARACTER) {
            return Ok(String::new());
        }
        let new = self.beyond_prefix(&text)?;
        self.pieces.drain(..self.known);
        self.prefix = self.decode(&self.pieces)?;
        self.known = self.pieces.len();
        self.looked_at = self.known;
        self.was_empty = self.prefix.is_empty();
        Ok(new)
    }

    fn beyond_prefix(&self, text: &str) -> Result<String> {
        match text.strip_prefix(self.prefix.as_str()) {
            Some(new) => Ok(new.to_owned()),
            None => self.without_context(),
        }
    }

    /// The text of the pieces that aren't known, behind a letter rather than behind the known ones.
    ///
    /// After `<0xC3> <0xA9>` made `é`, a bad byte in the same run would turn the `é` into U+FFFD. It is handed out, so only
    /// the bad byte becomes one.
    fn without_context(&self) -> Result<String> {
        let letter = Held::Token("x".into());
        let new = &self.pieces[self.known..];
        let behind = [std::slice::from_ref(&letter), new].concat();
        match self.decode(&behind)?.strip_prefix('x') {
            Some(text) => Ok(text.to_owned()),
            None => self.decode(new),
        }
    }

    fn decode(&self, pieces: &[Held]) -> Result<String> {
        self.decoder.decode(pieces.iter().map(Held::piece))
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
    use crate::config::Node;
    use serde_json::json;

    /// What Llama 2 and its like come with.
    fn llama() -> Window {
        let value = json!({"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ]});
        Window::new(Arc::new(
            Decoder::from_node(&Node::new("decoder", &value)).unwrap(),
        ))
    }

    fn chunks(window: &mut Window, tokens: &[&str]) -> Vec<String> {
        let step = |token: &&str| window.step([Piece::Token(token)]).unwrap();
        let mut chunks: Vec<_> = tokens.iter().map(step).collect();
        chunks.push(window.flush().unwrap());
        chunks
    }

    #[test]
    fn spaces_stay_between_chunks_and_go_at_the_start() {
        let mut window = llama();

        for _ in 0..2 {
            let tokens = ["▁a", "▁▁", "▁", "b", "", "▁c"];
            assert_eq!(chunks(&mut window, &tokens), ["a", "  ", " ", "b", "", " c", ""]);
        }
        assert_eq!(chunks(&mut window, &["▁", "▁", "▁a"]), ["", " ", " a", ""]);
    }

    #[test]
    fn bytes_come_out_as_whole_characters() {
        let tokens = ["<0xE5>", "<0x8F>", "<0xAB>", "<0x61>", "<0xF0>", "<0x9F>"];

        let bad = "\u{fffd}";
        assert_eq!(
            chunks(&mut llama(), &tokens),
            ["", "", "叫", "a", "", "", &bad.repeat(2)]
        );
        assert_eq!(
            chunks(&mut llama(), &["<0xFF>", "<0x61>", "b"]),
            ["", "", "\u{fffd}\u{fffd}b", ""]
        );
    }

    #[test]
    fn what_was_handed_out_is_never_taken_back() {
        let tokens = ["<0xC3>", "<0xA9>", "<0xFF>", "▁x", "▁y"];

        assert_eq!(
            chunks(&mut llama(), &tokens),
            ["", "é", "", "\u{fffd} x", " y", ""]
        );
        assert_eq!(chunks(&mut llama(), &tokens[..3]), ["", "é", "", "\u{fffd}"]);
    }

    #[test]
    fn an_endless_run_of_bad_bytes_takes_no_time() {
        let started = std::time::Instant::now();
        let mut window = llama();
        let run = 100_000;

        let mut text = window.step([Piece::Token("a")]).unwrap();
        for _ in 0..run {
            text += &window.step([Piece::Token("<0xFF>")]).unwrap();
        }
        assert_eq!(text, "a");
        for _ in 0..run {
            text += &window.step([Piece::Token("b")]).unwrap();
        }
        text += &window.flush().unwrap();

        assert_eq!(text, format!("a{}{}", "\u{fffd}".repeat(run), "b".repeat(run)));
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
