//! Where a long text may be cut into parts that are encoded alone, on several threads.
//!
//! Guarantee: the ids of the parts, one after the other, are the ids of the text. A place is between a line feed and a
//! letter, where the character before the line feed is no white space. Proof, stage by stage, for a text `AB` cut there:
//!
//! 1. **Added tokens.** No content has a line feed, so no match spans the place, and matches of `A` and of `B` are those
//!    of `AB`. What a match asks of its neighbours is the same: for `single_word`, a line feed is no word character and
//!    neither is the start of a text; `rstrip` takes white space up to the letter, that is, up to the end of `A`;
//!    with a token that has `lstrip`, which might take the line feed, nothing is cut.
//! 2. **Normalizer.** There is none, or NFC: a line feed composes with nothing, and a letter of [`LETTERS`] is a starter
//!    that only composes with what follows. What a character before the line feed becomes is no white space either.
//! 3. **Pre-tokenizer.** A published pattern, each match of which is a pretoken. Of its alternatives only those take a
//!    line feed that end in `[\r\n]*` or `[\r\n/]*`, which stop at the letter, and those of white space, which begin at
//!    the line feed, as what is before it is none: they take the line feed alone, `\s+(?!\S)` and `\s+$` at the end of
//!    `A`, another one in `AB`. No alternative looks back, none that stops before the line feed looks beyond it, and the
//!    optional character before letters is never a line feed. So a pretoken ends at the place in `A` and in `AB`.
//! 4. **Model.** It sees one pretoken at a time, and no random numbers are drawn.
//!
//! Where any of this isn't so, no place is found, and the text is encoded in one piece.

use std::ops::RangeInclusive;

use super::{Route, Tokenizer};
use crate::normalizer::LETTERS;
use crate::pre_tokenizer::{Behavior, Step};

/// Characters that may stand before the line feed, beside [`LETTERS`]: signs that are no white space.
const SIGNS: &[RangeInclusive<char>] = &['!'..='~', '、'..='】', '！'..='～'];

impl Tokenizer {
    /// Places in `text`, in ascending order and at least `size` bytes apart, at which it may be cut.
    pub fn cut_places(&self, text: &str, size: usize) -> Vec<usize> {
        let mut places = Vec::new();
        if size == 0 || !self.may_cut() {
            return places;
        }
        let mut from = size;
        while let Some(place) = next_place(text, from) {
            places.push(place);
            from = place + size;
        }
        places
    }

    /// Whether the pipeline is one of those that the proof is about.
    fn may_cut(&self) -> bool {
        self.route == (Route::Bytes { prefix_space: false })
            && self.bpe.dropout().is_none()
            && self.normalizes_by_nfc_at_most()
            && self.cuts_by_published_pattern()
            && self
                .added
                .iter()
                .all(|(_, token)| !token.lstrip && !token.content.contains('\n'))
    }

    fn normalizes_by_nfc_at_most(&self) -> bool {
        let normalizer = &self.components.normalizer;
        normalizer.is_null() || normalizer.get("type").is_some_and(|kind| kind == "NFC")
    }

    pub(super) fn cuts_by_published_pattern(&self) -> bool {
        let steps = self
            .pre_tokenizer
            .as_ref()
            .map_or(&[][..], |pre_tokenizer| pre_tokenizer.steps());
        match steps {
            [Step::ByteLevel(only)] => only.use_regex,
            [Step::Split(split), Step::ByteLevel(last)] => {
                split.is_published()
                    && split.behavior() == Behavior::Isolated
                    && !split.invert()
                    && !last.use_regex
            }
            _ => false,
        }
    }
}

/// The first place at `from` or later.
fn next_place(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = from.max(1) - 1;
    let line_feeds = memchr::memchr_iter(b'\n', bytes.get(start..)?);
    line_feeds
        .map(|at| start + at + 1)
        .find(|&place| is_place(text, place))
}

