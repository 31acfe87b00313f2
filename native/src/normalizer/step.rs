//! One step of a normalizer, and how it runs: for the text alone, or with alignments.

use super::changes::NewText;
use super::forms::Form;
use super::precompiled::Precompiled;
use super::rule::Rule;
use super::strip::Strip;
use super::{SUPPORTED, bert, nmt};
use crate::Result;
use crate::config::Node;
use crate::normalized::NormalizedText;
use crate::pattern::Replace;

/// What is done to a text.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Goes through the text character by character.
    Rule(Rule),
    /// Puts this before a text that isn't empty.
    Prepend(String),
    /// Replaces the matches of a pattern.
    Replace(Replace),
}

/// A text that a step changed.
pub(super) struct Rewritten {
    pub(super) text: String,
    /// Whether it starts with characters that stand for nothing of the original.
    pub(super) starts_with_nothing: bool,
}

/// Appends the steps of the normalizer at `node`.
pub(super) fn read(node: &Node, steps: &mut Vec<Step>) -> Result<()> {
    let mut rules = Vec::new();
    match node.kind()? {
        "NFC" => rules.push(Rule::Form(Form::Nfc)),
        "NFD" => rules.push(Rule::Form(Form::Nfd)),
        "NFKC" => rules.push(Rule::Form(Form::Nfkc)),
        "NFKD" => rules.push(Rule::Form(Form::Nfkd)),
        "Lowercase" => rules.push(Rule::Lowercase),
        "StripAccents" => rules.push(Rule::Filter(is_no_combining_mark)),
        "ByteLevel" => rules.push(Rule::ByteLevel),
        "Strip" => rules.push(Rule::Strip(Strip::from_node(node)?)),
        "Precompiled" => rules.push(Rule::Precompiled(Precompiled::from_node(node)?)),
        "Nmt" => rules.extend([Rule::Filter(nmt::stays), Rule::Map(nmt::space)]),
        "BertNormalizer" => rules = bert::read(node)?,
        "Prepend" => steps.push(Step::Prepend(node.field("prepend")?.str()?.to_owned())),
        "Replace" => steps.push(Step::Replace(Replace::from_node(node)?)),
        "Sequence" => {
            for member in node.field("normalizers")?.items()? {
                read(&member, steps)?;
            }
        }
        kind => return Err(node.unsupported(kind, SUPPORTED)),
    }
    steps.extend(rules.into_iter().map(Step::Rule));
    Ok(())
}

fn is_no_combining_mark(char: char) -> bool {
    char.is_ascii() || !unicode_normalization_alignments::char::is_combining_mark(char)
}

impl Step {
    /// Changes `text` along with its alignments.
    pub(super) fn align(&self, text: &mut NormalizedText) -> Result<()> {
        match self {
            Self::Prepend(prefix) => text.prepend(prefix),
            Self::Replace(replace) => {
                let matches = replace.matches(text.text())?;
                if !matches.is_empty() {
                    text.replace(&matches, replace.content());
                }
            }
            Self::Rule(rule) if rule.surely_keeps(text.text()) => {}
            Self::Rule(rule) => {
                let mut changes = Vec::with_capacity(text.text().len());
                let skip = rule.tell(text.text(), &mut changes);
                text.transform(changes, skip);
            }
        }
        Ok(())
    }

    /// The new text, or nothing where all characters stay what and where they are.
    pub(super) fn rewrite(&self, text: &str) -> Result<Option<Rewritten>> {
        match self {
            Self::Prepend(prefix) => Ok(prepend(prefix, text)),
            Self::Replace(pattern) => replace(pattern, text),
            Self::Rule(rule) => Ok(rewrite(rule, text)),
        }
    }
}

fn prepend(prefix: &str, text: &str) -> Option<Rewritten> {
    (!text.is_empty()).then(|| Rewritten {
        text: format!("{prefix}{text}"),
        // Where there is nothing to put there, the first character loses its place: so it is in stock.
        starts_with_nothing: prefix.is_empty(),
    })
}

fn replace(replace: &Replace, text: &str) -> Result<Option<Rewritten>> {
    let matches = replace.matches(text)?;
    Ok(matches.first().map(|first| Rewritten {
        text: replace.put(text, &matches),
        starts_with_nothing: first.end == 0 && !replace.content().is_empty(),
    }))
}

fn rewrite(rule: &Rule, text: &str) -> Option<Rewritten> {
    if rule.surely_keeps(text) {
        return None;
    }
    let mut new = NewText::with_capacity(text.len());
    let skip = rule.tell(text, &mut new);
    let keeps = !new.moves && skip == 0 && new.text == text;
    (!keeps).then_some(Rewritten {
        text: new.text,
        starts_with_nothing: false,
    })
}
