//! `NFC`, `NFD`, `NFKC` and `NFKD`.
//!
//! The tables are those of stock (about Unicode 12), by the same crate: U+32FF, newer than they are, stays as it is.

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::changes::Changes;

/// A Unicode normalization form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

impl Form {
    /// Whether a quick check is sure that `text` is in this form already.
    pub(super) fn surely_keeps(self, text: &str) -> bool {
        if text.is_ascii() {
            return true;
        }
        let answer = match self {
            Self::Nfc => is_nfc_quick(text.chars()),
            Self::Nfd => is_nfd_quick(text.chars()),
            Self::Nfkc => is_nfkc_quick(text.chars()),
            Self::Nfkd => is_nfkd_quick(text.chars()),
        };
        answer == IsNormalized::Yes
    }

    /// Tells `changes` the new text.
    pub(super) fn rewrite(self, text: &str, changes: &mut impl Changes) {
        let push = |(char, change)| changes.push(char, change);
        match self {
            Self::Nfc => text.nfc().for_each(push),
            Self::Nfd => text.nfd().for_each(push),
            Self::Nfkc => text.nfkc().for_each(push),
            Self::Nfkd => text.nfkd().for_each(push),
        }
    }
}