fn is_place(text: &str, place: usize) -> bool {
    let is_in = |ranges: &[RangeInclusive<char>], char| ranges.iter().any(|range| range.contains(&char));
    let before = text[..place - 1].chars().next_back();
    let after = text[place..].chars().next();
    before.is_some_and(|char| is_in(SIGNS, char) || is_in(LETTERS, char))
        && after.is_some_and(|char| is_in(LETTERS, char))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::pre_tokenizer::published_patterns;
    use crate::tokenizer::EncodeOptions;

    fn with(pre_tokenizer: Value, normalizer: Value, added: Value) -> Tokenizer {
        let bytes = (0..=255).map(crate::byte_alphabet::char_of);
        let mut vocab: serde_json::Map<_, _> = bytes
            .enumerate()
            .map(|(id, char)| (char.to_string(), json!(id)))
            .collect();
        for (id, token) in ["ab", "Ċa", "Ċb", "!Ċ", "ĊĊ", "ĠĠ", "Ċab"].iter().enumerate() {
            vocab.insert((*token).into(), json!(256 + id));
        }
        let file = json!({
            "version": "1.0",
            "added_tokens": added,
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer,
            "post_processor": null,
            "decoder": null,
            "model": {
                "type": "BPE",
                "vocab": vocab,
                "merges": [["a", "b"], ["Ċ", "a"], ["Ċ", "b"], ["!", "Ċ"], ["Ċ", "Ċ"], ["Ġ", "Ġ"], ["Ċ", "ab"]],
            },
        });
        Tokenizer::from_json(file.to_string().as_bytes()).unwrap()
    }

    fn split(pattern: &str) -> Value {
        let byte_level = json!({
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false
        });
        let split = json!({
            "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false
        });
        json!({"type": "Sequence", "pretokenizers": [split, byte_level]})
    }

    fn token(content: &str, flag: &str) -> Value {
        let mut token = json!({
            "id": 300, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true
        });
        token[flag] = json!(true);
        json!([token])
    }

    const OPTIONS: EncodeOptions = EncodeOptions {
        add_special_tokens: true,
        split_special_tokens: false,
    };

    /// Every text of up to six of these, whose neighbours are hostile to cutting: each alone around each line feed.
    #[test]
    fn parts_of_every_short_text_have_its_ids() {
        let atoms = [
            "\n",
            "a",
            " ",
            "!",
            "\u{85}",
            "e\u{301}",
            "'s",
            "1",
            "/",
            "\r",
            "가\u{11a8}",
            "<x>",
        ];
        let tokens = [
            json!([]),
            token("<x>", "rstrip"),
            token("a", "single_word"),
            token("<x>", "normalized"),
        ];
        let gpt2 = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true});
        let pre_tokenizers: Vec<_> = published_patterns().map(split).chain([gpt2]).collect();
        let mut cut = 0;
        for (round, pre_tokenizer) in pre_tokenizers.iter().enumerate() {
            let added = &tokens[round % tokens.len()];
            for normalizer in [Value::Null, json!({"type": "NFC"})] {
                let tokenizer = with(pre_tokenizer.clone(), normalizer, added.clone());
                for number in 0..atoms.len().pow(4) {
                    let atom = |power| atoms[number / atoms.len().pow(power) % atoms.len()];
                    let text = [atom(0), atom(1), "\n", atom(2), atom(3)].concat();
                    for place in tokenizer.cut_places(&text, 1) {
                        let part = |text| tokenizer.encode_ids(text, OPTIONS).unwrap();
                        let parts = [part(&text[..place]), part(&text[place..])].concat();
                        assert_eq!(parts, part(&text), "{text:?} at {place}: {pre_tokenizer}");
                        cut += 1;
                    }
                }
            }
        }
        assert!(cut > 10_000);
    }

    #[test]
    fn nothing_is_cut_outside_the_proof() {
        let text = "a\nb";
        let published = || split(published_patterns().next().unwrap());
        let none = || json!([]);
        assert_eq!(with(published(), Value::Null, none()).cut_places(text, 1), [2]);

        let outside = [
            with(published(), json!({"type": "NFKC"}), none()),
            with(split(r"\s+|\S+"), Value::Null, none()),
            with(Value::Null, Value::Null, none()),
            with(published(), Value::Null, token("b", "lstrip")),
            with(published(), Value::Null, token("a\nb", "special")),
            with(
                json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true}),
                Value::Null,
                none(),
            ),
        ];
        for (at, tokenizer) in outside.iter().enumerate() {
            assert_eq!(tokenizer.cut_places(text, 1), [0; 0], "{at}");
        }
    }

    #[test]
    fn places_are_the_size_apart() {
        let tokenizer = with(
            split(published_patterns().next().unwrap()),
            Value::Null,
            json!([]),
        );
        let text = "ab\n".repeat(100);

        let places = tokenizer.cut_places(&text, 10);

        assert_eq!(places[..3], [12, 24, 36]);
        assert!(tokenizer.cut_places(&text, 0).is_empty());
        assert!(tokenizer.cut_places(&text, 1000).is_empty());
    }
}
