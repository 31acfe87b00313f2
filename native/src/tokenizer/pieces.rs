//! A segment cut into pretokens: as ranges where its text stays as it is, as aligned pieces in general.

use std::borrow::Cow;
use std::ops::Range;

use super::Tokenizer;
use crate::normalized::NormalizedText;
use crate::normalizer::Normalized;
use crate::pre_tokenizer::{Metaspace, PreTokenizer, Scratch, Step};
use crate::{Result, byte_alphabet};

impl Tokenizer {
    /// Calls `emit` with the bytes of each pretoken of `text`, as training counts them: added tokens are not looked
    /// for. A pretoken in the byte alphabet is given as the bytes behind it, any other as its text.
    ///
    /// # Errors
    /// What a pattern raises that runs away.
    pub fn pretokens(&self, text: &str, scratch: &mut Scratch, emit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let shows_bytes = self.pre_tokenizer.as_ref().is_some_and(PreTokenizer::shows_bytes);
        let mut emit_text = |text: &str| match shows_bytes.then(|| byte_alphabet::token_to_bytes(text)) {
            Some(Some(bytes)) => emit(&bytes),
            _ => emit(text.as_bytes()),
        };
        let normalized = match &self.normalizer {
            Some(normalizer) => normalizer.run(text)?,
            None => Normalized::Text(text.into()),
        };
        let normalized = match normalized {
            Normalized::Text(normalized)
                if !self.looks_at_start() || matches!(normalized, Cow::Borrowed(_)) =>
            {
                normalized
            }
            _ => {
                let pieces = self.pieces(self.normalize_aligned(text, 0)?)?;
                pieces.iter().for_each(|piece| emit_text(piece.text()));
                return Ok(());
            }
        };
        if self.route == (super::Route::Bytes { prefix_space: false }) {
            let bytes = normalized.as_bytes();
            return self.split_ranges(&normalized, scratch, |range| emit(&bytes[range]));
        }
        let head = normalized.chars().next().map_or(0, char::len_utf8);
        self.text_pieces(&normalized, head, scratch, emit_text)
    }

    /// How many bytes at the start of the normal form of `segment` came from the first character of the whole text, in
    /// which `segment` starts at `start`; `changed` says that the normal form isn't the segment itself. Where no step
    /// asks, some other number.
    ///
    /// # Errors
    /// What a normalizer raises whose pattern runs away.
    pub(super) fn head(&self, segment: &str, start: usize, changed: bool) -> Result<usize> {
        if start > 0 || !self.looks_at_start() {
            return Ok(0);
        }
        if changed {
            return Ok(self.normalize_aligned(segment, start)?.head());
        }
        Ok(segment.chars().next().map_or(0, char::len_utf8))
    }

    fn looks_at_start(&self) -> bool {
        self.pre_tokenizer
            .as_ref()
            .is_some_and(PreTokenizer::looks_at_start)
    }

    pub(super) fn normalize_aligned(&self, segment: &str, start: usize) -> Result<NormalizedText> {
        let mut aligned = NormalizedText::new(segment, start);
        if let Some(normalizer) = &self.normalizer {
            normalizer.normalize_aligned(&mut aligned)?;
        }
        Ok(aligned)
    }

