//! Text to a whole encoding: ids with offsets, words and masks, truncated and post-processed.

use std::ops::Range;
use std::sync::Arc;

use super::draw::Draw;
use super::encode::check_length;
use super::{EncodeOptions, Route, State, Tokenizer};
use crate::Result;
use crate::added_tokens::Allowed;
use crate::bpe::Bpe;
use crate::encoding::{Encoding, Spell};
use crate::normalized::NormalizedText;
use crate::parallel;
use crate::post_processor::post_process;
use crate::truncation::Truncation;
use crate::vocab::TokenId;

/// A text, or its words where someone else has split it.
#[derive(Debug, Clone)]
pub enum Sequence<'a> {
    /// One text.
    Text(&'a str),
    /// Words that are encoded one by one.
    Words(Vec<&'a str>),
}

impl<'a> From<&'a str> for Sequence<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl Sequence<'_> {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Words(words) => words.iter().map(|word| word.len() + 1).sum(),
        }
    }
}

/// One text or a pair.
pub type Input<'a> = (Sequence<'a>, Option<Sequence<'a>>);

impl Tokenizer {
    /// The encoding of a text or a pair, as `tokenizers.Tokenizer.encode` gives it: offsets in characters.
    pub fn encode(
        &self,
        first: &Sequence,
        second: Option<&Sequence>,
        options: EncodeOptions,
        truncation: Option<&Truncation>,
    ) -> Result<Encoding> {
        self.encode_drawn(first, second, options, truncation, self.draw().at(0))
    }

    pub(super) fn encode_drawn(
        &self,
        first: &Sequence,
        second: Option<&Sequence>,
        options: EncodeOptions,
        truncation: Option<&Truncation>,
        draw: Draw,
    ) -> Result<Encoding> {
        let aligned = |sequence: &Sequence, type_id, draw| {
            self.states
                .with(|state| self.align_sequence(sequence, type_id, options, draw, state))
        };
        let first = aligned(first, 0, draw)?;
        let second = second
            .map(|sequence| aligned(sequence, 1, draw.at(1)))
            .transpose()?;
        let processor = self.post_processor.as_ref();
        post_process(
            processor,
            first,
            second,
            truncation,
            options.add_special_tokens,
            self,
        )
    }

    /// The encoding of each input, on all cores.
    pub fn encode_batch(
        &self,
        inputs: &[Input],
        options: EncodeOptions,
        truncation: Option<&Truncation>,
    ) -> Result<Vec<Encoding>> {
        let size = |(first, second): &Input| first.size() + second.as_ref().map_or(0, Sequence::size);
        let sizes: Vec<_> = inputs.iter().map(size).collect();
        let draw = self.draw();
        let parts = parallel::map_parts(&sizes, |part| {
            part.map(|at| {
                let (first, second) = &inputs[at];
                self.encode_drawn(first, second.as_ref(), options, truncation, draw.at(at))
            })
            .collect::<Result<Vec<_>>>()
        });
        let mut all = Vec::with_capacity(inputs.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }

    fn align_sequence(
        &self,
        sequence: &Sequence,
        type_id: u32,
        options: EncodeOptions,
        draw: Draw,
        state: &mut State,
    ) -> Result<Encoding> {
        match sequence {
            Sequence::Text(text) => {
                let out = Aligned::new(text, &self.bpe, None, type_id);
                self.align_text(text, options.allowed(), draw, state, out)
            }
            Sequence::Words(words) => {
                let words = words.iter().enumerate();
                let encodings = words
                    .map(|(word, text)| {
                        let draw = draw.at(word);
                        let out = Aligned::new(text, &self.bpe, Some(word as u32), type_id);
                        self.align_text(text, options.allowed(), draw, state, out)
                    })
                    .collect::<Result<Vec<_>>>()?;
                Ok(Encoding::merge(encodings, false))
            }
        }
    }

    pub(super) fn align_text(
        &self,
        text: &str,
        allowed: Allowed,
        draw: Draw,
        state: &mut State,
        mut out: Aligned,
    ) -> Result<Encoding> {
        check_length(text)?;
        draw.begin(text.as_bytes(), &mut state.symbols);
        self.added.split_raw(text, allowed, &mut |range, id| {
            if let Some(id) = id {
                out.push_added(id, &text[range.clone()], (range.start, range.end), self);
                return Ok(());
            }
            self.align_segment(text, range, allowed, state, &mut out)
        })?;
        Ok(out.encoding)
    }

    fn align_segment(
        &self,
        text: &str,
        range: Range<usize>,
        allowed: Allowed,
        state: &mut State,
        out: &mut Aligned,
    ) -> Result<()> {
        let (segment, start) = (&text[range.clone()], range.start);
        let unchanged = match &self.normalizer {
            Some(normalizer) => normalizer.keeps(segment)?,
            None => true,
        };
        if unchanged && self.added.none_normalized() && self.keeps_bytes(segment) {
            return self.align_bytes(segment, start, state, out);
        }
        let mut normalized = NormalizedText::new(segment, start);
        if let Some(normalizer) = &self.normalizer {
            normalizer.normalize_aligned(&mut normalized)?;
        }
        let within = match allowed {
            Allowed::Within(_) if self.added.none_normalized() => None,
            Allowed::Within(within) if unchanged => Some(within.segment(&range)),
            Allowed::Within(within) => Some(self.normal_parts(within, text, &range, &normalized)?),
            _ => None,
        };
        let allowed = within.as_ref().map_or(allowed, Allowed::Within);
        let text = normalized.text();
        self.added
            .split_normalized(text, allowed, &mut |range, id| match id {
                Some(id) => {
                    let span = normalized.original_range(range.clone());
                    out.push_added(id, &text[range], (span.start, span.end), self);
                    Ok(())
                }
                None => self.align_pieces(normalized.slice(range), state, out),
            })
    }

    /// Whether the pretokens of `segment` are ranges of it whose bytes are the symbols, one for one.
    fn keeps_bytes(&self, segment: &str) -> bool {
        let Route::Bytes { prefix_space } = self.route else {
            return false;
        };
        self.bpe.has_all_bytes() && (!prefix_space || segment.starts_with(' '))
    }

    fn align_bytes(&self, segment: &str, start: usize, state: &mut State, out: &mut Aligned) -> Result<()> {
        let State {
            symbols,
            parts,
            scratch,
            ..
        } = state;
        self.split_ranges(segment, scratch, |range| {
            parts.clear();
            out.bpe
                .encode_pretoken_parts(&segment[range.clone()], symbols, parts);
            let mut at = range.start;
            for &(id, length) in parts.iter() {
                let span = whole_characters(segment, at, at + length);
                out.push(id, (start + span.0, start + span.1));
                at += length;
            }
            out.piece += 1;
        })
    }

    fn align_pieces(&self, segment: NormalizedText, state: &mut State, out: &mut Aligned) -> Result<()> {
        for piece in self.pieces(segment)? {
            state.parts.clear();
            out.bpe
                .encode_text(piece.text(), &mut state.symbols, &mut state.parts)?;
            let mut at = 0;
            for &(id, length) in &state.parts {
                let span = piece.original_range(at..at + length);
                out.push(id, (span.start, span.end));
                at += length;
            }
            out.piece += 1;
        }
        Ok(())
    }
}

/// The bytes of the characters that `start..end` touches: a part of a character stands for the whole.
fn whole_characters(text: &str, mut start: usize, mut end: usize) -> (usize, usize) {
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (start, end)
}

/// An encoding while it is filled.
pub(super) struct Aligned<'a> {
    bpe: &'a Bpe,
    encoding: Encoding,
    characters: Characters,
    given_word: Option<u32>,
    piece: u32,
    type_id: u32,
}

