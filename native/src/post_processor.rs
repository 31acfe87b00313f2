//! The `post_processor` of a tokenizer.json: puts special tokens around the ids of a text or a pair.
//!
//! Guarantee: ids, types, sequences, masks and windows equal those of stock's `PostProcessor::process`. Where stock
//! panics, there is an error that names the JSON path: at load when encoding one text could never work, else at
//! the call that needs the missing piece.

mod bert;
mod byte_level;
mod roberta;
mod special;
mod template;

use bert::Bert;
pub(crate) use byte_level::{ByteLevel, spaces};
use roberta::Roberta;
use template::Template;

use crate::config::Node;
use crate::encoding::{Encoding, NoSpelling, Spell};
use crate::truncation::{Truncation, truncate_pair};
use crate::{Error, Result};

/// The kinds that can run.
pub const SUPPORTED: &[&str] = &[
    "BertProcessing",
    "ByteLevel",
    "RobertaProcessing",
    "Sequence",
    "TemplateProcessing",
];

/// A post-processor that can run. A new kind is one file with its name, one arm here and one in each `match`.
#[derive(Debug, Clone)]
pub enum PostProcessor {
    /// Adds special tokens in the way of BERT.
    Bert(Bert),
    /// Trims spaces off offsets.
    ByteLevel(ByteLevel),
    /// Trims spaces off offsets and adds special tokens in the way of RoBERTa.
    Roberta(Roberta),
    /// Adds special tokens by a template.
    Template(Template),
    /// Several in a row.
    Sequence(Vec<PostProcessor>),
}

impl PostProcessor {
    /// Reads the post-processor at `node`.
    pub fn from_node(node: &Node) -> Result<Self> {
        let processor = Self::read(node)?;
        processor.process(vec![Encoding::default()], true, &NoSpelling)?;
        Ok(processor)
    }

    fn read(node: &Node) -> Result<Self> {
        match node.kind()? {
            "BertProcessing" => Ok(Self::Bert(Bert::from_node(node)?)),
            "ByteLevel" => Ok(Self::ByteLevel(ByteLevel::from_node(node)?)),
            "RobertaProcessing" => Ok(Self::Roberta(Roberta::from_node(node)?)),
            "TemplateProcessing" => Ok(Self::Template(Template::from_node(node)?)),
            "Sequence" => {
                let steps = node.field("processors")?;
                let steps = steps.items()?;
                Ok(Self::Sequence(
                    steps.iter().map(Self::read).collect::<Result<_>>()?,
                ))
            }
            kind => Err(node.unsupported(kind, SUPPORTED)),
        }
    }

    /// How many special tokens are added to one text, or to a pair.
    pub fn added_tokens(&self, is_pair: bool) -> usize {
        match self {
            Self::Bert(bert) => bert.added_tokens(is_pair),
            Self::ByteLevel(_) => 0,
            Self::Roberta(roberta) => roberta.added_tokens(is_pair),
            Self::Template(template) => template.added_tokens(is_pair),
            Self::Sequence(steps) => steps.iter().map(|step| step.added_tokens(is_pair)).sum(),
        }
    }

    /// Appends the steps that trim spaces off offsets, in their order.
    pub(crate) fn trimming(&self, steps: &mut Vec<ByteLevel>) {
        match self {
            Self::ByteLevel(byte_level) => steps.extend(byte_level.trimming()),
            Self::Roberta(roberta) => steps.extend(roberta.trimming()),
            Self::Sequence(members) => members.iter().for_each(|member| member.trimming(steps)),
            Self::Bert(_) | Self::Template(_) => {}
        }
    }

    /// The ids that go before and behind the ids of one text, if that is all that happens to them.
    pub fn affixes(&self, add_special_tokens: bool) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut affixes = Affixes::default();
        self.extend(&mut affixes, add_special_tokens)?;
        Some((affixes.before, affixes.after))
    }

    fn extend(&self, affixes: &mut Affixes, add_special_tokens: bool) -> Option<()> {
        let (before, after) = match self {
            Self::ByteLevel(_) => return Some(()),
            Self::Sequence(steps) => {
                return steps
                    .iter()
                    .try_for_each(|step| step.extend(affixes, add_special_tokens));
            }
            Self::Bert(_) | Self::Roberta(_) if !add_special_tokens => return Some(()),
            // Each part that a template made would be enclosed by itself.
            _ if affixes.more_parts => return None,
            Self::Template(template) => {
                let outer = template.affixes(add_special_tokens)?;
                affixes.more_parts = outer.more_parts;
                (outer.before, outer.after)
            }
            Self::Bert(bert) => bert.affixes(),
            Self::Roberta(roberta) => roberta.affixes(),
        };
        affixes.before.splice(0..0, before);
        affixes.after.extend(after);
        Some(())
    }

    /// Runs on one encoding, or on the two of a pair.
    pub fn process(
        &self,
        mut encodings: Vec<Encoding>,
        add_special_tokens: bool,
        spell: &dyn Spell,
    ) -> Result<Encoding> {
        for (sequence, encoding) in encodings.iter_mut().enumerate() {
            encoding.set_sequence_id(sequence);
            for window in &mut encoding.overflowing {
                window.set_sequence_id(sequence);
            }
            encoding.set_type_id(sequence as u32);
        }
        let parts = self.run(encodings, add_special_tokens, spell)?;
        Ok(Encoding::merge(parts, false))
    }

    fn run(
        &self,
        encodings: Vec<Encoding>,
        add_special_tokens: bool,
        spell: &dyn Spell,
    ) -> Result<Vec<Encoding>> {
        match self {
            Self::Bert(bert) => Ok(bert.run(encodings, add_special_tokens)),
            Self::ByteLevel(byte_level) => Ok(byte_level.run(encodings, spell)),
            Self::Roberta(roberta) => Ok(roberta.run(encodings, add_special_tokens, spell)),
            Self::Template(template) => template.run(encodings, add_special_tokens),
            Self::Sequence(steps) => steps.iter().try_fold(encodings, |encodings, step| {
                step.run(encodings, add_special_tokens, spell)
            }),
        }
    }
}

