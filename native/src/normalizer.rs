//! `normalizer`: text to text before anything is split.
//!
//! The tables are those of stock (about Unicode 12), by the same crate: U+32FF, newer than they are, stays as it is.

use std::borrow::Cow;

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use crate::Result;
use crate::config::Node;
use crate::normalized::{Change, NormalizedText};

const SUPPORTED: &[&str] = &["NFC", "NFD", "NFKC", "NFKD", "Sequence"];

/// One normalizer, or several in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Normalizer {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
    /// One after the other.
    Sequence(Vec<Normalizer>),
}

impl Normalizer {
    /// Reads `normalizer` of a `tokenizer.json`.
    pub fn from_node(node: &Node) -> Result<Self> {
        Ok(match node.kind()? {
            "NFC" => Self::Nfc,
            "NFD" => Self::Nfd,
            "NFKC" => Self::Nfkc,
            "NFKD" => Self::Nfkd,
            "Sequence" => {
                let steps = node.field("normalizers")?.items()?;
                Self::Sequence(steps.iter().map(Self::from_node).collect::<Result<_>>()?)
            }
            kind => return Err(node.unsupported(kind, SUPPORTED)),
        })
    }

    /// Normalizes `text` and keeps its alignments.
    pub fn normalize_aligned(&self, text: &mut NormalizedText) {
        if let Self::Sequence(steps) = self {
            steps.iter().for_each(|step| step.normalize_aligned(text));
        } else if !self.surely_keeps(text.text()) {
            let changes = self.changes(text.text());
            text.transform(changes, 0);
        }
    }

    /// Normalizes `text`; borrows it where nothing changes, which a quick check finds for almost every text.
    pub fn normalize<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if let Self::Sequence(steps) = self {
            let step = |text: Cow<'a, str>, step: &Self| match text {
                Cow::Borrowed(text) => step.normalize(text),
                Cow::Owned(text) => Cow::Owned(step.normalize(&text).into_owned()),
            };
            return steps.iter().fold(Cow::Borrowed(text), step);
        }
        if self.surely_keeps(text) {
            return Cow::Borrowed(text);
        }
        let normalized: String = self.changes(text).into_iter().map(|(char, _)| char).collect();
        if normalized == text {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(normalized)
        }
    }

    /// Whether no step changes `text`. One step may undo another, but then characters no longer stand for themselves.
    pub fn keeps(&self, text: &str) -> bool {
        matches!(self.normalize(text), Cow::Borrowed(_))
    }

    /// Whether a quick check is sure that `text` is in this form already.
    fn surely_keeps(&self, text: &str) -> bool {
        if text.is_ascii() {
            return true;
        }
        let answer = match self {
            Self::Nfc => is_nfc_quick(text.chars()),
            Self::Nfd => is_nfd_quick(text.chars()),
            Self::Nfkc => is_nfkc_quick(text.chars()),
            Self::Nfkd => is_nfkd_quick(text.chars()),
            Self::Sequence(steps) => return steps.iter().all(|step| step.surely_keeps(text)),
        };
        answer == IsNormalized::Yes
    }

    fn changes(&self, text: &str) -> Vec<Change> {
        match self {
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
            Self::Sequence(_) => unreachable!("a sequence runs its steps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_follow_the_old_tables() {
        assert_eq!(Normalizer::Nfc.normalize("e\u{301}"), "é");
        assert_eq!(Normalizer::Nfkc.normalize("ﬁ\u{32ff}"), "fi\u{32ff}");
        assert!(matches!(Normalizer::Nfc.normalize("déjà vu"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_step_that_undoes_another_keeps_nothing() {
        let there_and_back = Normalizer::Sequence(vec![Normalizer::Nfc, Normalizer::Nfd]);

        assert_eq!(there_and_back.normalize("e\u{301}"), "e\u{301}");
        assert!(!there_and_back.keeps("e\u{301}"));
        assert!(there_and_back.keeps("plain, 語") && Normalizer::Nfd.keeps("e\u{301}"));
    }

    #[test]
    fn offsets_survive_composition() {
        let mut text = NormalizedText::new("xe\u{301}y", 0);

        Normalizer::Nfc.normalize_aligned(&mut text);

        assert_eq!(text.text(), "xéy");
        assert_eq!(text.original_range(3..4), 4..5);
    }
}