impl<'a> Aligned<'a> {
    /// Nothing yet of `text`, which `bpe` will encode.
    pub(super) fn new(text: &str, bpe: &'a Bpe, given_word: Option<u32>, type_id: u32) -> Self {
        Self {
            bpe,
            encoding: Encoding::with_capacity(text.len() / 3 + 4),
            characters: Characters::new(text),
            given_word,
            piece: 0,
            type_id,
        }
    }

    fn push(&mut self, id: TokenId, bytes: (usize, usize)) {
        let word = self.given_word.or(Some(self.piece));
        let offsets = self.characters.offsets(bytes);
        self.encoding.push(id, offsets, word, self.type_id);
    }

    fn push_added(&mut self, id: TokenId, found: &str, bytes: (usize, usize), tokenizer: &Tokenizer) {
        self.push(id, bytes);
        if tokenizer.spell(id).as_deref() != Some(found) {
            self.encoding.spell_last(Arc::from(found));
        }
        self.piece += 1;
    }
}

/// Turns bytes of a text into characters of it.
struct Characters {
    /// The index of the character that each byte belongs to; nothing for ASCII, where they are the same.
    of_byte: Option<Vec<u32>>,
    length: usize,
}

impl Characters {
    fn new(text: &str) -> Self {
        let length = text.len();
        if text.is_ascii() {
            return Self {
                of_byte: None,
                length,
            };
        }
        let mut of_byte = Vec::with_capacity(length);
        for (index, char) in text.chars().enumerate() {
            of_byte.extend(std::iter::repeat_n(index as u32, char.len_utf8()));
        }
        Self {
            of_byte: Some(of_byte),
            length,
        }
    }

    fn index(&self, byte: usize) -> Option<usize> {
        match &self.of_byte {
            None => (byte < self.length).then_some(byte),
            Some(of_byte) => of_byte.get(byte).map(|&index| index as usize),
        }
    }

    /// Characters for bytes. Spans may lie beyond the text, where tokens of fallback bytes cover more bytes than
    /// the text has: such an end comes right behind the start, and such a start stays as it is, as in stock.
    fn offsets(&self, (start, end): (usize, usize)) -> (usize, usize) {
        match (self.index(start), self.index(end)) {
            (Some(first), Some(after)) => (first, after),
            (Some(first), None) => (first, self.index(end - 1).unwrap_or(first + 1) + 1),
            (None, _) => (start, end),
        }
    }
}
