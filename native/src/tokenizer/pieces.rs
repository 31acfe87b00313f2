//! A segment cut into pretokens: as ranges where its text stays as it is, as aligned pieces in general.

use std::ops::Range;

use super::Tokenizer;
use crate::normalized::NormalizedText;
use crate::pre_tokenizer::{ByteLevel, Scratch, Step};
use crate::{Result, byte_alphabet};

impl Tokenizer {
    /// Calls `emit` with the bytes of each pretoken of `text`, as training counts them: added tokens are not looked
    /// for, and a byte-level pretoken is given as the bytes behind the byte alphabet.
    ///
    /// # Errors
    /// What a pattern raises that runs away.
    pub fn pretokens(&self, text: &str, scratch: &mut Scratch, emit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let normalized = match &self.normalizer {
            Some(normalizer) => normalizer.normalize(text)?,
            None => text.into(),
        };
        if self.route == (super::Route::Bytes { prefix_space: false }) {
            let bytes = normalized.as_bytes();
            return self.split_ranges(&normalized, scratch, |range| emit(&bytes[range]));
        }
        for piece in self.pieces(NormalizedText::new(&normalized, 0))? {
            match byte_alphabet::token_to_bytes(piece.text()) {
                Some(bytes) => emit(&bytes),
                None => emit(piece.text().as_bytes()),
            }
        }
        Ok(())
    }

    /// The pretokens of a segment whose text the pre-tokenizer leaves as it is.
    #[inline]
    pub(super) fn split_ranges<F: FnMut(Range<usize>)>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        emit: F,
    ) -> Result<()> {
        let pre_tokenizer = self
            .pre_tokenizer
            .as_ref()
            .expect("a route over bytes has a ByteLevel");
        pre_tokenizer.split_ranges(text, scratch, emit)
    }

    /// The pretokens of a segment, whatever the pre-tokenizer does to its text.
    pub(super) fn pieces(&self, segment: NormalizedText) -> Result<Vec<NormalizedText>> {
        let mut pieces = vec![segment];
        let steps = self
            .pre_tokenizer
            .iter()
            .flat_map(|pre_tokenizer| pre_tokenizer.steps());
        for step in steps {
            let mut next = Vec::with_capacity(pieces.len());
            for piece in pieces {
                run(step, piece, &mut next)?;
            }
            pieces = next;
        }
        Ok(pieces)
    }
}

fn run(step: &Step, mut piece: NormalizedText, next: &mut Vec<NormalizedText>) -> Result<()> {
    if let Step::ByteLevel(ByteLevel {
        add_prefix_space: true,
        ..
    }) = step
        && !piece.text().starts_with(' ')
    {
        piece.prepend(" ");
    }
    let first = next.len();
    step.split(piece.text(), |range| next.push(piece.slice(range)))?;
    if matches!(step, Step::ByteLevel(_)) {
        next[first..].iter_mut().for_each(show_bytes);
    }
    Ok(())
}

/// Writes a piece in the byte alphabet; each stand-in keeps the place of the whole character.
fn show_bytes(piece: &mut NormalizedText) {
    let mut changes = Vec::with_capacity(piece.text().len());
    for char in piece.text().chars() {
        let mut buffer = [0; 4];
        for (at, byte) in char.encode_utf8(&mut buffer).bytes().enumerate() {
            changes.push((byte_alphabet::char_of(byte), isize::from(at > 0)));
        }
    }
    piece.transform(changes, 0);
}