    /// Calls `emit` with the text of each pretoken of a segment, in order: those of `pieces`, without their alignments. `head` is
    /// what [`Tokenizer::head`] says, less what lies before `text` in the normal form.
    pub(super) fn text_pieces<F: FnMut(&str)>(
        &self,
        text: &str,
        head: usize,
        scratch: &mut Scratch,
        mut emit: F,
    ) -> Result<()> {
        match &self.pre_tokenizer {
            Some(pre_tokenizer) => pre_tokenizer.split_text(text, head, scratch, emit),
            None => {
                emit(text);
                Ok(())
            }
        }
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
    match step {
        Step::ByteLevel(step) if step.add_prefix_space && !piece.text().starts_with(' ') => {
            piece.prepend(" ")
        }
        Step::Metaspace(step) => show_spaces(&mut piece, step),
        _ => {}
    }
    let first = next.len();
    step.split(piece.text(), |range| next.push(piece.slice(range)))?;
    if matches!(step, Step::ByteLevel(_)) {
        next[first..].iter_mut().for_each(show_bytes);
    }
    Ok(())
}

/// Shows the spaces of a piece, and puts one more before it where the scheme says so.
fn show_spaces(piece: &mut NormalizedText, metaspace: &Metaspace) {
    let prepends = metaspace.prepends(piece.text(), piece.original_start() == 0);
    if piece.text().contains(' ') {
        let shown: Vec<_> = piece
            .text()
            .chars()
            .map(|char| (metaspace.show(char), 0))
            .collect();
        piece.transform_range(0..piece.text().len(), shown, 0);
    }
    if prepends {
        piece.prepend(metaspace.replacement.encode_utf8(&mut [0; 4]));
    }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tokenizer(steps: &[Value], normalizer: &Value) -> Tokenizer {
        let file = json!({
            "version": "1.0",
            "added_tokens": [],
            "normalizer": normalizer,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
            "post_processor": null,
            "decoder": null,
            "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        });
        Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
    }

    fn metaspace(prepend_scheme: &str) -> Value {
        json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": prepend_scheme})
    }

    /// Each order of three of these, on texts that are changed at their start by a normalizer or not.
    #[test]
    fn pieces_without_alignments_are_those_with() {
        let members = [
            metaspace("first"),
            metaspace("always"),
            json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true}),
            json!({"type": "FixedLength", "length": 1}),
            json!({"type": "FixedLength", "length": 3}),
            json!({"type": "BertPreTokenizer"}),
            json!({"type": "Punctuation", "behavior": "MergedWithNext"}),
        ];
        let texts = ["ﬁx it, now", " ﬁ", "é", "e\u{301}-a", "", "  ", "語▁ ▁b"];
        for normalizer in [json!(null), json!({"type": "NFKD"})] {
            for steps in 0..members.len().pow(3) {
                let steps = [steps % 7, steps / 7 % 7, steps / 49].map(|at| members[at].clone());
                let tokenizer = tokenizer(&steps, &normalizer);
                for (text, start) in texts.iter().map(|text| (text, 0)).chain([(&texts[0], 5)]) {
                    let aligned = tokenizer.normalize_aligned(text, start).unwrap();
                    let whole = 0..aligned.text().len();
                    let normalized = tokenizer
                        .normalizer
                        .as_ref()
                        .map_or(Cow::Borrowed(*text), |n| n.normalize(text).unwrap());
                    let head = tokenizer
                        .head(text, start, matches!(normalized, Cow::Owned(_)))
                        .unwrap();
                    let mut found = Vec::new();

                    let emit = |piece: &str| found.push(piece.to_owned());
                    tokenizer
                        .text_pieces(&normalized, head, &mut Scratch::default(), emit)
                        .unwrap();

                    let expected = tokenizer.pieces(aligned.slice(whole)).unwrap();
                    let expected: Vec<_> = expected.iter().map(NormalizedText::text).collect();
                    assert_eq!(found, expected, "{text:?} from {start}: {steps:?}");
                }
            }
        }
    }

    #[test]
    fn training_sees_bytes_only_behind_the_byte_alphabet() {
        let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true});
        let pretokens = |steps: &[Value], text: &str| {
            let mut pretokens = Vec::new();
            tokenizer(steps, &Value::Null)
                .pretokens(text, &mut Scratch::default(), &mut |bytes| {
                    pretokens.push(String::from_utf8(bytes.to_vec()).unwrap());
                })
                .unwrap();
            pretokens
        };

        assert_eq!(pretokens(&[metaspace("always")], "Ġ é"), ["▁Ġ", "▁é"]);
        assert_eq!(
            pretokens(&[metaspace("always"), byte_level.clone()], "é"),
            ["▁", "é"]
        );
        assert_eq!(pretokens(&[byte_level, metaspace("never")], "é"), ["Ã©"]);
    }
}
