//! Pretokens as text, without their place in the original: what ids alone need.
//!
//! Guarantee: the texts of the pieces equal those of the aligned pipeline. Instead of a place for each byte only one number is
//! kept: how many bytes at the start of the text came from the start of the original. Every step is one pass over one buffer.

use std::ops::Range;

use super::{PreTokenizer, PrependScheme, Scratch, Step};
use crate::{Result, byte_alphabet};

impl PreTokenizer {
    /// Whether some step changes the text. Otherwise [`PreTokenizer::split_ranges`] does all there is to do.
    pub fn changes_text(&self) -> bool {
        self.steps.iter().any(Step::changes_text)
    }

    /// Whether pieces depend on whether they start where the original text starts.
    pub fn looks_at_start(&self) -> bool {
        let looks = |step: &Step| matches!(step, Step::Metaspace(step) if step.prepend_scheme == PrependScheme::First);
        self.steps.iter().any(looks)
    }

    /// Whether pieces are written in the byte alphabet: the last step that changes the text is a `ByteLevel`.
    pub fn shows_bytes(&self) -> bool {
        let last = self.steps.iter().rfind(|step| step.changes_text());
        matches!(last, Some(Step::ByteLevel(_)))
    }

    /// Calls `emit` with each pretoken of `text`, in order, as the model sees it.
    ///
    /// `head` is the number of bytes at the start of `text` that came from the first character of the original: 0 after an added
    /// token, and the length of the first character where the text is the original. It matters only if
    /// [`PreTokenizer::looks_at_start`]. On an error, drop what was emitted before it.
    pub fn split_text<F: FnMut(&str)>(
        &self,
        text: &str,
        head: usize,
        scratch: &mut Scratch,
        mut emit: F,
    ) -> Result<()> {
        if !self.changes_text() {
            return self.split_ranges(text, scratch, |range| emit(&text[range]));
        }
        let words = &mut scratch.words;
        words.start(text, head);
        for step in &self.steps {
            words.run(step)?;
        }
        for piece in &words.pieces {
            emit(&words.text[piece.clone()]);
        }
        Ok(())
    }
}

/// A text that steps cut and change.
#[derive(Debug, Default)]
pub(super) struct Words {
    text: String,
    /// Ranges of `text`, in order; none is empty.
    pieces: Vec<Range<usize>>,
    /// How many bytes at the start of `text` came from the first character of the original.
    head: usize,
    next_text: String,
    next_pieces: Vec<Range<usize>>,
}

impl Words {
    fn start(&mut self, text: &str, head: usize) {
        self.text.clear();
        self.text.push_str(text);
        self.pieces.clear();
        if !text.is_empty() {
            self.pieces.push(0..text.len());
        }
        self.head = head;
    }

    fn run(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Metaspace(metaspace) => {
                self.change(
                    |piece, starts| metaspace.prepends(piece, starts).then_some(metaspace.replacement),
                    |text, out| out.extend(text.chars().map(|char| metaspace.show(char))),
                );
                self.cut(step)
            }
            Step::ByteLevel(byte_level) => {
                if byte_level.add_prefix_space {
                    let prefix = |piece: &str, _| (!piece.starts_with(' ')).then_some(' ');
                    self.change(prefix, |text, out| out.push_str(text));
                }
                self.cut(step)?;
                self.change(
                    |_, _| None,
                    |text, out| out.extend(text.bytes().map(byte_alphabet::char_of)),
                );
                Ok(())
            }
            _ => self.cut(step),
        }
    }

    fn cut(&mut self, step: &Step) -> Result<()> {
        if step.keeps_whole() {
            return Ok(());
        }
        self.next_pieces.clear();
        for piece in &self.pieces {
            let start = piece.start;
            step.split(&self.text[piece.clone()], |range| {
                self.next_pieces.push(start + range.start..start + range.end);
            })?;
        }
        std::mem::swap(&mut self.pieces, &mut self.next_pieces);
        Ok(())
    }

    /// Writes each piece anew: what `prefix` gives for it and for whether it starts where the original starts, then what
    /// `show` writes for its text. `show` is called for parts of a piece.
    fn change(&mut self, prefix: impl Fn(&str, bool) -> Option<char>, show: impl Fn(&str, &mut String)) {
        let Self {
            text,
            pieces,
            head,
            next_text: out,
            ..
        } = self;
        let mut new_head = 0;
        out.clear();
        for piece in pieces.iter_mut() {
            let start = out.len();
            let starts = piece.start < *head;
            out.extend(prefix(&text[piece.clone()], starts));
            let (of_head, rest) =
                text[piece.clone()].split_at((*head).clamp(piece.start, piece.end) - piece.start);
            show(of_head, out);
            if starts {
                new_head = out.len();
            }
            show(rest, out);
            *piece = start..out.len();
        }
        *head = new_head;
        std::mem::swap(&mut self.text, &mut self.next_text);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::Node;

    fn pre_tokenizer(members: Value) -> PreTokenizer {
        let value = json!({"type": "Sequence", "pretokenizers": members});
        PreTokenizer::from_node(&Node::new("pre_tokenizer", &value)).unwrap()
    }

    fn words(pre_tokenizer: &PreTokenizer, text: &str, head: usize) -> Vec<String> {
        let mut words = Vec::new();
        pre_tokenizer
            .split_text(text, head, &mut Scratch::default(), |piece| {
                words.push(piece.to_owned())
            })
            .unwrap();
        words
    }

    fn metaspace(scheme: &str) -> Value {
        json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme})
    }

    fn byte_level(add_prefix_space: bool) -> Value {
        json!({"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": true})
    }

    #[test]
    fn spaces_are_shown_and_prepended() {
        let always = pre_tokenizer(json!([{"type": "Punctuation"}, metaspace("always")]));

        assert_eq!(words(&always, "a  b,c", 0), ["▁a", "▁", "▁b", "▁,", "▁c"]);
        assert_eq!(words(&always, "", 0), [""; 0]);
    }

    #[test]
    fn only_what_came_from_the_start_is_first() {
        let first = pre_tokenizer(json!([{"type": "FixedLength", "length": 1}, metaspace("first")]));

        assert_eq!(words(&first, "éab", 2), ["▁é", "a", "b"]);
        assert_eq!(words(&first, "éab", 0), ["é", "a", "b"]);
        assert_eq!(words(&first, " b", 1), ["▁", "b"]);
    }

    /// Each byte of the first character came from the start, and so did the space before it.
    #[test]
    fn the_start_is_followed_through_the_byte_alphabet() {
        let each = json!({"type": "FixedLength", "length": 1});
        let first = pre_tokenizer(json!([byte_level(true), each, metaspace("first")]));

        assert_eq!(words(&first, "éa", 2), ["▁Ġ", "▁Ã", "▁©", "a"]);
        assert_eq!(words(&first, "éa", 0), ["Ġ", "Ã", "©", "a"]);
    }

    #[test]
    fn the_last_change_tells_the_alphabet() {
        let ends_with = |members| pre_tokenizer(members).shows_bytes();

        assert!(ends_with(
            json!([metaspace("never"), byte_level(false), {"type": "Whitespace"}])
        ));
        assert!(!ends_with(json!([byte_level(false), metaspace("never")])));
        assert!(!ends_with(json!([{"type": "Whitespace"}])));
    }
}