/// The ids around one text.
#[derive(Debug, Default)]
struct Affixes {
    before: Vec<u32>,
    after: Vec<u32>,
    /// Whether text and affixes are more than one encoding, which matters to the next step.
    more_parts: bool,
}

/// What happens without a post-processor: one text stays as it is, those of a pair stand in a row.
///
/// As in stock, the types are those that the encodings came with (0 and 1), and windows know no sequence.
pub fn default_process(mut encodings: Vec<Encoding>) -> Encoding {
    if encodings.len() > 1 {
        for (sequence, encoding) in encodings.iter_mut().enumerate() {
            encoding.set_sequence_id(sequence);
        }
    }
    Encoding::merge(encodings, false)
}

/// All that happens after the model: truncation with room for special tokens, then the post-processor, if any.
///
/// The tokens of `first` must come with type 0 and those of `second` with type 1.
pub fn post_process(
    processor: Option<&PostProcessor>,
    first: Encoding,
    second: Option<Encoding>,
    truncation: Option<&Truncation>,
    add_special_tokens: bool,
    spell: &dyn Spell,
) -> Result<Encoding> {
    let (first, second) = match truncation {
        None => (first, second),
        Some(&truncation) => {
            let added = |is_pair| match processor {
                Some(processor) if add_special_tokens => processor.added_tokens(is_pair),
                _ => 0,
            };
            truncation.check_stride(added(false))?;
            let room = truncation.without_special_tokens(added(second.is_some()))?;
            truncate_pair(first, second, &room)?
        }
    };
    let encodings = [first].into_iter().chain(second).collect();
    match processor {
        Some(processor) => processor.process(encodings, add_special_tokens, spell),
        None => Ok(default_process(encodings)),
    }
}

fn error_at(path: &str, message: impl std::fmt::Display) -> Error {
    Error::TokenizerFile(format!("tokenizer.json: {path} {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn row(steps: &[&Value]) -> PostProcessor {
        let value = json!({"type": "Sequence", "processors": steps});
        PostProcessor::from_node(&Node::new("post_processor", &value)).unwrap()
    }

    fn text(ids: &[u32], type_id: u32) -> Encoding {
        let len = ids.len();
        Encoding::from_columns(ids.to_vec(), vec![(0, 1); len], vec![None; len], type_id)
    }

    fn bert() -> Value {
        json!({"type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]})
    }

    fn roberta() -> Value {
        json!({
            "type": "RobertaProcessing",
            "sep": ["</s>", 3],
            "cls": ["<s>", 2],
            "trim_offsets": false,
            "add_prefix_space": false,
        })
    }

    #[test]
    fn affixes_are_what_the_whole_row_puts_around_a_text() {
        let (bert, roberta) = (bert(), roberta());
        for steps in [&[&bert][..], &[&roberta, &bert], &[&bert, &roberta, &bert], &[]] {
            let processor = row(steps);
            for add in [false, true] {
                let (before, after) = processor.affixes(add).unwrap();
                let whole = processor
                    .process(vec![text(&[7, 8], 0)], add, &NoSpelling)
                    .unwrap();

                assert_eq!([before, vec![7, 8], after].concat(), whole.ids);
            }
        }
    }

    #[test]
    fn what_a_step_before_added_counts_as_text() {
        let (bert, roberta) = (bert(), roberta());
        let encodings = vec![text(&[7], 0), text(&[8], 1)];

        let whole = row(&[&bert, &roberta])
            .process(encodings, true, &NoSpelling)
            .unwrap();

        assert_eq!(whole.ids, [2, 0, 7, 1, 3, 3, 8, 1, 3]);
        assert_eq!(whole.special_tokens_mask, [1, 0, 0, 0, 1, 1, 0, 0, 1]);
        assert_eq!(whole.type_ids, [0; 9]);
        assert_eq!(whole.token(1, &NoSpelling).as_deref(), Some("<s>"));
        assert_eq!(whole.sequence_ids()[5..], [None, Some(1), Some(1), None]);
    }

    #[test]
    fn each_window_is_enclosed_as_the_text_is() {
        let bert = bert();
        let mut second = text(&[8], 1);
        second.overflowing = vec![text(&[9], 1)];

        let whole = row(&[&bert])
            .process(vec![text(&[7], 0), second], true, &NoSpelling)
            .unwrap();

        assert_eq!(
            (whole.ids, whole.type_ids),
            (vec![0, 7, 1, 8, 1], vec![0, 0, 0, 1, 1])
        );
        assert_eq!(whole.overflowing[0].ids, [0, 7, 1, 9, 1]);
    }
}
